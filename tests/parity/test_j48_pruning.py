"""Reduced-error pruning gives the trees that Weka's J48 -R was recorded to give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dataset import Dataset
from j48_twin import Grower, as_arrays
from recorded import recording, small_recording, small_set
from test_j48 import first_difference, uci

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.pruning import ReducedError
from hornbeam.tree import Skeleton
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.tree import Tree

MOST_CELLS = 12_000  # what the twin, which grows the trees for reduced-error pruning, can afford


def table_of(data: Dataset) -> Table:
    features, columns = [], []
    for attribute, column in zip(data.attributes, data.columns, strict=True):
        if attribute.values is None:
            features.append(Feature(attribute.name))
            columns.append(column)
        else:
            used = np.unique(column[~np.isnan(column)]).astype(int)
            code = np.full(len(attribute.values) + 1, -1, np.int32)
            code[used] = np.arange(len(used))
            columns.append(code[np.where(np.isnan(column), len(attribute.values), column).astype(int)])
            values = tuple(attribute.values[value] for value in used)
            features.append(Feature(attribute.name, Kind.NOMINAL, values))
    return Table(Schema(tuple(features), data.classes), tuple(columns), data.target.astype(np.int32))


def take(table: Table, rows: Any) -> Table:
    assert table.target is not None
    return Table(table.schema, tuple(column[rows] for column in table.columns), table.target[rows])


def skeleton_of(recorded: dict[str, Any], data: Dataset, schema: Schema) -> Skeleton:
    """The tests of a recorded tree; branches without rows are left out, as ours are."""
    nodes, n_children, runs = [0], [], []
    for i in nodes:  # grows while it is walked
        feature, first = recorded["feature"][i], recorded["first_child"][i]
        values = data.attributes[feature].values if feature >= 0 else ()
        branches = range(first, first + (2 if values is None else len(values)))
        kept = [b for b in branches if any(recorded["weight"][b])]
        nodes += kept
        n_children.append(len(kept))
        run = []
        if values:
            for category in schema.features[feature].categories:
                branch = first + values.index(str(category))
                run.append(kept.index(branch) if branch in kept else -1)
        runs.append(run)
    inner = np.array(n_children) > 0
    threshold = [recorded["threshold"][i] for i in nodes]
    return Skeleton.of(
        n_children,
        [recorded["feature"][i] for i in nodes],
        [np.nan if t is None else t for t in threshold],
        missing_slot=np.where(inner, -2, -1),
        slot_start=np.cumsum([0, *map(len, runs)]),
        slot_of=[slot for run in runs for slot in run],
    )


def reduced_error(data: Dataset, held: list[int]) -> Tree:
    """J48 -R from where growing ends.

    J48 lowers thresholds to values of ALL rows, the held-back ones included, and ours does not look at
    them: so the twin grows, and ours counts and prunes.
    """
    table = table_of(data)
    rest = np.setdiff1d(np.arange(data.n_rows), held)
    grown = as_arrays(Grower(data, 2).grow(rest, np.ones(len(rest))))
    tree = count_rows(skeleton_of(grown, data, table.schema), take(table, rest), unit=2.0**-30)
    return ReducedError(take(table, np.array(held)))(tree)


# J48 sends rows up to a millionth above a threshold to its left, and the small set near-values has them;
# ours does not.
@pytest.mark.parametrize("name", [name for name in small_recording()["sets"] if name != "near-values"])
def test_small_trees_pruned_on_held_back_rows(name: str) -> None:
    data, recorded = small_set(name), small_recording()["sets"][name]["trees"]["reduced_error"]
    assert first_difference(data, recorded, reduced_error(data, recorded["pruning_rows"])) is None


def affordable() -> list[str]:
    sets = recording("reduced_error")["sets"]
    return [name for name, entry in sets.items() if entry["rows"] * len(entry["header"]) <= MOST_CELLS]


@pytest.mark.parametrize("name", affordable())
def test_uci_trees_pruned_on_held_back_rows(name: str) -> None:
    data, recorded = uci("reduced_error", name)
    assert first_difference(data, recorded, reduced_error(data, recorded["pruning_rows"])) is None
