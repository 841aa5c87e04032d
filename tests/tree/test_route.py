"""Routing of tables and single rows: stops, predictions, paths, threads."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.tree.route import decision_path, predict_rows, route, row_predictor
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path
from support import reference_route as twin
from support.examples import examples

AGE_AND_COLOUR = Schema(
    (Feature("age"), Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))), ("no", "yes")
)
#                 0: age <= 30, own branch for missing
#      1: colour             2: leaf      3: leaf
#  4: blue   5: red or unknown; green has no slot
SKELETON = Skeleton.of(
    n_children=[3, 2, 0, 0, 0, 0],
    feature=[0, 1, -1, -1, -1, -1],
    threshold=[30.0, *[np.nan] * 5],
    missing_slot=[2, 1, -1, -1, -1, -1],
    slot_start=[0, 0, 3, 3, 3, 3, 3],
    slot_of=[0, -1, 1],
)
EVIDENCE = np.array([[12, 12], [6, 2], [4, 6], [2, 4], [5, 1], [1, 1]])
ROWS = [[20, "blue"], [30, "red"], [30, None], [25, "green"], [25, "violet"], [31, "blue"], [None, "red"]]
STOPS = [4, 5, 5, 1, 1, 2, 3]


@pytest.fixture
def tree():
    return Tree.raw(AGE_AND_COLOUR, SKELETON, EVIDENCE)


@pytest.fixture
def table():
    codes = {"blue": 0, "green": 1, "red": 2, None: -1}
    ages = np.array([np.nan if age is None else age for age, _ in ROWS], np.float64)
    colours = np.array([codes.get(colour, -2) for _, colour in ROWS], np.int32)
    return Table(AGE_AND_COLOUR, (ages, colours), None, None, 1.0, None)


def test_rows_stop_at_leaves_and_where_a_category_has_no_slot(table):
    stops = route(SKELETON, table)
    assert stops.dtype == np.int32
    assert stops.tolist() == STOPS


def test_predictions_are_the_beliefs_where_rows_stop(tree, table):
    assert predict_rows(tree, table).tolist() == tree.belief[STOPS].tolist()


def test_a_decision_path_is_the_stop_and_its_ancestors(table):
    indptr, indices = decision_path(SKELETON, table)
    paths = [indices[a:b].tolist() for a, b in pairwise(indptr)]
    assert paths == [[0, 1, 4], [0, 1, 5], [0, 1, 5], [0, 1], [0, 1], [0, 2], [0, 3]]
    assert (indptr.dtype, indices.dtype) == (np.int64, np.int32)


def test_a_table_without_rows(tree, table):
    empty = table.slice(0, 0)
    assert route(SKELETON, empty).tolist() == []
    assert predict_rows(tree, empty).shape == (0, 2)
    indptr, indices = decision_path(SKELETON, empty)
    assert (indptr.tolist(), indices.tolist()) == ([0], [])


def test_row_predictor_agrees_with_predict_rows(tree, table):
    predict = row_predictor(tree)
    together = predict_rows(tree, table)
    for i, (age, colour) in enumerate(zip(*table.columns, strict=True)):
        for row in ((float(age), int(colour)), [age, colour], np.array([age, colour])):
            assert predict(row) == tuple(together[i])


def test_missing_values_go_to_every_child_in_proportion_to_evidence():
    """C4.5's fractional rows: 5 of 12 rows went left, so the left prediction has weight 5/12."""
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [1.5, np.nan, np.nan], missing_slot=[-2, -1, -1])
    tree = Tree.raw(Schema((Feature("x"),), (0, 1)), skeleton, np.array([[6, 6], [4, 1], [2, 5]]))
    rows = Table.read([[1.0], [np.nan]], schema=tree.schema)
    left, right = tree.belief[1:]
    assert route(skeleton, rows).tolist() == [1, 0]
    expected = 0.0 + 5 / 12 * left + 7 / 12 * right
    assert predict_rows(tree, rows).tolist() == [left.tolist(), expected.tolist()]
    assert row_predictor(tree)((np.nan,)) == tuple(expected)


def random_skeleton(arrays):
    return Skeleton.of(arrays.n_children, arrays.feature, arrays.threshold, missing_slot=arrays.missing_slot)


@examples(100)
@given(arrays=twin.trees(kinds=(0, 0), max_inner=20), seed=st.integers(0, 2**32 - 1))
def test_decision_paths_agree_with_the_stops(arrays, seed):
    skeleton = random_skeleton(arrays)
    X = np.column_stack(twin.columns(arrays, (0, 0), 25, seed))
    table = Table.read(X)
    indptr, indices = decision_path(skeleton, table)
    for i, stop in enumerate(route(skeleton, table).tolist()):
        assert indices[indptr[i] : indptr[i + 1]].tolist() == path(skeleton, stop)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_prediction(n_jobs, order):
    rng = np.random.default_rng(0)
    n_children = np.array([2] * 127 + [0] * 128)
    inner = n_children > 0
    skeleton = Skeleton.of(
        n_children,
        np.where(inner, rng.integers(0, 4, 255), -1),
        np.where(inner, rng.normal(size=255), np.nan),
        missing_slot=np.where(inner, rng.integers(-2, 2, 255), -1),
    )
    leaves = rng.integers(0, 9, (255, 3)) * ~inner[:, None]
    for node in range(126, -1, -1):
        leaves[node] = leaves[2 * node + 1] + leaves[2 * node + 2]
    tree = Tree.raw(Schema(tuple(Feature(f"x{i}") for i in range(4)), (0, 1, 2)), skeleton, leaves)
    X = np.asarray(rng.normal(size=(60_001, 4)), order=order)
    X[rng.random(X.shape) < 0.05] = np.nan
    table = Table.read(X, schema=tree.schema)
    assert route(skeleton, table, n_jobs).tobytes() == route(skeleton, table).tobytes()
    assert predict_rows(tree, table, n_jobs).tobytes() == predict_rows(tree, table).tobytes()


def test_the_router_is_cached_and_made_again_after_unpickling():
    assert SKELETON.router is SKELETON.router
    again = pickle.loads(pickle.dumps(SKELETON))
    assert again.router is not SKELETON.router
    assert again.router.n_nodes == 6
