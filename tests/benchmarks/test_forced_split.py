"""The guide's table of forced first splits is that of the committed results."""

import json

from benchmarks.quality import forced_split


def test_the_guide_has_the_table_of_the_file():
    records = [json.loads(line) for line in forced_split.OUT.read_text(encoding="utf-8").splitlines()]
    page = forced_split.PAGE.read_text(encoding="utf-8")
    assert sorted(record["set"] for record in records) == forced_split.SETS
    assert forced_split.table(records) in page
    assert forced_split.summary(records) in page


def test_a_summary_by_hand():
    losses = [(0.5, 0.52), (0.4, 0.4), (0.2, 0.19)]
    records = [{"grown": [a, 0, 0], "forced": [b, 0, 0]} for a, b in losses]
    assert forced_split.summary(records) == (
        "On 3 sets the log loss of new rows rises by 0.0 % in the median and by at most 4.0 %; it is higher on 1 sets "
        "and lower on 1 (sign test: p = 1.000)."
    )
