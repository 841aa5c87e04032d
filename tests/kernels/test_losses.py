"""Gradients of log loss and values added to scores: the bits of plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.kernels.elementary import exp
from hornbeam.kernels.leafwise import add_values, log_loss_gradients, softmax_gradients
from support.examples import examples


def drawn(seed, n_classes, n_rows, size):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_classes, n_rows)) * size, rng.integers(
        max(2, n_classes), size=n_rows, dtype=np.int32
    )


@given(st.integers(0, 1000), st.integers(0, 700), st.sampled_from([0.0, 1.0, 30.0, 600.0]))
@examples(50)
def test_gradients_of_two_classes_are_those_of_numpy(seed, n_rows, size):
    """Scores of any size: far from 0 the exponential overflows, and the probability is 0 or 1."""
    scores, target = drawn(seed, 1, n_rows, size)
    probability = 1.0 / (1.0 + exp(-scores))
    gradient, hessian = log_loss_gradients(scores, target)
    np.testing.assert_array_equal(gradient, target - probability)
    np.testing.assert_array_equal(hessian, probability * (1.0 - probability))


@given(st.integers(0, 1000), st.integers(1, 6), st.integers(0, 700), st.sampled_from([0.0, 1.0, 30.0, 600.0]))
@examples(50)
def test_gradients_of_several_classes_are_those_of_numpy(seed, n_classes, n_rows, size):
    scores, target = drawn(seed, n_classes, n_rows, size)
    raised = exp(scores - scores.max(axis=0))
    probability = raised / np.add.accumulate(raised)[-1]
    indicator = (target == np.arange(n_classes)[:, None]).astype(float)
    gradient, hessian = softmax_gradients(scores, target, 1.25)
    np.testing.assert_array_equal(gradient, indicator - probability)
    np.testing.assert_array_equal(hessian, 1.25 * probability * (1.0 - probability))


def test_values_are_added_and_the_largest_score_is_found():
    scores = np.array([1.0, -5.0, 2.0])
    assert add_values(scores, np.array([0.5, -1.0]), np.array([0, 1, 0], np.int32)) == 6.0
    assert scores.tolist() == [1.5, -6.0, 2.5]
    assert np.isnan(add_values(scores, np.array([np.nan, np.inf]), np.array([0, 1, 1], np.int32)))
    with pytest.raises(ValueError, match="nodes within the tree"):
        add_values(scores, np.zeros(2), np.array([0, 1, 2], np.int32))
