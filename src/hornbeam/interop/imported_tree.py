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
from hornbeam.tree.edit import count_rows
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Bools, Floats, Indices

__all__ = ["ImportedTree", "skeleton_from_binary"]


@dataclass(frozen=True, slots=True, eq=False)
class ImportedTree:
    """One tree of another library: its splits, its input conventions and its node numbers.

    Parameters
    ----------
    origin : str
        The library; the first step of the history of trees counted on the skeleton.
    reading : InputConventions
        Input conventions of the library.
    skeleton : Skeleton
        The splits.
    nodes : int32 array of shape (n_nodes,)
        Number of each node in the library; -1 for inner nodes if the library numbers leaves only.
    tree : Tree or None
        With the class counts of the library; None if the library does not store them.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from hornbeam.interop.sklearn import import_sklearn
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "a"]
    >>> clf = DecisionTreeClassifier(random_state=0).fit(X, y)
    >>> imported = import_sklearn(clf)
    >>> (imported.apply(X) == clf.apply(X)).all()
    np.True_
    >>> imported.count([[0.0], [1.5], [1.6]], ["b", "b", "a"]).evidence.tolist()
    [[1, 2], [0, 2], [1, 0], [1, 0], [0, 0]]
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

    Parameters
    ----------
    left, right : int arrays of shape (n,)
        The children, which become slots 0 and 1; -1 for leaves.
    feature, threshold, missing_left : arrays of shape (n,)
        The splits ``x <= threshold``, and whether missing values go left; ignored for leaves.
    slots : mapping of int to int array
        For nodes with a nominal split: the slot of each category.

    Returns
    -------
    Skeleton
    order : intp array
        For each node of the skeleton its number in the given tree.

    Examples
    --------
    >>> left, right = np.array([2, -1, -1]), np.array([1, -1, -1])
    >>> threshold = np.array([0.5, 0.0, 0.0])
    >>> skeleton, order = skeleton_from_binary(left, right, np.zeros(3, int), threshold, np.zeros(3, bool), {})
    >>> skeleton.missing_slot.tolist(), order.tolist()
    ([1, -1, -1], [0, 2, 1])
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
