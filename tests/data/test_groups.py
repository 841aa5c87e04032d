"""Groups of rows: how they are read, numbered, drawn, and found."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.column_checks import Check, check_columns
from hornbeam.data.groups import copies_as_groups, hash_groups, read_groups
from hornbeam.data.row_order import (
    copied_classes,
    first_units,
    keep_copies_together,
    n_units,
    row_hash,
    unit_ranks,
)
from hornbeam.data.table import Table
from hornbeam.errors import DataError, HornbeamError
from hornbeam.tuning.folds import FoldAssignment


def same_partition(one, other):
    """Whether two arrays divide rows into the same groups."""
    pairs = len({*zip(one.tolist(), other.tolist(), strict=True)})
    return pairs == len(set(one.tolist())) == len(set(other.tolist()))


@pytest.mark.parametrize(
    "groups",
    [
        ["b", "a", "b"],
        np.array([3, 1, 3]),
        np.array([2**62 + 1, 2**62, 2**62 + 1]),  # equal as floats
        np.array(["2020-01-02", "2020-01-01", "2020-01-02"], "datetime64[D]"),
        np.array([True, False, True]),
        [("x", 1), ("x", 2), ("x", 1)],
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series(["b", "a", "b"]),
        pa.chunked_array([["b"], ["a", "b"]]),
    ],
    ids=lambda groups: type(groups).__name__,
)
def test_any_values_are_groups(groups):
    if isinstance(groups, list) and isinstance(groups[0], tuple):
        groups = np.array([*groups, None], object)[:-1]
    assert same_partition(read_groups(groups, 3), np.array([1, 0, 1]))


@pytest.mark.parametrize(
    "groups",
    [
        [1.0, np.nan, 1.0],
        ["a", None, "a"],
        pd.Series([1, None, 1], dtype="Int64"),
        np.array(["2020-01-01", "NaT", "2020-01-01"], "datetime64[D]"),
        np.ma.masked_array([1, 2, 3], [False, True, False]),
        pl.Series(["a", None, "a"]),
    ],
    ids=lambda groups: type(groups).__name__,
)
def test_a_missing_group_is_refused(groups):
    with pytest.raises(DataError, match="missing"):
        read_groups(groups, 3)


@pytest.mark.parametrize("groups", [[1, 2], [[1], [2], [3]], [[], [], []], [{}, {}, {}], 7, b"abc"])
def test_other_shapes_and_types_are_refused(groups):
    with pytest.raises(HornbeamError):
        read_groups(groups, 3)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.randoms())
def test_units_do_not_depend_on_order_or_names(groups, random):
    group = np.array(groups)
    codes = np.arange(len(group), dtype=np.uint16)[:, None]
    target = np.zeros(len(group), np.int64)
    order = np.array(random.sample(range(len(group)), len(group)))
    names = np.array(random.sample(range(100), 6))
    table, other = (Table.read(codes, target, groups=labels) for labels in (group, names[group][order]))
    ranks = unit_ranks(row_hash(codes, target), table)
    assert same_partition(ranks, group)
    assert sorted(set(ranks.tolist())) == list(range(len(set(groups))))
    np.testing.assert_array_equal(ranks[order], unit_ranks(row_hash(codes[order], target[order]), other))


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(1, 40))
def test_the_first_units_are_whole(ranks, n_rows):
    ranks = np.array(ranks)
    rows = first_units(ranks, n_rows)
    assert 1 <= len(rows) <= n_rows
    chosen, left = set(ranks[rows].tolist()), set(np.delete(ranks, rows).tolist())
    assert not chosen & left or chosen == {ranks.min()}
    assert max(chosen) <= min(left, default=9)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=60), st.integers(2, 5), st.integers(0, 3))
def test_groups_are_in_one_fold(groups, n_folds, seed):
    group = np.array(groups)
    rows = np.random.default_rng(0).integers(0, 5, (len(group), 2)).astype(np.uint8)
    target = rows[:, 0] % 2
    weight = 1 + rows[:, 1] % 3
    table = Table.read(rows.astype(float), target, sample_weight=weight, groups=group)
    folds = FoldAssignment.of(table, rows, n_folds, seed)
    held = folds.held()
    np.testing.assert_array_equal(held.sum(axis=0), np.ones(len(group)))  # each row once, with all its weight
    for one in set(groups):
        assert len(set(held.argmax(axis=0)[group == one])) == 1
    n_groups = len(set(groups))
    sizes = [len(set(group[held[fold] > 0])) for fold in range(n_folds)]
    assert max(sizes) - min(sizes) <= 1 or n_groups < n_folds


def test_hashes_of_a_column_are_the_same_in_every_partition():
    whole = hash_groups(pa.chunked_array([["a", "b"], ["c", "a"]]))
    parts = [hash_groups(pa.chunked_array([part])) for part in (["a", "b"], ["c", "a"])]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    with pytest.raises(DataError, match="missing"):
        hash_groups(pa.chunked_array([["a", None]]))


def test_copies_have_equal_values_and_target():
    table = Table.read([[1.0, "a"], [1.0, "a"], [1.0, "b"], [1.0, "a"]], [0, 1, 0, 0])
    assert same_partition(copies_as_groups(table.columns, table.target), np.array([0, 1, 2, 0]))


def oversampled(n_copies, n_rare=40, decimals=9):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)).round(decimals)
    y = (np.arange(500) < n_rare).astype(int)
    rows = np.concatenate([np.arange(500), np.repeat(np.flatnonzero(y), n_copies)])
    return Table.read(X[rows], y[rows]), rows


def test_oversampling_is_found():
    table, rows = oversampled(6)
    assert copied_classes(table) == (1,)
    assert same_partition(keep_copies_together(table).group, rows)
    assert n_units(keep_copies_together(table)) == 500


@pytest.mark.parametrize("y", [np.arange(60) % 3, np.linspace(0, 1, 60)], ids=["classes", "numbers"])
def test_a_repeated_table_is_found(y):
    X, rows = np.random.default_rng(0).normal(size=(60, 3)), np.repeat(np.arange(60), 4)
    kind = "numeric" if y.dtype == float else None
    table = Table.read(X[rows], y[rows], target_kind=kind)
    assert copied_classes(table) == tuple(range(table.schema.n_outputs))
    assert same_partition(keep_copies_together(table).group, rows)
    assert keep_copies_together(Table.read(X, y, target_kind=kind)).group is None


@pytest.mark.parametrize(
    "table",
    [
        oversampled(0)[0],
        oversampled(6, n_rare=5)[0],  # too few rows to judge
        oversampled(6, decimals=0)[0],  # a few values: equal rows in both classes
        Table.read(np.repeat(np.random.default_rng(0).normal(size=(50, 3)), 4, axis=0), np.arange(200) % 2),
        Table.read(np.repeat(np.arange(9.0), 4)[:, None], np.repeat(np.arange(9) % 2, 4)),
        Table.read(
            np.repeat(np.array(list(product([0, 1], repeat=4))), 3, axis=0), np.repeat(np.arange(16) > 7, 3)
        ),
        Table.read(np.arange(301.0)[:, None] // 6, np.arange(301) // 6 > 20),
    ],
    ids=["no copies", "few rows", "few values", "both classes", "few different rows", "design", "rounded"],
)
def test_other_copies_are_left_alone(table):
    assert copied_classes(table) == ()
    assert keep_copies_together(table) is table


def visits(patients=60, each=5, names=("age", "height", "weight", "pulse")):
    rng = np.random.default_rng(1)
    own = rng.normal(size=(patients, 3))
    rows = np.repeat(np.arange(patients), each)
    X = pd.DataFrame(np.column_stack([own[rows], rng.normal(size=len(rows))]), columns=names)
    return X, rng.integers(0, 2, len(rows)), rows


def test_rows_that_share_several_columns_get_advice():
    X, y, patient = visits()
    [found] = check_columns(Table.read(X, y))
    assert (found.column, found.check) == ("age", Check.GROUP)
    assert check_columns(Table.read(X, y, groups=patient)) == ()
    assert check_columns(Table.read(X[["age", "pulse"]], y)) == ()  # one shared column may be a measurement


def test_an_identifier_that_repeats_gets_advice():
    X, y, patient = visits()
    X = pd.DataFrame({"patient_id": patient, "pulse": X["pulse"]})
    assert [found.column for found in check_columns(Table.read(X, y))] == ["patient_id"]
    assert check_columns(Table.read(X.rename(columns={"patient_id": "age"}), y)) == ()


def test_copies_of_whole_rows_are_no_groups():
    X, y, _ = visits(300, 1)
    rows = np.repeat(np.arange(300), 3)
    assert not any(found.check is Check.GROUP for found in check_columns(Table.read(X.iloc[rows], y[rows])))
