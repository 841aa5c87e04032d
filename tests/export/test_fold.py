"""Folded trees: the heaviest parts are open, nothing is lost, and a path can be kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.errors import ParameterError
from hornbeam.export.people.display_subset import display_subset
from hornbeam.tree.walk import path
from strategies import trees


@settings(max_examples=60)
@given(trees(), st.integers(1, 12))
def test_every_leaf_is_shown_or_counted_once(tree, n):
    folded = display_subset(tree, n)
    shown = folded.tree.skeleton.is_leaf & (folded.hidden == 0)
    assert shown.sum() + folded.hidden.sum() == tree.n_leaves
    assert folded.tree.n_leaves <= max(n, tree.skeleton.n_children[0])
    assert folded.tree.rows.tolist() == tree.rows[folded.node].tolist()
    assert np.array_equal(folded.tree.belief, tree.belief[folded.node])
    assert (folded.hidden[~folded.tree.skeleton.is_leaf] == 0).all()


@pytest.fixture(scope="module")
def digits():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 4)).round(3)
    return TreeClassifier("cart").fit(X, (X[:, 0] + X[:, 1] * X[:, 2] > rng.random(3000)).astype(int)).tree_


def test_what_is_folded_is_lighter_than_what_is_open(digits):
    folded = display_subset(digits, 30)
    assert folded.tree.n_leaves == 30
    opened = ~folded.tree.skeleton.is_leaf
    assert folded.tree.rows[folded.hidden > 0].max() <= folded.tree.rows[opened].min()


def test_a_path_is_kept_to_its_end(digits):
    deepest = digits.n_nodes - 1
    way = path(digits.skeleton, deepest)
    folded = display_subset(digits, 5, keep=way[:-1])
    assert set(way) <= set(folded.node.tolist())


def test_small_trees_are_left_alone_and_a_budget_makes_sense(digits):
    assert display_subset(digits, None).tree is digits
    assert display_subset(digits, digits.n_leaves).tree is digits
    with pytest.raises(ParameterError, match="max_leaves=0"):
        display_subset(digits, 0)
