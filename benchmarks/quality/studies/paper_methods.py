"""The methods of the HGS paper on its C4.4 tree, its settings, and the diversity of a forest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.quality.studies.families import RECIPES, family
from benchmarks.quality.studies.forest import frequencies, hgs
from benchmarks.quality.studies.methods import Group, Outcome, timed
from benchmarks.quality.studies.sets import SEED, Fold
from hornbeam.smoothing import HDP, GradientHGS, Laplace, MBranch, MEstimate, Raw
from hornbeam.smoothing.hdp import Tying

SIX = family(
    "c4.4",
    RECIPES["c4.4"],
    {
        "raw": Raw(),
        "laplace": Laplace(),
        "m-estimate": MEstimate(),
        "m-branch": MBranch(),
        "hgs": GradientHGS(step=0.01, tol=1e-4, prior=0.0),
        "hdp": HDP(sweeps=1000, tying=Tying.SINGLE),
    },
    chosen=(),
)

# Section 4.2, by learning rate b and precision epsilon; what the paper chose is the method of `SIX`.
CHOSEN = (0.01, 1e-4)
TUNED = {(b, eps): f"hgs-{b:g}-{eps:g}" for b in (0.01, 0.001) for eps in (1e-4, 1e-3) if (b, eps) != CHOSEN}
TUNING = family(
    "tuning",
    RECIPES["c4.4"],
    {
        **{name: GradientHGS(step=b, tol=eps, prior=0.0) for (b, eps), name in TUNED.items()},
        "hgs-squared": GradientHGS(prior=0.0, loss="squared"),
    },
    chosen=(),
)
TYINGS = {tying: f"hdp-{tying}" for tying in (Tying.LEVEL, Tying.PARENT, Tying.NONE)}
FEW_SWEEPS = 200
TYING = family(
    "tying",
    RECIPES["c4.4"],
    {
        **{name: HDP(tying=tying) for tying, name in TYINGS.items()},
        f"hdp-{FEW_SWEEPS}": HDP(sweeps=FEW_SWEEPS),
    },
    chosen=(),
)
TUNING_ROWS, TYING_ROWS = 2_000, 1_000  # sets of more rows are left out

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
