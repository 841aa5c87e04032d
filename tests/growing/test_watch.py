"""Progress out, interruption in."""

import subprocess
import sys
import time

import numpy as np
import pytest

from hornbeam.data import Table
from hornbeam.growing import Grower, in_memory, parallel
from hornbeam.growing.progress import Watch
from strategies_growing import bins_of, random_table

# Someone else's load on the machine is not our delay: the seconds are those of the growing process.
ENDLESS = """
import os, signal, sys, threading, time
import numpy as np
from hornbeam.data import Bins, LocalEngine, MemorySource, Table
from hornbeam.growing import Grower, Missing

n_rows, n_features, n_jobs, holes = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rng = np.random.default_rng(0)
X = rng.integers(0, 200, (n_rows, n_features)).astype(float)
if holes == "fractional":
    X[rng.random(X.shape) < 0.3] = np.nan
table = Table.read(X, rng.integers(0, 20, n_rows))
bins = Bins.fit(MemorySource(table), LocalEngine())
codes = bins.encode(table)

def interrupt():
    time.sleep(0.1)
    global sent
    sent = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    Grower(missing=Missing(holes)).grow(table, bins, codes, n_jobs=n_jobs)
    print("grown")
except KeyboardInterrupt:
    print("stopped", time.process_time() - sent)
"""


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_jobs", "missing"),
    [
        (100_000, 100, 1, "own"),
        (100_000, 100, 2, "own"),
        (20_000, 500, 1, "own"),  # few rows, many features
        (3_000, 20, 1, "fractional"),  # few rows, many parts
    ],
)
def test_an_interrupt_is_heard_within_a_second(n_rows, n_features, n_jobs, missing):
    command = [sys.executable, "-c", ENDLESS, *map(str, (n_rows, n_features, n_jobs)), missing]
    end, seconds = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert end == "stopped"
    assert float(seconds) < 1.0


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress_never_falls_and_ends_within_the_rows(n_jobs, monkeypatch):
    monkeypatch.setattr(in_memory, "_QUICK_CODES", 0)
    monkeypatch.setattr(in_memory, "_SERIAL_ROWS", 0)
    monkeypatch.setattr(parallel, "_SMALLEST_GRAIN", 1)
    monkeypatch.setattr("hornbeam.growing.progress._TICK_SECONDS", 1e-4)
    rng = np.random.default_rng(0)
    table = Table.read(rng.integers(0, 50, (20_000, 8)).astype(float), rng.integers(0, 3, 20_000))
    heard: list[int] = []
    Grower().grow(table, bins_of(table), n_jobs=n_jobs, on_progress=heard.append)
    assert len(heard) > 10
    assert heard == sorted(heard)
    assert 0 <= heard[0] < heard[-1] <= 20_000


@pytest.mark.parametrize("max_depth", [1, 3, None])
def test_all_rows_are_settled_at_the_end(max_depth, monkeypatch):
    """Leaves of the trunk are counted like those of the subtrees."""
    monkeypatch.setattr(in_memory, "_QUICK_CODES", 0)
    monkeypatch.setattr(in_memory, "_SERIAL_ROWS", 0)
    monkeypatch.setattr(parallel, "_SMALLEST_GRAIN", 1)
    watches = []
    monkeypatch.setattr(
        "hornbeam.growing.grower.Watch", lambda listener: watches.append(Watch(listener)) or watches[-1]
    )
    table = random_table(0, n_rows=400, noise=0.5)
    Grower(max_depth=max_depth).grow(table, bins_of(table), n_jobs=2)
    assert watches[0].settled == 400


def test_a_kernel_that_starts_after_the_stop_is_stopped_too():
    watch = Watch()
    early = watch.slip()
    watch.stop()
    assert (early[1], watch.slip()[1]) == (1, 1)


def test_an_error_in_the_work_is_passed_on():
    with pytest.raises(ZeroDivisionError):
        Watch().run(lambda: 1 // 0)


def test_a_listener_that_fails_stops_the_work():
    watch = Watch(lambda _: 1 // 0)
    slip = watch.slip()

    def work() -> str:
        while not slip[1]:
            time.sleep(0.01)
        return "stopped"

    with pytest.raises(ZeroDivisionError):
        watch.run(work)
