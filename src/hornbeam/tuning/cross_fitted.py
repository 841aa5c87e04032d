"""Cross-fitting: the strengths of smoothing and the price of a leaf, chosen on held-out rows and applied to a tree."""

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.hashes import GOLDEN_GAMMA, splitmix64
from hornbeam.data.row_order import (
    break_ties,
    first_units,
    keep_copies_together,
    n_units,
    row_hash,
    target_bits,
    unit_ranks,
)
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing.category_order import many_categories
from hornbeam.kernels.elementary import minimise
from hornbeam.kernels.smoothing import STRENGTH_NAMES, StackedTrees
from hornbeam.pruning.pruner import Pruner
from hornbeam.recipe import FitLimits, Recipe, RecipeFitter
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.smoother import Smoother
from hornbeam.tree.evidence.standardised import StandardisedTarget, impurities
from hornbeam.tree.several import apply_to_each
from hornbeam.tree.tree import Tree
from hornbeam.tuning.folds import (
    MOST_CELLS,
    FoldAssignment,
    FoldTrees,
    grow_without_folds,
    max_rows,
    max_trees,
)
from hornbeam.tuning.simulation import Finish, Simulation
from hornbeam.tuning.size_choice import HeldOutLoss, SizeChoice
from hornbeam.typing import Bools, Codes, Floats

if TYPE_CHECKING:
    from hornbeam.tuning.cross_validated import CrossValidated

_START = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # e rows from every ancestor: a little more than HGS
_REGULARISATION = 0.3  # squared loss that a strength must save to move by 1 from there
_TOLERANCE = 1e-7  # of the squared loss of a row
_DEVIANCE_ROUNDS = 3  # of least squares that lower a deviance
_MANY_ROWS = 5_000  # from here on 5 folds hold out enough rows; below, 10
_ROWS_PER_CATEGORY = 30  # a category that would have fewer in a sample of the rows is sampled as a whole
_FEW_ROWS, _REPEATS = 1_000, 5  # below 1,000 rows the result depends on the folds: average over 5 assignments


@dataclass(frozen=True, slots=True, eq=False)
class TuningResult:
    """Prunes, smooths and calibrates a tree with the settings that `CrossFitted` found.

    `recipe` has the chosen pruner, and the smoother with the strengths fitted to unpruned trees; `smoother` has those
    fitted to trees of the chosen size. `size` prunes the smoothed tree to its size, and `pruner` is a last pruner after
    that. `simulation` has held-out predictions of a sample of the rows, for the calibration of intervals; None if
    missing values go to every child: intervals are not calibrated then.
    """

    recipe: Recipe
    size: SizeChoice | Pruner | None
    smoother: Smoother
    pruner: Pruner | None
    simulation: Simulation | None

    def finish(self, tree: Tree, table: Table | None = None, *, n_jobs: int = 1) -> Tree:
        """Prune, smooth and calibrate a grown tree; `table` has the rows it was grown from."""
        finished = self.prune_and_smooth(tree, table)
        if self.simulation is None:
            return finished
        found = self.simulation.calibrate(
            self.recipe, self.simulated_fit(finished), finished.n_leaves, n_jobs
        )
        return found(finished)

    def prune_and_smooth(self, tree: Tree, table: Table | None = None) -> Tree:
        """Prune and smooth a grown tree."""
        tree = self.recipe.finish(tree, table)
        if self.size is not None:
            tree = replace(self.recipe, smoother=self.smoother).smooth(apply_to_each(self.size, tree))
        return tree if self.pruner is None else apply_to_each(self.pruner, tree)

    def simulated_fit(self, finished: Tree) -> Finish:
        """Return what finishes trees of simulated targets like a finished tree."""
        if isinstance(self.size, SizeChoice):
            return replace(self, size=self.size.for_simulations(finished.n_leaves)).prune_and_smooth
        return self.prune_and_smooth


