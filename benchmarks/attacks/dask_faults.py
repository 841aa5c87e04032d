"""Faults of a Dask cluster in the midst of a fit: workers, the scheduler, the client, the disk.

The fit gives the digest of a fit in memory, or an `EngineError` that says what happened (an OSError if a disk is full);
then the same call on a working cluster goes on from its checkpoint to that digest. Nothing is left on disk.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.attacks.faults import (
    DEPTH,
    ROWS,
    Fault,
    Fit,
    Watched,
    attempt,
    frame,
    grow,
    in_memory,
    left_behind,
    send_signal,
)
from benchmarks.attacks.subjects import model_state, scratch
from hornbeam import ForestClassifier, ForestRegressor, TreeClassifier
from hornbeam.engines import DaskEngine

NEEDS = ("distributed",)
HEAVY, IN_CI = True, 1
LIMIT, PATIENCE, WARM_UP = 300.0, 600.0, 900.0
DEADLINE = 90.0  # seconds a pass may take
SETTINGS = {
    "distributed.deploy.lost-worker-timeout": "10 minutes",
    "distributed.scheduler.allowed-failures": 20,
    "distributed.scheduler.worker-ttl": "25s",  # a worker that is silent for so long is removed
    "distributed.comm.timeouts.connect": "5s",
    "distributed.comm.timeouts.tcp": "12s",
}


@cache
def configure() -> None:
    import dask
    import distributed  # noqa: F401 - its own settings come first

    dask.config.set(SETTINGS)


# ---- clusters ----------------------------------------------------------------------------------------------


def import_all(client: Any) -> None:
    """Have the workers import what a fit needs; one that is killed meanwhile does so when it starts again."""
    with suppress(OSError):
        client.run(exec, "import pandas, hornbeam.out_of_core, hornbeam.data.files.cache", on_error="ignore")


class Local:
    """Two worker processes with nannies; the scheduler is in this process."""

    def __init__(self) -> None:
        from distributed import Client, LocalCluster

        self.dask_cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        )
        self.client = Client(self.dask_cluster, set_as_default=False)
        self.warm()

    def warm(self) -> None:
        self.client.wait_for_workers(2, timeout=120)
        import_all(self.client)

    def pids(self) -> list[int]:
        """Of the workers."""
        return [nanny.pid for nanny in self.dask_cluster.workers.values() if nanny.pid]

    def is_working(self) -> bool:
        return self.client.status == "running" and len(self.client.scheduler_info()["workers"]) == 2

    def close(self) -> None:
        """End the workers, stopped ones too, before the cluster: it would wait for them."""
        for nanny in list(self.dask_cluster.workers.values()):
            nanny.auto_restart = False
            if nanny.pid:
                with suppress(ProcessLookupError):
                    os.kill(nanny.pid, signal.SIGKILL)
        for one in (self.client, self.dask_cluster):
            with suppress(Exception):
                one.close(timeout=60)


class Apart:
    """A scheduler and two workers, each started from the command line."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = tempfile.mkdtemp(prefix="dask-")
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"
        )
        for _ in range(2):
            self.start(
                "worker", self.address, "--nthreads", "1", "--no-dashboard", "--local-directory", self.folder
            )
        self.client = self.connect()

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        settings = {
            f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": str(value)
            for name, value in SETTINGS.items()
        }
        paths = os.pathsep.join(path for path in sys.path if path)
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            env=os.environ | settings | {"PYTHONPATH": paths},
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process

    def connect(self) -> Any:
        from distributed import Client

        client = Client(self.address, timeout=120, set_as_default=False)
        client.wait_for_workers(2, timeout=120)
        import_all(client)
        return client

    def close(self) -> None:
        with suppress(Exception):
            self.client.close(timeout=5)
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


LOCAL: list[Local] = []  # one that serves many cases


def local() -> Local:
    """A working cluster: the one of the case before, or a new one."""
    if LOCAL:
        with suppress(Exception):
            LOCAL[0].warm()
            if LOCAL[0].is_working():
                return LOCAL[0]
        LOCAL.pop().close()
    LOCAL.append(Local())
    return LOCAL[0]


