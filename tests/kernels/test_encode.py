"""The census and encoding kernels against slow Python references."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.kernels.census import CELL_SHIFT, Census, count_cell_parts, floats_of, to_equal_bins
from hornbeam.kernels.encode import encode
from support.reference_encode import SPECIAL, codes_of, distinct, key_of
from support.reference_encode import share as slow_share

floats = st.one_of(
    st.floats(),
    st.sampled_from(SPECIAL),
    st.integers(-5, 5).map(float),
    st.floats(0, 1),
    st.integers(0, 2**53).map(float),
)
columns = st.lists(floats, max_size=200).map(np.array)


def starts_of(runs):
    return np.cumsum([0, *map(len, runs)])


@pytest.mark.parametrize("n_edges", [0, 1, 2, 3, 4, 7, 8, 100, 254, 255, 256, 4_095, 65_534])
def test_codes_count_the_edges_below(n_edges):
    rng = np.random.default_rng(n_edges)
    edges = np.unique(rng.normal(size=n_edges))
    values = np.concatenate([rng.normal(size=2_500), edges, np.nextafter(edges, np.inf), SPECIAL])
    n_codes = np.array([n_edges + 1], np.int32)
    codes, unknown = encode((values,), edges, np.array([0, n_edges]), n_codes, np.array([False]), len(values))
    assert unknown == -1
    assert codes.dtype == (np.uint8 if n_edges < 255 else np.uint16)
    np.testing.assert_array_equal(codes, codes_of([values], [edges], n_codes, [False]))


@given(st.data())
def test_codes_of_mixed_columns(data):
    n_rows = data.draw(st.integers(0, 40))
    nominal = np.array(data.draw(st.lists(st.booleans(), min_size=1, max_size=5)))
    edges, values, n_codes = [], [], []
    for is_nominal in nominal:
        run = (
            []
            if is_nominal
            else data.draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True))
        )
        edges.append(np.sort(np.array(run) + 0.0))
        n_codes.append(data.draw(st.integers(1, 300)) if is_nominal else len(np.unique(edges[-1])) + 1)
        edges[-1] = np.unique(edges[-1])
        source = st.integers(-1, n_codes[-1] - 1) if is_nominal else floats
        column = np.array(
            data.draw(st.lists(source, min_size=2 * n_rows, max_size=2 * n_rows)),
            np.int32 if is_nominal else np.float64,
        )
        values.append(column[::-2])  # any stride
    n_codes = np.array(n_codes, np.int32)
    codes, unknown = encode(tuple(values), np.concatenate(edges), starts_of(edges), n_codes, nominal, n_rows)
    assert unknown == -1
    np.testing.assert_array_equal(codes, codes_of(values, edges, n_codes, nominal))


def test_threads_share_the_rows():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(70_001, 3))
    edges = np.sort(rng.normal(size=100))
    arguments = (
        tuple(matrix.T),
        edges,
        np.array([0, 30, 60, 100]),
        np.array([31, 31, 41], np.int32),
        np.zeros(3, bool),
    )
    one, _ = encode(*arguments, len(matrix))
    three, _ = encode(*arguments, len(matrix), n_jobs=3)
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("code", [-2, 3])
def test_codes_out_of_range_are_reported(code):
    column = np.array([0, code, 1], np.int32)
    fine = np.zeros(3, np.int32)
    _, unknown = encode(
        (fine, column),
        np.empty(0),
        np.zeros(3, np.int64),
        np.array([3, 3], np.int32),
        np.array([True, True]),
        3,
    )
    assert unknown == 1


@pytest.mark.parametrize(
    ("columns", "n_codes", "error"),
    [
        ((np.zeros(3, np.float32),), 1, TypeError),
        ((np.zeros((3, 1)),), 1, TypeError),
        ((np.zeros(4),), 1, ValueError),
        ((np.zeros(3), np.zeros(3)), 1, ValueError),
        ((np.zeros(3),), 0, ValueError),
        ((np.zeros(3),), 65_536, ValueError),
    ],
)
def test_wrong_arrays_are_rejected(columns, n_codes, error):
    with pytest.raises(error):
        encode(
            columns, np.empty(0), np.zeros(2, np.int64), np.array([n_codes], np.int32), np.array([False]), 3
        )


@given(columns, st.integers(1, 60))
def test_census_finds_the_distinct_values(column, limit):
    census = Census(1, limit)
    census.add((column,))
    entries = census.entries()
    expected = distinct(column)
    assert entries.missing[0] == np.isnan(column).sum()
    assert entries.full[0] == (len(expected) > limit)
    if entries.full[0]:
        rows = [key_of(value) >> CELL_SHIFT << CELL_SHIFT for value in column[~np.isnan(column)]]
        cells, counts = np.unique(np.array(rows, np.uint64), return_counts=True)
        np.testing.assert_array_equal(entries.keys, cells)
        np.testing.assert_array_equal(entries.counts, counts)
    else:
        np.testing.assert_array_equal(floats_of(entries.keys), expected)
        assert entries.counts.sum() == len(column) - entries.missing[0]


@given(st.lists(columns, min_size=1, max_size=5), st.integers(1, 40), st.randoms())
def test_census_does_not_depend_on_the_blocks_of_rows(blocks, limit, random):
    whole = Census(1, limit)
    whole.add((np.concatenate(blocks),))
    parts = []
    for block in blocks:
        parts.append(Census(1, limit))
        parts[-1].add((block,))
    random.shuffle(parts)
    total = pickle.loads(pickle.dumps(parts[0]))
    for part in parts[1:]:
        total.merge(pickle.loads(pickle.dumps(part)))
    for found, expected in zip(total.entries(), whole.entries(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_census_cannot_merge_itself_or_another_shape():
    census = Census(1, 5)
    for other in (census, Census(2, 5), Census(1, 6)):
        with pytest.raises(ValueError, match="can be merged"):
            census.merge(other)
    with pytest.raises(ValueError, match="columns"):
        census.add((np.zeros(2), np.zeros(2)))
    with pytest.raises(TypeError, match="float64"):
        census.add((np.zeros(2, np.int64),))


def test_parts_of_cells_are_counted():
    # The cell 1 <= x < 1 + 1/16 in four parts of a 64th each.
    column = np.array([1.0, 1 + 1 / 64, 1 + 2 / 64, 1 + 3 / 64, 1 + 3 / 64, np.nan, 1 + 4 / 64, 2.0, -1.0])
    low, high = (np.array([key_of(value)], np.uint64) for value in (1.0, np.nextafter(1 + 1 / 16, 0)))
    counts, ones, any_ = np.zeros(4, np.int64), np.full(4, ~np.uint64(0)), np.zeros(4, np.uint64)
    for _ in range(2):
        count_cell_parts(
            (column,), np.array([0, 1]), low, high, np.array([46]), np.array([2]), counts, ones, any_
        )
    np.testing.assert_array_equal(counts, [2, 2, 2, 4])
    np.testing.assert_array_equal(floats_of(ones), 1 + np.arange(4) / 64)
    np.testing.assert_array_equal(ones, any_)


def test_parts_are_never_counted_into_a_copy():
    low = high = np.array([key_of(1.0)], np.uint64)
    ones, some = np.full(1, ~np.uint64(0)), np.zeros(1, np.uint64)
    zero = np.array([0])
    with pytest.raises(TypeError):
        count_cell_parts(
            (np.ones(3),), np.array([0, 1]), low, high, zero, zero, np.zeros(1, np.int32), ones, some
        )


def test_cells_of_two_octaves_are_rejected():
    low, high = np.array([key_of(1.0)], np.uint64), np.array([key_of(2.0)], np.uint64)
    counts, ones, any_ = np.zeros(4, np.int64), np.full(4, ~np.uint64(0)), np.zeros(4, np.uint64)
    with pytest.raises(ValueError, match="one octave"):
        count_cell_parts(
            (np.ones(3),), np.array([0, 1]), low, high, np.array([46]), np.array([2]), counts, ones, any_
        )


@given(
    st.lists(st.one_of(st.integers(1, 9), st.integers(1, 500)), min_size=1, max_size=60), st.integers(1, 20)
)
def test_equal_bins_equal_the_reference(counts, max_bins):
    bins = slow_share(counts, max_bins)
    assert len(bins) <= max_bins
    assert to_equal_bins(np.array(counts), max_bins).tolist() == [run[-1] for run in bins[:-1]]


@given(st.lists(st.integers(1, 9), min_size=40, max_size=300), st.integers(2, 10))
def test_bins_are_nearly_equal(counts, max_bins):
    total = sum(counts)
    if max(counts) * max_bins > total:
        return
    sums = np.add.reduceat(counts, [0, *(to_equal_bins(np.array(counts), max_bins) + 1)])
    assert len(sums) == max_bins
    assert np.abs(sums - total / max_bins).max() <= 2 * max(counts)


def test_counts_beyond_32_bits():
    census = Census(1, 2)
    census.add((np.array([1.0, 2.0, 3.0]),))
    entries = census.entries()
    many = entries._replace(counts=np.array([2**32 - 1, 5, 2**40]))
    census.__setstate__((1, 2, many))
    census.add((np.array([1.0, 3.0]),))
    other = Census(1, 2)
    other.__setstate__((1, 2, many))
    assert other.merge(census).entries().counts.tolist() == [2**33 - 1, 10, 2**41 + 1]
