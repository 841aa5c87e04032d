"""Fractional rows: evidence is divided in integer steps, and its sum stays the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.growing.criterion import Missing
from hornbeam.growing.grower import Grower
from hornbeam.recipe import PRESETS
from hornbeam.tree.evidence.count import count_rows
from support.examples import examples
from support.strategies_growing import bins_of, growers, random_table, training_tables


@examples(200)
@given(st.data())
def test_evidence_equals_that_of_counting_the_rows_again(data):
    """For every treatment of missing values."""
    table = data.draw(training_tables(max_rows=60))
    tree = data.draw(growers(table)).grow(table, bins_of(table))
    again = count_rows(tree.skeleton, table, unit=float(tree.unit[0]))
    np.testing.assert_array_equal(tree.evidence, again.evidence)
    np.testing.assert_array_equal(tree.rows, again.rows)


@examples(200)
@given(st.data())
def test_evidence_of_children_sums_to_that_of_their_parent(data):
    table = data.draw(training_tables(max_rows=60))
    grower = data.draw(growers(table, missing=[Missing.FRACTIONAL]))
    tree = grower.grow(table, bins_of(table))
    inner = np.flatnonzero(tree.skeleton.n_children)
    for node in inner.tolist():
        first = tree.skeleton.first_child[node]
        children = tree.evidence[first : first + tree.skeleton.n_children[node]]
        np.testing.assert_array_equal(children.sum(axis=0), tree.evidence[node])


def test_the_unit_is_small_enough_to_divide_again_and_again():
    table = random_table(0, n_rows=500, missing=0.4, n_numeric=5, noise=1.0)
    tree = Grower(missing=Missing.FRACTIONAL, min_weight_leaf=2.0).grow(table, bins_of(table))
    total = int(tree.evidence[0].sum())
    assert total == table.n_rows * round(1 / tree.unit[0])
    assert 2**47 <= total < 2**50
    weight = tree.evidence.sum(axis=1) * tree.unit[0]
    assert weight[1:].min() >= 2.0


def test_without_missing_values_rows_stay_whole():
    table = random_table(0, n_rows=50, missing=0.0)
    tree = PRESETS["c4.4"].grower.grow(table, bins_of(table))
    assert tree.unit[0] == 1.0
    assert (tree.skeleton.missing_slot == -1).all()
