"""The sweeps' doors: what they refuse, so that no sweep leaves its arrays. What they find is tested by its users."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.kernels.sweep import least_costs, rest
from strategies import trees


@given(trees(), st.integers(0, 2**32 - 1))
def test_the_rest_is_what_no_cut_node_stands_above(tree, seed):
    skeleton = tree.skeleton
    cut = np.random.default_rng(seed).random(tree.n_nodes) < 0.3
    gone = np.zeros(tree.n_nodes, bool)
    for node in range(1, tree.n_nodes):
        gone[node] = gone[skeleton.parent[node]] or cut[skeleton.parent[node]]
    left = rest(skeleton.first_child, skeleton.n_children, cut)
    assert left.node.tolist() == np.flatnonzero(~gone).tolist()
    old = left.node.tolist()
    assert left.parent.tolist() == [-1, *(old.index(skeleton.parent[node]) for node in old[1:])]
    for new, node in enumerate(old):
        assert left.n_children[new] == (0 if cut[node] else skeleton.n_children[node])
        if left.n_children[new]:
            assert old[left.first_child[new]] == skeleton.first_child[node]
        else:
            assert left.first_child[new] == -1


@pytest.mark.parametrize(
    ("first_child", "n_children", "n_cut"),
    [
        ([1, -1, 3, -1, -1], [2, 0, 2, 0, 0], 4),
        ([1, -1, 3, -1, -1], [2, 0, 3, 0, 0], 5),
        ([1, -1, 2, -1, -1], [2, 0, 2, 0, 0], 5),
        ([1, -1, 3, -1], [2, 0, 2, 0, 0], 5),
        ([], [], 0),
    ],
)
def test_shapes_that_would_leave_the_arrays(first_child, n_children, n_cut):
    with pytest.raises(ValueError, match=r"expected|differ"):
        rest(np.array(first_child, np.int32), np.array(n_children, np.int32), np.zeros(n_cut, bool))


def test_costs_of_other_classes():
    with pytest.raises(ValueError, match="every class by every class"):
        least_costs(np.ones((5, 2)), np.ones((3, 3)), np.empty(5), np.empty(5, np.int32))
