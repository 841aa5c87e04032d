"""Forests: as good as scikit-learn's, with frames, weights, missing values, copies and searches."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score, brier_score_loss, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from hornbeam import ForestClassifier, ForestRegressor
from hornbeam.data.table import Table
from hornbeam.ensembles import Forest
from hornbeam.ensembles.prediction import mean_prediction
from hornbeam.ensembles.temperature import choose_temperature
from hornbeam.errors import ParameterError, TreeError
from hornbeam.evaluation import log_loss, probability_rmse
from hornbeam.smoothing import HGS, Laplace

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
IRIS = load_iris(return_X_y=True)


def brier(forest):
    """Mean over three forests: single ones vary by 4 %."""
    predictions = [
        cross_val_predict(forest(30, random_state=seed), *CANCER, cv=5, method="predict_proba")
        for seed in range(3)
    ]
    return np.mean([brier_score_loss(CANCER[1], predicted[:, 1]) for predicted in predictions])


def test_probabilities_are_as_good_as_those_of_scikit_learns_forest():
    assert brier(ForestClassifier) < 1.05 * brier(RandomForestClassifier)


def test_means_are_as_good_as_those_of_scikit_learns_forest():
    ours = r2_score(DIABETES[1], cross_val_predict(ForestRegressor(30), *DIABETES, cv=5))
    theirs = r2_score(
        DIABETES[1], cross_val_predict(RandomForestRegressor(30, random_state=0), *DIABETES, cv=5)
    )
    assert ours > theirs - 0.02


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
def test_threads_change_nothing(n_jobs):
    one = ForestClassifier(25, oob_score=True).fit(*CANCER)
    many = ForestClassifier(25, oob_score=True, n_jobs=n_jobs).fit(*CANCER)
    assert many.forest_.digest == one.forest_.digest
    np.testing.assert_array_equal(many.oob_decision_function_, one.oob_decision_function_)
    np.testing.assert_array_equal(many.predict_proba(CANCER[0]), one.predict_proba(CANCER[0]))


# ---- out of bag


def test_the_out_of_bag_score_predicts_the_test_score():
    X, X_new, y, y_new = train_test_split(*CANCER, random_state=0, test_size=0.5)
    clf = ForestClassifier(oob_score=True).fit(X, y)
    assert clf.oob_score_ == accuracy_score(y, clf.classes_[clf.oob_decision_function_.argmax(axis=1)])
    assert abs(clf.oob_score_ - clf.score(X_new, y_new)) < 0.03
    reg = ForestRegressor(oob_score=True).fit(*DIABETES)
    assert reg.oob_score_ == pytest.approx(r2_score(DIABETES[1], reg.oob_prediction_))
    assert 0.35 < reg.oob_score_ < 0.5


def test_rows_in_every_bootstrap_sample_warn():
    with pytest.warns(UserWarning, match=r"rows do not have OOB scores.*max_samples"):
        clf = ForestClassifier(2, oob_score=True).fit(*IRIS)
    assert 0 < np.isnan(clf.oob_decision_function_[:, 0]).sum() < 150
    assert 0.8 < clf.oob_score_ < 1.0


def test_smoothing_is_chosen_out_of_bag_or_passed():
    assert ForestClassifier(10, smoothing=None).fit(*IRIS).smoother_ is None
    assert ForestClassifier(10, smoothing="laplace").fit(*IRIS).smoother_ == Laplace()
    chosen = ForestClassifier(1).fit(*DIABETES_CLASSES)
    assert chosen.smoother_ is not None  # needed, because full trees overfit noisy rows
    assert (chosen.predict_proba(DIABETES[0]) > 0).all()
    passed = ForestClassifier(3, smoothing=HGS(2.0)).fit(*IRIS)
    assert [tree.history[-1].name for tree in passed.forest_.trees] == ["hgs"] * 3
    assert ForestRegressor(3, smoothing="hierarchical-shrinkage").fit(*DIABETES).smoother_ is not None


DIABETES_CLASSES = DIABETES[0], DIABETES[1] > np.median(DIABETES[1])


# ---- importance --------------------------------------------------------------------------------------


def test_importance_equals_that_of_scikit_learn_for_equal_trees():
    """One tree of all rows and features, on values without ties: both libraries find the same splits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=300) > 0
    settings = {"criterion": "gini", "max_features": None, "max_bins": None, "smoothing": None}
    ours = ForestClassifier(1, bootstrap=False, max_depth=3, **settings).fit(X, y)
    theirs = DecisionTreeClassifier(max_depth=3).fit(X, y)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)


def test_permutation_importance_finds_the_relevant_features():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 1] > 0, "yes", "no")
    clf = ForestClassifier(20).fit(X, y)
    found = permutation_importance(clf, X, y, n_repeats=3, random_state=0).importances_mean
    assert found.argmax() == clf.feature_importances_.argmax() == 1
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


# ---- temperature


