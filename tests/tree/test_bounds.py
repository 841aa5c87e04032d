"""Bounds of rates and means."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from hornbeam.tree.statistics.bounds import mean_bounds, mean_in_bounds, rate_bounds, rate_in_bounds

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
