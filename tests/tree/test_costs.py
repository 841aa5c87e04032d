"""Reading cost matrices, expected costs, and refused values."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import ParameterError
from hornbeam.kernels.sweep import least_costs
from hornbeam.tree import Costs

CLASSES = ["no", "unsure", "yes"]
seeds = st.integers(0, 2**32 - 1)


def beliefs(rng, n, k):
    return rng.dirichlet(np.ones(k), n)


def test_without_costs_every_error_costs_one():
    assert Costs.of(None, CLASSES).matrix.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_pairs_are_true_then_predicted_and_other_errors_cost_one():
    named = Costs.of({("no", "yes"): 7, ("yes", "yes"): -2}, CLASSES)
    assert named.matrix.tolist() == [[0, 1, 7], [1, 0, 1], [1, 1, -2]]
    assert named == Costs([[0, 1, 7], [1, 0, 1], [1, 1, -2]])


def test_labels_are_found_by_value():
    assert Costs.of({(np.int64(1), np.True_): 3}, [0, 1]) == Costs([[0, 1], [1, 3]])


@given(seeds, st.integers(1, 6))
def test_expected_costs_agree_with_the_definition_and_the_kernel(seed, k):
    rng = np.random.default_rng(seed)
    belief, matrix = beliefs(rng, 9, k), rng.normal(size=(k, k))
    costs = Costs(matrix)
    obvious = [[sum(p[j] * matrix[j, a] for j in range(k)) for a in range(k)] for p in belief]
    assert costs.expected(belief) == pytest.approx(np.array(obvious))
    least, action = least_costs(belief, matrix)
    assert np.array_equal(
        costs.expected(belief).min(axis=1), least
    )  # same bits: pruning and prediction agree
    assert np.array_equal(costs.cheapest(belief), action)


@given(seeds, st.integers(1, 6))
def test_one_matrix_per_row_applies_to_its_row(seed, k):
    rng = np.random.default_rng(seed)
    belief, each = beliefs(rng, 7, k), rng.normal(size=(7, k, k))
    together = Costs.of(each, range(k), n_rows=7)
    alone = [Costs(matrix) for matrix in each]
    assert np.array_equal(
        together.expected(belief),
        np.vstack([c.expected(p[None]) for c, p in zip(alone, belief, strict=True)]),
    )
    assert together.cheapest(belief).tolist() == [
        c.cheapest(p[None])[0] for c, p in zip(alone, belief, strict=True)
    ]


@given(seeds, st.integers(2, 6), st.floats(0.01, 100), st.floats(-50, 50))
def test_a_factor_or_a_constant_does_not_change_the_cheapest_class(seed, k, rate, fee):
    rng = np.random.default_rng(seed)
    belief, matrix = beliefs(rng, 20, k), rng.integers(0, 9, (k, k))
    assert np.array_equal(Costs(matrix * rate + fee).cheapest(belief), Costs(matrix).cheapest(belief))


@pytest.mark.parametrize("k", range(2, 9))
def test_the_first_of_ties_is_cheapest_despite_rounding(k):
    rng = np.random.default_rng(k)
    for _ in range(200):
        shares = rng.permutation(np.repeat([0.3, 0.1], [2, k])[:k] + 1e-3)
        belief = (shares / shares.sum())[None]
        assert Costs.of(None, range(k)).cheapest(belief)[0] == belief.argmax()


def test_equality_hash_pickle_and_repr():
    one, same = Costs([[0, 1], [-0.0, 0]]), Costs(np.array([[0, 1], [0, 0]]))
    assert one == same
    assert hash(one) == hash(same)
    assert one != Costs([[0, 2], [0, 0]])
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(Costs(np.zeros((4, 2, 2)))) == "Costs(of 4 rows and 2 classes)"
    with pytest.raises(ValueError, match="read-only"):
        one.matrix[0, 0] = 9


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([0, 1, 2], r"shape \(3,\): expected a square matrix"),
        ([[0, 1, 2]], r"shape \(1, 3\): expected a square matrix"),
        ([[0, 1], [1, 0]], r"shape \(2, 2\): expected \(3, 3\), costs\[true\]\[predicted\]"),
        ([[0, 1], [1]], "expected a matrix of numbers"),
        ("cheap", "expected a matrix of numbers"),
        (np.zeros((5, 3, 3)), r"expected \(3, 3\).* one matrix for all rows"),
        ([[0, 1, 1], [1, 0, np.inf], [1, 1, 0]], r"costs\[1\]\[2\] is inf: .*finite.*benefit"),
        ({"no": 3}, r"key 'no': expected pairs.*Write \{\('no', 'yes'\): 5\}"),
        ({("no", "maybe"): 3}, r"label 'maybe' in .*\['no', 'unsure', 'yes'\]"),
        ({("no", "yes"): "much"}, r"\('no', 'yes'\)\] is 'much': expected a number"),
        ({("no", "yes"): np.nan}, "is nan"),
    ],
)
def test_invalid_costs_are_refused(costs, message):
    with pytest.raises(ParameterError, match=message):
        Costs.of(costs, CLASSES)


def test_costs_of_another_number_of_rows_are_refused():
    with pytest.raises(
        ParameterError, match=r"\(4, 3, 3\): expected \(3, 3\).*\(5, 3, 3\) for one matrix per row"
    ):
        Costs.of(np.zeros((4, 3, 3)), CLASSES, n_rows=5)
