"""Ray engine: dead workers, and a connection that is absent."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

from hornbeam import TreeClassifier
from hornbeam.data.encoded_rows import EncodingSource
from hornbeam.data.sources import MemorySource
from hornbeam.engines import RayEngine
from hornbeam.errors import EngineError, MissingExtraError, ParameterError
from hornbeam.growing.grower import Grower
from support import passes
from support.strategies_growing import bins_of, random_table

pytest.importorskip("ray")
psutil = pytest.importorskip("psutil")

UNITS = list(range(23))
TOTAL = passes.histogram(UNITS, 1)[0]


@pytest.mark.usefixtures("ray_cluster")
def test_a_worker_killed_while_folding(tmp_path):
    [total] = RayEngine(n_tasks=9).reduce(passes.die_folding, UNITS, str(tmp_path))
    np.testing.assert_array_equal(total, TOTAL)
    assert (tmp_path / "fold").exists()


@pytest.mark.usefixtures("ray_cluster")
def test_a_worker_killed_while_combining(tmp_path):
    """Results that were combined in place are not combined twice."""
    [box] = RayEngine(n_tasks=9, fan_in=2).reduce(
        passes.boxed_with_folder, UNITS, str(tmp_path), combine=passes.die_adding
    )
    np.testing.assert_array_equal(box["counts"], TOTAL)
    assert (tmp_path / "combine").exists()


@pytest.mark.usefixtures("ray_cluster")
def test_a_worker_killed_during_a_fit():
    table = random_table(3, n_rows=400, n_classes=3, missing=0.1, noise=0.5)
    bins, killed = bins_of(table), []

    def kill():
        while not killed:
            time.sleep(0.05)
            for process in psutil.Process().children(recursive=True):
                if process.name().startswith("ray::_fold"):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
                    return

    killer = threading.Thread(target=kill)
    killer.start()
    grown = Grower(max_depth=4).grow_by_level(
        EncodingSource(MemorySource(table, block=25), bins), bins, table.schema, RayEngine(), unit=table.unit
    )
    killed.append(0)
    killer.join()
    assert len(killed) == 2, "no worker was killed"
    assert grown.digest == Grower(max_depth=4).grow(table, bins).digest


@pytest.mark.usefixtures("ray_cluster")
def test_a_fit_and_predictions_of_files(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=400), "y": rng.choice(["a", "b"], 400)})
    (tmp_path / "rows").mkdir()
    rows.to_parquet(tmp_path / "rows" / "0.parquet", row_group_size=100)
    options = {"cache": False, "memory": 5_000}
    classifier = TreeClassifier("cart", max_depth=2)
    expected = classifier.fit(tmp_path / "rows", "y", **options).tree_.digest
    assert classifier.fit(tmp_path / "rows", "y", engine=RayEngine(), **options).tree_.digest == expected
    written = classifier.predict_to(tmp_path / "rows", tmp_path / "to", engine=RayEngine())
    assert (written.n_rows, written.n_written, len(written.files)) == (400, 400, 4)
    found = pd.concat([pd.read_parquet(tmp_path / "to" / name) for name in written.files])
    np.testing.assert_array_equal(found[["p_a", "p_b"]], classifier.predict_proba(rows[["x"]]))


@pytest.mark.usefixtures("ray_cluster")
def test_a_task_that_kills_every_worker_is_explained():
    with pytest.raises(EngineError, match=r"(?s)could not finish a pass.*memory.*n_tasks="):
        RayEngine(n_tasks=1, retries=0).reduce(passes.die_always, UNITS, None)


@pytest.mark.usefixtures("ray_cluster")
def test_a_failed_task_is_repeated(tmp_path):
    assert RayEngine().reduce(passes.fail_once, UNITS, str(tmp_path)) == [len(UNITS)]
    (tmp_path / "failed").rmdir()
    with pytest.raises(OSError, match="the store is busy"):
        RayEngine(retries=0).reduce(passes.fail_once, UNITS, str(tmp_path))


@pytest.mark.usefixtures("ray_cluster")
def test_an_error_of_the_task_itself_is_not_repeated(tmp_path):
    with pytest.raises(passes.BadUnitError):
        RayEngine(n_tasks=1).reduce(passes.fail_each_time, UNITS, str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize("settings", [{"fan_in": 1}, {"retries": -1}])
def test_parameters_out_of_range_are_refused(settings):
    with pytest.raises(ParameterError, match="expected a whole number"):
        RayEngine(**settings)


@pytest.mark.usefixtures("ray_cluster")
def test_workers_with_another_version_are_refused(monkeypatch):
    monkeypatch.setattr("hornbeam.__version__", "0.0.9")
    with pytest.raises(EngineError, match=r"has Hornbeam .*; expected 0\.0\.9, .*Install the same version"):
        RayEngine()


def test_without_a_connection_ray_is_not_started():
    """In a separate process: the other tests are connected."""
    script = "from hornbeam.engines import RayEngine; RayEngine()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "EngineError: Ray is not connected; " in done.stderr


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hornbeam\[ray\]'"):
        RayEngine()
