"""Distillation: any teacher, any container, and a tree like any other."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import hornbeam
from hornbeam import BoostedTreesClassifier, ForestClassifier, TreeClassifier, TreeRegressor, distill
from hornbeam.data import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import rmse
from hornbeam.pruning import LeafBudget
from hornbeam.tree.route import predict_rows

IRIS = load_iris(return_X_y=True)


def frame(n=120, seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue", None], n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    y = np.where((np.nan_to_num(size) > 0) ^ (colour == "red"), "yes", "no")
    return pd.DataFrame({"size": size, "colour": pd.Categorical(colour)}), y


@pytest.mark.parametrize(
    "teacher",
    [
        None,
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
    model = distill(teacher, X, y)
    assert (model.predict(X) == y).mean() > 0.95
    assert model.tree_.evidence[0].tolist() == [50, 50, 50]
    if teacher is not None:
        assert not hasattr(teacher, "classes_")  # it was cloned
        fitted = teacher.fit(X, y)
        assert distill(fitted, X, y).tree_.digest == model.tree_.digest


def test_a_distilled_tree_is_not_cloned(tmp_path):
    """Its parameters are defaults, so a clone in `cross_val_score` would be a default tree."""
    X, y = IRIS
    model = distill(ForestClassifier(30), X, y, max_leaf_nodes=4)
    hornbeam.save(model, tmp_path / "model.hornbeam")
    for tree in (model, hornbeam.load(tmp_path / "model.hornbeam")):
        with pytest.raises(ParameterError, match=r"hornbeam\.distill on the training rows of each fold"):
            cross_val_score(tree, X, y)
        assert clone(FrozenEstimator(tree)).predict(X).shape == y.shape
    again = clone(TreeClassifier("readable", max_leaf_nodes=3).fit(X, y))
    assert again.max_leaf_nodes == 3
    assert clone(model.fit(X, y)).preset == "default"  # a fit replaces the distilled tree


@pytest.mark.parametrize("forest", [ForestClassifier(30), RandomForestClassifier(30, random_state=0)])
def test_a_forest_without_out_of_bag_probabilities_is_fitted_with_them(forest):
    X, y = frame() if isinstance(forest, ForestClassifier) else IRIS
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    with_them = clone(forest).set_params(oob_score=True).fit(X, y, sample_weight=weight)
    expected = distill(with_them, X, y, sample_weight=weight).tree_.digest
    assert distill(forest, X, y, sample_weight=weight).tree_.digest == expected
    fitted = forest.fit(X, y, sample_weight=weight)
    assert distill(fitted, X, y, sample_weight=weight).tree_.digest == expected
    assert not hasattr(fitted, "oob_decision_function_")


def test_a_forest_that_chose_its_temperature_is_not_scaled_again():
    X, y = load_breast_cancer(return_X_y=True)
    for smoothing, expected in (("auto", 1.0), (None, ForestClassifier(50).fit(X, y).temperature_)):
        forest = ForestClassifier(50, smoothing=smoothing, oob_score=True).fit(X, y)
        found = dict(distill(forest, X, y).tree_.history[0].parameters)["temperature"]
        assert found == pytest.approx(expected, abs=2e-3)


def test_the_teacher_need_not_be_a_scikit_learn_estimator():
    class Rule:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            yes = np.where(X[:, 0] > 0, 0.9, 0.2)
            return np.column_stack([1 - yes, yes])

    X = np.random.default_rng(0).normal(size=(300, 2))
    model = distill(Rule(), X, X[:, 0] > 0.0)
    assert model.tree_.n_leaves == 2
    assert abs(model.tree_.skeleton.threshold[0]) < 0.05


def test_the_teacher_must_have_classes():
    class Nameless:
        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    with pytest.raises(ParameterError, match=r"a Nameless, has no classes_.* numpy.unique\(y\)"):
        distill(Nameless(), *frame())


def test_classes_with_fewer_rows_than_folds():
    X, y = frame()
    few = np.r_[np.flatnonzero(y == "no")[:3], np.flatnonzero(y == "yes")[:3]]
    teacher = BoostedTreesClassifier(n_estimators=3, min_samples_leaf=1)
    assert distill(teacher, X.iloc[few], y[few]).tree_.evidence[0].tolist() == [3, 3]
    assert distill(teacher, X.iloc[few[2:4]], y[few[2:4]]).tree_.evidence[0].tolist() == [1, 1]


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
            distilled[test] = distill(None, X[train], y[train]).predict_proba(X[test])
            default[test] = TreeClassifier().fit(X[train], y[train]).predict_proba(X[test])
        saved.append(rmse(y, default) - rmse(y, distilled))
    assert np.mean(saved) > 0.01
    assert sum(one > 0 for one in saved) >= 3


def test_containers_order_and_threads_do_not_matter():
    polars = pytest.importorskip("polars")
    X, y = frame()
    teacher = ForestClassifier(20, oob_score=True).fit(X, y)
    digest = distill(teacher, X, y).tree_.digest
    assert distill(teacher, polars.from_pandas(X), y, n_jobs=3).tree_.digest == digest
    shuffled = np.random.default_rng(5).permutation(len(y))
    held_out = teacher.oob_decision_function_
    again = distill(teacher, X.iloc[shuffled], y[shuffled], held_out=held_out[shuffled])
    assert again.tree_.digest == digest
    assert distill(teacher, X, y, random_state=1).tree_.digest != digest


def test_the_teacher_gets_synthetic_rows_as_a_frame():
    X, y = frame()
    seen = []

    class RecordingTeacher(ForestClassifier):
        def predict_proba(self, X):
            seen.append(X)
            return super().predict_proba(X)

    distill(RecordingTeacher(20, oob_score=True), X, y)
    assert seen
    for new in seen:
        assert (new.dtypes == X.dtypes).all()
        assert set(new["colour"].dropna()) <= {"red", "green", "blue"}
        assert set(new["size"].dropna()) <= set(X["size"].dropna())


def test_a_distilled_tree_is_a_tree_like_any_other(tmp_path):
    X, y = frame()
    model = distill(None, X, y)
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
    model = distill(ForestClassifier(10, random_state=seed), X, y, max_leaf_nodes=4, slopes=slopes)
    tree, before = model.tree_, model.predict_proba(X)
    other = np.where(y == "yes", "no", "yes")
    model.update(X[:40], other[:40])
    assert model.tree_.evidence[0].sum() == tree.evidence[0].sum() + 40
    assert np.abs(model.predict_proba(X) - before).max() > 0.1
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
    model = distill(None, X, y, max_leaf_nodes=2)
    old = model.tree_
    prior = old.belief * (old.weight_in_rows[:, None] + 30) - old.evidence
    model.update(X, y)
    expected = (2 * old.evidence + prior) / (2 * old.weight_in_rows[:, None] + 30)
    np.testing.assert_allclose(model.tree_.belief, expected, atol=1e-12)


def test_weights_are_counted_as_evidence():
    X, y = frame()
    weight = np.where(y == "yes", 3, 1)
    model = distill(None, X, y, sample_weight=weight)
    assert model.tree_.evidence[0].tolist() == [(y == "no").sum(), 3 * (y == "yes").sum()]


def test_wrong_arguments_are_refused():
    X, y = IRIS
    with pytest.raises(ParameterError, match="LinearSVC, which has no predict_proba"):
        distill(LinearSVC(), X, y)
    with pytest.raises(ParameterError, match=r"the class ForestClassifier itself; .* ForestClassifier\(\)"):
        distill(ForestClassifier, X, y)
    with pytest.raises(DataError, match=r"the teacher has the classes \[0, 1, 2\], and y has \[0, 1\]"):
        distill(ForestClassifier(3).fit(X, y), X[:100], y[:100])
    with pytest.raises(DataError, match=r"the shape \(150, 3\), expected \(60, 3\)"):
        distill(ForestClassifier(20, oob_score=True).fit(X, y), X[::5].repeat(2, axis=0), y[::5].repeat(2))
    with pytest.raises(DataError, match="the one class 0; expected two"):
        distill(None, X[:50], y[:50])
    with pytest.raises(DataError, match="some rows have weight 0"):
        distill(None, X, y, sample_weight=y)
    for fidelity in (2, "0.9", None):
        with pytest.raises(ParameterError, match=r"fidelity=.*: expected a number above 0"):
            distill(None, X, y, fidelity=fidelity)


@pytest.mark.parametrize("most", [2, 5, 9])
def test_max_leaf_nodes_is_obeyed(most):
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    whole, small = distill(forest, X, y), distill(forest, X, y, max_leaf_nodes=most)
    assert 2 <= small.tree_.n_leaves <= most < whole.tree_.n_leaves
    assert small.tree_.evidence[0].tolist() == whole.tree_.evidence[0].tolist()


@pytest.mark.parametrize("most", [4, 8])
def test_a_small_tree_is_closer_to_its_teacher_than_the_top_of_a_large_one(most):
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    found = distill(forest, X, y, max_leaf_nodes=most)
    large = distill(forest, X, y).tree_
    top = LeafBudget(most)(large)

    def distance(tree):
        return ((predict_rows(tree, Table.read(X, schema=tree.schema)) - forest.predict_proba(X)) ** 2).mean()

    assert distance(found.tree_) < distance(top)


def test_slopes_bring_a_small_tree_closer_to_its_teacher():
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    trees = [distill(forest, X, y, max_leaf_nodes=4, slopes=slopes) for slopes in (0, 1, 2)]
    assert [len(tree.tree_.slopes) > 0 for tree in trees] == [False, True, True]
    distance = [((tree.predict_proba(X) - forest.predict_proba(X)) ** 2).mean() for tree in trees]
    assert distance == sorted(distance, reverse=True)


def test_a_limit_above_the_size_by_fidelity_changes_nothing():
    X, y = IRIS
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    whole = distill(forest, X, y)
    assert distill(forest, X, y, max_leaf_nodes=10_000).tree_.digest == whole.tree_.digest


@pytest.mark.parametrize("depth", [1, 2])
def test_max_depth_is_obeyed_without_a_limit_of_leaves(depth):
    X, y = IRIS
    forest = ForestClassifier(30, oob_score=True).fit(X, y)
    tree, whole = distill(forest, X, y, max_depth=depth, slopes=1).tree_, distill(forest, X, y).tree_
    assert tree.depth == depth < whole.depth
    assert len(tree.slopes) > 0


@pytest.mark.parametrize("most", [1, 2.5, "9"])
def test_a_wrong_limit_is_refused(most):
    with pytest.raises(ParameterError, match=f"max_leaf_nodes={most!r}: expected"):
        distill(None, *IRIS, max_leaf_nodes=most)


def test_bagging_with_warm_start_is_cross_validated():
    """scikit-learn refuses out-of-bag probabilities there."""
    X, y = IRIS
    teacher = BaggingClassifier(n_estimators=30, warm_start=True, random_state=0).fit(X, y)
    assert distill(teacher, X, y).tree_.evidence[0].tolist() == [50, 50, 50]
