"""Thresholds on float64 values against the comparison of values rounded to float32."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.interop.input_conventions import at_most, below
from support.imported_models import LARGEST, around

EDGES = [0.0, -0.0, 2.0**-149, -(2.0**-149), 1e-60, -1e-60, LARGEST, -LARGEST, 1e300, -1e300, 0.1, 1 / 3]


def rounded(x):
    with np.errstate(over="ignore"):
        return x.astype(np.float32)


@given(st.one_of(st.floats(allow_nan=False), st.floats(allow_nan=False, width=32), st.sampled_from(EDGES)))
def test_at_most_selects_values_that_round_to_at_most_the_threshold(threshold):
    t = np.array([threshold])
    x = np.concatenate([around(np.concatenate([t, at_most(t)])), EDGES, [np.inf, -np.inf]])
    assert ((x <= at_most(t)) == (rounded(x) <= t)).all()


@given(st.one_of(st.floats(allow_nan=False, width=32), st.sampled_from(EDGES)))
def test_below_selects_values_that_round_to_less_than_the_threshold(threshold):
    t = rounded(np.array([threshold]))
    x = np.concatenate([around(np.concatenate([t, below(t)])), EDGES])
    x = x[np.isfinite(rounded(x))]  # no library compares infinity with infinity
    assert ((x <= below(t)) == (rounded(x) < t)).all()
