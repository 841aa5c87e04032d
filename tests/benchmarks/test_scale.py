"""The benchmarks of scale: rows made in blocks equal rows made at once, and pages have the figures of the files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.pages import page
from benchmarks.scale import billion_rows, cost_model, fits, memory

ROOT = Path(__file__).parents[2]


def test_files_hold_the_rows(tmp_path):
    place = fits.write(tmp_path, 20_000, 4, 3)
    frame = pd.concat(map(pd.read_parquet, sorted(place.glob("*.parquet"))))
    X, y = fits.make(20_000, 3, 4)
    np.testing.assert_array_equal(frame.drop(columns="y").to_numpy(), X.astype(np.float32))
    np.testing.assert_array_equal(frame["y"], y)
    assert fits.write(tmp_path, 20_000, 4, 3) == place


def test_a_sample_against_all_rows_and_what_travels(tmp_path):
    out = tmp_path / "sample.jsonl"
    common = ["--rows", "2e4", "--features", "4", "--scratch", str(tmp_path), "--out", str(out)]
    fits.main(["sample", "--sample", "2000", *common])
    sampled, whole, compared, _ = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert (sampled["grow_rows"], whole["grow_rows"]) == (2000, 20_000)
    assert "sample._draw" in sampled["phases"]
    assert compared["rmse_difference"] == pytest.approx(sampled["rmse"] - whole["rmse"], abs=2e-4)
    fits.main(["bytes", "--home", "500", "--depth", "5", *common])
    passes = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()][:-1]
    assert {one["phase"] for one in passes} == {"count", "gather"}
    assert all(abs(one["error"]) < 0.1 for one in passes)


def test_the_page_has_the_tables_of_the_files():
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert (
        page(
            text,
            costs=cost_model.table(cost_model.Rates.read()),
            losses=cost_model.losses(),
            memory=memory.table(memory.RESULTS),
        )
        == text
    )


def test_the_model_by_hand():
    """A billion values at a million a second: 1,000 seconds; on ten cores a tenth, at the engine's price."""
    speed = dict.fromkeys(("survey", "cuts", "cache", "sample", "count", "grow", "driver"), 1e6)
    rates = cost_model.Rates(speed, (1, 1024), (1e6, 1e6), pass_seconds=0.05, task_seconds=0.002)
    alone, ten = (cost_model.on_all(rates, 10**8, 10, workers) for workers in (1, 10))
    assert alone.parts["cuts"] == alone.parts["cache"] == 1000
    assert alone.parts["counting"] == pytest.approx(10_000)
    assert ten.parts["cuts"] == pytest.approx(1.2 * 100)
    assert alone.parts["scheduler"] == 0
    assert ten.parts["scheduler"] == pytest.approx(13 * (0.05 + 2 * 0.002))  # one worker, and the last task
    assert rates.scheduling(1, 1000) == pytest.approx(0.05 + (63 + 8 + 1) * 0.002)
    sampled = cost_model.on_sample(rates, 10**8, 10, 1)
    assert sampled.parts["counting"] == pytest.approx(100 * 10 / 20)
    assert sampled.largest == "drawing"


def test_the_page_has_the_table_of_a_billion_rows():
    records = billion_rows.read()
    assert billion_rows.table(records) in (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert max(record["rows"] for record in records) == 10**9
    assert all(record["counted"] == record["rows"] for record in records)


def test_made_rows_do_not_depend_on_how_they_are_read():
    source = billion_rows.MadeRows(300_000, numeric=False)
    whole = source.read(source.partitions()[1])
    some = source.read(source.partitions()[1], features=[3], rows=np.array([0, 7]))
    assert some.columns[0].tolist() == whole.columns[3][[0, 7]].tolist()
    assert some.target.tolist() == whole.target[[0, 7]].tolist()
