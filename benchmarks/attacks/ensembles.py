"""Random fits of forests, boosted trees, rankers, rules and smoothed trees of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.attacks.fits import KINDS, NEEDS, draw_fit, judge_fit

__all__ = ["IN_CI", "LIMIT", "NEEDS", "draw", "judge"]

IN_CI, LIMIT, MEMORY = 50, 60.0, 1024
ALWAYS = {"SmoothedClassifier": {"estimator": {"made": "estimator"}}}


def draw(rng: np.random.Generator) -> dict[str, Any]:
    others = [name for name in KINDS if name not in ("TreeClassifier", "TreeRegressor", "Recipe")]
    name = str(rng.choice(others))
    return draw_fit(rng, name, ALWAYS.get(name, {}))


def judge(case: dict[str, Any]) -> str | None:
    return judge_fit(case)
