"""Cross-fitting: the strengths of smoothing and the price of a leaf, chosen on held-out rows and applied to a tree."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

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
from hornbeam.kernels.smoothing import STRENGTH_NAMES, StackedTrees
from hornbeam.pruning import Pruner
from hornbeam.recipe import FitLimits, Recipe, RecipeFitter
from hornbeam.smoothing import Borrowing, Smoother
from hornbeam.smoothing.descent import minimise
from hornbeam.tree.evidence.standardised import StandardisedTarget, impurities
from hornbeam.tree.tree import Tree
from hornbeam.tuning.cross_validated import CrossValidated
from hornbeam.tuning.folds import MOST_CELLS, FoldAssignment, FoldTree, grow_without_fold, max_rows, max_trees
from hornbeam.tuning.simulation import Fit, Simulation
from hornbeam.tuning.size_choice import HeldOutLoss, SizeChoice
from hornbeam.typing import Bools, Codes, Floats, Indices

_START = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # e rows from every ancestor: a little more than HGS
_REGULARISATION = 0.3  # squared loss that a strength must save to move by 1 from there
_TOLERANCE = 1e-7  # of the squared loss of a row
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
        return self.simulation.calibrate(self.simulated_fit(finished), finished.n_leaves, n_jobs)(finished)

    def prune_and_smooth(self, tree: Tree, table: Table | None = None) -> Tree:
        """Prune and smooth a grown tree."""
        tree = self.recipe.finish(tree, table)
        if self.size is not None:
            tree = replace(self.recipe, smoother=self.smoother).smooth(self.size(tree))
        return tree if self.pruner is None else self.pruner(tree)

    def simulated_fit(self, finished: Tree) -> Fit:
        """Return the fit of simulated targets with the settings of a finished tree."""
        like = self
        if isinstance(self.size, SizeChoice):
            like = replace(self, size=self.size.for_simulations(finished.n_leaves))

        def fit(table: Table, bins: Bins, codes: Codes) -> Tree:
            return like.prune_and_smooth(self.recipe.grower.grow(table, bins, codes), table)

        return fit


@dataclass(frozen=True, slots=True)
class CrossFitted(RecipeFitter):
    """A recipe whose smoothing and size are chosen on held-out rows.

    Parameters
    ----------
    recipe : Recipe or CrossValidated
        The settings of growing and pruning. Its smoother is replaced by the fitted `Borrowing`. With `CrossValidated`
        the pruner is chosen first, on trees smoothed by the recipe's own smoother.
    folds : int or None, default None
        Number of fold trees, each grown without one fold of the rows; None: 10 below 5,000 rows, else 5.
    repeats : int or None, default None
        Number of assignments of the rows to folds; None: 5 below 1,000 rows, where the folds visibly change the
        probabilities, else 1.
    rows : int, default 30,000
        Maximum number of rows used. The strengths found on them are valid for a tree of any size.
    tolerance : float or None, default 0.0
        The smallest tree is chosen whose loss on held-out rows is at most this share above that of the tree with 0:
        0.02 for 2 % more log loss (in regression, squared error). 0 removes only leaves that save next to
        nothing; None keeps every leaf.
    max_leaf_nodes : int or None, default None
        Maximum number of leaves, with a `tolerance`: leaves are removed in the order of what they save by the smoothed
        predictions, a small leaf before a large one. `Grower.max_leaf_nodes` is a limit by raw gains.
    pruner : Pruner or None, default None
        A last pruner for the smoothed tree, for example `BayesRisk`.
    seed : int, default 0
        Another seed gives other folds.
    cells : int, default 40,000,000
        Maximum of nodes times classes of all fold trees together, to which time and memory are proportional. Above it
        there are fewer assignments, then fewer folds, at least 2; and at most `cells` / 4 / classes rows are used,
        at least 100.

    Notes
    -----
    The leave-one-out loss of a finished tree is optimistic: its splits were chosen with the left-out row
    among the others. Here whole trees are grown without the rows they are tested on. Six strengths of
    `Borrowing` are fitted to all of them together, by their squared loss and a weak quadratic prior around a little
    more than `HGS`, so that few rows change little. The folds depend on the rows alone, not on their order.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.data import Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read(*load_breast_cancer(return_X_y=True))
    >>> recipe = PRESETS["default"]
    >>> CrossFitted(recipe).fit(table).n_leaves, CrossFitted(recipe, tolerance=0.1).fit(table).n_leaves
    (11, 6)
    """

    recipe: Recipe | CrossValidated
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
        table = keep_copies_together(table)
        sample = self._sample(recipe, bins, codes, table)
        if sample is not None:
            table, codes = table.take(sample), codes[sample]
        n_folds, fold_trees = self.grow_fold_trees(recipe, table, bins, codes, n_jobs)
        smoother, beliefs = fit_strengths(fold_trees)
        recipe = replace(recipe, smoother=smoother)
        # The trees of one assignment, in which each row was held out once.
        simulation = Simulation.of(table, bins, codes, fold_trees[:n_folds], beliefs[:n_folds])
        if self.tolerance is None:
            return TuningResult(recipe, None, smoother, self.pruner, simulation)
        size = SizeChoice(HeldOutLoss.of(fold_trees, beliefs), self.tolerance, self.max_leaf_nodes)
        trees = [one.with_belief(belief) for one, belief in zip(fold_trees, beliefs, strict=True)]
        pruned = [one.stopping(size.cuts(tree)) for one, tree in zip(fold_trees, trees, strict=True)]
        smoother, _ = fit_strengths(pruned, smoother)
        return TuningResult(recipe, size, smoother, self.pruner, simulation)

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
    ) -> tuple[int, Sequence[FoldTree]]:
        """Grow a tree without each fold, for each assignment; return the number of folds and the trees.

        The held-out weights of a row add up to its weight over all assignments.
        """
        n_folds, repeats = self._n_folds(n_units(table))
        most = self._max_trees(recipe, table, bins, codes, n_folds * repeats)
        n_folds, repeats = min(n_folds, most), max(min(repeats, most // n_folds), 1)
        fold_trees: list[FoldTree] = []
        for repeat in range(repeats):
            assignment = FoldAssignment.of(table, codes, n_folds, self.seed + (repeat << 32))
            fold_trees += grow_without_fold(recipe, table, bins, codes, assignment, n_jobs)
        if repeats > 1:
            fold_trees = [replace(one, held=one.held / repeats) for one in fold_trees]
        return n_folds, fold_trees

    def _max_trees(self, recipe: Recipe, table: Table, bins: Bins, codes: Codes, wanted: int) -> int:
        """Return the maximum number of fold trees; with many classes a tree is grown to know its size."""
        n_classes = table.schema.n_channels
        if wanted <= max_trees(2 * table.n_rows, n_classes, self.cells):
            return wanted
        tree = recipe.prune(recipe.grower.grow(table, bins, codes.copy()), table)
        return max_trees(tree.n_nodes, n_classes, self.cells)

    def _sample(self, recipe: Recipe, bins: Bins, codes: Codes, table: Table) -> NDArray[np.intp] | None:
        """Choose the rows to use; None for all of them."""
        rows = min(self.rows, max_rows(table.schema.n_channels, self.cells))
        if table.n_rows <= rows:
            return None
        hashes = row_hash(codes, target_bits(table), self.seed)
        whole = _rare_categories(recipe, bins, codes, table, rows) if table.group is None else None
        if whole is None:
            return first_units(unit_ranks(hashes, table), rows)
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
    fold_trees: Sequence[FoldTree], start: Borrowing | None = None
) -> tuple[Borrowing, list[Floats]]:
    """Find the strengths with the least squared loss on held-out rows, and the smoothed predictions of every fold tree.

    Strengths are rounded to three decimals; more would be noise.
    """
    if not fold_trees:
        return Borrowing(*_START.tolist()), []
    sizes = [one.tree.n_nodes for one in fold_trees]
    begins = np.cumsum([0, *sizes])
    parent = np.concatenate(
        [one.tree.skeleton.parent + begin for one, begin in zip(fold_trees, begins[:-1], strict=True)]
    )
    parent[begins[:-1]] = -1
    regression = fold_trees[0].tree.is_regression
    standard = StandardisedTarget.of(*(one.tree for one in fold_trees)) if regression else None
    stacked, rows = _stack(parent.astype(np.int32), fold_trees, standard)

    def cost_and_gradient(strengths: Floats) -> tuple[float, Floats]:
        cost, gradient = stacked.loss(strengths)
        apart = strengths - _START
        cost += _REGULARISATION * float((apart * apart).sum())
        return cost / rows, (gradient + 2 * _REGULARISATION * apart) / rows

    begin = _START if start is None else np.array(astuple(start))
    found = minimise(cost_and_gradient, begin, (-np.inf, np.inf), tolerance=_TOLERANCE, max_steps=40).round(3)
    smoother = Borrowing(**dict(zip(STRENGTH_NAMES, found.tolist(), strict=True)))
    belief, _ = stacked.predict(found)
    if standard is not None:
        belief = standard.means(belief[:, 1:])
    return smoother, np.split(belief, begins[1:-1])


def _stack(
    parent: Indices, fold_trees: Sequence[FoldTree], standard: StandardisedTarget | None
) -> tuple[StackedTrees, float]:
    """Return the concatenated trees, and the weight of their held-out rows; a numeric target as two classes."""
    held = np.concatenate([one.held for one in fold_trees])
    if standard is None:
        evidence = np.concatenate([one.tree.evidence * one.tree.unit for one in fold_trees])
        return StackedTrees(parent, evidence, held), float(held.sum())
    shares = np.concatenate([standard.of_tree(one.tree) for one in fold_trees])
    impurity = np.concatenate([impurities(one.tree, standard) for one in fold_trees])
    held_shares = standard.shares(held[:, 0], held[:, 1])
    return StackedTrees(parent, shares, held_shares, impurity), float(held[:, 0].sum())
