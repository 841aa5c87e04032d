"""Targets simulated from held-out predictions: how far trees are off where the truth is known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.row_order import GOLDEN_GAMMA, break_ties, row_hash, splitmix64, target_bits
from hornbeam.data.table import Table
from hornbeam.kernels.pool import Pool
from hornbeam.smoothing import IntervalCalibration, calibrate_tree
from hornbeam.tree.route import route
from hornbeam.tree.tree import Tree
from hornbeam.tuning.folds import FoldTree
from hornbeam.tuning.limits import max_trees
from hornbeam.typing import Codes, Floats

__all__ = ["Grow", "Simulation"]

type Grow = Callable[[Table, Bins, Codes], Tree]

_MOST_COPIES = 30_000  # rows of whole weights are taken apart up to here
_MOST_ROWS = 10_000  # that take part
_LEAVES = 100  # simulated leaves that are enough to find two numbers
_MOST_TREES = 8
_MOST_GROWN = 40_000  # rows of all trees together, unless these are two trees


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """Rows with a known truth: what trees that had not seen them predict for each.

    Parameters
    ----------
    table : Table
        The rows, each as one observation, in an order that they themselves decide.
    bins : Bins
    codes : array
        ``bins.encode(table)``.
    truth : float64 array of shape (n_rows, n_classes) or (n_rows, 1)
        The held-out prediction of each row.

    Notes
    -----
    This is a parametric bootstrap. The beliefs of the finished tree would be a poor truth: where a leaf was made for
    a few mislabelled rows, they would be the truth there. Held-out predictions are calibrated, and vary within a leaf.
    Classes are drawn from the predicted probabilities; of a numeric target the held-out residual of each row keeps
    its size and is given a random sign (wild bootstrap), so that heavy tails and unequal variances stay.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.recipe import PRESETS
    >>> from hornbeam.tuning import CrossFitted
    >>> table, recipe = Table.read(*load_breast_cancer(return_X_y=True)), PRESETS["default"]
    >>> bins = recipe.bin(table)
    >>> lesson = CrossFitted(recipe).learn(recipe, table, bins, bins.encode(table))
    >>> world = Simulation.of(table, bins, lesson.regrown, lesson.beliefs)
    >>> world.draw(0).n_rows, bool((world.draw(0).target == world.draw(1).target).all())
    (569, False)
    """

    table: Table
    bins: Bins
    codes: Codes
    truth: Floats

    @classmethod
    def of(
        cls,
        table: Table,
        bins: Bins,
        regrown: Sequence[FoldTree],
        beliefs: Sequence[Floats],
        n_jobs: int = 1,
    ) -> Self:
        """Collect the held-out predictions of regrown trees; at most 10,000 rows take part.

        A row of weight 2 is two rows, where weights are whole and there are at most 30,000 in all.
        """
        apart = table.weight is not None and table.unit == 1.0 and int(table.weight.sum()) <= _MOST_COPIES
        rows, truth, fold = [], [], []
        for number, (one, belief) in enumerate(zip(regrown, beliefs, strict=True)):
            assert one.node is not None
            copies = one.weight.astype(np.int64) if apart else np.ones(len(one.rows), np.int64)
            rows.append(np.repeat(one.rows, copies))
            truth.append(np.repeat(belief[one.node], copies, axis=0))
            fold.append(np.full(int(copies.sum()), number, np.uint64))
        row, codes = np.concatenate(rows), bins.encode(table, n_jobs)
        numbers = row_hash(codes, target_bits(table))[row] + np.concatenate(fold) * GOLDEN_GAMMA
        order = np.argsort(break_ties(splitmix64(numbers)), kind="stable")[:_MOST_ROWS]
        taken = table.take(row[order])
        if apart:
            taken = replace(taken, weight=None)
        return cls(taken, bins, codes[row[order]], np.concatenate(truth)[order])

    def draw(self, number: int) -> Table:
        """Return the rows with simulated targets; another number, other targets."""
        n = self.table.n_rows
        seed = splitmix64(np.array([number + 1], np.uint64))
        bits = splitmix64(np.arange(1, n + 1, dtype=np.uint64) * GOLDEN_GAMMA + seed)
        uniform = (bits >> np.uint64(11)) * 2.0**-53
        measured = self.table.numeric_target
        if measured is None:
            target = (uniform[:, None] >= self.truth.cumsum(axis=1)[:, :-1]).sum(axis=1, dtype=np.int32)
            return replace(self.table, target=target)
        mean = self.truth[:, 0]
        values = mean + np.where(uniform < 0.5, -1.0, 1.0) * (measured.values - mean)
        return replace(
            self.table, numeric_target=NumericTarget.of(values, self.table.weight, self.table.unit)
        )

    def appraise(self, grow: Grow, n_leaves: int, n_jobs: int = 1) -> IntervalCalibration:
        """Grow trees from simulated targets, and find the worths of rows with which their intervals hold the truth.

        Parameters
        ----------
        grow : callable
            Makes a finished tree from a table, bins and codes, as the tree was made that is to be appraised.
        n_leaves : int
            Of that tree: small ones are simulated more often, up to eight times.
        n_jobs : int, default 1
            Threads; each tree is grown by one of them.
        """

        def simulate(number: int) -> tuple[Tree, Floats]:
            table = self.draw(number)
            tree = grow(table, self.bins, self.codes.copy())
            return tree, self._truths(tree)

        trees = range(self._n_trees(n_leaves))
        if n_jobs == 1:
            grown = list(map(simulate, trees))
        else:
            with Pool(n_jobs) as pool:
                grown = list(pool.map(simulate, trees))
        return calibrate_tree([tree for tree, _ in grown], [truth for _, truth in grown])

    def _n_trees(self, n_leaves: int) -> int:
        wanted = min(-(-_LEAVES // n_leaves), _MOST_TREES)
        affordable = max_trees(2 * self.table.n_rows, self.table.schema.n_channels)
        return min(wanted, max(_MOST_GROWN // self.table.n_rows, 2), affordable)

    def _truths(self, tree: Tree) -> Floats:
        """Mean truth of the rows that stop at each node."""
        node, n = route(tree.skeleton, self.table), tree.n_nodes
        weight = self._weight()
        rows = np.bincount(node, weight, n)
        sums = np.stack([np.bincount(node, weight * each, n) for each in self.truth.T], axis=1)
        mean: Floats = sums / np.where(rows > 0, rows, 1.0)[:, None]
        return mean

    def _weight(self) -> NDArray[np.float64]:
        table = self.table
        return np.ones(table.n_rows) if table.weight is None else np.multiply(table.weight, table.unit)
