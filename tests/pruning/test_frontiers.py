"""Frontiers, work and span."""

from itertools import pairwise

import numpy as np
from hypothesis import given

from hornbeam.pruning.bottom_up import frontiers, work_span
from hornbeam.tree.walk import heights
from support.strategies import chain, trees
from support.worked_trees import binary


def test_the_example_of_the_note():
    """Its nodes 1 to 11 are 0, 1, 3, 7, 8, 4, 9, 10, 2, 5, 6 in level order."""
    skeleton = binary([2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0])
    order, begin = frontiers(skeleton)
    assert [set(order[a:b].tolist()) for a, b in pairwise(begin)] == [
        {5, 6, 7, 8, 9, 10},
        {2, 3, 4},
        {1},
        {0},
    ]
    found = work_span(skeleton)
    assert (found.work, found.span, found.rounds, found.sizes) == (11, 4, 4, (6, 3, 1, 1))
    assert found.parallelism == 11 / 4


def test_span_is_the_largest_node_of_every_frontier():
    found = work_span(binary([2, 2, 0, 0, 0]), np.array([7.0, 5, 1, 2, 4]))
    assert (found.work, found.span) == (19, 4 + 5 + 7)


def test_a_chain_has_no_parallelism():
    assert work_span(chain(1000)).rounds == 1001
    assert work_span(chain(1000)).parallelism < 2


@given(trees())
def test_frontiers_hold_the_nodes_of_one_height(tree):
    order, begin = frontiers(tree.skeleton)
    height = heights(tree.skeleton)
    for h, (here, end) in enumerate(pairwise(begin)):
        assert np.array_equal(order[here:end], np.flatnonzero(height == h))
    assert end == tree.n_nodes
