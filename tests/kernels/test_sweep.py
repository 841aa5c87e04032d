"""The sweeps against slow Python references, bit for bit, and wrong arguments."""

import gc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hornbeam.kernels.sweep import ExpectedCosts, GivenCosts, PruneSweep, frontiers, least_costs, prune_shape
from hornbeam.tree import Skeleton
from hornbeam.tree.walk import pull_up
from support import reference_sweep as reference
from support.strategies import chain, trees

seeds = st.integers(0, 2**32 - 1)


@st.composite
def shapes(draw):
    """Skeletons whose nodes have up to 40 children, more than splits on a small schema have."""
    if draw(st.integers(0, 4)) == 0:
        return chain(draw(st.integers(0, 60)))
    rng = np.random.default_rng(draw(seeds))
    n_children, born, splits = [], 1, draw(st.integers(0, 30))
    most = draw(st.sampled_from([2, 3, 40]))
    while len(n_children) < born:
        last = len(n_children) + 1 == born
        here = int(rng.integers(2, most, endpoint=True)) if splits and (last or rng.random() < 0.5) else 0
        splits, born = splits - (here > 0), born + here
        n_children.append(here)
    return Skeleton.of(
        n_children,
        [0 if n else -1 for n in n_children],
        [np.nan] * born,
        slot_start=np.cumsum([0, *n_children]),
        slot_of=np.concatenate([np.arange(n) for n in n_children]),
    )


def random_costs(skeleton, seed):
    """Expected costs of a tree of this shape, with ties, zeros and negative costs; some rows stop at inner nodes."""
    rng = np.random.default_rng(seed)
    n, k = skeleton.n_nodes, int(rng.integers(1, 9))
    own = rng.integers(0, rng.choice([1, 4, 2**40]), (n, k), endpoint=True)
    own[~skeleton.is_leaf] *= rng.integers(0, 1, endpoint=True)
    belief = rng.integers(0, 3, (n, k)) + (rng.random((n, k)) if seed % 2 else 0)
    belief[:, 0] += 1
    costs = [rng.random((k, k)), rng.integers(-2, 4, (k, k)).astype(float), 1.0 - np.eye(k)][rng.integers(3)]
    evidence = pull_up(skeleton, own)
    return ExpectedCosts(
        evidence, float(rng.choice([1.0, 2.0**-20])), belief / belief.sum(1, keepdims=True), costs
    )


def decided(skeleton, costs, parts=None, **margin):
    """The decisions and values, all nodes at once or in the given parts."""
    sweep = PruneSweep(skeleton.first_child, skeleton.n_children, costs, **margin)
    for begin, end in [(0, skeleton.n_nodes)] if parts is None else parts:
        sweep.decide(begin, end)
    return sweep.cut.tolist(), sweep.value.tolist()


@given(shapes(), seeds, st.sampled_from([{}, {"relative": 1e-12}, {"slack": -1e-300, "relative": -1e-12}]))
def test_expected_costs_give_the_decisions_of_the_reference(skeleton, seed, margin):
    costs = random_costs(skeleton, seed)
    as_leaf, staying = reference.expected_costs(skeleton, *costs)
    expected = reference.decide(skeleton, as_leaf, staying, **margin)
    assert decided(skeleton, costs, **margin) == expected
    assert decided(skeleton, GivenCosts(np.array(as_leaf), np.array(staying)), **margin) == expected


@given(trees(), seeds)
def test_trees_of_every_kind_give_the_decisions_of_the_reference(tree, seed):
    k = tree.n_classes
    costs = ExpectedCosts(
        tree.evidence, tree.unit.item(0), tree.belief, np.random.default_rng(seed).random((k, k))
    )
    assert decided(tree.skeleton, costs) == reference.decide(
        tree.skeleton, *reference.expected_costs(tree.skeleton, *costs)
    )


@given(shapes(), seeds)
def test_the_order_within_a_level_or_a_frontier_does_not_matter(skeleton, seed):
    rng = np.random.default_rng(seed)
    order, begin = frontiers(skeleton.first_child, skeleton.n_children)
    by_height = [node for here, end in pairwise(begin) for node in rng.permutation(order[here:end]).tolist()]
    by_level = [
        node
        for here, end in reversed(list(pairwise(skeleton.levels)))
        for node in rng.permutation(range(here, end))
    ]
    given_costs = GivenCosts(*rng.integers(0, 5, (2, skeleton.n_nodes)).astype(float))
    for costs in (random_costs(skeleton, seed), given_costs):
        at_once = decided(skeleton, costs)
        for order in (by_height, by_level):
            assert decided(skeleton, costs, [(node, node + 1) for node in order]) == at_once
        assert decided(skeleton, costs, reversed(list(pairwise(skeleton.levels)))) == at_once


