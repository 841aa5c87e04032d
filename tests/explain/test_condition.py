"""Conditions: what they say, what meets them, and that a rule leads where it says."""

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Kind
from hornbeam.explain.condition import Condition, rule, rule_words
from hornbeam.tree.route import route
from hornbeam.tree.walk import path
from strategies import schemas, tables, trees

AGE = Feature("age")
SIZE = Feature("size", Kind.ORDINAL, ("S", "M", "L"))
COLOUR = Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))
inf, nan = np.inf, np.nan


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(AGE, 17.0, 30.5, missing=False), "17 < age ≤ 30.5"),
        (Condition(AGE, above=17.0), "age > 17 or missing"),
        (Condition(AGE, at_most=inf, missing=False), "age known"),
        (Condition(AGE, above=2.0, at_most=inf, missing=False), "age > 2"),
        (Condition(AGE, among=frozenset()), "age missing"),
        (Condition(AGE, among=frozenset(), missing=False), "age impossible"),
        (Condition(SIZE, above=0.5, missing=False), "size > S"),
        (Condition(COLOUR, among=frozenset({2, 0}), missing=False), "colour in {blue, red}"),
        (Condition(COLOUR, among=frozenset({1})), "colour = green or missing"),
        (Condition(Feature("a\nb"), at_most=0.0, missing=False), r"'a\nb' ≤ 0"),
    ],
)
def test_words(condition, words):
    assert str(condition) == words
    assert condition.to_dict()["words"] == words
    json.dumps(condition.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("condition", "value", "nearest"),
    [
        (Condition(AGE, 17.0, 30.5), 99.0, 30.5),
        (Condition(AGE, 17.0, 30.5), 17.0, np.nextafter(17.0, inf)),
        (Condition(AGE, 17.0, 30.5), 20.0, 20.0),
        (Condition(AGE, 17.0, 30.5, missing=False), nan, 30.5),
        (Condition(AGE, above=17.0, at_most=inf, missing=False), nan, np.nextafter(17.0, inf)),
        (Condition(AGE, at_most=inf, missing=False), nan, 0.0),
        (Condition(AGE, 5.0, 5.0), 1.0, None),
        (Condition(AGE, above=inf), 1.0, None),
        (Condition(AGE, among=frozenset()), 1.0, None),
        (Condition(SIZE, above=0.5, missing=False), 0.0, 1),
        (Condition(SIZE, at_most=0.5, missing=False), 2.0, 0),
        (Condition(SIZE, 0.2, 0.8), 2.0, None),
        (Condition(COLOUR, among=frozenset({1, 2}), missing=False), 0, 1),
        (Condition(COLOUR, among=frozenset({1, 2}), missing=False), -1, 1),
        (Condition(COLOUR, among=frozenset()), 0, None),
    ],
)
def test_the_nearest_value(condition, value, nearest):
    assert condition.nearest(value) == nearest
    assert nearest is None or condition.holds(nearest)


@st.composite
def asked(draw):
    schema = draw(schemas(max_classes=3))
    tree = draw(trees(st.just(schema)))
    assume(not (tree.skeleton.missing_slot == -2).any())
    return tree, draw(tables(schema, max_rows=10))


@settings(max_examples=60)
@given(asked())
def test_a_row_meets_the_rules_of_its_own_nodes_alone(both):
    tree, table = both
    rules = [rule(tree, node) for node in range(tree.n_nodes)]
    for i, stop in enumerate(route(tree.skeleton, table).tolist()):
        row = [column[i].item() for column in table.columns]
        met = [
            node
            for node, conditions in enumerate(rules)
            if all(condition.holds(row[feature]) for feature, condition in conditions.items())
        ]
        assert met == path(tree.skeleton, stop)
        assert (rule_words(tree, stop) == "every row") == (stop == 0)
