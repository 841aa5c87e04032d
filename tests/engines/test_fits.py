"""Whole fits on processes that die: from files to the tree, and the tree is that of a quiet day."""

import os
import signal
import threading
import time

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hornbeam import DaskTreeClassifier
from hornbeam.data import LocalEngine
from hornbeam.engines import DaskEngine
from hornbeam.errors import ParameterError
from hornbeam.recipe import PRESETS
from hornbeam.scale import fit
from strategies_growing import random_table

pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
ParquetSource = pytest.importorskip("hornbeam.data.parquet").ParquetSource

TABLE = random_table(5, n_rows=6000, n_classes=3, n_numeric=4, n_nominal=0, n_values=1000, missing=0.1)
FRAME = pd.DataFrame(dict(zip(TABLE.schema.names, TABLE.columns, strict=True)) | {"class": TABLE.target})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    pq.write_table(pa.Table.from_pandas(FRAME), folder / "rows.parquet", row_group_size=300)
    return folder


class Killer:
    """An engine's friend who kills a worker that is busy, a little after some passes have begun."""

    def __init__(self, client, at):
        self.engine, self.client, self.at = DaskEngine(client, deadline=60), client, set(at)
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


def digest(files, engine, cache):
    source = ParquetSource.open(files, target="class", engine=engine)
    return fit(source, PRESETS["pet"], engine, memory=60_000, cache=cache).digest


def test_workers_killed_on_the_way_from_files_to_a_tree(dask_processes, files, tmp_path):
    """While types are learnt, while codes are written, while nodes are counted."""
    quiet = digest(files, LocalEngine(), tmp_path / "quiet")
    engine = Killer(dask_processes, at=[1, 4, 9])
    assert digest(files, engine, tmp_path / "killed") == quiet
    assert engine.n_kills == 3
    assert engine.n_passes > 10


def test_a_folder_that_workers_do_not_see_is_refused(dask_processes, tmp_path):
    frame = dd.from_pandas(FRAME, npartitions=2)
    mine = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(ParameterError, match=r"2 workers, such as tcp:.*do not see the folder"):
            DaskTreeClassifier(client=dask_processes).fit(frame, "class", cache=f"/proc/self/fd/{mine}")
    finally:
        os.close(mine)
