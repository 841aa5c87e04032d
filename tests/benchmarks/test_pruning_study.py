"""The pruning study end to end on a small set; costs and ratios against numbers worked out by hand."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hornbeam.pruning import BayesRisk
from hornbeam.recipe import PRESETS
from hornbeam.smoothing import Laplace

pytest.importorskip("matplotlib", reason="reports of a study have figures: they need the extra plots")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

from benchmarks.quality.studies import pruning, trade_off  # noqa: E402
from benchmarks.quality.studies.cache import Cache, Result  # noqa: E402
from benchmarks.quality.studies.costs import matrices, priced, realised, seen_matrices  # noqa: E402
from benchmarks.quality.studies.methods import Group, Outcome  # noqa: E402
from benchmarks.quality.studies.pruners import PRUNERS, Grown, pruned_family  # noqa: E402
from benchmarks.quality.studies.report import Line, Scores  # noqa: E402
from benchmarks.quality.studies.sets import Entry, Fold, StudySet, index, load  # noqa: E402


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A noisy mixed set of three classes, with missing values."""
    folder = tmp_path_factory.mktemp("sets")
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 90)).round(2)
    frame = pd.DataFrame({"a": a, "b": b, "c": pd.Categorical(rng.choice(["u", "v", "w"], 90))})
    frame.loc[::11, "b"] = np.nan
    said = np.where(rng.random(90) < 0.25, rng.integers(3, size=90), np.minimum(a * 3, 2).astype(int))
    frame["target"] = pd.Categorical.from_codes(said, ["low", "mid", "high"])
    frame.to_parquet(folder / "noisy.parquet")
    lines = "name,n_instances,n_classes,file\nnoisy,90,3,noisy.parquet\n"
    (folder / "index.csv").write_text(lines)
    return folder


@pytest.fixture(scope="module")
def fold(data: Path) -> Fold:
    (entry,) = index(data)
    return Fold(load(entry), 0)


def of_classes(*y: int) -> Fold:
    """The first fold of a set whose features do not matter."""
    codes = np.array(y)
    names = tuple(map(str, range(max(y) + 1)))
    return Fold(StudySet("any", pd.DataFrame({"a": np.arange(len(codes))}), codes, names), 0)


def study(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "benchmarks.quality.study", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_runs_and_reports(data: Path, tmp_path: Path) -> None:
    cache, out = tmp_path / "cache", tmp_path / "out"
    methods = "hornbeam/default,hornbeam/every-leaf,pet/unpruned*,pet/bayes-risk-hgs-rare,c4.5"
    where = ("--data", data, "--cache", cache)
    assert "30 of 30 tasks to run" in study("pruning", *where, "--jobs", "1", "--methods", methods)
    assert "1 sets in" in study("report", "pruning", *where, "--out", out)
    with (out / "scores.csv").open() as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    whole, default = rows["hornbeam/every-leaf"], rows["hornbeam/default"]
    assert whole["leaves"] == rows["pet/unpruned"]["leaves"], "the same tree"
    assert float(default["leaves"]) < float(whole["leaves"])
    assert float(rows["pet/unpruned+hgs"]["rmse"]) < float(rows["pet/unpruned"]["rmse"]), "noise"
    assert float(default["cost_rare_cheapest"]) > 0
    assert rows["cart/unpruned"]["reason"] == "not run yet"
    summary = (out / "summary.md").read_text(encoding="utf-8")
    assert "RMSE of hornbeam/default against c4.5/error-based-raised+hgs: " in summary
    tables = [part.partition("\n## ")[0] for part in summary.split("## Costs: ")[1:]]
    assert ["| pet/bayes-risk-hgs-rare |" in table for table in tables] == [True, False, False]
    assert (out / "sizes.png").stat().st_size > 5000


def test_every_way_gives_a_tree_no_larger_and_smoothing_keeps_its_shape(fold: Fold) -> None:
    group = pruned_family("pet", pruning.RECIPES["pet"], PRUNERS)
    found = {outcome.method: outcome for outcome in group.run(fold, frozenset(group.methods))}
    assert tuple(found) == group.methods
    most = found["unpruned"].leaves
    for name in PRUNERS:
        raw, smoothed = found[name], found[f"{name}+hgs"]
        assert (raw.leaves, raw.depth) == (smoothed.leaves, smoothed.depth)
        assert raw.leaves <= most
        assert smoothed.probabilities.min() > 0
    assert found["error-based"].leaves < most
    assert found["cost-complexity-1se"].leaves <= found["cost-complexity-cv"].leaves


def test_minimum_error_is_bayes_risk_by_laplace_with_equal_costs(fold: Fold) -> None:
    grown = Grown(pruning.RECIPES["pet"], fold)
    ours, _ = PRUNERS["minimum-error"](grown)
    assert ours.digest == BayesRisk(estimate=Laplace())(grown.tree[0]).digest


def test_reduced_error_holds_out_a_third_of_the_training_rows(fold: Fold) -> None:
    tree, _ = PRUNERS["reduced-error"](Grown(PRESETS["cart"], fold))
    assert tree.rows[0] == pytest.approx(len(fold.train) * 2 / 3, abs=1)


def test_matrices_by_their_rules() -> None:
    fold = of_classes(*[0] * 20, *[1] * 10, *[2] * 10)
    assert np.bincount(fold.y_train).tolist() == [18, 9, 9]
    found = matrices(fold)
    # 36 training rows: 36 / (3 * 18) and 36 / (3 * 9)
    assert found["rare"] == pytest.approx(np.array([[0, 2 / 3, 2 / 3], [4 / 3, 0, 4 / 3], [4 / 3, 4 / 3, 0]]))
    assert found["ordered"].tolist() == [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]]
    drawn = found["random"]
    assert set(drawn[~np.eye(3, dtype=bool)]) <= {i / 10 for i in range(1, 11)}
    assert np.array_equal(drawn, matrices(of_classes(*[0] * 20, *[1] * 10, *[2] * 10))["random"])
    assert drawn.diagonal().tolist() == [0, 0, 0]


