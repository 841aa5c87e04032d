"""Quinlan's golf data worked out by hand: five leaves, one condition removed, five rules in order."""

import numpy as np
import pytest
from golf import GOLF, TREE, by_name

from hornbeam.rules.coverage import Coverage
from hornbeam.rules.extract import extract
from hornbeam.rules.subset import CodeBook, exception_bits

LEAVES = [
    ({"outlook": "overcast"}, "yes"),
    ({"outlook": "rainy", "windy": "false"}, "yes"),
    ({"outlook": "rainy", "windy": "true"}, "no"),
    ({"outlook": "sunny", "humidity": "high"}, "no"),
    ({"outlook": "sunny", "humidity": "normal"}, "yes"),
]


def test_one_rule_per_leaf():
    rules = extract(TREE)
    assert [by_name(rule) for rule in rules] == LEAVES
    assert [rule.covers for rule in rules] == [4, 3, 2, 3, 2]
    assert [rule.wrong for rule in rules] == [0] * 5


def test_one_condition_is_removed():
    """Two sunny days of normal humidity: 1 - 0.25 ** 0.5 = 0.5; all seven of normal humidity, one wrong: 0.338."""
    rules = extract(TREE).simplify(GOLF, None)
    assert [by_name(rule) for rule in rules] == [*LEAVES[:4], ({"humidity": "normal"}, "yes")]
    expected = [1 - 0.25 ** (1 / 4), 1 - 0.25 ** (1 / 3), 0.5, 1 - 0.25 ** (1 / 3), 0.3381]
    assert [rule.error for rule in rules] == pytest.approx(expected, abs=5e-5)
    assert rules[4].covered.tolist() == [1, 6]


@pytest.mark.parametrize(("confidence", "left"), [(0.15, LEAVES[2:4]), (0.14, LEAVES[3:4])])
def test_rules_no_better_than_always_predicting_their_class_are_removed(confidence, left):
    """The error rate of always predicting yes is 1 - 10/16 = 0.375, and 1 - 0.15 ** (1/4) is 0.378.

    That of always predicting no is 0.625, and 1 - 0.14 ** (1/2) is 0.626.
    """
    assert [by_name(rule) for rule in extract(TREE).simplify(GOLF, None, confidence=confidence)] == left


def test_the_description_length_of_conditions():
    """Entropies of the columns; features by their share in the sum, 5.1193 bits."""
    book = CodeBook.of(Coverage(GOLF))
    assert book.branch == pytest.approx([1.5774, 1.5567, 1.0, 0.9852], abs=5e-5)
    assert book.feature == pytest.approx(1.9633, abs=5e-5)
    rules = extract(TREE).simplify(GOLF, None)
    bits = [book.rule(rule.conditions) for rule in rules]
    assert bits == pytest.approx([3.5407, 6.4893, 6.4893, 6.5041, 2.9633], abs=5e-5)


@pytest.mark.parametrize(
    ("fires", "wrong", "missed", "bits"),
    [
        (0, 0, 0, 3.8074),  # only the number of errors: log2 14
        (5, 0, 0, 3.8074),
        (3, 0, 2, 3.8074 + 2 * np.log2(11 / 1) + 9 * np.log2(11 / 10)),  # half of two errors among eleven
        (10, 1, 0, 3.8074 + 1 * np.log2(10 / 0.5) + 9 * np.log2(10 / 9.5)),
        (14, 5, 0, 3.8074 + 5 * np.log2(14 / 2.5) + 9 * np.log2(14 / 11.5)),
    ],
)
def test_the_description_length_of_exceptions(fires, wrong, missed, bits):
    found = exception_bits(14.0, *(np.array([float(n)]) for n in (fires, wrong, missed)))
    assert found[0] == pytest.approx(bits, abs=5e-5)


def test_the_chosen_list():
    """Rules for no have no errors, so they come first; within a class by pessimistic error rate."""
    rules = extract(TREE).simplify(GOLF, None).choose(GOLF, None)
    assert [by_name(rule) for rule in rules] == [
        ({"outlook": "sunny", "humidity": "high"}, "no"),
        ({"outlook": "rainy", "windy": "true"}, "no"),
        ({"outlook": "overcast"}, "yes"),
        ({"humidity": "normal"}, "yes"),
        ({"outlook": "rainy", "windy": "false"}, "yes"),
    ]
    assert by_name(rules.default) == ({}, "yes")  # no rows are left: the more frequent class
    assert [rule.decided.tolist() for rule in rules] == [[3, 0], [2, 0], [0, 4], [0, 4], [0, 1]]
    assert (rules.predict_proba(GOLF).argmax(axis=1) == GOLF.target).all()


def test_the_smoothed_probabilities():
    """Of the first rule, without outlook 4 of 7 days are no, of all 5 of 14: 3 + 1 + 4/7 + 5/14 + 1/2 of 7 rows."""
    rules = extract(TREE).simplify(GOLF, None).choose(GOLF, None)
    assert rules[0].probability[0] == pytest.approx((3 + 1 + 4 / 7 + 5 / 14 + 1 / 2) / 7)
    # Normal humidity decides 4 days, all yes; 6 of its 7 are, and 9 of 14.
    assert rules[3].probability[1] == pytest.approx((4 + 6 / 7 + 9 / 14 + 1 / 2) / 7)
    assert rules.default.probability[1] == pytest.approx((9 / 14 + 1 / 2) / 2)
    assert rules.default.interval() == (pytest.approx([0, 0]), pytest.approx([1, 1]))  # it decides no row
