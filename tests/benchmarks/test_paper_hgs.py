"""The page of the HGS paper has what the committed scores have; its parts by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="the command draws figures: it needs the extra plots")

from benchmarks.data import fetch
from benchmarks.output import read_csv
from benchmarks.pages import page
from benchmarks.quality import paper_hgs
from benchmarks.quality.studies import paper_claims, paper_methods, paper_tables
from benchmarks.quality.studies.families import RECIPES
from benchmarks.quality.studies.paper_claims import Verdict
from benchmarks.quality.studies.paper_tables import HGS, OUT, Paper
from benchmarks.quality.studies.sets import Fold, StudySet

from hornbeam.evaluation import Comparison
from hornbeam.evaluation.comparison import WinDrawLoss


@pytest.fixture(scope="module")
def paper() -> Paper:
    return Paper.read()


def test_the_page_has_the_tables_of_the_files(paper):
    text = paper_hgs.PAGE.read_text(encoding="utf-8")
    tables = paper_hgs.tables(paper)
    assert page(text, **tables) == text
    assert all(table in text for table in tables.values())


def test_the_summary_has_the_same_tables(paper):
    text = (OUT / "summary.md").read_text(encoding="utf-8")
    assert all(table in text for table in paper_hgs.tables(paper).values())


def test_the_six_methods_are_the_published_ones(paper):
    assert paper_methods.SIX.names == tuple(
        f"c4.4/{name}" for name in ("raw", "laplace", "m-estimate", "m-branch", "hgs", "hdp")
    )
    assert set(paper.scores.methods) == set(paper_methods.SIX.names) == set(paper_tables.TITLES)
    assert RECIPES["c4.4"].grower.missing == "own"
    assert len(paper.scores.entries) >= 144
    assert all(line.tally for line in paper.scores.lines), "no method left a set out"


def test_a_record_counted_line_by_line(paper):
    """Table 1 against HDP, from the file without any of the code between."""
    rmse = {(row["set"], row["method"]): round(float(row["rmse"]), 4) for row in read_csv(OUT / "scores.csv")}
    pairs = [(rmse[name, HGS], rmse[name, "c4.4/hdp"]) for name in {name for name, _ in rmse}]
    wins, losses = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    p = WinDrawLoss(wins, 0, losses).p
    row = next(line for line in paper_tables.table1(paper).splitlines() if line.startswith("| HDP"))
    shown = f"{p:.0e}" if p < 0.001 else f"{p:.3f}".lstrip("0")
    assert f"| {wins}-{len(pairs) - wins - losses}-{losses} (p = {shown}) |" in row


def test_ties_share_the_best():
    losses = Comparison(("a", "b"), ("x", "y", "z"), np.array([[0.1, 0.1], [0.2, 0.3], [0.50001, 0.5]]))
    assert paper_tables.best_counts(losses) == {"a": 3, "b": 2}
    assert paper_tables.best_counts(losses, alone=True) == {"a": 1, "b": 0}


def test_strata_are_those_of_the_paper(paper):
    large, medium, small, rare, others = paper_tables.strata(paper).values()
    assert (large.astype(int) + medium + small == 1).all()
    assert (rare ^ others).all()
    names = [entry.name for entry in paper.scores.entries]
    assert large[names.index("letter")]  # 20,000 rows
    assert medium[names.index("credit-g")]  # 1,000 rows
    assert rare[names.index("hypothyroid")]  # two of 3,772 rows


def test_larger_sets_are_counted_by_size_only(paper):
    every, rows = paper.with_large
    assert len(every.sets) == len(rows) == 151
    assert len(paper.rmse.sets) == 144, "not in the other tables"
    line = {(row["set"], row["method"]): float(row["rmse"]) for row in read_csv(OUT / "large.csv")}
    place = every.sets.index("adult")
    assert rows[place] == 48_842
    assert every.of(HGS)[place] == pytest.approx(line["adult", HGS])
    assert (
        paper_tables.by_size(paper)
        .splitlines()[2]
        .startswith("| more than 10,000, with the larger sets | 21 |")
    )


def test_the_forest_is_its_trees_minus_their_variance(paper):
    """An identity of the Brier score, in every recorded line."""
    for line in paper.diversity.lines:
        assert line.costs["tree_brier"] - line.costs["variance"] == pytest.approx(
            line.tally.brier_score, abs=2e-6
        )


def test_variance_and_brier_scores_row_by_row():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((60, 3)), columns=list("abc"))
    fold = Fold(StudySet("toy", X, rng.integers(2, size=60).astype(np.intp), ("n", "y")), 0)
    raw, smoothed = paper_methods.diversity(fold, frozenset(paper_methods.FORESTS))
    for outcome in (raw, smoothed):
        brier = ((outcome.probabilities - np.eye(2)[fold.y_test]) ** 2).sum()
        assert outcome.costs["tree_brier"] - outcome.costs["variance"] == pytest.approx(brier)
    assert smoothed.costs["variance"] < raw.costs["variance"]


def test_a_claim_that_the_sources_refute(paper):
    """J48's pruned tree has better raw probabilities than the unpruned one, and smoothing beats both."""
    claim = paper_claims.pruning_hurts_probabilities(paper)
    assert "mean .2598 pruned and .2691 unpruned" in claim.here
    assert claim.verdict == Verdict.PARTLY
    assert paper_claims.smoothing_beats_pruning(paper).verdict == Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("records", "verdict"),
    [
        ([(15, 0, 3), (20, 1, 4)], Verdict.CONFIRMED),
        ([(15, 0, 3), (9, 0, 8)], Verdict.PARTLY),
        ([(15, 0, 3), (3, 0, 15)], Verdict.PARTLY),
        ([(9, 0, 8), (12, 0, 8)], Verdict.OPEN),
        ([(9, 0, 8), (3, 0, 15)], Verdict.REFUTED),
    ],
)
def test_a_verdict_is_that_of_its_p_values(records, verdict):
    """15-3 has p = .008, 12-8 p = .50, 9-8 p = 1."""
    assert Verdict.better(*(WinDrawLoss(*record) for record in records)) == verdict


