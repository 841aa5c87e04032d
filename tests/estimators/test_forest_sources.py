"""Forests from files and on engines: the forest of the same rows in memory, or of a sample with all rows counted."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from hornbeam import ForestClassifier, ForestRegressor
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.forest.from_source import fit_forest
from hornbeam.ensembles.forest.growth import ForestGrowth
from hornbeam.ensembles.forest.trainer import ForestTrainer
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Missing
from hornbeam.growing.grower import Grower
from hornbeam.out_of_core.plan import Plan
from hornbeam.out_of_core.sample import draw_sample
from hornbeam.recipe import Recipe
from hornbeam.smoothing import MBranch
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.count import count_on_all
from support.strategies_growing import random_table

pytest.importorskip("pyarrow")

FEATURES = ["area", "town"]
FORESTS = [
    ("sold", ForestClassifier(6, oob_score=True, class_weight="balanced")),
    ("price", ForestRegressor(6, oob_score=True)),
]
ENGINES = [
    LocalEngine(),
    LocalEngine(2, n_tasks=3),
    LocalEngine(n_tasks=16, reverse=True),
]
pytestmark = pytest.mark.filterwarnings("ignore:.*do not have OOB scores")


def make_rows(n_rows=600):
    """Nominal and missing values, equal rows, and weights that are not whole."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"area": rng.normal(size=n_rows).round(1), "town": rng.choice(["Bern", "Ulm", None], n_rows)}
    )
    rows["price"] = rows["area"] * np.where(rows["town"] == "Ulm", 2, -1) + rng.normal(size=n_rows).round(1)
    rows["sold"] = np.where(rows["price"] > 0, "yes", "no")
    rows.loc[::7, "area"] = np.nan
    rows["times"] = rng.exponential(size=n_rows)
    return rows


ROWS = make_rows()


@pytest.fixture(params=FORESTS, ids=[target for target, _ in FORESTS])
def case(request, tmp_path):
    """The name of the target, the files, and a forest."""
    target, forest = request.param
    ROWS[[*FEATURES, "times", target]].to_parquet(tmp_path / "rows.parquet", row_group_size=40)
    return target, tmp_path, forest


def oob(forest):
    return forest.oob_decision_function_ if hasattr(forest, "classes_") else forest.oob_prediction_


def test_files_and_engines_give_the_forest_of_the_rows_in_memory(case):
    target, files, forest = case
    expected = clone(forest).fit(ROWS[FEATURES], ROWS[target], ROWS["times"])
    fits = [clone(forest).fit(files, target, "times")]
    fits += [clone(forest).fit(files, target, "times", engine=engine) for engine in ENGINES]
    fits += [clone(forest).fit(ROWS[FEATURES], ROWS[target], ROWS["times"], engine=ENGINES[1])]
    for fitted in fits:
        assert fitted.forest_.digest == expected.forest_.digest
        assert fitted.smoother_ == expected.smoother_
        assert fitted.oob_score_ == expected.oob_score_
        np.testing.assert_array_equal(oob(fitted), oob(expected))
        np.testing.assert_array_equal(fitted.predict(files), expected.predict(ROWS[FEATURES]))
        assert fitted.feature_names_in_.tolist() == FEATURES


def test_a_sample_is_grown_on_and_all_rows_are_counted(case):
    target, files, forest = case
    kind = Kind.NUMERIC if target == "price" else Kind.NOMINAL
    source = scan_parquet(
        files,
        target=target,
        sample_weight="times",
        target_kind=kind,
        class_weight=forest.get_params().get("class_weight"),
    )
    sampled = clone(forest).fit(files, target, "times", grow_rows=200)
    of_sample = clone(forest).fit(MemorySource(draw_sample(source, LocalEngine(), 200)))
    for tree, grown in zip(sampled.forest_.trees, of_sample.forest_.trees, strict=True):
        counted = count_on_all(grown, source, LocalEngine())
        assert tree.rows[0] == 600
        np.testing.assert_array_equal(tree.evidence, counted.evidence)
        np.testing.assert_array_equal(tree.rows, counted.rows)
        smoothed = counted if sampled.smoother_ is None else sampled.smoother_(counted)
        np.testing.assert_array_equal(tree.belief, smoothed.belief)
    assert sampled.smoother_ == of_sample.smoother_
    assert sampled.forest_.temperature == of_sample.forest_.temperature
    assert sampled.oob_score_ == of_sample.oob_score_
    assert len(oob(sampled)) == 200


