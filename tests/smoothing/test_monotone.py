"""Beliefs brought back in order: worked numbers, and nothing moved without need."""

import numpy as np
import pytest

from hornbeam.data.schema import Feature, Schema
from hornbeam.smoothing import Laplace, Monotone
from hornbeam.tree import Skeleton, Tree

SCHEMA = Schema((Feature("dose"), Feature("age")), ("ill", "well"))
NAN = np.nan


def tree(evidence, n_children, feature, threshold):
    return Tree.raw(SCHEMA, Skeleton.of(n_children, feature, threshold), np.array(evidence))


STUMP = tree([[1, 11], [1, 9], [0, 2]], [2, 0, 0], [0, -1, -1], [0.5, NAN, NAN])


def test_a_small_leaf_drawn_past_a_large_one_meets_it_halfway():
    smoothed = Laplace()(STUMP)
    assert smoothed.belief[1:, 1].tolist() == [10 / 12, 3 / 4]
    middle = (10 / 12 + 3 / 4) / 2
    ordered = Monotone((1, 0))(smoothed)
    np.testing.assert_allclose(ordered.belief[1:, 1], [middle, middle], rtol=1e-15)
    np.testing.assert_array_equal(ordered.belief[0], smoothed.belief[0])
    assert ordered.history[-1].name == "monotone"


@pytest.mark.parametrize("signs", [(-1, 0), (0, 1), (0, 0)])
def test_beliefs_in_order_and_features_without_a_sign_are_left_alone(signs):
    smoothed = Laplace()(STUMP)
    np.testing.assert_array_equal(Monotone(signs)(smoothed).belief, smoothed.belief)


def test_bounds_reach_down_through_free_tests():
    # dose parts 30 rows of 0.4 from 30 of 0.6; low down, age parts off a leaf of 0.55, past the middle.
    grown = tree(
        [[30, 30], [18, 12], [12, 18], [9, 11], [9, 1]],
        [2, 2, 0, 0, 0],
        [0, 1, -1, -1, -1],
        [0.5, 40.0, NAN, NAN, NAN],
    )
    np.testing.assert_allclose(Monotone((1, 0))(grown).belief[:, 1], [0.5, 0.4, 0.6, 0.5, 0.1])
    np.testing.assert_allclose(Monotone((0, -1))(grown).belief[:, 1], grown.belief[:, 1])
