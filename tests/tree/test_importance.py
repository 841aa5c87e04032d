"""Importances: scikit-learn's on equal trees, and at home with its tools."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.tree import DecisionTreeClassifier

from hornbeam import SmoothedClassifier, TreeClassifier
from hornbeam.errors import ParameterError
from hornbeam.interop import from_sklearn
from hornbeam.tree.importance import importance
from support.worked_trees import star, worked_tree


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_of_an_equal_tree_they_are_scikit_learns(criterion):
    X, y = load_breast_cancer(return_X_y=True)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(importance(from_sklearn(theirs), criterion), theirs.feature_importances_)
    smoothed = SmoothedClassifier(theirs).fit(X, y)
    np.testing.assert_allclose(smoothed.feature_importances_, theirs.feature_importances_)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_gains_of_our_own_growing_give_scikit_learns_importances(criterion):
    X, y = load_iris(return_X_y=True)
    X = X[:, [0, 2]]  # without ties between features both grow the same tree
    ours = TreeClassifier("cart", criterion=criterion, max_depth=3).fit(X, y)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
    assert ours.tree_.n_nodes == theirs.tree_.node_count
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    np.testing.assert_allclose(importance(ours.tree_, criterion), theirs.feature_importances_, rtol=1e-9)


def test_of_a_forest_they_are_the_mean():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(4, bootstrap=False, random_state=0).fit(X, y)
    smoothed = SmoothedClassifier(forest).fit(X, y)
    np.testing.assert_allclose(smoothed.feature_importances_, forest.feature_importances_)


def test_worked_numbers():
    """root (6,4), A (5,1), B (1,3), A1 (3,0), A2 (2,1): one feature, so all of it."""
    assert importance(worked_tree()).tolist() == [1.0]
    assert importance(star(np.array([[2, 2], [1, 1]]))).tolist() == [0.0]  # nothing was gained
    with pytest.raises(ParameterError, match="expected 'gini', 'entropy' or None"):
        importance(worked_tree(), "twoing")


def test_a_single_leaf_has_none():
    leaf = TreeClassifier().fit([[0.0, 1.0], [0.0, 1.0]], [0, 1])
    assert leaf.feature_importances_.tolist() == [0.0, 0.0]
    assert importance(leaf.tree_, "entropy").tolist() == [0.0, 0.0]


def test_rows_that_stop_count_for_nothing():
    """Of 10 rows 4 stop at the root; the test parts the other 6 without a remainder."""
    from hornbeam.data.schema import Feature, Schema
    from hornbeam.tree import Skeleton
    from hornbeam.tree.tree import Tree

    skeleton = Skeleton.of(
        [2, 2, 0, 0, 0], [0, 1, -1, -1, -1], [0.5, 0.5, np.nan, np.nan, np.nan], missing_slot=[-1] * 5
    )
    evidence = np.array([[6, 4], [3, 0], [0, 3], [2, 0], [1, 0]])
    tree = Tree.raw(Schema((Feature("a"), Feature("b")), (0, 1)), skeleton, evidence)
    assert importance(tree).tolist() == [1.0, 0.0]


def test_an_estimator_that_is_not_fitted_has_none():
    for estimator in (TreeClassifier(), SmoothedClassifier()):
        assert not hasattr(estimator, "feature_importances_")
        with pytest.raises(NotFittedError):
            _ = estimator.feature_importances_


def test_permutation_importance_and_selection_work():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 2] > 0).astype(int)
    clf = TreeClassifier("cart", max_depth=2).fit(X, y)
    found = permutation_importance(clf, X, y, n_repeats=2, random_state=0, scoring="neg_log_loss")
    assert found.importances_mean.argmax() == clf.feature_importances_.argmax() == 2
    assert SelectFromModel(clf, prefit=True, threshold=0.5).transform(X).shape == (200, 1)


def test_logarithms_of_probabilities():
    clf = TreeClassifier("cart").fit([[0.0], [1.0]], ["no", "yes"])
    assert clf.predict_log_proba([[1.0]]).tolist() == [[-np.inf, 0.0]]
    smoothed = SmoothedClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    np.testing.assert_array_equal(
        smoothed.predict_log_proba([[1.0]]), np.log(smoothed.predict_proba([[1.0]]))
    )
