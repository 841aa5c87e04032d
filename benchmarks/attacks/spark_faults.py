"""Faults of a Spark cluster in the midst of a fit: executors, their Python workers, the session.

As with Dask: the digest of a fit in memory, or an `EngineError` after which the same call on a working
session goes on from its checkpoint to that digest.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attacks.faults import Fault, Watched, attempt, grow, in_memory, left_behind, send_signal
from benchmarks.attacks.subjects import scratch
from hornbeam.engines import SparkEngine

NEEDS = ("pyspark",)
HEAVY, IN_CI = True, 0  # CI has no Spark
LIMIT, PATIENCE, WARM_UP = 300.0, 600.0, 900.0


class Cluster:
    """A session with two executors, each a process with Python workers of its own."""

    def __init__(self) -> None:
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        settings = {
            "spark.ui.enabled": "false",
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "spark.executor.heartbeatInterval": "5s",
            "spark.network.timeoutInterval": "10s",
            "spark.network.timeout": "60s",  # an executor that is silent for so long is lost
            "spark.task.maxFailures": "8",
        }
        builder = SparkSession.builder.master("local-cluster[2,1,1024]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

    def processes(self, word: str) -> list[int]:
        """Those of this session whose command has the word."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if word in (folder / "cmdline").read_text() and os.getpid() in _ancestors(int(folder.name)):
                    found.append(int(folder.name))
        return sorted(found)

    def close(self) -> None:
        from pyspark import SparkContext

        for pid in [*self.processes("CoarseGrainedExecutorBackend"), *self.processes("pyspark.daemon")]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        with suppress(Exception):
            self.session.stop()
        gateway = SparkContext._gateway
        if gateway is not None and not self.processes("SparkSubmit"):  # the driver of Java is gone
            SparkContext._gateway = SparkContext._jvm = None
            SparkContext._active_spark_context = None


def _ancestors(pid: int) -> set[int]:
    found = set()
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        found.add(pid)
    return found


CLUSTER: list[Cluster] = []


def cluster() -> Cluster:
    if not CLUSTER:
        CLUSTER.append(Cluster())
    return CLUSTER[0]


def close_cluster() -> None:
    while CLUSTER:
        CLUSTER.pop().close()


# ---- faults ------------------------------------------------------------------------------------------------


def kill_executor(one: Cluster, number: int) -> None:
    send_signal(one.processes("CoarseGrainedExecutorBackend"), number, signal.SIGKILL)


def kill_python(one: Cluster, number: int) -> None:
    """Kill a worker of Python, or the process that starts them."""
    send_signal(one.processes("pyspark.daemon"), number, signal.SIGKILL)


def pause_executor(one: Cluster, number: int) -> None:
    pid = send_signal(one.processes("CoarseGrainedExecutorBackend"), number, signal.SIGSTOP)
    time.sleep((0.5, 2.0, 5.0, 90.0)[number % 4])
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def stop_executor(one: Cluster, number: int) -> None:
    """Stop an executor for ever: Spark takes it for lost."""
    send_signal(one.processes("CoarseGrainedExecutorBackend"), number, signal.SIGSTOP)


def stop_session(one: Cluster, number: int) -> None:
    with suppress(Exception):
        one.session.stop()


def kill_driver(one: Cluster, number: int) -> None:
    """Kill the driver's Java process."""
    send_signal(one.processes("SparkSubmit"), 0, signal.SIGKILL)


FAULTS = {
    one.__name__: one
    for one in (kill_executor, kill_python, pause_executor, stop_executor, stop_session, kill_driver)
}
ENDS = (stop_executor, stop_session, kill_driver)  # after which a new session is needed


# ---- cases -------------------------------------------------------------------------------------------------


def fit(one: Cluster, folder: Path, on_pass: Callable[[int], None]) -> str:
    return grow(Watched(SparkEngine(one.session), on_pass), folder)


@cache
def passes() -> tuple[int, float]:
    """How many passes an undisturbed fit has, and how long one takes."""
    seen: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        assert fit(cluster(), Path(folder), seen.append) == in_memory(), "not the tree of a fit in memory"
        return max(seen) + 1, (time.perf_counter() - begin) / len(seen)


def draw(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "fault": str(rng.choice(list(FAULTS))),
        "pass": round(float(rng.random()), 3),
        "delay": round(float(rng.random()), 3),
        "number": int(rng.integers(12)),
    }


def judge(case: dict[str, Any]) -> str | None:
    fault = FAULTS.get(case.get("fault", ""))
    if fault is None:
        return None
    n_passes, seconds = passes()
    at, before = int(case.get("pass", 0.0) * n_passes), scratch()
    planned = Fault(fault, cluster(), int(case.get("number", 0)), at, case.get("delay", 0.0) * seconds)

    def working_cluster() -> Cluster:
        close_cluster()
        return cluster()

    wrong = attempt(fit, planned, working_cluster)
    if fault in ENDS:
        close_cluster()
    wrong = wrong or left_behind(before)
    return f"{case['fault']}: {wrong}" if wrong else None
