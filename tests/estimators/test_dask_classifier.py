"""`TreeClassifier` on a Dask cluster: the same tree as in memory, and predictions computed on demand."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import hornbeam
from hornbeam import TreeClassifier
from hornbeam.engines import DaskEngine
from hornbeam.errors import DataError, ParameterError

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, 600).astype(float),
        "city": RNG.choice(["Bern", "Graz", "Ulm", None], 600),
        "band": pd.Categorical(RNG.choice(["low", "high"], 600), ["low", "middle", "high"], ordered=True),
    }
)
ROWS.loc[RNG.random(600) < 0.1, "age"] = np.nan
LABELS = pd.Series(np.where((ROWS["age"] > 50) ^ (RNG.random(600) < 0.2), "yes", "no"), name="buys")
WEIGHTS = pd.Series(RNG.exponential(size=600), name="weight")
FRAME = dd.from_pandas(ROWS.assign(buys=LABELS, weight=WEIGHTS), npartitions=4)
FEATURES = list(ROWS.columns)
NUMBERS = RNG.normal(size=(500, 4)).round(1)
KINDS = (NUMBERS[:, 0] + NUMBERS[:, 1] > 0).astype(int)

tree = partial(TreeClassifier, smoothing="hgs", max_depth=4)
by_level = {"memory": 10_000}  # bytes: these rows do not fit


@pytest.fixture(scope="module")
def client():
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0", set_as_default=False
    ) as client:
        yield client


@pytest.fixture(autouse=True)
def _connected(request, client):
    if "without_a_current_client" in request.node.name:
        yield
    else:
        with client.as_current():
            yield


@pytest.mark.parametrize("where", [{}, by_level], ids=["in memory", "by level"])
def test_a_frame_gives_the_tree_of_its_rows(where):
    local = tree().fit(ROWS, LABELS)
    series = tree().fit(FRAME[FEATURES], FRAME["buys"], **where)
    named = tree().fit(FRAME[[*FEATURES, "buys"]], "buys", **where)
    assert series.tree_.digest == named.tree_.digest == local.tree_.digest
    assert series.feature_names_in_.tolist() == FEATURES
    assert series.classes_.tolist() == ["no", "yes"]


def test_partitions_do_not_matter():
    uneven = FRAME.repartition(divisions=[0, 10, 11, 500, 599])
    assert tree().fit(uneven[FEATURES], uneven["buys"], **by_level).tree_.digest == (
        tree().fit(FRAME[FEATURES], FRAME["buys"], **by_level).tree_.digest
    )


def test_weights_as_a_series_or_by_name():
    local = tree().fit(ROWS, LABELS, WEIGHTS)
    series = tree().fit(FRAME[FEATURES], FRAME["buys"], FRAME["weight"])
    named = tree().fit(FRAME, "buys", "weight")
    assert series.tree_.digest == named.tree_.digest == local.tree_.digest


def test_cross_fitted_smoothing_of_rows_that_fit_in_memory():
    assert TreeClassifier().fit(FRAME[FEATURES], FRAME["buys"]).tree_.digest == (
        TreeClassifier().fit(ROWS, LABELS).tree_.digest
    )


@pytest.mark.parametrize("chunks", [(100, 4), (130, 2)])
def test_an_array_gives_the_tree_of_its_rows(chunks):
    local = tree().fit(NUMBERS, KINDS)
    X, y = da.from_array(NUMBERS, chunks=chunks), da.from_array(KINDS, chunks=200)
    clf = tree().fit(X, y, **by_level)
    assert clf.tree_.digest == local.tree_.digest
    assert not hasattr(clf, "feature_names_in_")
    probabilities = clf.predict_proba(X)
    assert (probabilities.chunks[0], probabilities.shape) == (X.chunks[0], (500, 2))
    np.testing.assert_array_equal(probabilities.compute(), local.predict_proba(NUMBERS))
    np.testing.assert_array_equal(clf.predict(X).compute(), local.predict(NUMBERS))


def test_files_give_the_tree_of_their_rows(client, tmp_path):
    ROWS.assign(buys=LABELS).to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    options = {"engine": DaskEngine(client), "cache": tmp_path / "codes", **by_level}
    clf = tree().fit(str(tmp_path / "rows.parquet"), "buys", **options)
    assert clf.tree_.digest == tree().fit(ROWS, LABELS).tree_.digest
    assert list((tmp_path / "codes").iterdir())
    assert clf.predict(tmp_path / "rows.parquet").shape == (600,)


def test_predictions_are_computed_on_demand():
    clf, local = tree().fit(FRAME[FEATURES], FRAME["buys"]), tree().fit(ROWS, LABELS)
    frame = FRAME[FEATURES].repartition(divisions=[0, 300, 599])
    some = frame[frame["age"] > 1000]  # partitions without rows
    proba, names = clf.predict_proba(frame), clf.predict(frame)
    assert isinstance(proba, da.Array)
    assert (proba.dtype, proba.shape[1], names.dtype) == (np.float64, 2, clf.classes_.dtype)
    np.testing.assert_array_equal(proba.compute(), local.predict_proba(ROWS))
    np.testing.assert_array_equal(names.compute(), local.predict(ROWS))
    assert clf.predict_proba(some).compute().shape == (0, 2)
    prior, costs = {"no": 0.9, "yes": 0.1}, {("yes", "no"): 7}
    np.testing.assert_array_equal(
        clf.predict(frame, base_rates=prior, costs=costs).compute(),
        local.predict(ROWS, base_rates=prior, costs=costs),
    )


def test_rows_in_memory_are_accepted(client):
    clf = tree().fit(ROWS, LABELS, engine=DaskEngine(client))
    assert clf.tree_.digest == tree().fit(ROWS, LABELS).tree_.digest
    np.testing.assert_array_equal(clf.predict(ROWS), tree().fit(ROWS, LABELS).predict(ROWS))


def test_a_model_fitted_on_the_cluster_is_saved_as_a_local_one(tmp_path):
    clf = tree(max_depth=3).fit(FRAME[FEATURES], FRAME["buys"])
    for name in ("model.hornbeam", "model.safetensors"):
        hornbeam.save(clf, tmp_path / name)
        loaded = hornbeam.load(tmp_path / name)
        assert type(loaded) is TreeClassifier
        assert loaded.get_params() == tree(max_depth=3).get_params()
        np.testing.assert_array_equal(loaded.predict_proba(ROWS), clf.predict_proba(ROWS))
    local = tree(max_depth=3).fit(ROWS, LABELS.to_numpy(str))  # the type of the labels of files
    assert not hornbeam.diff(clf, local)
    hornbeam.save(local, tmp_path / "local.hornbeam")
    assert (tmp_path / "local.hornbeam").read_bytes() == (tmp_path / "model.hornbeam").read_bytes()


def test_predictions_are_written_by_the_cluster(client, tmp_path):
    rows = ROWS.assign(number=range(600))
    for part in range(3):
        rows[part * 200 : (part + 1) * 200].to_parquet(tmp_path / f"{part}.parquet", row_group_size=70)
    clf = tree().fit(FRAME[FEATURES], FRAME["buys"])
    written = clf.predict_to(
        sorted(tmp_path.glob("*.parquet")),
        tmp_path / "to",
        keep=["number"],
        leaf=True,
        engine=DaskEngine(client),
    )
    assert (written.n_rows, written.n_written, len(written.files)) == (600, 600, 9)
    found = pd.read_parquet(tmp_path / "to")
    assert found["number"].tolist() == list(range(600))
    np.testing.assert_array_equal(found[["p_no", "p_yes"]], clf.predict_proba(ROWS))
    np.testing.assert_array_equal(found["leaf"], clf.apply(ROWS))


def test_the_files_of_a_frame_are_deleted(tmp_path):
    tree().fit(FRAME[FEATURES], FRAME["buys"], cache=tmp_path, **by_level)
    assert list(tmp_path.iterdir()) == []


def test_the_cluster_is_no_part_of_the_model(client):
    clf = tree().fit(FRAME[FEATURES], FRAME["buys"], engine=DaskEngine(client))
    local = tree().fit(ROWS, LABELS)
    assert clf.get_params() == local.get_params()
    assert vars(clf).keys() == vars(local).keys()
    again = pickle.loads(pickle.dumps(clf))
    assert again.tree_.digest == clf.tree_.digest == local.tree_.digest
    np.testing.assert_array_equal(again.predict_proba(ROWS), clf.predict_proba(ROWS))
    with pytest.raises(NotFittedError):
        clone(clf).predict(FRAME[FEATURES])


def test_a_report_reads_rows_in_memory(tmp_path):
    clf = tree().fit(FRAME[FEATURES], FRAME["buys"])
    hornbeam.report(clf, ROWS, LABELS).save(tmp_path / "report.html")


def test_wrong_targets_are_refused():
    with pytest.raises(DataError, match="requires y to be passed"):
        TreeClassifier().fit(FRAME)
    with pytest.raises(ParameterError, match=r"y is a Series; expected one too, or the name of its column"):
        TreeClassifier().fit(FRAME[FEATURES], LABELS)


def test_without_a_current_client(client):
    with pytest.raises(ParameterError, match=r"no current client.*distributed\.Client"):
        TreeClassifier().fit(FRAME, "buys")
    clf = TreeClassifier(max_depth=1).fit(FRAME, "buys", engine=DaskEngine(client))
    assert clf.tree_.depth == 1


def test_a_missing_cache_folder_is_created(tmp_path):
    clf = tree().fit(FRAME[FEATURES], FRAME["buys"], cache=tmp_path / "new" / "folder", **by_level)
    assert clf.tree_.digest == tree().fit(ROWS, LABELS).tree_.digest


def test_a_partition_without_a_column_is_refused():
    first, *others = FRAME.to_delayed()
    drop = dask.delayed(pd.DataFrame.drop)(first, columns="city")
    broken = dd.from_delayed([*others, drop], meta=FRAME._meta, verify_meta=False)
    with pytest.raises(DataError, match="A partition of X lacks 1 of the 5 columns of the frame: 'city'"):
        tree().fit(broken, "buys", "weight")


def test_a_closed_client_is_refused_without_a_current_client():
    closed = distributed.Client(processes=False, n_workers=1, dashboard_address=":0", set_as_default=False)
    closed.close()
    with pytest.raises(ParameterError, match=r"client is closed.*Connect a new one"):
        tree().fit(FRAME[FEATURES], FRAME["buys"], engine=DaskEngine(closed))


def test_weights_that_are_too_large_are_refused():
    with pytest.raises(DataError, match=r"too large to be added up.*Divide all weights by 1e\d+"):
        tree().fit(FRAME[FEATURES], FRAME["buys"], FRAME["weight"] * 1e300)
