"""Composition with scikit-learn: pipelines, searches, ensembles, routing, copies and pickles."""

import pickle
from copy import deepcopy

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, VotingClassifier
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hornbeam import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from hornbeam.recipe import PRESETS
from hornbeam.smoothing import HGS

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


def digest(classifier):
    return classifier.tree_.digest


def test_it_is_as_accurate_as_scikit_learns_tree():
    ours = cross_val_score(TreeClassifier("cart"), *CANCER, cv=5)
    theirs = cross_val_score(DecisionTreeClassifier(random_state=0), *CANCER, cv=5)
    assert ours.mean() > theirs.mean() - 0.02


def test_its_probabilities_are_better_than_those_of_scikit_learns_tree():
    X, y = CANCER
    ours = cross_val_predict(TreeClassifier(), X, y, cv=5, method="predict_proba")
    theirs = cross_val_predict(DecisionTreeClassifier(random_state=0), X, y, cv=5, method="predict_proba")
    assert log_loss(y, ours) < 0.5 * log_loss(y, theirs)


def test_a_pipeline_equals_its_parts():
    X, y = IRIS
    pipeline = make_pipeline(StandardScaler(), TreeClassifier(max_depth=3)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    alone = TreeClassifier(max_depth=3).fit(scaled, y)
    np.testing.assert_array_equal(pipeline.predict_proba(X), alone.predict_proba(scaled))


def test_a_grid_search_finds_presets_criteria_and_depths():
    grid = {"preset": ["default", "cart"], "criterion": ["auto", "hellinger"], "max_depth": [1, 3]}
    search = GridSearchCV(TreeClassifier(), grid, cv=3, error_score="raise").fit(*IRIS)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_params_["max_depth"] == 3  # three classes need more than one test
    assert search.best_estimator_.tree_.depth <= 3


def test_a_grid_search_may_try_smoothers_and_pruners():
    steps = [None, HGS(alpha=0.5), HGS(alpha=2.0)]
    search = GridSearchCV(TreeClassifier(), {"smoothing": steps}, cv=3, scoring="neg_log_loss").fit(*IRIS)
    assert search.best_params_["smoothing"] is not None  # raw frequencies are infinitely wrong now and then
    assert search.best_estimator_.tree_.history[-1].name == "hgs"


@pytest.mark.long
def test_a_grid_search_runs_in_threads():
    grid = {"max_depth": [1, 2, 3], "preset": list(PRESETS)}
    serial = GridSearchCV(TreeClassifier(), grid, cv=3).fit(*CANCER)
    with joblib.parallel_config("threading", n_jobs=3):
        threads = GridSearchCV(TreeClassifier(n_jobs=2), grid, cv=3).fit(*CANCER)
    assert threads.cv_results_["mean_test_score"].tolist() == serial.cv_results_["mean_test_score"].tolist()
    assert digest(threads.best_estimator_) == digest(serial.best_estimator_)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_it_can_be_calibrated(method):
    X, y = CANCER
    calibrated = CalibratedClassifierCV(TreeClassifier("cart"), method=method, cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.9


@pytest.mark.parametrize("preset", PRESETS)
def test_it_can_be_bagged(preset):
    X, y = CANCER
    bag = BaggingClassifier(TreeClassifier(preset), n_estimators=5, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.95
    assert len({digest(tree) for tree in bag.estimators_}) == 5


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS)
def test_adaboost_starts_with_the_single_tree_and_improves(preset):
    X, y = CANCER
    stump = {"preset": preset, "max_depth": 1}
    if preset == "default":
        stump["pruning"] = None  # alone it may see that one test more makes no difference
    boosted = AdaBoostClassifier(TreeClassifier(**stump), n_estimators=20, random_state=0).fit(X, y)
    seed = boosted.estimators_[0].random_state  # drawn by the booster
    alone = TreeClassifier(**stump, random_state=seed).fit(X, y)
    assert digest(boosted.estimators_[0]) == digest(alone)
    # C4.5 sometimes finds no split, or collapses it; the weights must not be the reason.
    assert sum(tree.tree_.n_leaves > 1 for tree in boosted.estimators_) >= 15
    assert boosted.score(X, y) > alone.score(X, y) + 0.03


def test_it_can_be_in_a_voting_classifier():
    X, y = IRIS
    votes = VotingClassifier(
        [("ours", TreeClassifier()), ("theirs", DecisionTreeClassifier())], voting="soft"
    )
    assert votes.fit(X, y).score(X, y) > 0.95


def test_permutation_importance_finds_the_relevant_column():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"noise": rng.normal(size=300), "signal": rng.choice(["a", "b"], 300)})
    y = (X["signal"] == "a") ^ (rng.random(300) < 0.05)
    classifier = TreeClassifier(max_depth=2).fit(X, y)
    importance = permutation_importance(classifier, X, y, random_state=0, n_repeats=3)
    assert importance.importances_mean[1] > 0.3 > abs(importance.importances_mean[0])


