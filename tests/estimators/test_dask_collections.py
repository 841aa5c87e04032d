"""Dask collections as rows of the estimators themselves: the same model as in memory, predictions on demand."""

import gc
import pickle
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from hornbeam import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.scratch import WrittenRows, scratch_folder
from hornbeam.data.rows import is_collection, open_rows, read_rows
from hornbeam.engines import DaskEngine
from hornbeam.errors import DataError, ParameterError
from hornbeam.tree import Table

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

RNG = np.random.default_rng(0)
FEATURES = ["area", "town"]
ROWS = pd.DataFrame(
    {"area": RNG.integers(20, 200, 300).astype(float), "town": RNG.choice(["Bern", "Graz", None], 300)}
)
ROWS["price"] = ROWS["area"] * np.where(ROWS["town"] == "Bern", 9, 5) + RNG.normal(size=300)
ROWS["dear"] = np.where(ROWS["price"] > 700, "yes", "no")
ROWS["times"] = RNG.exponential(size=300)
ROWS.loc[RNG.random(300) < 0.1, "area"] = np.nan
FRAME = dd.from_pandas(ROWS, npartitions=3)
CASES = [
    ("dear", TreeClassifier(smoothing="hgs", max_depth=4)),
    ("price", TreeRegressor(smoothing="m-branch", max_depth=4)),
    ("dear", ForestClassifier(4)),
    ("price", ForestRegressor(4)),
]


@pytest.fixture(scope="module")
def client():
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0", set_as_default=False
    ) as client:
        yield client


def digest(model):
    return (model.tree_ if hasattr(model, "tree_") else model.forest_).digest


@pytest.mark.parametrize(("target", "model"), CASES, ids=lambda case: type(case).__name__)
def test_a_frame_gives_the_model_of_its_rows(client, tmp_path, target, model):
    expected = clone(model).fit(ROWS[FEATURES], ROWS[target], ROWS["times"])
    frame = FRAME[[*FEATURES, target, "times"]]
    with client.as_current():
        fitted = clone(model).fit(frame, target, "times")
    assert digest(fitted) == digest(expected)
    assert fitted.feature_names_in_.tolist() == FEATURES
    engine = DaskEngine(client, folder=tmp_path / "shared")
    series = clone(model).fit(FRAME[FEATURES], FRAME[target], FRAME["times"], engine=engine)
    assert digest(series) == digest(expected)
    assert list((tmp_path / "shared").iterdir()) == []
    for method in ["predict", "predict_proba", "apply"]:
        if hasattr(model, method):
            lazy = getattr(fitted, method)(FRAME[FEATURES])
            assert isinstance(lazy, da.Array)
            with client.as_current():
                np.testing.assert_array_equal(lazy.compute(), getattr(expected, method)(ROWS[FEATURES]))
    with client.as_current():
        found = fitted.score(frame, target, "times")
    assert found == fitted.score(FRAME[FEATURES], ROWS[target], FRAME["times"])
    with pytest.raises(DataError, match="y is 'cost'; expected a column of X"):
        fitted.score(frame, "cost")
    assert found == pytest.approx(expected.score(ROWS[FEATURES], ROWS[target], ROWS["times"]), rel=1e-12)


def test_an_array_has_no_names_and_needs_no_client(client):
    numbers = RNG.normal(size=(200, 3)).round(1)
    kinds = (numbers[:, 0] > 0).astype(int)
    X, y = da.from_array(numbers, chunks=(90, 2)), da.from_array(kinds, chunks=80)
    expected = TreeClassifier("cart").fit(numbers, kinds)
    with client.as_current():
        on_cluster = TreeClassifier("cart").fit(X, y, memory=1_000)
    for fitted in (on_cluster, TreeClassifier("cart").fit(X, y)):
        assert fitted.tree_.digest == expected.tree_.digest
        assert not hasattr(fitted, "feature_names_in_")
    with pytest.raises(ParameterError, match="or one matrix for all rows"):
        on_cluster.predict(X, costs=np.zeros((200, 2, 2)))
    with client.as_current():
        decided = on_cluster.predict(X, costs=[[0, 1], [9, 0]]).compute()
    np.testing.assert_array_equal(decided, expected.predict(numbers, costs=[[0, 1], [9, 0]]))
    low, high = on_cluster.predict_interval(X)
    assert low.chunks[0] == high.chunks[0] == X.chunks[0]
    with client.as_current():
        np.testing.assert_array_equal([low.compute(), high.compute()], expected.predict_interval(numbers))


def test_labels_of_an_array_may_be_in_memory(client):
    numbers, kinds = RNG.normal(size=(90, 2)).round(1), RNG.choice(["a", "b"], 90).tolist()
    X, times = da.from_array(numbers, chunks=(40, 2)), RNG.exponential(size=90)
    expected = TreeClassifier("cart").fit(numbers, kinds, times)
    with client.as_current():
        for y in (kinds, pd.Series(kinds, dtype=object)):
            assert TreeClassifier("cart").fit(X, y, times).tree_.digest == expected.tree_.digest
        for y in (kinds[1:], da.from_array(np.array(kinds[1:]))):
            with pytest.raises(DataError, match=r"y has the shape \(89,\); expected \(90,\)"):
                TreeClassifier().fit(X, y)
        with pytest.raises(ParameterError, match="X is a dask collection, and y is a list; expected one too"):
            TreeClassifier().fit(FRAME[FEATURES], kinds)


def test_another_engine_reads_what_the_client_wrote(client):
    tree = CASES[0][1]
    with client.as_current():
        fitted = clone(tree).fit(FRAME[[*FEATURES, "dear"]], "dear", engine=LocalEngine(2))
    assert digest(fitted) == digest(clone(tree).fit(ROWS[FEATURES], ROWS["dear"]))


def test_a_collection_is_a_kind_of_rows(client):
    assert is_collection(FRAME)
    assert is_collection(FRAME["area"])
    assert not is_collection(ROWS)
    source = open_rows(FRAME[FEATURES], FRAME["dear"], engine=DaskEngine(client))
    folder = source.written.folder
    table, expected = read_rows(source), Table.read(ROWS[FEATURES], ROWS["dear"])
    assert table.schema == expected.schema
    for column, other in zip(table.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(column, other)
    assert pickle.loads(pickle.dumps(source)).written is None
    source.written.close()
    assert not Path(folder).exists()


def test_files_are_deleted_with_the_last_reference(tmp_path):
    stack = ExitStack()
    folder = stack.enter_context(scratch_folder(tmp_path))
    rows = WrittenRows(f"{folder}/rows", "y", None, None, named=True, folder=folder, stack=stack)
    assert len(list(tmp_path.iterdir())) == 1
    del rows
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_files_are_deleted_after_an_error(client, tmp_path):
    engine = DaskEngine(client, folder=tmp_path)
    with pytest.raises(DataError, match="too large to be added up"):
        TreeClassifier().fit(FRAME[FEATURES], FRAME["dear"], FRAME["times"] * 1e300, engine=engine)
    with pytest.raises(ParameterError, match="max_depth=0"):
        TreeClassifier(max_depth=0).fit(FRAME[FEATURES], FRAME["dear"], engine=engine)
    assert list(tmp_path.iterdir()) == []
