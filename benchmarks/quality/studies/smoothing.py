"""Class probabilities of one tree: every smoother on three families of trees, and what others offer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.quality.studies.cache import Cache
from benchmarks.quality.studies.families import RECIPES, family
from benchmarks.quality.studies.forest import FOREST, PLAIN, SIZES, SMOOTHED
from benchmarks.quality.studies.j48 import J48
from benchmarks.quality.studies.methods import settings_group
from benchmarks.quality.studies.peers import CALIBRATION, YDF
from benchmarks.quality.studies.report import Scores, gaps_table, means_table, provenance
from benchmarks.quality.studies.sets import Entry
from hornbeam import TreeClassifier
from hornbeam.evaluation import Comparison

# Settings of the public estimator, fitted as a user would; add a line to add a method.
HORNBEAM = settings_group(
    "hornbeam",
    {
        "default": TreeClassifier,
        "every-leaf": partial(TreeClassifier, pruning=None),
        "within-2": partial(TreeClassifier, tolerance=0.02),
        "within-5": partial(TreeClassifier, tolerance=0.05),
    },
)

GROUPS = (
    HORNBEAM,
    *(family(name, recipe) for name, recipe in RECIPES.items()),
    CALIBRATION,
    FOREST,
    YDF,
    J48,
)

HERO = "hornbeam/default"
EARLIER = "hornbeam/by-gain"  # the default before features competed by S-values, from the table of its report
GRADIENT = "c4.4/hgs-gradient"
RIVALS = tuple(f"c4.4/{name}" for name in ("raw", "laplace", "m-estimate", "m-branch", "hdp"))
FORESTS = tuple(f"sklearn-forest/rf-{size}" for size in (5, 10, 100))
MAIN = (
    HERO,
    EARLIER,
    *RIVALS,
    GRADIENT,
    *(f"c4.4/{name}" for name in ("hgs-loo", "shrinkage-cv")),
    "cart/cost-complexity-cv",
    *CALIBRATION.names[1:],
    *YDF.names,
    *J48.names,
    *FORESTS,
)

RULES = """Ten stratified folds, shuffled with a fixed seed; all folds pooled. RMSE is the root of the Brier score
divided by the number of classes. Log loss in nats; the probability of the class that came counts as 1e-15
at least, and a class that no training row had gets probability 0. Losses equal to four decimals are a draw;
the two-sided sign test drops draws. Calibration error: 15 bins of equal width of the largest probability.
Seconds are CPU seconds of training a fold, single-threaded; of k trees of a forest, k hundredths of the
fit. scikit-learn gets nominal values as integer codes with missing as a code of its own, and missing
numbers as NaN. Strengths and alphas are chosen by three inner folds that grow the tree anew: shrinkage by
log loss, cost-complexity by squared error, there with and without the rule of one standard error, on raw
frequencies. `hgs-gradient` is the descent of the HGS paper with one row of the uniform distribution added
(`prior=1`); the paper's own form has none, and is in `results/paper_hgs`."""


