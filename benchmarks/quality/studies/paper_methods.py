"""The methods of the HGS paper on its C4.4 tree, its settings, and the diversity of a forest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.quality.studies.families import RECIPES, family
from benchmarks.quality.studies.forest import frequencies, hgs
from benchmarks.quality.studies.methods import Group, Outcome, timed
from benchmarks.quality.studies.sets import SEED, Fold
from hornbeam.smoothing import HDP, GradientHGS, Laplace, MBranch, MEstimate, Raw, Smoother

HGS = "hgs"
OTHERS = ("raw", "laplace", "m-estimate", "m-branch", "hdp")
SIX = family(
    "c4.4",
    RECIPES["c4.4"],
    {
        "raw": Raw(),
        "laplace": Laplace(),
        "m-estimate": MEstimate(),
        "m-branch": MBranch(),
        HGS: GradientHGS(step=0.01, tolerance=1e-4, prior=0.0),
        "hdp": HDP(sweeps=1000, tying="single"),
    },
    chosen=(),
)

# Section 4.2, by learning rate b and least gain epsilon; the first is the one chosen in the paper.
TUNED = {(b, eps): f"hgs-{b:g}-{eps:g}" for b in (0.01, 0.001) for eps in (1e-4, 1e-3)}
TYINGS = {tying: f"hdp-{tying}" for tying in ("single", "level", "parent", "none")}
_SETTINGS: dict[str, Smoother] = {
    **{name: GradientHGS(step=b, tolerance=eps, prior=0.0) for (b, eps), name in TUNED.items()},
    "hgs-squared": GradientHGS(prior=0.0, loss="squared"),
    **{name: HDP(tying=tying) for tying, name in TYINGS.items()},
    "hdp-5000": HDP(sweeps=5000),
}
SETTINGS = family("settings", RECIPES["c4.4"], _SETTINGS, chosen=())
SETTINGS_ROWS = 2_000  # sets of more rows are left out

N_TREES = 10
FORESTS = {f"rf-{N_TREES}": frequencies, f"rf-{N_TREES}-hgs": hgs}


def diversity(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """A forest, raw and smoothed: the variance of its trees' probabilities and their own squared errors.

    The Brier score of the mean of the trees is the mean of their Brier scores minus the variance.
    """
    train, test = fold.matrices()
    forest, seconds = timed(
        lambda: RandomForestClassifier(N_TREES, random_state=SEED).fit(train, fold.y_train)
    )
    stops = [tree.tree_.apply(test) for tree in forest.estimators_]
    truth = np.eye(fold.n_classes)[fold.y_test]
    for method, belief_of in FORESTS.items():
        if method not in wanted:
            continue
        of_trees = np.stack(
            [
                fold.spread(belief_of(tree.tree_)[stop])
                for tree, stop in zip(forest.estimators_, stops, strict=True)
            ]
        )
        mean = of_trees.mean(axis=0)
        sums = {
            "variance": float(((of_trees - mean) ** 2).sum()) / N_TREES,
            "tree_brier": float(((of_trees - truth) ** 2).sum()) / N_TREES,
        }
        yield Outcome(method, mean, seconds, costs=sums)


DIVERSITY = Group("forest", tuple(FORESTS), diversity)
