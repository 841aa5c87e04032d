"""Variances of nodes, and effective sample sizes that give intervals the right width."""

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_number
from hornbeam.kernels.elementary import dot, exp, log, row_dots
from hornbeam.smoothing.smoother import NamedSmoother
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.several import root_weights, roots
from hornbeam.tree.statistics import mean_bounds, mean_in_bounds, rate_bounds, rate_in_bounds
from hornbeam.tree.tree import Step, Tree, unsmoothed
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.walk import with_ancestors
from hornbeam.typing import Floats, Indices

type _Nodes = NDArray[np.integer[Any]] | slice
_LEAST = 0.05  # least value of a row
_LEVEL = 0.9
# Simulated truths are estimates, and a quantile of few leaves is uncertain: both cost coverage. With these two margins,
# found by simulation on seeds below 1,000 (benchmarks/quality/coverage.py), 90 % intervals cover about 90 %.
_MARGIN, _MARGIN_OF_FEW = 0.02, 0.5
_RATIOS = (0.0, 0.1, 0.3, 1.0)  # candidate values of a borrowed row, relative to a row of the leaf
_SURE = 1e-4  # least variance of a class, for leaves that are nearly pure
_HALVINGS = 10
_ENOUGH = 400  # leaves that are used, at most
# Of a tree with a teacher, found on seeds below 1,000 (benchmarks/quality/coverage.py).
_CERTAIN = 10.0  # chi-square of a split that no search finds in noise
_OWN = 0.9  # value of a row of a tree whose splits are all certain
_TAUGHT = 0.05  # least value of a pseudo-row of the teacher: where the leaves explain all, in up to 300 rows
_FEW_ROWS, _GROWTH = 300, 0.75  # it grows with this power of more rows
_TAUGHT_CONSTANT = 0.5  # and what is added where the leaves explain nothing


def node_variances(tree: Tree, nodes: NDArray[np.integer[Any]] | None = None) -> Floats:
    """Estimate the variance of the rows of every node, or of some nodes.

    In a classification tree it is the sum of p (1 - p). In a regression tree it is the variance of the rows, smoothed
    like the means because few rows estimate it badly: a node borrows as many rows from its parent as for its mean, and
    one more.
    """
    skeleton = tree.skeleton
    nodes = np.arange(tree.n_nodes) if nodes is None else nodes
    if not tree.is_regression:
        belief = tree.belief[nodes]
        of_classes: Floats = (belief * (1 - belief)).sum(axis=1)
        return of_classes
    needed = with_ancestors(skeleton, nodes)
    parent = np.searchsorted(needed, skeleton.parent[needed])
    weight, borrowed = tree.weight_at(needed), tree.borrowed[needed] + 1.0
    own = variances(tree.evidence[needed], tree.unit)
    variance = own.copy()  # of the root; the others follow level by level
    for begin, end in pairwise(np.searchsorted(needed, skeleton.levels[1:])):
        level = slice(begin, end)
        n, m, above = weight[level], borrowed[level], variance[parent[level]]
        variance[level] = (n * own[level] + m * above) / (n + m)
    return variance[np.searchsorted(needed, nodes)]


@dataclass(frozen=True, slots=True)
class IntervalCalibration(NamedSmoother):
    """Scale of the effective sample size of every node, for the width of intervals.

    The last step of a fit: it changes `effective_size` and nothing else. Borrowed rows count at most as many as there
    are rows outside the node: a million rows borrowed from an ancestor of a thousand count as a thousand.
    """

    name: ClassVar[str] = "interval-calibration"
    for_regression: ClassVar[bool] = True

    borrowed: float  #: value of a borrowed row, relative to an independent row: from 0 to 1
    own: float = (
        1.0  #: of a row of the node; less than 1 where leaves were chosen because their rows look pure
    )

    def __post_init__(self) -> None:
        check_number("borrowed", self.borrowed, 0, 1)
        check_number("own", self.own, 0, 1, above=True)

    def __call__(self, tree: Tree) -> Tree:
        """Return the tree with the calibration as its last step."""
        step = Step.of(self.name, borrowed=self.borrowed, own=self.own)
        return with_belief(tree, tree.belief, tree.borrowed, step)


