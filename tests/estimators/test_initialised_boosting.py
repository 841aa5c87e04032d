"""Boosting that starts from the predictions of another estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hornbeam
from hornbeam import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
)
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.losses import SquaredError
from hornbeam.errors import DataError, ParameterError, StorageError
from hornbeam.estimators.methods.initial_scores import InitialScores
from hornbeam.interop import trusted_types
from hornbeam.kernels.elementary import exp, log

X, Y = load_diabetes(return_X_y=True)
TRAIN, TEST = np.arange(len(Y)) % 2 == 0, np.arange(len(Y)) % 2 == 1


def test_squared_error_is_boosting_of_the_residuals():
    """Two models by hand: a linear one, and trees on its residuals without a mean of their own."""
    init = LinearRegression().fit(X[TRAIN], Y[TRAIN])
    residuals = Y[TRAIN] - init.predict(X[TRAIN])
    trees = BoostedTreesRegressor(n_estimators=10, early_stopping=False).fit(X[TRAIN], residuals)
    both = BoostedTreesRegressor(n_estimators=10, init=LinearRegression()).fit(X[TRAIN], Y[TRAIN])
    # The residuals of least squares have the mean 0, which is where the trees start.
    np.testing.assert_allclose(both.predict(X), init.predict(X) + trees.predict(X), rtol=1e-9)


def test_a_forest_is_boosted_from_its_out_of_bag_predictions():
    forest = ForestRegressor(oob_score=True).fit(X[TRAIN], Y[TRAIN])
    residuals = Y[TRAIN] - forest.oob_prediction_
    trees = BoostedTreesRegressor(n_estimators=1, learning_rate=1.0, max_leaf_nodes=2, early_stopping=False)
    both = clone(trees).set_params(init=ForestRegressor()).fit(X[TRAIN], Y[TRAIN])
    trees.fit(X[TRAIN], residuals)  # starts from the mean, and one step of rate 1 takes it away again
    np.testing.assert_allclose(both.predict(X), forest.predict(X) + trees.predict(X), rtol=1e-9)
    assert both.init_.oob_score
    assert not both.init.oob_score
    assert both.boosted_.start.tolist() == [0.0]


def test_few_rounds_after_a_forest_are_better_than_few_rounds():
    plain = BoostedTreesRegressor(n_estimators=5).fit(X[TRAIN], Y[TRAIN])
    after = BoostedTreesRegressor(n_estimators=5, init=ForestRegressor()).fit(X[TRAIN], Y[TRAIN])
    assert after.score(X[TEST], Y[TEST]) > plain.score(X[TEST], Y[TEST]) + 0.05


def test_training_predictions_would_leave_nothing_to_boost():
    """Why out of bag: full trees predict their own rows almost without error."""
    forest = ForestRegressor(oob_score=True).fit(X[TRAIN], Y[TRAIN])
    seen = np.mean((Y[TRAIN] - forest.predict(X[TRAIN])) ** 2)
    unseen = np.mean((Y[TRAIN] - forest.oob_prediction_) ** 2)
    assert unseen > 3 * seen
    assert unseen == pytest.approx(np.mean((Y[TEST] - forest.predict(X[TEST])) ** 2), rel=0.25)


def test_two_classes_start_from_log_odds():
    X, y = load_breast_cancer(return_X_y=True)
    linear = LogisticRegression(solver="liblinear")  # others warn with old scikit-learn and new SciPy
    init = make_pipeline(StandardScaler(), linear)
    both = BoostedTreesClassifier(n_estimators=3, init=init).fit(X, y)
    probability = np.maximum(clone(init).fit(X, y).predict_proba(X), 0.01)
    trees = both.decision_function(X) - np.log(probability[:, 1] / probability[:, 0])
    from_trees = both.boosted_.scores(Table.read(X, schema=both.boosted_.schema))[0]
    np.testing.assert_allclose(trees, from_trees, atol=1e-9)
    np.testing.assert_allclose(both.predict_proba(X)[:, 1], 1 / (1 + np.exp(-both.decision_function(X))))


def test_labels_of_several_classes():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["rose", "iris", "lily"])[y]
    both = BoostedTreesClassifier(n_estimators=2, init=ForestClassifier(30)).fit(X, labels)
    assert both.classes_.tolist() == ["iris", "lily", "rose"]
    assert both.score(X, labels) > 0.9
    scores = log(np.maximum(both.init_.predict_proba(X), 0.01))
    from_trees = both.boosted_.scores(Table.read(X, schema=both.boosted_.schema)).T
    np.testing.assert_allclose(both.decision_function(X), scores + from_trees, atol=1e-12)
    raised = exp(both.decision_function(X))
    np.testing.assert_allclose(both.predict_proba(X), raised / raised.sum(axis=1, keepdims=True))


def test_a_rate_starts_from_the_logarithm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = rng.poisson(np.exp(X[:, 0])).astype(float)
    both = BoostedTreesRegressor(
        loss="poisson", n_estimators=1, learning_rate=1e-9, init=TreeRegressor()
    ).fit(X, y)
    np.testing.assert_allclose(both.predict(X), np.maximum(both.init_.predict(X), 0.01 * y.mean()), rtol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_a_rate_of_zero_or_less_does_not_diverge(scale):
    """A straight line through counts is negative at one end, where Newton steps from a rate of 0 were huge."""
    rng = np.random.default_rng(1)
    X = rng.random((2000, 3))
    y = scale * rng.poisson(np.exp(4 * X[:, 0] - 3)).astype(float)
    both = BoostedTreesRegressor(loss="poisson", n_estimators=5, init=LinearRegression()).fit(X, y)
    assert both.init_.predict(X).min() < 0
    assert both.predict(X).min() > 0
    assert both.score(X, y) > LinearRegression().fit(X, y).score(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(both)).predict(X), both.predict(X))


@pytest.mark.parametrize("init", [RandomForestRegressor(2, random_state=0), ForestRegressor(2)])
@pytest.mark.filterwarnings("ignore:.*do not have OOB scores")
def test_rows_in_every_bootstrap_sample_have_ordinary_predictions(init):
    """The out-of-bag prediction of such a row is 0 in scikit-learn, and NaN here: neither is a prediction."""
    initial = InitialScores.fit(init, X, Y, None, SquaredError())
    absent = ~(np.nan_to_num(initial.estimator.oob_prediction_) > 0)
    assert absent.sum() > 50
    expected = np.where(absent, initial.estimator.predict(X), initial.estimator.oob_prediction_)
    np.testing.assert_array_equal(initial.scores[0], expected)


def test_init_is_fitted_to_the_labels():
    """Class weights of init name the labels of y, and so do its own predictions."""
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.array(["malignant", "benign"])[y]
    init = ForestClassifier(25, class_weight={"benign": 1, "malignant": 5})
    both = BoostedTreesClassifier(n_estimators=2, init=init).fit(X, labels)
    assert both.init_.classes_.tolist() == both.classes_.tolist() == ["benign", "malignant"]
    assert set(both.init_.predict(X)) == set(labels)


@pytest.mark.parametrize("known", [["iris", "lily"], [0, 1, 2]])
def test_frozen_init_of_other_classes(known):
    X, y = load_iris(return_X_y=True)
    some = y < len(known)
    frozen = FrozenEstimator(GaussianNB().fit(X[some], np.array(known)[y[some]]))
    message = r"fitted to the classes \[.*expected those of y, \[.*'rose'.*Pass an init"
    with pytest.raises(ParameterError, match=message):
        BoostedTreesClassifier(init=frozen).fit(X, np.array(["iris", "lily", "rose"])[y])


def test_same_trees_for_any_threads_and_order():
    digests = set()
    for n_jobs, order in ((1, np.arange(221)), (3, np.random.default_rng(0).permutation(221))):
        both = BoostedTreesRegressor(n_estimators=5, n_jobs=n_jobs, init=ForestRegressor(20, n_jobs=n_jobs))
        both.fit(X[TRAIN][order], Y[TRAIN][order])
        digests.add((both.boosted_.digest, both.init_.forest_.digest))
    assert len(digests) == 1


@pytest.mark.parametrize("init", [ForestRegressor(30), RandomForestRegressor(50, random_state=0)])
def test_rows_of_weight_zero_do_not_count(init):
    """Our forests leave them out of the out-of-bag predictions, scikit-learn's do not."""
    weight = (np.arange(len(Y)) % 3 > 0).astype(float)
    both = BoostedTreesRegressor(n_estimators=3, init=init).fit(X, Y, sample_weight=weight)
    if isinstance(init, ForestRegressor):
        without = clone(both).fit(X[weight > 0], Y[weight > 0])
        assert both.boosted_.digest == without.boosted_.digest
    assert both.score(X, Y) > 0.4


