"""Scores of models of every kind: against scikit-learn, on rows in memory, in files and in sources."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError, HornbeamError, ParameterError
from hornbeam.evaluation import (
    brier_score,
    calibration_error,
    log_loss,
    mean_cost,
    probability_rmse,
    reliability_curve,
    scores,
)
from hornbeam.evaluation.calibration import curve_of_entries
from hornbeam.evaluation.model_scores import predicted_entries
from hornbeam.evaluation.scores import ScoreSums
from hornbeam.smoothing import Laplace
from hornbeam.tree.route import predict_rows
from support.examples import examples
from support.strategies_growing import bins_of, growers, random_table, training_tables

DRAW = np.random.default_rng(0)
X = pd.DataFrame({"age": DRAW.normal(40, 9, 300).round(), "town": DRAW.choice(["a", "b", "c"], 300)})
NUMBER = X["age"].to_numpy() + 9.0 * (X["town"] == "b").to_numpy() + DRAW.normal(0, 5, 300)
Y = np.where(NUMBER > 44, "bad", "good")
WEIGHT = DRAW.integers(0, 4, 300).astype(float)
NEW = slice(200, None)
CLASSIFIERS = {
    "tree": hornbeam.TreeClassifier(max_leaf_nodes=6),
    "costs": hornbeam.TreeClassifier(max_leaf_nodes=6, costs={("bad", "good"): 5}),
    "balanced": hornbeam.TreeClassifier(max_leaf_nodes=6, class_weight={"bad": 4}),
    "fractional": hornbeam.TreeClassifier("c4.5"),
    "forest": hornbeam.ForestClassifier(5, random_state=0),
    "boosted": hornbeam.BoostedTreesClassifier(n_estimators=5),
    "rules": hornbeam.RuleClassifier(),
}
REGRESSORS = {
    "tree": hornbeam.TreeRegressor(max_leaf_nodes=6),
    "forest": hornbeam.ForestRegressor(5, random_state=0),
    "boosted": hornbeam.BoostedTreesRegressor(n_estimators=5),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    rows = X.assign(y=Y, number=NUMBER, weight=WEIGHT)[NEW]
    for at, part in enumerate((rows[:30], rows[30:])):
        part.to_parquet(folder / f"{at}.parquet", row_group_size=17)
    return str(folder)


def check_equal(one, other):
    assert one.n_rows == other.n_rows
    assert one.model == pytest.approx(other.model, nan_ok=True)
    assert one.baseline == pytest.approx(other.baseline, nan_ok=True)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_scores_of_a_classifier_are_those_of_its_predictions(name, weight):
    clf = CLASSIFIERS[name].fit(X[:200], Y[:200])
    y, w = Y[NEW], None if weight is None else weight[NEW]
    p, decided = clf.predict_proba(X[NEW]), clf.predict(X[NEW])
    found = scores(clf, X[NEW], y, sample_weight=w)
    assert found.n_rows == 100 if weight is None else int((w > 0).sum())
    expected = {
        "log_loss": log_loss(y, p, sample_weight=w),
        "brier_score": brier_score(y, p, sample_weight=w),
        "probability_rmse": probability_rmse(y, p, sample_weight=w),
        "zero_one_loss": metrics.zero_one_loss(y, decided, sample_weight=w),
        "calibration_error": calibration_error(y, p, sample_weight=w),
    }
    share = np.average(y == "bad", weights=w)
    base = np.tile([share, 1 - share], (100, 1))
    always = np.full(100, "bad" if share > 0.5 or name == "costs" else "good")
    blind = {
        "log_loss": metrics.log_loss(y, base, sample_weight=w),
        "brier_score": 2 * share * (1 - share),
        "probability_rmse": np.sqrt(share * (1 - share)),
        "zero_one_loss": metrics.zero_one_loss(y, always, sample_weight=w),
        "calibration_error": 0.0,
    }
    if name == "costs":
        costs = {("bad", "good"): 5}
        expected = {"mean_cost": mean_cost(y, decided, costs=costs, sample_weight=w)} | expected
        blind["mean_cost"] = mean_cost(y, always, costs=costs, sample_weight=w)
    assert found.model == pytest.approx(expected)
    assert found.baseline == pytest.approx(blind, abs=1e-12)
    assert list(found.model) == list(found.baseline) == list(expected)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_scores_of_a_regressor_are_those_of_scikit_learn(name, weight):
    reg = REGRESSORS[name].fit(X[:200], NUMBER[:200])
    y, w, said = NUMBER[NEW], None if weight is None else weight[NEW], reg.predict(X[NEW])
    found = scores(reg, X[NEW], y, sample_weight=w)
    always = np.full(100, np.average(y, weights=w))
    for scored, predicted in ((found.model, said), (found.baseline, always)):
        assert scored == pytest.approx(
            {
                "rmse": metrics.root_mean_squared_error(y, predicted, sample_weight=w),
                "mae": metrics.mean_absolute_error(y, predicted, sample_weight=w),
                "r2": metrics.r2_score(y, predicted, sample_weight=w),
            },
            abs=1e-12,
        )
    assert np.isnan(scores(reg, X[:2], [1.0, 1.0]).model["r2"])


@pytest.mark.parametrize("name", [*CLASSIFIERS, *(f"{name} of numbers" for name in REGRESSORS)])
def test_rows_in_files_have_the_scores_of_rows_in_memory(name, files):
    target = "y" if name in CLASSIFIERS else "number"
    y = Y if target == "y" else NUMBER
    model = CLASSIFIERS[name] if name in CLASSIFIERS else REGRESSORS[name.split()[0]]
    model = model.fit(X[:200], y[:200])
    in_memory = scores(model, X[NEW], y[NEW])
    check_equal(scores(model, files, target), in_memory)
    again = scores(model, files, target, engine=LocalEngine(2, 3, reverse=True))
    assert again.model == scores(model, files, target).model  # exactly
    weighted = scores(model, files, target, sample_weight="weight")
    check_equal(weighted, scores(model, X[NEW], y[NEW], sample_weight=WEIGHT[NEW]))
    search = GridSearchCV(model, {"random_state": [0]}, cv=2) if name == "tree" else None
    if search is not None:
        check_equal(scores(search.fit(X[:200], y[:200]), files, target), in_memory)


def test_a_bare_tree_and_models_of_scikit_learn_are_scored():
    clf, reg = CLASSIFIERS["costs"].fit(X, Y), REGRESSORS["tree"].fit(X, NUMBER)
    check_equal(scores(clf.tree_, X, Y), scores(clf, X, Y))
    check_equal(scores(reg.tree_, X, NUMBER), scores(reg, X, NUMBER))
    age = X[["age"]]
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(age, Y)
    assert scores(pipeline, age, Y).model["log_loss"] == pytest.approx(
        metrics.log_loss(Y, pipeline.predict_proba(age))
    )
    smoothed = hornbeam.SmoothedClassifier(DecisionTreeClassifier(max_depth=3)).fit(age, Y)
    assert scores(smoothed, age, Y).model["log_loss"] == pytest.approx(
        log_loss(Y, smoothed.predict_proba(age))
    )
    line = LinearRegression().fit(age, NUMBER)
    assert scores(line, age, NUMBER).model["r2"] == pytest.approx(line.score(age, NUMBER))


@examples(100)
@given(st.data())
def test_scores_of_sources_equal_scores_of_rows(data):
    table = data.draw(training_tables(max_rows=80))
    some = table.slice(0, max(1, table.n_rows // 2))
    tree = Laplace()(data.draw(growers(table)).grow(some, bins_of(some)))
    source = MemorySource(table, data.draw(st.sampled_from([1, 7, 1000])))
    expected = ScoreSums.of(
        table.target,
        predict_rows(tree, table),
        labels=range(tree.n_classes),
        sample_weight=table.row_weights,
    )
    found = scores(tree, source)
    for name in ("log_loss", "brier_score", "zero_one_loss", "calibration_error"):
        assert found.model[name] == pytest.approx(getattr(expected, name), rel=1e-9, abs=1e-9)
    assert scores(tree, source, engine=LocalEngine(2, 5, reverse=True)).model == found.model


def test_the_curve_of_a_source_equals_the_curve_of_rows():
    table = random_table(2, n_rows=500, weights="real", n_classes=3)
    clf = hornbeam.TreeClassifier().fit(MemorySource(table.slice(0, 300)))
    label, entries = predicted_entries(clf, MemorySource(table, 90), None, positive=1)
    curve = curve_of_entries(entries.observed, entries.p, entries.weight, entries.squares, n_bins=5)
    p = predict_rows(clf.tree_, table)[:, 1]
    expected = reliability_curve(table.target == 1, p, n_bins=5, sample_weight=table.row_weights)
    assert label == 1
    for name in ("predicted", "observed", "low", "high", "weight"):
        np.testing.assert_allclose(getattr(curve, name), getattr(expected, name))


def test_wrong_models_and_rows_are_refused(files):
    clf = CLASSIFIERS["tree"].fit(X[:200], Y[:200])
    ranker = hornbeam.BoostedTreesRanker(n_estimators=2).fit(X, Y == "bad", query=np.zeros(300))
    table = Table.read(X, Y, schema=clf.tree_.schema)
    for model, words in {
        "a text": "without predict",
        hornbeam.TreeClassifier(): "not fitted",
        LogisticRegression(): "not fitted",
        LinearSVC().fit(X[["age"]], Y): "without predict_proba",
        ranker: "neither classes nor numbers",
    }.items():
        with pytest.raises(ParameterError, match=words):
            scores(model, X, Y)
    with pytest.raises(ParameterError, match="expected a model of Hornbeam"):
        scores(LogisticRegression().fit(X[["age"]], Y), files, "y")
    with pytest.raises(ParameterError, match="Pass pipeline"):
        scores(make_pipeline(StandardScaler(), hornbeam.TreeClassifier()).fit(X[["age"]], Y), files, "y")
    with pytest.raises(DataError, match="y is None"):
        scores(clf, X)
    with pytest.raises(DataError, match="class 'ugly', which is not among"):
        scores(clf, X[:2], ["bad", "ugly"])
    with pytest.raises(DataError, match="class 1, which is not among"):
        scores(clf, X[:2], [1, 0])
    with pytest.raises(DataError, match="at least one to score"):
        scores(clf, X[:2], Y[:2], sample_weight=[0, 0])
    with pytest.raises(DataError, match="no rows"):
        scores(clf, MemorySource(table.slice(0, 0)))
    with pytest.raises(HornbeamError):
        scores(clf, files, "number")
    with pytest.raises(HornbeamError):
        scores(clf, X[["age"]], Y)
    with pytest.raises(HornbeamError):
        scores(clf, X, Y[:-1])


def test_mean_cost():
    y, decided = ["ill", "well", "well", "ill"], ["well", "well", "ill", "ill"]
    costs = {("ill", "well"): 20}
    assert mean_cost(y, decided, costs=costs) == 21 / 4
    assert mean_cost(y, decided, costs=costs, sample_weight=[1, 1, 0, 2]) == 20 / 4
    assert mean_cost(y, decided, costs=[[0, 20], [1, 0]]) == 21 / 4
    assert mean_cost(y, decided, costs=[[0, 1], [20, 0]], labels=["well", "ill"]) == 21 / 4
    assert mean_cost(y, decided, costs=None) == 1 / 2
    assert mean_cost(["well"], ["well"], costs=costs) == 0.0
    assert mean_cost([1, 0], [0, 0], costs=[[[0, 1], [9, 0]], [[7, 1], [1, 0]]]) == 8.0
    for wrong in ({"costs": [[0, 1]]}, {"costs": {"ill": 3}}, {"costs": costs, "labels": ["a", "b"]}):
        with pytest.raises(HornbeamError):
            mean_cost(y, decided, **wrong)
    with pytest.raises(DataError, match="4 true classes beside 1 decisions"):
        mean_cost(y, ["ill"], costs=costs)
    with pytest.raises(DataError, match="0 in all rows"):
        mean_cost(y, decided, costs=costs, sample_weight=[0] * 4)
