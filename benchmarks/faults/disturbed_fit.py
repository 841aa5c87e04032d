"""What `kills.py` kills: a cluster of processes on this machine, and whole fits that run on it."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client

from benchmarks import synthetic
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.schema import Kind
from hornbeam.engines import DaskEngine
from hornbeam.ensembles.forest.from_source import fit_forest
from hornbeam.ensembles.forest.trainer import SMOOTHING_CANDIDATES, ForestTrainer, default_grower
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS, Recipe

FEATURES = 10
SETTINGS = {
    "distributed.deploy.lost-worker-timeout": "10 minutes",
    "distributed.scheduler.allowed-failures": 20,  # as where machines come and go
}


def write_rows(folder: Path, rows: int, files: int = 8) -> None:
    """The benchmarks' rows as Parquet: a few files of a few row groups each."""
    X, y = synthetic.make(rows, classes=2, features=FEATURES)
    table = pa.table({f"x{f}": X[:, f] for f in range(FEATURES)} | {"y": y})
    size = -(-rows // files)
    for number in range(files):
        pq.write_table(
            table.slice(number * size, size), folder / f"{number}.parquet", row_group_size=size // 4
        )


@contextmanager
def cluster(workers: int = 2, memory: str | None = None) -> Iterator[Client]:
    """Workers of one thread, each a process that its nanny starts again when it dies."""
    limit = {} if memory is None else {"memory_limit": memory}
    with (
        dask.config.set(SETTINGS),
        Client(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50, **limit
        ) as client,
    ):
        yield client


def warm(client: Client) -> None:
    """Wait for all workers, and let the new ones import what a fit needs, as a cluster in use has done."""
    client.wait_for_workers(len(client.cluster.workers))
    client.run(exec, "import pandas, hornbeam.out_of_core")


def kill_one(client: Client, rng: random.Random) -> int:
    """Kill a worker, a busy one if there is any; say how many were killed: 0 if all are dead already."""
    scheduler = client.cluster.scheduler
    busy = {state.name for state in list(scheduler.workers.values()) if state.processing}
    nannies = {name: nanny for name, nanny in client.cluster.workers.items() if nanny.pid}
    chosen = [nanny for name, nanny in nannies.items() if name in busy] or list(nannies.values())
    if chosen:
        with suppress(ProcessLookupError):
            os.kill(rng.choice(chosen).pid, signal.SIGKILL)
            return 1
    return 0


@dataclass(slots=True)
class Watched:
    """An engine that tells when a pass begins, and keeps what each took."""

    engine: DaskEngine
    on_pass: Callable[[int, str], None] = lambda number, name: None
    change: Callable[[Any], Any] = lambda task: task
    passes: list[tuple[str, float]] = field(default_factory=list)

    @property
    def parallelism(self) -> int:
        return 2  # not that of the moment: workers die here

    def reduce(self, task: Any, partitions: Any, shared: Any, **options: Any) -> list[Any]:
        begin, name = time.perf_counter(), task.__name__.strip("_")
        self.on_pass(len(self.passes), name)
        result = self.engine.reduce(self.change(task), partitions, shared, **options)
        self.passes.append((name, time.perf_counter() - begin))
        return result

    def close(self) -> None:
        self.engine.close()


def grow(
    rows: Path, engine: Watched, cache: Path, checkpoint: Path | None = None, model: str = "tree"
) -> str:
    """The whole way from files to a finished tree, level by level, or to a forest; its digest."""
    if model == "forest":
        return _grow_forest(rows, engine)
    regression = model == "regression"
    target, kind = ("x0", Kind.NUMERIC) if regression else ("y", Kind.NOMINAL)
    source = scan_parquet(rows, target=target, target_kind=kind, engine=engine)
    recipe = PRESETS["default"]
    if regression:
        recipe = REGRESSION_PRESETS["default"]
        recipe = replace(recipe, grower=replace(recipe.grower, max_depth=10))
    plan = Plan.of(source, recipe, memory=source.n_rows * 8)
    return fit(source, recipe, engine, plan=plan, cache=cache, checkpoint=checkpoint).digest


def _grow_forest(rows: Path, engine: Watched) -> str:
    """A forest grown on a quarter of the rows, with all rows counted in every tree."""
    source = scan_parquet(rows, target="y", engine=engine)
    grower = replace(default_grower(), max_features=3)
    trainer = ForestTrainer(Recipe(255, grower), n_trees=30, smoothers=SMOOTHING_CANDIDATES)
    plan = Plan.of(source, None, grow_rows=source.n_rows // 4)
    return fit_forest(source, trainer, engine, plan=plan).result.forest.digest


@dataclass(slots=True)
class Eater:
    """A task that once takes all memory it can get."""

    task: Any
    flag: str

    @property
    def __name__(self) -> str:
        return self.task.__name__

    def __call__(self, partitions: Any, shared: Any) -> Any:
        try:
            Path(self.flag).mkdir()
        except FileExistsError:
            return self.task(partitions, shared)
        hoard = []
        while True:  # the nanny looks every 200 ms
            hoard.append(np.ones(4_000_000))
            time.sleep(0.02)


@dataclass(slots=True)
class Disturbance:
    """Kills workers while a fit runs: one in a chosen pass, or one after another from there on."""

    client: Client
    rng: random.Random
    at: int
    delay: float
    most: int = 1
    pause: float = 1.0
    kills: int = 0
    phase: str = ""
    _over: threading.Event = field(default_factory=threading.Event)

    def on_pass(self, number: int, name: str) -> None:
        if number == self.at:
            self.phase = name
            threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        time.sleep(self.delay)
        self.kills += kill_one(self.client, self.rng)
        while self.kills < self.most and not self._over.wait(self.pause * self.rng.uniform(0.5, 1.5)):
            self.kills += kill_one(self.client, self.rng)

    def end(self) -> None:
        self._over.set()


def eating(flag: Path, at: int) -> Callable[[Any], Any]:
    """Make the task of one pass an `Eater`."""
    numbers = iter(range(10**9))
    return lambda task: Eater(task, str(flag)) if next(numbers) == at else task


@contextmanager
def new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hornbeam-kills-") as folder:
        yield Path(folder)
