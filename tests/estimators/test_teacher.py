"""The parameter `teacher`: any estimator, any container, and a tree like any other."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import hornbeam
from hornbeam import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    ForestClassifier,
    ForestRegressor,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import probability_rmse
from hornbeam.pruning import LeafBudget
from hornbeam.tree.route import predict_rows

IRIS = load_iris(return_X_y=True)


def taught(teacher, X, y, sample_weight=None, **parameters):
    return TreeClassifier(teacher=teacher, **parameters).fit(X, y, sample_weight)


def frame(n=120, seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue", None], n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    y = np.where((np.nan_to_num(size) > 0) ^ (colour == "red"), "yes", "no")
    return pd.DataFrame({"size": size, "colour": pd.Categorical(colour)}), y


@pytest.mark.parametrize(
    "teacher",
    [
        ForestClassifier(30),
        ForestClassifier(30, oob_score=True),
        BoostedTreesClassifier(n_estimators=10),
        RandomForestClassifier(30, oob_score=True, random_state=0),
        GradientBoostingClassifier(n_estimators=10, random_state=0),
        make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    ],
    ids=lambda teacher: type(teacher).__name__,
)
def test_any_classifier_can_be_the_teacher(teacher):
    X, y = IRIS
    model = taught(teacher, X, y)
    assert (model.predict(X) == y).mean() > 0.95
    assert model.tree_.evidence[0].tolist() == [50, 50, 50]
    assert model.teacher is teacher
    assert not hasattr(teacher, "classes_")  # it was cloned
    assert dict(model.tree_.history[0].parameters)["teacher"] == type(teacher).__name__
    fitted = clone(teacher).fit(X, y)
    for same in (fitted, FrozenEstimator(fitted)):
        assert taught(same, X, y).tree_.digest == model.tree_.digest


@pytest.mark.parametrize(
    "teacher",
    [
        ForestRegressor(30),
        BoostedTreesRegressor(n_estimators=10),
        RandomForestRegressor(30, random_state=0),
        RandomForestRegressor(3, oob_score=True, random_state=0),
        LinearRegression(),
    ],
    ids=lambda teacher: type(teacher).__name__,
)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_any_regressor_can_be_the_teacher(teacher):
    X, y = load_diabetes(return_X_y=True)
    model = TreeRegressor(teacher=teacher, max_leaf_nodes=6).fit(X, y)
    assert model.score(X, y) > 0.35
    assert model.tree_.rows[0] == len(y)
    assert dict(model.tree_.history[0].parameters)["teacher"] == type(teacher).__name__
    again = TreeRegressor(teacher=clone(teacher).fit(X, y), max_leaf_nodes=6).fit(X, y)
    assert again.tree_.digest == model.tree_.digest


def test_slopes_follow_a_linear_teacher():
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = X[:, 0] - X[:, 1]
    tree = TreeRegressor(teacher=LinearRegression(), max_leaf_nodes=4, slopes=2).fit(X, y)
    assert tree.score(X, y) > 0.9


def test_parameters_describe_the_tree():
    """So `clone`, `cross_val_score` and grid search fit the teacher to the rows of each fold."""
    X, y = IRIS
    tree = TreeClassifier(teacher=ForestClassifier(30), max_leaf_nodes=4).fit(X, y)
    assert tree.get_params()["teacher__n_estimators"] == 30
    again = clone(tree)
    assert again.get_params().keys() == tree.get_params().keys()
    assert again.fit(X, y).tree_.digest == tree.tree_.digest
    folds = list(StratifiedKFold(3).split(X, y))
    by_hand = [clone(tree).fit(X[train], y[train]).score(X[test], y[test]) for train, test in folds]
    assert cross_val_score(tree, X, y, cv=folds).tolist() == by_hand
    search = GridSearchCV(tree, {"teacher__n_estimators": [2, 30], "max_leaf_nodes": [2, 4]}, cv=folds).fit(
        X, y
    )
    assert search.best_estimator_.tree_.n_leaves <= search.best_params_["max_leaf_nodes"]
    assert tree.set_params(teacher__n_estimators=5).teacher.n_estimators == 5


def test_a_clone_has_a_teacher_that_is_not_fitted_unless_it_is_frozen():
    X, y = IRIS
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    assert not hasattr(clone(TreeClassifier(teacher=forest)).teacher, "forest_")
    frozen = clone(TreeClassifier(teacher=FrozenEstimator(forest), max_leaf_nodes=4))
    assert frozen.teacher.estimator is forest
    half = frozen.fit(X[::2], y[::2])  # its out-of-bag predictions are of other rows
    assert half.tree_.evidence[0].tolist() == [25, 25, 25]
    assert np.abs(half.predict_proba(X) - forest.predict_proba(X)).mean() < 0.05


def test_a_file_has_the_class_name_of_the_teacher(tmp_path):
    X, y = IRIS
    for teacher in (ForestClassifier(5), FrozenEstimator(ForestClassifier(5).fit(X, y))):
        model = taught(teacher, X, y, max_leaf_nodes=4, fidelity=0.9)
        hornbeam.save(model, tmp_path / "model.hornbeam")
        again = hornbeam.load(tmp_path / "model.hornbeam")
        assert again.get_params() == model.get_params(deep=False) | {"teacher": "ForestClassifier"}
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        assert not hornbeam.diff(model, again)
        assert again.calibrate_intervals(X, y).tree_.digest == model.tree_.digest
        with pytest.raises(
            ParameterError, match=r"teacher='ForestClassifier': .* only the class name of one"
        ):
            clone(again).fit(X, y)
        assert again.set_params(teacher=teacher).fit(X, y).tree_.digest == model.tree_.digest
        for copied in (deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert copied.get_params(deep=False).keys() == model.get_params(deep=False).keys()
            assert clone(copied).fit(X, y).tree_.digest == model.tree_.digest


def test_a_file_of_a_tree_without_a_description_of_its_teacher(tmp_path):
    """Version 0.1.0rc1 wrote such files: all parameters were defaults."""
    X, y = IRIS
    model = taught(ForestClassifier(5), X, y, max_leaf_nodes=4)
    hornbeam.save(model.set_params(teacher="auto", max_leaf_nodes=None), tmp_path / "model.hornbeam")
    again = hornbeam.load(tmp_path / "model.hornbeam")
    assert again.teacher == "unknown"
    assert again.tree_.digest == model.tree_.digest
    with pytest.raises(ParameterError, match="teacher='unknown': expected"):
        again.fit(X, y)


def test_rules_can_be_made_of_a_tree_with_a_teacher():
    X, y = IRIS
    tree = TreeClassifier(teacher=ForestClassifier(30), max_leaf_nodes=4)
    rules = RuleClassifier(tree).fit(X, y)
    assert rules.source_tree_.digest == tree.fit(X, y).tree_.digest


def test_all_parameters_that_a_teacher_does_not_use_are_named():
    X, y = IRIS
    tree = TreeClassifier("readable", criterion="entropy", max_bins=7, tolerance=0.1)
    with pytest.raises(
        ParameterError,
        match=r"max_bins=7, .*tolerance=.*criterion='entropy': a tree with a teacher does not use them",
    ):
        tree.fit(X, y)


@pytest.mark.parametrize("forest", [ForestClassifier(30), RandomForestClassifier(30, random_state=0)])
def test_a_forest_without_out_of_bag_probabilities_is_fitted_with_them(forest):
    X, y = frame() if isinstance(forest, ForestClassifier) else IRIS
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    with_them = clone(forest).set_params(oob_score=True).fit(X, y, sample_weight=weight)
    expected = taught(with_them, X, y, sample_weight=weight).tree_.digest
    assert taught(forest, X, y, sample_weight=weight).tree_.digest == expected
    fitted = forest.fit(X, y, sample_weight=weight)
    assert taught(fitted, X, y, sample_weight=weight).tree_.digest == expected
    assert not hasattr(fitted, "oob_decision_function_")


def test_a_forest_that_chose_its_temperature_is_not_scaled_again():
    X, y = load_breast_cancer(return_X_y=True)
    for smoothing, expected in (("auto", 1.0), (None, ForestClassifier(50).fit(X, y).temperature_)):
        forest = ForestClassifier(50, smoothing=smoothing, oob_score=True).fit(X, y)
        found = dict(taught(forest, X, y).tree_.history[0].parameters)["temperature"]
        assert found == pytest.approx(expected, abs=2e-3)


def test_the_teacher_need_not_be_a_scikit_learn_estimator():
    class Rule:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            yes = np.where(X[:, 0] > 0, 0.9, 0.2)
            return np.column_stack([1 - yes, yes])

    X = np.random.default_rng(0).normal(size=(300, 2))
    model = taught(Rule(), X, X[:, 0] > 0.0, slopes=0)
    assert model.tree_.n_leaves == 2
    assert abs(model.tree_.skeleton.threshold[0]) < 0.05


def test_the_teacher_must_have_classes():
    class Nameless:
        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    with pytest.raises(ParameterError, match=r"a Nameless without classes_.* numpy.unique\(y\)"):
        taught(Nameless(), *frame())


def test_classes_with_fewer_rows_than_folds():
    X, y = frame()
    few = np.r_[np.flatnonzero(y == "no")[:3], np.flatnonzero(y == "yes")[:3]]
    teacher = BoostedTreesClassifier(n_estimators=3, min_samples_leaf=1)
    assert taught(teacher, X.iloc[few], y[few]).tree_.evidence[0].tolist() == [3, 3]
    assert taught(teacher, X.iloc[few[2:4]], y[few[2:4]]).tree_.evidence[0].tolist() == [1, 1]


@pytest.mark.long
def test_distilled_trees_have_better_probabilities_than_default_ones():
    saved = []
    for X, y in (
        load_breast_cancer(return_X_y=True),
        load_wine(return_X_y=True),
        make_classification(400, 8, random_state=1),
        make_classification(400, 8, n_informative=5, random_state=2),
    ):
        distilled, default = np.zeros((2, len(y), len(set(y))))
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
            distilled[test] = taught("ensemble", X[train], y[train]).predict_proba(X[test])
            default[test] = TreeClassifier().fit(X[train], y[train]).predict_proba(X[test])
        saved.append(probability_rmse(y, default) - probability_rmse(y, distilled))
    assert np.mean(saved) > 0.01
    assert sum(one > 0 for one in saved) >= 3


def test_containers_order_and_threads_do_not_matter():
    polars = pytest.importorskip("polars")
    X, y = frame()
    teacher = ForestClassifier(20, oob_score=True).fit(X, y)
    digest = taught(teacher, X, y).tree_.digest
    assert taught(teacher, polars.from_pandas(X), y, n_jobs=3).tree_.digest == digest
    shuffled = np.random.default_rng(5).permutation(len(y))
    other = deepcopy(teacher)
    other.oob_decision_function_ = teacher.oob_decision_function_[shuffled]
    assert taught(other, X.iloc[shuffled], y[shuffled]).tree_.digest == digest
    assert taught(teacher, X, y, random_state=1).tree_.digest != digest


def test_the_teacher_gets_synthetic_rows_as_a_frame():
    X, y = frame()
    seen = []

    class RecordingTeacher(ForestClassifier):
        def predict_proba(self, X):
            seen.append(X)
            return super().predict_proba(X)

    taught(RecordingTeacher(20, oob_score=True), X, y)
    assert seen
    for new in seen:
        assert (new.dtypes == X.dtypes).all()
        assert set(new["colour"].dropna()) <= {"red", "green", "blue"}
        assert set(new["size"].dropna()) <= set(X["size"].dropna())


def test_a_distilled_tree_is_a_tree_like_any_other(tmp_path):
    X, y = frame()
    model = taught("ensemble", X, y)
    hornbeam.save(model, tmp_path / "tree.hornbeam")
    again = hornbeam.load(tmp_path / "tree.hornbeam")
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    low, high = model.predict_interval(X)
    assert (low <= model.predict_proba(X)).all()
    assert (high >= model.predict_proba(X)).all()
    assert "colour" in str(model.explain(X.iloc[:1]))
    assert model.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slopes", [0, 2])
def test_rows_that_are_added_and_removed_again_change_nothing(slopes, seed):
    X, y = frame(seed=seed)
    model = taught(ForestClassifier(10, random_state=seed), X, y, max_leaf_nodes=4, slopes=slopes)
    tree, before = model.tree_, model.predict_proba(X)
    other = np.where(y == "yes", "no", "yes")
    model.update(X[:40], other[:40])
    assert model.tree_.evidence[0].sum() == tree.evidence[0].sum() + 40
    # With terms, a leaf that the terms and the teacher make sure of changes less.
    assert np.abs(model.predict_proba(X) - before).max() > (0.01 if slopes else 0.1)
    model.forget(X[:40], other[:40])
    assert model.tree_.digest == tree.digest
    assert np.array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e80])
def test_a_readable_tree_of_means_is_restored_too(size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80)) * size
    model = TreeRegressor("readable", max_leaf_nodes=4).fit(X, y)
    before = model.tree_.digest
    assert model.update(X[:20], y[:20]).tree_.digest != before
    assert model.forget(X[:20], y[:20]).tree_.digest == before


def test_the_teacher_counts_as_thirty_rows_after_an_update():
    X, y = frame()
    model = taught("ensemble", X, y, max_leaf_nodes=2)
    old = model.tree_
    prior = old.belief * (old.weight_in_rows[:, None] + 30) - old.evidence
    model.update(X, y)
    expected = (2 * old.evidence + prior) / (2 * old.weight_in_rows[:, None] + 30)
    np.testing.assert_allclose(model.tree_.belief, expected, atol=1e-12)


@pytest.mark.parametrize(
    "teacher", ["ensemble", ForestClassifier(30), GradientBoostingClassifier(n_estimators=5, random_state=0)]
)
def test_weights_are_counted_as_evidence(teacher):
    X, y = IRIS
    weight = np.where(y == 1, 3, 1)
    weight[:10] = 0
    model = taught(teacher, X, y, sample_weight=weight, max_leaf_nodes=4)
    assert model.tree_.evidence[0].tolist() == [40, 150, 50]
    if teacher != "ensemble":
        without = taught(teacher, X[10:], y[10:], sample_weight=weight[10:], max_leaf_nodes=4)
        assert without.tree_.evidence.tolist() == model.tree_.evidence.tolist()


def test_wrong_arguments_are_refused(tmp_path):
    X, y = IRIS
    with pytest.raises(ParameterError, match="a LinearSVC; expected a classifier with predict_proba"):
        taught(LinearSVC(), X, y)
    with pytest.raises(ParameterError, match="a ForestClassifier; expected a regressor with predict"):
        TreeRegressor(teacher=ForestClassifier()).fit(X, y)
    for teacher in (ForestClassifier, "forest", 3):
        with pytest.raises(ParameterError, match="expected 'auto', 'ensemble', an estimator or None"):
            taught(teacher, X, y)
    with pytest.raises(DataError, match=r"with the classes \[0, 1, 2\], and y has \[0, 1\]"):
        taught(ForestClassifier(3).fit(X, y), X[:100], y[:100])
    with pytest.raises(ParameterError, match="a KNeighborsClassifier, whose fit takes no sample_weight"):
        taught(KNeighborsClassifier(), X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(
        ParameterError, match="grow_rows=50: a tree with the teacher ForestClassifier is grown on all"
    ):
        TreeClassifier(teacher=ForestClassifier(3)).fit(X, y, grow_rows=50)
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(
        ParameterError, match="a tree with the teacher ForestClassifier takes rows in memory alone"
    ):
        TreeClassifier(teacher=ForestClassifier(3)).fit(tmp_path, "y")
    for fidelity in (2, "0.9", None):
        with pytest.raises(ParameterError, match=r"fidelity=.*: expected a number"):
            taught("ensemble", X, y, fidelity=fidelity)


@pytest.mark.parametrize("most", [2, 5, 9])
def test_max_leaf_nodes_is_obeyed(most):
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    whole, small = taught(forest, X, y), taught(forest, X, y, max_leaf_nodes=most)
    assert 2 <= small.tree_.n_leaves <= most < whole.tree_.n_leaves
    assert small.tree_.evidence[0].tolist() == whole.tree_.evidence[0].tolist()


@pytest.mark.parametrize("most", [4, 8])
def test_a_small_tree_is_closer_to_its_teacher_than_the_top_of_a_large_one(most):
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    found = taught(forest, X, y, max_leaf_nodes=most)
    large = taught(forest, X, y, slopes=0, max_leaf_nodes=1000).tree_
    top = LeafBudget(most)(large)

    def distance(tree):
        return ((predict_rows(tree, Table.read(X, schema=tree.schema)) - forest.predict_proba(X)) ** 2).mean()

    assert distance(found.tree_) < distance(top)


def test_slopes_bring_a_small_tree_closer_to_its_teacher():
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    trees = [taught(forest, X, y, max_leaf_nodes=4, slopes=slopes) for slopes in (0, 1, 2)]
    assert [len(tree.tree_.slopes) > 0 for tree in trees] == [False, True, True]
    distance = [((tree.predict_proba(X) - forest.predict_proba(X)) ** 2).mean() for tree in trees]
    assert distance == sorted(distance, reverse=True)


def test_a_limit_above_the_size_by_fidelity_changes_nothing():
    X, y = IRIS
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    whole = taught(forest, X, y)
    assert taught(forest, X, y, max_leaf_nodes=10_000).tree_.digest == whole.tree_.digest


@pytest.mark.parametrize("depth", [1, 2])
def test_max_depth_is_obeyed_without_a_limit_of_leaves(depth):
    X, y = IRIS
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    tree, whole = taught(forest, X, y, max_depth=depth, slopes=1).tree_, taught(forest, X, y).tree_
    assert tree.depth == depth < whole.depth
    assert len(tree.slopes) > 0


@pytest.mark.parametrize("most", [1, 2.5, "9"])
def test_a_wrong_limit_is_refused(most):
    with pytest.raises(ParameterError, match=f"max_leaf_nodes={most!r}: expected"):
        taught("ensemble", *IRIS, max_leaf_nodes=most)


def test_bagging_with_warm_start_is_cross_validated():
    """scikit-learn refuses out-of-bag probabilities there."""
    X, y = IRIS
    teacher = BaggingClassifier(n_estimators=30, warm_start=True, random_state=0).fit(X, y)
    assert taught(teacher, X, y).tree_.evidence[0].tolist() == [50, 50, 50]


def test_errors_of_a_teacher_name_it():
    frame = pd.DataFrame({"city": ["Bonn", "Ulm"] * 20, "size": np.arange(40.0) ** 2 % 13})
    labels = np.arange(40) % 3 > 0
    with pytest.raises(
        DataError, match=r"the teacher, a RandomForestClassifier, fails .*'Bonn'.* in a pipeline"
    ):
        TreeClassifier(teacher=RandomForestClassifier(5)).fit(frame, labels)
    fitted = RandomForestClassifier(40).fit(frame[["size"]], labels)
    with pytest.raises(DataError, match="the teacher, a RandomForestClassifier, fails with these rows"):
        TreeClassifier(teacher=fitted).fit(frame, labels)
