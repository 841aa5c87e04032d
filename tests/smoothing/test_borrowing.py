"""Borrowing with six strengths, and its kernel."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hornbeam.errors import ParameterError
from hornbeam.kernels.smoothing import STRENGTH_NAMES, StackedTrees
from hornbeam.smoothing import HGS, Borrowing
from support import reference_smoothing
from support.examples import examples
from support.strategies import trees
from support.worked_trees import T0

strength = st.floats(-3, 3)
strengths = st.tuples(*[strength] * 6)


@examples(60)
@given(trees(), strengths)
def test_it_agrees_with_a_walk_down_every_path(tree, values):
    smoothed = Borrowing(*values)(tree)
    belief, borrowed = reference_smoothing.borrowing(tree, *values)
    assert_allclose(smoothed.belief, belief, rtol=1e-10, atol=1e-12)
    assert_allclose(smoothed.borrowed, borrowed, rtol=1e-10)


@given(trees())
def test_with_all_strengths_0_it_is_hgs(tree):
    plain = Borrowing(scale=0.0)(tree)
    assert_allclose(plain.belief, HGS()(tree).belief, rtol=1e-12, atol=1e-12)
    assert_allclose(plain.borrowed, HGS()(tree).borrowed, rtol=1e-12)


@examples(60, suppress_health_check=[HealthCheck.filter_too_much])
@given(trees(max_inner=8), st.tuples(*[st.floats(-1, 1)] * 6), st.integers(0, 99))
def test_derivatives_are_those_of_the_loss(tree, values, seed):
    held = np.random.default_rng(seed).integers(0, 4, tree.evidence.shape).astype(float)
    evidence = tree.evidence * tree.unit
    forest = StackedTrees(tree.skeleton.parent, evidence, held)
    at = np.array(values)
    size = np.log(np.maximum(evidence.sum(axis=1), 1))
    assume(np.abs(at[5] * size).max() < 9)  # beyond, strengths are clipped, and the loss has no derivative
    assume(np.abs(at[:4]).sum() + np.abs(at[1] * size).max() + np.abs(at[2]) * 5 < 9)
    loss, gradient = forest.loss(at)
    belief, _ = forest.predict(at)
    rows = held.sum(axis=1, keepdims=True)
    assert loss == pytest.approx((rows * belief**2 - 2 * held * belief + held).sum(), rel=1e-9, abs=1e-9)
    step = 1e-6
    for i in range(6):
        apart = step * np.eye(6)[i]
        expected = (forest.loss(at + apart)[0] - forest.loss(at - apart)[0]) / (2 * step)
        assert gradient[i] == pytest.approx(expected, rel=1e-4, abs=1e-5 * max(1.0, rows.sum()))


def test_stacked_trees_do_not_affect_each_other():
    evidence, parent = T0.evidence * T0.unit, T0.skeleton.parent
    twice = np.concatenate((parent, np.where(parent < 0, -1, parent + len(parent)))).astype(np.int32)
    at, held = np.array([1.0, 0.2, -0.3, 0.5, 0.1, -0.2]), np.ones(evidence.shape)
    once, alone = (
        StackedTrees(parent, evidence, held),
        StackedTrees(twice, np.tile(evidence, (2, 1)), np.tile(held, (2, 1))),
    )
    assert_allclose(alone.predict(at)[0], np.tile(once.predict(at)[0], (2, 1)), rtol=0)
    assert alone.loss(at)[0] == pytest.approx(2 * once.loss(at)[0])
    assert_allclose(alone.loss(at)[1], 2 * once.loss(at)[1], rtol=1e-12)


def test_the_history_names_every_strength():
    step = Borrowing(own=-0.5)(T0).history[-1]
    assert step.name == "borrowing"
    assert dict(step.parameters) == {**dict.fromkeys(STRENGTH_NAMES, 0.0), "scale": 1.0, "own": -0.5}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_strength_is_finite(value):
    with pytest.raises(ParameterError, match=r"depth=.*expected a number from -1e\+100 to 1e\+100"):
        Borrowing(depth=value)


@pytest.mark.parametrize(
    ("parent", "shape", "held", "at", "message"),
    [
        ([0], (1, 2), None, 6, "parents must come before children"),
        ([-1, 1], (2, 2), None, 6, "parents must come before children"),
        ([-1], (2, 2), None, 6, "expected some classes of every node"),
        ([-1], (1, 2), (1, 3), 6, "held must have the shape of evidence"),
        ([-1], (1, 2), None, 5, "expected six strengths"),
    ],
)
def test_the_kernel_raises_for_invalid_arrays(parent, shape, held, at, message):
    with pytest.raises(ValueError, match=message):
        StackedTrees(
            np.array(parent, np.int32), np.ones(shape), None if held is None else np.ones(held)
        ).predict(np.zeros(at))