# ---- faults ------------------------------------------------------------------------------------------------


def kill(cluster: Local, number: int) -> None:
    """Kill a worker."""
    send_signal(sorted(cluster.pids()), number, signal.SIGKILL)


def kill_all(cluster: Local, number: int) -> None:
    for pid in cluster.pids():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def pause(cluster: Local, number: int) -> None:
    """Stop a worker for a while, shorter or longer than the scheduler waits for it."""
    pid = send_signal(sorted(cluster.pids()), number, signal.SIGSTOP)
    time.sleep((0.2, 1.0, 4.0, 40.0)[number % 4])
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def stop(cluster: Local, number: int) -> None:
    """Stop a worker for ever: the scheduler removes it."""
    send_signal(sorted(cluster.pids()), number, signal.SIGSTOP)


def stop_all(cluster: Local, number: int) -> None:
    for pid in cluster.pids():
        os.kill(pid, signal.SIGSTOP)


def scale(cluster: Local, number: int) -> None:
    """More workers, then fewer."""
    inner = cluster.dask_cluster
    inner.scale(3)
    time.sleep(0.5 + number % 3)
    inner.scale(1)
    time.sleep(1.0)
    inner.scale(2)


def adapt(cluster: Local, number: int) -> None:
    """Leave it to the cluster how many workers it has."""
    inner = cluster.dask_cluster
    inner.adapt(minimum=1, maximum=3, interval="200ms", wait_count=1, target_duration="1s")
    time.sleep(2.0)
    inner.scale(2)  # ends it


def retire(cluster: Local, number: int) -> None:
    """Take a worker out as an administrator does; its nanny starts no other."""
    workers = sorted(cluster.client.scheduler_info()["workers"])
    cluster.client.retire_workers([workers[number % len(workers)]], close_workers=True)


def restart(cluster: Local, number: int) -> None:
    """Restart all workers: the scheduler forgets what they were doing."""
    from distributed import Client

    with suppress(Exception), Client(cluster.dask_cluster.scheduler_address, set_as_default=False) as other:
        other.restart(timeout=60)


def close_client(cluster: Local, number: int) -> None:
    with suppress(Exception):
        cluster.client.close(timeout=5)


def fill(cluster: Local, number: int) -> None:
    """Let the workers write no more than some bytes to a file, as on a disk that is full."""
    with suppress(Exception):
        cluster.client.run(limit_files, (0, 1000, 20_000)[number % 3])


def limit_files(most: int) -> None:
    import resource

    sys.dont_write_bytecode = True  # Python would keep the cut bytecode of a module
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def lose_scheduler(cluster: Apart, number: int) -> None:
    cluster.scheduler.kill()


def replace_scheduler(cluster: Apart, number: int) -> None:
    """Another scheduler at the same address, a moment after the old one is killed."""
    cluster.scheduler.kill()
    cluster.scheduler.wait()
    time.sleep((0.0, 1.0, 4.0)[number % 3])
    words = ["--host", "127.0.0.1", "--port", str(cluster.port), "--no-dashboard"]
    cluster.scheduler = cluster.start("scheduler", *words)


AT_HOME = {
    one.__name__: one
    for one in (kill, kill_all, pause, stop, stop_all, scale, adapt, retire, restart, close_client, fill)
}
AWAY = {one.__name__: one for one in (lose_scheduler, replace_scheduler)}
CLOSES = (stop, stop_all, retire, close_client, fill)  # after which a new cluster is needed


# ---- fits --------------------------------------------------------------------------------------------------


def engine_of(client: Any, on_pass: Callable[[int], None]) -> Watched:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of settings that serve the attack
        return Watched(DaskEngine(client, deadline=DEADLINE), on_pass)


def fit_files(cluster: Any, folder: Path, on_pass: Callable[[int], None]) -> str:
    """Level by level from files, with a cache of codes and a checkpoint."""
    return grow(engine_of(cluster.client, on_pass), folder)


