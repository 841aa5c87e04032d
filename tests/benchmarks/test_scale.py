"""The benchmarks of scale: rows made in blocks are the rows, and the pages say what the files say."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benchmarks():
    """The scripts import each other by bare name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        known = set(sys.modules)
        yield importlib.import_module
        for name in set(sys.modules) - known:
            if not name.startswith("hornbeam") and str(ROOT) in str(
                getattr(sys.modules[name], "__file__", "")
            ):
                del sys.modules[name]


def test_files_hold_the_rows(benchmarks, tmp_path):
    scale: ModuleType = benchmarks("scale")
    place = scale.write(tmp_path, 20_000, 4, 3)
    frame = pd.read_parquet(place, columns=["x0", "x1", "x2", "x3", "y"])
    X, y = scale.make(20_000, 3, 4)
    np.testing.assert_array_equal(frame.drop(columns="y").to_numpy(), X.astype(np.float32))
    np.testing.assert_array_equal(frame["y"], y)
    assert scale.write(tmp_path, 20_000, 4, 3) == place


def test_a_sample_against_all_rows_and_what_travels(benchmarks, tmp_path):
    scale: ModuleType = benchmarks("scale")
    out = tmp_path / "sample.jsonl"
    common = ["--rows", "2e4", "--features", "4", "--scratch", str(tmp_path), "--out", str(out)]
    scale.main(["sample", "--sample", "2000", *common])
    sampled, whole, compared, _ = map(json.loads, out.read_text().splitlines())
    assert (sampled["grow_rows"], whole["grow_rows"]) == (2000, 20_000)
    assert "sample._draw" in sampled["phases"]
    assert compared["rmse_difference"] == pytest.approx(sampled["rmse"] - whole["rmse"], abs=2e-4)
    scale.main(["bytes", "--home", "500", "--depth", "5", *common])
    passes = [json.loads(line) for line in out.read_text().splitlines()][:-1]
    assert {one["phase"] for one in passes} == {"count", "gather"}
    assert all(abs(one["error"]) < 0.1 for one in passes)


def test_the_page_has_the_tables_of_the_files(benchmarks):
    model: ModuleType = benchmarks("cost_model")
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert model.page(text, costs=model.table(model.Rates.read()), losses=model.losses()) == text


def test_the_model_by_hand(benchmarks):
    """A billion values at a million a second: 1,000 seconds; on ten cores a tenth, at the engine's price."""
    model: ModuleType = benchmarks("cost_model")
    speed = dict.fromkeys(("survey", "cuts", "cache", "sample", "count", "grow", "driver"), 1e6)
    rates = model.Rates(speed, (1, 1024), (1e6, 1e6))
    alone, ten = (model.on_all(rates, 10**8, 10, workers) for workers in (1, 10))
    assert alone.parts["cuts"] == alone.parts["cache"] == 1000
    assert alone.parts["counting"] == pytest.approx(10_000)
    assert ten.parts["cuts"] == pytest.approx(1.2 * 100)
    assert alone.parts["scheduler"] == 0 < ten.parts["scheduler"]
    sampled = model.on_sample(rates, 10**8, 10, 1)
    assert sampled.parts["counting"] == pytest.approx(100 * 10 / 20)
    assert sampled.largest == "drawing"
