"""Random fits of one tree: every preset but readable, and recipes of a grower, a pruner and a smoother."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.attacks.fits import KINDS, NEEDS, draw_fit, drawable, judge_fit
from benchmarks.attacks.settings import values

__all__ = ["IN_CI", "LIMIT", "NEEDS", "draw", "judge"]

IN_CI, LIMIT, MEMORY = 80, 60.0, 1024


def draw(rng: np.random.Generator) -> dict[str, Any]:
    name = str(rng.choice(["TreeClassifier", "TreeRegressor", "Recipe"], p=[0.6, 0.25, 0.15]))
    if name == "Recipe":
        return draw_fit(rng, name, {"grower": {"made": "Grower", "seed": int(rng.integers(2**32))}})
    presets = [preset for preset in values(KINDS[name], "preset") if preset != "readable"]
    untaught = [
        one for one in drawable(KINDS[name]) if one not in ("slopes", "teacher", "fidelity")
    ]  # the area readable has them
    always: dict[str, Any] = {"preset": str(rng.choice(presets))}
    if name == "TreeRegressor":  # drawn often: it has files, updates and orders of its own
        always["distribution"] = bool(rng.integers(2))
    return draw_fit(rng, name, always, untaught)


def judge(case: dict[str, Any]) -> str | None:
    return judge_fit(case)
