"""Fits on a Dask cluster give the same tree when workers die; `benchmarks/attacks/dask_faults.py` has many more."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from hornbeam import DaskTreeClassifier
from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.engines import DaskEngine
from hornbeam.errors import ParameterError
from hornbeam.growing import Grower
from hornbeam.kernels.subtree import Rows
from support.strategies_growing import bins_of, random_table

pytest.importorskip("distributed")


class Killer:
    """A Dask engine that kills a busy worker shortly after the start of some passes."""

    def __init__(self, client, at):
        self.engine, self.client, self.at = DaskEngine(client, deadline=300), client, set(at)
        self.n_passes = self.n_kills = 0

    @property
    def parallelism(self):
        return 2

    def reduce(self, *arguments, **options):
        if self.n_passes in self.at:
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


def test_a_folder_that_workers_do_not_see_is_refused(dask_processes, tmp_path):
    da = pytest.importorskip("dask.array")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    clf = DaskTreeClassifier(client=dask_processes)
    try:
        with pytest.raises(ParameterError, match=r"2 workers, such as tcp:.*do not see the folder"):
            clf.fit(da.zeros((4, 1)), da.arange(4), cache=f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
