"""Forests on a Dask cluster: the same as in memory, and predictions computed on demand."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

import hornbeam
from hornbeam import ForestClassifier, ForestRegressor
from hornbeam.engines import DaskEngine

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

RNG = np.random.default_rng(0)
FEATURES = ["area", "town"]
ROWS = pd.DataFrame(
    {"area": RNG.integers(20, 200, 400).astype(float), "town": RNG.choice(["Bern", "Graz", None], 400)}
)
ROWS["price"] = ROWS["area"] * np.where(ROWS["town"] == "Bern", 9, 5) + RNG.normal(size=400)
ROWS["dear"] = np.where(ROWS["price"] > 700, "yes", "no")
ROWS["times"] = RNG.exponential(size=400)
ROWS.loc[RNG.random(400) < 0.1, "area"] = np.nan
CASES = [
    ("dear", ForestClassifier(5)),
    ("price", ForestRegressor(5)),
]


@pytest.fixture(scope="module")
def client():
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0", set_as_default=False
    ) as client:
        yield client


@pytest.mark.parametrize(("target", "forest"), CASES)
def test_a_frame_gives_the_forest_of_its_rows(client, target, forest):
    frame = dd.from_pandas(ROWS[[*FEATURES, "times", target]], npartitions=3)
    expected = clone(forest).fit(ROWS[FEATURES], ROWS[target], ROWS["times"])
    model = clone(forest).fit(frame, target, "times", engine=DaskEngine(client))
    assert model.forest_.digest == expected.forest_.digest
    assert model.feature_names_in_.tolist() == FEATURES
    methods = ["predict", "predict_proba"] if is_classifier(model) else ["predict"]
    with client.as_current():
        for method in methods:
            lazy = getattr(model, method)(frame[FEATURES])
            assert isinstance(lazy, da.Array)
            np.testing.assert_array_equal(lazy.compute(), getattr(expected, method)(ROWS[FEATURES]))


@pytest.mark.parametrize(("target", "forest"), CASES)
def test_the_fitted_forest_can_be_saved_and_predicts_to_files(client, tmp_path, target, forest):
    engine = DaskEngine(client)
    model = clone(forest).fit(ROWS[FEATURES], ROWS[target], engine=engine)
    hornbeam.save(model, tmp_path / "model.hornbeam")
    loaded = hornbeam.load(tmp_path / "model.hornbeam")
    assert loaded.forest_.digest == model.forest_.digest
    np.testing.assert_array_equal(loaded.predict(ROWS[FEATURES]), model.predict(ROWS[FEATURES]))
    assert pickle.loads(pickle.dumps(model)).forest_.digest == model.forest_.digest
    assert not hasattr(clone(model), "forest_")
    ROWS[FEATURES].to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    written = model.predict_to(tmp_path / "rows.parquet", tmp_path / "predictions", engine=engine)
    predicted = pd.read_parquet(tmp_path / "predictions")["prediction"]
    assert written.n_rows == 400
    np.testing.assert_array_equal(predicted, model.predict(ROWS[FEATURES]))
