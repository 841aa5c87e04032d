"""Intervals: parity with scipy, edge cases, early stops, distributed rows, and coverage."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import ParameterError
from hornbeam.explain.explanation import explain
from hornbeam.explain.intervals import predict_interval
from hornbeam.explain.leaves import leaves
from hornbeam.smoothing import HGS
from hornbeam.smoothing.interval_calibration import IntervalCalibration, interval
from hornbeam.tree import Table
from hornbeam.tree.route import predict_rows
from support.examples import examples
from support.strategies import tables, trees, trees_with_slopes
from support.worked_trees import star, worked_tree

levels = st.floats(0.01, 0.999)


def test_an_example_matches_scipy():
    """A2 of the worked tree: 2 of 3 rows in class 0, half a row is added on the other side of each bound."""
    low, high = interval(worked_tree(), 0.9)
    np.testing.assert_allclose(low[4, 0], beta.ppf(0.05, 2, 1.5), rtol=1e-10)
    np.testing.assert_allclose(high[4, 0], beta.ppf(0.95, 2.5, 1), rtol=1e-10)


def test_the_interval_of_a_pure_leaf():
    """Three rows of class 0: the upper bound is 1, the lower one that of the beta distribution."""
    low, high = interval(worked_tree(), 0.9)
    np.testing.assert_allclose([low[3, 0], high[3, 0]], [beta.ppf(0.05, 3, 0.5), 1.0], rtol=1e-10)
    np.testing.assert_allclose([low[3, 1], high[3, 1]], [0.0, beta.ppf(0.95, 0.5, 3)], rtol=1e-10)


def test_calibration_narrows_the_interval():
    smoothed = HGS()(worked_tree())
    low, high = interval(IntervalCalibration(1.0)(smoothed))
    own_low, own_high = interval(smoothed)
    p, size = smoothed.belief[4, 0], 3 + 3
    np.testing.assert_allclose(low[4, 0], beta.ppf(0.05, size * p, size * (1 - p) + 0.5), rtol=1e-10)
    np.testing.assert_allclose(own_low[4, 0], beta.ppf(0.05, 3 * p, 3 * (1 - p) + 0.5), rtol=1e-10)
    assert (high - low)[1:].max() < (own_high - own_low)[1:].max()


@examples(40)
@given(trees(), levels)
def test_intervals_hold_the_belief_and_grow_with_the_level(tree, level):
    low, high = interval(tree, level)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low <= tree.belief).all()
    assert (tree.belief <= high).all()
    wider_low, wider_high = interval(tree, (1 + level) / 2)
    assert (wider_low <= low + 1e-12).all()
    assert (wider_high >= high - 1e-12).all()
    empty = tree.rows == 0
    assert (high - low)[empty].min(initial=1.0) == 1.0


def test_intervals_of_two_classes_are_symmetric():
    yes = np.arange(21)
    low, high = interval(star(np.column_stack([20 - yes, yes])))
    np.testing.assert_allclose(low[:, 0], 1 - high[:, 1], atol=1e-12)


@pytest.mark.parametrize("level", [0, 1, -0.5, 90, float("nan")])
def test_wrong_levels_are_refused(level):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        interval(worked_tree(), level)


def test_a_row_has_the_interval_of_the_node_where_it_stops():
    tree = HGS()(worked_tree())
    table = Table.read([[0.0], [2.0], [np.nan]], schema=tree.schema)
    low, high = predict_interval(tree, table, 0.8)
    for found, bound in zip((low, high), interval(tree, 0.8), strict=True):
        np.testing.assert_array_equal(found, bound[[3, 2, 0]])


def test_a_distributed_row_has_the_weighted_bounds_of_the_children():
    X = np.array([[0.0]] * 6 + [[1.0]] * 3 + [[np.nan]])
    clf = TreeClassifier("c4.4").fit(X, [0] * 6 + [1] * 3 + [0])
    tree = clf.tree_
    assert tree.skeleton.missing_slot[0] == -2
    low, high = clf.predict_interval([[np.nan]])
    share = tree.evidence[1:].sum(axis=1) / tree.evidence[0].sum()
    for found, bound in zip((low, high), interval(tree), strict=True):
        np.testing.assert_allclose(found[0], share @ bound[1:], rtol=1e-12)
    probability = clf.predict_proba([[np.nan]])
    assert ((low <= probability) & (probability <= high)).all()


def test_a_prior_shifts_the_bounds_with_the_probability():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 3, 200)
    clf = TreeClassifier(max_depth=3).fit(X, y)
    prior = [0.7, 0.2, 0.1]
    low, high = clf.predict_interval(X, base_rates=prior)
    probability = clf.predict_proba(X, base_rates=prior)
    assert ((low <= probability + 1e-12) & (probability <= high + 1e-12)).all()
    same = clf.predict_interval(X, base_rates=np.bincount(y) / 200)
    np.testing.assert_allclose(same, clf.predict_interval(X), atol=1e-12)


def test_large_weights_do_not_narrow_the_interval():
    X, y = np.zeros((20, 1)), [0] * 5 + [1] * 15
    plain = TreeClassifier(smoothing=None).fit(X, y).predict_interval([[0.0]])
    heavy = TreeClassifier(smoothing=None).fit(X, y, sample_weight=[100] * 20).predict_interval([[0.0]])
    light = TreeClassifier(smoothing=None).fit(X, y, sample_weight=[0.5] * 20).predict_interval([[0.0]])
    np.testing.assert_allclose(heavy, plain)
    assert (light[1] - light[0] > plain[1] - plain[0]).all()


def test_the_leaf_table_has_the_arrays_of_the_tree():
    tree = HGS()(worked_tree())
    table = leaves(tree, 0.8)
    low, high = interval(tree, 0.8)
    assert table.node.tolist() == [2, 3, 4]
    assert table.rows.tolist() == [4, 3, 3]
    np.testing.assert_allclose(table.borrowed, [2.0, 3.0, 3.0])
    np.testing.assert_allclose(table.raw, [[1 / 4, 3 / 4], [1, 0], [2 / 3, 1 / 3]])
    np.testing.assert_array_equal(table.probability, tree.belief[2:])
    np.testing.assert_array_equal((table.low, table.high), (low[2:], high[2:]))
    assert len(leaves(tree, inner=True)) == tree.n_nodes
    columns = table.to_dict()
    assert {len(column) for column in columns.values()} == {3}
    assert columns["node"] == [2, 3, 4]
    assert columns["p_1"] == tree.belief[2:, 1].tolist()
    assert columns["low_0"] == low[2:, 0].tolist()
    assert len(repr(table).splitlines()) == 4


def test_nine_in_ten_intervals_hold_the_true_rate():
    """Leaves of a fixed tree, so that no split was selected by the rows."""
    rng = np.random.default_rng(1)
    truth = rng.uniform(0.02, 0.98, 4000)
    yes = rng.binomial(20, truth)
    low, high = interval(star(np.column_stack([20 - yes, yes])))
    covered = np.mean((low[1:, 1] <= truth) & (truth <= high[1:, 1]))
    assert 0.89 < covered < 0.95  # the standard error is 0.005


def test_rows_can_be_given_any_value_of_their_node():
    tree = worked_tree()
    table = Table.read([[0.0], [2.0]], schema=tree.schema)
    ids = np.arange(5.0)[:, None]
    assert predict_rows(tree, table, node_values=ids).tolist() == [[3.0], [2.0]]


def assert_same_bounds(tree, table, level):
    """A row alone, its row of the batch and its nodes in the table of all nodes have the same bits."""
    bounds = interval(tree, level)
    low, high = predict_interval(tree, table, level)
    if not len(tree.slopes):
        expected = np.split(predict_rows(tree, table, node_values=np.hstack(bounds)), 2, axis=1)
        np.testing.assert_array_equal((low, high), expected)
    explained = explain(tree, table, level)
    for i, one in enumerate(explained):
        row = table.take(np.array([i]))
        np.testing.assert_array_equal(np.hstack(predict_interval(tree, row, level)), [[*low[i], *high[i]]])
        assert explain(tree, row, level)[0] == one
        assert (one.low, one.high) == (tuple(low[i]), tuple(high[i]))
        for step in (step for found in one.paths for step in found.steps):
            assert (step.low, step.high) == tuple(tuple(bound[step.node]) for bound in bounds)


@examples(40)
@given(st.data(), levels)
def test_one_row_has_the_bounds_of_the_batch_and_of_the_nodes(data, level):
    tree = data.draw(st.one_of(trees(), trees_with_slopes()))
    tree = IntervalCalibration(0.5, own=0.9)(tree) if data.draw(st.booleans()) else tree
    assert_same_bounds(tree, data.draw(tables(tree.schema)), level)


@pytest.mark.parametrize(
    "model",
    [
        TreeRegressor(),
        TreeRegressor("readable", max_leaf_nodes=4),
        TreeClassifier("readable", max_leaf_nodes=4),
        TreeClassifier("c4.5"),
    ],
    ids=str,
)
def test_one_row_has_the_bounds_of_the_batch_in_fitted_trees(model):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=300)
    tree = model.fit(X, y if isinstance(model, TreeRegressor) else y > 0).tree_
    assert_same_bounds(tree, Table.read(X[:25], schema=tree.schema), 0.9)


def test_the_time_for_one_row_does_not_grow_with_the_tree():
    """Intervals of all nodes took 98 % of the time of one row."""
    rng = np.random.default_rng(3)
    tree = star(rng.integers(1, 50, (10_000, 2)))
    row = Table.read([["0"]], schema=tree.schema)

    def seconds(call):
        def once():
            start = time.process_time()
            call()
            return time.process_time() - start

        return min(once() for _ in range(5))

    whole = seconds(lambda: interval(tree))
    assert seconds(lambda: predict_interval(tree, row)) < whole / 10
    assert seconds(lambda: explain(tree, row)) < whole / 5
