"""The slow twin grows the very trees Weka's J48 was recorded to grow."""

from __future__ import annotations

from typing import Any

import j48_pruning_twin
import j48_twin
import pytest
from dataset import Dataset
from recorded import first_difference, recording, small_recording, small_set, uci_set, why_not

MODES = ("unpruned", "pruned", "reduced_error")
MINIMUM = {"unpruned_minimum_1": 1, "unpruned_minimum_5": 5}

# The twin takes seconds to minutes on what is larger; those were compared once, see README.md.
MOST_CELLS = 12_000


def twin(mode: str, data: Dataset, recorded: dict[str, Any]) -> dict[str, Any]:
    if mode == "pruned":
        return j48_pruning_twin.pruned(data)
    if mode == "reduced_error":
        return j48_pruning_twin.reduced_error(data, recorded["pruning_rows"])
    return j48_twin.unpruned(data, MINIMUM.get(mode, 2))


@pytest.mark.parametrize("mode", [*MODES, *MINIMUM])
@pytest.mark.parametrize("name", small_recording()["sets"])
def test_twin_grows_the_recorded_small_trees(name: str, mode: str) -> None:
    recorded = small_recording()["sets"][name]["trees"][mode]
    assert first_difference(recorded, twin(mode, small_set(name), recorded)) is None


def affordable(mode: str) -> list[str]:
    sets = recording(mode)["sets"]
    return [name for name, entry in sets.items() if entry["rows"] * len(entry["header"]) <= MOST_CELLS]


@pytest.mark.parametrize(("mode", "name"), [(mode, name) for mode in MODES for name in affordable(mode)])
def test_twin_grows_the_recorded_uci_trees(mode: str, name: str) -> None:
    entry = recording(mode)["sets"][name]
    pytest.importorskip("pyarrow", reason="the UCI collection is stored as Parquet, which pyarrow reads")
    reason = why_not(name, entry["sha256"])
    if reason is not None:
        pytest.skip(reason)
    data = uci_set(name)
    assert data.header() == entry["header"]
    assert first_difference(entry["tree"], twin(mode, data, entry["tree"])) is None


def test_recorded_weights_add_up() -> None:
    """Every branch's weights come from its parent: the recordings are whole trees, counted over all rows."""
    for mode in MODES:
        for name, entry in recording(mode)["sets"].items():
            tree, values = entry["tree"], list(entry["header"].values())
            rows = entry["rows"] - len(tree.get("pruning_rows", ()))
            assert sum(tree["weight"][0]) == rows, (mode, name)
            for i, feature in enumerate(tree["feature"]):
                if feature >= 0:
                    first, branches = tree["first_child"][i], len(values[feature] or "<>")
                    children = zip(*tree["weight"][first : first + branches], strict=True)
                    whole = pytest.approx(tree["weight"][i], abs=1e-5)
                    assert [sum(k) for k in children] == whole, (mode, name, i)