def test_rows_that_do_not_fit_memory_give_one_forest_on_all_engines(case):
    target, files, forest = case
    expected = clone(forest).fit(files, target, "times", memory=9_000).forest_
    assert "count-on-all" in [step.name for step in expected.trees[0].history]
    for engine in ENGINES:
        fitted = clone(forest).fit(files, target, "times", memory=9_000, engine=engine)
        assert fitted.forest_.digest == expected.digest


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_fractional_rows_are_counted_in_all_trees_at_once(weights):
    """Trees need different numbers of passes: known values are counted before missing ones are split."""
    table = random_table(3, n_rows=300, n_numeric=4, missing=0.1, weights=weights, n_values=40)
    source = MemorySource(table, 50)
    trainer = ForestTrainer(Recipe(grower=Grower(missing=Missing.FRACTIONAL, max_features=2)), 4)
    forest, sample = fit_forest(source, trainer, LocalEngine(2, 3), plan=Plan.of(source, None, 120))
    alone = trainer.fit(sample).forest
    for tree, grown in zip(forest.forest.trees, alone.trees, strict=True):
        assert tree.digest == count_on_all(grown, source, LocalEngine()).digest


def test_each_partition_is_read_once_for_all_trees():
    reads = []

    class Counting(MemorySource):
        def read(self, partition, features=None, rows=None):
            reads.append(rows is None)
            return super().read(partition, features, rows)

    source = Counting(random_table(2, n_rows=200), block=25)
    fit_forest(source, ForestTrainer(Recipe(), 7), plan=Plan.of(source, None, 80))
    assert sum(reads) == 8


@pytest.mark.parametrize("max_bins", [7, None])
@pytest.mark.parametrize("regression", [False, True])
def test_a_pickle_has_codes_and_grows_the_same_trees(max_bins, regression):
    table = random_table(11, n_rows=500, n_classes=3, n_numeric=6, n_nominal=2, missing=0.1, weights="whole")
    if regression:
        rows = np.column_stack(
            [
                np.where(column < 0, np.nan, column) if column.dtype == np.int32 else column
                for column in table.columns
            ]
        )
        values = np.random.default_rng(0).normal(table.target)
        table = Table.read(rows, values, sample_weight=table.weight, target_kind=Kind.NUMERIC)
    recipe = Recipe(max_bins, Grower("squared_error" if regression else "entropy", max_features=3))
    trainer = ForestTrainer(recipe, 3, smoothers=(None, MBranch()), out_of_bag=True)
    rows = CanonicalRows.of(table, recipe)
    growth = ForestGrowth(rows, recipe, None, 3)
    copied = pickle.loads(pickle.dumps(growth))
    assert copied.grow(1)[0].digest == growth.grow(1)[0].digest
    assert len(pickle.dumps(rows)) < len(pickle.dumps(table)) + 16 * table.n_rows + 10_000
    expected = trainer.fit(table)

    class Sends(LocalEngine):
        """Sends what is shared as an engine with other processes does."""

        __slots__ = ()

        def reduce(self, task, partitions, shared, **options):
            return LocalEngine(n_tasks=2).reduce(
                task, partitions, pickle.loads(pickle.dumps(shared)), **options
            )

    sent = trainer.fit(table, engine=Sends())
    assert sent.forest.digest == expected.forest.digest
    np.testing.assert_array_equal(sent.out_of_bag, expected.out_of_bag)


def test_shares_of_rows_are_shares_of_the_sample(case):
    target, files, forest = case
    share = clone(forest).set_params(min_samples_leaf=0.05)
    number = clone(forest).set_params(min_samples_leaf=10)
    one, other = (each.fit(files, target, grow_rows=200).forest_.digest for each in (share, number))
    assert one == other


def test_rows_in_memory_may_be_sampled_too(case):
    target, files, forest = case
    X, y, weight = ROWS[FEATURES], ROWS[target], ROWS["times"]
    in_memory = clone(forest).fit(X, y, weight, grow_rows=200)
    assert in_memory.forest_.digest == clone(forest).fit(files, target, "times", grow_rows=200).forest_.digest


def test_more_rows_than_fit_memory_are_refused(case):
    target, files, forest = case
    with pytest.raises(
        ParameterError, match=r"grow_rows=600: a forest needs all rows in memory.*Pass grow_rows="
    ):
        clone(forest).fit(files, target, grow_rows=600, memory=9_000)


def test_votes_do_not_depend_on_the_number_of_tasks_with_predictions_out_of_range():
    """A smoother of a user may predict anything; sums stay whole numbers of 64 bits."""
    rng = np.random.default_rng(0)
    table = Table.read(rng.random((60, 3)), rng.random(60), target_kind=Kind.NUMERIC)
    recipe = Recipe(
        grower=Grower("squared_error"),
        smoother=lambda tree: with_belief(tree, tree.belief * 1e100, tree.borrowed),
    )
    trainer = ForestTrainer(recipe, 5, out_of_bag=True)
    one, other = trainer.fit(table), trainer.fit(table, engine=LocalEngine(n_tasks=5, reverse=True))
    np.testing.assert_array_equal(one.out_of_bag, other.out_of_bag)
    assert np.nanmax(one.out_of_bag) == pytest.approx(table.numeric_target.values.max())
