"""Predictions clipped to monotone constraints."""

import numpy as np
import pytest

from hornbeam import TreeClassifier
from hornbeam.data.schema import Feature, Schema
from hornbeam.smoothing import Laplace
from hornbeam.smoothing.monotone import Monotone
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree

SCHEMA = Schema((Feature("dose"), Feature("age")), ("ill", "well"))
NAN = np.nan


def tree(evidence, n_children, feature, threshold):
    return Tree.raw(SCHEMA, Skeleton.of(n_children, feature, threshold), np.array(evidence))


STUMP = tree([[1, 11], [1, 9], [0, 2]], [2, 0, 0], [0, -1, -1], [0.5, NAN, NAN])


def test_two_leaves_in_the_wrong_order_move_to_their_middle():
    smoothed = Laplace()(STUMP)
    assert smoothed.belief[1:, 1].tolist() == [10 / 12, 3 / 4]
    middle = (10 / 12 + 3 / 4) / 2
    ordered = Monotone((1, 0))(smoothed)
    np.testing.assert_allclose(ordered.belief[1:, 1], [middle, middle], rtol=1e-15)
    np.testing.assert_array_equal(ordered.belief[0], smoothed.belief[0])
    assert ordered.history[-1].name == "monotone"


@pytest.mark.parametrize("signs", [(-1, 0), (0, 1), (0, 0)])
def test_predictions_within_their_bounds_do_not_change(signs):
    smoothed = Laplace()(STUMP)
    np.testing.assert_array_equal(Monotone(signs)(smoothed).belief, smoothed.belief)


def test_bounds_hold_below_unconstrained_splits():
    # dose separates 30 rows of 0.4 from 30 of 0.6; below, age separates a leaf of 0.55, past the middle.
    grown = tree(
        [[30, 30], [18, 12], [12, 18], [9, 11], [9, 1]],
        [2, 2, 0, 0, 0],
        [0, 1, -1, -1, -1],
        [0.5, 40.0, NAN, NAN, NAN],
    )
    np.testing.assert_allclose(Monotone((1, 0))(grown).belief[:, 1], [0.5, 0.4, 0.6, 0.5, 0.1])
    np.testing.assert_allclose(Monotone((0, -1))(grown).belief[:, 1], grown.belief[:, 1])


def test_a_split_of_known_from_missing_values_has_no_bounds():
    """A split at infinity separates known from missing values, which have no order."""
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [np.inf, NAN, NAN], missing_slot=[1, -1, -1])
    grown = Tree.raw(SCHEMA, skeleton, np.array([[10, 10], [1, 9], [9, 1]]))
    np.testing.assert_array_equal(Monotone((1, 0))(grown).belief, grown.belief)


def test_raw_frequencies_keep_the_constraints_with_class_weights():
    """Class weights change the search for splits; predictions are those of unweighted rows."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        X, y = rng.integers(0, 8, (60, 2)).astype(float), rng.integers(0, 2, 60)
        clf = TreeClassifier("cart", monotonic_cst=[1, 0], class_weight={0: 5.0, 1: 0.3}).fit(X, y)
        grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1)
        second = clf.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(8, 8)
        assert (np.diff(second, axis=1) >= 0).all()


def test_signs_may_be_a_list():
    assert Monotone([1, 0]) == Monotone((1, 0))
