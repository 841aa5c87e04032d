"""Candidate splits counted by the processes of a Dask cluster are those of rows in memory, bit for bit."""

import numpy as np
import pytest

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.engines import DaskEngine
from hornbeam.explain.candidates.list_splits import candidate_splits
from support.reference_candidates import exactly

pytest.importorskip("distributed")


def test_two_processes_count_the_same_candidates(dask_processes, tmp_path):
    """Files with missing values, categories and weights; classes, C4.5 with parts of rows, and numbers."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "area": rng.normal(size=600).round(2),
            "town": rng.choice(["Bern", "Ulm", None], 600),
            "rooms": rng.integers(1, 9, 600),
        }
    )
    X.loc[rng.random(600) < 0.2, "area"] = np.nan
    price = (np.nan_to_num(X.area) + X.rooms + rng.normal(size=600)).round(3)
    dear, weight = np.where(price > 5, "dear", "cheap"), rng.choice([0.5, 1.0, 3.0], 600)
    rows = X.assign(price=price, dear=dear, weight=weight)
    for at in range(4):
        rows[150 * at : 150 * at + 150].to_parquet(tmp_path / f"{at}.parquet", row_group_size=40)
    models = [
        (TreeClassifier(max_depth=3, smoothing=None, class_weight="balanced"), "dear"),
        (TreeClassifier("c4.5", max_depth=3), "dear"),
        (TreeRegressor(max_depth=3, smoothing=None), "price"),
    ]
    engine = DaskEngine(dask_processes, deadline=300)
    for model, target in models:
        y = rows[target]
        model.fit(X, y, sample_weight=weight)
        for node in [1]:
            in_memory = candidate_splits(model, X, y, node, sample_weight=weight, held_out=(X, y, weight))
            counted = candidate_splits(
                model,
                tmp_path,
                target,
                node,
                sample_weight="weight",
                held_out=(tmp_path, target, "weight"),
                engine=engine,
            )
            assert exactly(counted) == exactly(in_memory)
            assert model.tree_.skeleton.feature[node] < 0 or counted[0].chosen