@pytest.mark.parametrize("data", [CANCER, IRIS], ids=["cancer", "iris"])
def test_the_temperature_is_chosen_out_of_bag(data):
    clf = ForestClassifier(oob_score=True).fit(*data)
    assert clf.temperature_ == clf.forest_.temperature == round(clf.temperature_, 3) < 1.0
    # Out-of-bag predictions have the temperature already, so another one is not chosen.
    assert choose_temperature(clf.oob_decision_function_, data[1]) == pytest.approx(1.0, abs=2e-3)
    assert ForestClassifier(n_jobs=3).fit(*data).temperature_ == clf.temperature_


def test_the_temperature_improves_test_probabilities():
    X, X_new, y, y_new = train_test_split(*load_digits(return_X_y=True), random_state=0, test_size=0.5)
    clf = ForestClassifier(30).fit(X, y)
    p, before = clf.predict_proba(X_new), replace(clf.forest_, temperature=1.0)
    plain = before.predict(Table.read(X_new, schema=before.schema))
    assert probability_rmse(y_new, p) < 0.8 * probability_rmse(y_new, plain)
    assert log_loss(y_new, p) < 0.6 * log_loss(y_new, plain)
    assert (p.argmax(axis=1) == plain.argmax(axis=1)).all()


def test_regression_forests_have_no_temperature():
    forest = ForestRegressor(5).fit(*DIABETES).forest_
    assert forest.temperature == 1.0
    with pytest.raises(TreeError, match="expected 1 for a numeric target"):
        replace(forest, temperature=0.5)


@pytest.mark.parametrize(
    "settings", [{"smoothing": None}, {"smoothing": "hgs"}, {"smoothing": Laplace()}, {"bootstrap": False}]
)
def test_without_a_choice_out_of_bag_the_temperature_is_one(settings):
    clf = ForestClassifier(5, **settings).fit(*IRIS)
    assert clf.temperature_ == 1.0
    trees = mean_prediction(clf.forest_.trees, Table.read(IRIS[0], schema=clf.forest_.schema))
    np.testing.assert_array_equal(clf.predict_proba(IRIS[0]), trees)


def test_decisions_use_the_class_weights_and_the_final_probabilities():
    clf = ForestClassifier(20, class_weight={0: 1, 1: 6}, oob_score=True).fit(*CANCER)
    assert clf.temperature_ != 1.0
    np.testing.assert_array_equal(
        clf.predict(CANCER[0]), (clf.predict_proba(CANCER[0]) * [1, 6]).argmax(axis=1)
    )
    decided = (clf.oob_decision_function_ * [1, 6]).argmax(axis=1)
    assert clf.oob_score_ == accuracy_score(CANCER[1], decided)


def test_constraints_hold_at_any_temperature():
    X, y = CANCER
    clf = ForestClassifier(20, monotonic_cst=[-1, *[0] * 29]).fit(X, y)
    assert clf.temperature_ != 1.0
    rows = np.repeat(X[:20], 30, axis=0)
    rows[:, 0] = np.tile(np.linspace(X[:, 0].min(), X[:, 0].max(), 30), 20)
    assert (np.diff(clf.predict_proba(rows)[:, 1].reshape(20, 30), axis=1) <= 1e-9).all()


# ---- kinds of data


@pytest.mark.parametrize("missing", ["own", "learned", "fractional"])
@pytest.mark.parametrize("nominal", ["subset", "multiway"])
def test_frames_with_categories_and_missing_values(missing, nominal):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"dose": rng.normal(size=300), "drug": rng.choice(["a", "b", "c"], 300)})
    y = np.where((frame["drug"] == "b") | (frame["dose"] > 1), "ill", "well")
    frame.loc[rng.random(300) < 0.1, "dose"] = np.nan
    frame.loc[rng.random(300) < 0.1, "drug"] = None
    clf = ForestClassifier(10, missing=missing, nominal_split=nominal).fit(frame, y)
    assert clf.score(frame, y) > 0.9
    assert clf.feature_names_in_.tolist() == ["dose", "drug"]
    p = clf.predict_proba(pd.DataFrame({"dose": [np.nan, 0.0], "drug": [None, "never seen"]}))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_class_weights_change_decisions_and_keep_probabilities_calibrated():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 2))
    y = rng.random(2000) < 0.1 / (1 + np.exp(-X[:, 0]))
    plain, heavy = (
        ForestClassifier(30, min_samples_leaf=20, class_weight=w).fit(X, y) for w in (None, {True: 20})
    )
    assert plain.predict(X).mean() < 0.02
    assert heavy.predict(X).mean() > 0.3
    assert abs(heavy.predict_proba(X)[:, 1].mean() - y.mean()) < 0.01


def test_constraints_hold_for_the_mean_of_trees():
    X, y = DIABETES
    reg = ForestRegressor(10, monotonic_cst=[0, 0, 1, *[0] * 7]).fit(X, y)
    rows = np.repeat(X[:20], 30, axis=0)
    rows[:, 2] = np.tile(np.linspace(-0.1, 0.15, 30), 20)
    assert (np.diff(reg.predict(rows).reshape(20, 30), axis=1) >= -1e-9).all()


