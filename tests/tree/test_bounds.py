"""Bounds of rates and means."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from hornbeam.tree.statistics import (
    mean_bounds,
    mean_in_bounds,
    moved_rate_bounds,
    rate_bounds,
    rate_in_bounds,
)

rates = st.floats(0.0, 1.0)
sizes = st.floats(0.05, 1e5)
levels = st.sampled_from([0.5, 0.9, 0.99])


@given(rates, sizes, rates, levels)
def test_holds_rate_agrees_with_the_bounds(belief, size, truth, level):
    p, s, t = (np.array([value]) for value in (belief, size, truth))
    low, high = rate_bounds(p, s, level)
    assume(min(abs(low[0] - truth), abs(high[0] - truth)) > 1e-9)
    assert rate_in_bounds(p, s, t, level)[0] == (low[0] <= truth <= high[0])


@given(st.floats(-10, 10), st.floats(0.0, 10), sizes, st.floats(-10, 10), levels)
def test_holds_mean_agrees_with_the_bounds(mean, variance, size, truth, level):
    m, v, s, t = (np.array([value]) for value in (mean, variance, size, truth))
    low, high = mean_bounds(m, v, s, level)
    assume(min(abs(low[0] - truth), abs(high[0] - truth)) > 1e-9)
    assert mean_in_bounds(m, v, s, t, level)[0] == (low[0] <= truth <= high[0])


def test_bounds_of_a_mean_without_rows_are_infinite():
    low, high = mean_bounds(np.array([1.0]), np.array([4.0]), np.array([0.0]))
    assert (low[0], high[0]) == (-np.inf, np.inf)


unit = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300, 1 - 2**-53]))


@given(
    st.tuples(unit, unit, unit).map(sorted),
    st.one_of(st.floats(-30, 30), st.sampled_from([-800.0, 800.0])),
    st.sampled_from([1.0, 1.5, 1e6]),
)
def test_moved_bounds_hold_the_moved_rate(rates, change, wider):
    low, base, high = (np.array([rate]) for rate in rates)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        odds = np.exp(change)
        moved = base if base[0] in (0.0, 1.0) else 1 / (1 + (1 - base) / (base * odds))
    below, above = moved_rate_bounds(low, high, base, moved, np.array([wider]))
    assert 0 <= below <= moved <= above <= 1
    if low[0] > 1e-6 and high[0] < 1 - 1e-6 and abs(change) < 10 and wider < 2:
        for bound, found in ((low, below), (high, above)):
            ratio = bound / (1 - bound) / (base / (1 - base))
            np.testing.assert_allclose(found / (1 - found), moved / (1 - moved) * ratio**wider, rtol=1e-6)


def test_bounds_that_nothing_moves_stay():
    low, base, high = np.array([0.0, 0.2, 0.8]), np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.9, 1.0])
    below, above = moved_rate_bounds(low, high, base, base, np.ones(3))
    np.testing.assert_allclose(below, low)
    np.testing.assert_allclose(above, high)
