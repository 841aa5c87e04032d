"""The study end to end on two small sets; what it computes faster than the obvious way is checked against that."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from hornbeam.data.table import Table
from hornbeam.pruning import CostComplexity
from hornbeam.pruning.cost_complexity import cost_complexity_path
from hornbeam.recipe import PRESETS
from hornbeam.tree.route import predict_rows

pytest.importorskip("matplotlib", reason="reports of a study have figures: they need the extra plots")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

from benchmarks.quality.studies import choice, forest  # noqa: E402
from benchmarks.quality.studies.cache import Cache, Result  # noqa: E402
from benchmarks.quality.studies.report import NOT_RUN, Known, Line, Scores  # noqa: E402
from benchmarks.quality.studies.sets import Entry, Fold, index, load  # noqa: E402

METHODS = "hornbeam/default,cart/raw,cart/hgs-gradient,cart/hdp,cart/shrinkage-cv,cart/cost-complexity-*,sklearn/tree*"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A numeric set of two classes; a mixed one with missing values and a class of a single row."""
    folder = tmp_path_factory.mktemp("sets")
    rng = np.random.default_rng(0)
    x = rng.random((80, 2)).round(3)
    two = pd.DataFrame(x, columns=["a", "b"])
    two["target"] = pd.Categorical(np.where(rng.random(80) < x[:, 0], "yes", "no"))
    mixed = pd.DataFrame({"a": rng.random(60).round(2), "c": pd.Categorical(rng.choice(["u", "v", "w"], 60))})
    mixed.loc[::7, "a"] = np.nan
    mixed.loc[3::9, "c"] = np.nan
    mixed["target"] = pd.Categorical(np.append(rng.choice(["x", "y"], 59), "z"))
    lines = ["name,n_instances,n_numeric,n_nominal,n_classes,has_missing,file"]
    for name, frame in {"two": two, "mixed": mixed}.items():
        frame.to_parquet(folder / f"{name}.parquet")
        lines.append(f"{name},{len(frame)},1,1,{frame.target.nunique()},true,{name}.parquet")
    (folder / "index.csv").write_text("\n".join(lines) + "\n")
    return folder