# ---- composition with scikit-learn


def test_copies_and_pickles_predict_the_same():
    clf = ForestClassifier(5, random_state=4).fit(*IRIS)
    again = pickle.loads(pickle.dumps(clf))
    assert again.forest_.digest == clf.forest_.digest
    assert clone(clf).fit(*IRIS).forest_.digest == clf.forest_.digest


def test_a_grid_search_over_forests():
    grid = {"n_estimators": [1, 10], "max_features": ["sqrt", 1.0], "criterion": ["gini", "entropy"]}
    search = GridSearchCV(ForestClassifier(), grid, cv=3, scoring="neg_brier_score").fit(*CANCER)
    assert search.best_params_["n_estimators"] == 10


def test_an_unfitted_forest_raises_not_fitted():
    with pytest.raises(NotFittedError):
        ForestClassifier().predict(IRIS[0])
    with pytest.raises(NotFittedError):
        _ = ForestRegressor().feature_importances_
    with pytest.raises(NotFittedError):
        _ = ForestClassifier().temperature_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0: expected a whole number of trees"),
        ({"max_features": "square"}, "max_features='square': expected 'sqrt', 'log2'"),
        ({"max_features": 0}, "max_features=0: expected"),
        ({"max_features": 1.5}, "max_features=1.5: expected"),
        ({"max_samples": "half"}, "max_samples='half': expected a whole number of rows"),
        ({"max_samples": 1.5}, "max_samples=1.5: expected"),
        ({"smoothing": "cross-fitted"}, "smoothing='cross-fitted': expected one of 'auto', 'out-of-bag'"),
        ({"smoothing": "out-of-bag", "bootstrap": False}, "with bootstrap=False there are no such rows"),
        ({"oob_score": True, "bootstrap": False}, "with bootstrap=False there are no such rows"),
        ({"criterion": "squared_error"}, "criterion='squared_error': expected one of"),
        ({"bootstrap": "no"}, "bootstrap='no': expected True or False"),
        ({"oob_score": "yes"}, "oob_score='yes': expected True or False"),
    ],
)
def test_wrong_parameters_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        ForestClassifier(**settings).fit(*IRIS)


@pytest.mark.parametrize(
    ("max_features", "n"), [("sqrt", 5), ("log2", 4), (7, 7), (99, 30), (0.25, 7), (1.0, 30), (None, None)]
)
def test_max_features_is_that_of_scikit_learn(max_features, n):
    tree = ForestClassifier(1, max_features=max_features, max_depth=1).fit(*CANCER).forest_.trees[0]
    assert dict(tree.history[0].parameters)["max_features"] == n


@pytest.mark.parametrize("forest", [ForestClassifier, ForestRegressor])
def test_a_fit_without_out_of_bag_scores_removes_those_of_the_last_fit(forest):
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    model = forest(n_estimators=30, oob_score=True).fit(X, y)
    assert hasattr(model, "oob_score_")
    model.set_params(oob_score=False).fit(X, y)
    assert not [name for name in vars(model) if name.startswith("oob_") and name.endswith("_")]


@pytest.mark.parametrize("bootstrap", [True, False])
def test_hard_voting_averages_votes(bootstrap, tmp_path):
    X, y = load_wine(return_X_y=True)
    settings = {"n_estimators": 25, "min_samples_leaf": 8, "bootstrap": bootstrap, "oob_score": bootstrap}
    soft = ForestClassifier(**settings, smoothing=None).fit(X, y)
    hard = ForestClassifier(**settings, voting="hard").fit(X, y)
    each = [Forest((tree,)).predict(X).argmax(axis=1) for tree in soft.forest_.trees]
    votes = np.stack([np.bincount(of_row, minlength=3) for of_row in np.transpose(each)]) / 25
    np.testing.assert_allclose(hard.predict_proba(X), votes, atol=1e-12)
    assert (hard.smoother_, hard.temperature_) == (None, 1.0)
    if bootstrap:
        predicted = hard.oob_decision_function_
        assert ((predicted == 0) | (predicted >= 1 / 25)).all(), "votes of at most 25 trees"
        assert (predicted != soft.oob_decision_function_).any()
    hornbeam.save(hard, tmp_path / "forest.hornbeam")
    again = hornbeam.load(tmp_path / "forest.hornbeam")
    assert (again.voting, again.forest_.digest) == ("hard", hard.forest_.digest)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"voting": "majority"}, "voting='majority': expected one of 'soft', 'hard'"),
        ({"voting": None}, "voting=None: expected one of"),
        (
            {"voting": "hard", "smoothing": "laplace"},
            "smoothing='laplace': expected 'auto' or None with voting='hard'",
        ),
    ],
)
def test_wrong_votes_are_told(parameters, message):
    with pytest.raises(ParameterError, match=message):
        ForestClassifier(2, **parameters).fit([[0.0], [1.0]], [0, 1])
