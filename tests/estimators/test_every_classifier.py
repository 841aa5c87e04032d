"""What every classifier has: base rates, costs, files of predictions, counts of unseen values."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError

import hornbeam
from hornbeam.errors import ParameterError, StorageError
from hornbeam.tree import Costs

rng = np.random.default_rng(0)
X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300), "c": rng.integers(0, 3, 300)})
Y = np.where(X.a + 0.5 * rng.normal(size=300) > 0.8, "ill", "well")
THREE = np.where(X.a > 0.8, "x", np.where(X.b > 0, "y", "z"))
RATES = {"ill": 0.6, "well": 0.4}
MATRIX = [[0.0, 30.0], [1.0, 0.0]]
ESTIMATORS = {
    "tree": hornbeam.TreeClassifier(max_depth=3),
    "forest": hornbeam.ForestClassifier(7),
    "boosted": hornbeam.BoostedTreesClassifier(n_estimators=5),
    "adaboost": hornbeam.AdaBoostClassifier(10, max_depth=2),
    "rules": hornbeam.RuleClassifier(),
    "smoothed": hornbeam.SmoothedClassifier(RandomForestClassifier(3, max_depth=3, random_state=0)),
}


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request):
    return ESTIMATORS[request.param].fit(X, Y)


def test_other_base_rates_move_the_probabilities_by_bayes_theorem(fitted):
    trained = np.array([(Y == "ill").mean(), (Y == "well").mean()])
    p = fitted.predict_proba(X)
    # A forest and a smoothed forest have the rates of their bootstrap samples.
    rough = 0.05 if isinstance(fitted, (hornbeam.ForestClassifier, hornbeam.SmoothedClassifier)) else 1e-9
    joint = p * [0.6, 0.4] / trained
    found = fitted.predict_proba(X, base_rates=RATES)
    assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), atol=rough)
    assert_array_equal(found, fitted.predict_proba(X, base_rates=[0.6, 0.4]))
    assert_array_equal(fitted.predict(X, base_rates=RATES), fitted.classes_[found.argmax(axis=1)])
    assert_allclose(np.exp(fitted.predict_log_proba(X, base_rates=RATES)), found)
    with pytest.raises(ParameterError, match="base_rates"):
        fitted.predict_proba(X, base_rates=[0.6, 0.6])


def test_costs_of_a_call_and_of_the_estimator_decide_alike(fitted):
    p, costs = fitted.predict_proba(X), {("ill", "well"): 30}
    expected = Costs(MATRIX).expected(p)
    assert_array_equal(fitted.expected_cost(X, costs=costs), expected)
    by_cost = fitted.classes_[expected.argmin(axis=1)]
    assert_array_equal(fitted.predict(X, costs=costs), by_cost)
    before = fitted.predict(X)
    assert (before != by_cost).any()
    try:
        assert_array_equal(fitted.set_costs(costs).predict(X), by_cost)
        assert_array_equal(fitted.expected_cost(X), expected)
        assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), by_cost)
    finally:
        assert_array_equal(fitted.set_costs(None).predict(X), before)
    assert_array_equal(fitted.predict_proba(X), p)
    with pytest.raises(ParameterError, match="sick"):
        fitted.set_costs({("sick", "well"): 2})


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_parameter_costs_decides_and_is_checked_by_fit(name):
    kind, parameters = type(ESTIMATORS[name]), ESTIMATORS[name].get_params(deep=False)
    clf = kind(**parameters | {"costs": MATRIX}).fit(X, Y)
    assert_array_equal(clf.predict(X), clf.predict(X, costs=MATRIX))
    assert (clf.predict(X) == "ill").mean() > (ESTIMATORS[name].fit(X, Y).predict(X) == "ill").mean()
    with pytest.raises(ParameterError, match="costs"):
        kind(**parameters | {"costs": [[0, 1]]}).fit(X, Y)


def test_a_file_has_the_model_and_its_costs(fitted, tmp_path):
    path = tmp_path / "model.hornbeam"
    for costs in (None, MATRIX):
        hornbeam.save(fitted.set_costs(costs), path)
        again = hornbeam.load(path)
        assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
        assert_array_equal(again.predict(X), fitted.predict(X))
        assert_array_equal(
            again.predict_proba(X, base_rates=RATES), fitted.predict_proba(X, base_rates=RATES)
        )
        assert not hornbeam.diff(fitted, again)
    fitted.set_costs(None)


def test_predictions_of_files_are_those_of_rows_in_memory(fitted, tmp_path):
    rows = tmp_path / "rows.parquet"
    X.to_parquet(rows, row_group_size=100)
    assert_array_equal(fitted.predict_proba(rows), fitted.predict_proba(X))
    assert_array_equal(fitted.predict(rows, base_rates=RATES), fitted.predict(X, base_rates=RATES))
    fitted.predict_to(rows, tmp_path / "from_file")
    fitted.predict_to(X, tmp_path / "from_memory")
    for folder in ("from_file", "from_memory"):
        written = pd.read_parquet(tmp_path / folder)
        assert written.prediction.astype(str).tolist() == fitted.predict(X).tolist()
        assert_array_equal(written[["p_ill", "p_well"]].to_numpy(), fitted.predict_proba(X))


def test_missing_values_are_counted(fitted):
    rows = X[:4].copy()
    rows.loc[0, "a"] = np.nan
    found = fitted.unseen(rows)
    assert (found.n_affected, found.missing.tolist()) == (0, [1, 0, 0])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_three_classes(name):
    clf = ESTIMATORS[name].fit(X, THREE)
    p = clf.predict_proba(X, base_rates=[0.2, 0.3, 0.5])
    assert p.shape == (300, 3)
    assert_allclose(p.sum(axis=1), 1)
    assert clf.expected_cost(X).shape == (300, 3)
    ESTIMATORS[name].fit(X, Y)


def test_boosting_from_another_model_does_not_know_the_base_rates():
    clf = hornbeam.BoostedTreesClassifier(n_estimators=3, init=hornbeam.ForestClassifier(30)).fit(X, Y)
    with pytest.raises(ParameterError, match="starts from another model"):
        clf.predict_proba(X, base_rates=RATES)
    assert_array_equal(clf.predict(X, costs=MATRIX), clf.set_costs(MATRIX).predict(X))


def test_rules_say_which_rule_decided(tmp_path):
    clf = ESTIMATORS["rules"].fit(X, Y)
    assert clf.rules() is clf.rules_
    found = clf.explain(X)
    assert [rule.prediction for rule in found] == clf.predict(X).tolist()
    at = clf.apply(X)
    expected = [position + 1 if position < len(clf.rules_) else None for position in at.tolist()]
    assert found.to_dict()["rule"] == expected
    assert str(found).splitlines()[0].startswith("row 0: ")
    clf.predict_to(X, tmp_path / "to", level=0.8, rule=True)
    written = pd.read_parquet(tmp_path / "to")
    low, high = clf.predict_interval(X, level=0.8)
    assert_array_equal(written[["low_ill", "low_well"]].to_numpy(), low)
    assert_array_equal(written[["high_ill", "high_well"]].to_numpy(), high)
    assert_array_equal(written.rule, at)
    with pytest.raises(StorageError, match="predictions"):
        clf.predict_to(X, tmp_path / "to")
    with pytest.raises(NotFittedError):
        hornbeam.RuleClassifier().rules()


def test_apply_of_forests_has_a_column_per_tree():
    for forest in (hornbeam.ForestClassifier(4).fit(X, Y), hornbeam.ForestRegressor(4).fit(X, X.a * X.b)):
        nodes = forest.apply(X)
        assert nodes.shape == (300, 4)
        mean = np.mean([tree.belief[nodes[:, i]] for i, tree in enumerate(forest.forest_.trees)], axis=0)
        expected = forest.predict_proba(X) if hasattr(forest, "classes_") else forest.predict(X)[:, None]
        if getattr(forest, "temperature_", 1.0) == 1.0:
            assert_allclose(mean, expected, atol=1e-12)


def test_a_loaded_smoothed_classifier_says_that_it_has_no_estimator(tmp_path):
    clf = ESTIMATORS["smoothed"].fit(X, Y)
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    again = hornbeam.load(tmp_path / "model.hornbeam")
    assert again.estimator == "RandomForestClassifier"
    assert_array_equal(again.feature_importances_, clf.feature_importances_)
    with pytest.raises(ParameterError, match="only the class name"):
        again.fit(X, Y)
