"""Assignment of rows to folds, and trees grown without each fold."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.table import Table
from hornbeam.growing.grower import Grower
from hornbeam.recipe import PRESETS
from hornbeam.tree.route import route
from hornbeam.tree.walk import path
from hornbeam.tuning.folds import FoldAssignment, end_nodes, grow_without_folds, route_held_out
from support.examples import examples
from support.strategies import trees
from support.strategies_growing import bins_of

codes = st.integers(2, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.integers(1, 4), min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)


def table_of(rows, labels, weight=None):
    return Table.read(np.array(rows, float), np.array(labels), sample_weight=weight)


def times_held(table, encoded, n_folds):
    """Which rows are in which fold, as a multiset of (row, class, copies)."""
    folds = FoldAssignment.of(table, encoded, n_folds)
    found = []
    for fold in range(n_folds):
        held = folds.held()[fold]
        lines = np.column_stack((encoded, table.target))
        kinds = {}
        for line, copies in zip(map(tuple, lines.tolist()), held.tolist(), strict=True):
            kinds[line] = kinds.get(line, 0) + copies
        found.append({kind: copies for kind, copies in kinds.items() if copies})
    return found


@given(codes, st.integers(2, 5))
def test_folds_do_not_depend_on_the_order_of_rows(drawn, n_folds):
    rows, labels, _, order = drawn
    encoded = np.array(rows, np.uint8)
    table = table_of(rows, labels)
    turned = table.take(np.array(order))
    assert times_held(table, encoded, n_folds) == times_held(turned, encoded[order], n_folds)


@given(codes, st.integers(2, 5))
def test_a_row_of_weight_two_is_two_rows(drawn, n_folds):
    rows, labels, weight, _ = drawn
    encoded, again = np.array(rows, np.uint8), np.repeat(np.arange(len(rows)), weight)
    weighted = table_of(rows, labels, weight)
    repeated = table_of(np.array(rows)[again], np.array(labels)[again])
    assert times_held(weighted, encoded, n_folds) == times_held(repeated, encoded[again], n_folds)


@given(codes, st.integers(2, 5), st.booleans())
def test_every_copy_is_held_once_and_folds_are_even(drawn, n_folds, weighted):
    rows, labels, weight, _ = drawn
    table = table_of(rows, labels, weight if weighted else None)
    folds = FoldAssignment.of(table, np.array(rows, np.uint8), n_folds)
    held = folds.held()
    np.testing.assert_array_equal(held.sum(axis=0), 1 if table.weight is None else table.weight)
    assert np.ptp(held.sum(axis=1)) <= 1
    for label in range(table.schema.n_classes):
        assert np.ptp(held[:, table.target == label].sum(axis=1)) <= 1


@examples(30)
@given(codes)
def test_fold_trees_are_grown_without_their_held_out_rows(drawn):
    rows, labels, _, _ = drawn
    table = table_of(rows, labels)
    recipe = PRESETS["cart"]
    bins = recipe.bin(table)
    encoded = bins.encode(table)
    folds = FoldAssignment.of(table, encoded, 2)
    fold_trees = grow_without_folds(recipe, table, bins, encoded, [folds])
    for held, one in zip(folds.held(), fold_trees.apart(), strict=True):
        # The same rows, encoded by the same bins, and nothing else.
        alone = recipe.grower.grow(table.take(np.flatnonzero(held == 0)), bins)
        assert one.tree.digest == alone.digest
        rows = np.flatnonzero(held)
        np.testing.assert_array_equal(one.held_out.row, rows)
        node = route(one.tree.skeleton, table.take(rows))
        np.testing.assert_array_equal(one.node, node)
        expected = np.zeros(one.tree.evidence.shape)
        np.add.at(expected, (node, table.target[rows]), 1)
        np.testing.assert_array_equal(one.held, expected)


@given(codes)
def test_without_folds_there_are_no_fold_trees(drawn):
    rows, labels, _, _ = drawn
    table, encoded = table_of(rows, labels), np.array(rows, np.uint8)
    recipe = PRESETS["cart"]
    single = FoldAssignment.of(table, encoded, 1)
    assert grow_without_folds(recipe, table, recipe.bin(table), encoded, [single]) is None


def test_a_row_of_an_unseen_category_tests_the_leaves_below():
    frame = pd.DataFrame({"x": pd.Categorical(["a"] * 6 + ["b"] * 2, categories=["a", "b", "c"])})
    tree = Grower(corrected=False).grow(table := Table.read(frame, ["no"] * 6 + ["yes"] * 2), bins_of(table))
    new = pd.DataFrame({"x": pd.Categorical(["c", "c", "b"], categories=["a", "b", "c"])})
    node, held = route_held_out(tree, Table.read(new, ["yes", "no", "yes"], schema=tree.schema))
    b = int(tree.skeleton.slot_of[1]) + 1
    a = 3 - b
    assert node.tolist() == [0, 0, b]
    assert held[0].tolist() == [0, 0]
    assert held[a].tolist() == [0.75, 0.75]  # six of eight rows
    assert held[b].tolist() == [0.25, 1.25]


def test_the_leaves_below_may_be_several_levels_down():
    frame = pd.DataFrame(
        {
            "x": pd.Categorical(["a"] * 4 + ["b"] * 4, categories=["a", "b", "c"]),
            "z": [0.0, 0, 0, 1, 0, 0, 0, 0],
        }
    )
    y = ["no", "no", "no", "yes", "yes", "yes", "yes", "yes"]
    tree = Grower().grow(table := Table.read(frame, y), bins_of(table))
    assert tree.skeleton.feature[[0, 1]].tolist() == [0, 1]  # leaves: 3 (z is 0), 4 (z is 1) and 2 (x is b)
    new = pd.DataFrame({"x": pd.Categorical(["c"], categories=["a", "b", "c"]), "z": [0.0]})
    _, held = route_held_out(tree, Table.read(new, ["yes"], schema=tree.schema))
    assert held[:, 1].tolist() == [0, 0, 0.5, 0.375, 0.125]


def test_a_missing_value_new_to_the_split_tests_the_node_where_it_stops():
    tree = Grower().grow(table := Table.read([[1.0], [2.0], [3.0]], ["no", "yes", "yes"]), bins_of(table))
    _, held = route_held_out(tree, Table.read([[np.nan]], ["yes"], schema=tree.schema))
    assert held[0].tolist() == [0, 1]


@examples(60)
@given(trees(), st.randoms(use_true_random=False))
def test_rows_of_a_node_end_at_the_first_cut_of_its_path(tree, random):
    cut = np.array([random.random() < 0.3 for _ in range(tree.n_nodes)])
    for node, found in enumerate(end_nodes(tree.skeleton, cut).tolist()):
        assert found == next((above for above in path(tree.skeleton, node) if cut[above]), node)
