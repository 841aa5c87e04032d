"""Texts of conditions, numbers and predictions: worked examples."""

from math import inf, log

import numpy as np
import pytest

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.checks import check_whole
from hornbeam.data.schema import Feature, Kind
from hornbeam.errors import ExportError, ParameterError
from hornbeam.export.checks import check_text
from hornbeam.export.json_rules import json_value
from hornbeam.export.people.palette import bar, bars, on_scale
from hornbeam.export.slope_text import change_text, factor_text, rounded_text, step_text
from hornbeam.export.wording import interval_text, prediction_text, scale_text, wrapped
from hornbeam.grid import code_span, markdown_text
from hornbeam.tree.words import (
    feature_name,
    label_text,
    mean_text,
    membership_text,
    plain_label,
    pluralise,
    probability_text,
    shortened,
    threshold_text,
)

COLOUR = Feature("colour", Kind.NOMINAL, ("blue", "green", "grey", "pink", "red", "teal"))


@pytest.fixture(scope="module")
def means():
    """A tree of two leaves with the means 1 and 3."""
    return TreeRegressor("cart").fit([[0], [1]], [1.0, 3.0]).tree_


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ([4], "= red"),
        ([0, 1, 4], "in {blue, green, red}"),
        ([0, 1, 2, 3], "not in {red, teal}"),
        ([0, 1, 2, 3, 5], "≠ red"),
        (range(6), "known"),
    ],
)
def test_sets_of_categories(codes, text):
    assert membership_text(COLOUR, codes) == text


def test_long_sets_are_cut():
    assert membership_text(COLOUR, [0, 1, 4], 2) == "in {blue, green, … 1 more}"
    assert shortened("petal width (cm)", 9) == "petal wi…"


def test_thresholds():
    assert threshold_text(Feature("age"), 30.0) == "30"
    assert threshold_text(Feature("size", Kind.ORDINAL, ("S", "M", "L")), 1.5) == "M"


def test_only_one_is_written_as_one():
    assert [probability_text(p) for p in (0.99999, 1.0)] == ["0.999", "1.000"]
    assert probability_text(0.996, 2) == "0.99"


def test_labels_cannot_be_mistaken():
    assert [label_text(value) for value in ("red", "1", 1, "missing")] == ["red", "'1'", "1", "'missing'"]
    assert [feature_name(name) for name in ("age (years)", "", "a\nb")] == ["age (years)", "''", "'a\\nb'"]
    assert [plain_label(value) for value in (np.int64(3), "a", ("a", 1))] == [3, "a", "('a', 1)"]
    assert [json_value(value) for value in (1, "a", inf)] == [1, "a", "inf"]


def test_numbers_with_nouns_and_in_lines():
    texts = [pluralise(1, "row"), pluralise(1200, "row"), pluralise(2, "leaf", "leaves")]
    assert texts == ["1 row", "1,200 rows", "2 leaves"]
    assert wrapped([10, 20, 30, 40], width=12) == "    10, 20,\n    30, 40,"


def test_means():
    assert [mean_text(value) for value in (1234567.891, 2 / 3, -inf)] == ["1234568", "0.666667", "-inf"]
    assert mean_text(2 / 3, 2) == "0.6667"


def test_predictions_of_a_node(means):
    tree = TreeClassifier("cart").fit([[0], [1], [1]], ["no", "yes", "yes"]).tree_
    assert prediction_text(tree, 0) == ("yes", "0.667")
    assert prediction_text(tree, 0, code=0) == ("yes", "0.333")  # the decision, and the share of "no"
    assert prediction_text(means, 0) == ("", "2")
    assert interval_text(means, np.array([0.5]), np.array([3.5]), 0) == "0.5 to 3.5"


def test_bars(means):
    assert bar(np.array([0.75, 0.25])) == [("#0072b2", 0.0, 0.75), ("#e69f00", 0.75, 1.0)]
    assert bar(np.array([0.2, 0.6] + [0.02] * 10)) == [("#0072b2", 0.0, 0.6), ("#d8d8d8", 0.6, 1.0)]
    assert bars(means).tolist() == [[0.5], [0.0], [1.0]]
    assert on_scale(means, np.array([1.5, 9.0])).tolist() == [0.25, 1.0]
    assert scale_text(means) == "mean, from 1 to 3"


def test_effects_of_slopes():
    assert [step_text(step) for step in (1000.0, 0.01, 1e12)] == ["1,000", "0.01", "1e+12"]
    values = [rounded_text(38.0412, 10.0), rounded_text(1234.5678, 1000.0), rounded_text(1.2345, 1.0)]
    assert values == ["38", "1230", "1.23"]
    factors = [factor_text(log(factor)) for factor in (1.8, 0.5519, 12.345, 1.0004, 3e7)]
    assert factors == ["1.8", "0.552", "12.3", "1", "10^7.48"]
    assert [change_text(change) for change in (12.0, -0.123456, 0.0)] == ["+12", "−0.1235", "+0"]


def test_names_cannot_end_a_span_of_markdown():
    assert [code_span("a|b"), code_span("`")] == ["`a\\|b`", "`` ` ``"]
    assert markdown_text("a_b <script>\n| c") == "a\\_b &lt;script> \\| c"


def test_limits_and_texts_that_are_refused():
    with pytest.raises(
        ParameterError, match="max_categories=0: expected a whole number, 1 or more, or None for whole lists"
    ):
        check_whole("max_categories", 0, 1, none="whole lists")
    with pytest.raises(ExportError, match="is not valid Unicode, expected text a file can hold"):
        check_text("\ud800")
