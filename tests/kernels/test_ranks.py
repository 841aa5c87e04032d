"""Ranks of values: the codes and distinct values of exact bins by one sort; counts and comparisons of values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hornbeam.data.binning.bins import Bins
from hornbeam.kernels.census import compare_rows, count_distinct, rank_columns
from support.examples import examples
from support.strategies_growing import bins_of, training_tables

COLUMNS = st.integers(0, 40).flatmap(
    lambda n: st.lists(
        hnp.arrays(
            np.float64, n, elements=st.sampled_from([-0.0, 0.0, 1.5, np.nan, np.inf, -np.inf]) | st.floats()
        ),
        min_size=1,
        max_size=4,
    )
)


@examples(300)
@given(COLUMNS)
def test_ranks_are_those_of_numpy(columns):
    at, n = np.arange(len(columns), dtype=np.int32)[::-1].copy(), len(columns[0])
    codes = np.full((n, len(columns)), 9, np.uint16)
    distinct, starts = rank_columns(tuple(columns), at, codes)
    for number, column in enumerate(columns):
        # No finite cut separates the lowest number from -inf.
        column = np.where(column == -np.finfo(np.float64).max, -np.inf, column)
        values, rank = np.unique(column[~np.isnan(column)], return_inverse=True)
        np.testing.assert_array_equal(distinct[starts[number] : starts[number + 1]], values)
        expected = np.full(n, max(len(values), 1))
        expected[~np.isnan(column)] = rank
        np.testing.assert_array_equal(codes[:, at[number]], expected)


def test_a_column_with_a_stride_is_ranked():
    codes = np.zeros((3, 1), np.uint16)
    distinct, _ = rank_columns(
        (np.array([[3.0, 9.0], [1.0, 9.0], [3.0, 9.0]])[:, 0],), np.zeros(1, np.int32), codes
    )
    assert distinct.tolist() == [1.0, 3.0]
    assert codes.ravel().tolist() == [1, 0, 1]


@examples(150)
@given(training_tables(max_rows=60))
def test_a_table_has_the_bins_and_codes_of_two_passes(table):
    bins, codes = Bins.rank(table)
    expected = bins_of(table)
    np.testing.assert_array_equal(codes, expected.encode(table))
    assert codes.dtype == expected.encode(table).dtype
    np.testing.assert_array_equal(bins.n_codes, expected.n_codes)
    for one, other in zip((*bins.edges, *bins.values), (*expected.edges, *expected.values), strict=True):
        np.testing.assert_array_equal(one, other)


def test_too_many_rows_are_refused():
    n = 65_535
    with pytest.raises(ValueError, match=r"fewer than 65,535 rows"):
        rank_columns((np.zeros(n),), np.zeros(1, np.int32), np.zeros((n, 1), np.uint16))


COLUMN = st.lists(
    st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 1e300, np.inf, np.nan]), min_size=1, max_size=80
)


@given(COLUMN, st.integers(1, 3))
def test_distinct_values_are_those_of_a_set(values, stride):
    column = np.repeat(np.array(values), stride)[::stride]
    known = {value for value in values if not np.isnan(value)}
    n_missing = np.isnan(column).any() and np.inf not in known
    codes = np.where(np.isnan(column), -1, np.searchsorted(sorted(known), column)).astype(np.int32)
    assert count_distinct((column, codes)).tolist() == [len(known) + n_missing, len(set(codes.tolist()))]


@given(st.data(), COLUMN)
def test_shares_of_pairs_equal_those_of_numpy(data, values):
    column = np.array(values)
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, len(values) - 1)] * 2), max_size=40))
    inside, outside = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    known = np.where(np.isnan(column), np.inf, column)
    first, second = known[inside], known[outside]
    expected = [first == second, first < second, first == np.roll(first, 1)]
    found = compare_rows((column, np.zeros(len(values), np.int32)), inside, outside)
    for shares, rows in zip(found, expected, strict=True):
        assert shares[0] == (rows.mean() if len(rows) else 0)
    assert [shares[1] for shares in found] == ([1, 0, 1] if pairs else [0, 0, 0])
