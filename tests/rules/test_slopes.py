"""Rules of leaves with slopes predict as the tree does."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hornbeam.rules.extract import extract
from hornbeam.tree.route import predict_rows
from support.lending import lending, sizes
from support.strategies import tables, trees_with_slopes


@given(st.data())
def test_rules_predict_as_the_tree(data):
    tree = data.draw(trees_with_slopes())
    if tree.is_regression:
        return
    table = data.draw(tables(tree.schema))
    rules = extract(tree, inner=True)
    expected = predict_rows(tree, table)
    assert_array_equal(rules.predict_proba(table), expected)
    assert_array_equal(pickle.loads(pickle.dumps(rules)).predict_proba(table), expected)


def test_terms_stand_after_the_prediction():
    lines = extract(lending()).to_text().split("\n")
    assert lines[2:4] == [
        "        late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)",
        "        age: odds of bad × 0.819 per +1 (18 to 30; × 1 at 25)",
    ]
    assert "odds of good × 0.5 per +1" in extract(lending()).to_text(positive="good")


def test_tables_have_a_column_of_terms():
    lines = extract(lending()).to_markdown().split("\n")
    assert lines[0].endswith("| decides | changes within the rule |")
    assert {line.count("|") for line in lines} == {10}
    rules = extract(lending())
    page = rules._repr_html_()
    assert "grade: odds of bad × 2 per step up" in page


def test_plain_values_are_enough_to_predict():
    """What the field `reading` explains, computed by hand for late 3, clerk."""
    plain = json.loads(extract(sizes(), inner=True).to_json())
    assert "terms" in plain["reading"]
    rule = plain["default"]
    score = np.log(rule["probabilities"])
    row = {"late": 3, "job": "clerk"}
    for term in rule["terms"]:
        value = row[term["feature"]]
        value = (
            float(value == term["category"])
            if "category" in term
            else min(max(value, term["low"]), term["high"])
        )
        score += np.array(term["slope"]) * (value - term["centre"])
    expected = np.exp(score) / np.exp(score).sum()
    assert expected == pytest.approx([1 / 9, 4 / 9, 4 / 9])


def test_rules_without_slopes_have_no_field_of_terms():
    from hornbeam.tree import Slopes, with_slopes

    plain = json.loads(extract(with_slopes(copy.copy(lending()), Slopes.none(2))).to_json())
    assert "terms" not in plain["reading"]
    assert "terms" not in plain["rules"][0]
