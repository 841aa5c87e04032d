"""Work and span of a fit: how much faster it would be on more cores than this machine has.

    python -m benchmarks.speed.work_span --rows 1000000 --json FILE

The fit runs as with t threads, but each task runs in the calling thread as soon as it is submitted. Its processor time
is measured and placed on t simulated cores, at the first moment at which it is submitted, one of the threads of its
pool is free and a core has a gap that is long enough. Work is the processor time of everything. The span, the time that
no number of cores can go below, is that of the simulation with `MANY` threads. Memory that several cores share is not
in the model.
"""

from __future__ import annotations

import argparse
import json
from bisect import insort
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from unittest.mock import patch
from weakref import WeakKeyDictionary

from benchmarks.output import machine
from benchmarks.synthetic import make
from hornbeam import TreeClassifier
from hornbeam.growing import parallel
from hornbeam.kernels.pool import Pool

MANY = 64
THREADS = 1, 2, 4, 8, MANY
FITS: dict[str, dict[str, Any]] = {
    "depth 8": {"criterion": "entropy", "max_depth": 8, "smoothing": None, "pruning": None, "max_bins": 255},
    "full": {"criterion": "entropy", "smoothing": None, "pruning": None, "max_bins": 255},
    "default": {},
}


class Cores:
    """The busy times of simulated cores."""

    def __init__(self, n: int) -> None:
        self.busy: list[list[tuple[float, float]]] = [[] for _ in range(n)]

    def place(self, ready: float, seconds: float) -> float:
        """Run something as soon as a core is free; return when it ends."""
        starts = [self._gap(core, ready, seconds) for core in self.busy]
        start = min(starts)
        insort(self.busy[starts.index(start)], (start, start + seconds))
        return start + seconds

    @staticmethod
    def _gap(core: list[tuple[float, float]], start: float, seconds: float) -> float:
        for begin, end in core:
            if start + seconds <= begin:
                break
            start = max(start, end)
        return start


class Simulation:
    """Runs tasks where they are submitted, and places their processor time on simulated cores."""

    def __init__(self, n_cores: int) -> None:
        self.cores = Cores(n_cores)
        self.work = 0.0
        self.now = 0.0  # of the thread that is running
        self.threads: WeakKeyDictionary[Pool, list[float]] = WeakKeyDictionary()  # when they are free
        self.clock = process_time()

    def lap(self) -> None:
        """Place what ran since the last call."""
        seconds = process_time() - self.clock
        self.work += seconds
        self.now = self.cores.place(self.now, seconds)
        self.clock = process_time()

    def submit(self, pool: Pool, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.lap()
        submitted = self.now
        threads = self.threads.setdefault(pool, [0.0] * pool._most)
        thread = threads.index(min(threads))
        self.now = max(submitted, threads[thread])
        result = call(*args, **kwargs)
        self.lap()
        threads[thread] = self.now
        future = SimulatedFuture(self, self.now)
        future.set_result(result)
        self.now = submitted
        return future

    def wait(self, futures: dict[SimulatedFuture, Any], **_: Any) -> Any:
        """Wait for the first of some futures."""
        first = min(futures, key=lambda future: future.end)
        first.result()
        return Waited({first}, set(futures) - {first})


class Waited(NamedTuple):
    done: set[SimulatedFuture]
    not_done: set[SimulatedFuture]


class SimulatedFuture(Future[Any]):
    def __init__(self, simulation: Simulation, end: float) -> None:
        super().__init__()
        self.simulation, self.end = simulation, end

    def result(self, timeout: float | None = None) -> Any:
        self.simulation.lap()
        self.simulation.now = max(self.simulation.now, self.end)
        return super().result(timeout)


@contextmanager
def simulated(n_cores: int) -> Iterator[Simulation]:
    """Simulate the threads of all pools."""
    simulation = Simulation(n_cores)

    def submit(pool: Pool, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return simulation.submit(pool, call, *args, **kwargs)

    with patch.object(Pool, "submit", submit), patch.object(parallel, "wait", simulation.wait):
        yield simulation
        simulation.lap()


def measure(fit: Callable[[int], object], rounds: int) -> dict[int, tuple[float, float]]:
    """Work and simulated seconds for each number of threads: the least of the rounds."""
    best = dict.fromkeys(THREADS, (float("inf"), float("inf")))
    for _ in range(rounds):
        for threads in THREADS:
            with simulated(threads) as simulation:
                fit(threads)
            work, seconds = best[threads]
            best[threads] = min(work, simulation.work), min(seconds, simulation.now)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fits", default=",".join(FITS))
    parser.add_argument("--json", type=Path, help="file for the measurements")
    options = parser.parse_args()
    X, y = make(options.rows)
    found: dict[str, Any] = {"rows": options.rows}
    print("| fit | threads | work, s | seconds | speed-up |\n|---|--:|--:|--:|--:|")
    for name in options.fits.split(","):

        def fit(threads: int, settings: dict[str, Any] = FITS[name]) -> None:
            TreeClassifier(n_jobs=threads, **settings).fit(X, y)

        fit(1)
        found[name] = measure(fit, options.rounds)
        alone, _ = found[name][1]
        for threads, (work, seconds) in found[name].items():
            print(f"| {name} | {threads} | {work:.2f} | {seconds:.3f} | {alone / seconds:.2f} |", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps({**found, "machine": machine()}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
