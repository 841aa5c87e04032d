"""A tree imported from another library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.errors import InteropError
from hornbeam.interop.input_conventions import InputConventions
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Bools, Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class ImportedTree:
    """One tree of another library that keeps no class counts: its splits, and how the library reads rows.

    `count` makes a `Tree` of it, which every smoother, pruner and export takes.

    Parameters
    ----------
    origin : str
        The library; the first step of the history of trees that are counted on it.
    reading : InputConventions
        How the library reads rows.
    skeleton : Skeleton
        The splits.
    nodes : int32 array of shape (n_nodes,)
        The number of each node in the library; -1 for inner nodes if the library numbers leaves only.
    tree : Tree, optional
        The tree with the class counts of the library; None if it does not store them.

    Examples
    --------
    >>> import lightgbm
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.interop import from_lightgbm
    >>> X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.repeat(["no", "yes"], 10)
    >>> model = lightgbm.LGBMClassifier(n_estimators=1, min_child_samples=5, verbose=-1).fit(X, y)
    >>> imported = from_lightgbm(model)
    >>> imported
    ImportedTree(lightgbm, 3 nodes, 2 leaves)
    >>> TreeClassifier.from_tree(imported.count(X, y)).predict([[0.0], [1.0]])
    array(['no', 'yes'], dtype='<U3')
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
        """Read rows as the library reads them.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of the library.
        y : array-like of shape (n_rows,), default=None
            Their classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Their weights.

        Returns
        -------
        Table
        """
        return self.reading.read(X, y, sample_weight=sample_weight)

    def apply(self, X: Any) -> Indices:
        """Return the leaf of each row, as the library numbers it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of the library.

        Returns
        -------
        int32 array of shape (n_rows,)
        """
        return self.nodes[route(self.skeleton, self.read(X))]

    def count(self, X: Any, y: Any, *, sample_weight: Any = None) -> Tree:
        """Count rows on the splits; they need not be the training rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of the library.
        y : array-like of shape (n_rows,)
            Their classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Their weights.

        Returns
        -------
        Tree
            It has the class frequencies of the rows.
        """
        return count_table(self, self.read(X, y, sample_weight=sample_weight))

    def __repr__(self) -> str:
        skeleton = self.skeleton
        return f"ImportedTree({self.origin}, {skeleton.n_nodes} nodes, {int(skeleton.is_leaf.sum())} leaves)"


def count_table(imported: ImportedTree, table: Table) -> Tree:
    """Count a table that was read by the conventions of the library."""
    return count_rows(imported.skeleton, table, history=(Step.of(imported.origin),))


def check_index(index: Any, n_trees: int) -> int:
    """Return the number of a tree; `InteropError` if the model has no such tree."""
    if not isinstance(index, (int, np.integer)) or not 0 <= index < n_trees:
        raise InteropError(
            f"The model has no tree {index!r}; expected the index of one of its {n_trees}, counted from 0."
        )
    return int(index)


def not_fitted_error(model: Any, expected: str) -> InteropError:
    """Return the error for a model that is none of the library, or not fitted."""
    return InteropError(
        f"This is {type(model).__name__}, without trees; expected {expected}: pass one, or call fit."
    )


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
