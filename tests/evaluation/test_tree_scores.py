"""Scores of a tree from node counts equal the scores of its predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data import LocalEngine, MemorySource
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import ScoreSums, reliability_curve, score_tree, tree_reliability
from hornbeam.growing import Missing
from hornbeam.recipe import PRESETS
from hornbeam.smoothing import Laplace
from hornbeam.tree.route import predict_rows
from support.examples import examples
from support.strategies_growing import bins_of, growers, random_table, training_tables

SCORES = ("log_loss", "brier_score", "rmse", "zero_one_loss", "calibration_error")


def weight_of(table):
    return None if table.weight is None else table.weight * table.unit


@examples(100)
@given(st.data())
def test_scores_from_counts_equal_scores_of_rows(data):
    table = data.draw(training_tables(max_rows=80))
    some = table.slice(0, max(1, table.n_rows // 2))
    tree = Laplace()(data.draw(growers(table)).grow(some, bins_of(some)))
    source = MemorySource(table, data.draw(st.sampled_from([1, 7, 1000])))
    expected = ScoreSums.of(
        table.target, predict_rows(tree, table), labels=range(tree.n_classes), sample_weight=weight_of(table)
    )
    sums = score_tree(tree, source)
    for name in SCORES:
        assert getattr(sums, name) == pytest.approx(getattr(expected, name), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(sums.bins, expected.bins, atol=1e-9 * table.n_rows)
    again = score_tree(tree, source, LocalEngine(2, 5, reverse=True))
    for name in SCORES:  # exactly equal
        assert getattr(again, name) == getattr(sums, name)


def test_the_curve_from_counts_equals_the_curve_of_rows():
    table = random_table(2, n_rows=500, weights="none", n_classes=3)
    tree = PRESETS["default"].fit(table.slice(0, 300))
    curve = tree_reliability(tree, MemorySource(table, 90), 1, LocalEngine(2), n_bins=5, level=0.9)
    expected = reliability_curve(table.target == 1, predict_rows(tree, table)[:, 1], n_bins=5, level=0.9)
    for name in ("predicted", "observed", "lower", "upper", "weight"):
        np.testing.assert_allclose(getattr(curve, name), getattr(expected, name))


def test_equal_weights_do_not_change_the_intervals():
    table = random_table(2, n_rows=300, weights="none")
    tree = PRESETS["default"].fit(table)
    heavy = type(table)(table.schema, table.columns, table.target, np.full(300, 7), 1.0)
    one, other = (tree_reliability(tree, MemorySource(rows), 0) for rows in (table, heavy))
    np.testing.assert_allclose(one.lower, other.lower)
    np.testing.assert_allclose(7 * one.weight, other.weight)


def test_wrong_arguments_are_refused():
    table = random_table(0, missing=0.3)
    tree = PRESETS["default"].fit(table)
    with pytest.raises(DataError, match="no rows"):
        score_tree(tree, MemorySource(table.slice(0, 0)))
    with pytest.raises(ParameterError, match="label=7: expected one of the classes"):
        tree_reliability(tree, MemorySource(table), 7)
    fractional = PRESETS["c4.4"].fit(table)
    assert PRESETS["c4.4"].grower.missing is Missing.FRACTIONAL
    with pytest.raises(ParameterError, match="every child"):
        tree_reliability(fractional, MemorySource(table), 0)
    with pytest.raises(DataError, match="no rows"):
        score_tree(fractional, MemorySource(table.slice(0, 0)))
