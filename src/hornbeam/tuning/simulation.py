"""Targets simulated from held-out predictions, to calibrate intervals on known truths."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.hashes import GOLDEN_GAMMA, splitmix64
from hornbeam.data.numeric_target import NumericTarget, largest_size
from hornbeam.data.row_order import break_ties, first_units, row_hash, target_bits, unit_ranks
from hornbeam.data.table import Table
from hornbeam.growing.samples import Samples, grow_samples
from hornbeam.kernels.elementary import dot, row_dots
from hornbeam.pruning.pruner import uses_rows
from hornbeam.recipe import Recipe
from hornbeam.smoothing.interval_calibration import IntervalCalibration, calibrate_tree
from hornbeam.tree.several import apart, side_by_side
from hornbeam.tree.tree import Tree
from hornbeam.tuning.folds import FoldTrees, max_trees
from hornbeam.typing import Codes, Counts, Floats

type Finish = Callable[[Tree, Table | None], Tree]
_MOST_COPIES = 30_000  # up to here a row of weight 2 becomes two rows
_MOST_ROWS = 10_000  # of a simulation
_LEAVES = 100  # simulated leaves that are enough for the two parameters of a calibration
_MOST_TREES = 8
_SHARED = 2**32  # added to the number of a repeat: random numbers of groups
_MOST_GROWN = 40_000  # rows of all trees together, if there are more than two trees


@dataclass(frozen=True, slots=True, eq=False)
class GroupDependence:
    """The number of the group of each row, and the correlation of the residuals of two rows of a group."""

    unit: Counts
    correlation: float

    @classmethod
    def of(cls, table: Table, held_out: Floats, unit: Counts) -> Self:
        """Estimate the correlation: the mean product of two residuals of a group, relative to their variance.

        `held_out` has the predictions of rows by a model that knows no row of their group, of shape
        (n_rows, n_classes) or (n_rows, 1).
        """
        if table.numeric_target is not None:
            residual = table.numeric_target.values[:, None] - held_out
            variance = np.full(len(residual), dot(residual[:, 0], residual[:, 0]) / max(len(residual), 1))
        else:
            residual = np.eye(held_out.shape[1])[table.target] - held_out
            variance = np.maximum(1 - row_dots(held_out, held_out), 0.0)
        found = sum(_products(column, unit) for column in residual.T)
        possible = _products(np.sqrt(variance), unit)
        return cls(unit, round(min(max(found / possible, 0.0), 1.0), 3) if possible > 0 else 0.0)

    @property
    def design_effect(self) -> float:
        """Number of rows that count as one independent row: 1 + (mean group size of a row - 1) x correlation.

        That of Kish (1965), with the mean over rows, so that large groups count more.
        """
        sizes = np.bincount(self.unit)
        return 1.0 + (float((sizes * sizes).sum() / sizes.sum()) - 1.0) * self.correlation

    def limit(self, calibration: IntervalCalibration) -> IntervalCalibration:
        """Let no row count more than one row divided by the design effect."""
        most = max(round(1 / self.design_effect, 2), 0.01)
        return IntervalCalibration(min(calibration.borrowed, most), min(calibration.own, most))


def _products(values: Floats, unit: Counts) -> float:
    """Sum the products of two rows of a group, over all ordered pairs of different rows."""
    sums = np.bincount(unit, values)
    return dot(sums, sums) - dot(values, values)


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """Rows with known truths: their held-out predictions.

    Each row of `table` is one observation, in an order that depends on the values alone. This is a parametric
    bootstrap. The predictions of the finished tree would be a poor truth: a leaf that was grown for a few mislabelled
    rows would be right. Held-out predictions are calibrated, and vary within a leaf. Classes are drawn from the
    predicted probabilities. In regression the held-out residual of each row keeps its size and gets a random sign (wild
    bootstrap), so that heavy tails and unequal variances are kept.

    Rows of a group depend on each other. In regression they get the same sign (wild cluster bootstrap). For classes,
    the mean product of the held-out residuals of two rows of a group estimates their correlation; two rows share their
    random number with that probability. Where little was learnt, held-out predictions are nearly constant, and
    simulated trees seem to be sure: so a row never counts more than one row divided by the design effect.
    """

    table: Table
    bins: Bins
    codes: Codes
    truth: Floats
    groups: GroupDependence | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        bins: Bins,
        codes: Codes,
        fold_trees: FoldTrees | None,
        smoothed: Tree | None,
        n_folds: int,
    ) -> Self | None:
        """Collect the held-out predictions of fold trees, of at most 10,000 rows; of groups, all rows or none.

        The first `n_folds` trees are used: those of one assignment, in which each row was held out once.
        A row of weight 2 becomes two rows, if weights are whole and add up to at most 30,000. None if rows are
        fractional: they stop at several leaves.
        """
        if fold_trees is None or smoothed is None:  # a single row
            return cls(table.take(np.zeros(0, np.intp)), bins, codes[:0], np.zeros((0, 1)))
        if fold_trees.node is None:
            return None
        held_out = fold_trees.held_out.some(0, n_folds)
        row = held_out.row
        fold = np.repeat(np.arange(n_folds, dtype=np.uint64), np.diff(held_out.begin))
        truth = smoothed.belief[fold_trees.node[: len(row)]]
        split = table.weight is not None and table.unit == 1.0 and int(table.weight.sum()) <= _MOST_COPIES
        if split:
            copies = held_out.weights.astype(np.int64)
            row, fold = np.repeat(row, copies), np.repeat(fold, copies)
            truth = np.repeat(truth, copies, axis=0)
            table = replace(table, weight=None)
        hashes = row_hash(codes, target_bits(table))[row] + fold * GOLDEN_GAMMA
        order = np.argsort(break_ties(splitmix64(hashes)), kind="stable")
        groups, truths = None, truth[order]
        if table.group is None:
            order = order[:_MOST_ROWS]
        else:
            unit = unit_ranks(hashes[order], table.take(row[order]))
            kept = first_units(unit, _MOST_ROWS)
            order, truths = order[kept], truths[kept]
            groups = GroupDependence.of(table.take(row[order]), truths, unit[kept])
        return cls(table.take(row[order]), bins, codes[row[order]], truths[: len(order)], groups)

    def draw(self, repeat: int, *, in_range: bool = False) -> Table:
        """Return the rows with the simulated targets of one repeat; `in_range`: none is below all observed ones."""
        rows, observed = np.arange(self.table.n_rows), self.table.numeric_target
        uniform = _uniform(rows, repeat + 1)
        if self.groups is not None:
            shares = observed is not None or _uniform(rows, -repeat - 1) < sqrt(self.groups.correlation)
            uniform = np.where(shares, _uniform(self.groups.unit, repeat + 1 + _SHARED), uniform)
        if observed is None:
            target = (uniform[:, None] >= self.truth.cumsum(axis=1)[:, :-1]).sum(axis=1, dtype=np.int32)
            return replace(self.table, target=target)
        mean = self.truth[:, 0]
        residual = observed.values - mean
        values = mean + np.where(uniform < 0.5, -1.0, 1.0) * residual
        if in_range:
            values = np.maximum(values, observed.values.min(initial=np.inf))
        # All repeats have the same units: those of the largest value that any of them may have.
        largest = largest_size(np.abs(mean) + np.abs(residual))
        units = NumericTarget.units(largest, float(self.table.row_weights.sum()), self.table.n_rows)
        return replace(self.table, numeric_target=NumericTarget(values, *units))

    def calibrate(
        self, recipe: Recipe, finish: Finish, n_leaves: int, n_jobs: int = 1
    ) -> IntervalCalibration:
        """Fit trees to simulated targets, and find the calibration with which their intervals cover the truths.

        Without rows, intervals are those of the node's own rows. The trees are grown by the recipe; `finish` prunes and
        smooths them as the tree to be calibrated. If that has few leaves, trees are simulated more often, up to eight
        times.
        """
        if not self.table.n_rows:
            return IntervalCalibration(0.0)
        in_range = recipe.grower.criterion.is_deviance
        tables = [self.draw(repeat, in_range=in_range) for repeat in range(self._n_trees(n_leaves))]
        samples = Samples.all_of(*tables)
        trees = grow_samples(recipe.grower, samples, self.bins, self.codes, n_jobs)
        if uses_rows(recipe.pruner):
            pairs = zip(apart(trees), tables, strict=True)
            trees = side_by_side([finish(tree, table) for (tree, _), table in pairs])
        else:
            trees = finish(trees, None)
        found = calibrate_tree(trees, self._truths(trees, samples))
        return found if self.groups is None else self.groups.limit(found)

    def _n_trees(self, n_leaves: int) -> int:
        wanted = min(-(-_LEAVES // n_leaves), _MOST_TREES)
        affordable = max_trees(2 * self.table.n_rows, self.table.schema.n_channels)
        return min(wanted, max(_MOST_GROWN // self.table.n_rows, 2), affordable)

    def _truths(self, trees: Tree, samples: Samples) -> Floats:
        """Return the mean truth of the rows that stop at each node of several trees."""
        node, _ = samples.count(trees.skeleton)
        weight = np.tile(self.table.row_weights, len(samples))
        total = np.stack(
            [np.bincount(node, weight * np.tile(each, len(samples)), trees.n_nodes) for each in self.truth.T],
            axis=1,
        )
        rows = np.bincount(node, weight, trees.n_nodes)
        mean: Floats = total / np.where(rows > 0, rows, 1.0)[:, None]
        return mean


def _uniform(numbers: Counts, stream: int) -> Floats:
    """Return a random number from 0 to 1 for each number of a row or group, in one of many streams."""
    seed = splitmix64(np.array([stream % 2**64], np.uint64))
    bits = splitmix64((numbers + 1).astype(np.uint64) * GOLDEN_GAMMA + seed)
    uniform: Floats = np.multiply(bits >> np.uint64(11), 2.0**-53)
    return uniform
