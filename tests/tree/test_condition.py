"""Conditions: values for which they hold, their combination, and conditions of branches and paths."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.tree import Condition, Skeleton
from hornbeam.tree.condition import (
    branch_condition,
    merge_conditions,
    merged_path_conditions,
    path_conditions,
)
from hornbeam.tree.route import route
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.tree.words import shorter_side
from support.examples import examples
from support.strategies import schemas, tables, trees

AGE = Feature("age")
SIZE = Feature("size", Kind.ORDINAL, ("S", "M", "L"))
COLOUR = Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))
nan, inf = np.nan, np.inf
NUMBERS = np.array([-inf, -1.0, 0.0, 0.5, 1.0, inf, nan])
CODES = np.array([-2, -1, 0, 1, 2], np.int32)

bounds = st.none() | st.sampled_from([-inf, -1.0, 0.0, 0.5, 1.0])
numeric = st.builds(
    Condition,
    st.just(0),
    st.just(AGE),
    above=bounds,
    at_most=bounds,
    among=st.sampled_from([None, ()]),
    missing=st.booleans(),
)
codes = st.none() | st.sets(st.integers(0, 2)).map(sorted).map(tuple)
nominal = st.builds(Condition, st.just(0), st.just(COLOUR), among=codes, missing=st.booleans())


def column_of(condition):
    return CODES if condition.feature is COLOUR else NUMBERS


@pytest.mark.parametrize(
    ("condition", "valid"),
    [
        (Condition(0, AGE, at_most=0.5), [-inf, -1.0, 0.0, 0.5]),
        (Condition(0, AGE, above=-inf, at_most=0.0), [-1.0, 0.0]),
        (Condition(0, AGE, at_most=-inf), [-inf]),
        (Condition(0, AGE), [-inf, -1.0, 0.0, 0.5, 1.0, inf]),
    ],
)
def test_bounds_are_above_and_at_most(condition, valid):
    assert NUMBERS[condition.holds_in(NUMBERS)].tolist() == valid


def test_missing_values_hold_only_if_missing_is_true():
    assert Condition(0, AGE, among=(), missing=True).holds_in(NUMBERS).tolist() == [False] * 6 + [True]
    assert Condition(0, AGE, above=1.0, missing=True).holds_in(NUMBERS).tolist() == [False] * 5 + [True, True]
    some = Condition(0, COLOUR, among=(0, 2), missing=True)
    assert CODES[some.holds_in(CODES)].tolist() == [-1, 0, 2]


@given(st.one_of(st.tuples(numeric, numeric), st.tuples(nominal, nominal)))
def test_a_combined_condition_holds_where_both_hold(pair):
    one, other = pair
    column = column_of(one)
    assert ((one & other).holds_in(column) == (one.holds_in(column) & other.holds_in(column))).all()


@given(numeric | nominal)
def test_holds_agrees_with_holds_in(condition):
    column = column_of(condition)
    assert [condition.holds(value) for value in column.tolist()] == condition.holds_in(column).tolist()


@given(numeric)
def test_merged_parts_are_the_condition(condition):
    valid = np.logical_and.reduce([part.holds_in(NUMBERS) for part in condition.parts])
    assert (valid == condition.holds_in(NUMBERS)).all()
    assert merge_conditions(condition.parts) == (condition,)


def test_a_third_child_is_for_missing_values():
    skeleton = Skeleton.of([3, 0, 0, 0], [0, -1, -1, -1], [inf, nan, nan, nan], missing_slot=[2, -1, -1, -1])
    tree = Tree.raw(Schema((AGE,), ("no", "yes")), skeleton, np.ones((4, 2), np.int64) * [[3], [1], [1], [1]])
    known, nothing, missing = (branch_condition(tree, node).holds_in(NUMBERS) for node in (1, 2, 3))
    assert known.sum() == 6
    assert not nothing.any()
    assert missing.tolist() == np.isnan(NUMBERS).tolist()


@pytest.mark.parametrize(
    ("condition", "value", "nearest"),
    [
        (Condition(0, AGE, 17.0, 30.5), 99.0, 30.5),
        (Condition(0, AGE, 17.0, 30.5), 17.0, np.nextafter(17.0, inf)),
        (Condition(0, AGE, 17.0, 30.5), 20.0, 20.0),
        (Condition(0, AGE, 17.0, 30.5), nan, 30.5),
        (Condition(0, AGE, above=17.0, at_most=inf), nan, np.nextafter(17.0, inf)),
        (Condition(0, AGE, at_most=inf), nan, 0.0),
        (Condition(0, AGE, 5.0, 5.0), 1.0, None),
        (Condition(0, AGE, above=inf), 1.0, None),
        (Condition(0, AGE, among=()), 1.0, None),
        (Condition(0, SIZE, above=0.5), 0.0, 1),
        (Condition(0, SIZE, at_most=0.5), 2.0, 0),
        (Condition(0, SIZE, 0.2, 0.8), 2.0, None),
        (Condition(0, COLOUR, among=(1, 2)), 0, 1),
        (Condition(0, COLOUR, among=(1, 2)), -1, 1),
        (Condition(0, COLOUR, among=()), 0, None),
    ],
)
def test_the_nearest_value_for_which_it_holds(condition, value, nearest):
    assert condition.nearest(value) == nearest
    assert nearest is None or condition.holds(nearest)


@st.composite
def trees_and_tables(draw):
    schema = draw(schemas(max_classes=3))
    tree = draw(trees(st.just(schema)))
    assume(not tree.skeleton.is_fractional)
    return tree, draw(tables(schema, max_rows=10))


@examples(60)
@given(trees_and_tables(), st.sampled_from([list, merge_conditions]))
def test_a_row_meets_exactly_the_conditions_on_its_path(both, make):
    tree, table = both
    rules = [make(path_conditions(tree, node)) for node in range(tree.n_nodes)]
    for i, stop in enumerate(route(tree.skeleton, table).tolist()):
        row = [column[i].item() for column in table.columns]
        met = [
            node
            for node, conditions in enumerate(rules)
            if all(condition.holds(row[condition.column]) for condition in conditions)
        ]
        assert met == path(tree.skeleton, stop)


@examples(60)
@given(trees())
def test_merged_paths_agree_with_one_path_at_a_time(tree):
    found = dict(merged_path_conditions(tree))
    assert found == {node: merge_conditions(path_conditions(tree, node)) for node in range(tree.n_nodes)}


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_the_shorter_list_describes_the_same_set(drawn):
    n, codes = drawn
    listed, left_out = shorter_side(sorted(codes), n)
    assert (set(range(n)) - set(listed) if left_out else set(listed)) == codes
    assert listed == sorted(listed)
    assert len(listed) <= max(3, n - len(codes)) or not left_out
    if len(codes) > 3:
        assert len(listed) == min(len(codes), n - len(codes))


def test_the_codes_of_an_ordinal_condition():
    assert Condition(0, SIZE, above=0.5).codes == [1, 2]
