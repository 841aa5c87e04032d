"""Hornbeam's trees of one way of growing, under every smoother: grown once a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from benchmarks.quality.studies.choice import Inner, choose_alpha, choose_strength
from benchmarks.quality.studies.methods import Group, Outcome, timed
from benchmarks.quality.studies.sets import Fold
from hornbeam.growing.criterion import Missing
from hornbeam.pruning import CostComplexity
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.smoothing import (
    HDP,
    HGS,
    GradientHGS,
    HierarchicalShrinkage,
    Laplace,
    LeaveOneOutHGS,
    MBranch,
    MEstimate,
    Raw,
    Smoother,
)
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.tree import Tree

HDP_BUDGET = 1_000_000  # nodes times classes: beyond it 1,000 sweeps take too long for ten folds

SMOOTHERS: dict[str, Smoother] = {
    "raw": Raw(),
    "laplace": Laplace(),
    "m-estimate": MEstimate(),
    "m-estimate-root": MEstimate(base="root"),
    "m-branch": MBranch(),
    "hgs-1": HGS(),
    "hgs-gradient": GradientHGS(),
    "hgs-loo": LeaveOneOutHGS(),
    "hdp": HDP(),
}
CHOSEN = ("shrinkage-cv", "cost-complexity-cv", "cost-complexity-1se")

_PET, _CART, _C44 = (replace(PRESETS[name], smoother=None) for name in ("default", "cart", "c4.4"))
RECIPES = {
    # As in the HGS paper: missing values are one more value.
    "c4.4": replace(_C44, grower=replace(_C44.grower, missing=Missing.OWN)),
    "cart": _CART,
    "pet": _PET,
}


def family(
    name: str,
    recipe: Recipe,
    smoothers: Mapping[str, Smoother] = SMOOTHERS,
    chosen: tuple[str, ...] = CHOSEN,
) -> Group:
    """A tree of this recipe under every smoother, and sizes and strengths chosen by cross-validation."""

    def run(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
        train, test = fold.table(fold.train), fold.table(fold.test)
        tree, grown = timed(lambda: recipe.fit(train))
        stops = route(tree.skeleton, test)

        def outcome(method: str, step: Callable[[Tree], Tree], before: float = 0.0) -> Outcome:
            made, seconds = timed(lambda: step(tree))
            # A smoothed tree sends rows where the grown one did; a pruned one does not.
            same = made.skeleton is tree.skeleton
            said = fold.spread(made.belief[stops] if same else predict_rows(made, test))
            return Outcome.of_tree(method, made, said, grown + before + seconds)

        for method, smoother in smoothers.items():
            if method not in wanted:
                continue
            work = tree.n_nodes * tree.n_classes
            if isinstance(smoother, HDP) and work > HDP_BUDGET:
                yield Outcome(method, None, reason=f"{work:,} nodes x classes, above {HDP_BUDGET:,}")
            else:
                yield outcome(method, smoother)
        if wanted.isdisjoint(CHOSEN):
            return
        inner, regrown = timed(lambda: Inner.grow(recipe, fold))
        if "shrinkage-cv" in wanted:
            strength, chosen = timed(lambda: choose_strength(inner))
            yield outcome("shrinkage-cv", HierarchicalShrinkage(strength), regrown + chosen)
        if wanted & {"cost-complexity-cv", "cost-complexity-1se"}:
            (best, simple), chosen = timed(lambda: choose_alpha(inner, tree))
            yield outcome("cost-complexity-cv", CostComplexity(best), regrown + chosen)
            yield outcome("cost-complexity-1se", CostComplexity(simple), regrown + chosen)

    return Group(name, (*smoothers, *chosen), run)
