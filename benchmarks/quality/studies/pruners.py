"""Hornbeam's trees of one way of growing, under every pruner: grown once a fold, with and without smoothing after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from benchmarks.quality.studies.choice import Inner, choose_alpha, inner_splits
from benchmarks.quality.studies.costs import MATRICES, seen_matrices
from benchmarks.quality.studies.methods import Group, Outcome, timed
from benchmarks.quality.studies.sets import Fold
from hornbeam import TreeClassifier
from hornbeam.data.table import Table
from hornbeam.pruning import (
    BayesRisk,
    Collapse,
    CostComplexity,
    ErrorBased,
    LeafBudget,
    MinimumError,
    Pruner,
    ReducedError,
)
from hornbeam.recipe import Recipe
from hornbeam.smoothing import HGS, Laplace, Raw, Smoother
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree


@dataclass(frozen=True)
class Grown:
    """What the pruners of a fold share; made when first asked for, and kept with its CPU seconds."""

    recipe: Recipe
    fold: Fold

    @cached_property
    def rows(self) -> Table:
        return self.fold.table(self.fold.train)

    @cached_property
    def tree(self) -> tuple[Tree, float]:
        return timed(lambda: self.recipe.fit(self.rows))

    @cached_property
    def alphas(self) -> tuple[tuple[float, float], float]:
        """Of cost-complexity: the best by cross-validation, and the largest within one standard error."""
        return timed(lambda: choose_alpha(Inner.grow(self.recipe, self.fold), self.tree[0]))

    @cached_property
    def default_leaves(self) -> tuple[int, float]:
        """Leaves of the tree that the estimator makes by default."""
        train, _ = self.fold.frames()
        return timed(lambda: TreeClassifier().fit(train, self.fold.y_train).tree_.n_leaves)

    def pruned(self, pruner: Pruner, before: float = 0.0) -> tuple[Tree, float]:
        """The tree cut back, and the CPU seconds of all that took."""
        tree, grown = self.tree
        made, seconds = timed(lambda: pruner(tree))
        return made, grown + before + seconds


type Way = Callable[[Grown], tuple[Tree, float]]


def unpruned(grown: Grown) -> tuple[Tree, float]:
    """As it was grown."""
    return grown.tree


def reduced_error(grown: Grown) -> tuple[Tree, float]:
    """Grown from two thirds of the training rows, cut back by the rest."""
    rows, held_out = inner_splits(grown.fold)[0]
    prune = ReducedError(grown.fold.table(held_out))
    return timed(lambda: prune(grown.recipe.fit(grown.fold.table(rows))))


def error_based_raised(grown: Grown) -> tuple[Tree, float]:
    """A raised branch takes in rows, so it needs them."""
    return grown.pruned(ErrorBased(0.25, rows=grown.rows))


def cost_complexity_cv(grown: Grown) -> tuple[Tree, float]:
    (best, _), chosen = grown.alphas
    return grown.pruned(CostComplexity(best), chosen)


def cost_complexity_1se(grown: Grown) -> tuple[Tree, float]:
    (_, simple), chosen = grown.alphas
    return grown.pruned(CostComplexity(simple), chosen)


def leaf_budget(grown: Grown) -> tuple[Tree, float]:
    """As many leaves as the default has."""
    n_leaves, fitted = grown.default_leaves
    return grown.pruned(LeafBudget(n_leaves), fitted)


def alone(pruner: Pruner) -> Way:
    """A pruner that needs the tree and nothing else."""
    return lambda grown: grown.pruned(pruner)


def at_risk(estimate: Smoother, matrix: str) -> Way:
    """Bayes risk under one of the study's cost matrices."""
    return lambda grown: grown.pruned(BayesRisk(seen_matrices(grown.fold)[matrix], estimate=estimate))


# Cheapest first. Bayes risk by Laplace's estimate and equal costs is minimum-error.
PRUNERS: dict[str, Way] = {
    "unpruned": unpruned,
    "collapse": alone(Collapse()),
    "error-based": alone(ErrorBased(0.25, raising=False)),
    "minimum-error": alone(MinimumError()),
    "minimum-error-2": alone(MinimumError(2)),
    "bayes-risk-hgs": alone(BayesRisk(estimate=HGS())),
    **{f"bayes-risk-laplace-{matrix}": at_risk(Laplace(), matrix) for matrix in MATRICES},
    **{f"bayes-risk-hgs-{matrix}": at_risk(HGS(), matrix) for matrix in MATRICES},
    "reduced-error": reduced_error,
    "cost-complexity-cv": cost_complexity_cv,
    "cost-complexity-1se": cost_complexity_1se,
    "leaf-budget": leaf_budget,
    "error-based-raised": error_based_raised,  # the rows of a large set may make it too slow
}
AFTER: dict[str, Smoother] = {"": Raw(), "+hgs": HGS()}
C45_AFTER: dict[str, Smoother] = {**AFTER, "+laplace": Laplace()}


def pruned_family(
    name: str, recipe: Recipe, ways: Mapping[str, Way], after: Mapping[str, Smoother] = AFTER
) -> Group:
    """Every way of pruning the trees of a recipe, and every way to probabilities after it."""

    def run(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
        grown, test = Grown(recipe, fold), fold.table(fold.test)
        for pruning, prune in ways.items():
            if wanted.isdisjoint(pruning + suffix for suffix in after):
                continue
            tree, seconds = prune(grown)
            for suffix, smoother in after.items():
                made, more = timed(lambda tree=tree, smoother=smoother: smoother(tree))
                said = fold.spread(predict_rows(made, test))
                yield Outcome.of_tree(pruning + suffix, made, said, seconds + more)

    return Group(name, tuple(pruning + suffix for pruning in ways for suffix in after), run)