def test_rows_and_costs_worked_by_hand():
    """A root of ten rows over leaves of five and four: one row stops at the root, which predicts class 0."""
    stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    evidence, belief = np.array([[6, 4], [5, 0], [1, 3]]), np.array([[0.6, 0.4], [1.0, 0.0], [0.25, 0.75]])
    costs = ExpectedCosts(evidence, 0.5, belief, np.array([[0.0, 1.0], [2.0, 0.0]]))
    # As a leaf min(0.8, 0.6) * 5; staying 0.6 / 2; the leaves 0 and min(1.5, 0.25) * 2.
    assert decided(stump, costs) == ([False] * 3, [0.3 + 0.5, 0.0, 0.5])


@given(shapes(), seeds, st.sampled_from([0.0, 0.1, 0.5, 1.0]))
@example(Skeleton.leaf(), 0, 1.0)
def test_the_pruned_shape_equals_the_reference(skeleton, seed, share):
    cut = np.random.default_rng(seed).random(skeleton.n_nodes) < share
    pruned = prune_shape(skeleton.first_child, skeleton.n_children, cut)
    assert list(zip(*(array.tolist() for array in pruned), strict=True)) == reference.rest(skeleton, cut)
    assert all(array.base is None for array in pruned), "no larger array is kept alive"


@pytest.mark.parametrize(
    ("first_child", "n_children", "n_cut"),
    [
        ([1, -1, 3, -1, -1], [2, 0, 2, 0, 0], 4),
        ([1, -1, 3, -1, -1], [2, 0, 3, 0, 0], 5),
        ([1, -1, 2, -1, -1], [2, 0, 2, 0, 0], 5),
        ([1, -1, 3, -1], [2, 0, 2, 0, 0], 5),
        ([1, 3, 3, -1, -1], [2, 2, 2, 0, 0], 5),
        ([1, 2, 3, -1, -1], [2, 2, 2, 0, 0], 5),
        ([1, -1, 3, -1, -1], [2, 0, 2, 0, -1], 5),
        ([1, -1, 3, -1, -1], [2, 0, 1, 0, 0], 5),
        ([1, -1, 2**31 - 2, -1, -1], [2, 0, 2**31 - 1, 0, 0], 5),
        ([], [], 0),
    ],
)
def test_invalid_shapes_are_rejected(first_child, n_children, n_cut):
    with pytest.raises(ValueError, match=r"expected|differ"):
        prune_shape(np.array(first_child, np.int32), np.array(n_children, np.int32), np.zeros(n_cut, bool))


@pytest.mark.parametrize(
    "costs",
    [
        GivenCosts(np.zeros(2), np.zeros(3)),
        GivenCosts(np.zeros(3), np.zeros(2)),
        ExpectedCosts(np.zeros((2, 2), np.int64), 1.0, np.ones((3, 2)), np.zeros((2, 2))),
        ExpectedCosts(np.zeros((3, 2), np.int64), 1.0, np.ones((2, 2)), np.zeros((2, 2))),
        ExpectedCosts(np.zeros((3, 2), np.int64), 1.0, np.ones((3, 3)), np.zeros((2, 2))),
        ExpectedCosts(np.zeros((3, 2), np.int64), 1.0, np.ones((3, 2)), np.zeros((3, 3))),
        ExpectedCosts(np.zeros((3, 0), np.int64), 1.0, np.ones((3, 0)), np.zeros((0, 0))),
    ],
)
def test_costs_of_wrong_shape_are_rejected(costs):
    with pytest.raises(ValueError, match="expected"):
        PruneSweep(np.array([1, -1, -1], np.int32), np.array([2, 0, 0], np.int32), costs)


@pytest.mark.parametrize("part", [(-1, 2), (0, 4), (2, 1), (-(2**63), 2**63 - 1)])
def test_nodes_outside_the_tree_are_rejected(part):
    stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    sweep = PruneSweep(stump.first_child, stump.n_children, GivenCosts(np.zeros(3), np.zeros(3)))
    with pytest.raises(ValueError, match="nodes of the tree"):
        sweep.decide(*part)


def test_a_sweep_keeps_its_arrays_alive():
    """Arrays without other references live as long as the sweep."""
    skeleton = chain(30_000)
    n = skeleton.n_nodes
    sweep = PruneSweep(
        skeleton.first_child.copy(), skeleton.n_children.copy(), GivenCosts(np.ones(n), np.zeros(n))
    )
    gc.collect()
    _others = [np.full(n, np.nan) for _ in range(8)], [np.full(n, 2**30, np.int32) for _ in range(8)]
    sweep.decide(0, n)
    assert sweep.cut.tolist() == (skeleton.n_children > 0).tolist()


def test_beliefs_of_other_classes_are_rejected():
    with pytest.raises(ValueError, match="every class by every class"):
        least_costs(np.ones((5, 2)), np.ones((3, 3)))
