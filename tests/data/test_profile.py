"""Profiles of columns, compared with plain Python."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from hornbeam.data.files.profile import Profile  # noqa: E402


@given(st.lists(st.none() | st.integers(-3, 3), min_size=1, max_size=12))
def test_profiles_of_whole_numbers_equal_counts_in_python(values):
    found = Profile.of("x", pa.chunked_array([pa.array(values, pa.int64())]))
    known = [value for value in values if value is not None]
    assert (found.holds, found.whole) == ("number", True)
    assert found.n_missing == len(values) - len(known)
    assert found.n_distinct == len(set(known))
    consecutive = known == values and values == list(range(values[0], values[0] + len(values)))
    assert found.is_row_number == (len(values) > 1 and consecutive)
    unrepeated = len(values) > 1 and len(set(known)) == len(values)
    assert found.width == (max(values) - min(values) + 1 if unrepeated else 0)
    as_floats = np.array([np.nan if value is None else value for value in values], float)
    assert Profile.of_numbers("x", as_floats) == found
    texts = pa.array([None if value is None else str(value) for value in values], pa.string())
    codes = np.array([-1 if value is None else value + 3 for value in values], np.int32)
    assert Profile.of_codes("x", codes) == Profile.of("x", pa.chunked_array([texts]))


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ([1.5, None], "number"),
        (["a", "b"], "text"),
        ([True, False], "boolean"),
        ([datetime.date(2020, 1, 1)], "date"),
        ([datetime.datetime(2020, 1, 1)], "date"),
        ([[1, 2]], "other"),
        ([b"bytes"], "other"),
    ],
)
def test_the_type_of_values_follows_from_the_arrow_type(values, holds):
    assert Profile.of("x", pa.chunked_array([values])).holds == holds


def test_a_dictionary_has_the_type_of_its_values():
    column = pa.chunked_array([pa.array(["a", None, "a"]).dictionary_encode()])
    assert Profile.of("x", column) == Profile("x", "text", 3, 1, 1)
