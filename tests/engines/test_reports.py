"""Drift and report of files on worker processes: the bits of rows in memory."""

import numpy as np

from hornbeam import report
from hornbeam.engines import DaskEngine
from support.scored_models import fitted_model, new_rows, write_files


def test_drift_and_report_on_two_processes(dask_processes, tmp_path):
    model, target = fitted_model("slopes")
    rows = new_rows(300, 2)
    folder, X, y = write_files(rows, tmp_path), rows[["age", "ward", "dose"]], rows[target]
    engine = DaskEngine(dask_processes)
    on_workers, in_memory = model.drift(folder, target, engine=engine), model.drift(X, y)
    np.testing.assert_array_equal(on_workers.probability, in_memory.probability)
    np.testing.assert_array_equal(on_workers.p_value, in_memory.p_value)
    assert report(model, folder, target, engine=engine).text == report(model, folder, target).text
