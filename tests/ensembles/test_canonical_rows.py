"""Canonical rows: sorted by content, and sampled with new weights."""

import numpy as np
import pytest

from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.errors import DataError
from hornbeam.recipe import Recipe
from support.strategies_growing import random_table


def test_the_order_depends_on_the_rows_alone():
    table = random_table(1, n_rows=80, n_values=3, weights="real")
    order = np.random.default_rng(0).permutation(80)
    one, other = CanonicalRows.of(table, Recipe()), CanonicalRows.of(table.take(order), Recipe())
    np.testing.assert_array_equal(one.encoded.codes, other.encoded.codes)
    np.testing.assert_array_equal(one.table.target, other.table.target)
    np.testing.assert_array_equal(one.table.weight, other.table.weight)
    assert not np.array_equal(one.origin, np.arange(80))


def test_equal_rows_are_neighbours_and_have_equal_hashes():
    rows = CanonicalRows.of(random_table(2, n_rows=200, n_numeric=1, n_values=2), Recipe())
    seen = np.column_stack([rows.encoded.codes, rows.table.target])
    new = np.append(True, (seen[1:] != seen[:-1]).any(axis=1))
    np.testing.assert_array_equal(new, np.append(True, rows.row_hash[1:] != rows.row_hash[:-1]))
    assert new.sum() == len(np.unique(seen, axis=0))


def test_a_subset_has_rows_of_every_kind_in_canonical_order():
    rows = CanonicalRows.of(Table.read([[1.0]] * 900 + [[2.0]] * 100, [0] * 900 + [1] * 100), Recipe())
    some = rows.subset(100)
    assert 80 < (some.table.target == 0).sum() < 98
    assert (np.diff(some.row_hash.astype(object)) >= 0).all()
    np.testing.assert_array_equal(
        some.table.target, rows.table.target[np.searchsorted(rows.row_hash, some.row_hash)]
    )


def test_rows_of_equal_codes_are_in_the_order_of_their_values():
    values = np.random.default_rng(0).normal(size=(500, 2))
    values[0], values[1, 0] = -0.0, np.nan
    orders = np.arange(500), np.random.default_rng(1).permutation(500)
    one, two = (CanonicalRows.of(Table.read(values[o], [0] * 500), Recipe(max_bins=2)) for o in orders)
    assert len(np.unique(one.row_hash)) < 20
    for column, other in zip(one.table.columns, two.table.columns, strict=True):
        np.testing.assert_array_equal(column, other)


def test_codes_are_those_of_the_rows():
    table = random_table(3, n_rows=50)
    rows = CanonicalRows.of(table, Recipe())
    np.testing.assert_array_equal(rows.encoded.codes, rows.encoded.bins.encode(table)[rows.origin])


def test_sums_of_a_sampled_numeric_target_fit_64_bits():
    table = Table.read([[1.0], [2.0]], [3.0, -0.0], target_kind=Kind.NUMERIC)
    rows = CanonicalRows.of(table, Recipe())
    some = rows.sample(np.array([0, 1]), np.array([2**40, 1]))
    assert some.table.numeric_target.values.tolist() == table.take(rows.origin).numeric_target.values.tolist()
    assert abs(int(some.table.numeric_target.numerators(some.table.weight).sum())) < 2**62


def test_rows_without_a_target_are_refused():
    with pytest.raises(DataError, match="no target"):
        CanonicalRows.of(Table.read([[1.0], [2.0]]), Recipe())
