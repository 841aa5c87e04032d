"""Errors of our exp and log."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from hornbeam.kernels.elementary import exp, exp2, log, log2

# Long doubles have 11 more bits here: enough to judge the last one. Decimals judge where they have not.
WIDE = np.finfo(np.longdouble).nmant >= 63


def units(found, exact):
    """Errors in units of the last place."""
    return np.abs((found - exact) / np.spacing(np.abs(exact.astype(np.float64)))).astype(np.float64)


def arguments(n, seed=0):
    rng = np.random.default_rng(seed)
    powers = np.concatenate([rng.uniform(-708, 709, n), rng.normal(size=n), rng.normal(0, 1e-8, n)])
    numbers = np.concatenate(
        [2.0 ** rng.uniform(-1022, 1023, n), rng.uniform(0.5, 2, n), 1 + rng.normal(0, 1e-9, n)]
    )
    return powers, numbers


@pytest.mark.skipif(not WIDE, reason="long doubles are no wider than doubles here")
@pytest.mark.parametrize("seed", range(4))
def test_errors_are_within_their_bounds(seed):
    powers, numbers = arguments(850_000, seed)  # ten million in all
    assert units(exp(powers), np.exp(powers.astype(np.longdouble))).max() <= 1
    assert units(log(numbers), np.log(numbers.astype(np.longdouble))).max() <= 1
    assert units(log2(numbers), np.log2(numbers.astype(np.longdouble))).max() <= 2
    powers = powers[np.abs(powers) < 1000]
    assert units(exp2(powers), np.exp2(powers.astype(np.longdouble))).max() <= 1


def test_errors_are_within_their_bounds_in_fifty_digits():
    powers, numbers = arguments(400)
    with localcontext(prec=50):
        for power, found in zip(powers.tolist(), exp(powers).tolist(), strict=True):
            assert abs(Decimal(found) - Decimal(power).exp()) <= Decimal(np.spacing(found))
        for number, found in zip(numbers.tolist(), log(numbers).tolist(), strict=True):
            assert abs(Decimal(found) - Decimal(number).ln()) <= Decimal(np.spacing(abs(found)))


def test_extreme_values():
    inf, nan, least = np.inf, np.nan, 5e-324
    assert exp([-inf, -746.0, -745.13, 709.78, 710.0, inf]).tolist() == [
        0.0,
        0.0,
        least,
        1.7928227943945155e308,
        inf,
        inf,
    ]
    assert np.isnan(exp([nan]))[0]
    assert np.isnan(log([nan, -1.0])).all()
    assert log([0.0, -0.0, 1.0, inf]).tolist() == [-inf, -inf, 0.0, inf]
    assert log([least])[0] == np.log(least)
    assert log2([2.0**k for k in range(-1074, 1024)]).tolist() == list(range(-1074, 1024))
    assert exp2(np.arange(-1000.0, 1001)).tolist() == [2.0**k for k in range(-1000, 1001)]
    with pytest.raises(ValueError, match="powers from -1000 to 1000"):
        exp2([1001.0])
    assert exp(np.zeros((2, 3))).shape == (2, 3)
    assert exp(1.0).shape == ()


def test_values_of_a_block_are_independent():
    powers = np.random.default_rng(1).uniform(-740, 700, 5000)
    assert (exp(powers) == [exp(power) for power in powers]).all()