def effective_size(tree: Tree, nodes: _Nodes = slice(None)) -> Floats:
    """Compute the effective sample size of each node from its own rows and its borrowed rows.

    Both are scaled by the `IntervalCalibration` of the tree, if that was its last step. Otherwise a node's own rows
    count in full, and borrowed rows do not count.

    A row counts as one observation, also if its weight is more than 1. Where the weights of a node are less than 1 on
    average, or rows are fractional, their weight counts.
    """
    own = _own(tree, nodes)
    if not tree.history or tree.history[-1].name != IntervalCalibration.name:
        return own
    scale = IntervalCalibration(**dict(tree.history[-1].parameters))
    size: Floats = scale.own * own + scale.borrowed * _borrowed(tree, nodes)
    return size


def interval(
    tree: Tree | HasTree, level: float = 0.9, nodes: NDArray[np.integer[Any]] | None = None
) -> tuple[Floats, Floats]:
    """Compute intervals of the true class rates, or of the true mean, of every node, or of some nodes.

    Parameters
    ----------
    tree : Tree, or fitted TreeClassifier or TreeRegressor
    level : float, default 0.9
        Probability that the interval holds the true rate.
    nodes : int array, optional
        Only these nodes are computed. Default: every node.

    Returns
    -------
    low, high : float64 arrays of shape (n_nodes, n_classes)
        Bounds around the belief of every node, per class; 0 and 1 for a node without rows. For a numeric target, bounds
        around the mean, of shape (n_nodes, 1); infinite without rows. With `nodes`, a row for each of them.

    Notes
    -----
    A node of probability p and effective size s (`effective_size`) has the
    bounds of a beta distribution (`hornbeam.tree.statistics.rate_bounds`): for p = 0 the lower bound is 0 and
    the upper one about 2 / s.

    The interval of a mean is that of Student's t with s degrees of freedom, and the variance of
    `node_variances`.

    The true rate is that of all rows that can reach the node, not of the training rows. A tree grown on other rows has
    other nodes: the interval is conditional on this tree.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0.0]] * 10 + [[1.0]] * 40, [0] * 10 + [0, 1] * 20
    >>> low, high = interval(TreeClassifier(smoothing=None).fit(X, y).tree_)
    >>> low[1:, 1].round(3), high[1:, 1].round(3)
    (array([0.   , 0.366]), array([0.179, 0.634]))
    """
    tree = single_tree(tree)
    nodes = np.arange(tree.n_nodes) if nodes is None else nodes
    belief, size = tree.belief[nodes], effective_size(tree, nodes)[:, None]
    if tree.is_regression:
        return mean_bounds(belief, node_variances(tree, nodes)[:, None], size, level)
    return rate_bounds(belief, size, level)


def calibrate_tree(trees: Tree, truth: Floats) -> IntervalCalibration:
    """Find the calibration with which 90 % intervals of a tree, or of several side by side, cover known truths.

    A leaf of n rows that borrowed b counts as f (n + r b) rows. For each of four ratios r the normal approximation
    gives the factor f with which intervals cover the truth in 92 % of the leaves, and the mean interval score
    (width + 20 x the distance of a truth outside the interval); the ratio of the lowest score is taken. Its factor is
    then found by bisection with the intervals that are reported. The 2 % above 90 %, and 1/2 divided by the number of
    leaves, allow for errors of the simulation.
    """
    leaves = _Leaves.of(trees, truth)
    if not len(leaves.own):
        return IntervalCalibration(0.0)
    target = min(_LEVEL + _MARGIN + _MARGIN_OF_FEW / len(leaves.own), 0.99)
    ratio = min(_RATIOS, key=lambda ratio: leaves.score(ratio, target))
    factor = leaves.factor(ratio, target)
    return IntervalCalibration(round(ratio * factor, 2), max(round(factor, 2), _LEAST))


def calibrate_taught_tree(tree: Tree) -> IntervalCalibration:
    """Estimate the calibration of a tree that was fitted to the predictions of a teacher, from its evidence.

    Simulated fits of a teacher and its tree would take several times as long as the fit. Instead:

    - A split that was found in noise makes its leaves differ by more than they do, and differs from no split by a
      chi-square of 3 to 5; a true one by more, the more rows there are. The value of a row is 0.9 times the mean over
      the leaves of chi-square / 10, at most 1, where chi-square compares a leaf with the rest of its parent.
    - The teacher averages over neighbours. That is right where the truth hardly varies, and wrong where it
      varies much, unless there are many rows. If the leaves explain a share R of the variance of N rows, a pseudo-row
      of the teacher counts as 0.5 (1 - R)² + 0.05 max(N / 300, 1)^(0.75 R⁴) rows.
    """
    size, variance = _own(tree), np.maximum(node_variances(tree), np.finfo(float).tiny)
    leaf = np.flatnonzero(tree.skeleton.is_leaf & (size > 0))
    parent = tree.skeleton.parent[leaf]
    split = (parent >= 0) & (size[parent] > size[leaf])
    certain = _certainty(unsmoothed(tree), size, variance, leaf[split], parent[split])
    within = min(
        dot(size[leaf], variance[leaf]) / max(float(size[0] * variance[0]), np.finfo(float).tiny), 1.0
    )
    more_rows = float(log(max(float(size[0]) / _FEW_ROWS, 1.0)))
    explained = (1 - within) * (1 - within)
    growth = float(exp(_GROWTH * more_rows * explained * explained))
    taught = _TAUGHT * growth + _TAUGHT_CONSTANT * within * within
    return IntervalCalibration(min(round(taught, 2), 1.0), max(round(_OWN * certain, 2), _LEAST))