def fit_frame(cluster: Any, folder: Path, on_pass: Callable[[int], None]) -> str:
    """From a dask frame, as users do it."""
    import dask.dataframe as dd

    engine = engine_of(cluster.client, on_pass)
    on_pass(-1)  # the rows are written as files before the first pass
    rows = dd.from_pandas(frame(), npartitions=4)
    with cluster.client.as_current():  # the watched engine has no _write_rows
        model = TreeClassifier("cart", max_depth=DEPTH).fit(rows, "y", engine=engine, memory=ROWS * 8)
    return model.tree_.digest


FORESTS = {
    "forest": ForestClassifier(4, max_depth=DEPTH),
    "forest of means": ForestRegressor(4, max_depth=DEPTH),
}


def fit_forest(name: str) -> Fit:
    """Fit a forest to a dask frame."""

    def fit(cluster: Any, folder: Path, on_pass: Callable[[int], None]) -> str:
        import dask.dataframe as dd

        engine = engine_of(cluster.client, on_pass)
        on_pass(-1)
        rows = dd.from_pandas(frame(), npartitions=4)
        with cluster.client.as_current():
            return model_state(clone(FORESTS[name]).fit(rows, "y", engine=engine))

    return fit


@cache
def forest_in_memory(name: str) -> str:
    data = frame()
    return model_state(clone(FORESTS[name]).fit(data.drop(columns="y"), data["y"]))


FITS = {"files": fit_files, "frame": fit_frame, **{name: fit_forest(name) for name in FORESTS}}


def wanted(source: str) -> str:
    """The digest of the fit in memory."""
    return forest_in_memory(source) if source in FORESTS else in_memory()


@cache
def passes(source: str) -> tuple[int, float]:
    """How many passes an undisturbed fit has, and how long one takes."""
    seen: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        FITS[source](local(), Path(folder) / "first", seen.append)
        seen.clear()
        begin = time.perf_counter()
        digest = FITS[source](local(), Path(folder), seen.append)
        assert digest == wanted(source), "the fit on a working cluster is not that in memory"
        return max(seen) + 1, (time.perf_counter() - begin) / len(seen)


# ---- a case ------------------------------------------------------------------------------------------------


def draw(rng: np.random.Generator) -> dict[str, Any]:
    faults = [*AT_HOME, *AWAY]
    return {
        "fault": str(rng.choice(faults)),
        "source": str(rng.choice(list(FITS))),
        "pass": round(float(rng.random()), 3),
        "delay": round(float(rng.random()), 3),
        "number": int(rng.integers(12)),
    }


def judge(case: dict[str, Any]) -> str | None:
    fault, source = case.get("fault"), case.get("source", "files")
    if fault not in {**AT_HOME, **AWAY} or source not in FITS:
        return None
    configure()
    n_passes, seconds = passes(source)
    first = 0 if source == "files" else -1
    at = min(n_passes - 1, first + int(case.get("pass", 0.0) * (n_passes - first)))
    delay = case.get("delay", 0.0) * seconds
    for _ in range(6):  # a fault after the end of the fit is none
        before = scratch()
        cluster: Any = local() if fault in AT_HOME else Apart()
        act = {**AT_HOME, **AWAY}[fault]
        planned = Fault(act, cluster, int(case.get("number", 0)), at, delay)

        def working_cluster(cluster: Any = cluster, act: Any = act) -> Any:
            if act in CLOSES or isinstance(cluster, Apart):
                close_cluster(cluster)
            return local()

        wrong = attempt(FITS[source], planned, working_cluster, partial(wanted, source))
        if act in CLOSES or isinstance(cluster, Apart):
            close_cluster(cluster)
        if wrong is None:
            wrong = left_behind(before)
        if wrong or planned.happened:
            return f"{fault}, {source}: {wrong}" if wrong else None
        delay /= 2
        at = max(first, at - 1)
    return None


def close_cluster(cluster: Any) -> None:
    """Close a cluster; the next case gets a new one."""
    if cluster in LOCAL:
        LOCAL.remove(cluster)
    cluster.close()
