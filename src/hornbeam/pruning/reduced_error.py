"""Reduced-error pruning (Quinlan, Simplifying decision trees, 1987)."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.pruning.bottom_up import bottom_up, stopping_at_inner
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.count import check_schema, count_at_nodes
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import descendants, path, pull_up
from hornbeam.typing import Bools, Floats, Indices

_TOLERANCE = 1e-6  # of fractional rows; whole rows are counted exactly
_ROUNDING = 1e-9  # fractional rows are rounded to whole steps, so equal classes may differ by less than this
_SEARCHES = ("bottom-up", "greedy")

type PruningRows = Table | Callable[[Tree], Floats]
"""Held-out rows: a table, or a function from a tree to their class weights at every node."""


@dataclass(frozen=True, slots=True)
class ReducedError:
    """Replace a subtree by a leaf where the leaf has no more errors on held-out rows.

    Parameters
    ----------
    table : Table or HeldOutSource
        The pruning rows, read with ``schema=tree.schema``; a `HeldOutSource` if they are not in memory.
    search : {"bottom-up", "greedy"}, default "bottom-up"
        ``bottom-up`` decides on every node once, children first, and ends at the smallest of the most accurate
        prunings. ``greedy`` is the textbook version: it cuts the node that saves most errors, again and again until
        every cut would add errors; of equals the first in level order. It may end with more errors.

    Notes
    -----
    Predictions are those of the tree, from its training rows. A subtree that no pruning row reaches is cut:
    0 <= 0. With the same two parts of the data this is J48 with option -R.

    In a regression tree errors are squared errors.

    References
    ----------
    Quinlan (1987) :cite:p:`quinlan1987`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import Table, TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = TreeClassifier("cart").fit(X[::2], y[::2]).tree_
    >>> pruned = ReducedError(Table.read(X[1::2], y[1::2], schema=tree.schema))(tree)
    >>> tree.n_leaves, pruned.n_leaves
    (12, 5)
    """

    table: PruningRows = field(repr=False)
    search: str = "bottom-up"

    def __post_init__(self) -> None:
        if self.search not in _SEARCHES:
            raise ParameterError(f"search={self.search!r}: expected one of {', '.join(_SEARCHES)}.")

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        held = held_out(tree, self.table)
        as_leaf, staying = _errors(tree, held), _errors(tree, stopping_at_inner(tree.skeleton, held))
        slack = _TOLERANCE * (float(as_leaf[0]) if tree.is_regression else 1.0)
        if self.search == "greedy":
            cut = _greedy(tree.skeleton, as_leaf, staying, slack)
        else:
            cut = bottom_up(tree.skeleton, as_leaf, staying, slack=slack)
        return collapse(tree, cut, Step.of("reduced-error", search=self.search))


def _errors(tree: Tree, held: Floats) -> Floats:
    """Return the errors of each node on some rows; in a regression tree, the squared errors."""
    if tree.is_regression:
        mean = tree.belief[:, 0]
        squared: Floats = np.maximum(held[:, 2] - 2 * mean * held[:, 1] + mean * mean * held[:, 0], 0.0)
        return squared
    predicted = predictions(tree.belief)[:, None]
    wrong: Floats = held.sum(axis=1) - np.take_along_axis(held, predicted, axis=1)[:, 0]
    return wrong


def _greedy(skeleton: Skeleton, as_leaf: Floats, staying: Floats, slack: float) -> Bools:
    """Cut the node that saves most, again and again, until every cut would add errors."""
    below = pull_up(skeleton, np.where(skeleton.is_leaf, as_leaf, staying))
    open_ = ~skeleton.is_leaf
    cut = np.zeros(skeleton.n_nodes, np.bool_)
    while open_.any():
        saved = np.where(open_, below - as_leaf, -np.inf)
        node = int(saved.argmax())
        if saved[node] < -slack:
            break
        cut[node] = True
        open_[descendants(skeleton, node)] = False
        below[path(skeleton, node)] -= saved[node]
    return cut


@dataclass(frozen=True, slots=True)
class HeldOutSource:
    """Held-out rows of a source, for `ReducedError` and `BayesRisk` in place of a table.

    Parameters
    ----------
    source : Source
        Held-out rows, of the tree's schema.
    engine : Engine
        Counts them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import Table, TreeClassifier
    >>> from hornbeam.data import LocalEngine, MemorySource
    >>> from hornbeam.pruning import ReducedError
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = TreeClassifier("cart").fit(X[::2], y[::2]).tree_
    >>> rest = MemorySource(Table.read(X[1::2], y[1::2], schema=tree.schema), block=100)
    >>> ReducedError(HeldOutSource(rest, LocalEngine()))(tree).n_leaves
    5
    """

    source: Source
    engine: Engine

    def __call__(self, tree: Tree) -> Floats:
        """Sum the weights of the rows by node and class, as `held_out` does."""
        return _held_out_evidence(tree, self.source, self.engine)


def held_out(tree: Tree, table: PruningRows) -> Floats:
    """Sum the weights of held-out rows by node and class; in a regression tree weight, sum and sum of squares.

    A row with a missing value that goes to every child is split in proportion to the evidence of the tree, as in
    prediction. Rows that are not in memory are passed as a function: `HeldOutSource`. `DataError` if the rows were not
    read with the tree's schema, or have no target.
    """
    return _held_out_evidence(tree, table) if isinstance(table, Table) else table(tree)


def _held_out_evidence(tree: Tree, rows: Table | Source, engine: Engine | None = None) -> Floats:
    check_schema(tree, rows)
    [counted] = count_at_nodes([tree.skeleton], rows, engine, shares=[tree.weight])
    return counted.evidence.astype(np.float64) * counted.unit


def predictions(belief: Floats) -> Indices:
    """Return the most probable class of every node, the first of equals."""
    near = belief >= belief.max(axis=1, keepdims=True) - _ROUNDING
    return near.argmax(axis=1).astype(np.int32)
