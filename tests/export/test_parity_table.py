"""The committed table of comparisons, and the guide that quotes it."""

import json
from pathlib import Path

from differences import ParityCount, quoted

HOME = Path(__file__).parents[2]


def test_the_guide_quotes_the_table():
    lines = (HOME / "benchmarks/results/exports/parity.jsonl").read_text(encoding="utf-8").splitlines()
    found = [ParityCount(**json.loads(line)) for line in lines]
    assert all(count.sound for count in found)
    guide = "".join(
        (HOME / f"docs/guide/{page}.md").read_text(encoding="utf-8") for page in ("exports", "exports-data")
    )
    models = [count for count in found if count.trial == "random models"]
    assert {count.models for count in models} == {200}
    assert [count.target for count in models if quoted(count) not in guide] == []
