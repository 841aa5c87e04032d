"""Bins do not depend on the order and grouping of rows, and exact bins have one value each."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, SchemaError
from support.examples import examples
from support.reference_encode import SPECIAL, codes_of, distinct

values = st.one_of(st.floats(), st.sampled_from(SPECIAL), st.integers(-9, 9).map(float), st.floats(-1, 1))
matrices = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(values, min_size=width, max_size=width), min_size=1, max_size=120).map(
        np.array
    )
)


def table_of(columns, categories=None):
    """Build a table; a feature with categories is nominal."""
    categories = categories or {}
    features = tuple(
        Feature(f"x{f}", Kind.NOMINAL if f in categories else Kind.NUMERIC, categories.get(f, ()))
        for f in range(len(columns))
    )
    return Table(Schema(features, ("no", "yes")), tuple(columns), None, None, 1.0, None)


def fit(table, max_bins=255, *, block=65_536, **settings):
    return Bins.fit(MemorySource(table, block=block), LocalEngine(**settings), max_bins=max_bins)


def assert_same(found, expected):
    for mine, theirs in zip(found.edges, expected.edges, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(found.n_codes, expected.n_codes)
    np.testing.assert_array_equal(found.nominal, expected.nominal)
    assert (found.values is None) == (expected.values is None)
    for mine, theirs in zip(found.values or (), expected.values or (), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@examples(250)
@given(
    matrices,
    st.sampled_from([None, 1, 2, 3, 16, 255]),
    st.sampled_from([1, 2, 7, 31]),
    st.integers(1, 50),
    st.booleans(),
    st.integers(1, 2),
    st.randoms(),
)
def test_bins_do_not_depend_on_order_and_grouping_of_rows(
    matrix, max_bins, n_tasks, block, reverse, n_jobs, random
):
    expected = fit(Table.read(matrix), max_bins)
    options = {"block": block, "n_tasks": n_tasks, "reverse": reverse, "n_jobs": n_jobs}
    assert_same(fit(Table.read(matrix), max_bins, **options), expected)
    order = list(range(len(matrix)))
    random.shuffle(order)
    assert_same(fit(Table.read(matrix[order]), max_bins, **options), expected)
    assert_same(fit(table_of([column.copy() for column in matrix.T]), max_bins, **options), expected)


@examples(200)
@given(matrices, st.sampled_from([None, 1, 2, 5, 255]))
def test_edges_increase_and_codes_equal_the_reference(matrix, max_bins):
    table = Table.read(matrix)
    bins = fit(table, max_bins)
    codes = bins.encode(table)
    assert codes.flags.c_contiguous
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(codes, codes_of(matrix.T, bins.edges, bins.n_codes, bins.nominal))
    for column, edges, n_codes in zip(matrix.T, bins.edges, bins.n_codes, strict=True):
        assert np.isfinite(edges).all()
        assert (np.diff(edges) > 0).all()
        assert n_codes == len(edges) + 1 <= (max_bins or 65_535)
        found = distinct(column)
        if max_bins is None or len(found) <= max_bins:
            assert n_codes == max(1, len(found))
            np.testing.assert_array_equal(np.searchsorted(edges, found), np.arange(len(found)))


@examples(200)
@given(matrices)
def test_exact_bins_store_the_distinct_values(matrix):
    bins = fit(Table.read(matrix), None)
    for column, edges, known in zip(matrix.T, bins.edges, bins.values, strict=True):
        np.testing.assert_array_equal(known, distinct(column))
        assert (known[:-1] <= edges).all()
        assert (edges < known[1:]).all()


@examples(200)
@given(matrices, st.data())
def test_a_threshold_separates_the_two_codes(matrix, data):
    for max_bins in (None, 4):
        bins = fit(Table.read(matrix), max_bins)
        cuttable = np.flatnonzero(bins.n_codes > 1)
        if not len(cuttable):
            return
        triples = []
        for _ in range(5):
            feature = data.draw(st.sampled_from(cuttable.tolist()))
            left = data.draw(st.integers(0, int(bins.n_codes[feature]) - 2))
            triples.append((feature, left, data.draw(st.integers(left + 1, int(bins.n_codes[feature]) - 1))))
        feature, left, right = np.array(triples).T
        found = bins.threshold(feature, left, right)
        assert np.isfinite(found).all()
        for f, below, above, threshold in zip(feature, left, right, found, strict=True):
            codes = np.searchsorted(bins.edges[f], matrix[:, f])
            present = ~np.isnan(matrix[:, f])
            assert (matrix[present & (codes <= below), f] <= threshold).all()
            assert (matrix[present & (codes >= above), f] > threshold).all()
            if max_bins is None:
                assert bins.values[f][below] <= threshold < bins.values[f][above]
            else:
                assert threshold == bins.edges[f][(below + above - 1) // 2]


def test_worked_example():
    columns = [
        np.array([1.0, 2.0, 4.0, np.nan]),
        np.array([1, -1, 0, 1], np.int32),
        np.full(4, np.nan),
        np.full(4, 7.0),
    ]
    table = table_of(columns, {1: ("a", "b")})
    bins = fit(table, None)
    assert bins.n_codes.tolist() == [3, 2, 1, 1]
    assert bins.nominal.tolist() == [False, True, False, False]
    assert [edges.tolist() for edges in bins.edges] == [[1.5, 3.0], [], [], []]
    assert [run.tolist() for run in bins.values] == [[1.0, 2.0, 4.0], [], [], [7.0]]
    assert bins.encode(table).tolist() == [[0, 1, 1, 0], [1, 2, 1, 0], [2, 0, 1, 0], [3, 1, 1, 0]]
    assert bins.threshold(0, 0, 2) == 2.0  # 2 and 3 are equally short and equally near to the middle, 2.5
    assert fit(table, 2).edges[0].tolist() == [3.0]


def test_a_feature_without_values_has_only_the_missing_code():
    table = table_of([np.full(3, -1, np.int32)], {0: ()})
    bins = fit(table)
    assert bins.n_codes.tolist() == [1]
    assert bins.encode(table).tolist() == [[1], [1], [1]]


def test_more_than_255_codes_are_stored_in_16_bits():
    rng = np.random.default_rng(0)
    table = Table.read(np.column_stack([rng.permutation(65_535) * 0.1, rng.integers(0, 3, 65_535)]))
    bins = fit(table, None)
    codes = bins.encode(table)
    assert codes.dtype == np.uint16
    assert bins.n_codes.tolist() == [65_535, 3]
    for f in range(2):
        np.testing.assert_array_equal(codes[:, f], np.unique(table.columns[f], return_inverse=True)[1])


def test_exact_bins_fall_back_to_quantiles_beyond_65535_values():
    rng = np.random.default_rng(0)
    table = Table.read(np.column_stack([rng.normal(size=80_000), rng.integers(0, 3, 80_000)]))
    bins = fit(table, None)
    assert bins.n_codes.tolist() == [65_535, 3]
    assert [len(run) for run in bins.values] == [0, 3]
    assert (np.diff(bins.edges[0]) > 0).all()
    rows = np.bincount(bins.encode(table)[:, 0], minlength=65_535)
    assert rows.max() <= 3
    found = bins.threshold(np.array([0, 1]), np.array([10, 0]), np.array([13, 2]))
    np.testing.assert_array_equal(found, [bins.edges[0][11], 1.0])
    assert_same(fit(table, None, block=7_000, n_tasks=5, reverse=True, n_jobs=2), bins)


@pytest.mark.parametrize("n_tasks", [1, 2, 7, 31])
def test_quantiles_of_many_rows_do_not_depend_on_order_and_grouping(n_tasks):
    rng = np.random.default_rng(5)
    matrix = np.column_stack(
        [
            rng.normal(size=30_000),
            rng.lognormal(size=30_000),
            np.where(rng.random(30_000) < 0.3, 0.0, rng.random(30_000)),
            rng.integers(0, 40_000, 30_000),
            1e8 + rng.random(30_000),
        ]
    )
    expected = fit(Table.read(matrix))
    assert expected.n_codes.tolist() == [255] * 5
    assert_same(fit(Table.read(matrix[::-1]), block=997, n_tasks=n_tasks), expected)
    assert_same(
        fit(Table.read(rng.permutation(matrix)), block=997, n_tasks=n_tasks, reverse=True, n_jobs=2), expected
    )


def test_codes_do_not_depend_on_the_number_of_threads():
    table = Table.read(np.random.default_rng(0).normal(size=(60_000, 3)))
    bins = fit(table)
    np.testing.assert_array_equal(bins.encode(table, n_jobs=3), bins.encode(table))


def test_unseen_categories_cannot_be_encoded():
    table = table_of([np.zeros(2), np.array([0, -2], np.int32)], {1: ("a",)})
    with pytest.raises(DataError, match="'x1' holds a category that has no code"):
        fit(table).encode(table)


def test_a_table_with_another_number_of_columns_is_refused():
    with pytest.raises(SchemaError, match="has 1 columns; these bins were made for 2"):
        fit(table_of([np.zeros(2), np.zeros(2)])).encode(table_of([np.zeros(2)]))


@pytest.mark.parametrize("max_bins", [0, -1, 65_536])
def test_max_bins_out_of_range_is_refused(max_bins):
    with pytest.raises(ParameterError, match="expected 1 to 65,535"):
        fit(table_of([np.zeros(2)]), max_bins)


def test_bins_survive_pickling():
    bins = fit(table_of([np.arange(5.0), np.array([0, 1, 0, 1, -1], np.int32)], {1: ("a", "b")}), None)
    copy = pickle.loads(pickle.dumps(bins))
    assert_same(copy, bins)
    assert copy.threshold(0, 1, 2) == 1.5
