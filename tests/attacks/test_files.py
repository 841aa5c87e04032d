"""Model files, checkpoints and caches with changed content, and killed savers: some cases of each area."""

import importlib
import os

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # a case may warn; its judge says what counts


@pytest.mark.parametrize(("area", "n"), [("models", 60), ("checkpoints", 40), ("caches", 25), ("saving", 2)])
def test_changed_files_are_refused_or_work(area, n):
    """CI tries more of them: `IN_CI` of each area."""
    if area == "saving" and not hasattr(os, "fork"):
        pytest.skip("the savers are forked")
    module = importlib.import_module(f"benchmarks.attacks.{area}")
    for seed in range(n):
        case = module.draw(np.random.default_rng(seed))
        assert module.judge(case) is None, case
