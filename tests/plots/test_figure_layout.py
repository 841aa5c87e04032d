"""Positions of nodes in trees of every shape."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.plots.figure_layout import line_numbers, place_nodes, without_overlap
from hornbeam.tree.walk import depths, descendants
from support.examples import examples
from support.strategies import chain, schemas, skeletons

SKELETONS = schemas().flatmap(skeletons)


@examples(60)
@given(SKELETONS)
def test_leaves_are_on_consecutive_lines_and_parents_between_their_children(skeleton):
    line = line_numbers(skeleton)
    assert sorted(line[skeleton.is_leaf]) == list(range(skeleton.n_leaves))
    for node in np.flatnonzero(skeleton.n_children):
        children = slice(skeleton.first_child[node], skeleton.first_child[node] + skeleton.n_children[node])
        assert (np.diff(line[children]) >= 1).all()
        assert line[node] == (line[children][0] + line[children][-1]) / 2
        ends = [line[descendants(skeleton, child)] for child in range(children.start, children.stop)]
        assert all(one.max() < other.min() for one, other in pairwise(ends))


@examples(60)
@given(SKELETONS)
def test_unrelated_nodes_are_a_line_apart_and_there_is_room_below_inner_nodes(skeleton):
    line = line_numbers(skeleton)
    for node in range(skeleton.n_nodes):
        related = set(descendants(skeleton, node).tolist())
        at = node
        while at >= 0:
            related.add(at)
            at = skeleton.parent[at]
        unrelated = np.array(sorted(set(range(skeleton.n_nodes)) - related), int)
        below = line[unrelated][line[unrelated] > line[node]]
        assert (np.abs(line[unrelated] - line[node]) >= 1).all()
        assert (below - line[node] >= (1.0 if skeleton.is_leaf[node] else 1.5)).all()


@examples(60)
@given(SKELETONS, st.booleans(), st.integers(0, 2**32 - 1))
def test_children_begin_where_their_parent_ends(skeleton, aligned, seed):
    width = np.random.default_rng(seed).uniform(0, 50, skeleton.n_nodes)
    positions = place_nodes(skeleton, width, bend=7.0, aligned=aligned)
    assert (positions.end - positions.begin >= width - 1e-9).all()
    assert positions.begin[1:] == pytest.approx(positions.end[skeleton.parent[1:]] + 7.0)
    if aligned:
        for depth in range(depths(skeleton)[-1] + 1):
            assert np.ptp(positions.end[depths(skeleton) == depth]) == 0
    else:
        assert positions.width <= place_nodes(skeleton, width, bend=7.0).width


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_texts_do_not_overlap_and_only_heavier_ones_displace_others(n, seed):
    rng = np.random.default_rng(seed)
    line, column, weight = rng.uniform(0, 20, n), rng.integers(0, 3, n), rng.random(n)
    above, below = rng.uniform(0.1, 1.5, (2, n))
    written = without_overlap(line, column, weight, above, below)

    def touch(i, j):
        return (
            column[i] == column[j]
            and line[i] - above[i] < line[j] + below[j]
            and line[j] - above[j] < line[i] + below[i]
        )

    for i in range(n):
        rivals = [j for j in np.flatnonzero(written) if j != i and touch(i, j)]
        assert not rivals if written[i] else any(weight[j] > weight[i] for j in rivals)


def test_a_deep_chain_is_placed_without_recursion():
    positions = place_nodes(chain(5_000), np.ones(10_001), bend=1.0)
    assert positions.width == 10_001
