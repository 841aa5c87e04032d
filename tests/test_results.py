"""One protocol for what methods return: text, display, entries, columns and frames, of every documented class."""

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor, evaluation
from hornbeam import results as results_module
from hornbeam.errors import ParameterError
from hornbeam.evaluation.discrimination import roc_curve
from hornbeam.grid import Result
from hornbeam.pruning.cost_complexity import cost_complexity_path

DRAW = np.random.default_rng(0)
X = pd.DataFrame({"age": DRAW.normal(40, 9, 150).round(), "town": DRAW.choice(["a", "b", "c"], 150)})
NUMBER = X["age"] + 9 * (X["town"] == "b")
Y = np.where(NUMBER + DRAW.normal(0, 9, 150) > 44, "bad", "good")
CLF = TreeClassifier(max_leaf_nodes=5).fit(X, Y)
REG = TreeRegressor(max_leaf_nodes=5).fit(X, NUMBER)
COUNTED = TreeRegressor(max_leaf_nodes=5, distribution=True).fit(X, NUMBER)
RISK = CLF.predict_proba(X)[:, 0]


def made():
    """Return a result of each documented class; several where the columns differ."""
    smaller = TreeClassifier("cart", max_depth=1).fit(X, Y)
    return {
        "Leaves": [CLF.leaves(), REG.leaves(), CLF.leaves(positive="bad", by="risk")],
        "FiredRules": [hornbeam.RuleClassifier().fit(X, Y).explain(X[:7])],
        "Explanations": [CLF.explain(X[:7]), REG.explain(X[:7])],
        "RowDistributions": [COUNTED.predict_distribution(X[:5])],
        "ShapValues": [CLF.shap_values(X[:6]), REG.shap_values(X[:6])],
        "Counterfactuals": [CLF.counterfactuals(X[:9], n=2), REG.counterfactuals(X[:9], wanted=(50, None))],
        "Drift": [CLF.drift(X[:50]), CLF.drift(X[:50], Y[:50]), REG.drift(X[:50], NUMBER[:50])],
        "Unseen": [CLF.unseen(X[:50]), REG.unseen(X[:50])],
        "CandidateSplits": [CLF.candidate_splits(X, Y), REG.candidate_splits(X, NUMBER)],
        "Scorecard": [CLF.scorecard()],
        "RuleSet": [CLF.rules()],
        "SizePath": [CLF.size_path_, REG.size_path_],
        "CostComplexityPath": [cost_complexity_path(TreeClassifier("cart").fit(X, Y).tree_)],
        "Difference": [hornbeam.diff(CLF, smaller)],
        "LiftTable": [evaluation.lift_table(Y == "bad", RISK)],
        "ReliabilityCurve": [evaluation.reliability_curve(Y == "bad", RISK)],
        "RocCurve": [roc_curve(Y == "bad", RISK)],
        "KSStatistic": [evaluation.ks_statistic(Y == "bad", RISK)],
        "Scores": [evaluation.scores(CLF, X, Y), evaluation.scores(REG, X, NUMBER)],
        "ScoreChanges": [evaluation.score_changes(smaller, CLF, X, Y)],
        "ModelComparison": [
            evaluation.compare(Y, {"tree": RISK, "half": RISK / 2}, positive="bad", thresholds=0.5),
            evaluation.compare(Y, {"tree": RISK}, positive="bad", subgroups=X["town"]),
        ],
        "Stability": [
            evaluation.stability(model, X, y, n_refits=2) for model, y in ((CLF, Y), (REG, NUMBER))
        ],
        "Comparison": [evaluation.Comparison(("raw", "hgs"), ("a", "b"), np.array([[0.3, 0.2], [0.4, 0.1]]))],
    }


@pytest.fixture(scope="module")
def results():
    return made()


def test_every_name_is_a_table_an_entry_or_an_object_with_methods(results):
    tables = {name for name in results_module.__all__ if issubclass(getattr(results_module, name), Result)}
    entries = {type(one).__name__ for one in made_entries(results)} & set(results_module.__all__)
    others = {"Predictions", "Report", "TreeEditor", "Workbench"}
    assert tables | entries | others == set(results_module.__all__)
    assert tables | {"Comparison", "RocCurve"} == set(results)
    for name, several in results.items():
        assert {type(one).__name__ for one in several} == {name}


def made_entries(results):
    """Yield an entry of each table whose entries are no dicts, and of the lists inside entries."""
    editor = CLF.edit(X, Y)
    editor.prune(1, reason="too few rows", author="Ada")
    yield editor.edits[0]
    for result in (one for several in results.values() for one in several):
        first = result[0]
        yield from [] if isinstance(first, dict) else first if isinstance(first, tuple) else [first]
    yield from CLF.explain(X[:1])[0].reasons()


def test_an_entry_has_text_and_plain_values(results):
    for entry in made_entries(results):
        plain = entry.to_dict()
        assert type(plain) is dict
        assert len(plain) > 3
        json.dumps(plain, allow_nan=True, default=float)
        assert "object at 0x" not in str(entry)
        assert not str(entry).startswith(f"{type(entry).__name__}(")


