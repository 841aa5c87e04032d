"""Rows of made-up loans for the workbench."""

import numpy as np
import pandas as pd

__all__ = ["loans"]


def loans(n=600):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": rng.integers(12_000, 90_000, n),
            "late": rng.poisson(0.7, n),
            "home": rng.choice(["owns", "rents", "family"], n),
        }
    )
    risk = 0.10 + 0.30 * (X.income < 40_000) + 0.12 * X.late + 0.20 * (X.home == "rents")
    return X, np.where(rng.random(n) < risk, "bad", "good")
