"""The same rows give the same regression tree, bit for bit: for any threads, row order, grouping, copies as weights."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeRegressor
from hornbeam.data.engine import LocalEngine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.growing import grower as grower_module
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower, grow_in_memory
from hornbeam.kernels.subtree import child_key
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import REGRESSION_PRESETS
from hornbeam.tree.evidence.count import recount
from hornbeam.tree.tree import Tree
from hornbeam.tuning.cross_fitted import CrossFitted
from support.examples import examples
from support.strategies_growing import bins_of, growers, random_table, regression_tables

seeds = st.integers(0, 2**32 - 1)
SMALL = {"quick_codes": 0, "serial_rows": 0, "smallest_grain": 1}  # small data use all threads


def assert_same(one: Tree, other: Tree) -> None:
    assert one.digest == other.digest
    np.testing.assert_array_equal(one.gain, other.gain)


def take(table: Table, rows: np.ndarray) -> Table:
    """Some rows of a table in some order, with partitions chosen for these rows."""
    assert table.numeric_target is not None
    some = table.take(rows)
    return replace(
        some, numeric_target=NumericTarget.of(table.numeric_target.values[rows], some.weight, some.unit)
    )


@examples(100)
@given(st.data())
def test_any_number_of_threads(data):
    table = data.draw(regression_tables(max_rows=120))
    grower, bins = data.draw(growers(table)), bins_of(table)
    grower = replace(grower, max_features=data.draw(st.sampled_from([None, 1, 2])))
    key = data.draw(seeds)
    alone = grower.grow(table, bins, key=key)
    for n_jobs in (1, 2, 3, 8):
        assert_same(grow_in_memory(grower, table, bins, n_jobs=n_jobs, key=key, **SMALL), alone)


@examples(100)
@given(st.data(), seeds)
def test_any_order_of_rows(data, seed):
    table = data.draw(regression_tables(max_rows=120))
    grower = replace(data.draw(growers(table)), max_features=data.draw(st.sampled_from([None, 1])))
    shuffled = take(table, np.random.default_rng(seed).permutation(table.n_rows))
    assert_same(
        grower.grow(shuffled, bins_of(shuffled), key=seed), grower.grow(table, bins_of(table), key=seed)
    )


@examples(100)
@given(st.data(), seeds)
def test_a_row_of_weight_two_is_two_rows(data, seed):
    table = data.draw(regression_tables(max_rows=60))
    assert table.numeric_target is not None
    grower = replace(data.draw(growers(table)), min_samples_leaf=1, min_samples_split=2)
    times = np.random.default_rng(seed).integers(1, 4, table.n_rows)
    plain = replace(table, weight=None, unit=1.0)
    copies = take(plain, np.repeat(np.arange(table.n_rows), times))
    weighted = replace(
        plain, weight=times, numeric_target=NumericTarget.of(table.numeric_target.values, times)
    )
    assert_same(grower.grow(copies, bins_of(copies)), grower.grow(weighted, bins_of(weighted)))


@examples(100)
@given(st.data())
def test_scaling_the_target_by_a_power_of_two_scales_the_predictions(data):
    """Targets times 2**k give the same splits, and predictions times 2**k."""
    table = data.draw(regression_tables(max_rows=60))
    assert table.numeric_target is not None
    grower, k = replace(data.draw(growers(table)), min_impurity_decrease=0.0), data.draw(st.integers(-40, 40))
    values = np.ldexp(table.numeric_target.values, k)
    scaled = replace(table, numeric_target=NumericTarget.of(values, table.weight, table.unit))
    one, other = grower.grow(table, bins_of(table)), grower.grow(scaled, bins_of(scaled))
    np.testing.assert_array_equal(one.skeleton.feature, other.skeleton.feature)
    np.testing.assert_array_equal(one.skeleton.threshold, other.skeleton.threshold)
    np.testing.assert_array_equal(np.ldexp(one.belief, k), other.belief)


# ---- features drawn for each node


@pytest.mark.parametrize("criterion", [Criterion.ENTROPY, Criterion.GINI])
def test_nodes_draw_the_same_features_on_any_number_of_threads(criterion):
    table = random_table(3, n_rows=2_000, n_numeric=6, n_values=50, missing=0.05)
    bins, grower = bins_of(table), Grower(criterion, max_features=2)
    alone = grower.grow(table, bins, key=9)
    assert_same(grow_in_memory(grower, table, bins, n_jobs=3, key=9, **SMALL), alone)
    assert grower.grow(table, bins, key=10).digest != alone.digest


def test_features_are_drawn_equally_often():
    """One feature per node, all features equal: the root depends on the key alone."""
    values = np.random.default_rng(0).random((60, 1)).repeat(5, axis=1)
    table = Table.read(values, (values[:, 0] > 0.5).astype(int))
    bins, grower = bins_of(table), Grower(max_features=1, max_depth=1)
    keys = [child_key(7, tree) for tree in range(1_000)]
    drawn = np.bincount([grower.grow(table, bins, key=key).skeleton.feature[0] for key in keys])
    assert len(drawn) == 5
    assert ((drawn > 150) & (drawn < 250)).all()


def test_a_node_draws_more_features_until_one_has_a_split():
    """Nine of ten features are constant."""
    X = np.zeros((40, 10))
    X[:, 7] = np.arange(40)
    table = Table.read(X, np.arange(40) % 2)
    for key in range(20):
        assert (
            Grower(max_features=1, max_depth=1).grow(table, bins_of(table), key=key).skeleton.feature[0] == 7
        )


def test_drawing_all_features_is_the_same_as_not_drawing():
    table = random_table(5, n_rows=300, n_numeric=4)
    bins = bins_of(table)
    assert_same(Grower(max_features=99).grow(table, bins, key=4), Grower().grow(table, bins))


# ---- whole fits: binned, grown, tuned, pruned, smoothed


def random_rows(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features with ties and missing values, a noisy target, and fractional weights."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 4)), 2)
    y = 3 * X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, rng.integers(1, 9, n_rows) / 8


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("preset", ["default", "cart"])
def test_the_digest_depends_on_neither_threads_nor_order(preset, weighted):
    X, y, weight = random_rows(1500)
    weight = weight if weighted else None
    alone = TreeRegressor(preset, n_jobs=1).fit(X, y, sample_weight=weight).tree_
    threaded = partial(grow_in_memory, quick_codes=0, serial_rows=0)
    with pytest.MonkeyPatch.context() as patch:  # with this few rows one thread would do
        patch.setattr(grower_module, "grow_in_memory", threaded)
        for n_jobs in (2, 3, 8):
            order = np.random.default_rng(n_jobs).permutation(len(y))
            shuffled = None if weight is None else weight[order]
            tree = TreeRegressor(preset, n_jobs=n_jobs).fit(X[order], y[order], sample_weight=shuffled).tree_
            assert_same(tree, alone)


GROUPINGS = [
    (60, LocalEngine()),
    (7, LocalEngine(n_tasks=5)),
    (64, LocalEngine(n_jobs=2, n_tasks=3, reverse=True)),
    (1, LocalEngine(n_jobs=3, n_tasks=200, reverse=True)),
]


@pytest.mark.parametrize("recipe", [REGRESSION_PRESETS["cart"], CrossFitted(REGRESSION_PRESETS["default"])])
def test_any_grouping_of_units_by_the_engine(recipe):
    X, y, weight = random_rows(400)
    table = Table.read(X, y, sample_weight=weight, target_kind=Kind.NUMERIC)
    alone = recipe.fit(table)
    for block, engine in GROUPINGS:
        assert_same(fit(MemorySource(table, block), recipe, engine), alone)


def test_all_rows_are_counted_on_the_splits_of_a_sample():
    """For any grouping of partitions the evidence is exactly that of all rows counted in memory."""
    X, y, weight = random_rows(400)
    table = Table.read(X, y, sample_weight=weight, target_kind=Kind.NUMERIC)
    recipe = REGRESSION_PRESETS["cart"]
    sample = Plan.of(MemorySource(table), recipe, grow_rows=150)
    trees = [fit(MemorySource(table, block), recipe, engine, plan=sample) for block, engine in GROUPINGS]
    np.testing.assert_array_equal(trees[0].evidence, recount(trees[0], table).evidence)
    assert trees[0].rows[0] == 400
    for tree in trees[1:]:
        assert_same(tree, trees[0])


def test_rows_that_do_not_fit_memory_give_the_tree_of_all_rows():
    X, y, weight = random_rows(400)
    table = Table.read(X, y, sample_weight=weight, target_kind=Kind.NUMERIC)
    recipe, source = REGRESSION_PRESETS["cart"], MemorySource(table, 10)
    plan = Plan.of(source, recipe, memory=44 * 150)
    assert plan.mode == "level-wise"
    assert_same(fit(source, recipe, plan=plan), recipe.fit(table))
