"""Pruning strength by cross-validation: candidates prune regrown trees, held-out rows choose."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.pruning import CostComplexity, Pruner, cost_complexity_pruners
from hornbeam.recipe import Recipe
from hornbeam.smoothing import HGS, Borrowing, HierarchicalShrinkage, Laplace, MEstimate, Raw
from hornbeam.tree.decision.costs import Costs
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.tree import Tree
from hornbeam.tuning.candidate_losses import (
    CandidateLosses,
    Score,
    evaluate_alphas,
    evaluate_pruners,
    losses,
    powers,
    squared_losses,
)
from hornbeam.tuning.folds import FoldAssignment, FoldTree, grow_without_fold, n_copies
from hornbeam.typing import Floats

__all__ = ["CrossValidated"]

type Candidates = Sequence[Pruner | None]

_SCORES = ("brier", "log", "error")
# What these believe of a node depends on it and the nodes above alone: cutting below changes nothing.
_FROM_ABOVE = (type(None), Raw, Laplace, MEstimate, HierarchicalShrinkage, HGS, Borrowing)


@dataclass(frozen=True, slots=True)
class CrossValidated:
    """A recipe whose pruner is chosen on rows held out of regrown trees.

    Parameters
    ----------
    recipe : Recipe
        How trees are grown and smoothed. Its pruner is replaced by the one that is chosen.
    candidates : sequence of Pruner or None, or callable from Tree to such a sequence
        The pruners to choose from, None for no pruning; or what lists them, given the tree grown from all
        rows. Default: `cost_complexity_pruners`, every subtree on CART's path.
    score : {"brier", "log", "error"} or Costs, default "brier"
        What a held-out row loses: the squared distance of the probabilities from the truth over all classes,
        minus the logarithm of the true class's probability (taken as at least 1e-15), 1 for a wrong answer,
        or what the answer of least expected cost costs. Of a numeric target "brier" is the squared error, and the
        only choice.
    folds : int, default 5
        How many trees are regrown, each without one fold of the rows.
    simplicity : float, default 0.0
        A dial from 0, the candidate that loses least, to 1, the one of fewest leaves that is within one
        standard error of it: CART's 1-SE rule.
    seed : int, default 0
        Deals the rows to other folds.

    Notes
    -----
    Every candidate prunes every regrown tree, the recipe's smoother speaks, and the rows that tree has not
    seen are asked. Sizes are those of the regrown trees too. Which row is in which fold depends on the rows
    alone, not on their order.

    All alphas of CART's path are tried in one sweep over each tree, however many they are, if the smoother
    looks at a node and its ancestors alone: raw frequencies, `Laplace`, `MEstimate`,
    `HierarchicalShrinkage`, `HGS` and `Borrowing`. Others smooth each tree anew for each candidate; give them
    few.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.data import Table
    >>> from hornbeam.pruning import ErrorBased
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read(*load_breast_cancer(return_X_y=True))
    >>> CrossValidated(PRESETS["cart"], simplicity=1.0).fit(table).n_leaves
    4
    >>> candidates = [None, *map(ErrorBased, (0.5, 0.25, 0.1, 0.01))]
    >>> CrossValidated(PRESETS["c4.4"], candidates, score="log").choose(table).pruner.confidence
    0.1
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
                f"simplicity={self.simplicity}: expected a number from 0 (loses least) to 1 (smallest)."
            )

    def fit(self, table: Table, *, n_jobs: int = 1, on_progress: Callable[[int], None] | None = None) -> Tree:
        """Make the tree of a table; ``n_jobs`` threads cannot change it."""
        return self.choose(table, n_jobs=n_jobs).fit(table, n_jobs=n_jobs, on_progress=on_progress)

    def choose(self, table: Table, *, n_jobs: int = 1) -> Recipe:
        """Find the pruner; the recipe is returned with it.

        A single row leaves nobody to ask: then the first candidate is taken.
        """
        candidates, trial = self.trial(table, n_jobs=n_jobs)
        best = 0 if trial is None else trial.winner(self.simplicity)
        return replace(self.recipe, pruner=candidates[best])

    def trial(
        self, table: Table, *, n_jobs: int = 1
    ) -> tuple[tuple[Pruner | None, ...], CandidateLosses | None]:
        """List the candidates, and what they lost on the rows held out; of a single row, nothing."""
        recipe = replace(self.recipe, pruner=None)
        bins = recipe.bin(table, n_jobs)
        codes = bins.encode(table, n_jobs)
        cards = FoldAssignment.of(table, codes, min(self.folds, n_copies(table)), self.seed)
        regrown = grow_without_fold(recipe, table, bins, codes, cards, n_jobs)
        candidates = self.candidates
        if callable(candidates):
            candidates = candidates(recipe.grower.grow(table, bins, codes, n_jobs=n_jobs))
        listed = _listed(candidates)
        if not regrown:
            return listed, None
        standard = (
            StandardisedTarget.of(*(one.tree for one in regrown))
            if table.numeric_target is not None
            else None
        )
        return listed, reduce(add, (self._try(recipe, listed, one, standard) for one in regrown))

    def _try(
        self, recipe: Recipe, candidates: Candidates, one: FoldTree, standard: StandardisedTarget | None
    ) -> CandidateLosses:
        """Try all candidates on one regrown tree, on a path all at once."""
        alphas = [each.alpha for each in candidates if isinstance(each, CostComplexity)]
        impurities = {each.impurity for each in candidates if isinstance(each, CostComplexity)}
        on_path = len(alphas) == len(candidates) and len(impurities) == 1
        at_once = on_path and isinstance(recipe.smoother, _FROM_ABOVE)
        if standard is not None:
            return self._try_measured(recipe, np.array(alphas), one, standard, at_once)
        if not at_once:
            return evaluate_pruners(recipe, candidates, one, self.score)
        lost = losses(recipe.finish(one.tree).belief, self.score)
        return evaluate_alphas(np.array(alphas), one.tree, one.held, lost, *impurities)

    def _try_measured(
        self, recipe: Recipe, alphas: Floats, one: FoldTree, standard: StandardisedTarget, at_once: bool
    ) -> CandidateLosses:
        """Try alphas by the squared error, in deviations of all rows."""
        if not at_once or self.score != "brier":
            raise ParameterError(
                "the target is numeric: expected candidates on CART's path, squared loss (score='brier'), and a "
                "smoother that looks at a node and those above it. Choose among others by hand."
            )
        loss, square = squared_losses(standard.seen(recipe.finish(one.tree).belief[:, 0]))
        return evaluate_alphas(alphas, one.tree, powers(one, standard), loss, square=square)


def _listed(candidates: Candidates | Tree) -> tuple[Pruner | None, ...]:
    """The candidates, if there are any."""
    if isinstance(candidates, Tree):
        raise ParameterError(
            "candidates returned a tree: expected a sequence of pruners. Pass a tuple, also of a single pruner."
        )
    found = tuple(candidates)
    if not found:
        raise ParameterError("no candidates: expected at least one pruner, or None for no pruning.")
    return found
