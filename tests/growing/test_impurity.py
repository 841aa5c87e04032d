"""Impurity: worked numbers, bounds, and agreement with the gains of grown trees."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.growing.impurity import impurity
from support.reference_growing import entropy, gini
from support.strategies_growing import bins_of, training_tables

COUNTS = st.lists(st.integers(0, 10**6), min_size=1, max_size=8).filter(any)


@pytest.mark.parametrize(
    ("counts", "bits"), [([6, 6], 1.0), ([2, 4, 3], 1.5305), ([4, 2], 0.9183), ([2, 0], 0.0), ([1] * 8, 3.0)]
)
def test_entropy_of_the_lectures(counts, bits):
    assert impurity(counts) == pytest.approx(bits, abs=5e-5)


@pytest.mark.parametrize(
    ("counts", "expected"), [([6, 4], 0.48), ([5, 1], 0.2778), ([1, 3], 0.375), ([7], 0.0)]
)
def test_gini_by_hand(counts, expected):
    assert impurity(counts, "gini") == pytest.approx(expected, abs=5e-5)


@given(COUNTS)
def test_equal_to_the_slow_twin_and_within_bounds(counts):
    k = len(counts)
    assert impurity(counts) == pytest.approx(entropy(counts), abs=1e-12)
    assert impurity(counts, Criterion.GINI) == pytest.approx(gini(counts), abs=1e-12)
    assert 0 <= impurity(counts) <= math.log2(k) + 1e-12
    assert 0 <= impurity(counts, "gini") <= 1 - 1 / k + 1e-12


@given(COUNTS, st.sampled_from([1e-300, 0.1, 1e300]))
def test_only_proportions_matter(counts, factor):
    assert impurity(np.array(counts) * factor) == pytest.approx(impurity(counts), abs=1e-9)


@given(training_tables(), st.sampled_from(["entropy", "gini"]))
def test_gains_of_a_grown_tree_follow_from_it(table, criterion):
    tree = Grower(criterion).grow(table, bins_of(table))
    inner = np.flatnonzero(tree.skeleton.feature >= 0)
    weight = tree.weight.astype(float)
    left = weight * impurity(tree.evidence, criterion)
    for node in inner.tolist():
        first = tree.skeleton.first_child[node]
        below = left[first : first + tree.skeleton.n_children[node]].sum()
        assert tree.gain[node] == pytest.approx((left[node] - below) / weight[node], abs=1e-9)


def test_shapes():
    assert isinstance(impurity([1, 2]), float)
    assert isinstance(impurity(np.array([1, 2])), float)
    assert impurity(np.ones((3, 2, 4))).tolist() == [[2.0, 2.0]] * 3


@pytest.mark.parametrize(
    ("counts", "criterion", "error", "words"),
    [
        ([1, -1], "gini", DataError, "counts has -1; expected finite numbers of zero or more"),
        ([1, math.nan], "gini", DataError, "counts has nan"),
        ([1, math.inf], "gini", DataError, "counts has inf"),
        ([[1, 2], [0, 0]], "gini", DataError, "all counts of a node are 0"),
        (["many"], "gini", DataError, "not numbers"),
        ([[1], [1, 2]], "gini", DataError, "rows of different length"),
        (3, "gini", DataError, "the shape ()"),
        ([], "gini", DataError, "the shape (0,)"),
        ([1], "gain_ratio", ParameterError, "Pass 'entropy'"),
        ([1], Criterion.HELLINGER, ParameterError, "it compares splits"),
        ([1], "squared_error", ParameterError, "numpy.var(y)"),
        ([1], "error", ParameterError, "criterion='error': expected 'entropy' or 'gini'."),
    ],
)
def test_errors(counts, criterion, error, words):
    with pytest.raises(error, match=re.escape(words)):
        impurity(counts, criterion)
