"""The optimiser compared with SciPy's, and at bounds."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from hornbeam.smoothing.descent import minimise


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