def study(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "benchmarks.quality.study", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def test_runs_resumes_and_reports(data: Path, tmp_path: Path) -> None:
    cache, out = tmp_path / "cache", tmp_path / "out"
    run = ("smoothing", "--data", data, "--cache", cache, "--methods", METHODS)
    first = study(*run)
    assert "60 of 60 tasks to run" in first
    assert first.index("mixed: done") < first.index("two: done"), "smallest sets first"
    (cache / "two" / "cart.3.json").unlink()
    assert "1 of 60 tasks to run" in study(*run, "--jobs", "1"), "only what is missing"

    assert "2 sets in" in study("report", "smoothing", "--data", data, "--cache", cache, "--out", out)
    with (out / "scores.csv").open() as file:
        rows = {(row["set"], row["method"]): row for row in csv.DictReader(file)}
    for name, n_rows in (("two", "80"), ("mixed", "60")):
        raw, hgs = rows[name, "cart/raw"], rows[name, "cart/hgs-gradient"]
        assert raw["rows"] == n_rows
        assert float(hgs["rmse"]) < float(raw["rmse"]), "noise: raw frequencies of pure leaves are too sure"
        assert rows[name, "ydf/cart"]["reason"] == "not run yet"
    summary = (out / "summary.md").read_text(encoding="utf-8")
    assert "| cart/hgs-gradient |" in summary
    assert str(data) not in summary, "where the folders lie is nobody's business"
    drawn = sorted(path.name for path in out.glob("*.png"))
    assert drawn == ["critical-difference.png", "times.png"], "the others need methods not run"


def test_reports_without_the_default_tree(data: Path, tmp_path: Path) -> None:
    """Only methods of the HGS paper: no records of the default, and no sentences about it."""
    cache, out = tmp_path / "cache", tmp_path / "out"
    methods = "c4.4/raw,c4.4/hgs-gradient"
    study("smoothing", "--data", data, "--cache", cache, "--methods", methods, "--jobs", "1")
    study("report", "smoothing", "--data", data, "--cache", cache, "--out", out)
    summary = (out / "summary.md").read_text(encoding="utf-8")
    assert "- c4.4/hgs-gradient against c4.4/raw: 2-0-0" in summary
    rows = [line for line in summary.splitlines() if line.startswith("| hornbeam/default |")]
    assert [line.split(" | ")[1] for line in rows] == ["not run yet"], "only among the gaps"
    assert "nan and nan" not in summary


def test_scores_are_read_as_they_were_written(tmp_path: Path) -> None:
    entry = Entry("a", Path(), 30, 2)
    known = Known(0.3, 0.5, 0.18, 0.25, 0.05)
    lines = (
        Line(entry, "g/one", known, 0.5, 7.0, "", steps=12.0, costs={"variance": 0.125}),
        Line(entry, "g/two", None, np.nan, np.nan, "too slow"),
    )
    scores = Scores((entry,), ("g/one", "g/two"), lines)
    more = {"steps": lambda line: line.steps, "variance": lambda line: line.costs.get("variance", np.nan)}
    scores.write_csv(tmp_path / "scores.csv", more)
    read = Scores.read_csv(tmp_path / "scores.csv")
    assert read.methods == scores.methods
    one, two = read.lines
    assert (one.tally, one.steps, one.costs) == (known, 12.0, {"variance": 0.125})
    assert (one.seconds, one.size) == (0.5, 7.0)
    assert (two.tally, two.reason, two.costs) == (None, "too slow", {})


def test_kept_are_the_sets_and_methods_that_were_not_run_again(tmp_path: Path) -> None:
    old, new = (Known(rmse, 0.5, 0.18, 0.25, 0.05) for rmse in (0.3, 0.2))
    small, large = Entry("a", Path(), 30, 2), Entry("b", Path(), 60, 2)

    def line(entry: Entry, method: str, known: Known | None) -> Line:
        return Line(entry, method, known, np.nan, np.nan, "" if known else NOT_RUN)

    methods = ("g/one", "g/two")
    earlier = Scores((small, large), methods, tuple(line(e, m, old) for e in (small, large) for m in methods))
    earlier.write_csv(tmp_path / "scores.csv")
    run = Scores((large,), methods, (line(large, "g/one", None), line(large, "g/two", new)))
    kept = run.keep(tmp_path / "scores.csv", [])
    assert [entry.name for entry in kept.entries] == ["a", "b"]
    np.testing.assert_array_equal(kept.comparison("RMSE").losses, [[0.3, 0.3], [0.3, 0.2]])


def test_too_slow_is_a_result_and_the_other_folds_are_spared(data: Path, tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(BENCHMARKS.parent)!r})
import numpy as np
from benchmarks.quality.studies import runner
from benchmarks.quality.studies.cache import Cache
from benchmarks.quality.studies.methods import Group, Outcome
from benchmarks.quality.studies.sets import index

def run(fold, wanted):
    yield Outcome("quick", np.full((len(fold.test), fold.n_classes), 1 / fold.n_classes))
    while True:
        pass

group = Group("spin", ("quick", "endless"), run)
runner.register([group])
runner.Runner(Cache(Path({str(tmp_path)!r})), [group], frozenset(group.names), n_jobs=1, seconds=0.1, n_folds=2).run(
    index(Path({str(data)!r}), ["two"])
)
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=300)
    folds = [Cache(tmp_path).read("two", "spin", fold) for fold in range(2)]
    assert [(fold["endless"].reason or "")[:8] for fold in folds] == ["too slow"] * 2
    quick = folds[0]["quick"].tally
    assert quick is not None
    assert quick.rmse == pytest.approx(0.5)


def test_a_class_that_training_rows_lack_gets_probability_0(data: Path) -> None:
    (entry,) = index(data, ["mixed"])
    folds = [Fold(load(entry), number) for number in range(10)]
    (lacking,) = [fold for fold in folds if len(fold.seen) < 3]
    assert lacking.table(lacking.train).schema.classes == (0, 1)
    assert lacking.spread(np.array([[0.25, 0.75]])).tolist() == [[0.25, 0.75, 0.0]]
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(60))


