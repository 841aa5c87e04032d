"""A tree of another library on our stock."""

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
    """One tree of another library: where it sends a row, how it reads one, and how it numbers its nodes.

    Parameters
    ----------
    origin : str
        The library; the first step of the history of trees made from the graft.
    reading : InputConventions
        How the library reads rows.
    skeleton : Skeleton
        Where it sends them.
    nodes : int32 array of shape (n_nodes,)
        The library's own number of each node; -1 for an inner node if it numbers leaves alone.
    tree : Tree or None
        With the class counts that the library keeps; None if it keeps none.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from hornbeam.interop.sklearn import import_sklearn
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "a"]
    >>> clf = DecisionTreeClassifier(random_state=0).fit(X, y)
    >>> graft = import_sklearn(clf)
    >>> (graft.apply(X) == clf.apply(X)).all()
    np.True_
    >>> graft.count([[0.0], [1.5], [1.6]], ["b", "b", "a"]).evidence.tolist()
    [[1, 2], [0, 2], [1, 0], [1, 0], [0, 0]]
    """

    origin: str
    reading: InputConventions
    skeleton: Skeleton
    nodes: Indices
    tree: Tree | None = None

    @property
    def schema(self) -> Schema:
        """Names, kinds and categories of the features, and the classes if the model knows them."""
        return self.reading.schema

    def read(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Table:
        """Read rows as the library does."""
        return self.reading.read(X, y, sample_weight=sample_weight)

    def apply(self, X: Any) -> Indices:
        """Find the library's own number of the leaf where each row ends."""
        return self.nodes[route(self.skeleton, self.read(X))]

    def count(self, X: Any, y: Any, *, sample_weight: Any = None) -> Tree:
        """Give the skeleton the evidence of some rows, those it was grown from or others."""
        return self.fill(self.read(X, y, sample_weight=sample_weight))

    def fill(self, table: Table) -> Tree:
        """Give the skeleton the evidence of a table that was read by `read`."""
        return count_rows(self.skeleton, table, history=(Step.of(self.origin),))


def skeleton_from_binary(
    left: NDArray[Any],
    right: NDArray[Any],
    feature: NDArray[Any],
    threshold: Floats,
    missing_left: Bools,
    slots: Mapping[int, NDArray[Any]],
) -> tuple[Skeleton, NDArray[np.intp]]:
    """Make a skeleton from a binary tree numbered in any way, its root 0.

    Parameters
    ----------
    left, right : int arrays of shape (n,)
        The children, which become slots 0 and 1; -1 on leaves.
    feature, threshold, missing_left : arrays of shape (n,)
        The tests ``x <= threshold``, and whether a missing value goes left; ignored on leaves.
    slots : mapping of int to int array
        For nodes with a nominal test: the slot of each category.

    Returns
    -------
    Skeleton
    order : intp array
        The given number of each node of the skeleton.

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
    for node in visited:  # a list that grows while it is read
        if children[node][0] >= 0:
            visited += children[node]
    order = np.array(visited, np.intp)
    leaf = left[order] < 0
    nominal = np.isin(order, list(slots)) & ~leaf
    run = np.zeros(len(order), np.intp)
    run[nominal] = [len(slots[node]) for node in order[nominal].tolist()]
    slot_of = [slots[node] for node in order[nominal].tolist()]
    skeleton = Skeleton.of(
        n_children=np.where(leaf, 0, 2),
        feature=np.where(leaf, -1, feature[order]),
        threshold=np.where(leaf | nominal, np.nan, threshold[order]),
        missing_slot=np.where(leaf, -1, np.where(missing_left[order], 0, 1)),
        slot_start=np.concatenate(([0], np.cumsum(run))),
        slot_of=np.concatenate(slot_of) if slot_of else (),
    )
    return skeleton, order
