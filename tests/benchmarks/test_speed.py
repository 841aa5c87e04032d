"""The benchmarks measure what they say: the data, the taking of turns, the printed ratios."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import synthetic, timing

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def speed(*arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "benchmarks.speed", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_first_rows_of_a_large_set_are_the_small_set() -> None:
    X, y = synthetic.make(synthetic.BLOCK + 100, 3)
    few_X, few_y = synthetic.make(150, 3)
    assert np.array_equal(X[:150], few_X)
    assert np.array_equal(y[:150], few_y)
    assert not np.array_equal(X[synthetic.BLOCK :], X[:100])


def test_one_concept_and_a_tenth_of_the_labels_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, noisy = synthetic.make(10_000, 4)
    monkeypatch.setattr(synthetic, "NOISE", 0.0)
    same_X, clean = synthetic.make(10_000, 4)
    assert np.array_equal(X, same_X)
    # Three standard deviations of a share of 10,000 coin tosses.
    assert np.mean(noisy != clean) == pytest.approx(0.1, abs=3 * np.sqrt(0.1 * 0.9 / 10_000))
    assert set(np.unique(noisy)) == {0, 1, 2, 3}
    other_X, other = synthetic.make(10_000, 4, seed=1)
    assert not np.array_equal(X, other_X)
    # The same concept gives every class about the same share.
    assert np.bincount(clean) / 10_000 == pytest.approx(np.bincount(other) / 10_000, abs=0.02)


def test_runners_take_turns_and_a_failure_stops_nobody_else() -> None:
    turns = []

    def runner(name: str) -> Any:
        def run(watch: Any) -> dict[str, object]:
            turns.append(name)
            if name == "b":
                raise ValueError("broken\nin two lines")
            watch.record("work", timing.Lap(float(len(turns)), 1.0))
            return {"last": len(turns)}

        return run

    results = timing.race({name: runner(name) for name in "abc"}, repeats=3)
    assert turns == ["a", "b", "c", "a", "c", "a", "c"]
    assert results["b"].error == "ValueError: broken"
    assert results["a"].best() == timing.Lap(1.0, 1.0)
    assert results["c"].parts == {"work": timing.Lap(3.0, 1.0)}
    assert results["c"].facts == {"last": 7}


def test_patience_ends_after_one_long_round() -> None:
    def run(watch: Any) -> dict[str, object]:
        watch.record("work", timing.Lap(1.0, 9.0))
        return {}

    assert len(timing.race({"slow": run}, repeats=3, patience=8.0)["slow"].rounds) == 1
    assert len(timing.race({"slow": run}, repeats=3, patience=10.0)["slow"].rounds) == 3


def test_extra_parts_stay_out_of_the_total() -> None:
    watch = timing.Stopwatch()
    watch.record("fit", timing.Lap(2.0, 3.0))
    watch.record("grow", timing.Lap(1.0, 1.0), extra=True)
    assert watch.total == timing.Lap(2.0, 3.0)
    assert list(watch.parts) == ["fit", "grow"]


def test_grow_prints_a_line_a_peer_and_the_summary() -> None:
    *records, summary = speed(
        "grow", "--rows", "400", "--depth", "3", "--repeats", "1", "--peers", "sklearn,histgb"
    )
    assert [record["peer"] for record in records] == [
        "sklearn-entropy",
        "sklearn-gini",
        "sklearn-binned",
        "histgb",
    ]
    assert all(1 < record["leaves"] <= 8 for record in records)
    for record in records:
        assert record["cpu"] == pytest.approx(sum(lap["cpu"] for lap in record["parts"].values()), rel=1e-2)
    assert summary["seconds"] == {record["peer"]: record["cpu"] for record in records}
    assert summary["ratios"] == {}  # nothing to compare with: we did not run
    assert summary["measure"] == "cpu"
    assert "numpy" in summary["machine"]["versions"]


def test_the_table_of_frontiers_is_what_was_measured() -> None:
    *records, summary = speed("frontiers", "--nodes", "1000", "--repeats", "8")
    assert [(r["classes"], r["peer"]) for r in records] == [
        (k, peer) for k in (2, 5) for peer in ("hornbeam", "threads", "sequential")
    ]
    assert all(ratio["sequential"] > 10 for ratio in summary["ratios"].values())
    lines = "".join(json.dumps(line) + "\n" for line in [*records, summary])
    command = [sys.executable, "-m", "benchmarks.speed.frontiers"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    header, _, *rows = [line.split(" | ") for line in done.stdout.splitlines()]
    assert header == ["| nodes", "classes", "node by node", "1 thread", "2 threads", "whole call |"]
    for row, k in zip(rows, (2, 5), strict=True):
        ours, threads, one_by_one = [r["parts"] for r in records if r["classes"] == k]
        assert row[:2] == ["| 1,000", str(k)]
        laps = one_by_one["judge"], ours["judge"], threads["judge"], ours["whole"]
        for cell, lap in zip(row[2:], laps, strict=True):
            wall, cpu = cell.removesuffix(" |").rstrip(")").split(" (")
            assert float(wall) == pytest.approx(1e3 * lap["wall"], rel=0.06)  # two digits
            assert float(cpu) == pytest.approx(1e3 * lap["cpu"], rel=0.06)


def test_an_unknown_peer_is_refused_with_the_known_names() -> None:
    command = [sys.executable, "-m", "benchmarks.speed", "grow", "--peers", "nosuch"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no peer is called 'nosuch'; there are hornbeam, " in done.stderr
