"""New counts and predictions for a tree whose splits were edited."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import SchemaError
from hornbeam.tree import with_belief

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(200, 3))
X[DRAW.random(X.shape) < 0.1] = np.nan
NUMBER = np.nan_to_num(X[:, 0]) + 0.5 * DRAW.normal(size=200)
Y = np.where(NUMBER > 0, "a", "b")
SETTINGS = [
    {},
    {"preset": "c4.5"},
    {"smoothing": "hgs"},
    {"costs": {("a", "b"): 5}},
    {"class_weight": {"a": 3}},
    {"monotonic_cst": [-1, 0, 0]},
]


def recount(tree, X, y, **options):
    kind = TreeRegressor if tree.is_regression else TreeClassifier
    return kind.from_tree(tree).recount(X, y, **options).tree_


def edited(tree, node, threshold):
    """The tree with another threshold and its old counts."""
    thresholds = tree.skeleton.threshold.copy()
    thresholds[node] = threshold
    return replace(tree, skeleton=replace(tree.skeleton, threshold=thresholds))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_rows_of_the_fit_give_the_tree_of_the_fit(settings):
    tree = TreeClassifier(**settings).fit(X, Y).tree_
    again = recount(tree, X, Y)
    assert again.digest == tree.digest
    assert str(again.history[len(tree.history)]) == "recount(rows=200)"


@pytest.mark.parametrize("preset", ["default", "cart"])
def test_the_rows_of_a_regression_fit_give_the_tree_of_the_fit(preset):
    tree = TreeRegressor(preset).fit(X, NUMBER).tree_
    assert recount(tree, X, NUMBER).digest == tree.digest


def test_an_edited_split_is_counted_with_its_new_threshold():
    tree = edited(TreeClassifier("cart", max_depth=1).fit(X, Y).tree_, 0, 0.25)
    feature, first = tree.skeleton.feature[0], tree.skeleton.first_child[0]
    left = X[:, feature] <= 0.25
    found = recount(tree, X, Y).evidence[first]
    missing = np.isnan(X[:, feature])
    if tree.skeleton.missing_slot[0] == 0:
        left |= missing
    assert found.tolist() == [np.count_nonzero(left & (label == Y)) for label in ("a", "b")]


def test_an_empty_leaf_has_the_prediction_of_its_parent():
    tree = recount(edited(TreeClassifier("cart", max_depth=1).fit(X, Y).tree_, 0, 1e9), X, Y)
    empty = int(np.flatnonzero(tree.rows == 0)[0])
    assert tree.belief[empty].tolist() == tree.belief[0].tolist()


def test_a_recounted_tree_can_be_set_in_its_estimator(tmp_path):
    clf = TreeClassifier(max_depth=1).fit(X, Y)
    clf.tree_ = recount(edited(clf.tree_, 0, 0.25), X, Y)
    hornbeam.save(clf, tmp_path / "m.hornbeam")
    assert hornbeam.load(tmp_path / "m.hornbeam").predict_proba(X).tolist() == clf.predict_proba(X).tolist()
    assert clf.update(X[:5], Y[:5]).tree_.rows[0] == 205


def test_weights_count_and_unknown_labels_raise():
    tree = TreeClassifier(smoothing=None).fit(X, Y).tree_
    doubled = recount(tree, X, Y, sample_weight=np.full(200, 2))
    assert (doubled.weight * doubled.unit[0]).tolist() == (2 * tree.weight * tree.unit[0]).tolist()
    with pytest.raises(SchemaError, match="y has the label 'c'"):
        recount(tree, X[:2], ["a", "c"])
    with pytest.raises(NotFittedError):
        TreeClassifier().recount(X, Y)


@pytest.mark.parametrize("preset", ["default", "c4.5", "readable"])
def test_files_are_counted_as_rows_in_memory(preset, tmp_path):
    frame = pd.DataFrame(X, columns=["p", "q", "r"]).assign(y=Y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    clf = TreeClassifier(preset).fit(frame[["p", "q", "r"]], Y)
    half = copy(clf).recount(frame[["p", "q", "r"]][::2], Y[::2])
    assert half.tree_.rows[0] == 100
    assert half.recount(tmp_path / "rows.parquet", "y").tree_.digest == clf.tree_.digest
    assert clf.recount(frame[["p", "q", "r"]], Y).tree_.digest == half.tree_.digest


def test_an_own_smoother_is_used_again():
    def flat(tree):
        return with_belief(tree, np.full(tree.belief.shape, 0.5))

    clf = TreeClassifier(smoothing=flat).fit(X, Y)
    assert set(clf.recount(X[:50], Y[:50]).tree_.belief.ravel().tolist()) == {0.5}
