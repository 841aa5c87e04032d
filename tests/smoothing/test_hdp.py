"""The HDP sampler against exact sums over every seating plan."""

from math import lgamma, log

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from hornbeam.errors import ParameterError
from hornbeam.kernels.smoothing import sample_hdp
from hornbeam.smoothing import HDP
from hornbeam.smoothing.hdp import Tying
from support.examples import examples
from support.reference_smoothing import exact_hdp, stirling
from support.strategies import trees
from support.worked_trees import TWO_LEAVES, tree_of

# Two children of the root (rows stop at one of them), an empty leaf, three classes.
FAMILIES = tree_of(
    [2, 2, 2, 0, 0, 0, 0],
    [[5, 3, 0], [3, 2, 0], [2, 1, 0], [3, 0, 0], [0, 1, 0], [2, 1, 0], [0, 0, 0]],
)
LONG = {"sweeps": 150_000, "burn_in": 1000}


def test_stirling_numbers_and_one_conditional_by_hand():
    assert [stirling(3, t) for t in range(1, 4)] == [2, 3, 1]
    assert [stirling(4, t) for t in range(1, 5)] == [6, 11, 6, 1]
    # c = 1 and single tables for class 0: the second leaf has its two rows of class 1 at one table or at two.
    one, two = stirling(2, 1) * 2 * 1 / (2 * 3 * 4), stirling(2, 2) * 2 * 2 / (2 * 3 * 4 * 5)
    assert one / (one + two) == pytest.approx(5 / 7)
    # A tree whose other tables cannot move: rows of class 0 are alone in their leaves.
    found = HDP(concentration=1.0, **LONG).sample(tree_of([2, 0, 0], [[2, 2], [1, 0], [1, 2]]))
    assert found.tables[2] - 1 == pytest.approx((5 * 1 + 2 * 2) / 7, abs=0.005)


@pytest.mark.parametrize(
    ("c", "root", "l1", "l2", "tables"),
    [
        (0.5, 0.6077, 0.9440, 0.3725, 3.517),
        (1.0, 0.6125, 0.9031, 0.4031, 3.865),
        (4.0, 0.6224, 0.7842, 0.4985, 4.802),
    ],
)
def test_worked_numbers(c, root, l1, l2, tables):
    belief, _, total = exact_hdp(TWO_LEAVES, np.zeros(3, int), c)
    assert_allclose(belief[:, 0], [root, l1, l2], atol=5e-5)
    assert total == pytest.approx(tables, abs=5e-4)
    found = HDP(concentration=c, **LONG).sample(TWO_LEAVES)
    assert_allclose(found.belief[:, 0], [root, l1, l2], atol=0.003)
    assert found.tables.sum() == pytest.approx(tables, abs=0.02)


def test_worked_numbers_with_a_sampled_concentration():
    found = HDP(**LONG).sample(TWO_LEAVES)
    assert_allclose(found.belief[1:, 0], [0.9027, 0.4042], atol=0.003)
    assert found.concentration[1:] == pytest.approx(1.12, abs=0.02)


def test_a_few_thousand_sweeps_are_accurate():
    tree = HDP(sweeps=6000)(TWO_LEAVES)
    assert_allclose(tree.belief[1:, 0], [0.9027, 0.4042], atol=0.005)


@pytest.mark.parametrize("concentration", [None, 0.7, 3.0])
@pytest.mark.parametrize("tying", Tying)
def test_the_sampler_agrees_with_a_sum_over_every_seating_plan(tying, concentration):
    belief, mean, total = exact_hdp(FAMILIES, tying.groups(FAMILIES.skeleton), concentration)
    found = HDP(tying=tying, concentration=concentration, **LONG).sample(FAMILIES)
    assert_allclose(found.belief, belief, atol=0.004)
    assert_allclose(found.concentration, mean, rtol=0.03)
    assert found.tables.sum() == pytest.approx(total, rel=0.01)


def test_large_counts_agree_with_the_sum_where_a_window_is_needed():
    """One class of 60 rows: more possible numbers of tables than a window holds."""
    tree = tree_of([2, 0, 0], [[61, 2], [60, 0], [1, 2]])
    for c in (1.0, 40.0):
        belief, total = _two_leaves_exact(60, c)
        found = HDP(concentration=c, **LONG).sample(tree)
        assert_allclose(found.belief[:, 0], belief, atol=0.003)
        assert found.tables.sum() == pytest.approx(total, rel=0.01)


