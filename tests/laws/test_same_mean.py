"""The same numbers, the same tree, bit for bit: any number of threads, any order, weights as copies; and draws too."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.data import Table
from hornbeam.data.measured import Measured
from hornbeam.growing import Criterion, Grower, home, trunk
from hornbeam.kernels.subtree import child_key
from hornbeam.tree import Tree
from strategies_growing import bins_of, growers, measured_tables, random_table

seeds = st.integers(0, 2**32 - 1)


def assert_same(one: Tree, other: Tree) -> None:
    assert one.digest == other.digest
    np.testing.assert_array_equal(one.gain, other.gain)


def taken(table: Table, rows: np.ndarray) -> Table:
    """Some rows of a table in some order, read anew: their units are chosen by themselves."""
    assert table.measured is not None
    some = table.take(rows)
    return replace(some, measured=Measured.of(table.measured.values[rows], some.weight, some.unit))


@settings(max_examples=100)
@given(st.data())
def test_any_number_of_threads(data):
    table = data.draw(measured_tables(max_rows=120))
    grower, bins = data.draw(growers(table)), bins_of(table)
    grower = replace(grower, max_features=data.draw(st.sampled_from([None, 1, 2])))
    key = data.draw(seeds)
    alone = grower.grow(table, bins, key=key)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "_QUICK_CODES", 0)
        patch.setattr(home, "_SERIAL_ROWS", 0)
        patch.setattr(trunk, "_SMALLEST_GRAIN", 1)
        for n_jobs in (1, 2, 3, 8):
            assert_same(grower.grow(table, bins, n_jobs=n_jobs, key=key), alone)


@settings(max_examples=100)
@given(st.data(), seeds)
def test_any_order_of_rows(data, seed):
    table = data.draw(measured_tables(max_rows=120))
    grower = replace(data.draw(growers(table)), max_features=data.draw(st.sampled_from([None, 1])))
    shuffled = taken(table, np.random.default_rng(seed).permutation(table.n_rows))
    assert_same(
        grower.grow(shuffled, bins_of(shuffled), key=seed), grower.grow(table, bins_of(table), key=seed)
    )


@settings(max_examples=100)
@given(st.data(), seeds)
def test_a_row_of_weight_two_is_two_rows(data, seed):
    table = data.draw(measured_tables(max_rows=60))
    assert table.measured is not None
    grower = replace(data.draw(growers(table)), min_samples_leaf=1, min_samples_split=2)
    times = np.random.default_rng(seed).integers(1, 4, table.n_rows)
    plain = replace(table, weight=None, unit=1.0)
    copies = taken(plain, np.repeat(np.arange(table.n_rows), times))
    weighted = replace(plain, weight=times, measured=Measured.of(table.measured.values, times))
    assert_same(grower.grow(copies, bins_of(copies)), grower.grow(weighted, bins_of(weighted)))


@settings(max_examples=100)
@given(st.data())
def test_powers_of_two_only_move_the_answers(data):
    """Targets times 2**k give the same tests, and answers times 2**k."""
    table = data.draw(measured_tables(max_rows=60))
    assert table.measured is not None
    grower, k = replace(data.draw(growers(table)), min_impurity_decrease=0.0), data.draw(st.integers(-40, 40))
    values = np.ldexp(table.measured.values, k)
    moved = replace(table, measured=Measured.of(values, table.weight, table.unit))
    one, other = grower.grow(table, bins_of(table)), grower.grow(moved, bins_of(moved))
    np.testing.assert_array_equal(one.skeleton.feature, other.skeleton.feature)
    np.testing.assert_array_equal(one.skeleton.threshold, other.skeleton.threshold)
    np.testing.assert_array_equal(np.ldexp(one.belief, k), other.belief)


# ---- features drawn for each node


@pytest.mark.parametrize("criterion", [Criterion.ENTROPY, Criterion.GINI])
def test_classes_draw_features_alike_on_any_number_of_threads(criterion):
    table = random_table(3, n_rows=2_000, n_numeric=6, n_values=50, missing=0.05)
    bins, grower = bins_of(table), Grower(criterion, max_features=2)
    alone = grower.grow(table, bins, key=9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "_QUICK_CODES", 0)
        patch.setattr(home, "_SERIAL_ROWS", 0)
        patch.setattr(trunk, "_SMALLEST_GRAIN", 1)
        assert_same(grower.grow(table, bins, n_jobs=3, key=9), alone)
    assert grower.grow(table, bins, key=10).digest != alone.digest


def test_each_feature_is_drawn_as_often_as_any_other():
    """One feature a node, all of them alike: which is asked at the root depends on the key alone."""
    values = np.random.default_rng(0).random((60, 1)).repeat(5, axis=1)
    table = Table.read(values, (values[:, 0] > 0.5).astype(int))
    bins, grower = bins_of(table), Grower(max_features=1, max_depth=1)
    keys = [child_key(7, tree) for tree in range(1_000)]
    asked = np.bincount([grower.grow(table, bins, key=key).skeleton.feature[0] for key in keys])
    assert len(asked) == 5
    assert ((asked > 150) & (asked < 250)).all()


def test_a_node_looks_further_while_nothing_splits():
    """Nine features are constant, so the tenth is found whatever is drawn first."""
    X = np.zeros((40, 10))
    X[:, 7] = np.arange(40)
    table = Table.read(X, np.arange(40) % 2)
    for key in range(20):
        assert (
            Grower(max_features=1, max_depth=1).grow(table, bins_of(table), key=key).skeleton.feature[0] == 7
        )


def test_all_features_are_all_features():
    table = random_table(5, n_rows=300, n_numeric=4)
    bins = bins_of(table)
    assert_same(Grower(max_features=99).grow(table, bins, key=4), Grower().grow(table, bins))
