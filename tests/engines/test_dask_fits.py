"""Fits on a Dask cluster give the same tree when workers die; `benchmarks/attacks/dask_faults.py` has many more."""

import os
import signal
import threading
import time
import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone

from hornbeam import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.engines import DaskEngine
from hornbeam.errors import ParameterError
from hornbeam.evaluation import scores
from hornbeam.growing.grower import Grower
from hornbeam.kernels.subtree import Rows
from support.strategies_growing import bins_of, random_table

pytest.importorskip("distributed")

SETTINGS = {"threads_per_worker": 1, "dashboard_address": ":0", "set_as_default": False}


class Killer:
    """A Dask engine that kills a busy worker shortly after the start of some passes, by their number or task."""

    def __init__(self, client, at):
        self.engine, self.client, self.at = DaskEngine(client, deadline=300), client, set(at)
        self.n_passes = self.n_kills = 0

    @property
    def parallelism(self):
        return 2

    def reduce(self, *arguments, **options):
        if self.n_passes in self.at or arguments[0].__name__ in self.at:
            threading.Thread(target=self._kill).start()
        self.n_passes += 1
        return self.engine.reduce(*arguments, **options)

    def _kill(self):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            for state in list(self.client.cluster.scheduler.workers.values()):
                if state.processing:
                    os.kill(self.client.cluster.workers[state.name].pid, signal.SIGKILL)
                    self.n_kills += 1
                    return
            time.sleep(0.001)

    def close(self):
        self.engine.close()


@pytest.mark.long
def test_workers_killed_while_a_tree_is_grown(dask_processes):
    """During a counting pass, and while the rows of small nodes are gathered."""
    table = random_table(5, n_rows=3000, n_classes=3, n_values=1000)
    bins, grower = bins_of(table, max_bins=50), Grower(max_depth=6)
    source = EncodedRows(Rows(bins.encode(table), table.target.astype(np.uint16), None), block=100)
    engine = Killer(dask_processes, at=[3, 7])
    grown = grower.grow_by_level(source, bins, table.schema, engine, gather_rows=400)
    assert grown.digest == grower.grow(table, bins).digest
    assert (engine.n_kills, engine.n_passes) == (2, 8)


@pytest.fixture
def homes(tmp_path):
    """Files with nominal and missing values, weights, and one target each of classes and of numbers."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"area": rng.normal(size=600).round(2), "town": rng.choice(["Bern", "Ulm", None], 600)}
    )
    rows["price"] = rows["area"] * np.where(rows["town"] == "Ulm", 2, -1) + rng.normal(size=600)
    rows.loc[::7, "area"] = np.nan
    rows["times"] = rng.exponential(size=600)
    rows["sold"] = np.where(rows["price"] > 0, "yes", "no")
    for target in ("price", "sold"):
        (tmp_path / target).mkdir()
        rows[["area", "town", "times", target]].to_parquet(
            tmp_path / target / "rows.parquet", row_group_size=40
        )
    return rows, tmp_path


@pytest.mark.parametrize(
    ("target", "forest"),
    [("sold", ForestClassifier(30, oob_score=True)), ("price", ForestRegressor(30, oob_score=True))],
)
def test_processes_fit_the_same_forest_and_survive_a_kill(dask_processes, homes, target, forest):
    """A worker dies while trees are grown; then the forest of a sample, with all rows counted."""
    rows, folder = homes
    expected = clone(forest).fit(rows[["area", "town"]], rows[target], rows["times"])
    sampled = clone(forest).fit(folder / target, target, "times", grow_rows=300)
    engine = Killer(dask_processes, at=["grow_trees"])
    fitted = clone(forest).fit(folder / target, target, "times", engine=engine)
    assert engine.n_kills == 1
    assert fitted.forest_.digest == expected.forest_.digest
    assert fitted.oob_score_ == expected.oob_score_
    options = {"engine": DaskEngine(dask_processes), "grow_rows": 300}
    fitted = clone(forest).fit(folder / target, target, "times", **options)
    assert fitted.forest_.digest == sampled.forest_.digest


def test_rows_are_sent_to_each_worker_once(dask_processes):
    """A large shared object is the result of one task, which Dask repeats when its worker dies."""
    shared = np.arange(1_000_000)
    engine = Killer(dask_processes, at=["total"])
    with warnings.catch_warnings(action="error"):  # of a large graph
        assert engine.reduce(total, range(40), shared) == [40 * shared.sum()]
    assert engine.n_kills == 1


def total(numbers, shared):
    time.sleep(0.02)
    return [len(numbers) * shared.sum()]


@pytest.mark.parametrize(
    "n_processes", [pytest.param(1, marks=pytest.mark.long), 2, pytest.param(4, marks=pytest.mark.long)]
)
def test_processes_fit_the_same_regression_tree(dask_processes, homes, n_processes):
    """Files that do not fit memory: nominal and missing values, and weights."""
    from distributed import Client

    rows, folder = homes
    tree = TreeRegressor(smoothing="m-branch", max_depth=5)
    expected = clone(tree).fit(rows[["area", "town"]], rows["price"], rows["times"])
    settings = SETTINGS | {"n_workers": n_processes}
    with nullcontext(dask_processes) if n_processes == 2 else Client(**settings) as client:
        options = {"engine": DaskEngine(client), "memory": 9_000}
        reg = clone(tree).fit(folder / "price", "price", "times", **options)
    assert reg.tree_.digest == expected.tree_.digest


def test_a_folder_that_workers_do_not_see_is_refused(dask_processes, tmp_path):
    da = pytest.importorskip("dask.array")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    options = {"engine": DaskEngine(dask_processes), "cache": f"/proc/self/fd/{descriptor}"}
    try:
        with pytest.raises(ParameterError, match=r"2 workers, such as tcp:.*do not see the folder"):
            TreeClassifier().fit(da.zeros((4, 1)), da.arange(4), **options)
    finally:
        os.close(descriptor)


def test_a_collection_is_scored_as_rows_in_memory(dask_threads):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 2)), columns=["a", "b"])
    y = np.where(X["a"] > 0, "yes", "no")
    clf = TreeClassifier().fit(X[:50], y[:50])
    frame = dd.from_pandas(X.assign(y=y), npartitions=3)
    found = scores(clf, frame, "y", engine=DaskEngine(dask_threads))
    assert found.n_rows == 90
    assert found.model == pytest.approx(scores(clf, X, y).model)
