"""Pruning by the price of a leaf."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import Tree
from hornbeam.errors import ParameterError
from hornbeam.pruning import LeafPrice
from hornbeam.pruning.leaf_price import price_links
from hornbeam.smoothing import HGS
from hornbeam.tree import Feature, Schema, Skeleton
from hornbeam.tree.edit import collapse
from hornbeam.tree.walk import descendants, evidence_stopping
from support.examples import examples
from support.strategies import trees


def costs(tree, price, cut=None):
    """The cost of the tree if these nodes are cut; without `cut`, that of its cheapest subtree."""
    weight = evidence_stopping(tree.skeleton, tree.evidence).sum(axis=1) * tree.unit[0]
    skeleton, belief = tree.skeleton, tree.belief

    def loss(node, by):
        return weight[node] * (1 - 2 * belief[node] @ belief[by] + belief[by] @ belief[by])

    def cost(node):
        as_leaf = price + sum(loss(each, node) for each in descendants(skeleton, node))
        first, n = skeleton.first_child[node], skeleton.n_children[node]
        if n == 0 or (cut is not None and cut[node]):
            return as_leaf
        split = loss(node, node) + sum(cost(child) for child in range(first, first + n))
        return split if cut is not None else min(as_leaf, split)

    return cost(0)


def test_worked_example():
    """Leaves .9 and .7 of ten rows each below .8: 20 rows times 2 * .1**2 = .4 in squared loss."""
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    tree = Tree.raw(Schema((Feature("x"),), (0, 1)), skeleton, np.array([[16, 4], [9, 1], [7, 3]]))
    assert LeafPrice(0.39)(tree).n_leaves == 2
    assert LeafPrice(0.41)(tree).n_leaves == 1


@examples(80)
@given(trees(max_inner=8), st.sampled_from([0.0, 0.1, 0.7, 3.0, 20.0]))
def test_no_subtree_is_cheaper(tree, price):
    tree = HGS()(tree)
    assert costs(tree, price, LeafPrice(price).cuts(tree)) == pytest.approx(costs(tree, price), rel=1e-9)


@given(trees())
def test_a_higher_price_leaves_fewer_leaves(tree):
    tree = HGS()(tree)
    leaves = [LeafPrice(price)(tree).n_leaves for price in (0.0, 0.1, 1.0, 10.0, 1e18)]
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[-1] == 1


@given(trees())
def test_predictions_of_remaining_nodes_do_not_change(tree):
    tree = HGS()(tree)
    pruned = LeafPrice(0.5)(tree)
    again = HGS()(collapse(tree, LeafPrice(0.5).cuts(tree)))
    np.testing.assert_array_equal(pruned.belief, again.belief)


def test_a_negative_price_raises():
    with pytest.raises(ParameterError, match="price=-1"):
        LeafPrice(-1)


def test_the_price_at_which_the_root_becomes_a_leaf():
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    tree = Tree.raw(Schema((Feature("x"),), (0, 1)), skeleton, np.array([[16, 4], [9, 1], [7, 3]]))
    assert price_links(tree).alpha.tolist() == pytest.approx([0.4, np.inf, np.inf])