def test_without_data_and_network_the_command_says_what_to_do(tmp_path: Path, monkeypatch):
    def unreachable(*_: object, **__: object) -> None:
        raise fetch.NoNetworkError("archive.example cannot be reached: no route")

    monkeypatch.setattr(paper_hgs, "fetch", unreachable)
    with pytest.raises(SystemExit, match=r"cannot be reached: no route\. Give a folder .* --data DIR"):
        paper_hgs.main(["--out", str(tmp_path)])
    with pytest.raises(SystemExit, match="does not exist: give the folder with the data sets"):
        paper_hgs.main(["--data", str(tmp_path), "--out", str(tmp_path)])


def test_without_data_only_what_is_run_is_fetched(tmp_path: Path, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(paper_hgs, "fetch", lambda folder, names: asked.extend(names) or list(names))
    monkeypatch.setattr(paper_hgs, "HERE", tmp_path)
    for most_rows, n_sets in ((paper_hgs.USUAL_ROWS, 144), (10**9, 157)):
        asked.clear()
        with pytest.raises(SystemExit, match="no data set could be taken"):
            paper_hgs.fetched(None, most_rows)
        assert len(asked) == n_sets


def test_one_command_from_sets_to_tables(tmp_path: Path):
    """Two small sets of our own: everything is run, and a second call runs nothing."""
    rng = np.random.default_rng(1)
    lines = ["name,n_instances,n_classes,file"]
    for name, n_rows in (("one", 60), ("two", 90)):
        frame = pd.DataFrame(rng.random((n_rows, 2)).round(2), columns=["a", "b"])
        frame["target"] = pd.Categorical(np.where(rng.random(n_rows) < frame["a"], "yes", "no"))
        frame.to_parquet(tmp_path / f"{name}.parquet")
        lines.append(f"{name},{n_rows},2,{name}.parquet")
    (tmp_path / "index.csv").write_text("\n".join(lines) + "\n")
    folders = ["--data", tmp_path, "--cache", tmp_path / "cache", "--out", tmp_path / "out"]
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.quality.paper_hgs", *map(str, folders)]
    first, again = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2))
    assert first.stdout.count("2 sets, 20 of 20 tasks to run") == 4
    assert again.stdout.count("2 sets, 0 of 20 tasks to run") == 4
    paper = Paper.read(tmp_path / "out")
    assert paper.rmse.record(HGS, "c4.4/raw").wins == 2, "noise: raw leaves are too sure"
    assert str(tmp_path) not in (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")


def test_every_claim_has_a_verdict_on_at_least_144_sets(paper):
    rows = paper_claims.claims(paper).splitlines()[2:]
    assert len(rows) == len(paper_claims.CLAIMS)
    assert all(row.split(" | ")[2] in set(Verdict) for row in rows)
    assert "nan" not in paper_claims.claims(paper)


def test_figures_are_drawn(paper, tmp_path: Path):
    from benchmarks.quality.studies import paper_figures
    from matplotlib import pyplot

    paper_figures.draw(paper, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"figure2.png", "figure3.png", "figure4.png"}
    pyplot.close("all")
    ax = paper_figures.figure2(paper)
    stars, circles = ax.collections[:2]
    order = np.argsort(-paper.rows, kind="stable")
    below = int((circles.get_offsets()[:, 1] < 0).sum())
    assert below == int((paper.rmse.of(HGS) < paper.rmse.of("c4.4/hdp")).sum())
    assert stars.get_offsets()[0, 1] == pytest.approx(
        (paper.rmse.of(HGS) - paper.rmse.of("c4.4/m-branch"))[order[0]]
    )
    pyplot.close("all")
