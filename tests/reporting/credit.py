"""A small made-up credit problem with costs, groups and an earlier model."""

from functools import cache

import numpy as np
import pandas as pd

from hornbeam import TreeClassifier

__all__ = ["COSTS", "lending"]

COSTS = {("default", "repaid"): 5}


@cache
def lending(**settings):
    """A model that decides by costs, test rows with labels, and an earlier model without costs."""
    rng = np.random.default_rng(3)
    n = 1500
    income, late = rng.lognormal(10, 0.5, n).round(-2), rng.poisson(0.6, n).astype(float)
    region = np.array(["north", "south", "east"])[rng.integers(0, 3, n)]
    X = pd.DataFrame({"income": income, "late": late, "region": region})
    X.loc[::17, "income"] = np.nan
    risk = 1 / (1 + np.exp(1.5 - 1.1 * late + (income - 22000) / 20000))
    y = np.where(rng.random(n) < risk, "default", "repaid")
    now = TreeClassifier(max_leaf_nodes=8, costs=COSTS, **settings).fit(X[:1000], y[:1000])
    then = TreeClassifier(max_leaf_nodes=3).fit(X[:1000], y[:1000])
    return now, X[1000:], y[1000:], then
