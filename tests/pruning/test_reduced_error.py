"""Reduced-error pruning: worked numbers, the two searches, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Schema
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.pruning import ReducedError
from hornbeam.pruning.reduced_error import held_out_evidence, predictions
from hornbeam.tree import Skeleton
from hornbeam.tree.evidence.count import count_rows
from support.strategies import tables, trees
from support.worked_trees import over_leaves, rows_at, worked_tree


def errors(tree, table):
    """Weight of the rows with a wrong prediction at the node where they stop."""
    held = held_out_evidence(tree, table)
    inner = np.flatnonzero(tree.skeleton.n_children)
    own = held.copy()
    for node in inner:
        first = tree.skeleton.first_child[node]
        own[node] -= held[first : first + tree.skeleton.n_children[node]].sum(axis=0)
    right = np.take_along_axis(own, predictions(tree.belief)[:, None], axis=1)
    return own.sum() - right.sum()


def test_worked_example():
    tree = worked_tree()
    table = rows_at(tree, {0: [2, 1], 1: [0, 2], 2: [1, 3]})
    held, predicted = held_out_evidence(tree, table), predictions(tree.belief)
    wrong = held.sum(axis=1) - held[np.arange(5), predicted]
    assert (wrong[1], wrong[3] + wrong[4]) == (3, 1 + 2)  # A as a leaf, its leaves: a tie, cut
    assert (wrong[0], wrong[1] + wrong[2]) == (6, 3 + 1)  # the root is kept
    pruned = ReducedError(table)(tree)
    assert pruned.evidence.tolist() == [[6, 4], [5, 1], [1, 3]]
    assert errors(tree, table) == errors(pruned, table) == 4


def test_a_subtree_without_pruning_rows_is_cut():
    tree = worked_tree()
    assert ReducedError(rows_at(tree, {2: [0, 1]}))(tree).n_nodes == 3  # only B has rows, and needs the root


def test_the_greedy_search_can_end_worse():
    """Cutting node 1 saves 3 errors, the two nodes below it 2 each: the greedy search takes the 3."""
    skeleton = Skeleton.of(
        [2, 2, 0, 2, 2, 0, 0, 0, 0],
        [0, 0, -1, 0, 0, -1, -1, -1, -1],
        [3.5, 1.5, np.nan, 0.5, 2.5, *[np.nan] * 4],
    )
    tree = over_leaves(skeleton, [[0, 1], [9, 0], [1, 2], [2, 1], [0, 3]])
    table = rows_at(tree, {1: [2, 0], 2: [0, 2], 3: [2, 1], 4: [0, 10]})
    assert errors(tree, table) == 6
    greedy = ReducedError(table, search="greedy")(tree)
    assert (greedy.n_nodes, errors(greedy, table)) == (3, 3)
    bottom_up = ReducedError(table)(tree)
    assert (bottom_up.n_nodes, errors(bottom_up, table)) == (5, 2)


@given(trees(), st.data())
def test_bottom_up_is_never_worse_than_greedy_or_nothing(tree, data):
    table = data.draw(tables(tree.schema))
    bottom_up, greedy = ReducedError(table)(tree), ReducedError(table, search="greedy")(tree)
    tolerance = 1e-4 + 1e-9 * errors(tree, table)
    assert errors(bottom_up, table) <= errors(greedy, table) + tolerance
    assert errors(greedy, table) <= errors(tree, table) + tolerance


def test_fractional_rows_are_split_as_in_prediction():
    schema = Schema((Feature("x"),), ("a", "b"))
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan], missing_slot=[-2, -1, -1])
    grown = Table(schema, (np.array([0.0, 0, 0, 1]),), np.array([0, 0, 0, 1], np.int32))
    tree = count_rows(skeleton, grown, unit=2.0**-30)
    # Three quarters of the training rows went left, whatever the pruning rows do.
    held = held_out_evidence(tree, Table(schema, (np.array([1.0, np.nan]),), np.array([1, 0], np.int32)))
    assert held == pytest.approx(np.array([[1, 1], [0.75, 0], [0.25, 1]]))


def test_an_unknown_search_raises():
    with pytest.raises(ParameterError, match="'bottom-up', 'greedy'"):
        ReducedError(rows_at(worked_tree(), {0: [1, 0]}), search="random")
