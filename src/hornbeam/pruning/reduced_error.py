"""Reduced-error pruning (Quinlan, Simplifying decision trees, 1987)."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from hornbeam.checks import check_choice
from hornbeam.data.engine import Engine
from hornbeam.data.rows import open_rows
from hornbeam.data.sources import MemorySource
from hornbeam.pruning.bottom_up import bottom_up, stopping_at_inner
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.count import count_at_nodes
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.tree.walk import descendants, path, pull_up
from hornbeam.typing import Bools, Floats, Indices

_TOLERANCE = 1e-6  # of fractional rows; whole rows are counted exactly
_ROUNDING = 1e-9  # fractional rows are rounded to whole steps, so equal classes may differ by less than this
_SEARCHES = ("bottom-up", "greedy")


@dataclass(frozen=True, slots=True, eq=False)
class ReducedError:
    """Replace a subtree by a leaf where the leaf has no more errors on held-out rows.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
        Held-out rows, which the tree was not grown on.
    y : array-like of shape (n_rows,) or str, optional
        Their classes or numbers; the name of the column in files.
    sample_weight : array-like of shape (n_rows,) or str, optional
        Their weights, as `y`.
    search : {"bottom-up", "greedy"}, default "bottom-up"
        ``bottom-up`` decides on every node once, children first, and ends at the smallest of the most accurate
        prunings. ``greedy`` is the textbook version: it cuts the node that saves most errors, again and again until
        every cut would add errors; of equals the first in level order. It may end with more errors.
    engine : Engine, optional
        Counts rows in files; this thread by default.

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
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> full = TreeClassifier("cart").fit(X[::2], y[::2])
    >>> pruner = ReducedError(X[1::2], y[1::2])
    >>> pruned = TreeClassifier("cart", pruning=pruner).fit(X[::2], y[::2])
    >>> full.tree_.n_leaves, pruned.tree_.n_leaves
    (12, 5)
    """

    X: Any = field(repr=False)
    y: Any = field(default=None, repr=False)
    _: KW_ONLY
    sample_weight: Any = field(default=None, repr=False)
    search: str = "bottom-up"
    engine: Engine | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_choice("search", self.search, _SEARCHES)

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        tree = single_tree(tree)
        held = held_out_evidence(tree, self.X, self.y, self.sample_weight, self.engine)
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


def held_out_evidence(
    tree: Tree, X: Any, y: Any = None, sample_weight: Any = None, engine: Engine | None = None
) -> Floats:
    """Sum the weights of held-out rows by node and class; in a regression tree weight, sum and sum of squares.

    A row with a missing value that goes to every child is split in proportion to the evidence of the tree, as in
    prediction. Rows in files are counted where they are.
    """
    schema = tree.schema
    source = open_rows(X, y, sample_weight, schema=schema, target_kind=schema.target_kind, engine=engine)
    rows = source.table if isinstance(source, MemorySource) else source
    [counted] = count_at_nodes([tree.skeleton], rows, engine, shares=[tree.weight])
    return counted.evidence.astype(np.float64) * counted.unit


def predictions(belief: Floats) -> Indices:
    """Return the most probable class of every node, the first of equals."""
    near = belief >= belief.max(axis=1, keepdims=True) - _ROUNDING
    return near.argmax(axis=1).astype(np.int32)
