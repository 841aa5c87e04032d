"""An estimator that was made of a tree: all methods, and the truth about its parameters."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from hornbeam import RuleClassifier, TreeClassifier, TreeRegressor
from hornbeam.errors import HornbeamError, ParameterError
from hornbeam.interop import from_sklearn
from hornbeam.smoothing import HGS

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :5]
LABELS = np.array(["bad", "good"])[Y]
SKLEARN = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, LABELS)
NUMBERS, TARGET = load_diabetes(return_X_y=True)


def test_a_tree_of_scikit_learn_has_all_methods():
    clf = TreeClassifier.from_tree(from_sklearn(SKLEARN))
    np.testing.assert_allclose(clf.predict_proba(X), SKLEARN.predict_proba(X), atol=1e-12)
    assert clf.predict(X).tolist() == SKLEARN.predict(X).tolist()
    assert clf.classes_.tolist() == ["bad", "good"]
    assert clf.feature_names_in_.tolist() == X.columns.tolist()
    assert len(clf.leaves()) == len(clf.rules()) == SKLEARN.get_n_leaves()
    assert len(clf.explain(X[:2])) == 2
    low, high = clf.predict_interval(X)
    assert (low <= high).all()
    assert clf.score(X, LABELS) == SKLEARN.score(X, LABELS)


def test_the_estimator_of_a_fitted_tree_is_like_the_one_that_was_fitted():
    fitted = TreeClassifier(costs={("bad", "good"): 5}, class_weight={"bad": 2.0}).fit(X, LABELS)
    made = TreeClassifier.from_tree(fitted.tree_)
    assert made.tree_ is fitted.tree_
    assert made.predict(X).tolist() == fitted.predict(X).tolist()
    np.testing.assert_array_equal(made.expected_cost(X), fitted.expected_cost(X))
    np.testing.assert_array_equal(made.class_weight_, fitted.class_weight_)
    assert made.class_weight == {"bad": 2.0, "good": 1.0}
    assert made.costs.tolist() == [[0.0, 5.0], [1.0, 0.0]]
    rows = X[:20], LABELS[:20]
    assert made.update(*rows).tree_.digest == fitted.update(*rows).tree_.digest
    assert made.forget(*rows).tree_.digest == fitted.forget(*rows).tree_.digest


def test_it_says_what_it_is():
    clf = TreeClassifier.from_tree(from_sklearn(SKLEARN))
    assert repr(clf) == repr(clone(clf)) == "TreeClassifier(preset='from_tree')"
    assert clf.get_params()["preset"] == "from_tree"
    for estimator in (clf, clone(clf), TreeClassifier("from_tree"), RuleClassifier(clf)):
        with pytest.raises(
            HornbeamError, match=r"made by TreeClassifier\.from_tree.*with the parameters that"
        ):
            estimator.fit(X, LABELS)
    assert clf.tree_.digest == TreeClassifier.from_tree(clf).tree_.digest  # a failed fit changes nothing
    with pytest.raises(ParameterError, match="made by"):
        clf.calibrate_intervals(X, LABELS)
    assert "preset" in str(hornbeam.diff(TreeClassifier().fit(X, LABELS), clf))


def test_rules_of_it_need_no_fit():
    clf = TreeClassifier.from_tree(from_sklearn(SKLEARN))
    assert RuleClassifier(FrozenEstimator(clf)).fit(X, LABELS).score(X, LABELS) > 0.8


def test_files_pickles_and_reports(tmp_path):
    clf = TreeClassifier.from_tree(HGS()(from_sklearn(SKLEARN)))
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    for again in (hornbeam.load(tmp_path / "model.hornbeam"), pickle.loads(pickle.dumps(clf))):
        assert repr(again) == repr(clf)
        assert not hornbeam.diff(clf, again)
        assert again.predict(X).tolist() == clf.predict(X).tolist()
    assert "from_tree" in hornbeam.report(clf, X, LABELS).text
    assert "def " in hornbeam.export.to_python(clf)


def test_a_regression_tree(tmp_path):
    fitted = TreeRegressor(max_depth=3).fit(NUMBERS, TARGET)
    reg = TreeRegressor.from_tree(fitted.tree_)
    assert repr(reg) == "TreeRegressor(preset='from_tree')"
    assert not hasattr(reg, "feature_names_in_")
    np.testing.assert_array_equal(reg.predict(NUMBERS), fitted.predict(NUMBERS))
    hornbeam.save(reg, tmp_path / "model.hornbeam")
    assert repr(hornbeam.load(tmp_path / "model.hornbeam")) == repr(reg)
    with pytest.raises(ParameterError, match=r"made by TreeRegressor\.from_tree"):
        reg.fit(NUMBERS, TARGET)


def test_a_wrong_tree_is_refused():
    with pytest.raises(ParameterError, match=r"predicts classes; .* Pass it to TreeClassifier\.from_tree"):
        TreeRegressor.from_tree(from_sklearn(SKLEARN))
    with pytest.raises(ParameterError, match=r"predicts means; .* Pass it to TreeRegressor\.from_tree"):
        TreeClassifier.from_tree(TreeRegressor().fit(NUMBERS, TARGET).tree_)
    for wrong in (SKLEARN, TreeClassifier(), None, X):
        with pytest.raises(HornbeamError):
            TreeClassifier.from_tree(wrong)


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [1.5, 2.5], ["no", "yes"], [1, "one"]])
def test_labels_keep_their_types(labels):
    tree = TreeClassifier("cart").fit([[0], [1]] * 3, pd.Series([0, 1] * 3)).tree_
    schema = hornbeam.tree.Schema(tree.schema.features, tuple(labels))
    made = TreeClassifier.from_tree(hornbeam.Tree.raw(schema, tree.skeleton, tree.evidence))
    assert made.predict([[0], [1]]).tolist() == labels
    assert list(map(type, made.classes_.tolist())) == list(map(type, labels))
