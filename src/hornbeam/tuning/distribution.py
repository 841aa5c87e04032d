"""The distribution of a numeric target at the nodes of a tree, with strengths and levels found on held-out rows."""

from typing import NamedTuple

import numpy as np

from hornbeam.data.binning.target_bins import TargetBins
from hornbeam.data.engine import Engine
from hornbeam.data.row_order import n_units
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.kernels.elementary import minimise
from hornbeam.kernels.smoothing import StackedTrees
from hornbeam.recipe import RecipeFitter
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.distribution import Distribution, RangeLevels
from hornbeam.tree.evidence.count import sum_at_nodes
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from hornbeam.tuning.cross_fitted import CrossFitted
from hornbeam.tuning.folds import FoldTrees
from hornbeam.typing import Counts, Floats, Indices

# A start of e rows from every ancestor, as for means (`hornbeam.tuning.cross_fitted`), and next to no uniform prior:
# far from the rows it would have as much in a tail as in the middle.
_PRIOR = -10.0
_START = np.array([1.0, 0.0, 0.0, 0.0, _PRIOR, 0.0])
_FITTED = np.array([True, True, True, False, False, True])  # scale, size, depth and own
_REGULARISATION, _TOLERANCE = 0.3, 1e-7  # as for means
_THRESHOLDS = 9  # of the loss: the deciles


class _FoldTree(NamedTuple):
    """A fold tree with the rows that it was grown from and held-out rows, by bin."""

    tree: Tree  # with the bins as classes, unsmoothed
    held: Counts  # of held-out rows, by the node where they stop
    node: Indices  # where each held-out row stops
    values: Floats
    weight: Counts


def fit_distribution(
    tree: Tree,
    rows: Table | Source,
    sample: Table,
    fitter: RecipeFitter,
    engine: Engine | None = None,
    *,
    n_jobs: int = 1,
) -> Distribution:
    """Find the bins, the strengths of borrowing and the levels of ranges, and count all rows.

    Fold trees are grown again, so this takes about as long as the fit of the tree. The strengths have the least
    continuous ranked probability score on held-out rows, over the deciles of the target: the mean squared
    error of the probabilities of values up to a decile. So the score does not depend on the unit of the target or on
    its tails.

    Parameters
    ----------
    tree : Tree
        The fitted tree.
    rows : Table or Source
        The rows to count.
    sample : Table
        Rows to learn from: all, or a sample.
    fitter : RecipeFitter
        The fitter of the tree.
    engine : Engine, optional
        Counts the rows of a source.
    n_jobs : int, default 1

    Returns
    -------
    Distribution
    """
    assert sample.numeric_target is not None
    recipe = fitter.choose(sample, n_jobs=n_jobs)
    bins, codes = recipe.encode(sample, n_jobs)
    cross_fitted = fitter if isinstance(fitter, CrossFitted) else CrossFitted(recipe, tolerance=None)
    folds = cross_fitted.finished_fold_trees(recipe, sample, bins, codes, n_jobs)
    target = TargetBins.cut(sample.numeric_target.values, sample.weight)
    trees = [] if folds is None else [_count(one, target) for one in folds.apart()]
    smoother = _fit_strengths(trees, float(sample.row_weights.sum()))
    units = 0 if folds is None else n_units(folds.held_out.table)
    return Distribution.count(
        tree.skeleton, rows, target, smoother, _range_levels(trees, target, smoother, units), engine
    )


def _count(one: FoldTrees, target: TargetBins) -> _FoldTree:
    skeleton, table = one.tree.skeleton, one.samples.table
    sums, stops, weights = [], [], []
    for samples in (one.samples, one.held_out):
        node, _ = samples.count(skeleton)
        label = target.codes(samples.values)
        sums.append(
            sum_at_nodes(node, skeleton.n_nodes, samples.weight, label=label, n_classes=target.n_bins)
        )
        stops.append(node)
        weights.append(np.ones(len(node), np.int64) if samples.weight is None else samples.weight)
    total = pull_up(skeleton, sums[0])
    counted = Tree.raw(
        target.schema(table.schema), skeleton, total[:, :-1], unit=table.unit, rows=total[:, -1]
    )
    return _FoldTree(counted, sums[1][:, :-1], stops[1], one.held_out.values, weights[1])


def _fit_strengths(trees: list[_FoldTree], most_rows: float) -> Borrowing:
    """Find the strengths with the least score on the held-out rows of all fold trees.

    Rows that were held out several times count as at most `most_rows` together.
    """
    if not trees:
        return Borrowing(prior=_PRIOR)
    unit = trees[0].tree.unit[0]
    total = np.sum([one.tree.evidence[0] for one in trees], axis=0).cumsum()
    share = np.arange(1, _THRESHOLDS + 1) / (_THRESHOLDS + 1)
    thresholds = np.unique(np.searchsorted(total, share * total[-1]))

    def columns(counts: list[Counts]) -> Floats:
        """Two classes for each threshold, up to it and above, of equal weight: together as many as there are rows."""
        up_to = np.concatenate([each.cumsum(axis=1)[:, [*thresholds, -1]] for each in counts])
        pairs = np.stack([up_to[:, :-1], up_to[:, -1:] - up_to[:, :-1]], axis=2) * (unit / len(thresholds))
        classes: Floats = pairs.reshape(len(up_to), -1)
        return classes

    parents, begin = [], 0
    for one in trees:
        parent = one.tree.skeleton.parent
        parents.append(np.where(parent < 0, np.int32(-1), parent + np.int32(begin)))
        begin += len(parent)
    held = columns([one.held for one in trees])
    rows = unit * sum(int(one.held.sum()) for one in trees)
    stacked = StackedTrees(np.concatenate(parents), columns([one.tree.evidence for one in trees]), held)
    regularisation = _REGULARISATION * max(rows / most_rows, 1.0)

    def cost_and_gradient(strengths: Floats) -> tuple[float, Floats]:
        cost, gradient = stacked.loss(strengths)
        apart = strengths - _START
        cost = len(thresholds) * cost + regularisation * float((apart * apart).sum())
        slope = len(thresholds) * gradient + 2 * regularisation * apart
        return cost / rows, np.where(_FITTED, slope, 0.0) / rows

    found = minimise(cost_and_gradient, _START, (-np.inf, np.inf), tolerance=_TOLERANCE, max_steps=40)
    return Borrowing(*found.round(3).tolist())


def _range_levels(
    trees: list[_FoldTree], target: TargetBins, smoother: Borrowing, n_units: int
) -> RangeLevels:
    """Find the levels of ranges for single rows from the held-out rows of all fold trees."""
    none = RangeLevels.of(np.empty(0), np.empty(0), np.empty(0, np.int64), 0)
    found = [
        Distribution(target, smoother(one.tree), smoother, none).probabilities(one.node, one.values)
        for one in trees
    ]
    if not found:
        return none
    below, up_to = map(np.concatenate, zip(*found, strict=True))
    return RangeLevels.of(below, up_to, np.concatenate([one.weight for one in trees]), n_units)
