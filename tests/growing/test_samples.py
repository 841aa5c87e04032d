"""Trees grown from several samples side by side are those that are grown from each sample alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.fixed_point import fixed_point_weights
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Missing
from hornbeam.growing.forced_splits import forced_splits
from hornbeam.growing.grower import Grower
from hornbeam.growing.samples import Samples, grow_samples
from hornbeam.recipe import Recipe
from hornbeam.tree.route import route
from hornbeam.tree.several import apart, side_by_side
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.walk import evidence_stopping, n_roots, pull_up
from support.examples import examples
from support.strategies_growing import bins_of, growers, random_table, regression_tables, training_tables

ARRAYS = ("evidence", "unit", "rows", "gain", "belief", "borrowed")
ROUTES = (
    "parent",
    "first_child",
    "n_children",
    "feature",
    "threshold",
    "slot_start",
    "slot_of",
    "missing_slot",
)


def assert_same(one, other, *, unit=True):
    """The same tree; units may differ where rows are divided among children."""
    for name in ROUTES:
        np.testing.assert_array_equal(getattr(one.skeleton, name), getattr(other.skeleton, name), name)
    for name in ARRAYS:
        if unit or name not in ("evidence", "unit"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    np.testing.assert_array_equal(one.weight_in_rows, other.weight_in_rows)
    assert one.history[0] == other.history[0]


def drawn_copies(data, table, as_weight):
    """How often each of one to four samples has each row: at least one row in each sample."""
    most = st.integers(0, 3 if as_weight else 1)
    n = table.n_rows
    samples = data.draw(
        st.lists(st.lists(most, min_size=n, max_size=n).filter(any), min_size=1, max_size=4), label="copies"
    )
    return np.array(samples)


def assert_grown_alone(grower, table, samples, bins, n_jobs):
    codes = bins.encode(table)
    trees = grow_samples(grower, samples, bins, codes, n_jobs)
    assert n_roots(trees.skeleton) == len(samples)
    fractional = grower.missing is Missing.FRACTIONAL
    for (tree, nodes), sample in zip(apart(trees), samples.apart(), strict=True):
        alone = grower.grow(sample.taken(), bins)
        assert_same(tree, alone, unit=not fractional)
        assert (np.diff(nodes) > 0).all()


@examples(200)
@given(st.data())
def test_each_tree_is_the_one_of_its_rows(data):
    table = data.draw(training_tables(max_rows=30))
    grower = data.draw(growers(table))
    grower = replace(grower, max_leaf_nodes=data.draw(st.sampled_from([None, 3])))
    if data.draw(st.booleans()) and grower.missing is not Missing.FRACTIONAL:
        factors = st.lists(
            st.floats(1e-2, 1e2), min_size=table.schema.n_classes, max_size=table.schema.n_classes
        )
        table = replace(table, class_weight=np.array(data.draw(factors)))
    as_weight = table.weight is None and data.draw(st.booleans())
    copies = drawn_copies(data, table, as_weight)
    samples = Samples.of(table, [copies], as_weight=as_weight)
    assert_grown_alone(grower, table, samples, bins_of(table), data.draw(st.sampled_from([1, 2])))


@examples(100)
@given(st.data())
def test_each_regression_tree_is_the_one_of_its_rows(data):
    table = data.draw(regression_tables(max_rows=30))
    grower = data.draw(growers(table))
    samples = Samples.of(table, [drawn_copies(data, table, False)], as_weight=False)
    assert_grown_alone(grower, table, samples, bins_of(table), data.draw(st.sampled_from([1, 2])))


@pytest.mark.parametrize("n_rows", [60, 600])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_samples_may_have_targets_of_their_own(n_rows, weights):
    table = random_table(1, n_rows=n_rows, n_classes=3, n_values=1000, weights=weights)
    rng = np.random.default_rng(0)
    tables = [table, *(replace(table, target=rng.permutation(table.target)) for _ in range(3))]
    bins, grower = bins_of(table), Grower()
    trees = grow_samples(grower, Samples.all_of(*tables), bins, bins.encode(table), 2)
    for (tree, _), one in zip(apart(trees), tables, strict=True):
        assert_same(tree, grower.grow(one, bins))


@pytest.mark.parametrize("missing", [Missing.OWN, Missing.LEARNED])
def test_forced_splits_are_kept_in_every_tree(missing):
    table = random_table(5, n_rows=120, n_classes=3, n_values=40)
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [0.75, np.nan, np.nan])
    grower = replace(Grower(), missing=missing, forced_splits=forced_splits(skeleton))
    copies = np.random.default_rng(1).integers(0, 2, (4, 120))
    samples = Samples.of(table, [copies], as_weight=False)
    assert_grown_alone(grower, table, samples, bins_of(table), 2)


@examples(60)
@given(st.data())
def test_entries_are_counted_where_each_stops(data):
    table = data.draw(training_tables(max_rows=30))
    grower = data.draw(growers(table, missing=[Missing.OWN, Missing.LEARNED]))
    copies = drawn_copies(data, table, False)
    samples, bins = Samples.of(table, [copies], as_weight=False), bins_of(table)
    trees = grow_samples(grower, samples, bins, bins.encode(table))
    held = Samples.of(table, [1 - copies], as_weight=False)
    node, sums = held.count(trees.skeleton)
    expected = np.zeros_like(sums)
    for (tree, nodes), sample, at in zip(apart(trees), held.apart(), held.slices, strict=True):
        rows = sample.taken()
        stops = nodes[route(tree.skeleton, rows)] if rows.n_rows else np.empty(0, int)
        np.testing.assert_array_equal(node[at], stops)
        steps = np.ones(rows.n_rows, np.int64) if rows.weight is None else rows.weight
        np.add.at(expected, (stops, rows.target), steps)
        np.add.at(expected[:, -1], stops, 1)
    np.testing.assert_array_equal(sums, expected)


def test_trees_side_by_side_come_apart_again():
    tables = [random_table(seed, n_rows=n, n_nominal=2) for seed, n in ((1, 40), (2, 1), (3, 90))]
    schema = tables[0].schema
    trees = [Grower().grow(table, bins_of(table)) for table in tables]
    assert trees[1].n_nodes == 1
    together = side_by_side(trees)
    assert n_roots(together.skeleton) == 3
    assert together.schema == schema
    for (again, _), tree in zip(apart(together), trees, strict=True):
        assert_same(again, replace(tree, history=trees[0].history))


@pytest.mark.parametrize("most", [1, 50, 10_000])
def test_batches_do_not_change_the_trees(most, monkeypatch):
    table = random_table(7, n_rows=60, n_classes=3, n_values=30)
    copies = np.random.default_rng(2).integers(0, 2, (7, 60))
    samples, bins = Samples.of(table, [copies], as_weight=False), bins_of(table)
    codes = bins.encode(table)
    expected = grow_samples(Grower(), samples, bins, codes)
    monkeypatch.setattr("hornbeam.growing.samples._MOST_CODES", most)
    assert sum(len(batch) for batch in samples.batches(2)) == 7
    assert all(len(batch) >= 2 for batch in list(samples.batches(2))[:-1])
    assert_same(grow_samples(Grower(), samples, bins, codes, 2), expected)


@pytest.mark.parametrize("heavy", [1e2, 1e5, 1e8, 1e12])
def test_trees_of_very_different_weight_are_counted_in_one_unit(heavy):
    """Rows that are divided among children: a tree without the heavy row is counted in a smaller unit."""
    table = random_table(11, n_rows=60, missing=0.2, weights="real")
    weight = table.row_weights.copy()
    weight[0] = heavy
    steps, unit = fixed_point_weights(weight)
    table = replace(table, weight=steps, unit=unit)
    copies = 1 - np.eye(60, dtype=int)[:3]
    grower = Grower(missing=Missing.FRACTIONAL)
    samples, bins = Samples.of(table, [copies], as_weight=False), bins_of(table)
    trees = grow_samples(grower, samples, bins, bins.encode(table))
    for (tree, _), sample in zip(apart(trees), samples.apart(), strict=True):
        alone = grower.grow(sample.taken(), bins)
        np.testing.assert_allclose(
            tree.weight_in_rows, alone.weight_in_rows, rtol=1e-9, atol=heavy * 2.0**-55
        )
        assert (tree.evidence >= 0).all()
        np.testing.assert_array_equal(
            pull_up(tree.skeleton, evidence_stopping(tree.skeleton, tree.evidence)), tree.evidence
        )


def test_a_forced_split_on_a_column_without_values_has_the_same_codes():
    table = Table.read(np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0]] * 4), [0, 1, 1] * 4)
    splits = forced_splits(Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan]))
    recipe = Recipe(max_bins=None, grower=Grower(forced_splits=splits))
    bins, codes = recipe.encode(table)
    np.testing.assert_array_equal(codes, recipe.bin(table).encode(table))
    assert bins.digest == recipe.bin(table).digest
