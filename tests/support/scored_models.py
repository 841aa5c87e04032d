"""Fitted models of every kind of leaf, and new rows in memory and in files, for what is computed by one pass."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hornbeam import TreeClassifier, TreeRegressor

__all__ = ["KINDS", "fitted_model", "new_rows", "write_files"]

KINDS = ("classes", "fractional", "slopes", "numbers", "sloped numbers")


def new_rows(n_rows: int, seed: int) -> pd.DataFrame:
    """Rows with missing values, a column of categories, one of them new in higher seeds, weights and two targets."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 12, n_rows).round(1)
    ward = rng.choice(["east", "north", "west", *(["cellar"] if seed > 1 else [])], n_rows)
    dose = rng.exponential(3.0, n_rows)
    signal = (age - 50) / 12 + (ward == "west") + 0.3 * dose + rng.normal(0, 0.7, n_rows)
    frame = pd.DataFrame({"age": age, "ward": ward, "dose": dose})
    frame.loc[rng.random(n_rows) < 0.1, "dose"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "ward"] = None
    frame["state"] = np.select([signal > 2.2, signal > 0.8], ["ill", "unclear"], "well")
    frame["cost"] = np.exp(signal)
    frame["weight"] = rng.integers(1, 4, n_rows)
    return frame


@cache
def fitted_model(kind: str) -> tuple[Any, str]:
    """Fit a model; return it with the name of its target."""
    rows = new_rows(900, 1)
    X = rows[["age", "ward", "dose"]]
    if kind == "classes":
        return TreeClassifier("cart", max_depth=4, costs=[[0, 5, 5], [1, 0, 1], [1, 1, 0]]).fit(
            X, rows["state"]
        ), "state"
    if kind == "fractional":
        return TreeClassifier("c4.5", max_depth=3).fit(X, rows["state"]), "state"
    if kind == "slopes":
        return TreeClassifier("readable").fit(X, rows["state"]), "state"
    if kind == "numbers":
        return TreeRegressor("cart", max_depth=4).fit(X, rows["cost"]), "cost"
    return TreeRegressor("readable").fit(X, rows["cost"]), "cost"


def write_files(rows: pd.DataFrame, folder: Path, n_files: int = 4) -> str:
    """Write rows as Parquet files of small row groups; return the folder."""
    for at, part in enumerate(np.array_split(np.arange(len(rows)), n_files)):
        rows.iloc[part].to_parquet(folder / f"rows-{at}.parquet", row_group_size=31, index=False)
    return str(folder)
