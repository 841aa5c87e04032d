"""Folded trees: subtrees with few rows are folded, every leaf is counted, and a path can be kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.errors import ParameterError
from hornbeam.export.people.display_subset import display_subset
from hornbeam.tree.walk import path
from support.examples import examples
from support.strategies import trees


@examples(60)
@given(trees(), st.integers(1, 12))
def test_every_leaf_is_shown_or_counted_once(tree, n):
    subset = display_subset(tree, n)
    shown = subset.tree.skeleton.is_leaf & (subset.hidden == 0)
    assert shown.sum() + subset.hidden.sum() == tree.n_leaves
    assert subset.tree.n_leaves <= max(n, tree.skeleton.n_children[0])
    assert subset.tree.rows.tolist() == tree.rows[subset.node].tolist()
    assert np.array_equal(subset.tree.belief, tree.belief[subset.node])
    assert (subset.hidden[~subset.tree.skeleton.is_leaf] == 0).all()


@pytest.fixture(scope="module")
def digits():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 4)).round(3)
    return TreeClassifier("cart").fit(X, (X[:, 0] + X[:, 1] * X[:, 2] > rng.random(3000)).astype(int)).tree_


def test_folded_subtrees_have_fewer_rows_than_open_nodes(digits):
    subset = display_subset(digits, 30)
    assert subset.tree.n_leaves == 30
    opened = ~subset.tree.skeleton.is_leaf
    assert subset.tree.rows[subset.hidden > 0].max() <= subset.tree.rows[opened].min()


def test_a_path_is_kept_to_its_end(digits):
    deepest = digits.n_nodes - 1
    nodes = path(digits.skeleton, deepest)
    subset = display_subset(digits, 5, keep=nodes[:-1])
    assert set(nodes) <= set(subset.node.tolist())


def test_small_trees_are_unchanged_and_an_invalid_limit_raises(digits):
    assert display_subset(digits, None).tree is digits
    assert display_subset(digits, digits.n_leaves).tree is digits
    with pytest.raises(ParameterError, match="max_leaves=0"):
        display_subset(digits, 0)
