"""Sweeps over a tree and level order, against one node at a time."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import TreeError
from hornbeam.tree import Skeleton, walk
from hornbeam.tree.level_order import concat_ranges, level_order, parents_and_children
from hornbeam.tree.skeleton import check_skeleton
from support.strategies import chain, trees


def ancestors(parent, node):
    while node >= 0:
        yield node
        node = parent[node]


@given(trees())
def test_sweeps_agree_with_one_path_at_a_time(tree):
    s = tree.skeleton
    paths = [list(ancestors(s.parent, node)) for node in range(s.n_nodes)]
    depth = [len(above) - 1 for above in paths]
    assert walk.depths(s).tolist() == depth
    assert s.depth == max(depth)
    below = [[node for node in range(s.n_nodes) if top in paths[node]] for top in range(s.n_nodes)]
    assert walk.heights(s).tolist() == [
        max(depth[i] for i in ids) - depth[top] for top, ids in enumerate(below)
    ]
    assert walk.leaves_below(s).tolist() == [sum(s.n_children[i] == 0 for i in ids) for ids in below]
    assert s.n_leaves == walk.leaves_below(s)[0]
    for node in range(s.n_nodes):
        assert walk.path(s, node) == paths[node][::-1]
        assert walk.descendants(s, node).tolist() == below[node]
        assert s.first_child[s.parent[node]] + walk.slots(s)[node] == node or node == 0
    assert walk.pull_up(s, tree.evidence).tolist() == [
        tree.evidence[ids].sum(axis=0).tolist() for ids in below
    ]
    assert walk.push_down(s, tree.rows).tolist() == [tree.rows[above].sum() for above in paths]
    assert walk.path_tests(s) == sum(depth[node] for node in range(s.n_nodes) if s.n_children[node] == 0)
    last = s.n_nodes - 1
    assert walk.with_ancestors(s, np.array([last])).tolist() == paths[last][::-1]
    assert walk.features_above(s, last) == [s.feature[node] for node in paths[last][:0:-1]]


@given(trees())
def test_levels_hold_the_nodes_of_their_depth(tree):
    s = tree.skeleton
    depth = walk.depths(s)
    for d in range(s.depth + 1):
        assert (depth[s.levels[d] : s.levels[d + 1]] == d).all()
    assert s.levels[-1] == s.n_nodes


def test_pull_up_keeps_large_integers_exact():
    values = np.array([2**62, 1, 2**61 + 1])
    skeleton = chain(1)
    assert walk.pull_up(skeleton, values)[0] == 2**62 + 1 + 2**61 + 1


@given(trees(max_inner=20), st.randoms(use_true_random=False))
def test_level_order_sorts_any_order_with_parents_first(tree, random):
    s = tree.skeleton
    slots = walk.slots(s)
    emitted, open_nodes = [], [0]
    while open_nodes:
        node = open_nodes.pop(random.randrange(len(open_nodes)))
        emitted.append(node)
        open_nodes += range(s.first_child[node], s.first_child[node] + s.n_children[node])
    place = np.empty(s.n_nodes, np.int64)
    place[emitted] = np.arange(s.n_nodes)
    parent = np.array([-1 if s.parent[node] < 0 else place[s.parent[node]] for node in emitted])
    order = level_order(parent, slots[emitted])
    assert np.array(emitted)[order].tolist() == list(range(s.n_nodes))


@pytest.mark.parametrize(
    ("parent", "rank", "message"),
    [
        ([], [], "there are no nodes"),
        ([0], [0], r"parent\[0\] is 0"),
        ([-1, 2, 0], [0, 0, 0], r"parent\[1\] is 2"),
        ([-1, 0, 0], [0, 1, 1], "no child of node 0 has rank 0"),
        ([-1, 0, 0, 2, 2], [0, 0, 1, 0, 2], "no child of node 2 has rank 1"),
    ],
)
def test_level_order_refuses_invalid_trees(parent, rank, message):
    with pytest.raises(TreeError, match=message):
        level_order(np.array(parent, np.int32), np.array(rank, np.int32))


def test_a_million_nodes_and_a_deep_chain_are_fast():
    n_children = np.zeros(1_000_001, np.int32)
    n_children[:500_000] = 2
    parent, _ = parents_and_children(n_children)
    rank = np.append(0, np.tile([0, 1], 500_000))
    begin = time.process_time()
    assert (level_order(parent, rank) == np.arange(1_000_001)).all()
    deep = chain(10_000)
    assert (level_order(deep.parent, walk.slots(deep)) == np.arange(20_001)).all()
    assert walk.heights(deep)[0] == 10_000
    assert time.process_time() - begin < 10  # about half a second; O(n * depth) would take minutes


def test_empty_ranges_add_nothing():
    assert concat_ranges(np.array([4, 7, 1]), np.array([0, 2, 0])).tolist() == [7, 8]
    assert concat_ranges(np.array([], np.int32), np.array([], np.int32)).tolist() == []


def test_sweeps_of_a_single_leaf():
    leaf = Skeleton.leaf()
    assert walk.path(leaf, 0) == [0]
    assert walk.descendants(leaf, 0).tolist() == [0]
    assert leaf.levels == (0, 1)


@given(trees(), st.integers(2, 9), st.integers(0, 4), st.randoms(use_true_random=False))
def test_splits_and_branches_of_too_few_rows_are_taken_out(tree, split, leaf, random):
    """Against rules applied one at a time, from the root down."""
    s = tree.skeleton
    ended = np.array([random.randint(0, 4) for _ in range(s.n_nodes)], float)
    weight = walk.pull_up(s, ended)

    def expected(node, own):
        children = range(s.first_child[node], s.first_child[node] + s.n_children[node])
        heavy = [child for child in children if weight[child] >= leaf]
        if not children or own < split or not heavy:
            return (s.feature[node] if not children else -1, [])
        if len(heavy) == 1:
            return expected(heavy[0], own)
        return (s.feature[node], [expected(child, weight[child]) for child in children])

    def found(skeleton, node):
        first = skeleton.first_child[node]
        below = range(first, first + skeleton.n_children[node])
        return (skeleton.feature[node], [found(skeleton, child) for child in below])

    left, source = walk.with_least_rows(s, weight, split, leaf)
    check_skeleton(left)
    assert found(left, 0) == expected(0, weight[0])
    kept = source < s.n_nodes
    assert (left.feature[kept] == s.feature[source[kept]]).all()
    assert left.is_leaf[~kept].all()
