"""Random fits of readable trees: taught by an ensemble or by a given forest, with slopes in the leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.attacks.fits import KINDS, NEEDS, draw_fit, drawable, judge_fit
from hornbeam.estimators.parameters.recipes import _USED

__all__ = ["IN_CI", "LIMIT", "NEEDS", "draw", "judge"]

IN_CI, LIMIT, MEMORY = 10, 90.0, 1024


def draw(rng: np.random.Generator) -> dict[str, Any]:
    name = str(rng.choice(["TreeClassifier", "TreeRegressor"], p=[0.7, 0.3]))
    used = [one for one in drawable(KINDS[name]) if one in _USED or rng.random() < 0.02]
    return draw_fit(rng, name, {"preset": "readable"}, used)


def judge(case: dict[str, Any]) -> str | None:
    return judge_fit(case)