def test_codes_of_missing_values(data: Path) -> None:
    (entry,) = index(data, ["mixed"])
    matrix, frame = load(entry).matrix, load(entry).X
    assert (np.isnan(matrix[:, 0]) == frame["a"].isna()).all()
    assert ((matrix[:, 1] == 3) == frame["c"].isna()).all()


def test_cache_adds_and_forgets(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.add("set", "group", 0, {"a": Result(None, reason="x")})
    cache.add("set", "group", 0, {"b": Result(None, 1.5, 7)})
    assert set(cache.read("set", "group", 0)) == {"a", "b"}
    cache.forget("group", frozenset({"a"}))
    assert cache.read("set", "group", 0)["b"].size == 7
    cache.forget("group", frozenset({"b"}))
    assert cache.read("set", "group", 0) == {}


@pytest.mark.parametrize("seed", range(20))
def test_alphas_are_chosen_as_if_tried_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((90, 3)).round(2)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (rng.random(90) < np.nan_to_num(X[:, 0], nan=0.5)).astype(int) + (np.nan_to_num(X[:, 1]) > 0.8)
    table, part = Table.read(X, y), np.arange(90) % choice.N_INNER
    kept, held = (
        [table.take(np.flatnonzero((part == i) == asked)) for i in range(3)] for asked in (False, True)
    )
    inner = choice.Inner(tuple(map(PRESETS["cart"].fit, kept)), tuple(held))
    tree = PRESETS["cart"].fit(table)
    path = cost_complexity_path(tree).alphas
    alphas = [*np.sqrt(path[:-1] * path[1:]).tolist(), float(path[-1])]
    errors = np.array([_errors(inner, CostComplexity(alpha)) for alpha in alphas])
    mean, error = errors.mean(axis=1).round(12), errors.std(axis=1) / len(y) ** 0.5
    best = np.flatnonzero(mean == mean.min())[-1]
    simple = np.flatnonzero(mean <= mean[best] + error[best])[-1]
    assert choice.choose_alpha(inner, tree) == (alphas[best], alphas[simple])


def _errors(inner: choice.Inner, pruner: CostComplexity) -> np.ndarray:
    """Squared error of every held-out row."""
    pairs = zip(inner.trees, inner.held_out, strict=True)
    said = [predict_rows(pruner(tree), rows) - np.eye(3)[rows.target] for tree, rows in pairs]
    return (np.concatenate(said) ** 2).sum(axis=1)


def test_first_trees_of_a_forest_are_the_smaller_forest() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.random((120, 4)), rng.integers(3, size=120)
    hundred, ten = (RandomForestClassifier(size, random_state=0).fit(X, y) for size in (100, 10))
    first = np.mean([tree.predict_proba(X) for tree in hundred.estimators_[:10]], axis=0)
    assert np.array_equal(first, ten.predict_proba(X)) or np.abs(first - ten.predict_proba(X)).max() < 1e-15
    for a, b in zip(hundred.estimators_[:10], ten.estimators_, strict=True):
        assert np.array_equal(a.tree_.threshold, b.tree_.threshold)


def test_smoothed_forest_trees_walk_by_walk() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.random((90, 3)), rng.integers(3, size=90)
    tree = RandomForestClassifier(1, random_state=0).fit(X, y).estimators_[0].tree_
    raw, smoothed = forest.frequencies(tree), forest.hgs(tree)

    def walk(node: int, above: list[int]) -> None:
        n = tree.weighted_n_node_samples[node]
        rows = raw[node] * n + 1 / 3 + sum((raw[a] for a in above), np.zeros(3))
        assert smoothed[node] == pytest.approx(rows / (n + 1 + len(above)))
        for child in (tree.children_left[node], tree.children_right[node]):
            if child >= 0:
                walk(child, [*above, node])

    walk(0, [])
