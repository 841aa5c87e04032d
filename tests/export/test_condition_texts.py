"""Conditions, and the rule of a node, as text."""

import json

import numpy as np
import pytest

from hornbeam.data.schema import Feature, Kind
from hornbeam.export.wording import rule_text, rule_texts, value_of, value_text
from hornbeam.tree import Condition
from support.worked_trees import T0

AGE = Feature("age")
SIZE = Feature("size", Kind.ORDINAL, ("S", "M", "L"))
COLOUR = Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))
inf = np.inf


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Condition(0, AGE, 17.0, 30.5), "17 < age ≤ 30.5"),
        (Condition(0, AGE, above=17.0, missing=True), "age > 17 or missing"),
        (Condition(0, AGE, at_most=inf), "age known"),
        (Condition(0, AGE, above=2.0, at_most=inf), "age > 2"),
        (Condition(0, AGE, among=(), missing=True), "age missing"),
        (Condition(0, AGE, among=()), "age impossible"),
        (Condition(0, SIZE, above=0.5), "size > S"),
        (Condition(0, COLOUR, among=(0, 2)), "colour in {blue, red}"),
        (Condition(0, COLOUR, among=(1,), missing=True), "colour = green or missing"),
        (Condition(0, Feature("a\nb"), at_most=0.0), r"'a\nb' ≤ 0"),
    ],
)
def test_conditions_as_text(condition, text):
    assert str(condition) == text
    assert condition.to_dict()["text"] == text
    json.dumps(condition.to_dict(), allow_nan=False)


def test_the_rule_of_the_root_is_every_row():
    assert [rule_text(T0, node) == "every row" for node in range(T0.n_nodes)] == [True] + [False] * 4


def test_values_as_text_and_as_they_were():
    assert [value_text(COLOUR, code) for code in (2, -1, -2)] == ["red", "missing", "a category never seen"]
    assert value_text(AGE, 30.0) == "30"
    assert [value_of(SIZE, 2.0), value_of(SIZE, np.nan), value_of(AGE, 30.0)] == ["L", None, 30.0]


def test_rules_of_several_nodes_are_those_of_each():
    nodes = [T0.n_nodes - 1, 0]
    assert rule_texts(T0, nodes) == [rule_text(T0, node) for node in nodes]