@dataclass(frozen=True, slots=True)
class CrossFitted(RecipeFitter):
    """A recipe whose smoothing and size are chosen on held-out rows.

    The leave-one-out loss of a finished tree is optimistic: its splits were chosen with the left-out row
    among the others. Here whole trees are grown without the rows they are tested on. Six strengths of
    `Borrowing` are fitted to all of them together, by their squared loss and a weak quadratic prior around a little
    more than `HGS`, so that few rows change little. The folds depend on the rows alone, not on their order.
    """

    recipe: "Recipe | CrossValidated"
    folds: int | None = None
    repeats: int | None = None
    rows: int = 30_000
    tolerance: float | None = 0.0
    max_leaf_nodes: int | None = None
    pruner: Pruner | None = None
    seed: int = 0
    cells: int = MOST_CELLS

    def __post_init__(self) -> None:
        if self.folds is not None and self.folds < 2:
            raise ParameterError(f"folds={self.folds}: expected 2 or more, or None.")
        if self.repeats is not None and self.repeats < 1:
            raise ParameterError(f"repeats={self.repeats}: expected 1 or more, or None.")
        if self.rows < 2:
            raise ParameterError(f"rows={self.rows}: expected 2 or more.")
        if self.tolerance is not None and not 0 <= self.tolerance < np.inf:
            raise ParameterError(
                f"tolerance={self.tolerance}: expected a share of 0 or more, such as 0.02 for at most 2 % more loss. "
                "An estimator keeps every leaf with pruning=None."
            )

    @property
    def limits(self) -> FitLimits:
        """Those of the recipe, with the rows that `learn` uses."""
        return replace(self.recipe.limits, rows_to_learn=self.rows, seed=self.seed)

    def choose(self, table: Table, *, n_jobs: int = 1) -> Recipe:
        """Return the recipe, with the pruner chosen on these rows if that is to be chosen."""
        return self.recipe.choose(table, n_jobs=n_jobs)

    def learn(
        self, recipe: Recipe, table: Table, bins: Bins, codes: Codes, *, n_jobs: int = 1
    ) -> TuningResult:
        """Fit smoothing strengths and the price of a leaf to the held-out rows of fold trees.

        Parameters
        ----------
        recipe : Recipe
            The settings of growing and pruning.
        table : Table
            At most `rows` of its rows are used.
        bins : Bins
        codes : array
            ``bins.encode(table)``.
        n_jobs : int, default 1
            Threads; each tree is grown by one of them.

        Returns
        -------
        TuningResult
            It finishes any tree of the same recipe, grown from these rows or from more of the same distribution.
        """
        table, codes = self._used(recipe, table, bins, codes)
        n_folds, fold_trees = self.grow_fold_trees(recipe, table, bins, codes, n_jobs)
        loss = recipe.grower.criterion.loss
        smoother, smoothed = fit_strengths(fold_trees, loss=loss)
        recipe = replace(recipe, smoother=smoother)
        simulation = Simulation.of(table, bins, codes, fold_trees, smoothed, n_folds)
        if self.tolerance is None:
            return TuningResult(recipe, None, smoother, self.pruner, simulation)
        held_out = HeldOutLoss.of(fold_trees, smoothed, loss)
        size = SizeChoice(held_out, self.tolerance, self.max_leaf_nodes)
        if fold_trees is not None and smoothed is not None:
            smoother, _ = fit_strengths(fold_trees.stopping(size.cuts(smoothed)), smoother, loss)
        return TuningResult(recipe, size, smoother, self.pruner, simulation)

    def finished_fold_trees(
        self, recipe: Recipe, table: Table, bins: Bins, codes: Codes, n_jobs: int = 1
    ) -> FoldTrees | None:
        """Grow the fold trees of `learn`, and cut them to the size that it chooses; None for a single row or group."""
        table, codes = self._used(recipe, table, bins, codes)
        _, fold_trees = self.grow_fold_trees(recipe, table, bins, codes, n_jobs)
        if fold_trees is None or self.tolerance is None:
            return fold_trees
        loss = recipe.grower.criterion.loss
        _, smoothed = fit_strengths(fold_trees, loss=loss)
        held_out = HeldOutLoss.of(fold_trees, smoothed, loss)
        size = SizeChoice(held_out, self.tolerance, self.max_leaf_nodes)
        assert smoothed is not None
        return fold_trees.collapsed(size.cuts(smoothed), n_jobs)

    def most_cells(self, n_rows: int, n_classes: int) -> int:
        """Return an upper bound of nodes times classes of all fold trees together.

        Examples
        --------
        >>> from hornbeam.recipe import PRESETS
        >>> CrossFitted(PRESETS["default"]).most_cells(100, 2), CrossFitted(PRESETS["default"]).most_cells(3000, 3000)
        (20000, 40000000)
        """
        n_folds, repeats = self._n_folds(n_rows)
        cells = 2 * min(n_rows, self.rows, max_rows(n_classes, self.cells)) * n_classes
        return min(n_folds * repeats * cells, max(self.cells, 2 * cells))

    def _n_folds(self, n: int) -> tuple[int, int]:
        """Return the number of folds and of assignments to them, for a number of rows or groups."""
        n_folds = min(self.folds or (10 if n < _MANY_ROWS else 5), n)
        return n_folds, self.repeats or (_REPEATS if n < _FEW_ROWS else 1)

    def grow_fold_trees(
        self, recipe: Recipe, table: Table, bins: Bins, codes: Codes, n_jobs: int = 1
    ) -> tuple[int, FoldTrees | None]:
        """Grow a tree without each fold, for each assignment; return the number of folds and the trees.

        The held-out weights of a row add up to its weight over all assignments. None: there is a single row, or group.
        """
        n_folds, repeats = self._n_folds(n_units(table))
        most = self._max_trees(recipe, table, bins, codes, n_folds * repeats)
        n_folds, repeats = min(n_folds, most), max(min(repeats, most // n_folds), 1)
        assignments = [
            FoldAssignment.of(table, codes, n_folds, self.seed + (repeat << 32)) for repeat in range(repeats)
        ]
        fold_trees = grow_without_folds(recipe, table, bins, codes, assignments, n_jobs)
        if repeats > 1 and fold_trees is not None:
            fold_trees = replace(fold_trees, held=fold_trees.held / repeats)
        return n_folds, fold_trees

    def _max_trees(self, recipe: Recipe, table: Table, bins: Bins, codes: Codes, wanted: int) -> int:
        """Return the maximum number of fold trees; with many classes a tree is grown to know its size."""
        n_classes = table.schema.n_channels
        if wanted <= max_trees(2 * table.n_rows, n_classes, self.cells):
            return wanted
        tree = recipe.prune(recipe.grower.grow(table, bins, codes.copy()), table)
        return max_trees(tree.n_nodes, n_classes, self.cells)

    def _used(self, recipe: Recipe, table: Table, bins: Bins, codes: Codes) -> tuple[Table, Codes]:
        """Return the rows that are used, and their codes."""
        table = keep_copies_together(table)
        sample = self._sample(recipe, bins, codes, table)
        return (table, codes) if sample is None else (table.take(sample), codes[sample])

    def _sample(self, recipe: Recipe, bins: Bins, codes: Codes, table: Table) -> NDArray[np.intp] | None:
        """Choose the rows to use; None for all of them."""
        rows = min(self.rows, max_rows(table.schema.n_channels, self.cells))
        if table.n_rows <= rows:
            return None
        hashes = row_hash(codes, target_bits(table), self.seed)
        whole = _rare_categories(recipe, bins, codes, table, rows) if table.group is None else None
        if whole is None:
            units = break_ties(hashes) if table.group is None else unit_ranks(hashes, table)
            return first_units(units, rows)
        category, rare = whole
        by_category = splitmix64(category.astype(np.uint64) * GOLDEN_GAMMA + np.full(1, self.seed, np.uint64))
        hashes = break_ties(hashes)
        return np.sort(np.lexsort((hashes, np.where(rare, by_category, hashes)))[:rows])


def _rare_categories(
    recipe: Recipe, bins: Bins, codes: Codes, table: Table, rows: int
) -> tuple[Codes, Bools] | None:
    """Find the categories that a sample takes as a whole: codes of a feature, and whether each row has a rare one.

    A category with a few rows in the table would have hardly any in a sample, and the fold trees would not split on
    its feature as the tree does. Of several features, that with the most rows of rare categories is taken. None if no
    category is rare.
    """
    if not recipe.grower.corrected:
        return None
    found, most = None, 0
    for f in many_categories(bins.nominal, bins.n_codes, table.schema.n_outputs):
        count = np.bincount(codes[:, f], minlength=bins.n_codes[f] + 1)
        count[-1] = table.n_rows  # a missing value is no category
        rare = (count * rows < _ROWS_PER_CATEGORY * table.n_rows)[codes[:, f]]
        n_rare = int(np.count_nonzero(rare))
        if n_rare > most:
            found, most = (codes[:, f], rare), n_rare
    return found


def fit_strengths(
    fold_trees: FoldTrees | None, start: Borrowing | None = None, loss: str = "squared_error"
) -> tuple[Borrowing, Tree | None]:
    """Find the strengths with the least squared loss on held-out rows, and smooth the fold trees with them.

    Strengths are rounded to three decimals; more would be noise. A deviance is lowered by iterated least squares: its
    slope is that of squares with the weights of `StandardisedTarget.certainty`.
    """
    if fold_trees is None:
        return Borrowing(*_START.tolist()), None
    tree, held = fold_trees.tree, fold_trees.held
    standard = StandardisedTarget.of_all(tree) if tree.is_regression else None
    if standard is None:
        stacked, rows = StackedTrees(tree.skeleton.parent, tree.evidence * tree.unit, held), float(held.sum())
    else:
        shares, impurity = standard.of_tree(tree), impurities(tree, standard)
        held_shares = standard.shares(held[:, 0], held[:, 1])
        stacked = StackedTrees(tree.skeleton.parent, shares, held_shares, impurity)
        rows = float(held[:, 0].sum())

    def cost_and_gradient(strengths: Floats) -> tuple[float, Floats]:
        cost, gradient = stacked.loss(strengths)
        apart = strengths - _START
        cost += _REGULARISATION * float((apart * apart).sum())
        return cost / rows, (gradient + 2 * _REGULARISATION * apart) / rows

    found = _START if start is None else np.array(astuple(start))
    for _ in range(1 if standard is None or loss == "squared_error" else _DEVIANCE_ROUNDS):
        if standard is not None and loss != "squared_error":
            belief, _ = stacked.predict(found)
            certainty = standard.certainty(standard.means(belief[:, 1]), loss)
            stacked = StackedTrees(tree.skeleton.parent, shares, certainty[:, None] * held_shares, impurity)
        found = minimise(cost_and_gradient, found, (-np.inf, np.inf), tolerance=_TOLERANCE, max_steps=40)
        found = found.round(3)
    smoother = Borrowing(**dict(zip(STRENGTH_NAMES, found.tolist(), strict=True)))
    belief, _ = stacked.predict(found)
    return smoother, fold_trees.with_belief(belief if standard is None else standard.means(belief[:, 1:]))
