"""Dask engine: dead workers, passes that do not end, unsuitable clusters, closed clients."""

import sys
import threading
import time

import numpy as np
import pytest

from hornbeam.engines import DaskEngine
from hornbeam.engines import dask as adapter
from hornbeam.errors import EngineError, MissingExtraError, ParameterError
from support import passes

distributed = pytest.importorskip("distributed")

UNITS = list(range(23))
TOTAL = passes.histogram(UNITS, 1)[0]


# ---- tasks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_worker_of_several_threads_gets_one_task_and_uses_its_threads(blocks):
    with (
        distributed.Client(
            processes=False, n_workers=2, threads_per_worker=3, dashboard_address=":0", set_as_default=False
        ) as client,
        distributed.get_task_stream(client) as stream,
    ):
        engine = DaskEngine(client)
        totals = engine.reduce(passes.histogram, UNITS, blocks, blocks=blocks)
        [threads] = engine.reduce(passes.own_threads, UNITS, 0.05, combine=passes.union)
    np.testing.assert_array_equal(totals, passes.histogram(UNITS, blocks))
    folds = [task for task in stream.data if str(task["key"]).startswith("('fold-")]
    assert len(folds) == 2 * 2
    assert len(threads) > 2


def test_a_large_shared_object_does_not_draw_all_tasks_to_one_worker():
    with (
        distributed.Client(
            processes=False, n_workers=2, threads_per_worker=2, dashboard_address=":0", set_as_default=False
        ) as client,
        distributed.get_task_stream(client) as stream,
    ):
        [number] = DaskEngine(client).reduce(passes.slow_number, UNITS, np.zeros(300_000))
    assert number == len(UNITS)
    folds = [task for task in stream.data if str(task["key"]).startswith("('fold-")]
    assert len(folds) == 3 * 4
    assert len({task["worker"] for task in folds}) == 2


def test_many_workers_of_one_thread_get_one_task_each(dask_threads, monkeypatch):
    monkeypatch.setattr(dask_threads, "nthreads", lambda: {f"worker {at}": 1 for at in range(n_workers)})
    for n_workers, n_tasks in ((2, 6), (100, 300), (200, 200), (1_000, 1_000)):
        assert DaskEngine(dask_threads)._default_tasks(1, large=False) == (n_tasks, False)
        assert DaskEngine(dask_threads)._default_tasks(5, large=False) == (n_workers, False)


# ---- dead workers ----------------------------------------------------------------------------------


def test_a_worker_killed_while_folding(dask_processes, tmp_path):
    [total] = DaskEngine(dask_processes, n_tasks=9).reduce(passes.die_folding, UNITS, str(tmp_path))
    np.testing.assert_array_equal(total, TOTAL)
    assert (tmp_path / "fold").exists()


def test_a_worker_killed_while_combining(dask_processes, tmp_path):
    """Results that were combined in place are not combined twice."""
    [box] = DaskEngine(dask_processes, n_tasks=9, fan_in=2).reduce(
        passes.boxed_with_folder, UNITS, str(tmp_path), combine=passes.die_adding
    )
    np.testing.assert_array_equal(box["counts"], TOTAL)
    assert (tmp_path / "combine").exists()


def test_parts_are_not_changed_in_place():
    """A worker keeps its parts, and may have to combine them again."""
    parts = [np.array([1, 2]), np.array([10, 20])]
    assert adapter.combine_parts(np.ndarray.__iadd__, parts).tolist() == [11, 22]
    assert [part.tolist() for part in parts] == [[1, 2], [10, 20]]


def test_a_task_that_kills_every_worker_is_explained(dask_processes):
    scheduler = dask_processes.cluster.scheduler
    allowed, scheduler.allowed_failures = scheduler.allowed_failures, 0
    try:
        with pytest.raises(EngineError, match=r"(?s)workers died.*memory.*allowed-failures") as raised:
            DaskEngine(dask_processes, n_tasks=1).reduce(passes.die_always, UNITS, None)
    finally:
        scheduler.allowed_failures = allowed
    assert isinstance(raised.value.__cause__, distributed.KilledWorker)


# ---- passes that do not end -----------------------------------------------------------------------------


def test_a_failed_task_is_repeated(dask_threads, tmp_path):
    assert DaskEngine(dask_threads).reduce(passes.fail_once, UNITS, str(tmp_path)) == [len(UNITS)]
    (tmp_path / "failed").rmdir()
    with pytest.raises(OSError, match="the store is busy"):
        DaskEngine(dask_threads, retries=0).reduce(passes.fail_once, UNITS, str(tmp_path))


def test_the_error_of_a_deadline_says_what_to_check(dask_threads):
    begin = time.monotonic()
    with pytest.raises(EngineError, match=r"(?s)left: 2; tasks .* them: 2\..*lost-worker-timeout.*deadline="):
        DaskEngine(dask_threads, deadline=0.2).reduce(passes.slow, [1, 2], 6.0)
    assert time.monotonic() - begin < 6, "before the tasks end"


def test_a_long_pass_with_progress_is_not_stopped(dask_threads, monkeypatch):
    """Checked repeatedly while tasks change; stopped when the same tasks run for too long."""
    monkeypatch.setattr(adapter, "_CHECK_SECONDS", 0.1)
    monkeypatch.setattr(adapter, "_STUCK_SECONDS", 1.0)
    assert DaskEngine(dask_threads, n_tasks=10).reduce(passes.slow, UNITS, 0.3) == [len(UNITS)]
    with pytest.raises(EngineError, match="did not end in time"):
        DaskEngine(dask_threads, n_tasks=2).reduce(passes.slow, UNITS, 3.0)


