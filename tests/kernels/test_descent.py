"""The optimiser compared with SciPy's and a slow twin, and at bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, rosen, rosen_der

from hornbeam.kernels.elementary import minimise
from support import reference_descent


@pytest.mark.parametrize("n", [2, 5, 20])
def test_it_finds_the_bottom_of_a_curved_valley(n):
    found = minimise(
        lambda x: (rosen(x), rosen_der(x)), np.full(n, -0.5), (-3.0, 3.0), tolerance=1e-15, max_steps=5000
    )
    assert np.allclose(found, 1.0, atol=1e-4) or rosen(found) < 4.0  # there is a second valley for n above 3
    theirs = minimize(rosen, np.full(n, -0.5), jac=rosen_der, method="L-BFGS-B", bounds=[(-3, 3)] * n)
    assert rosen(found) <= theirs.fun + 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_quadratics_within_bounds_have_no_better_point(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    root = rng.normal(size=(n, n))
    matrix, centre = root.T @ root + 0.1 * np.eye(n), rng.normal(0, 3, n)

    def bowl(x):
        return float(0.5 * (x - centre) @ matrix @ (x - centre)), matrix @ (x - centre)

    found = minimise(bowl, np.zeros(n), (-2.0, 2.0), tolerance=1e-15)
    gradient = bowl(found)[1]
    inside = (found > -2) & (found < 2)
    assert np.abs(gradient[inside]).max(initial=0) < 1e-5
    assert (gradient[found == -2] >= 0).all()
    assert (gradient[found == 2] <= 0).all()


def test_it_stops_at_once_at_a_minimum():
    assert minimise(lambda x: (0.0, np.zeros(2)), np.ones(2), (0.0, 2.0), tolerance=1e-9).tolist() == [
        1.0,
        1.0,
    ]


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([np.inf, 2.0, 0.1]), st.integers(0, 60))
def test_it_has_the_bits_of_its_slow_twin(n, seed, bound, max_steps):
    rng = np.random.default_rng(seed)
    root, centre, bend = rng.normal(size=(n, n)), rng.normal(0, 2, n), rng.uniform(0, 3)

    def bent(x):
        apart = x - centre
        value = float((root @ apart) @ (root @ apart)) + bend * float(np.cos(3 * apart).sum())
        return value, 2 * root.T @ (root @ apart) - 3 * bend * np.sin(3 * apart)

    start = rng.normal(0, 2, n)
    both = [
        found(bent, start, (-bound, bound), tolerance=1e-12, max_steps=max_steps)
        for found in (minimise, reference_descent.minimise)
    ]
    assert both[0].tobytes() == both[1].tobytes()


def test_an_error_of_the_function_comes_through():
    def broken(x):
        raise KeyError("no value")

    with pytest.raises(KeyError, match="no value"):
        minimise(broken, np.zeros(2), (0.0, 1.0), tolerance=1e-9)


def test_a_gradient_of_another_length_is_refused():
    with pytest.raises(ValueError, match="one number per coordinate"):
        minimise(lambda x: (0.0, np.zeros(3)), np.zeros(2), (0.0, 1.0), tolerance=1e-9)
