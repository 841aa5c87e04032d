"""The distribution of a numeric target at the nodes of a tree, with strengths and levels found on held-out rows."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.target_bins import TargetBins
from hornbeam.data.engine import Engine
from hornbeam.data.row_order import n_units
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.kernels.elementary import minimise
from hornbeam.kernels.smoothing import StackedTrees
from hornbeam.recipe import Fitter, Recipe, RecipeFitter
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.distribution import Distribution, RangeLevels, terms_of_rows, with_terms
from hornbeam.tree.evidence.count import sum_at_nodes
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from hornbeam.tuning.cross_fitted import CrossFitted
from hornbeam.tuning.folds import FoldAssignment
from hornbeam.typing import Counts, Floats, Indices

# A start of e rows from every ancestor, as for means (`hornbeam.tuning.cross_fitted`), and next to no uniform prior:
# far from the rows it would have as much in a tail as in the middle.
_PRIOR = -10.0
_START = np.array([1.0, 0.0, 0.0, 0.0, _PRIOR, 0.0])
_FITTED = np.array([True, True, True, False, False, True])  # scale, size, depth and own
_REGULARISATION, _TOLERANCE = 0.3, 1e-7  # as for means
_THRESHOLDS = 9  # of the loss: the deciles
_FOLDS, _LEAST_UNITS = 5, 10  # of a tree with a teacher


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
    fitter: Fitter,
    engine: Engine | None = None,
    *,
    n_jobs: int = 1,
) -> Distribution:
    """Find the bins, the strengths of borrowing and the levels of ranges, and count all rows.

    Fold trees are grown again, so this takes about as long as the fit of the tree; five times as long for a tree with
    a teacher, of which each fold has its own. The strengths have the least
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
    fitter : Fitter
        The fitter of the tree.
    engine : Engine, optional
        Counts the rows of a source.
    n_jobs : int, default 1

    Returns
    -------
    Distribution
    """
    assert sample.numeric_target is not None
    values = sample.numeric_target.values - terms_of_rows(with_terms(tree), sample, n_jobs)
    target = TargetBins.cut(values, sample.weight)
    if isinstance(fitter, RecipeFitter):
        trees, units = _fold_trees(fitter, sample, target, n_jobs)
    else:
        trees, units = _refitted(fitter, sample, target, n_jobs)
    smoother = _fit_strengths(trees, float(sample.row_weights.sum()))
    levels = _range_levels(trees, target, smoother, units)
    return Distribution.count(tree, rows, target, smoother, levels, engine)


def _fold_trees(
    fitter: RecipeFitter, sample: Table, target: TargetBins, n_jobs: int
) -> tuple[list[_FoldTree], int]:
    """Grow the fold trees of a recipe again; return them with the number of held-out units."""
    recipe = fitter.choose(sample, n_jobs=n_jobs)
    bins, codes = recipe.encode(sample, n_jobs)
    cross_fitted = fitter if isinstance(fitter, CrossFitted) else CrossFitted(recipe, tolerance=None)
    folds = cross_fitted.finished_fold_trees(recipe, sample, bins, codes, n_jobs)
    if folds is None:
        return [], 0
    trees = []
    for one in folds.apart():
        parts = [
            _Rows(samples.count(one.tree.skeleton)[0], samples.values, samples.weight)
            for samples in (one.samples, one.held_out)
        ]
        trees.append(_count(one.tree.skeleton, one.samples.table, parts, target))
    return trees, n_units(folds.held_out.table)


def _refitted(fitter: Fitter, sample: Table, target: TargetBins, n_jobs: int) -> tuple[list[_FoldTree], int]:
    """Fit the tree again without each fold, with its teacher and its terms; as `_fold_trees`."""
    units = n_units(sample)
    if units < _LEAST_UNITS:
        return [], 0
    _, codes = Recipe().encode(sample, n_jobs)
    folds = FoldAssignment.of(sample, codes, _FOLDS, fitter.limits.seed)
    weight = np.ones(sample.n_rows, np.int64) if sample.weight is None else sample.weight
    trees = []
    for held in folds.held():
        held = held if folds.copies is not None else held * weight
        tables = []
        for inside in (weight - held, held):
            rows = np.flatnonzero(inside)
            part = sample.take(rows)
            tables.append(part if sample.weight is None else replace(part, weight=inside[rows]))
        tree = fitter.fit(tables[0], n_jobs=n_jobs)
        parts = []
        for table in tables:
            assert table.numeric_target is not None
            values = table.numeric_target.values - terms_of_rows(with_terms(tree), table, n_jobs)
            parts.append(_Rows(route(tree.skeleton, table, n_jobs), values, table.weight))
        trees.append(_count(tree.skeleton, sample, parts, target))
    return trees, units


class _Rows(NamedTuple):
    """Rows of a fold tree: the node where each stops, its value without terms, and its weight."""

    node: Indices
    values: Floats
    weight: Counts | None


def _count(skeleton: Skeleton, table: Table, parts: list[_Rows], target: TargetBins) -> _FoldTree:
    """Count the rows that a fold tree was grown from, and its held-out rows."""
    own, held = (
        sum_at_nodes(
            rows.node,
            skeleton.n_nodes,
            rows.weight,
            label=target.codes(rows.values),
            n_classes=target.n_bins,
        )
        for rows in parts
    )
    total, (_, (node, values, weight)) = pull_up(skeleton, own), parts
    schema = target.schema(table.schema)
    counted = Tree.raw(schema, skeleton, total[:, :-1], unit=table.unit, rows=total[:, -1])
    weight = np.ones(len(node), np.int64) if weight is None else weight
    return _FoldTree(counted, held[:, :-1], node, values, weight)


def _fit_strengths(trees: list[_FoldTree], most_rows: float) -> Borrowing:
    """Find the strengths with the least score on the held-out rows of all fold trees.

    Rows that were held out several times count as at most `most_rows` together.
    """
    if not trees:
        return Borrowing(prior=_PRIOR)
    unit = trees[0].tree.unit[0]
    thresholds = deciles(np.sum([one.tree.evidence[0] for one in trees], axis=0))

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


def deciles(counts: Counts) -> NDArray[np.intp]:
    """Find the bins up to which there is a tenth of the rows, two tenths, ..., each once."""
    total = counts.cumsum()
    share = np.arange(1, _THRESHOLDS + 1) / (_THRESHOLDS + 1)
    return np.unique(np.searchsorted(total, share * total[-1]))


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