def report(
    cache: Cache, entries: Iterable[Entry], out: Path, commands: Sequence[str], *, keep: bool = False
) -> None:
    """Write scores.csv, summary.md and the figures."""
    scores = Scores.gather(cache, entries, GROUPS)
    if keep:
        scores = scores.keep(out / "scores.csv", [EARLIER])
    if not scores.entries:
        raise SystemExit(f"nothing has been run in {cache.folder}")
    run = {line.method for line in scores.lines if line.tally}
    main = [name for name in MAIN if name in run]
    out.mkdir(parents=True, exist_ok=True)
    scores.write_csv(out / "scores.csv")
    families = [(name, [HERO, *family(name, recipe).names]) for name, recipe in RECIPES.items()]
    parts = [
        "# Class probabilities of one tree",
        provenance(scores, commands),
        RULES,
        "## The main methods",
        means_table(scores, main, HERO),
        *(f"## Trees as {name} grows them\n\n{means_table(scores, names, HERO)}" for name, names in families),
        "## Forests",
        means_table(scores, (HERO, *FOREST.names), HERO),
        "## The goals, and the claims of the HGS paper",
        claims(scores),
        "## RMSE, all against all",
        str(scores.comparison("RMSE").among(main)),
        "## Without an answer",
        gaps_table(scores),
    ]
    (out / "summary.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    figures(scores, main, out)
    print(f"{len(scores.entries)} sets in {out}")


def claims(scores: Scores) -> str:
    """Sentences with the numbers of the goals and of the HGS paper's claims; those for which enough has been run."""
    rmse, logs, seconds = scores.comparison("RMSE"), scores.comparison("log loss"), scores.seconds()
    rows = np.array(scores.n_rows)
    ten, hundred = (f"sklearn-forest/rf-{size}" for size in (10, 100))
    larger, largest = rmse.on(rows >= 1000), rmse.on(rows >= np.sort(rows)[-min(20, len(rows))])
    hdp, m_branch = "c4.4/hdp", "c4.4/m-branch"
    lines = {
        (HERO, ten): [
            f"{HERO} against a forest of ten, mean RMSE: {_pair(rmse, HERO, ten)}.",
            f"The same on the {len(larger.sets)} sets of 1,000 rows or more: {larger.record(HERO, ten)}.",
        ],
        (HERO, hundred): [
            f"{HERO} against a forest of a hundred, mean log loss: {_pair(logs, HERO, hundred)}."
        ],
        **{
            (GRADIENT, name): [f"{GRADIENT} against {name}: {rmse.record(GRADIENT, name)}."]
            for name in RIVALS[:-1]
        },
        (GRADIENT, hdp): [
            f"{GRADIENT} against {hdp}: {rmse.record(GRADIENT, hdp)}.",
            f"HDP on the {len(largest.sets)} largest against {GRADIENT}: {largest.record(hdp, GRADIENT)}.",
            f"The same against M-branch: {largest.record(hdp, m_branch)}.",
            f"Seconds of {GRADIENT} and HDP: {_times(seconds, GRADIENT, hdp)}.",
            f"Seconds of {GRADIENT} and M-branch: {_times(seconds, GRADIENT, m_branch)}.",
        ],
    }
    return "\n".join(
        f"- {line}" for pair, said in lines.items() if rmse.among(pair).complete().sets for line in said
    )


def _pair(comparison: Comparison, one: str, other: str) -> str:
    means = comparison.among((one, other)).means()
    return f"{means[0]:.4f} and {means[1]:.4f}"


def _times(seconds: Comparison, one: str, other: str) -> str:
    """Medians and means over the sets: one slow set may make the mean."""
    both = seconds.among((one, other)).complete().losses
    medians, ratio = np.median(both, axis=0), np.median(both[:, 1] / both[:, 0])
    return (
        f"median {medians[0]:.4f} and {medians[1]:.4f}, median of the ratios {ratio:.2f}, "
        f"mean {_pair(seconds, one, other)}"
    )


def figures(scores: Scores, main: Sequence[str], out: Path) -> None:
    """The paper's figures 2, 3 and 4, and the critical differences; those for which enough has been run."""
    import matplotlib as mpl

    mpl.use("agg")
    from benchmarks.quality.studies.figures import plot_difference, plot_forest_sizes, plot_times

    rmse, rows = scores.comparison("RMSE"), scores.n_rows
    timed = (HERO, *(f"c4.4/{name}" for name in ("laplace", "m-branch", "hdp", "hgs-gradient")))
    pairs = {
        "difference-hgs-gradient": (HERO, GRADIENT),
        "difference-forest-10": (HERO, "sklearn-forest/rf-10"),
        "hgs-against-hdp": (GRADIENT, "c4.4/hdp"),
    }
    drawn = {
        name: plot_difference(rmse, *pair, rows)
        for name, pair in pairs.items()
        if rmse.among(pair).complete().sets
    }
    if not np.isnan(rmse.among(timed).losses).all():
        drawn["times"] = plot_times(scores.seconds().among(timed), rows)
    single = (HERO, GRADIENT)
    every = rmse.among([*FOREST.names, *single])
    if every.complete().sets:
        means = dict(zip(every.methods, every.means(), strict=True))
        forests = {"forest": PLAIN, "forest, every tree smoothed by HGS": SMOOTHED}
        curves = {
            title: [means[f"{FOREST.name}/{name}"] for name in names] for title, names in forests.items()
        }
        drawn["forest-sizes"] = plot_forest_sizes(SIZES, curves, {name: means[name] for name in single})
    if len(rmse.among(main).complete().sets) > 1:
        drawn["critical-difference"] = rmse.among(main).plot()
    for name, ax in drawn.items():
        ax.figure.savefig(out / f"{name}.png", dpi=150)