def _two_leaves_exact(n, c):
    """Leaves (n, 0) and (1, 2), by the ratios of the seating weights in logarithms."""
    row = [0.0] + [-np.inf] * n  # log Stirling numbers of size 0, 1, ..., n
    for size in range(n):
        row = [-np.inf] + [
            np.logaddexp(row[t - 1], (log(size) if size else -np.inf) + row[t]) for t in range(1, n + 1)
        ]
    weight, theta, tables = [], [], []
    for t in range(1, n + 1):
        for u in (1, 2):
            m = np.array([t + 1, u])
            root = sum(lgamma(1 + x) for x in m) - lgamma(2 + m.sum())
            weight.append((t + 1 + u) * log(c) + row[t] + root)
            top = (m + 1) / (m.sum() + 2)
            theta.append([top[0], (n + c * top[0]) / (n + c), (1 + c * top[0]) / (3 + c)])
            tables.append(t + 1 + u)
    weight = np.exp(np.array(weight) - max(weight))
    weight /= weight.sum()
    return weight @ np.array(theta), weight @ np.array(tables)


def test_a_leaf_of_very_many_rows_is_nearly_certain():
    """A hundred thousand rows of one class, whatever the rest of the tree."""
    tree = tree_of([2, 0, 0], [[100_000, 5000], [100_000, 0], [0, 5000]])
    belief = HDP(sweeps=300)(tree).belief
    assert belief[1, 0] > 0.9999
    assert belief[2, 1] > 0.999


def test_the_result_depends_on_the_seed_alone():
    one, same, other = (HDP(sweeps=200, random_state=seed)(FAMILIES) for seed in (1, 1, 2))
    assert one.digest == same.digest != other.digest


def test_the_bits_are_those_recorded():
    """No library function is called whose last bit may differ between machines."""
    posterior = HDP(sweeps=200, random_state=7).sample(FAMILIES)
    recorded = ["0x1.b8bfd70509884p-1", "0x1.109fc693be381p-3", "0x1.8c1bab0374e69p-8"]
    assert [value.hex() for value in posterior.belief[3].tolist()] == recorded


@examples(30)
@given(trees(max_inner=6))
def test_beliefs_are_probabilities_on_any_tree_of_whole_rows(tree):
    weight = tree.evidence * tree.unit
    if (weight % 1).any() or weight.max() > 10_000_000:
        with pytest.raises(ParameterError, match=r"fractions of rows|at most 10000000"):
            HDP(sweeps=3, burn_in=1)(tree)
        return
    for tying in Tying:
        smoothed = HDP(sweeps=3, burn_in=1, tying=tying)(tree)
        assert_allclose(smoothed.belief.sum(axis=1), 1)
        assert (smoothed.belief > 0).all()
        assert (smoothed.borrowed > 0).all()
        empty = tree.evidence.sum(axis=1) == 0
        empty[0] = False
        parent = tree.skeleton.parent
        assert_allclose(smoothed.belief[empty], smoothed.belief[parent[empty]])


def test_tying_groups_the_nodes():
    wide = tree_of([2, 2, 2, 0, 0, 0, 0], np.zeros((7, 2), int))
    groups = {tying: tying.groups(wide.skeleton)[1:].tolist() for tying in Tying}
    assert groups == {
        "single": [0, 0, 0, 0, 0, 0],
        "level": [0, 0, 1, 1, 1, 1],
        "parent": [0, 0, 1, 1, 2, 2],
        "none": [0, 1, 2, 3, 4, 5],
    }
    assert HDP(tying="level") == HDP(tying=Tying.LEVEL)


@pytest.mark.parametrize(
    "parameters",
    [
        {"tying": "levels"},
        {"sweeps": 100, "burn_in": 100},
        {"burn_in": -1},
        {"random_state": -1},
        {"random_state": 2**64},
        {"concentration": 0.0},
        {"root_concentration": np.inf},
    ],
)
def test_parameters_out_of_range_raise(parameters):
    with pytest.raises(ParameterError, match="expected"):
        HDP(**parameters)


@pytest.mark.parametrize(
    "wrong",
    [
        {"parent": np.array([-1, 2, 0], np.int32)},
        {"own": np.array([[0, 0], [-1, 0], [1, 2]])},
        {"own": np.array([[0, 0], [1, 0]])},
        {"group": np.array([0, -1, 0], np.int32)},
        {"group": np.array([0, 9, 0], np.int32)},
        {"concentration": 0.0},
        {"prior": (0.5, 1.0)},
    ],
)
def test_the_kernel_raises_for_invalid_arrays(wrong):
    fine = {
        "parent": np.array([-1, 0, 0], np.int32),
        "own": np.array([[0, 0], [3, 0], [1, 2]]),
        "group": np.zeros(3, np.int32),
        "concentration": 1.0,
    }
    with pytest.raises(ValueError, match=r"must|groups"):
        sample_hdp(**(fine | wrong), sweeps=2, burn_in=0, seed=0, root_concentration=2.0)