def test_the_names_are_those_that_type_checkers_find():
    source = ast.parse(Path(results_module.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in source.body if isinstance(node, ast.If))
    listed = {alias.name: node.module for node in checked.body for alias in node.names}
    assert listed == results_module._MODULES
    assert sorted(listed) == results_module.__all__ == dir(results_module)
    assert all(inspect.isclass(getattr(results_module, name)) for name in listed)


def test_a_result_has_text_a_table_entries_columns_and_a_frame(results):
    for result in (one for several in results.values() for one in several):
        columns = result.to_dict()
        assert {len(column) for column in columns.values()} == {len(result)}, type(result)
        assert all(type(column) is list for column in columns.values())
        assert len(list(result)) == len(result) > 0
        assert len(result[:2]) == min(2, len(result))
        assert type(result[0]) is type(result[-1])
        assert str(result)
        assert "object at 0x" not in str(result) + repr(result)
        assert "<table" in result._repr_html_()
        for library, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
            shown = result.to_frame(library)
            assert type(shown) is frame
            assert shown.shape == (len(result), len(columns))
            assert list(shown.columns) == list(columns)


def test_the_entries_of_plain_tables_are_dicts():
    first, *_ = CLF.leaves()
    assert first["prediction"] in CLF.classes_
    assert first["p_bad"] == CLF.leaves().probability[0, 0]
    assert sum(leaf["rows"] for leaf in CLF.leaves()) == len(X)


def test_a_frame_is_of_the_library_of_the_rows():
    rows = pl.from_pandas(X[:5])
    for found in (
        CLF.explain(rows),
        CLF.shap_values(rows),
        CLF.counterfactuals(rows),
        CLF.unseen(rows),
        COUNTED.predict_distribution(rows),
    ):
        assert type(found.to_frame()) is pl.DataFrame
        assert type(found.to_frame("pandas")) is pd.DataFrame
    assert type(CLF.drift(rows).to_frame()) is pl.DataFrame
    smoothed = hornbeam.SmoothedClassifier().fit(X[["age"]], Y)
    assert type(smoothed.explain(pl.from_pandas(X[["age"]])).to_frame()) is pl.DataFrame
    assert type(CLF.explain(X[:5]).to_frame()) is pd.DataFrame
    assert type(CLF.leaves().to_frame()) is pd.DataFrame
    with pytest.raises(ParameterError, match="library='arrow': expected 'pandas', 'polars' or None"):
        CLF.leaves().to_frame("arrow")


def test_a_frame_of_scores_is_of_the_library_of_the_rows_or_of_their_classes():
    rows, y, positive = pl.from_pandas(X), pl.Series(Y), {"positive": "bad"}
    matrix = X[["age"]].to_numpy()
    simple = TreeClassifier("cart", max_depth=1).fit(matrix, Y)
    for found in (
        evaluation.scores(CLF, rows, Y),
        evaluation.scores(simple, matrix, y),
        evaluation.scores(REG, rows, NUMBER.to_numpy()),
        evaluation.score_changes(CLF, CLF, rows, Y),
        evaluation.reliability_curve(y, RISK, **positive),
        evaluation.reliability_curve(Y, pl.Series(RISK), **positive),
        evaluation.lift_table(y, RISK, **positive),
        evaluation.ks_statistic(y, RISK, **positive),
        evaluation.stability(simple, matrix, y, n_refits=2),
    ):
        assert type(found.to_frame()) is pl.DataFrame
    assert type(evaluation.scores(CLF, X, y).to_frame()) is pd.DataFrame


def test_the_columns_are_computed_once(results, monkeypatch):
    for result in (one for several in results.values() for one in several):
        kind, whole, entries = type(result), result[:], [*result]
        if kind.to_dict is Result.to_dict:
            continue
        with monkeypatch.context() as patched:
            patched.setattr(kind, "to_dict", lambda self: pytest.fail("the table is built again"))
            assert [str(result[at]) for at in range(-len(result), 0)] == [*map(str, entries)]
        assert [*map(str, whole)] == [*map(str, entries)]
        for wrong in (len(result), -len(result) - 1):
            with pytest.raises(IndexError):
                result[wrong]


def test_without_a_library_of_frames_the_error_names_the_extra():
    code = """
import sys
sys.modules |= {"pandas": None, "polars": None}
from hornbeam.errors import MissingExtraError
from hornbeam.storage.difference import Difference
try:
    Difference(settings=("max_depth: None, now 3",)).to_frame()
except MissingExtraError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        found.stdout.strip()
        == "A data frame needs pandas or polars. Install it: pip install 'hornbeam[frames]'."
    )


def test_a_tree_and_its_rules_print_as_text():
    assert str(CLF.tree_) == hornbeam.export.to_text(CLF.tree_)
    assert str(CLF.rules()) == CLF.rules().to_text()
    assert repr(CLF.tree_).startswith("Tree(")
    assert repr(CLF.rules()).startswith("RuleSet(")
