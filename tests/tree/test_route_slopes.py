"""Predictions of trees with slopes, against a slow twin and by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.kernels._native import Router, SlopedTree
from hornbeam.tree import Costs, DecisionRule, Skeleton, Slopes, with_belief, with_slopes
from hornbeam.tree import route as route_module
from hornbeam.tree.edit import with_decision
from hornbeam.tree.route import decide_rows, predict_rows, row_predictor, sums_of_terms
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path
from support import reference_slopes
from support.lending import everybody
from support.strategies import slopes_of, tables, trees_with_slopes

nan = np.nan


@st.composite
def pairs(draw):
    tree = draw(trees_with_slopes())
    return tree, draw(tables(tree.schema))


def rows_of(table):
    return list(zip(*[column.tolist() for column in table.columns], strict=True))


@given(pairs())
def test_predictions_have_the_bits_of_the_slow_twin(pair):
    tree, table = pair
    rows = rows_of(table)
    predicted = predict_rows(tree, table)
    assert_array_equal(predicted, [reference_slopes.predicted(tree, row) for row in rows])
    assert_array_equal(decide_rows(tree, table), [reference_slopes.decided(tree, row) for row in rows])
    assert_array_equal(sums_of_terms(tree, table), [reference_slopes.sum_of_terms(tree, row) for row in rows])
    predict = row_predictor(tree)
    assert_array_equal(predicted, [predict(row) for row in rows])
    assert_array_equal(predicted, [predict(np.array(row, np.float64)) for row in rows])


@given(pairs())
def test_probabilities_are_a_softmax(pair):
    tree, table = pair
    predicted = predict_rows(tree, table)
    assert_allclose(predicted.sum(axis=1), 1, rtol=1e-12)
    node = route_module.route(tree.skeleton, table)
    with np.errstate(divide="ignore"):
        score = np.log(tree.belief[node]) + sums_of_terms(tree, table)
    size = np.abs(score, where=np.isfinite(score), out=np.zeros_like(score)).max(initial=1.0)
    if size < 1e3:
        power = np.exp(score - score.max(axis=1, keepdims=True))
        assert_allclose(predicted, power / power.sum(axis=1, keepdims=True), rtol=1e-12 * size)
    assert (predicted[tree.belief[node] == 0] == 0).all()


@given(pairs())
def test_slopes_of_zero_change_rounding_alone(pair):
    tree, table = pair
    flat = with_slopes(tree, replace(tree.slopes, slope=0 * tree.slopes.slope))
    plain = with_slopes(tree, Slopes.none())
    assert_allclose(predict_rows(flat, table), predict_rows(plain, table), rtol=1e-14)


@given(pairs())
def test_costs_are_those_of_the_probabilities(pair):
    tree, table = pair
    k = tree.n_classes
    tree = with_decision(tree, DecisionRule(Costs(np.arange(k * k).reshape(k, k) * (1 - np.eye(k)))))
    assert_array_equal(decide_rows(tree, table), tree.decision(predict_rows(tree, table)))


def test_numbers_worked_by_hand():
    schema = Schema((Feature("late"), Feature("job", Kind.NOMINAL, ("none", "full"))), ("bad", "good"))
    leaf = Tree.raw(schema, Skeleton.leaf(), np.array([[12, 88]]))
    slopes = Slopes.of(
        [0, 0], [0, 1], [0, 0], [5, 1], [1, 0.5], [[math.log(1.8), 0.0], [0.0, 1.0]], category=[-1, 1]
    )
    tree = with_slopes(leaf, slopes)
    odds = 12 / 88
    rows = [
        ((1.0, -1), odds),  # the centre, and a missing category
        ((3.0, -1), odds * 1.8**2),  # two more late payments multiply the odds by 1.8 twice
        ((9.0, -1), odds * 1.8**4),  # clipped to 5
        ((-2.0, -1), odds / 1.8),  # clipped to 0
        ((nan, 1), odds * math.exp(-0.5)),
        ((nan, 0), odds * math.exp(0.5)),
        ((nan, -2), odds * math.exp(0.5)),  # a category that the schema does not have
        ((math.inf, -1), odds * 1.8**4),
    ]
    columns = (np.array([row[0] for row, _ in rows]), np.array([row[1] for row, _ in rows], np.int32))
    predicted = predict_rows(tree, Table(schema, columns, None, None, 1.0, None))
    assert_allclose(predicted[:, 0] / predicted[:, 1], [odds for _, odds in rows], rtol=1e-14)


@pytest.mark.parametrize(
    ("row", "odds"),
    [
        (
            (3.0, 24.0, 0, 1.0),
            20 / 80 * 4 * 0.5 * 2,
        ),  # late twice: for all rows, and above 2 in the first leaf
        ((1.0, 24.0, 1, 1.0), 20 / 80 * 1 * 2 * 1),
        ((nan, 24.0, -1, 1.0), 20 / 80),
        ((9.0, 24.0, 0, 2.0), 20 / 80 * 8 * 0.5 * 4),
        ((3.0, 40.0, 0, 2.0), 50 / 50 * 4 * 0.5 * 2),
        ((3.0, nan, 0, 2.0), 70 / 130 * 4 * 0.5),  # stops at the root, and has its terms
    ],
)
def test_a_row_has_the_terms_of_its_path(row, odds):
    columns = [np.array([value]) for value in row]
    columns[2] = columns[2].astype(np.int32)
    predicted = predict_rows(everybody(), Table(everybody().schema, tuple(columns)))
    assert_allclose(predicted[0, 1] / predicted[0, 0], odds, rtol=1e-14)
    assert row_predictor(everybody())(row) == tuple(predicted[0].tolist())


@given(pairs())
def test_terms_of_paths_at_the_leaves_predict_the_same(pair):
    """What an export writes: no path has terms of its own at inner nodes, and no bit changes."""
    tree, table = pair
    every = tree.path_slopes
    for node in range(tree.n_nodes):
        own = [tree.slopes.terms(at) for at in path(tree.skeleton, node)]
        assert every.terms(node) == [term for terms in own for term in terms]
    stops = route_module.route(tree.skeleton, table).tolist()
    for row, node in enumerate(stops):
        alone = Tree.raw(tree.schema, Skeleton.leaf(), tree.evidence[[node]])
        alone = with_belief(alone, tree.belief[[node]])._edited(slopes=every.of_nodes(node, node + 1))
        one = table.take(np.array([row]))
        assert_array_equal(predict_rows(alone, one), predict_rows(tree, one))


def test_regression_adds_the_terms_to_the_mean():
    schema = Schema((Feature("size"),), (), Kind.NUMERIC)
    leaf = Tree.raw(schema, Skeleton.leaf(), np.array([[4, 8, 20]]))
    tree = with_slopes(leaf, Slopes.of([0], [0], low=[1], high=[3], centre=[2], slope=[[0.5]]))
    table = Table(schema, (np.array([1.0, 2.5, 7.0, nan]),), None, None, 1.0, None)
    assert predict_rows(tree, table).tolist() == [[1.5], [2.25], [2.5], [2.0]]
    assert row_predictor(tree)((2.5,)) == (2.25,)


def wide_tree(n_features=8, depth=5, seed=0):
    rng = np.random.default_rng(seed)
    n_inner = 2**depth - 1
    n_children = [2] * n_inner + [0] * (n_inner + 1)
    feature = [*rng.integers(0, n_features, n_inner), *[-1] * (n_inner + 1)]
    threshold = [*rng.normal(size=n_inner), *[nan] * (n_inner + 1)]
    own = np.vstack([np.zeros((n_inner, 2), np.int64), rng.integers(1, 50, (n_inner + 1, 2))])
    skeleton = Skeleton.of(n_children, feature, threshold)
    from hornbeam.tree.walk import pull_up

    schema = Schema(tuple(Feature(f"x{f}") for f in range(n_features)), ("a", "b"))
    tree = Tree.raw(schema, skeleton, pull_up(skeleton, own))
    return with_slopes(tree, slopes_of(tree, rng, 1.0)), rng


def test_threads_blocks_and_layouts_give_the_same_bits(monkeypatch):
    tree, rng = wide_tree()
    X = rng.normal(size=(5_000, 8))
    X[rng.random(X.shape) < 0.1] = nan
    table = Table.read(X, schema=tree.schema)
    expected, classes = predict_rows(tree, table), decide_rows(tree, table)
    sums = sums_of_terms(tree, table)
    columns = Table(tree.schema, tuple(X.T.copy()), None, None, 1.0, None)
    fortran = replace(table, matrix=np.asfortranarray(X)) if table.matrix is not None else table
    monkeypatch.setattr(route_module, "SERIAL_ROWS", 333)
    for other in (table, columns, fortran):
        for n_jobs in (1, 2, 5):
            assert_array_equal(predict_rows(tree, other, n_jobs), expected)
            assert_array_equal(decide_rows(tree, other, n_jobs), classes)
            assert_array_equal(sums_of_terms(tree, other, n_jobs), sums)


def test_values_of_nodes_leave_slopes_out():
    tree, rng = wide_tree()
    table = Table.read(rng.normal(size=(50, 8)), schema=tree.schema)
    plain = with_slopes(tree, Slopes.none())
    assert_array_equal(predict_rows(tree, table, node_values=tree.belief), predict_rows(plain, table))


ROUTER = {
    "first_child": np.array([1, -1, -1], np.int32),
    "n_children": np.array([2, 0, 0], np.int32),
    "feature": np.array([0, -1, -1], np.int32),
    "threshold": np.array([0.5, nan, nan]),
    "slot_start": np.zeros(4, np.int32),
    "slot_of": np.zeros(0, np.int32),
    "missing_slot": np.array([-1, -1, -1], np.int32),
}
TERMS = {
    "parent": np.array([-1, 0, 0], np.int32),
    "belief": np.full((3, 2), 0.5),
    "node": np.array([1, 2], np.int32),
    "feature": np.array([0, 3], np.int32),
    "category": np.array([-1, 2], np.int32),
    "low": np.zeros(2),
    "high": np.ones(2),
    "centre": np.zeros(2),
    "slope": np.ones((2, 2)),
}


@pytest.mark.parametrize(
    "change",
    [
        {"node": np.array([1, 3], np.int32)},
        {"node": np.array([2, 1], np.int32)},
        {"node": np.array([-1, 1], np.int32)},
        {"feature": np.array([-1, 3], np.int32)},
        {"category": np.array([0, 2], np.int32)},  # feature 0 is split as a number
        {"low": np.zeros(3)},
        {"low": np.zeros(2, np.float32)},
        {"slope": np.ones((2, 3))},
        {"slope": np.ones(2)},
        {"belief": np.ones((2, 2))},
        {"parent": np.array([-1, 1, 0], np.int32)},
        {"parent": np.array([-2, 0, 0], np.int32)},
        {"parent": np.array([-1, 0], np.int32)},
        {"belief": np.ones((3, 0))},
        {"category": np.array([-1], np.int32)},
    ],
)
def test_the_kernel_refuses_arrays_it_would_leave(change):
    router = Router(**ROUTER)
    with pytest.raises(ValueError, match=r"expected|is not a"):
        SlopedTree(router, **TERMS | change, regression=False)


def test_the_kernel_refuses_rows_it_would_leave():
    sloped = SlopedTree(Router(**ROUTER), **TERMS, regression=False)
    numbers, codes, out = np.zeros(4), np.zeros(4, np.int32), np.empty((4, 2))
    sloped.fill_predictions([numbers, None, None, codes], out)
    for values in (
        [numbers],
        [numbers, None, None, numbers],
        [numbers, None, None, codes[:3]],
        np.zeros((4, 4)),
    ):
        with pytest.raises(ValueError, match=r"columns|is not|nominal"):
            sloped.fill_predictions(values, out)
    for wrong in (np.empty((4, 3)), np.empty(4), np.empty((4, 2), np.float32)):
        with pytest.raises(ValueError, match=r"columns|is not|nominal"):
            sloped.fill_predictions([numbers, None, None, codes], wrong)
    with pytest.raises(ValueError, match=r"columns|is not|nominal"):
        sloped.predict_row((1.0, 2.0, 3.0))
    with pytest.raises(TypeError):
        sloped.predict_row((1.0, 2.0, 3.0, "a"))


def test_the_router_lives_as_long_as_its_terms():
    sloped = SlopedTree(Router(**ROUTER), **TERMS, regression=False)
    for _ in range(100):
        Router(**ROUTER)
    assert sloped.predict_row((0.0, 0.0, 0.0, 2.0)) == (0.5, 0.5)


def test_a_tree_that_splits_rows_is_refused():
    router = Router(**ROUTER | {"missing_slot": np.array([-2, -1, -1], np.int32)})
    with pytest.raises(ValueError, match=r"every child"):
        SlopedTree(router, **TERMS, regression=False)