def test_rows_without_out_of_bag_prediction_get_the_prediction():
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        both = BoostedTreesRegressor(n_estimators=3, init=ForestRegressor(2)).fit(X, Y)
    assert np.isfinite(both.predict(X)).all()


def test_early_stopping_needs_out_of_bag_predictions():
    both = BoostedTreesRegressor(early_stopping=True, n_estimators=500, init=ForestRegressor()).fit(X, Y)
    assert both.n_iter_ < 100
    # The first held-out loss is that of out-of-bag predictions: as large as on new rows.
    assert both.validation_losses_[0] > 1000
    with pytest.raises(ParameterError, match=r"early_stopping=True needs .* expected one with out-of-bag"):
        BoostedTreesRegressor(early_stopping=True, init=LinearRegression()).fit(X, Y)
    rng = np.random.default_rng(0)
    many = rng.normal(size=(10_001, 1))
    auto = BoostedTreesRegressor(n_estimators=2, init=LinearRegression()).fit(many, many[:, 0])
    assert not hasattr(auto, "validation_losses_")


def test_wrong_and_sure_predictions_cannot_make_boosting_diverge():
    """A row of probability 0 for its class has the gradient 1 and hardly any hessian."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    sure = TreeClassifier("cart", max_depth=1, smoothing=None)
    both = BoostedTreesClassifier(n_estimators=50, init=Sure(sure)).fit(X, y)
    assert np.abs(both.decision_function(X)).max() < 10


def test_a_second_fit_forgets_init():
    both = BoostedTreesRegressor(n_estimators=2, init=TreeRegressor()).fit(X, Y)
    plain = both.set_params(init=None).fit(X, Y)
    assert not hasattr(plain, "init_")
    np.testing.assert_array_equal(
        plain.predict(X), BoostedTreesRegressor(n_estimators=2).fit(X, Y).predict(X)
    )


def test_parameters_of_init_can_be_searched():
    assert (
        BoostedTreesRegressor(init=ForestRegressor()).set_params(init__n_estimators=7).init.n_estimators == 7
    )


def test_files_and_pickles(tmp_path):
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(10)])
    both = BoostedTreesRegressor(n_estimators=2, init=ForestRegressor(30)).fit(frame, Y)
    again = pickle.loads(pickle.dumps(both))
    np.testing.assert_array_equal(again.predict(frame), both.predict(frame))
    with pytest.raises(StorageError, match=r"starts from a fitted ForestRegressor .* skops"):
        hornbeam.save(both, tmp_path / "model.hornbeam")
    frame.to_parquet(tmp_path / "rows.parquet")
    np.testing.assert_array_equal(both.predict(tmp_path / "rows.parquet"), both.predict(frame))
    linear = BoostedTreesRegressor(n_estimators=2, init=LinearRegression()).fit(frame, Y)
    with pytest.raises(ParameterError, match="init is a LinearRegression, which takes rows in memory"):
        linear.predict(tmp_path / "rows.parquet")


def test_skops_needs_to_trust_no_more_types(tmp_path):
    skops = pytest.importorskip("skops.io")
    both = BoostedTreesRegressor(n_estimators=2, init=ForestRegressor(30)).fit(X, Y)
    skops.dump(both, tmp_path / "model.skops")
    again = skops.load(tmp_path / "model.skops", trusted=trusted_types())
    np.testing.assert_array_equal(again.predict(X), both.predict(X))


def test_all_columns_are_needed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"used": rng.normal(size=60), "other": rng.normal(size=60)})
    y = np.sign(frame["used"])
    assert list(BoostedTreesRegressor(n_estimators=1).fit(frame, y).select_columns(frame[["used"]])) == [
        "used",
        "other",
    ]
    both = BoostedTreesRegressor(n_estimators=1, init=TreeRegressor()).fit(frame, y)
    with pytest.raises(hornbeam.errors.SchemaError, match="other"):
        both.select_columns(frame[["used"]])


@pytest.mark.parametrize(
    ("booster", "init"),
    [
        (BoostedTreesRegressor, "zero"),
        (BoostedTreesRegressor, ForestRegressor),
        (BoostedTreesRegressor, TreeClassifier()),
        (BoostedTreesClassifier, ForestRegressor()),
        (BoostedTreesClassifier, 3),
    ],
)
def test_a_wrong_init_is_named(booster, init):
    with pytest.raises(ParameterError, match=r"init=.*expected a (classifier|regressor) with predict"):
        booster(init=init).fit([[1.0], [2.0]], [1, 2])


def test_init_must_take_weights_if_there_are_weights():
    with pytest.raises(ParameterError, match="KNeighborsRegressor, whose fit takes no sample_weight"):
        BoostedTreesRegressor(init=KNeighborsRegressor()).fit(X, Y, sample_weight=np.ones(len(Y)))


class Sure(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are 0 and 1, often wrongly."""

    def __init__(self, inner):
        self.inner = inner

    def fit(self, X, y):
        self.fitted_ = clone(self.inner).fit(X, y)
        return self

    def predict_proba(self, X):
        return np.eye(2)[self.fitted_.predict(X)]


class Wild(LinearRegression):
    def predict(self, X):
        return np.full(len(X), np.nan)


def test_predictions_must_be_finite():
    with pytest.raises(DataError, match="init is a Wild that predicts NaN"):
        BoostedTreesRegressor(init=Wild()).fit(X, Y)
