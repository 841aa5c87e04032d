"""Effective numbers of rows, which make intervals as wide as they must be."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np

from hornbeam.smoothing.node_variance import node_variances
from hornbeam.smoothing.smoother import check_number
from hornbeam.tree.edit import with_belief
from hornbeam.tree.statistics.bounds import holds_mean, holds_rate
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Floats

__all__ = ["IntervalCalibration", "calibrate_tree", "effective_size"]

_NAME = "appraisal"
_LEAST = 0.05  # a row counts for something
_LEVEL = 0.9
# The simulated world is itself an estimate, and few leaves tell a quantile badly: both cost coverage. With these two,
# found by simulation on seeds below 1,000 (benchmarks/quality/coverage.py), 90 % intervals cover about 90 %.
_MARGIN, _MARGIN_OF_FEW = 0.02, 0.5
_RATIOS = (0.0, 0.1, 0.3, 1.0)  # what a borrowed row counts beside a row of the leaf
_SURE = 1e-4  # least variance of a class, for leaves that are nearly pure
_HALVINGS = 10
_ENOUGH = 400  # leaves that are looked at, at most


@dataclass(frozen=True, slots=True)
class IntervalCalibration:
    """Say what rows are worth, so that intervals are as wide as they should be.

    Parameters
    ----------
    borrowed : float
        What a borrowed row tells about a leaf, beside a row of its own: from 0, nothing, to 1, as much.
    own : float, default 1.0
        What a row of the leaf itself tells, beside a row that had no part in choosing the leaf: above 0, up
        to 1. Where leaves were chosen because their rows look pure, it is less than 1.

    See Also
    --------
    appraise : finds both.

    Notes
    -----
    A step for the end of a recipe: it changes nothing but what `effective_size` counts. Loans count for no
    more than there are rows outside the node: who borrows a million rows from an ancestor of a thousand
    knows a thousand.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> effective_size(IntervalCalibration(0.5)(tree)).round(3).tolist()
    [3.0, 2.0, 2.5]
    """

    borrowed: float
    own: float = 1.0

    def __post_init__(self) -> None:
        check_number("borrowed", self.borrowed, 0, 1)
        check_number("own", self.own, 0, 1, above=True)

    def __call__(self, tree: Tree) -> Tree:
        """Return the appraised tree."""
        step = Step.of(_NAME, borrowed=self.borrowed, own=self.own)
        return with_belief(tree, tree.belief, tree.borrowed, step)


def effective_size(tree: Tree) -> Floats:
    """Count the rows that speak for each node: its own, and what borrowed ones are worth.

    Both count by the last `IntervalCalibration` of the tree, if that was its last step. Without, nobody knows what
    borrowed rows are worth, and a node's own rows count in full.

    Returns
    -------
    float64 array of shape (n_nodes,)

    Notes
    -----
    A weighted row is one observation, however much it weighs; where rows weigh less than 1 on average, or are
    shared out over branches, their weight counts.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> effective_size(tree).tolist(), effective_size(IntervalCalibration(0.5)(tree)).round(3).tolist()
    ([3.0, 1.0, 2.0], [3.0, 2.0, 2.5])
    """
    own = _own(tree)
    if not tree.history or tree.history[-1].name != _NAME:
        return own
    worth = IntervalCalibration(**dict(tree.history[-1].parameters))
    size: Floats = worth.own * own + worth.borrowed * _lent(tree)
    return size


def calibrate_tree(trees: Sequence[Tree], truths: Sequence[Floats]) -> IntervalCalibration:
    """Find the worths of rows with which 90 % intervals hold known truths.

    Parameters
    ----------
    trees : sequence of Tree
        Smoothed trees that were grown from simulated targets.
    truths : sequence of float64 arrays of the shape of the belief
        For each of these trees the true rates, or means, at its leaves. Inner nodes are not read, nor are leaves
        without rows.

    Returns
    -------
    IntervalCalibration
        To two decimals.

    See Also
    --------
    hornbeam.tuning.simulation : simulates the targets.

    Notes
    -----
    A leaf of n rows that borrowed b counts as f (n + r b) rows. For each of four ratios r the normal approximation
    gives the factor with which intervals hold the truth in 92 % of the leaves, and the mean interval score
    (width + 20 x the distance of a truth that was missed); the ratio of the lowest score is taken. Its factor is then
    found by bisection with the intervals that are reported. The 2 % above 90 %, and 1/2 divided by the number of
    leaves, are for the errors of the simulation.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0]] * 40 + [[1]] * 40, [0] * 30 + [1] * 10 + [0] * 10 + [1] * 30
    >>> tree = TreeClassifier("cart").fit(X, y).tree_
    >>> calibrate_tree([tree], [tree.belief]), calibrate_tree([tree], [tree.belief[:, ::-1]])
    (IntervalCalibration(borrowed=0.0, own=1.0), IntervalCalibration(borrowed=0.0, own=0.08))
    """
    leaves = _Leaves.of(trees, truths)
    if not len(leaves.own):
        return IntervalCalibration(0.0)
    target = min(_LEVEL + _MARGIN + _MARGIN_OF_FEW / len(leaves.own), 0.99)
    ratio = min(_RATIOS, key=lambda ratio: leaves.score(ratio, target))
    factor = leaves.factor(ratio, target)
    return IntervalCalibration(round(ratio * factor, 2), max(round(factor, 2), _LEAST))


@dataclass(frozen=True, slots=True, eq=False)
class _Leaves:
    """Leaves with known truths: beliefs, truths and variances of shape (n_leaves, n_values)."""

    belief: Floats
    truth: Floats
    variance: Floats
    own: Floats
    lent: Floats
    of_mean: bool

    @classmethod
    def of(cls, trees: Sequence[Tree], truths: Sequence[Floats]) -> Self:
        masks = [tree.skeleton.is_leaf & (tree.rows > 0) for tree in trees]
        gathered = [
            np.concatenate([values[mask] for values, mask in zip(each, masks, strict=True)])
            for each in (
                [tree.belief for tree in trees],
                truths,
                [node_variances(tree)[:, None] for tree in trees],
                [_own(tree)[:, None] for tree in trees],
                [_lent(tree)[:, None] for tree in trees],
            )
        ]
        n = len(gathered[0])
        if n > _ENOUGH:
            some = np.arange(_ENOUGH) * n // _ENOUGH
            gathered = [values[some] for values in gathered]
        belief, truth, variance, own, lent = gathered
        of_mean, variance = trees[0].is_regression, np.maximum(variance, np.finfo(float).tiny)
        if not of_mean:
            if belief.shape[1] == 2:  # both classes say the same
                belief, truth = belief[:, 1:], truth[:, 1:]
            variance = np.maximum(belief * (1 - belief), _SURE)
        return cls(belief, truth, variance, own, lent, of_mean)

    def size(self, ratio: float) -> Floats:
        """Count rows, borrowed ones by a ratio; up to a factor."""
        size: Floats = self.own + ratio * self.lent
        return size

    def score(self, ratio: float, target: float) -> float:
        """Mean interval score of normal intervals that hold so many truths."""
        scale = np.sqrt(self.variance / np.maximum(self.size(ratio), _LEAST))
        error = np.abs(self.belief - self.truth)
        half = scale * np.quantile(error / scale, target)
        return float((2 * half + 2 / (1 - _LEVEL) * np.maximum(error - half, 0.0)).mean())

    def factor(self, ratio: float, target: float) -> float:
        """Bisect for the factor with which so many truths are held."""
        size, low, high = self.size(ratio), _LEAST, 1.0
        for _ in range(_HALVINGS):
            middle = sqrt(low * high)
            if self._held(middle * size) >= target:
                low = middle
            else:
                high = middle
        return sqrt(low * high)

    def _held(self, size: Floats) -> float:
        if self.of_mean:
            return float(holds_mean(self.belief, self.variance, size, self.truth, _LEVEL).mean())
        return float(holds_rate(self.belief, size, self.truth, _LEVEL).mean())


def _own(tree: Tree) -> Floats:
    own: Floats = np.minimum(_weight(tree), tree.rows)
    return own


def _lent(tree: Tree) -> Floats:
    weight = _weight(tree)
    lent: Floats = np.minimum(tree.borrowed, weight[0] - weight)
    return lent


def _weight(tree: Tree) -> Floats:
    weight: Floats = tree.weight * tree.unit[0]
    return weight
