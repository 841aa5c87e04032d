"""Cross-validation of the pruner: candidates prune fold trees, and held-out rows choose among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from hornbeam.data.row_order import keep_copies_together, n_units
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.pruning.cost_complexity import CostComplexity, cost_complexity_pruners, cut_alphas
from hornbeam.pruning.pruner import Pruner
from hornbeam.recipe import FitLimits, Recipe, RecipeFitter
from hornbeam.tree.decision import Costs
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.tree import Tree
from hornbeam.tuning.candidate_losses import (
    CandidateLosses,
    Score,
    evaluate_alphas,
    evaluate_pruners,
    losses,
    squared_losses,
)
from hornbeam.tuning.folds import FoldAssignment, FoldTrees, grow_without_folds
from hornbeam.typing import Floats

type Candidates = Sequence[Pruner | None]

_SCORES = ("brier", "log", "error")


@dataclass(frozen=True, slots=True)
class CrossValidated(RecipeFitter):
    """A recipe whose pruner is chosen on held-out rows.

    Every candidate prunes every fold tree, the recipe's smoother smooths it, and its loss on the held-out rows is
    summed. Sizes are those of the fold trees too. The folds depend on the rows alone, not on their order.

    All alphas of CART's path are evaluated in one sweep over each tree, whatever their number, if the smoother needs
    only a node and its ancestors (`NamedSmoother.needs_only_ancestors`): raw frequencies, `Laplace`, `MEstimate`,
    `HierarchicalShrinkage`, `HGS` and `Borrowing`. Others smooth each tree again for each candidate; use few
    candidates with them.
    """

    recipe: Recipe
    candidates: Candidates | Callable[[Tree], Candidates] = cost_complexity_pruners
    score: Score = "brier"
    folds: int = 5
    simplicity: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not callable(self.candidates):
            object.__setattr__(self, "candidates", _listed(self.candidates))
        if isinstance(self.score, Costs):
            if self.score.matrix.ndim != 2:
                raise ParameterError(f"score={self.score!r}: expected one matrix of costs for all rows.")
        elif self.score not in _SCORES:
            raise ParameterError(f"score={self.score!r}: expected one of {', '.join(_SCORES)}, or Costs.")
        if self.folds < 2:
            raise ParameterError(f"folds={self.folds}: expected 2 or more.")
        if not 0 <= self.simplicity <= 1:
            raise ParameterError(
                f"simplicity={self.simplicity}: expected a number from 0 (most accurate) to 1 (smallest)."
            )

    @property
    def limits(self) -> FitLimits:
        """All rows must be in memory."""
        return FitLimits("choosing a pruner by cross-validation", seed=self.seed)

    def choose(self, table: Table, *, n_jobs: int = 1) -> Recipe:
        """Return the recipe with the chosen pruner; of a single row, the first candidate."""
        candidates, found = self.evaluate(table, n_jobs=n_jobs)
        best = 0 if found is None else found.winner(self.simplicity)
        return replace(self.recipe, pruner=candidates[best])

    def evaluate(
        self, table: Table, *, n_jobs: int = 1
    ) -> tuple[tuple[Pruner | None, ...], CandidateLosses | None]:
        """Return the candidates and their losses on held-out rows; None for a single row."""
        recipe, table = replace(self.recipe, pruner=None), keep_copies_together(table)
        bins, codes = recipe.encode(table, n_jobs)
        assignment = FoldAssignment.of(table, codes, min(self.folds, n_units(table)), self.seed)
        fold_trees = grow_without_folds(recipe, table, bins, codes, [assignment], n_jobs)
        candidates = self.candidates
        if callable(candidates):
            candidates = candidates(recipe.grower.grow(table, bins, codes, n_jobs=n_jobs))
        listed = _listed(candidates)
        if fold_trees is None:
            return listed, None
        standard = StandardisedTarget.of_all(fold_trees.tree) if table.schema.is_regression else None
        found = (self._evaluate(recipe, listed, one, standard) for one in fold_trees.apart())
        return listed, reduce(add, found)

    def _evaluate(
        self, recipe: Recipe, candidates: Candidates, one: FoldTrees, standard: StandardisedTarget | None
    ) -> CandidateLosses:
        """Return the losses of all candidates on one fold tree; those of a path in one sweep."""
        alphas = [each.alpha for each in candidates if isinstance(each, CostComplexity)]
        impurities = {each.impurity for each in candidates if isinstance(each, CostComplexity)}
        on_path = len(alphas) == len(candidates) and len(impurities) == 1
        # A smoother of the user's own, a function for one, has no such attribute.
        smoothed_once = recipe.smoother is None or getattr(recipe.smoother, "needs_only_ancestors", False)
        at_once = on_path and smoothed_once
        if standard is not None:
            return self._evaluate_regression(recipe, np.array(alphas), one, standard, at_once)
        if not at_once:
            return evaluate_pruners(recipe, candidates, one, self.score)
        loss = losses(recipe.finish(one.tree).belief, self.score)
        cut = cut_alphas(one.tree, *impurities)
        return evaluate_alphas(np.array(alphas), one.tree, cut, one.held, loss)

    def _evaluate_regression(
        self, recipe: Recipe, alphas: Floats, one: FoldTrees, standard: StandardisedTarget, at_once: bool
    ) -> CandidateLosses:
        """Return the squared errors of alphas, in partitions of the standard deviation of all rows."""
        if not at_once or self.score != "brier":
            raise ParameterError(
                "the target is numeric: expected candidates on CART's path, squared loss (score='brier'), and a "
                "smoother that needs only a node and its ancestors. Compare other candidates yourself."
            )
        loss, square = squared_losses(standard.seen(recipe.finish(one.tree).belief[:, 0]))
        cut, held = cut_alphas(one.tree), one.powers(standard)
        return evaluate_alphas(alphas, one.tree, cut, held, loss, square=square)


def _listed(candidates: Candidates | Tree) -> tuple[Pruner | None, ...]:
    """Return the candidates as a tuple of at least one."""
    if isinstance(candidates, Tree):
        raise ParameterError(
            "candidates returned a tree: expected a sequence of pruners. Pass a tuple, also of a single pruner."
        )
    found = tuple(candidates)
    if not found:
        raise ParameterError("no candidates: expected at least one pruner, or None for no pruning.")
    return found
