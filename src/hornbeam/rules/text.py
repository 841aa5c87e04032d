"""A list of rules as text, as Markdown and as plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from hornbeam.checks import check_whole
from hornbeam.data.schema import Kind, Schema
from hornbeam.export.json_rules import json_features, json_value
from hornbeam.export.slope_text import terms_of
from hornbeam.grid import Grid, by_class
from hornbeam.rules.rule import Rule
from hornbeam.tree import Condition
from hornbeam.tree.words import label_text, pluralise, probability_head, probability_text

_READING = (
    "The prediction is that of the first rule whose conditions all hold; if there is no such rule, that of the "
    "default. A condition holds for a known value if the value is at_most the number, above it, or in the list; with "
    "known: true it holds for every known value. A condition may have several of these fields, and all of them must "
    "hold; without any it holds for no known value. It holds for a missing value if its field missing is true. Values "
    "of an ordinal feature that are not in its categories are missing."
)

_READING_TERMS = (
    " The field terms of a rule, if there is one, changes its probabilities: each term adds slope * (value - centre) "
    "to the logarithm of the probability of each class; then the probabilities are divided by their sum. The value is "
    "that of the feature, or its position in the categories of an ordinal feature, limited to low and high; with the "
    "field category it is 1 for this category and 0 for any other. A missing value adds nothing."
)


def rules_text(
    schema: Schema, listed: Sequence[Rule], level: float, max_categories: int | None, code: int | None
) -> str:
    """Write rules, the last of which is the default, as text (`RuleSet.to_text`)."""
    check_whole("max_categories", max_categories, 1, none="whole lists")
    lines = []
    for at, rule in enumerate(listed[:-1], 1):
        prediction = _RulePrediction.of(rule, level, code)
        tests = " and ".join(one.text(max_categories) for one in rule.conditions) or "anything"
        indent = " " * len(f"{at}. ")
        lines += [f"{at}. if {tests}", f"{indent}then {prediction.outcome}"]
        lines += [f"{indent}     {term}" for term in _terms(schema, rule, code)]
    lines.append(f"otherwise {_RulePrediction.of(listed[-1], level, code).outcome}")
    return "\n".join([*lines, *(f"     {term}" for term in _terms(schema, listed[-1], code))])


def rules_grid(
    schema: Schema,
    listed: Sequence[Rule],
    level: float = 0.9,
    max_categories: int | None = None,
    code: int | None = None,
    quoted: Callable[[str], str] = str,
) -> Grid:
    """Tabulate rules, the last of which is the default; names from the data are quoted."""
    check_whole("max_categories", max_categories, 1, none="whole lists")
    decided = (
        ("class", "probability")
        if code is None
        else ("decision", quoted(probability_head(schema.classes[code])))
    )
    has_slopes, rows = _have_slopes(listed), []
    for at, rule in enumerate(listed, 1):
        prediction = _RulePrediction.of(rule, level, code)
        number = str(at) if at < len(listed) else ""
        conditions = [quoted(one.text(max_categories)) for one in rule.conditions]
        tests = " and ".join(conditions) or ("anything" if number else "otherwise")
        terms = ["; ".join(map(quoted, _terms(schema, rule, code)))] * has_slopes
        rows.append([number, tests, quoted(prediction.label), *prediction.numbers, *terms])
    header = ["rule", "if", *decided, f"{100 * level:g} % interval", "covers", "wrong", "decides"]
    header += ["changes within the rule"] * has_slopes
    return Grid(pluralise(len(listed) - 1, "rule"), header, rows, "><<><>>><")


def rule_columns(schema: Schema, listed: Sequence[Rule]) -> dict[str, list[Any]]:
    """Return columns with a value per rule but the last: conditions, prediction, probabilities, bounds, rows."""
    classes, rules = schema.classes, listed[:-1]
    probability = np.array([rule.probability for rule in rules]).reshape(-1, len(classes))
    bounds = np.array([rule.interval() for rule in rules]).reshape(-1, 2, len(classes))
    columns: dict[str, list[Any]] = {
        "if": [" and ".join(map(str, rule.conditions)) or "anything" for rule in rules],
        "prediction": [rule.prediction for rule in rules],
        **by_class("p", classes, probability),
        **by_class("low", classes, bounds[:, 0]),
        **by_class("high", classes, bounds[:, 1]),
    }
    columns |= {name: [getattr(rule, name) for rule in rules] for name in ("covers", "wrong", "decides")}
    if _have_slopes(listed):
        columns["terms"] = ["; ".join(_terms(schema, rule, None)) for rule in rules]
    return columns


def rules_dict(schema: Schema, listed: Sequence[Rule], level: float) -> dict[str, Any]:
    """Convert rules, the last of which is the default, to plain values; `reading` explains how to apply them."""
    return {
        "format": "hornbeam-rule-list",
        "version": 1,
        "reading": _READING + _READING_TERMS * _have_slopes(listed),
        "features": json_features(schema),
        "classes": [json_value(label) for label in schema.classes],
        "level": level,
        "rules": [
            {"if": [_plain_condition(one) for one in rule.conditions], **_plain_rule(schema, rule, level)}
            for rule in listed[:-1]
        ],
        "default": _plain_rule(schema, listed[-1], level),
    }


def _have_slopes(listed: Sequence[Rule]) -> bool:
    return any(len(rule.slopes) for rule in listed)


def _terms(schema: Schema, rule: Rule, code: int | None) -> list[str]:
    return [term.text(code) for term in terms_of(rule.slopes, schema, 0)]


class _RulePrediction(NamedTuple):
    """The prediction and the rows of a rule, as text; `positive` is the head of its probability, or empty."""

    label: str
    positive: str
    probability: str
    interval: str
    covers: str
    wrong: str
    decides: str

    @classmethod
    def of(cls, rule: Rule, level: float, code: int | None) -> Self:
        at = rule.code if code is None else code
        low, high = (probability_text(bound.item(at)) for bound in rule.interval(level=level))
        predicted = probability_text(rule.probability.item(at)), f"{low} to {high}"
        rows = (f"{rows:.6g}" for rows in (rule.covers, rule.wrong, rule.decides))
        positive = "" if code is None else f"{probability_head(rule.classes[code])} "
        return cls(label_text(rule.prediction), positive, *predicted, *rows)

    @property
    def numbers(self) -> tuple[str, ...]:
        return self[2:]

    @property
    def outcome(self) -> str:
        rows = f"covers {self.covers} row{'s' * (self.covers != '1')}, {self.wrong} wrong; decides {self.decides}"
        return f"{self.label}, {self.positive}{self.probability} ({self.interval}); {rows}"


def _plain_condition(condition: Condition) -> dict[str, Any]:
    """Convert a condition to the fields of `to_json`."""
    feature = condition.feature
    plain: dict[str, Any] = {"feature": feature.name}
    bounds = {"above": condition.above, "at_most": condition.at_most}
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    if condition.known:
        if condition.among is not None:
            plain["in"] = [json_value(feature.categories[code]) for code in condition.among]
        elif given and feature.kind is Kind.ORDINAL:
            plain["in"] = [json_value(feature.categories[code]) for code in condition.codes]
        else:
            plain |= given or {"known": True}
    return plain | ({"missing": True} if condition.missing else {})


def _plain_rule(schema: Schema, rule: Rule, level: float) -> dict[str, Any]:
    low, high = rule.interval(level=level)
    return {
        "class": json_value(rule.prediction),
        "probabilities": rule.probability.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "covered": rule.covered.tolist(),
        "decided": rule.decided.tolist(),
        "expected_error": rule.error,
        **_plain_terms(schema, rule),
    }


def _plain_terms(schema: Schema, rule: Rule) -> dict[str, Any]:
    """Convert the terms of a rule; no field without terms."""
    terms = []
    for at, category, low, high, centre, slope in rule.slopes.terms(0):
        feature = schema.features[at]
        limits = {"low": low, "high": high}
        named = limits if category < 0 else {"category": json_value(feature.categories[category])}
        terms.append({"feature": feature.name, **named, "centre": centre, "slope": slope})
    return {"terms": terms} if terms else {}
