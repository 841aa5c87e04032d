"""Progress reports and interruption of growing."""

import subprocess
import sys
import time

import numpy as np
import pytest

from hornbeam.data.table import Table
from hornbeam.growing.grower import Grower, grow_in_memory
from hornbeam.growing.watch import Watch
from support.strategies_growing import bins_of, random_table

SMALL = {"quick_codes": 0, "serial_rows": 0, "smallest_grain": 1}  # small data use all threads

# Process time is measured, because other load on the machine must not count as delay.
ENDLESS = """
import signal, sys, threading, time
import numpy as np
from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Missing
from hornbeam.growing.grower import Grower

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits an ignored signal
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
    signal.raise_signal(signal.SIGINT)  # os.kill would end the process on Windows

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
def test_an_interrupt_stops_growing_within_a_second(n_rows, n_features, n_jobs, missing):
    command = [sys.executable, "-c", ENDLESS, *map(str, (n_rows, n_features, n_jobs)), missing]
    end, seconds = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert end == "stopped"
    assert float(seconds) < 1.0


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress_never_decreases_and_is_at_most_the_number_of_rows(n_jobs):
    rng = np.random.default_rng(0)
    table = Table.read(rng.integers(0, 50, (20_000, 8)).astype(float), rng.integers(0, 3, 20_000))
    reports: list[int] = []
    watch = Watch(reports.append, tick_seconds=1e-4)
    grow_in_memory(Grower(), table, bins_of(table), n_jobs=n_jobs, watch=watch, **SMALL)
    assert len(reports) > 3  # the clock of Windows has steps of 16 ms
    assert reports == sorted(reports)
    assert 0 <= reports[0] < reports[-1] <= 20_000


@pytest.mark.parametrize("max_depth", [1, 3, None])
def test_all_rows_are_done_at_the_end(max_depth):
    """Leaves among the large nodes are counted like those of the subtrees."""
    watch = Watch()
    table = random_table(0, n_rows=400, noise=0.5)
    grow_in_memory(Grower(max_depth=max_depth), table, bins_of(table), n_jobs=2, watch=watch, **SMALL)
    assert watch.rows_done == 400


def test_a_kernel_that_starts_after_the_stop_is_stopped_too():
    watch = Watch()
    early = watch.progress_slot()
    watch.stop()
    assert (early[1], watch.progress_slot()[1]) == (1, 1)


def test_a_stop_while_a_slot_is_made_is_not_lost():
    class Interrupted(Watch):
        """Another thread stops it right after this one has read that it goes on."""

        at_work = False

        @property
        def stopped(self) -> bool:
            before, self.at_work = self.at_work, True
            if not before:
                self.stop()
            return before

        @stopped.setter
        def stopped(self, value: bool) -> None:
            self.at_work = value

    assert Interrupted().progress_slot()[1] == 1


def test_an_error_of_the_work_is_raised():
    with pytest.raises(ZeroDivisionError):
        Watch().run(lambda: 1 // 0)


def test_a_callback_that_fails_stops_the_work():
    watch = Watch(lambda _: 1 // 0)
    slot = watch.progress_slot()

    def work() -> str:
        while not slot[1]:
            time.sleep(0.01)
        return "stopped"

    with pytest.raises(ZeroDivisionError):
        watch.run(work)