def test_a_pass_may_take_ten_times_as_long_as_the_one_before(dask_threads, monkeypatch):
    engine = DaskEngine(dask_threads, n_tasks=1)
    engine.reduce(passes.slow, UNITS, 0.3)
    monkeypatch.setattr(adapter, "_CHECK_SECONDS", 0.1)
    monkeypatch.setattr(adapter, "_STUCK_SECONDS", 0.1)
    assert engine.reduce(passes.slow, UNITS, 1.0) == [len(UNITS)]


def test_a_pass_without_workers_is_stopped(monkeypatch):
    monkeypatch.setattr(adapter, "_CHECK_SECONDS", 0.1)
    with distributed.Client(processes=False, n_workers=0, dashboard_address=":0") as client:
        engine = DaskEngine(client)
        assert engine.parallelism == 1
        with pytest.raises(EngineError, match="Workers that are left: 0"):
            engine.reduce(passes.histogram, UNITS, 1)


def test_a_timeout_error_of_a_task_is_raised_unchanged(dask_threads):
    with pytest.raises(TimeoutError, match="the store did not answer"):
        DaskEngine(dask_threads, retries=0).reduce(passes.run_out_of_time, UNITS, None)


def test_a_cancelled_pass_is_explained(dask_threads):
    def forget():
        dask_threads.cancel([distributed.Future(key) for key in list(dask_threads.futures)])

    threading.Timer(0.3, forget).start()
    with pytest.raises(EngineError, match=r"(?s)no longer has this pass.*checkpoint"):
        DaskEngine(dask_threads, n_tasks=2).reduce(passes.slow, [1, 2], 1.0)
    _wait_until_idle(dask_threads)


def test_no_results_stay_on_the_workers(dask_threads):
    engine = DaskEngine(dask_threads, n_tasks=9, fan_in=2)
    engine.reduce(passes.histogram, UNITS, 3, blocks=3)
    _wait_until_idle(dask_threads)


def _wait_until_idle(client):
    """Wait until the scheduler has no tasks, and the workers no results."""
    end = time.monotonic() + 10
    while client.cluster.scheduler.tasks or any(client.has_what().values()):
        assert time.monotonic() < end, client.cluster.scheduler.tasks
        time.sleep(0.02)


# ---- unsuitable clusters -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("import hornbeam; hornbeam.__version__ = '0.0.9'", "has Hornbeam 0.0.9"),
        ("import sys; sys.modules['hornbeam'] = None", r"has no Hornbeam \(.*\)"),
    ],
)
def test_workers_with_another_version_or_none_are_refused(dask_processes, change, found):
    worker = next(iter(dask_processes.nthreads()))
    dask_processes.run(exec, change, workers=[worker])
    try:
        with pytest.raises(EngineError, match=f"{found}; expected Hornbeam .*Install the same version"):
            DaskEngine(dask_processes)
    finally:
        dask_processes.run(exec, "import sys; del sys.modules['hornbeam']", workers=[worker])
    DaskEngine(dask_processes)


@pytest.mark.parametrize(("patience", "warned"), [("15s", True), ("10 minutes", False)])
def test_a_short_lost_worker_timeout_warns(dask_processes, dask_threads, patience, warned, recwarn):
    from dask import config

    with config.set({"distributed.deploy.lost-worker-timeout": patience}):
        DaskEngine(dask_threads)  # its workers are threads of this process
        assert not recwarn.list
        if warned:
            with pytest.warns(RuntimeWarning, match=r"away for 15s.*lost-worker-timeout.*10 minutes"):
                DaskEngine(dask_processes)
        else:
            DaskEngine(dask_processes)


def test_an_address_instead_of_a_client_is_refused():
    with pytest.raises(ParameterError, match=r"expected a synchronous distributed\.Client"):
        DaskEngine("tcp://localhost:8786")


def test_without_distributed_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hornbeam\[dask\]'"):
        DaskEngine(None)


@pytest.mark.parametrize("settings", [{"fan_in": 1}, {"retries": -1}, {"deadline": -1.0}])
def test_parameters_out_of_range_are_refused(dask_threads, settings):
    with pytest.raises(ParameterError, match=r"expected a (whole )?number"):
        DaskEngine(dask_threads, **settings)


# ---- closed clients ----------------------------------------------------------------------------------


@pytest.fixture
def lone_client():
    """A client that a test may close."""
    client = distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")
    yield client
    client.close()


def test_a_client_closed_between_passes_is_named(lone_client):
    engine = DaskEngine(lone_client)
    lone_client.close()
    for call in (lambda: engine.parallelism, lambda: engine.reduce(passes.histogram, UNITS, 1)):
        with pytest.raises(EngineError, match=r"(?s)The client is closed.*Connect a new client"):
            call()


def test_a_client_closed_during_a_pass_is_named(lone_client):
    engine, closing = DaskEngine(lone_client, n_tasks=2), threading.Timer(0.3, lone_client.close)
    closing.start()
    with pytest.raises(EngineError, match="Connect a new client"):
        engine.reduce(passes.slow, [1, 2], 2.0)
    closing.join()
