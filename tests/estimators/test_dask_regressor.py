"""`TreeRegressor` on a Dask cluster: the same tree as in memory, and predictions computed on demand."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hornbeam
from hornbeam import TreeRegressor
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
ROWS["times"] = RNG.exponential(size=400)
ROWS.loc[RNG.random(400) < 0.1, "area"] = np.nan
FRAME = dd.from_pandas(ROWS, npartitions=3)
LOCAL = TreeRegressor(smoothing="m-branch", max_depth=4)


@pytest.fixture(scope="module")
def client():
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0", set_as_default=False
    ) as client:
        yield client


@pytest.mark.parametrize("memory", [None, 5_000])
def test_a_frame_gives_the_tree_of_its_rows(client, memory):
    expected = clone(LOCAL).fit(ROWS[FEATURES], ROWS["price"], ROWS["times"])
    reg = clone(LOCAL).fit(FRAME, "price", "times", engine=DaskEngine(client), memory=memory)
    assert reg.tree_.digest == expected.tree_.digest
    assert reg.feature_names_in_.tolist() == FEATURES
    with client.as_current():
        lazy = reg.predict(FRAME[FEATURES])
        assert isinstance(lazy, da.Array)
        np.testing.assert_array_equal(lazy.compute(), expected.predict(ROWS[FEATURES]))


def test_an_array_gives_the_tree_of_its_rows(client):
    X, y = RNG.normal(size=(300, 3)).round(1), RNG.normal(size=300)
    chunked = da.from_array(X, chunks=(110, 2))
    options = {"engine": DaskEngine(client), "memory": 2_000}
    reg = clone(LOCAL).fit(chunked, da.from_array(y, chunks=90), **options)
    assert reg.tree_.digest == clone(LOCAL).fit(X, y).tree_.digest
    with client.as_current():
        np.testing.assert_array_equal(reg.predict(chunked).compute(), reg.predict(X))


def test_the_fitted_regressor_can_be_saved(client, tmp_path):
    reg = clone(LOCAL).fit(FRAME[FEATURES], FRAME["price"], engine=DaskEngine(client))
    hornbeam.save(reg, tmp_path / "model.hornbeam")
    np.testing.assert_array_equal(
        hornbeam.load(tmp_path / "model.hornbeam").predict(ROWS[FEATURES]), reg.predict(ROWS[FEATURES])
    )
    assert pickle.loads(pickle.dumps(reg)).tree_.digest == reg.tree_.digest
    assert not hasattr(clone(reg), "tree_")
    assert reg.score(ROWS[FEATURES], ROWS["price"]) > 0.8
