"""The page on the pruning note has the tables and figures of the committed results."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.pages import page
from benchmarks.quality import paper_frontier
from benchmarks.quality.comparison import lines
from benchmarks.quality.studies.families import RECIPES
from benchmarks.quality.studies.pruners import Grown
from benchmarks.quality.studies.sets import Fold, StudySet
from benchmarks.speed.pruning import random_tree

from hornbeam.pruning import BayesRisk, MinimumError
from support.worked_trees import star

WHOLE = "unpruned"


@pytest.fixture(scope="module")
def text() -> str:
    return paper_frontier.PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def tables() -> dict[str, str]:
    return paper_frontier.tables()


def test_the_page_has_the_tables_of_the_files(text: str, tables: dict[str, str]) -> None:
    assert all(table in text for table in tables.values())
    assert page(text, **tables) == text


def test_the_summary_has_them_too_with_the_command(tables: dict[str, str]) -> None:
    summary = (paper_frontier.OUT / "summary.md").read_text(encoding="utf-8")
    assert all(table in summary for table in tables.values())
    assert paper_frontier.COMMAND in summary


def test_what_the_page_says_in_words(words: str) -> None:
    found = paper_frontier.read()
    nodes, errors, rmse = found["nodes"], found["0_1_loss"], found["rmse"]
    whole = nodes.of(WHOLE)
    assert f"## On {len(nodes.sets)} data sets" in words
    for reading in ("per-example", "bayes"):
        assert (nodes.of(f"{reading}-strict-raw") == whole).all(), "the theorem"
    assert (nodes.of("per-example-ties-raw") == whole).all(), "no such split was grown"
    note = errors.record("per-example-strict-laplace", WHOLE)
    assert f"on {note.wins} sets, more on {note.losses} (p = {note.p:.0e})" in words
    assert f"on {note.wins} sets against {note.losses}" in words
    assert nodes.of("per-example-strict-laplace").mean() / whole.mean() == pytest.approx(0.5, abs=0.05)
    assert nodes.of("rate-ties-raw").mean() == pytest.approx(8, abs=0.5)
    assert errors.of("rate-ties-raw").mean() / errors.of(WHOLE).mean() > 1.8, "nearly double"
    ours, cheapest = "per-example-strict-laplace", "bayes-ties-laplace"
    assert f"still fewer: {errors.record('error-based', ours)} against the note's rule" in words
    assert f"about the same, {errors.record(cheapest, ours)}." in words
    left = [f"{nodes.of(way).mean():.0f}" for way in (cheapest, ours)]
    assert f"{left[0]} nodes are left, not {left[1]}" in words
    assert nodes.of("per-example-ties-laplace").mean() > 0.98 * nodes.of(ours).mean(), "a few nodes"
    assert f"the largest has {whole.max():,.0f} nodes" in words
    factor = np.median(whole / (found["depth"].of(WHOLE) + 1))
    assert f"a factor of {factor:.1f}" in words
    for way in paper_frontier.WAYS:
        if "strict-raw" not in way and not way.startswith("per-example-ties-raw") and way != WHOLE:
            frequencies, smoothed = (rmse.record(way + after, WHOLE + after) for after in ("", "+hgs"))
            assert (frequencies.wins > frequencies.losses) == (not way.startswith("rate"))
            assert smoothed.wins < smoothed.losses


def test_what_the_page_says_of_times(words: str) -> None:
    records = [line for line in lines("speed/prune-frontiers.jsonl") if "parts" in line]
    per_node = {
        (line["peer"], line["classes"]): line["parts"]["judge"]["wall"] / line["nodes"] for line in records
    }  # of the largest tree, which comes last
    assert f"{1e6 * per_node['sequential', 5]:.0f} µs for a node of five classes" in words
    assert f"it takes {1e9 * per_node['hornbeam', 5]:.0f} ns" in words
    ratios = [line["cpu_2"] / line["cpu_1"] for line in lines("frontier/threads.jsonl")]
    assert max(ratios) < 8 / 7, "at most a seventh"
    walls = {
        (line["peer"], line["classes"], line["nodes"]): line["parts"]["judge"]["wall"] for line in records
    }
    sizes = sorted({nodes for _, _, nodes in walls})
    for classes in (2, 5):
        level, faster = (
            walls["hornbeam", classes, nodes] / walls["threads", classes, nodes] for nodes in sizes[-2:]
        )
        assert 0.97 < level < 1.03
        assert 1.25 <= round(faster, 2) < 1.45


def test_simulated_cores_are_as_fast_as_measured_ones(words: str) -> None:
    """Memory is not in the simulation, so it is not what keeps two threads from being twice as fast."""
    measured = {
        (line["peer"], line["classes"]): line["parts"]["judge"]["wall"]
        for line in lines("speed/prune-frontiers.jsonl")
        if "parts" in line and line["nodes"] > 500_000
    }
    for line in lines("frontier/cores.jsonl")[2:]:
        faster = measured["hornbeam", line["classes"]] / measured["threads", line["classes"]]
        assert line["seconds"]["1"] / line["seconds"]["2"] == pytest.approx(faster, abs=0.15)
    sizes = np.diff(random_tree(1_000_000, 2).skeleton.levels)
    assert sizes[sizes < 2 * 16_384].sum() / sizes.sum() == pytest.approx(1 / 6, abs=0.01)
    assert "a sixth of a million nodes" in words


def test_some_sets_in_a_folder_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    monkeypatch.setattr(paper_frontier, "TURNS", 1)
    monkeypatch.setattr(paper_frontier, "NODES", 2_000)
    before = (paper_frontier.OUT / "summary.md").read_bytes()
    index = ["name,n_instances,n_classes,file", *(f"{name},60,2,{name}.parquet" for name in ("one", "two"))]
    (tmp_path / "index.csv").write_text("\n".join(index) + "\n")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.random((60, 2)).round(2), columns=["a", "b"])
    frame["target"] = pd.Categorical(np.where(rng.random(60) < frame["a"], "yes", "no"))
    frame.to_parquet(tmp_path / "two.parquet")
    folders = {"data": tmp_path, "cache": tmp_path / "cache", "out": tmp_path / "out"}
    options = [word for name, path in folders.items() for word in (f"--{name}", str(path))]
    paper_frontier.main([*options, "--sets", "two"])
    assert "| 1 sets |" in capsys.readouterr().out
    assert paper_frontier.read(tmp_path / "out")["nodes"].sets == ("two",)
    assert (paper_frontier.OUT / "summary.md").read_bytes() == before


def test_a_reading_by_hand(tables: dict[str, str]) -> None:
    row = next(line for line in tables["readings"].splitlines() if line.startswith("| C4.5"))
    numbers = [cell.strip() for cell in row.split("|")][4:8]
    scores = pd.read_csv(paper_frontier.OUT / "scores.csv")
    ours, whole = (
        scores[scores.method == f"c4.4/{name}"].set_index("set") for name in ("error-based", WHOLE)
    )
    assert numbers == [
        f"{ours.nodes.mean():,.0f}",
        f"{(ours.nodes / whole.nodes).median():.2f}",
        f"{(ours.nodes < whole.nodes).sum()}",
        f"{ours['0_1_loss'].mean():.4f}",
    ]


def test_costs_for_which_the_theorem_fails(words: str) -> None:
    leaves = [[int(n) for n in found.split(", ")] for found in re.findall(r"\((\d, \d, \d)\)", words)[:2]]
    tree = star(np.array(leaves))
    costs = np.zeros((3, 3))
    costs[0, 1] = costs[1, 0] = 1
    assert BayesRisk(costs, reading="per-example", strict=True)(tree).n_nodes == 1
    assert "has 2/3, which is less" in words
    n = tree.evidence[0]
    assert sum(n[i] * costs[i, j] * n[j] / n.sum() for i in range(3) for j in range(3)) == pytest.approx(
        2 / 3
    )


def test_the_ways_on_a_small_set() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: pd.Categorical(rng.choice(list("uvw"), 120)) for name in "abc"})
    y = np.where(rng.random(120) < 0.3, rng.integers(0, 2, 120), X["a"] == "u").astype(np.intp)
    grown = Grown(RECIPES["c4.4"], Fold(StudySet("noise", X, y, ("no", "yes")), 0))
    trees = {name: way(grown)[0] for name, way in paper_frontier.WAYS.items()}
    sizes = {name: tree.n_nodes for name, tree in trees.items()}
    assert sizes["per-example-strict-raw"] == sizes["bayes-strict-raw"] == sizes[WHOLE]
    assert sizes["bayes-ties-laplace"] < sizes[WHOLE]
    assert sizes["rate-ties-laplace"] == 1
    assert trees["bayes-ties-laplace"].n_nodes == MinimumError()(trees[WHOLE]).n_nodes
