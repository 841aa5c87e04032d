"""The committed table of what the exports were compared on, and the guide that quotes it."""

import json
from pathlib import Path

from tally import Tally, quoted

HOME = Path(__file__).parents[2]


def test_the_guide_quotes_the_table():
    lines = (HOME / "benchmarks/results/exports/parity.jsonl").read_text().splitlines()
    found = [Tally(**json.loads(line)) for line in lines]
    assert all(tally.sound for tally in found)
    guide = "".join((HOME / f"docs/guide/{page}.md").read_text() for page in ("exports", "exports-data"))
    models = [tally for tally in found if tally.trial == "random models"]
    assert {tally.models for tally in models} == {200}
    assert [tally.target for tally in models if quoted(tally) not in guide] == []
