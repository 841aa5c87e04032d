"""Cross-fitting: how much to borrow and how small to be, asked of rows the trees have not seen."""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.row_order import break_ties, row_hash, target_bits
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.kernels.stacked_trees import N_STRENGTHS, StackedTrees
from hornbeam.pruning import Pruner
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Borrowing
from hornbeam.smoothing.descent import minimise
from hornbeam.tree.evidence.standardised import StandardisedTarget, impurities
from hornbeam.tree.tree import Tree
from hornbeam.tuning.cross_validated import CrossValidated
from hornbeam.tuning.folds import FoldAssignment, FoldTree, grow_without_fold, n_copies
from hornbeam.tuning.leaf_penalty import choose_penalty
from hornbeam.tuning.limits import MOST_CELLS, max_rows, max_trees
from hornbeam.tuning.tuning_result import TuningResult
from hornbeam.typing import Codes, Floats, Indices

__all__ = ["CrossFitted"]

_START = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # every ancestor lends e rows: a little more than HGS
_PRIOR_STRENGTH = 0.3  # squared loss that a strength must save to move by 1 from there
_TOLERANCE = 1e-7  # of the squared loss of a row
_MANY_ROWS = 5_000  # from here on 5 folds hold out enough rows; below, 10
_FEW_ROWS, _REPEATS = (
    1_000,
    5,
)  # below so many rows, which row is in which fold matters: they are dealt out again


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """A recipe whose smoothing and size are chosen on rows held out of regrown trees.

    Parameters
    ----------
    recipe : Recipe or CrossValidated
        How trees are grown and pruned. Its smoother is replaced by the `Borrowing` that is found; a pruner that
        is to be chosen is chosen first, on trees smoothed by the recipe's own.
    folds : int or None, default None
        How many trees are regrown, each without one fold of the rows; None: 10 below 5,000 rows, else 5.
    repeats : int or None, default None
        How often the rows are dealt to folds and the trees regrown; None: 5 times below 1,000 rows, where chance in
        the folds shows in the probabilities, else once.
    rows : int, default 30,000
        How many rows take part at most. The strengths found on them serve a tree of any size.
    simplicity : float or None, default 0.0
        A dial from 0, the most accurate tree, to 1, the smallest one whose squared loss on the held-out rows
        is within one standard error of it; None keeps every leaf.
    pruner : Pruner or None, default None
        What else cuts the smoothed tree back, by its belief: `BayesRisk`, say.
    seed : int, default 0
        Deals the rows to other folds.
    cells : int, default 40,000,000
        Nodes times classes of all regrown trees together, at most. A node has a number for each class, so that time
        and memory grow with them. Where there are more, the rows are dealt out less often, then to fewer folds, 2 at
        least; and at most `cells` / 4 / classes rows take part, 100 at least.

    Notes
    -----
    The leave-one-out loss of a finished tree is optimistic: its tests were chosen with the left-out row
    among the others. Here whole trees are grown without the rows they are asked about. Six strengths of
    `Borrowing` are fitted to all of them together, by their squared loss and a gentle pull towards a little
    more than `HGS`, so that few rows change little. Which row is in which fold depends on the rows alone,
    not on their order.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.data import Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read(*load_breast_cancer(return_X_y=True))
    >>> CrossFitted(PRESETS["default"]).fit(table).n_leaves, CrossFitted(PRESETS["default"], simplicity=1.0).fit(table).n_leaves
    (11, 6)
    """

    recipe: Recipe | CrossValidated
    folds: int | None = None
    repeats: int | None = None
    rows: int = 30_000
    simplicity: float | None = 0.0
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
        if self.simplicity is not None and not 0 <= self.simplicity <= 1:
            raise ParameterError(
                f"simplicity={self.simplicity}: expected a number from 0 (most accurate) to 1 (smallest). "
                "An estimator keeps every leaf with pruning=None."
            )

    def fit(self, table: Table, *, n_jobs: int = 1, on_progress: Callable[[int], None] | None = None) -> Tree:
        """Make the tree of a table; ``n_jobs`` threads cannot change it."""
        recipe = self.choose(table, n_jobs=n_jobs)
        bins = recipe.bin(table, n_jobs)
        codes = bins.encode(table, n_jobs)
        lesson = self.learn(recipe, table, bins, codes, n_jobs=n_jobs)
        tree = recipe.grower.grow(table, bins, codes, n_jobs=n_jobs, on_progress=on_progress)
        return lesson.apply(tree, n_jobs)

    def choose(self, table: Table, *, n_jobs: int = 1) -> Recipe:
        """Return the recipe, its pruner chosen if that is to be."""
        return self.recipe if isinstance(self.recipe, Recipe) else self.recipe.choose(table, n_jobs=n_jobs)

    def learn(
        self, recipe: Recipe, table: Table, bins: Bins, codes: Codes, *, n_jobs: int = 1
    ) -> TuningResult:
        """Regrow trees of at most `rows` rows of a table, and ask each about those it has not seen.

        Parameters
        ----------
        recipe : Recipe
            How trees are grown and pruned.
        table : Table
        bins : Bins
        codes : array
            ``bins.encode(table)``.
        n_jobs : int, default 1
            Threads; each tree is grown by one of them.

        Returns
        -------
        TuningResult
            It finishes any tree of the same recipe, grown from these rows or from more of their kind.
        """
        asked = self._sample(codes, table)
        if asked is not None:
            table, codes = table.take(asked), codes[asked]
        n_folds, regrown = self._regrow(recipe, table, bins, codes, n_jobs)
        smoother, beliefs = fit_strengths(regrown)
        recipe = replace(recipe, smoother=smoother)
        once = regrown[:n_folds], beliefs[:n_folds]  # of a single deal, in which each row was held out once
        if self.simplicity is None:
            return TuningResult(recipe, None, smoother, self.pruner, table, bins, *once)
        price = choose_penalty(self.simplicity, regrown, beliefs)
        pruned = [
            one.stopping(price.cuts(one.believing(belief)))
            for one, belief in zip(regrown, beliefs, strict=True)
        ]
        smoother, _ = fit_strengths(pruned, smoother)
        return TuningResult(recipe, price, smoother, self.pruner, table, bins, *once)

    def _regrow(
        self, recipe: Recipe, table: Table, bins: Bins, codes: Codes, n_jobs: int
    ) -> tuple[int, Sequence[FoldTree]]:
        """Regrow the trees of all folds, deal by deal; a row counts as one in all deals. Return the number of folds."""
        n_rows = n_copies(table)
        n_folds = min(self.folds or (10 if n_rows < _MANY_ROWS else 5), n_rows)
        repeats = self.repeats or (_REPEATS if n_rows < _FEW_ROWS else 1)
        most = self._most_trees(recipe, table, bins, codes, n_folds * repeats)
        n_folds, repeats = min(n_folds, most), max(min(repeats, most // n_folds), 1)
        regrown: list[FoldTree] = []
        for repeat in range(repeats):
            cards = FoldAssignment.of(table, codes, n_folds, self.seed + (repeat << 32))
            regrown += grow_without_fold(recipe, table, bins, codes, cards, n_jobs)
        if repeats > 1:
            regrown = [replace(one, held=one.held / repeats) for one in regrown]
        return n_folds, regrown

    def _most_trees(self, recipe: Recipe, table: Table, bins: Bins, codes: Codes, wanted: int) -> int:
        """Return how many trees may be regrown; one is grown to see its size where the rows alone cannot tell."""
        n_classes = table.schema.n_channels
        if wanted <= max_trees(2 * table.n_rows, n_classes, self.cells):
            return wanted
        tree = recipe.prune(recipe.grower.grow(table, bins, codes.copy()))
        return max_trees(tree.n_nodes, n_classes, self.cells)

    def _sample(self, codes: Codes, table: Table) -> Indices | None:
        """Choose the rows that take part; None for all of them."""
        rows = min(self.rows, max_rows(table.schema.n_channels, self.cells))
        if table.n_rows <= rows:
            return None
        numbers = break_ties(row_hash(codes, target_bits(table), self.seed))
        chosen: Indices = np.sort(np.argpartition(numbers, rows)[:rows])
        return chosen


def fit_strengths(
    regrown: Sequence[FoldTree], start: Borrowing | None = None
) -> tuple[Borrowing, list[Floats]]:
    """Find the strengths with the least squared loss on held-out rows.

    Parameters
    ----------
    regrown : sequence of FoldTree
    start : Borrowing, optional
        Where the search begins: strengths that will not be far off.

    Returns
    -------
    Borrowing
        Strengths have three decimals: more would be noise, and read badly.
    list of float64 arrays
        What every regrown tree believes with them.
    """
    if not regrown:
        return Borrowing(*_START.tolist()), []
    sizes = [one.tree.n_nodes for one in regrown]
    begins = np.cumsum([0, *sizes])
    parent = np.concatenate(
        [one.tree.skeleton.parent + begin for one, begin in zip(regrown, begins[:-1], strict=True)]
    )
    parent[begins[:-1]] = -1
    standard = (
        StandardisedTarget.of(*(one.tree for one in regrown)) if regrown[0].tree.is_regression else None
    )
    forest, rows = _stacked_trees(parent.astype(np.int32), regrown, standard)

    def cost_and_slope(strengths: Floats) -> tuple[float, Floats]:
        cost, slope = forest.loss(strengths)
        apart = strengths - _START
        return (cost + _PRIOR_STRENGTH * float((apart * apart).sum())) / rows, (
            slope + 2 * _PRIOR_STRENGTH * apart
        ) / rows

    begin = _START if start is None else np.array(astuple(start))
    found = minimise(cost_and_slope, begin, (-np.inf, np.inf), tolerance=_TOLERANCE, max_steps=40).round(3)
    smoother = Borrowing(**dict(zip(N_STRENGTHS, found.tolist(), strict=True)))
    belief, _ = forest.believe(found)
    if standard is not None:
        belief = standard.means(belief[:, 1:])
    return smoother, np.split(belief, begins[1:-1])


def _stacked_trees(
    parent: Indices, regrown: Sequence[FoldTree], standard: StandardisedTarget | None
) -> tuple[StackedTrees, float]:
    """Trees one behind the other, and the weight of the rows held out of them; numbers as two classes."""
    held = np.concatenate([one.held for one in regrown])
    if standard is None:
        evidence = np.concatenate([one.tree.evidence * one.tree.unit for one in regrown])
        return StackedTrees(parent, evidence, held), float(held.sum())
    shares = np.concatenate([standard.of_tree(one.tree) for one in regrown])
    impurity = np.concatenate([impurities(one.tree, standard) for one in regrown])
    return StackedTrees(parent, shares, standard.shares(held[:, 0], held[:, 1]), impurity), float(
        held[:, 0].sum()
    )
