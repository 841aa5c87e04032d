"""Counting the rows of a source equals counting them in memory."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.growing.criterion import Missing
from hornbeam.pruning import BayesRisk, ReducedError
from hornbeam.pruning.reduced_error import held_out_evidence
from hornbeam.recipe import PRESETS
from hornbeam.smoothing import Laplace
from hornbeam.tree.evidence.count import count_on_all, recount
from support.examples import examples
from support.strategies_growing import bins_of, growers, random_table, training_tables

engines = st.builds(LocalEngine, st.integers(1, 2), st.integers(1, 9), st.booleans())
blocks = st.sampled_from([1, 7, 1000])


@examples(150)
@given(st.data(), engines, blocks)
def test_counting_on_all_is_recounting_in_memory(data, engine, block):
    """Rows on one path and fractional rows, weighted or not, used by the grower or not."""
    table = data.draw(training_tables(max_rows=80))
    some = table.slice(0, max(1, table.n_rows // 3))
    tree = data.draw(growers(table)).grow(some, bins_of(some))
    counted = count_on_all(tree, MemorySource(table, block), engine)
    expected = recount(tree, table)
    assert counted.digest == expected.digest
    np.testing.assert_array_equal(counted.rows, expected.rows)
    np.testing.assert_array_equal(counted.gain, tree.gain)


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_fractional_rows_over_many_levels(weights):
    table = random_table(3, n_rows=300, n_numeric=4, missing=0.1, weights=weights, n_values=40)
    grower = replace(PRESETS["default"].grower, missing=Missing.FRACTIONAL)
    some = table.slice(0, 200)
    tree = grower.grow(some, bins_of(some))
    assert (tree.skeleton.missing_slot == -2).any()
    assert tree.depth > 5
    counted = count_on_all(tree, MemorySource(table, 100), LocalEngine(2, 3))
    assert counted.digest == recount(tree, table).digest


class Elsewhere:
    """A source that is not known to be in memory."""

    def __init__(self, source):
        self.source = source

    def __getattr__(self, name):
        return getattr(self.source, name)


@examples(100)
@given(st.data(), engines, blocks)
def test_held_out_rows_of_a_source_count_as_in_memory(data, engine, block):
    table = data.draw(training_tables(max_rows=80))
    half = (table.n_rows + 1) // 2
    some, rest = table.slice(0, half), table.slice(half, table.n_rows)
    tree = data.draw(growers(table)).grow(some, bins_of(some))
    if not rest.n_rows:
        return
    source = MemorySource(rest, block)
    expected = held_out_evidence(tree, rest)
    np.testing.assert_array_equal(held_out_evidence(tree, Elsewhere(source), engine=engine), expected)
    pruner = ReducedError(Elsewhere(source), engine=engine)
    assert pruner(tree).digest == ReducedError(rest)(tree).digest
    tree = Laplace()(tree)
    assert BayesRisk(held_out=Elsewhere(source))(tree).digest == BayesRisk(held_out=rest)(tree).digest


class Columns(MemorySource):
    """Records the columns that are read."""

    def read(self, unit, features=None, rows=None):
        columns_read.append(features)
        return super().read(unit, features, rows)


columns_read: list[tuple[int, ...] | None] = []


def test_only_the_columns_of_splits_are_read():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    table = Table.read(X, (X[:, 4] > 0).astype(int))
    tree = PRESETS["cart"].fit(table)
    columns_read.clear()
    count_on_all(tree, Columns(table, 100), LocalEngine())
    assert columns_read == [(4,)] * 3


def test_a_tree_of_one_leaf_is_counted():
    table = Table.read(np.arange(6.0)[:, None], np.zeros(6))
    tree = PRESETS["cart"].fit(table)
    assert count_on_all(tree, MemorySource(table, 4), LocalEngine()).evidence.tolist() == [[6]]


def test_the_history_has_the_step():
    table = random_table(0)
    tree = count_on_all(PRESETS["cart"].fit(table), MemorySource(table), LocalEngine())
    assert str(tree.history[-1]) == "count-on-all(rows=40)"


class Pickling(LocalEngine):
    """Pickles what it sends to tasks."""

    def reduce(self, task, partitions, shared, **options):
        return super().reduce(*pickle.loads(pickle.dumps((task, partitions, shared))), **options)


def test_task_arguments_can_be_pickled():
    table = random_table(1)
    tree = PRESETS["default"].fit(table)
    counted = count_on_all(tree, MemorySource(table), Pickling())
    assert counted.digest == recount(tree, table).digest


def test_another_schema_or_no_target_raises():
    table = random_table(0)
    tree = PRESETS["cart"].fit(table)
    with pytest.raises(DataError, match="schema is not the tree's"):
        count_on_all(tree, MemorySource(random_table(0, n_classes=3)), LocalEngine())
    with pytest.raises(DataError, match="no target"):
        count_on_all(tree, MemorySource(replace(table, target=None)), LocalEngine())
