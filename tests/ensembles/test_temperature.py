"""Temperature scaling: numbers worked by hand, and a choice no worse than any temperature of a grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.ensembles.temperature import apply_temperature, choose_temperature
from support.examples import examples

GRID = np.geomspace(0.25, 4.0, 81)


def random_rows(seed, n, n_classes=3):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(n_classes), n)
    target = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
    return truth, target


def loss(p, target, temperature):
    """Squared error, one row and class at a time."""
    total = 0.0
    for row, code in zip(p.tolist(), target.tolist(), strict=True):
        powers = [value ** (1 / temperature) for value in row]
        total += sum((power / sum(powers) - (at == code)) ** 2 for at, power in enumerate(powers))
    return total


def test_numbers_worked_by_hand():
    p = np.array([[0.75, 0.25, 0.0], [0.5, 0.25, 0.25]])
    np.testing.assert_allclose(apply_temperature(p, 0.5), [[0.9, 0.1, 0.0], [2 / 3, 1 / 6, 1 / 6]])
    np.testing.assert_allclose(apply_temperature(np.array([[0.9, 0.1]]), 2.0), [[0.75, 0.25]])
    nine_of_ten = np.array([0] * 9 + [1])
    assert choose_temperature(np.full((10, 2), [0.75, 0.25]), nine_of_ten) == 0.5
    assert choose_temperature(np.full((10, 2), [81 / 82, 1 / 82]), nine_of_ten) == 2.0


def test_temperature_one_returns_the_probabilities_unchanged():
    p = random_rows(0, 50)[0]
    assert apply_temperature(p, 1.0) is p


@given(st.floats(0.25, 4.0), st.integers(0, 10**6))
def test_the_order_of_classes_sums_and_zeros_are_kept(temperature, seed):
    p = np.where(random_rows(seed, 40)[0] < 0.1, 0.0, random_rows(seed, 40)[0])
    p /= p.sum(axis=1, keepdims=True)
    q = apply_temperature(p, temperature)
    np.testing.assert_allclose(q.sum(axis=1), 1.0)
    assert ((q == 0) == (p == 0)).all()
    assert (np.take_along_axis(q, p.argsort(axis=1), axis=1)[:, 1:] >= np.sort(q, axis=1)[:, :-1]).all()
    alone = np.concatenate([apply_temperature(row[None], temperature) for row in p])
    np.testing.assert_array_equal(alone, q)


@pytest.mark.parametrize("temperature", [5e-324, 1e-9, 1e9, 1e308])
def test_extreme_temperatures_give_probabilities(temperature):
    with np.errstate(over="ignore"):
        q = apply_temperature(np.array([[0.6, 0.4, 0.0], [1e-300, 1.0, 0.0]]), temperature)
    np.testing.assert_allclose(q.sum(axis=1), 1.0)


@examples(30)
@given(st.integers(1, 60), st.floats(0.3, 3.0), st.integers(0, 10**6))
def test_no_temperature_of_a_grid_has_less_squared_error(n, temperature, seed):
    truth, target = random_rows(seed, n)
    p = apply_temperature(truth, temperature)
    chosen = loss(p, target, choose_temperature(p, target))
    assert chosen <= min(loss(p, target, one) for one in GRID) * (1 + 1e-4) + 1e-6
    assert chosen <= loss(p, target, 1.0)


@examples(20)
@given(st.floats(0.4, 3.0), st.integers(0, 10**6))
def test_the_temperature_that_was_applied_is_found_again(temperature, seed):
    truth, target = random_rows(seed, 20_000)
    assert choose_temperature(apply_temperature(truth, 1 / temperature), target) == pytest.approx(
        temperature, rel=0.1
    )


def test_a_row_of_weight_two_is_two_rows():
    truth, target = random_rows(5, 200)
    weight = np.arange(200) % 3 + 1
    again = np.repeat(np.arange(200), weight)
    p = apply_temperature(truth, 2.0)
    assert choose_temperature(p, target, weight) == choose_temperature(p[again], target[again])
    assert choose_temperature(p, target, weight) != choose_temperature(p, target)


@pytest.mark.parametrize("p", [np.eye(3), np.full((3, 3), 1 / 3), np.ones((3, 1)), np.zeros((0, 3))])
def test_the_temperature_is_one_if_no_other_is_better(p):
    assert choose_temperature(p, np.arange(len(p)) % p.shape[1]) == 1.0
