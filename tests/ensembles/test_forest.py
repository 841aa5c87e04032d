"""Forests: the mean of the trees in a fixed order, temperature, digest and importance."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from hornbeam.data.table import Table
from hornbeam.ensembles import Forest, prediction
from hornbeam.ensembles.forest.trainer import ForestTrainer
from hornbeam.ensembles.prediction import mean_prediction, sum_predictions
from hornbeam.errors import HornbeamError, TreeError
from hornbeam.growing.grower import Grower
from hornbeam.recipe import Recipe
from hornbeam.tree import Skeleton
from hornbeam.tree.importance import importance
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree
from support.strategies_growing import random_table

TABLE = random_table(3, n_rows=500, n_classes=3, n_numeric=4, n_values=40)
FOREST = ForestTrainer(Recipe(grower=Grower(max_features=2)), 9).fit(TABLE).forest


def test_the_prediction_is_the_mean_of_the_trees():
    predicted = [predict_rows(tree, TABLE) for tree in FOREST.trees]
    np.testing.assert_allclose(FOREST.predict(TABLE), np.mean(predicted, axis=0), rtol=1e-13)
    np.testing.assert_array_equal(
        mean_prediction(FOREST.trees, TABLE), sum_predictions(FOREST.trees, TABLE) / 9
    )


def test_rows_are_taken_in_any_form():
    table = random_table(3, n_nominal=0)
    forest = ForestTrainer(Recipe(), 3).fit(table).forest
    X = np.column_stack(table.columns)
    for rows in (X, pd.DataFrame(X, columns=forest.schema.names), X.tolist()):
        np.testing.assert_array_equal(forest.predict(rows, n_jobs=2), forest.predict(table))
    for wrong in (object(), X[:, 1:], "no-such-file.parquet", TABLE):
        with pytest.raises(HornbeamError):
            forest.predict(wrong)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
@pytest.mark.parametrize("block", [1, 7, 500])
def test_predictions_do_not_depend_on_threads_and_blocks(n_jobs, block, monkeypatch):
    whole = FOREST.predict(TABLE)
    monkeypatch.setattr(prediction, "_BLOCK", block)
    np.testing.assert_array_equal(FOREST.predict(TABLE, n_jobs=n_jobs), whole)


def test_temperature_one_is_the_mean_bit_for_bit():
    np.testing.assert_array_equal(
        Forest(FOREST.trees, 1.0).predict(TABLE), mean_prediction(FOREST.trees, TABLE)
    )
    assert Forest(FOREST.trees, 1.0).digest == FOREST.digest


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_temperature_is_applied_to_the_mean(n_jobs):
    raised = FOREST.predict(TABLE) ** 2
    warm = Forest(FOREST.trees, 0.5)
    expected = raised / raised.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(warm.predict(TABLE, n_jobs=n_jobs), expected, rtol=1e-12)
    assert warm.digest != FOREST.digest
    assert warm.digest != Forest(FOREST.trees, 0.6).digest
    assert repr(warm).endswith("temperature 0.5)")


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.inf, np.nan])
def test_temperatures_out_of_range_are_refused(temperature):
    with pytest.raises(TreeError, match="expected a finite number above 0"):
        Forest(FOREST.trees, temperature)


def test_no_rows_have_no_predictions():
    assert Forest(FOREST.trees, 0.5).predict(TABLE.slice(0, 0), n_jobs=2).shape == (0, 3)
    assert FOREST.predict(TABLE.slice(0, 0), n_jobs=2).shape == (0, 3)


def test_the_digest_depends_on_the_trees_and_their_order():
    assert Forest(tuple(FOREST.trees)).digest == FOREST.digest
    assert Forest(FOREST.trees[::-1]).digest != FOREST.digest
    assert Forest(FOREST.trees[:-1]).digest != FOREST.digest


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_a_forest_can_be_pickled(temperature):
    forest = Forest(FOREST.trees, temperature)
    again = pickle.loads(pickle.dumps(forest))
    assert again.digest == forest.digest
    assert repr(again) == repr(forest)


def test_no_trees_and_trees_of_different_schemas_are_refused():
    tree = FOREST.trees[0]
    other = replace(tree, schema=replace(tree.schema, classes=("a", "b", "c")))
    with pytest.raises(TreeError, match="different schemas"):
        Forest((tree, other))
    with pytest.raises(TreeError, match="at least one"):
        Forest(())


def test_importance_is_the_mean_share_of_the_gain():
    """By hand: the share of each feature in the sum of weight times gain of all splits."""
    by_hand = np.zeros((len(FOREST.trees), TABLE.schema.n_features))
    for tree, shares in zip(FOREST.trees, by_hand, strict=True):
        for node in np.flatnonzero(tree.skeleton.n_children):
            shares[tree.skeleton.feature[node]] += tree.gain[node] * tree.evidence[node].sum()
    by_hand /= by_hand.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(FOREST.importance(), by_hand.mean(axis=0), rtol=1e-12)


def test_leaves_have_no_importance():
    leaf = Tree.raw(TABLE.schema, Skeleton.leaf(), np.array([[1, 2, 3]]))
    assert importance([leaf]).tolist() == [0.0] * TABLE.schema.n_features
    np.testing.assert_array_equal(importance([leaf, FOREST.trees[0]]), importance([FOREST.trees[0]]))


def test_forests_are_the_same_on_every_platform():
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestTrainer(Recipe(255, Grower(max_features=5)), 5, seed=2026).fit(Table.read(X, y)).forest
    assert forest.digest == "25a79802f684cd27754d3b0bf0bc971f252716a2cf52b6988d6c866f9af7fc22"
