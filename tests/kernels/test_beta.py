"""The beta and Student's t distributions against SciPy and exact sums."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
import scipy
from scipy import special

from hornbeam.kernels.elementary import beta_cdf, beta_quantile, student_bound

SCIPY = tuple(int(part) for part in scipy.__version__.split(".")[:2])
LARGEST = {"few rows": (-2, 1.5), "some rows": (-1, 4), "many rows": (2, 9)}


def drawn(span, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    return 10 ** rng.uniform(*span, n), 10 ** rng.uniform(*span, n), rng


@pytest.mark.parametrize("span", LARGEST.values(), ids=LARGEST)
def test_probabilities_equal_scipy(span):
    a, b, rng = drawn(span)
    x = rng.beta(a, b)
    found, other = beta_cdf(a, b, x), special.betainc(a, b, x)
    if SCIPY < (1, 17):  # its betainc has errors of up to 2e-8 for parameters of 1e9
        exact = np.maximum(a, b) < 1e5
        np.testing.assert_allclose(found, other, rtol=0, atol=1e-7)
        found, other = found[exact], other[exact]
    np.testing.assert_allclose(found, other, rtol=0, atol=1e-10)


def test_probabilities_are_exact_sums_of_binomials():
    x = Fraction(3, 16)
    for a, b in [(1, 1), (2, 5), (7, 3), (20, 40)]:
        n = a + b - 1
        exact = sum(comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))
        assert beta_cdf(a, b, float(x)) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("p", [0.005, 0.05, 0.5, 0.95, 0.995])
@pytest.mark.parametrize("span", LARGEST.values(), ids=LARGEST)
def test_quantiles_equal_scipy(span, p):
    a, b, _ = drawn(span)
    found, other = beta_quantile(a, b, p), special.betaincinv(a, b, p)
    known = np.isfinite(other)
    np.testing.assert_allclose(found[known], other[known], rtol=1e-9, atol=1e-300)


def test_quantiles_of_rare_classes_equal_scipy():
    rng = np.random.default_rng(1)
    a, b = 10 ** rng.uniform(-1, 1, 1000), 10 ** rng.uniform(3, 12, 1000)
    for p in (0.05, 0.95):
        np.testing.assert_allclose(beta_quantile(a, b, p), special.betaincinv(a, b, p), rtol=1e-9)


@pytest.mark.parametrize("level", [0.001, 0.5, 0.9, 0.999])
def test_bounds_of_student_equal_scipy(level):
    freedom = 10 ** np.random.default_rng(0).uniform(0, 12, 1000)
    np.testing.assert_allclose(
        student_bound(freedom, level), special.stdtrit(freedom, (1 + level) / 2), rtol=1e-9
    )


def test_extreme_parameters_give_numbers_from_0_to_1():
    ends = np.array([0.0, 5e-324, 1e-300, 1e-5, 1.0, 1e5, 1e15, 1e300])
    a, b = (each.ravel() for each in np.meshgrid(ends, ends))
    for p in (1e-16, 0.05, 1 - 1e-16):
        found = beta_quantile(a, b, p)
        assert ((found >= 0) & (found <= 1)).all()
    for x in (0.0, 5e-324, 0.5, 1.0):
        found = beta_cdf(a, b, np.full(a.shape, x))
        assert ((found >= 0) & (found <= 1)).all()


def test_shapes_are_broadcast():
    assert beta_cdf(np.ones((3, 1)), np.ones(4), 0.5).shape == (3, 4)
    assert beta_quantile(1.0, 1.0, 0.5).shape == ()
