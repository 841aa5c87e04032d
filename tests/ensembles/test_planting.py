"""Forests: the same bits on any number of threads and in any order, and trees as the grower alone would grow them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.data import Table
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.ensembles import SMOOTHING_CANDIDATES, Bootstrap, EncodedTable, ForestTrainer, apply_temperature
from hornbeam.ensembles.forest.forest import out_of_bag
from hornbeam.errors import ParameterError
from hornbeam.growing import Criterion, Grower, Missing
from hornbeam.kernels.subtree import child_key
from hornbeam.recipe import Recipe
from hornbeam.smoothing import HGS
from hornbeam.tree.route import predict_rows
from strategies_growing import growers, random_table, regression_tables, training_tables

tables = st.one_of(training_tables(max_rows=60), regression_tables(max_rows=60))


def planting_for(data, table, **kinds):
    grower = data.draw(growers(table, **kinds))
    grower = replace(grower, max_features=data.draw(st.sampled_from([None, 1, 2])))
    smoothers = data.draw(st.sampled_from([(), SMOOTHING_CANDIDATES]))
    seed = data.draw(st.integers(0, 2**31 - 1))
    return ForestTrainer(Recipe(grower=grower), 4, smoothers=smoothers, out_of_bag=True, seed=seed)


def read_again(table, rows, weight=None):
    """Some rows in some order, at these weights or their own."""
    some = table.take(rows)
    if weight is not None:
        some = replace(some, weight=weight[rows], unit=1.0)
    if some.numeric_target is not None:
        some = replace(
            some, numeric_target=NumericTarget.of(some.numeric_target.values, some.weight, some.unit)
        )
    return some


def assert_same(one, other):
    assert one.forest.digest == other.forest.digest
    assert one.smoother == other.smoother


@settings(max_examples=25)
@given(st.data())
def test_any_number_of_threads(data):
    table = data.draw(tables)
    planting = planting_for(data, table)
    alone = planting.fit(table)
    for n_jobs in (2, 3, 8):
        together = planting.fit(table, n_jobs=n_jobs)
        assert_same(together, alone)
        np.testing.assert_array_equal(together.out_of_bag, alone.out_of_bag)


@settings(max_examples=50)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_any_order_of_rows(data, seed):
    table = data.draw(tables)
    planting = planting_for(data, table)
    order = np.random.default_rng(seed).permutation(table.n_rows)
    one, other = planting.fit(table), planting.fit(read_again(table, order))
    assert_same(other, one)
    np.testing.assert_array_equal(other.out_of_bag, one.out_of_bag[order])


@settings(max_examples=50)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_a_row_of_weight_two_is_two_rows(data, seed):
    """Save where rows are counted (the least in a leaf, C4.5's 0.3 N) and where they are shared out."""
    table = replace(data.draw(tables), weight=None, unit=1.0)
    planting = planting_for(
        data, table, criteria=[Criterion.ENTROPY, Criterion.GINI], missing=[Missing.OWN, Missing.LEARNED]
    )
    grower = replace(planting.recipe.grower, min_samples_leaf=1, min_samples_split=2)
    planting = replace(planting, recipe=replace(planting.recipe, grower=grower))
    times = np.random.default_rng(seed).integers(1, 4, table.n_rows)
    weighted = planting.fit(read_again(table, np.arange(table.n_rows), times))
    copies = planting.fit(read_again(table, np.repeat(np.arange(table.n_rows), times)))
    assert_same(copies, weighted)
    np.testing.assert_array_equal(copies.out_of_bag, np.repeat(weighted.out_of_bag, times, axis=0))


@pytest.mark.parametrize("missing", Missing)
@pytest.mark.parametrize("weights", ["none", "whole"])
def test_a_tree_is_that_of_its_rows_repeated(missing, weights):
    """The slow, obvious way: every row as often as it was drawn, binned with the bins of all, and grown alone."""
    table = random_table(11, n_rows=200, n_classes=3, n_nominal=2, weights=weights, missing=0.1)
    grower = Grower(Criterion.GINI, missing=missing, max_features=2)
    trees = ForestTrainer(Recipe(grower=grower), 3, seed=5).fit(table).forest.trees
    rows = EncodedTable.of(table, Recipe())
    for number, tree in enumerate(trees):
        sample = Bootstrap.of(rows.table, seed=5).sample(number)
        repeated = replace(rows.table.take(np.repeat(sample.rows, sample.weight)), weight=None)
        alone = grower.grow(repeated, rows.bins, key=child_key(5, number))
        if missing is Missing.FRACTIONAL:  # shares are rounded row by row
            np.testing.assert_array_equal(alone.skeleton.feature, tree.skeleton.feature)
            np.testing.assert_allclose(alone.belief, tree.belief, atol=1e-9)
        else:
            assert alone.digest == tree.digest


def test_the_first_trees_of_many_are_the_few():
    table = random_table(2, n_rows=100)
    planting = ForestTrainer(Recipe(grower=Grower(max_features=1)), 12, seed=1)
    few = replace(planting, n_trees=5).fit(table).forest.trees
    many = planting.fit(table).forest.trees
    assert [tree.digest for tree in few] == [tree.digest for tree in many[:5]]
    assert len({tree.digest for tree in many}) == 12


def test_another_seed_is_another_forest():
    table = random_table(2, n_rows=100)
    one, other = (ForestTrainer(Recipe(), 3, seed=seed).fit(table).forest for seed in (0, 1))
    assert one.digest != other.digest


def test_without_bootstrap_every_tree_sees_all_rows():
    table = random_table(4, n_rows=120, n_numeric=4, weights="whole")
    forest = ForestTrainer(Recipe(grower=Grower(max_features=1)), 4, bootstrap=False).fit(table).forest
    total = np.bincount(table.target, table.weight).tolist()
    assert [tree.evidence[0].tolist() for tree in forest.trees] == [total] * 4
    assert len({tree.digest for tree in forest.trees}) == 4  # by the features they drew


@pytest.mark.parametrize(
    "asked", [{"out_of_bag": True}, {"smoothers": SMOOTHING_CANDIDATES}, {"max_samples": 0.5}]
)
def test_without_bootstrap_nothing_is_out_of_bag(asked):
    with pytest.raises(ParameterError, match="bootstrap"):
        ForestTrainer(bootstrap=False, **asked)


def test_a_forest_of_no_trees_is_refused():
    with pytest.raises(ParameterError, match="n_trees=0: expected 1 or more"):
        ForestTrainer(n_trees=0)


def test_class_weights_steer_and_count_nothing():
    table = replace(random_table(7, n_rows=300), class_weight=np.array([5.0, 1.0]))
    plain = replace(table, class_weight=None)
    for number, tree in enumerate(ForestTrainer(Recipe(), 3).fit(table).forest.trees):
        other = ForestTrainer(Recipe(), 3).fit(plain).forest.trees[number]
        assert tree.evidence[0].tolist() == other.evidence[0].tolist()
        assert tree.digest != other.digest


# ---- out of bag


def test_answers_out_of_bag_are_those_of_trees_that_lack_the_row():
    table = Table.read(np.random.default_rng(0).random((60, 3)), np.arange(60) % 3)  # no two rows are alike
    planting = ForestTrainer(
        Recipe(grower=Grower(max_features=1), smoother=HGS()), 4, out_of_bag=True, seed=9
    )
    planted = planting.fit(table)
    rows = EncodedTable.of(table, planting.recipe)
    bootstrap, expected = Bootstrap.of(rows.table, seed=9), np.full((60, 3), np.nan)
    for place, row in enumerate(rows.origin):
        lack = [tree for tree in range(4) if place not in bootstrap.sample(tree).rows]
        if lack:
            said = [predict_rows(planted.forest.trees[tree], table.take(np.array([row])))[0] for tree in lack]
            expected[row] = np.mean(said, axis=0)
    np.testing.assert_allclose(planted.out_of_bag, expected, rtol=1e-12)
    assert np.isnan(expected).any(axis=1).sum() > 0


def test_the_smoother_of_least_squared_error_out_of_bag_is_taken():
    table = random_table(8, n_rows=400, n_classes=3, n_values=50, noise=0.7, weights="whole")
    planting = ForestTrainer(Recipe(), 6, out_of_bag=True)
    losses = []
    for smoother in SMOOTHING_CANDIDATES:
        recipe = replace(planting.recipe, smoother=smoother)
        p = replace(planting, recipe=recipe).fit(table).out_of_bag
        squared = ((p - np.eye(3)[table.target]) ** 2).sum(axis=1) * table.weight
        losses.append(np.nansum(squared))
    chosen = replace(planting, smoothers=SMOOTHING_CANDIDATES).fit(table)
    assert chosen.smoother == SMOOTHING_CANDIDATES[int(np.argmin(losses))]
    assert chosen.smoother is not None  # half the classes are noise
    assert chosen.forest.trees[0].history[-1].name == "borrowing"


@pytest.mark.parametrize("weights", ["none", "whole"])
def test_the_temperature_of_least_squared_error_out_of_bag_is_taken(weights):
    table = random_table(8, n_rows=400, n_classes=3, n_values=50, noise=0.3, weights=weights)
    planting = ForestTrainer(Recipe(grower=Grower(max_features=1)), 20, out_of_bag=True)
    raw = planting.fit(table)
    chosen = replace(planting, smoothers=(None,)).fit(table)
    assert raw.forest.temperature == 1.0
    assert chosen.forest.temperature != 1.0
    assert chosen.forest.digest == replace(raw.forest, temperature=chosen.forest.temperature).digest

    def loss(p):
        squared = ((p - np.eye(3)[table.target]) ** 2).sum(axis=1)
        return np.nansum(squared if table.weight is None else squared * table.weight)

    np.testing.assert_allclose(
        chosen.out_of_bag, apply_temperature(raw.out_of_bag, chosen.forest.temperature)
    )
    least = min(loss(apply_temperature(raw.out_of_bag, one)) for one in np.geomspace(0.25, 4.0, 200))
    assert loss(chosen.out_of_bag) <= least * (1 + 1e-6)


def test_predictions_out_of_bag_do_not_change_the_forest(monkeypatch):
    """Choices are made by some of the rows, and by the same ones if all are predicted."""
    monkeypatch.setattr(out_of_bag, "_ENOUGH", 50)
    table = random_table(8, n_rows=400, n_classes=3, n_values=50, noise=0.3, weights="whole")
    planting = ForestTrainer(Recipe(), 6, smoothers=SMOOTHING_CANDIDATES)
    alone, asked = planting.fit(table), replace(planting, out_of_bag=True).fit(table)
    assert_same(alone, asked)
    monkeypatch.setattr(out_of_bag, "_ENOUGH", 400)
    assert planting.fit(table).forest.temperature != alone.forest.temperature


def test_where_there_is_nothing_to_smooth_raw_frequencies_stay():
    table = Table.read(np.repeat(np.arange(4.0), 50)[:, None], np.repeat(["a", "b", "c", "d"], 50))
    planted = ForestTrainer(Recipe(), 10, smoothers=SMOOTHING_CANDIDATES).fit(table)
    assert planted.smoother is None
    assert planted.forest.temperature == 1.0
    assert planted.out_of_bag is None


def test_progress_counts_trees():
    told = []
    ForestTrainer(Recipe(), 5).fit(random_table(1), n_jobs=2, on_progress=told.append)
    assert told == [1, 2, 3, 4, 5]