def test_columns_transformed_to_a_frame_keep_their_names():
    X = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "sex": list("mfmf"), "city": list("xyxy")})
    steps = make_column_transformer(
        (StandardScaler(), ["age"]),
        (OneHotEncoder(sparse_output=False), ["sex"]),
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    pipeline = Pipeline([("columns", steps), ("tree", TreeClassifier())]).set_output(transform="pandas")
    pipeline.fit(X, [0, 0, 1, 1])
    names = ["age", "sex_f", "sex_m", "city"]
    assert pipeline["tree"].feature_names_in_.tolist() == names == list(pipeline["tree"].tree_.schema.names)
    assert pipeline.predict(X).tolist() == [0, 0, 1, 1]


def test_weights_are_routed_through_a_pipeline():
    X, y = IRIS
    weight = np.arange(150) % 3
    with config_context(enable_metadata_routing=True):
        tree = TreeClassifier().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), tree)
        pipeline.fit(X, y, sample_weight=weight)
    alone = TreeClassifier().fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    assert digest(pipeline[-1]) == digest(alone)


def test_weights_are_routed_through_a_search():
    X, y = IRIS
    weight = np.arange(150) % 3
    with config_context(enable_metadata_routing=True):
        tree = TreeClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(tree, {"max_depth": [2]}, cv=3, error_score="raise")
        search.fit(X, y, sample_weight=weight)
    assert digest(search.best_estimator_) == digest(
        TreeClassifier(max_depth=2).fit(X, y, sample_weight=weight)
    )


def test_a_clone_has_the_parameters_and_no_tree():
    fitted = TreeClassifier("cart", smoothing=HGS(2.0), monotonic_cst={"x0": 1}).fit([[0], [1]], [0, 1])
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "tree_")


def test_copies_and_pickles_predict_the_same(tmp_path):
    X, y = IRIS
    fitted = TreeClassifier("c4.5").fit(X, y)
    fitted.predict(X[:1])  # creates the compiled router
    joblib.dump(fitted, tmp_path / "tree.joblib")
    for copy in (
        deepcopy(fitted),
        pickle.loads(pickle.dumps(fitted)),
        joblib.load(tmp_path / "tree.joblib"),
        joblib.load(tmp_path / "tree.joblib", mmap_mode="r"),
    ):
        assert digest(copy) == digest(fitted)
        np.testing.assert_array_equal(copy.predict_proba(X), fitted.predict_proba(X))
        assert not copy.tree_.evidence.flags.writeable


def test_it_can_be_fitted_again():
    X, y = IRIS
    classifier = TreeClassifier().fit(pd.DataFrame(X[:, :2], columns=["a", "b"]), np.where(y, "no", "yes"))
    classifier.fit(X, y)
    assert classifier.n_features_in_ == 4
    assert not hasattr(classifier, "feature_names_in_")
    assert classifier.classes_.tolist() == [0, 1, 2]
    assert digest(classifier) == digest(TreeClassifier().fit(X, y))


def test_a_failed_fit_keeps_the_old_tree():
    X, y = IRIS
    classifier = TreeClassifier().fit(X, y)
    before = dict(vars(classifier))
    with pytest.raises(ValueError, match="inconsistent"):
        classifier.fit(X[:, :2], y[:9])
    assert vars(classifier) == before


def test_apply_and_decision_path_agree():
    X, y = IRIS
    classifier = TreeClassifier().fit(X, y)
    path, stop = classifier.decision_path(X), classifier.apply(X)
    assert path.shape == (150, classifier.tree_.n_nodes)
    assert (path[:, 0].toarray() == 1).all()
    # Numbered by level, so the last node of a path is where the row ends.
    assert [int(row.indices.max()) for row in path] == stop.tolist()
    np.testing.assert_array_equal(classifier.predict_proba(X), classifier.tree_.belief[stop])


def test_the_row_predictor_equals_predict_proba():
    X, y = IRIS
    classifier = TreeClassifier().fit(X, y)
    predict = classifier.row_predictor()
    predicted = [predict(row) for row in X]
    assert predicted == [predict(tuple(row.tolist())) for row in X]
    np.testing.assert_array_equal(predicted, classifier.predict_proba(X))


@pytest.mark.parametrize("kind", [TreeClassifier, TreeRegressor, ForestClassifier, ForestRegressor])
def test_how_to_fit_is_not_routed(kind):
    """`engine`, `memory`, `cache` and `grow_rows` say how to fit, and are no metadata of rows."""
    assert set(kind().get_metadata_routing().fit.requests) == {"sample_weight", "groups"}
    with config_context(enable_metadata_routing=True), pytest.raises(TypeError, match="memory"):
        kind().set_fit_request(memory=True)
