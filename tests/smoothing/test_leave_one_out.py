"""The collapsed leave-one-out loss against worked numbers, a loop over rows, and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hornbeam.errors import ParameterError
from hornbeam.smoothing.leave_one_out import LeaveOneOut
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from support.reference_smoothing import leave_one_out_cost, left_out_rows
from support.strategies import schemas, skeletons
from support.worked_trees import ROOT, T0, A, tree_of

losses = pytest.mark.parametrize("loss", ["log", "squared"])


@st.composite
def scored(draw):
    """A small tree with rows in leaves and inner nodes, some leaves empty; an alpha per node; a prior."""
    schema = draw(schemas(max_classes=4))
    skeleton = draw(skeletons(schema, max_inner=6, fractional=False))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    own = rng.integers(0, 4, (skeleton.n_nodes, schema.n_classes)) * rng.integers(0, 2, (skeleton.n_nodes, 1))
    own[~skeleton.is_leaf & (skeleton.missing_slot != -1)] = 0
    tree = Tree.raw(schema, skeleton, pull_up(skeleton, own))
    return tree, rng.lognormal(size=tree.n_nodes), draw(st.sampled_from([0.0, 0.5, 1.0]))


def test_worked_cost_and_gradient():
    cost, gradient = LeaveOneOut.of(T0, prior=0.0)(np.ones(5))
    assert cost == pytest.approx(1.089492, abs=5e-7)
    assert_allclose(gradient[[ROOT, A]], [-0.135550, 0.020572], atol=5e-7)
    assert not gradient[2:].any()
    assert cost * np.log(2) == pytest.approx(0.755178, abs=5e-7)
    assert_allclose(gradient[[ROOT, A]] * 10 * np.log(2), [-0.939562, 0.142593], atol=5e-7)


def test_worked_squared_loss_and_gradient():
    cost, gradient = LeaveOneOut.of(T0, prior=0.0, loss="squared")(np.ones(5))
    assert cost == pytest.approx(0.126025, abs=5e-7)
    assert_allclose(gradient[[ROOT, A]], [-0.007056, -0.002061], atol=5e-7)
    assert not gradient[2:].any()


def test_worked_frequencies_without_a_row():
    contribution = LeaveOneOut.of(T0, prior=0.0).contribution
    assert_allclose(contribution[[ROOT, A], :2], [[6 / 9, 2 / 9], [5 / 6, 0]])
    assert not contribution[2:].any()


@losses
@given(given_tree=scored())
def test_the_collapsed_cost_equals_a_loop_over_rows(loss, given_tree):
    tree, alpha, prior = given_tree
    cost, _ = LeaveOneOut.of(tree, prior, loss)(alpha)
    assert cost == pytest.approx(leave_one_out_cost(tree, alpha, prior, loss), abs=1e-12)


@given(scored())
def test_the_probabilities_of_all_classes_equal_a_loop_over_rows(given_tree):
    tree, alpha, prior = given_tree
    cost_of = LeaveOneOut.of(tree, prior)
    expected = {(node, label): p for node, label, p in left_out_rows(tree, alpha, prior)}
    probabilities = cost_of.probabilities(alpha)
    assert list(zip(cost_of.node.tolist(), cost_of.column.tolist(), strict=True)) == sorted(expected)
    for at, p in zip(sorted(expected), probabilities, strict=True):
        assert_allclose(p, expected[at], rtol=1e-9, atol=1e-12)


@losses
@given(given_tree=scored())
def test_the_gradient_equals_finite_differences(loss, given_tree):
    tree, alpha, prior = given_tree
    cost_of = LeaveOneOut.of(tree, prior, loss)
    gradient = cost_of(alpha)[1]
    for node in range(tree.n_nodes):
        step = 1e-5 * alpha[node]
        up, down = alpha.copy(), alpha.copy()
        up[node] += step
        down[node] -= step
        slope = (cost_of(up)[0] - cost_of(down)[0]) / (2 * step)
        assert gradient[node] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_rows_of_equal_weight_are_left_out_exactly():
    """Rows of weight 2 with twice the alpha and twice the prior are rows of weight 1."""
    twice = tree_of([2, 2, 0, 0, 0], 2 * T0.evidence, rows=T0.rows)
    alpha = np.array([0.7, 1.9, 1, 1, 1])
    cost, gradient = LeaveOneOut.of(T0, prior=1.0)(alpha)
    twice_cost, twice_gradient = LeaveOneOut.of(twice, prior=2.0)(2 * alpha)
    assert twice_cost == pytest.approx(cost)
    assert_allclose(twice_gradient, gradient / 2)


def test_rows_of_unequal_weight_cost_a_finite_amount():
    """Seven heavy rows and a light one: the mean weight is more than the light row has."""
    tree = tree_of([2, 0, 0], [[70, 1], [40, 0], [30, 1]], rows=np.array([8, 4, 4]), unit=0.5)
    cost_of = LeaveOneOut.of(tree)
    cost, gradient = cost_of(np.ones(3))
    assert 0 < cost < np.inf
    assert np.isfinite(gradient).all()
    assert_allclose(cost_of.probabilities(np.ones(3)).sum(axis=1), 1)


def test_the_cost_of_a_tree_without_rows_is_0():
    cost, gradient = LeaveOneOut.of(tree_of([2, 0, 0], [[0, 0]] * 3))(np.ones(3))
    assert cost == 0
    assert not gradient.any()


def test_an_unknown_loss_raises():
    with pytest.raises(ParameterError, match=r"^loss='hinge': expected 'log' or 'squared'"):
        LeaveOneOut.of(T0, loss="hinge")
