"""A sample does not depend on the engine and the partitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.out_of_core import sample
from hornbeam.out_of_core.sample import draw_numbers, draw_sample
from support.examples import examples
from support.strategies_growing import random_table


def assert_same(one: Table, other: Table) -> None:
    for mine, yours in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(mine, yours)
    np.testing.assert_array_equal(one.target, other.target)
    assert (one.weight is None) == (other.weight is None)
    if one.weight is not None:
        np.testing.assert_array_equal(one.weight, other.weight)
    assert (one.schema, one.unit) == (other.schema, other.unit)


@examples(60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 200),
    st.integers(1, 250),
    st.sampled_from([1, 3, 16, 1000]),
    st.integers(1, 9),
    st.booleans(),
)
def test_a_sample_is_the_rows_of_the_smallest_hashes_in_order(seed, n_rows, n, block, n_tasks, reverse):
    table = random_table(seed, n_rows=n_rows, weights=["none", "whole", "real"][seed % 3])
    drawn = draw_sample(MemorySource(table, block), LocalEngine(2, n_tasks, reverse), n, seed)
    smallest = np.sort(np.argsort(draw_numbers(0, n_rows, seed))[:n])
    assert_same(drawn, table.take(smallest))


def test_a_small_share_of_many_rows_is_drawn_evenly():
    """Also where the bound excludes most rows: 1,000 of 200,000, a tenth of them from each tenth."""
    table = Table.read(np.arange(200_000.0)[:, None], np.zeros(200_000))
    drawn = draw_sample(MemorySource(table), LocalEngine(), 1000).columns[0]
    assert len(np.unique(drawn)) == 1000
    tenths = np.bincount((drawn // 20_000).astype(int))
    assert ((tenths > 60) & (tenths < 140)).all()  # four standard deviations of 9.5
    other = draw_sample(MemorySource(table), LocalEngine(), 1000, seed=1).columns[0]
    assert len(np.intersect1d(drawn, other)) < 25  # 5 are expected


def test_the_bound_is_doubled_if_too_few_rows_are_below_it(monkeypatch):
    table = Table.read(np.arange(10_000.0)[:, None], np.zeros(10_000))
    expected = draw_sample(MemorySource(table), LocalEngine(), 500)
    monkeypatch.setattr(sample, "_SPARE", -15)  # half as many as are wanted
    assert_same(draw_sample(MemorySource(table, 99), LocalEngine(), 500), expected)


class Watched(MemorySource):
    """Records the partitions that are read."""

    def read(self, unit, features=None, rows=None):
        reads.append((unit.begin, rows.tolist()))
        return super().read(unit, features, rows)


reads: list[tuple[int, list[int]]] = []


def test_only_units_with_chosen_rows_are_read():
    table = Table.read(np.arange(1000.0)[:, None], np.zeros(1000))
    reads.clear()
    drawn = draw_sample(Watched(table, 10), LocalEngine(), 1)
    places = [begin + row for begin, rows in reads for row in rows]
    assert len(reads) < 100
    assert set(drawn.columns[0]) < set(places)


@pytest.mark.parametrize("weight", [None, "times"])
@pytest.mark.parametrize("dropped", [{}, {2: 0}])
def test_a_sample_of_files_is_that_of_memory(tmp_path, weight, dropped):
    """Also with rows of weight zero, or of a class of weight zero."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=500), "c": rng.choice(list("abc"), 500)})
    frame["y"], frame["times"] = rng.integers(0, 3, 500), rng.integers(0, 3, 500)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    columns = {
        "target": "y",
        "sample_weight": weight,
        "features": ["x", "c"],
        "class_weight": dropped or None,
    }
    source = scan_parquet(tmp_path, **columns)
    table = Table.read(
        frame[["x", "c"]],
        frame["y"],
        sample_weight=None if weight is None else frame["times"],
        class_weight=dropped or None,
    )
    smallest = np.sort(np.argsort(draw_numbers(0, table.n_rows))[:60])
    assert_same(draw_sample(source, LocalEngine(2), 60), table.take(smallest))


def test_no_rows_or_an_empty_sample_raises():
    table = Table.read([[1.0], [2.0]], [0, 1])
    with pytest.raises(ParameterError, match="n_rows=0"):
        draw_sample(MemorySource(table), LocalEngine(), 0)
    with pytest.raises(DataError, match="no rows"):
        draw_sample(MemorySource(table.slice(0, 0)), LocalEngine(), 5)
