"""The sweeps against their slow twins, bit for bit, and what their doors refuse, so that none leaves its arrays."""

import gc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import reference_sweep as reference
from hornbeam.kernels.sweep import ExpectedCosts, GivenCosts, PruneSweep, frontiers, least_costs, prune_shape
from hornbeam.tree import Skeleton
from hornbeam.tree.walk import pull_up
from strategies import chain, trees

seeds = st.integers(0, 2**32 - 1)


@st.composite
def shapes(draw):
    """Skeletons in which a node has up to 40 children, far more than the tests of a small schema can ask for."""
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


def risky(skeleton, seed):
    """Evidence, some of which stops on the way, beliefs and costs of a tree of this shape: ties, zeros and gains."""
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


def settled(skeleton, costs, orders=None, **margin):
    """The verdicts and the values, all nodes settled at once or in the orders given, one after the other."""
    settler = PruneSweep(skeleton.first_child, skeleton.n_children, costs, **margin)
    if orders is None:
        settler.settle_all()
    for order in orders or ():
        settler.settle(order)
    return settler.cut.tolist(), settler.value.tolist()


@given(shapes(), seeds, st.sampled_from([{}, {"relative": 1e-12}, {"slack": -1e-300, "relative": -1e-12}]))
def test_expected_costs_are_settled_as_the_twin_does(skeleton, seed, margin):
    costs = risky(skeleton, seed)
    as_leaf, staying = reference.expected_costs(skeleton, *costs)
    twin = reference.settle(skeleton, as_leaf, staying, **margin)
    assert settled(skeleton, costs, **margin) == twin
    assert settled(skeleton, GivenCosts(np.array(as_leaf), np.array(staying)), **margin) == twin


@given(trees(), seeds)
def test_trees_of_every_kind_are_settled_as_the_twin_does(tree, seed):
    k = tree.n_classes
    costs = ExpectedCosts(
        tree.evidence, tree.unit.item(0), tree.belief, np.random.default_rng(seed).random((k, k))
    )
    assert settled(tree.skeleton, costs) == reference.settle(
        tree.skeleton, *reference.expected_costs(tree.skeleton, *costs)
    )


@given(shapes(), seeds)
def test_the_order_within_a_frontier_does_not_matter(skeleton, seed):
    """Nor does walking the levels backwards instead of the heights, or settling one node at a time."""
    rng = np.random.default_rng(seed)
    order, begin = frontiers(skeleton.first_child, skeleton.n_children)
    rounds = [rng.permutation(order[here:end]) for here, end in pairwise(begin)]
    alone = np.concatenate(rounds)[:, None]
    given_costs = GivenCosts(*rng.integers(0, 5, (2, skeleton.n_nodes)).astype(float))
    for costs in (risky(skeleton, seed), given_costs):
        at_once = settled(skeleton, costs)
        assert settled(skeleton, costs, rounds) == at_once
        assert settled(skeleton, costs, list(alone)) == at_once


def test_rows_and_costs_worked_by_hand():
    """A root of ten rows over leaves of five and four: one row stops at the root, which answers class 0."""
    stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    evidence, belief = np.array([[6, 4], [5, 0], [1, 3]]), np.array([[0.6, 0.4], [1.0, 0.0], [0.25, 0.75]])
    costs = ExpectedCosts(evidence, 0.5, belief, np.array([[0.0, 1.0], [2.0, 0.0]]))
    # As a leaf min(0.8, 0.6) * 5; staying 0.6 / 2; the leaves 0 and min(1.5, 0.25) * 2.
    assert settled(stump, costs) == ([False] * 3, [0.3 + 0.5, 0.0, 0.5])


@given(shapes(), seeds, st.sampled_from([0.0, 0.1, 0.5, 1.0]))
@example(Skeleton.leaf(), 0, 1.0)
def test_the_rest_is_what_the_twin_finds(skeleton, seed, share):
    cut = np.random.default_rng(seed).random(skeleton.n_nodes) < share
    left = prune_shape(skeleton.first_child, skeleton.n_children, cut)
    assert list(zip(*(array.tolist() for array in left), strict=True)) == reference.rest(skeleton, cut)
    assert all(array.base is None for array in left), "no larger array is kept alive"


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
def test_shapes_that_would_leave_the_arrays(first_child, n_children, n_cut):
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
def test_costs_of_other_nodes_or_classes(costs):
    with pytest.raises(ValueError, match="expected"):
        PruneSweep(np.array([1, -1, -1], np.int32), np.array([2, 0, 0], np.int32), costs)


@pytest.mark.parametrize("node", [-1, 3])
def test_nodes_of_another_tree(node):
    stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    settler = PruneSweep(stump.first_child, stump.n_children, GivenCosts(np.zeros(3), np.zeros(3)))
    with pytest.raises(ValueError, match="nodes of the tree"):
        settler.settle(np.array([1, node], np.int32))


def test_a_settler_holds_what_it_reads():
    """Arrays that nobody else holds stay until the settler goes."""
    skeleton = chain(30_000)
    n = skeleton.n_nodes
    settler = PruneSweep(
        skeleton.first_child.copy(), skeleton.n_children.copy(), GivenCosts(np.ones(n), np.zeros(n))
    )
    gc.collect()
    _others = [np.full(n, np.nan) for _ in range(8)], [np.full(n, 2**30, np.int32) for _ in range(8)]
    settler.settle_all()
    assert settler.cut.tolist() == (skeleton.n_children > 0).tolist()


def test_beliefs_of_other_classes():
    with pytest.raises(ValueError, match="every class by every class"):
        least_costs(np.ones((5, 2)), np.ones((3, 3)))
