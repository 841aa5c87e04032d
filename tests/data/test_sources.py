"""`MemorySource`: blocks of rows, some columns, and the fingerprint."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from support.strategies_growing import random_table, training_tables

ROWS = [[1.0, "a", 7], [2.0, "b", None], [3.0, "a", 9]]


class Recording:
    """A source that records which columns were read."""

    def __init__(self, table: Table) -> None:
        self.source = MemorySource(table, block=2)
        self.schema, self.partitions = table.schema, self.source.partitions
        self.columns_read: set[int | None] = set()

    def read(self, unit, features=None):
        self.columns_read |= {None} if features is None else set(features)
        return self.source.read(unit, features)


@given(st.data())
def test_reading_some_features_gives_the_columns_of_the_table(data):
    table = data.draw(training_tables(max_rows=20))
    source = MemorySource(table, block=data.draw(st.integers(1, 25)))
    n_features = table.schema.n_features
    some = data.draw(st.lists(st.integers(0, n_features - 1), min_size=1, unique=True))
    for partition in source.partitions():
        part, whole = source.read(partition, some), source.read(partition)
        assert part.schema.features == tuple(table.schema.features[at] for at in some)
        assert part.schema.classes == table.schema.classes
        assert part.n_rows == partition.n_rows
        for at, column in zip(some, part.columns, strict=True):
            np.testing.assert_array_equal(column, whole.columns[at])
        np.testing.assert_array_equal(part.target, whole.target)
        assert (part.weight is None) == (whole.weight is None)


def test_bins_read_only_numeric_features():
    source = Recording(Table.read(ROWS, [0, 1, 0]))
    Bins.fit(source, LocalEngine(), max_bins=1)
    assert source.columns_read == {0, 2}


def test_equal_rows_have_equal_fingerprints():
    table = random_table(0, weights="whole")
    fingerprint = MemorySource(table).fingerprint
    assert MemorySource(table, block=3).fingerprint == fingerprint
    strided = replace(table, columns=tuple(np.repeat(column, 2)[::2] for column in table.columns))
    assert MemorySource(strided).fingerprint == fingerprint


@pytest.mark.parametrize("name", ["schema", "columns", "target", "weight", "unit", "class_weight"])
def test_different_rows_have_different_fingerprints(name):
    table = random_table(0, weights="whole")
    first = table.columns[0].copy()
    first[0] += 1
    other = {
        "schema": replace(table.schema, classes=tuple(f"class {label}" for label in table.schema.classes)),
        "columns": (first, *table.columns[1:]),
        "target": table.target[::-1].copy(),
        "weight": None,
        "unit": 0.5,
        "class_weight": np.arange(1.0, 1 + table.schema.n_classes),
    }
    assert MemorySource(replace(table, **{name: other[name]})).fingerprint != MemorySource(table).fingerprint


def test_different_bins_have_different_digests():
    table = Table.read([[0.1, "a"], [0.2, "b"], [0.7, "a"]])
    source = MemorySource(table)
    bins = [Bins.fit(source, LocalEngine(), max_bins=n) for n in (1, 2, 255, None)]
    nominal = Bins(bins[0].edges, bins[0].values, bins[0].n_codes, ~bins[0].nominal)
    assert len({each.digest for each in [*bins, nominal]}) == 5
    assert Bins.fit(source, LocalEngine(n_tasks=2), max_bins=2).digest == bins[1].digest