def _certainty(
    mean: Floats, size: Floats, variance: Floats, leaf: NDArray[np.intp], parent: Indices
) -> float:
    """Compute the mean chi-square of leaves against the rest of their parents, relative to that of a certain split."""
    if not len(leaf):
        return 1.0
    apart = mean[leaf] - mean[parent]
    share = np.maximum(1 / size[leaf] - 1 / size[parent], np.finfo(float).eps / size[leaf])
    enough = np.maximum(_CERTAIN * variance[parent] * share, np.finfo(float).tiny)
    return dot(np.minimum(row_dots(apart, apart), enough) / enough, np.ones(len(leaf))) / len(leaf)


@dataclass(frozen=True, slots=True, eq=False)
class _Leaves:
    """Leaves with known truths; the arrays belief, truth and variance have the shape (n_leaves, n_values)."""

    belief: Floats
    truth: Floats
    variance: Floats
    own: Floats
    borrowed: Floats
    is_regression: bool

    @classmethod
    def of(cls, trees: Tree, truth: Floats) -> Self:
        leaf = np.flatnonzero(trees.skeleton.is_leaf & (trees.rows > 0))
        leaf = leaf[np.argsort(roots(trees.skeleton)[leaf], kind="stable")]  # one tree after the other
        if len(leaf) > _ENOUGH:
            leaf = leaf[np.arange(_ENOUGH) * len(leaf) // _ENOUGH]
        belief, truth = trees.belief[leaf], truth[leaf]
        own, borrowed = _own(trees)[leaf, None], _borrowed(trees)[leaf, None]
        variance = node_variances(trees)[leaf, None]
        is_regression, variance = trees.is_regression, np.maximum(variance, np.finfo(float).tiny)
        if not is_regression:
            if belief.shape[1] == 2:  # both classes have the same error
                belief, truth = belief[:, 1:], truth[:, 1:]
            variance = np.maximum(belief * (1 - belief), _SURE)
        return cls(belief, truth, variance, own, borrowed, is_regression)

    def size(self, ratio: float) -> Floats:
        """Return the effective sample size up to a factor, for a ratio of borrowed to own rows."""
        size: Floats = self.own + ratio * self.borrowed
        return size

    def score(self, ratio: float, target: float) -> float:
        """Return the mean interval score of normal intervals that cover the target share of truths."""
        scale = np.sqrt(self.variance / np.maximum(self.size(ratio), _LEAST))
        error = np.abs(self.belief - self.truth)
        half = scale * np.quantile(error / scale, target)
        return float((2 * half + 2 / (1 - _LEVEL) * np.maximum(error - half, 0.0)).mean())

    def factor(self, ratio: float, target: float) -> float:
        """Find the factor with which the target share of truths is covered, by bisection."""
        size, low, high = self.size(ratio), _LEAST, 1.0
        for _ in range(_HALVINGS):
            middle = sqrt(low * high)
            if self._coverage(middle * size) >= target:
                low = middle
            else:
                high = middle
        return sqrt(low * high)

    def _coverage(self, size: Floats) -> float:
        if self.is_regression:
            return float(mean_in_bounds(self.belief, self.variance, size, self.truth, _LEVEL).mean())
        return float(rate_in_bounds(self.belief, size, self.truth, _LEVEL).mean())


def _own(tree: Tree, nodes: _Nodes = slice(None)) -> Floats:
    own: Floats = np.minimum(tree.weight_at(nodes), tree.rows[nodes])
    return own


def _borrowed(tree: Tree, nodes: _Nodes = slice(None)) -> Floats:
    outside = root_weights(tree, nodes) - tree.weight_at(nodes)
    borrowed: Floats = np.minimum(tree.borrowed[nodes], outside)
    return borrowed
