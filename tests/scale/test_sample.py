"""A sample does not depend on who draws it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.data import LocalEngine, MemorySource, Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.scale.sample import draw_numbers, draw_sample
from strategies_growing import random_table


def assert_same(one: Table, other: Table) -> None:
    for mine, yours in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(mine, yours)
    np.testing.assert_array_equal(one.target, other.target)
    assert (one.weight is None) == (other.weight is None)
    if one.weight is not None:
        np.testing.assert_array_equal(one.weight, other.weight)
    assert (one.schema, one.unit) == (other.schema, other.unit)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 200),
    st.integers(1, 250),
    st.sampled_from([1, 3, 16, 1000]),
    st.integers(1, 9),
    st.booleans(),
)
def test_the_rows_of_the_smallest_numbers_in_their_order(seed, n_rows, n, block, groups, reverse):
    table = random_table(seed, n_rows=n_rows, weights=["none", "whole", "real"][seed % 3])
    drawn = draw_sample(MemorySource(table, block), LocalEngine(2, groups, reverse), n, seed)
    smallest = np.sort(np.argsort(draw_numbers(0, n_rows, seed))[:n])
    assert_same(drawn, table.take(smallest))


def test_a_small_share_of_many_rows_is_drawn_evenly():
    """Also where the bound leaves most rows behind: 1,000 of 200,000, a tenth of them from each tenth."""
    table = Table.read(np.arange(200_000.0)[:, None], np.zeros(200_000))
    drawn = draw_sample(MemorySource(table), LocalEngine(), 1000).columns[0]
    assert len(np.unique(drawn)) == 1000
    tenths = np.bincount((drawn // 20_000).astype(int))
    assert ((tenths > 60) & (tenths < 140)).all()  # four standard deviations of 9.5
    other = draw_sample(MemorySource(table), LocalEngine(), 1000, seed=1).columns[0]
    assert len(np.intersect1d(drawn, other)) < 25  # 5 are expected


class Sparse(MemorySource):
    """Nine in ten rows are left out when they are read, as those of weight zero are."""

    def read(self, unit, features=None):
        table = super().read(unit, features)
        return table.take(np.flatnonzero(table.columns[0] % 10 == 0))


def test_rows_that_do_not_count_are_made_up_for():
    table = Table.read(np.arange(100_000.0)[:, None], np.zeros(100_000))
    drawn = draw_sample(Sparse(table, 1000), LocalEngine(), 500)
    assert drawn.n_rows == 500
    assert (drawn.columns[0] % 10 == 0).all()


def test_no_rows_and_no_sample():
    table = Table.read([[1.0], [2.0]], [0, 1])
    with pytest.raises(ParameterError, match="n_rows=0"):
        draw_sample(MemorySource(table), LocalEngine(), 0)
    with pytest.raises(DataError, match="no rows"):
        draw_sample(MemorySource(table.slice(0, 0)), LocalEngine(), 5)
