"""Growing forests: results that depend neither on threads nor on row order, and out-of-bag choices."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.row_order import keep_copies_together
from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.forest import out_of_bag
from hornbeam.ensembles.forest.bootstrap import Bootstrap
from hornbeam.ensembles.forest.trainer import SMOOTHING_CANDIDATES, ForestTrainer
from hornbeam.ensembles.temperature import apply_temperature
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Criterion, Missing
from hornbeam.growing.grower import Grower
from hornbeam.kernels.subtree import child_key
from hornbeam.recipe import Recipe
from hornbeam.smoothing import HGS
from hornbeam.tree.route import predict_rows
from support.examples import examples
from support.strategies_growing import growers, random_table, regression_tables, training_tables

tables = st.one_of(training_tables(max_rows=60), regression_tables(max_rows=60))


def trainer_for(data, table, **kinds):
    grower = data.draw(growers(table, **kinds))
    grower = replace(grower, max_features=data.draw(st.sampled_from([None, 1, 2])))
    smoothers = data.draw(st.sampled_from([(), SMOOTHING_CANDIDATES]))
    seed = data.draw(st.integers(0, 2**31 - 1))
    return ForestTrainer(Recipe(grower=grower), 4, smoothers=smoothers, out_of_bag=True, seed=seed)


def read_again(table, rows, weight=None):
    """Take some rows in some order, with new weights or their own."""
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


@examples(25)
@given(st.data())
def test_forests_do_not_depend_on_the_number_of_threads(data):
    table = data.draw(tables)
    trainer = trainer_for(data, table)
    serial = trainer.fit(table)
    for n_jobs in (2, 3, 8):
        parallel = trainer.fit(table, n_jobs=n_jobs)
        assert_same(parallel, serial)
        np.testing.assert_array_equal(parallel.out_of_bag, serial.out_of_bag)


@examples(50)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_forests_do_not_depend_on_the_order_of_rows(data, seed):
    table = data.draw(tables)
    trainer = trainer_for(data, table)
    order = np.random.default_rng(seed).permutation(table.n_rows)
    one, other = trainer.fit(table), trainer.fit(read_again(table, order))
    assert_same(other, one)
    np.testing.assert_array_equal(other.out_of_bag, one.out_of_bag[order])


@examples(50)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_a_row_of_weight_two_is_two_rows(data, seed):
    """Except with limits on the number of rows (min_samples_leaf, C4.5's 0.3 N) and fractional missing values."""
    table = replace(data.draw(tables), weight=None, unit=1.0)
    trainer = trainer_for(
        data, table, criteria=[Criterion.ENTROPY, Criterion.GINI], missing=[Missing.OWN, Missing.LEARNED]
    )
    grower = replace(trainer.recipe.grower, min_samples_leaf=1, min_samples_split=2)
    trainer = replace(trainer, recipe=replace(trainer.recipe, grower=grower))
    times = np.random.default_rng(seed).integers(1, 4, table.n_rows)
    with_weights = keep_copies_together(read_again(table, np.arange(table.n_rows), times))
    rows = np.repeat(np.arange(table.n_rows), times)
    repeated = read_again(table, rows)
    if with_weights.group is not None:
        repeated = replace(repeated, group=with_weights.group[rows])
    weighted, copies = trainer.fit(with_weights), trainer.fit(repeated)
    assert_same(copies, weighted)
    expected = np.repeat(weighted.out_of_bag, times, axis=0)
    step = 0 if repeated.group is None else 1e-15 * np.nanmax(np.abs(expected), initial=0)  # of another sum
    np.testing.assert_allclose(copies.out_of_bag, expected, rtol=0, atol=step)


@pytest.mark.parametrize("missing", Missing)
@pytest.mark.parametrize("weights", ["none", "whole"])
def test_a_tree_is_that_of_its_rows_repeated(missing, weights):
    """The reference repeats every row as often as it was drawn, and grows one tree from these rows."""
    table = random_table(11, n_rows=200, n_classes=3, n_nominal=2, weights=weights, missing=0.1)
    grower = Grower(Criterion.GINI, missing=missing, max_features=2)
    trees = ForestTrainer(Recipe(grower=grower), 3, seed=5).fit(table).forest.trees
    rows = CanonicalRows.of(table, Recipe())
    for number, tree in enumerate(trees):
        sample = Bootstrap.of(rows.table, seed=5, unit=rows.unit).sample(number)
        repeated = replace(rows.table.take(np.repeat(sample.rows, sample.weight)), weight=None, group=None)
        alone = grower.grow(repeated, rows.encoded.bins, key=child_key(5, number))
        if missing is Missing.FRACTIONAL:  # shares are rounded row by row
            np.testing.assert_array_equal(alone.skeleton.feature, tree.skeleton.feature)
            np.testing.assert_allclose(alone.belief, tree.belief, atol=1e-9)
        else:
            assert alone.digest == tree.digest


def test_the_first_trees_of_a_large_forest_are_the_small_forest():
    table = random_table(2, n_rows=100)
    trainer = ForestTrainer(Recipe(grower=Grower(max_features=1)), 12, seed=1)
    few = replace(trainer, n_trees=5).fit(table).forest.trees
    many = trainer.fit(table).forest.trees
    assert [tree.digest for tree in few] == [tree.digest for tree in many[:5]]
    assert len({tree.digest for tree in many}) == 12


def test_another_seed_gives_another_forest():
    table = random_table(2, n_rows=100)
    one, other = (ForestTrainer(Recipe(), 3, seed=seed).fit(table).forest for seed in (0, 1))
    assert one.digest != other.digest


def test_without_bootstrap_every_tree_is_grown_on_all_rows():
    table = random_table(4, n_rows=120, n_numeric=4, weights="whole")
    forest = ForestTrainer(Recipe(grower=Grower(max_features=1)), 4, bootstrap=False).fit(table).forest
    total = np.bincount(table.target, table.weight).tolist()
    assert [tree.evidence[0].tolist() for tree in forest.trees] == [total] * 4
    assert len({tree.digest for tree in forest.trees}) == 4  # they differ in the features drawn at each node


@pytest.mark.parametrize(
    "parameters", [{"out_of_bag": True}, {"smoothers": SMOOTHING_CANDIDATES}, {"max_samples": 0.5}]
)
def test_parameters_that_need_bootstrap_are_refused_without_it(parameters):
    with pytest.raises(ParameterError, match="bootstrap"):
        ForestTrainer(bootstrap=False, **parameters)


def test_zero_trees_are_refused():
    with pytest.raises(ParameterError, match="n_trees=0: expected 1 or more"):
        ForestTrainer(n_trees=0)


def test_class_weights_change_the_splits_but_not_the_evidence():
    table = replace(random_table(7, n_rows=300), class_weight=np.array([5.0, 1.0]))
    plain = replace(table, class_weight=None)
    for number, tree in enumerate(ForestTrainer(Recipe(), 3).fit(table).forest.trees):
        other = ForestTrainer(Recipe(), 3).fit(plain).forest.trees[number]
        assert tree.evidence[0].tolist() == other.evidence[0].tolist()
        assert tree.digest != other.digest


# ---- out of bag


def test_out_of_bag_predictions_come_from_trees_without_the_row():
    table = Table.read(np.random.default_rng(0).random((60, 3)), np.arange(60) % 3)  # all rows are distinct
    trainer = ForestTrainer(Recipe(grower=Grower(max_features=1), smoother=HGS()), 4, out_of_bag=True, seed=9)
    result = trainer.fit(table)
    rows = CanonicalRows.of(table, trainer.recipe)
    bootstrap, expected = Bootstrap.of(rows.table, seed=9), np.full((60, 3), np.nan)
    for position, row in enumerate(rows.origin):
        without = [tree for tree in range(4) if position not in bootstrap.sample(tree).rows]
        if without:
            predicted = [
                predict_rows(result.forest.trees[tree], table.take(np.array([row])))[0] for tree in without
            ]
            expected[row] = np.mean(predicted, axis=0)
    np.testing.assert_allclose(result.out_of_bag, expected, rtol=1e-12)
    assert np.isnan(expected).any(axis=1).sum() > 0


def test_the_smoother_of_least_out_of_bag_error_is_chosen():
    table = random_table(8, n_rows=400, n_classes=3, n_values=50, noise=0.7, weights="whole")
    trainer = ForestTrainer(Recipe(), 6, out_of_bag=True)
    losses = []
    for smoother in SMOOTHING_CANDIDATES:
        recipe = replace(trainer.recipe, smoother=smoother)
        p = replace(trainer, recipe=recipe).fit(table).out_of_bag
        squared = ((p - np.eye(3)[table.target]) ** 2).sum(axis=1) * table.weight
        losses.append(np.nansum(squared))
    chosen = replace(trainer, smoothers=SMOOTHING_CANDIDATES).fit(table)
    assert chosen.smoother == SMOOTHING_CANDIDATES[int(np.argmin(losses))]
    assert chosen.smoother is not None  # half the classes are noise
    assert chosen.forest.trees[0].history[-1].name == "borrowing"


@pytest.mark.parametrize("weights", ["none", "whole"])
def test_the_temperature_of_least_out_of_bag_error_is_chosen(weights):
    table = random_table(8, n_rows=400, n_classes=3, n_values=50, noise=0.3, weights=weights)
    trainer = ForestTrainer(Recipe(grower=Grower(max_features=1)), 20, out_of_bag=True)
    raw = trainer.fit(table)
    chosen = replace(trainer, smoothers=(None,)).fit(table)
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


def test_returning_out_of_bag_predictions_does_not_change_the_forest(monkeypatch):
    """Smoother and temperature are chosen by the same rows, whether or not all rows are predicted."""
    monkeypatch.setattr(out_of_bag, "_ENOUGH", 50)
    table = random_table(8, n_rows=400, n_classes=3, n_values=50, noise=0.3, weights="whole")
    trainer = ForestTrainer(Recipe(), 6, smoothers=SMOOTHING_CANDIDATES)
    without, with_predictions = trainer.fit(table), replace(trainer, out_of_bag=True).fit(table)
    assert_same(without, with_predictions)
    monkeypatch.setattr(out_of_bag, "_ENOUGH", 400)
    assert trainer.fit(table).forest.temperature != without.forest.temperature


def test_pure_leaves_are_not_smoothed():
    table = Table.read(np.repeat(np.arange(4.0), 50)[:, None], np.repeat(["a", "b", "c", "d"], 50))
    result = ForestTrainer(Recipe(), 10, smoothers=SMOOTHING_CANDIDATES).fit(table)
    assert result.smoother is None
    assert result.forest.temperature == 1.0
    assert result.out_of_bag is None


def test_progress_counts_trees():
    counts = []
    ForestTrainer(Recipe(), 5).fit(random_table(1), n_jobs=2, on_progress=counts.append)
    assert counts == [1, 2, 3, 4, 5]
