"""A tree imported from another library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.interop.input_conventions import InputConventions
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Bools, Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class ImportedTree:
    """One tree of another library: its splits, its input conventions and its node numbers.

    `origin`, the library, is the first step of the history of trees counted on the skeleton. `nodes` has the number of
    each node in the library; -1 for inner nodes if the library numbers leaves only. `tree` has the class counts of the
    library; None if it does not store them.
    """

    origin: str
    reading: InputConventions
    skeleton: Skeleton
    nodes: Indices
    tree: Tree | None = None

    @property
    def schema(self) -> Schema:
        """Features, and the classes if the model stores them."""
        return self.reading.schema

    def read(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Table:
        """Read rows by the conventions of the library."""
        return self.reading.read(X, y, sample_weight=sample_weight)

    def apply(self, X: Any) -> Indices:
        """Return the leaf of each row, as the library numbers it."""
        return self.nodes[route(self.skeleton, self.read(X))]

    def count(self, X: Any, y: Any, *, sample_weight: Any = None) -> Tree:
        """Count rows on the skeleton; they need not be the training rows."""
        return self.fill(self.read(X, y, sample_weight=sample_weight))

    def fill(self, table: Table) -> Tree:
        """Count a table that was read by `read`."""
        return count_rows(self.skeleton, table, history=(Step.of(self.origin),))


def skeleton_from_binary(
    left: NDArray[Any],
    right: NDArray[Any],
    feature: NDArray[Any],
    threshold: Floats,
    missing_left: Bools,
    slots: Mapping[int, NDArray[Any]],
) -> tuple[Skeleton, NDArray[np.intp]]:
    """Build a skeleton from a binary tree with nodes in any order and the root first.

    The children `left` and `right`, -1 for leaves, become slots 0 and 1. Splits are ``x <= threshold``; `slots` has,
    for nodes with a nominal split, the slot of each category. Also returns, for each node of the skeleton, its number
    in the given tree.
    """
    children = np.stack((left, right), axis=1).tolist()
    visited = [0]
    for node in visited:  # the list grows during the loop
        if children[node][0] >= 0:
            visited += children[node]
    order = np.array(visited, np.intp)
    leaf = left[order] < 0
    nominal = np.isin(order, list(slots)) & ~leaf
    n_categories = np.zeros(len(order), np.intp)
    n_categories[nominal] = [len(slots[node]) for node in order[nominal].tolist()]
    slot_of = [slots[node] for node in order[nominal].tolist()]
    skeleton = Skeleton.of(
        n_children=np.where(leaf, 0, 2),
        feature=np.where(leaf, -1, feature[order]),
        threshold=np.where(leaf | nominal, np.nan, threshold[order]),
        missing_slot=np.where(leaf, -1, np.where(missing_left[order], 0, 1)),
        slot_start=np.concatenate(([0], np.cumsum(n_categories))),
        slot_of=np.concatenate(slot_of) if slot_of else (),
    )
    return skeleton, order
