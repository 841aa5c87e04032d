"""Size, probabilities and costs of pruned trees: every pruner on the same tree, with and without smoothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.quality.studies.cache import Cache
from benchmarks.quality.studies.costs import MATRICES, RULE, priced, seen_matrices
from benchmarks.quality.studies.families import RECIPES
from benchmarks.quality.studies.methods import Group, Outcome, fit_settings
from benchmarks.quality.studies.pruners import C45_AFTER, PRUNERS, Way, pruned_family
from benchmarks.quality.studies.report import Scores, gaps_table, provenance
from benchmarks.quality.studies.sets import Entry, Fold
from benchmarks.quality.studies.trade_off import MORE, costs_table, goals, picture, sizes_table
from hornbeam import TreeClassifier
from hornbeam.pruning import Collapse
from hornbeam.recipe import PRESETS

# Settings of the public estimator, fitted as a user would.
SETTINGS = {
    "default": TreeClassifier,
    "every-leaf": partial(TreeClassifier, pruning=None),
    "within-2": partial(TreeClassifier, tolerance=0.02),
    "within-5": partial(TreeClassifier, tolerance=0.05),
}


def hornbeam(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """The settings, and pruning at the risk of each cost matrix."""
    at_risk = {
        f"bayes-risk-{name}": partial(TreeClassifier, pruning="bayes-risk", costs=matrix)
        for name, matrix in seen_matrices(fold).items()
    }
    return fit_settings(SETTINGS | at_risk, fold, wanted)


def _some(*names: str) -> dict[str, Way]:
    return {name: PRUNERS[name] for name in names}


C45_BEFORE = replace(PRESETS["c4.5"], pruner=Collapse())  # J48 collapses even with option -U
GROUPS = tuple(
    map(
        priced,
        (
            Group("hornbeam", (*SETTINGS, *(f"bayes-risk-{name}" for name in MATRICES)), hornbeam),
            pruned_family("pet", RECIPES["pet"], PRUNERS),
            pruned_family("c4.5", C45_BEFORE, _some("unpruned", "error-based-raised"), C45_AFTER),
            pruned_family(
                "cart", RECIPES["cart"], _some("unpruned", "cost-complexity-cv", "cost-complexity-1se")
            ),
        ),
    )
)

RULES = f"""Ten stratified folds, shuffled with a fixed seed; all folds pooled. RMSE is the root of the Brier score
divided by the number of classes. Log loss in nats; the probability of the class that came counts as 1e-15 at least.
Losses equal to four decimals are a draw; the two-sided sign test drops draws. Leaves and depth are means of the ten
trees of a set; ratios are to the leaves of `hornbeam/every-leaf` on the same set. Seconds are CPU seconds of training
a fold, single-threaded, everything that a method needs included.

`pet` trees are grown as the default grows its own, `c4.5` and `cart` trees as the presets do; `c4.5` trees are
collapsed first, as J48's are even with option -U, and `c4.5/error-based-raised` is J48's default tree. Probabilities
are raw frequencies, or `+hgs` and `+laplace` of the pruned tree. Reduced error grows from two thirds of the training
rows and prunes by the rest, alphas are chosen by three inner folds that grow the tree anew, by squared error, and the
leaf budget has as many leaves as the default on the same fold. `bayes-risk-...-rare` and so on have been pruned with
that cost matrix; with equal costs and Laplace's estimate Bayes risk is `minimum-error`.

{RULE}"""


def report(cache: Cache, entries: Iterable[Entry], out: Path, commands: Sequence[str]) -> None:
    """Write scores.csv, summary.md and the figure."""
    scores = Scores.gather(cache, entries, GROUPS)
    if not scores.entries:
        raise SystemExit(f"nothing has been run in {cache.folder}")
    out.mkdir(parents=True, exist_ok=True)
    scores.write_csv(out / "scores.csv", MORE)
    parts = [
        "# Pruning: size, probabilities and costs",
        provenance(scores, commands),
        RULES,
        "## The goals",
        goals(scores),
        "## Size and probabilities",
        sizes_table(scores),
        *(f"## Costs: {matrix}\n\n{costs_table(scores, matrix)}" for matrix in MATRICES),
        "## Without an answer",
        gaps_table(scores),
    ]
    (out / "summary.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    picture(scores, out / "sizes.png")
    print(f"{len(scores.entries)} sets in {out}")
