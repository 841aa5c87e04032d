"""`TreeClassifier("c4.5")` is J48, node for node: its default tree, and with pruning="collapse" that of J48 -U.

J48 -U does not prune but still collapses. J48 makes a branch for every declared value; ours exist where training
rows do, and a category without one stops at the node, which gives the same prediction.

Of two equally large branches J48 raises the last one in the order of the header. Hornbeam sorts categories, so the
values are numbered here: both orders are then the same.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from dataset import Dataset
from recorded import recording, small_recording, small_set, uci_set, why_not

from hornbeam import TreeClassifier
from hornbeam.tree.tree import Tree

# Weka looks for the value at or below a midpoint in the order of the rows, and passes over one that is less
# than a millionth larger than the one it holds; ours is the largest whatever the order of the rows, up to a
# millionth above Weka's.
ROW_ORDER = {"near-values", "anuran", "messidor", "mfeat-fourier", "segment"}


pytestmark = [
    pytest.mark.filterwarnings("ignore:.*an identifier:hornbeam.errors.HornbeamWarning"),
    pytest.mark.filterwarnings("ignore:.*belong together:hornbeam.errors.HornbeamWarning"),
]
MOST_ROWS = 1_500  # of sets that are pruned here; all 131, of up to 12,000 rows, if HORNBEAM_ALL_SETS is set


def numbered(data: Dataset) -> Dataset:
    """Number the values of nominal attributes, so that their sorted order is that of the header."""
    attributes = tuple(
        attribute
        if attribute.values is None
        else replace(attribute, values=tuple(f"{i:04d} {value}" for i, value in enumerate(attribute.values)))
        for attribute in data.attributes
    )
    return replace(data, attributes=attributes)


def fit(data: Dataset, **parameters: Any) -> Tree:
    columns = []
    for attribute, column in zip(data.attributes, data.columns, strict=True):
        if attribute.values is None:
            columns.append(column.astype(object))
        else:
            values = np.array([*attribute.values, None], dtype=object)
            columns.append(values[np.where(np.isnan(column), len(attribute.values), column).astype(int)])
    X = np.column_stack(columns)
    labels = np.array(data.classes, dtype=object)[data.target]
    return TreeClassifier("c4.5", **parameters).fit(X, labels).tree_


def first_difference(data: Dataset, recorded: dict[str, Any], tree: Tree) -> str | None:
    """Walk both trees together and say where they part."""
    forgiven = 1e-6 if data.name in ROW_ORDER else 0.0
    skeleton, schema = tree.skeleton, tree.schema
    class_order = [data.classes.index(label) for label in schema.classes]
    weight = tree.evidence * tree.unit
    pairs = [(0, 0)]
    for i, j in pairs:
        ours = np.zeros(len(data.classes))
        ours[class_order] = weight[j]
        if not np.allclose(recorded["weight"][i], ours, rtol=0, atol=1e-6):
            return f"node {i}: weights {recorded['weight'][i]}, grown {ours.tolist()}"
        feature = recorded["feature"][i]
        if feature != skeleton.feature[j]:
            return f"node {i}: tests {feature}, grown {skeleton.feature[j]}"
        if feature < 0:
            continue
        first, ours_first = recorded["first_child"][i], int(skeleton.first_child[j])
        values = data.attributes[feature].values
        if values is None:
            if not 0 <= skeleton.threshold[j] - recorded["threshold"][i] <= forgiven:
                return f"node {i}: threshold {recorded['threshold'][i]!r}, grown {skeleton.threshold[j]!r}"
            pairs += [(first, ours_first), (first + 1, ours_first + 1)]
            continue
        slots = skeleton.slot_of[skeleton.slot_start[j] : skeleton.slot_start[j + 1]]
        for k, value in enumerate(values):
            known = schema.features[feature].categories
            slot = int(slots[known.index(value)]) if value in known else -1
            if slot >= 0:
                pairs.append((first + k, ours_first + slot))
            elif any(recorded["weight"][first + k]):
                return f"node {i}: a branch for {value!r}, grown none"
    return None


@pytest.mark.parametrize("name", small_recording()["sets"])
def test_small_trees(name: str) -> None:
    data, recorded = numbered(small_set(name)), small_recording()["sets"][name]["trees"]
    assert first_difference(data, recorded["unpruned"], fit(data, pruning="collapse")) is None
    assert first_difference(data, recorded["pruned"], fit(data)) is None


def uci(mode: str, name: str) -> tuple[Dataset, dict[str, Any]]:
    entry = recording(mode)["sets"][name]
    pytest.importorskip("pyarrow", reason="the UCI collection is stored as Parquet, which pyarrow reads")
    reason = why_not(name, entry["sha256"])
    if reason is not None:
        pytest.skip(reason)
    return numbered(uci_set(name)), entry["tree"]


@pytest.mark.parametrize("name", recording("unpruned")["sets"])
def test_uci_trees(name: str) -> None:
    data, recorded = uci("unpruned", name)
    assert first_difference(data, recorded, fit(data, pruning="collapse")) is None


def affordable() -> list[str]:
    most = np.inf if "HORNBEAM_ALL_SETS" in os.environ else MOST_ROWS
    return [name for name, entry in recording("pruned")["sets"].items() if entry["rows"] <= most]


@pytest.mark.parametrize("name", affordable())
def test_uci_trees_of_the_default(name: str) -> None:
    data, recorded = uci("pruned", name)
    assert first_difference(data, recorded, fit(data)) is None
