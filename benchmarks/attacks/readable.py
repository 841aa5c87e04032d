"""Random fits of trees with a teacher, an ensemble or a given forest: readable ones, and ones without a limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.attacks.fits import KINDS, NEEDS, draw_fit, drawable, judge_fit
from hornbeam.estimators.parameters.recipes import _GROWN, _USED

__all__ = ["IN_CI", "LIMIT", "NEEDS", "draw", "judge"]

IN_CI, LIMIT, MEMORY = 10, 90.0, 1024


def draw(rng: np.random.Generator) -> dict[str, Any]:
    name = str(rng.choice(["TreeClassifier", "TreeRegressor"], p=[0.7, 0.3]))
    always: dict[str, Any] = {"preset": "readable"} if rng.random() < 0.7 else {"teacher": "ensemble"}
    if name == "TreeRegressor":
        always["distribution"] = bool(rng.random() < 0.2)  # `fit` takes six times as long
    wanted = _USED if "preset" in always else _USED | _GROWN.keys() | {"pruning"}
    used = [one for one in drawable(KINDS[name]) if one in wanted or rng.random() < 0.02]
    return draw_fit(rng, name, always, used)


def judge(case: dict[str, Any]) -> str | None:
    return judge_fit(case)