def test_a_class_without_training_rows_is_priced_but_unknown_to_trees() -> None:
    fold = next(
        f for i in range(10) if len((f := Fold(of_classes(*[0] * 12, *[1] * 11, 2).data, i)).seen) == 2
    )
    assert matrices(fold)["rare"][2, 0] == pytest.approx(len(fold.train) / 3), "as if it had one row"
    assert seen_matrices(fold)["ordered"].tolist() == [[0, 0.5], [0.5, 0]]


def test_what_decisions_cost() -> None:
    fold = of_classes(*[0] * 30, *[1] * 10)
    assert fold.y_test.tolist() == [0, 0, 0, 1]
    # Of 36 rows 27 and 9: to miss the second class costs 2, the first 2 / 3, so 0.3 is enough for the second.
    said = np.array([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6], [0.7, 0.3]])
    costs = realised(fold, said)
    assert costs["rare/likeliest"] == pytest.approx(2 / 3 + 2)
    assert costs["rare/cheapest"] == pytest.approx(2 * 2 / 3)
    assert costs["ordered/likeliest"] == costs["ordered/cheapest"] == 2
    group = Group("any", ("a", "b"), lambda *_: iter([Outcome("a", said), Outcome("b", None, reason="no")]))
    priced_a, priced_b = priced(group).run(fold, frozenset("ab"))
    assert priced_a.costs == costs
    assert not priced_b.costs


def test_results_from_before_there_were_costs_are_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    path = cache.path("set", "group", 0)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"old": {"tally": None, "seconds": 1.0, "size": 3, "reason": None}}))
    cache.add("set", "group", 0, {"new": Result(None, leaves=2, depth=1, costs={"rare/cheapest": 0.5})})
    found = cache.read("set", "group", 0)
    assert (found["old"].size, found["old"].leaves, found["old"].costs) == (3, None, {})
    assert (found["new"].leaves, found["new"].costs) == (2, {"rare/cheapest": 0.5})


def test_ratios_of_leaves() -> None:
    entries = tuple(Entry(name, Path(), 100, 2) for name in "ab")
    sizes = {("a", "x"): 2.0, ("a", trade_off.WHOLE): 8.0, ("b", "x"): 100.0, ("b", trade_off.WHOLE): 100.0}
    methods = ("x", trade_off.WHOLE)
    lines = tuple(Line(e, m, None, 0.0, 0.0, "", leaves=sizes[e.name, m]) for e in entries for m in methods)
    leaves = Scores(entries, methods, lines).table("leaves", trade_off.MORE["leaves"])
    assert trade_off.leaf_ratios(leaves, "x") == pytest.approx((0.625, 0.5, 102 / 108))
