"""Probabilities for other base rates agree with Bayes' theorem."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.errors import ParameterError
from hornbeam.tree.evidence.base_rate import adjust_bound_to_rates, adjust_to_rates, base_rate, rate_factors
from support.examples import examples

rates = st.lists(st.integers(1, 50), min_size=2, max_size=5).map(lambda n: np.array(n) / sum(n))


def posterior(prior, given_class):
    """P(class | cell) from P(class) and P(cell | class)."""
    joint = prior[:, None] * given_class
    return (joint / joint.sum(axis=0)).T


@examples(50)
@given(st.integers(2, 4), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_a_tree_with_a_leaf_per_cell_gives_the_exact_posterior(n_classes, n_cells, seed):
    """ID3 makes one leaf per cell, so its predictions are P(class | cell) exactly."""
    rng = np.random.default_rng(seed)
    counts, prior = rng.integers(1, 30, (n_classes, n_cells)), rng.dirichlet(np.ones(n_classes))
    label, cell = np.indices(counts.shape).reshape(2, -1).repeat(counts.ravel(), axis=1)
    cells = np.array([f"cell {i}" for i in range(n_cells)], dtype=object)
    clf = TreeClassifier("id3").fit(cells[cell, None], label)
    found = clf.predict_proba(cells[:, None], base_rates=prior)
    exact = posterior(prior, counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-12)


@given(rates, rates)
def test_a_shift_and_its_inverse_cancel(one, other):
    k = min(len(one), len(other))
    one, other = one[:k] / one[:k].sum(), other[:k] / other[:k].sum()
    shifted = adjust_to_rates(np.eye(k) * 0.5 + 0.5 / k, other / one)
    np.testing.assert_allclose(adjust_to_rates(shifted, one / other), np.eye(k) * 0.5 + 0.5 / k, atol=1e-12)


@given(rates.filter(lambda p: len(p) == 2), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_bounds_of_two_classes_shift_like_probabilities(prior, p, bound):
    bounds = np.array([[bound, 1 - bound]])
    shifted = adjust_bound_to_rates(bounds, np.array([[p, 1 - p]]), prior / 0.5)
    np.testing.assert_allclose(shifted, adjust_to_rates(bounds, prior / 0.5), atol=1e-12)


def test_shifted_bounds_contain_the_shifted_probability():
    rng = np.random.default_rng(0)
    probability, factors = rng.dirichlet(np.ones(4), 200), rng.exponential(size=4)
    low, high = probability * 0.5, probability * 0.5 + 0.5
    shifted = adjust_to_rates(probability, factors)
    assert (adjust_bound_to_rates(low, probability, factors) <= shifted).all()
    assert (adjust_bound_to_rates(high, probability, factors) >= shifted).all()
    np.testing.assert_allclose(adjust_bound_to_rates(probability, probability, factors), shifted, atol=1e-12)


def test_probabilities_without_a_posterior_stay_the_same():
    certain = np.array([[1.0, 0.0]])
    assert adjust_to_rates(certain, np.array([0.0, 2.0])).tolist() == [[1.0, 0.0]]
    assert adjust_bound_to_rates(np.array([[0.5, 0.0]]), certain, np.array([1.0, 0.0])).tolist() == [
        [1.0, 0.0]
    ]


def factors_of(tree, base_rates):
    return rate_factors(base_rates, base_rate(tree), tree.schema.classes)


@pytest.fixture(scope="module")
def tree():
    return TreeClassifier().fit([[0], [1], [2], [3]], ["a", "b", "b", "b"]).tree_


def test_the_base_rate_is_that_of_the_weighted_rows(tree):
    assert base_rate(tree).tolist() == [0.25, 0.75]
    weighted = TreeClassifier().fit([[0], [1]], ["a", "b"], sample_weight=[9, 1]).tree_
    assert base_rate(weighted).tolist() == [0.9, 0.1]


def test_base_rates_by_label_equal_those_by_position(tree):
    by_name = factors_of(tree, {"b": 0.5, "a": 0.5})
    np.testing.assert_array_equal(by_name, factors_of(tree, [0.5, 0.5]))
    np.testing.assert_allclose(by_name, [2.0, 2 / 3])


@pytest.mark.parametrize(
    ("base_rates", "message"),
    [
        ({"a": 1.0}, "'b' is on one side only"),
        ({"a": 0.5, "b": 0.25, "c": 0.25}, "'c' is on one side only"),
        ([1.0], "expected 2 numbers, one per class"),
        ("even", "expected 2 numbers"),
        ([0.5, 0.6], "add up to 1"),
        ([-0.5, 1.5], "0 or more"),
        ([float("nan"), 1.0], "0 or more"),
    ],
)
def test_invalid_base_rates_are_refused(tree, base_rates, message):
    with pytest.raises(ParameterError, match=message):
        factors_of(tree, base_rates)


def test_a_class_without_rows_must_have_rate_zero():
    tree = TreeClassifier().fit([[0], [1], [2]], ["a", "b", "c"], sample_weight=[1, 1, 0]).tree_
    with pytest.raises(ParameterError, match=r"'c' a rate of 0\.2, but training saw none"):
        factors_of(tree, [0.4, 0.4, 0.2])
    assert adjust_to_rates(tree.belief, factors_of(tree, [0.5, 0.5, 0.0]))[:, 2].max() == 0.0
