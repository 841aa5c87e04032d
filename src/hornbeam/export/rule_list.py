"""A list of rules as text, as Markdown and as plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

from hornbeam.data.schema import Kind
from hornbeam.export.checks import check_limit
from hornbeam.export.json_rules import json_features, json_value
from hornbeam.export.slope_text import terms_of
from hornbeam.export.wording import condition_text, label_text, pluralise, probability_text
from hornbeam.grid import Grid, code_span
from hornbeam.rules.rule import Rule, RuleSet, rules_of
from hornbeam.tree import Condition
from hornbeam.tree.decision import class_code
from hornbeam.typing import Label

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
    rules: Any,
    *,
    level: float = 0.9,
    max_categories: int | None = None,
    positive: Label | None = None,
) -> str:
    """Write a list of rules as text: conditions, class, probability with its interval, and the rows.

    Parameters
    ----------
    rules : RuleSet or fitted RuleClassifier
    level : float, default 0.9
        Level of the intervals.
    max_categories : int, optional
        Longer lists of categories are cut, with the number of those left out; no list is cut if not given.
    positive : label, optional
        The class of interest: every rule has the probability of this class beside the class that it predicts.

    Returns
    -------
    str
        The number of a rule is its position in the list, from 1 on. A rule covers the rows that meet its conditions,
        and decides those of them that no earlier rule covers. Terms of a rule of a leaf with slopes stand below it.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X = [[36.5], [36.9], [37.2], [38.0], [38.5], [39.1]]
    >>> clf = TreeClassifier("cart", smoothing="hgs").fit(X, ["well", "well", "well", "ill", "ill", "ill"])
    >>> print(rules_text(clf.rules()))
    1. if x0 ≤ 37.6
       then well, 0.800 (0.271 to 0.998); covers 3 rows, 0 wrong; decides 3
    2. if x0 > 37.6
       then ill, 0.800 (0.271 to 0.998); covers 3 rows, 0 wrong; decides 3
    otherwise ill, 0.500 (0.169 to 0.831); covers 6 rows, 3 wrong; decides 0
    >>> print(rules_text(clf.rules(), positive="ill"))
    1. if x0 ≤ 37.6
       then well; ill 0.200 (0.002 to 0.729); covers 3 rows, 0 wrong; decides 3
    2. if x0 > 37.6
       then ill; ill 0.800 (0.271 to 0.998); covers 3 rows, 0 wrong; decides 3
    otherwise ill; ill 0.500 (0.169 to 0.831); covers 6 rows, 3 wrong; decides 0
    """
    rules = rules_of(rules)
    check_limit("max_categories", max_categories, 1, "whole lists")
    code = None if positive is None else class_code(rules.schema.classes, positive)
    lines = []
    for at, rule in enumerate(rules, 1):
        prediction = _RulePrediction.of(rules, rule, level, code)
        tests = " and ".join(condition_text(one, max_categories) for one in rule.conditions) or "anything"
        indent = " " * len(f"{at}. ")
        lines += [f"{at}. if {tests}", f"{indent}then {prediction.outcome}"]
        lines += [f"{indent}     {term}" for term in _terms(rules, rule, code)]
    lines.append(f"otherwise {_RulePrediction.of(rules, rules.default, level, code).outcome}")
    return "\n".join([*lines, *(f"     {term}" for term in _terms(rules, rules.default, code))])


def rules_markdown(
    rules: Any,
    *,
    level: float = 0.9,
    max_categories: int | None = None,
    positive: Label | None = None,
) -> str:
    """Write a list of rules as a Markdown table.

    Parameters
    ----------
    rules : RuleSet or fitted RuleClassifier
    level : float, default 0.9
        Level of the intervals.
    max_categories : int, optional
        Longer lists of categories are cut, with the number of those left out; no list is cut if not given.
    positive : label, optional
        The class of interest: every rule has the probability of this class beside the class that it predicts.

    Returns
    -------
    str
        A table as GitHub and MyST read it. Names from the data stand in code spans, where no markup or link can begin.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X = [[36.5], [36.9], [37.2], [38.0], [38.5], [39.1]]
    >>> clf = TreeClassifier("cart", smoothing="hgs").fit(X, ["well", "well", "well", "ill", "ill", "ill"])
    >>> print(rules_markdown(clf.rules()))
    | rule | if | class | probability | 90 % interval | covers | wrong | decides |
    |--:|---|---|--:|---|--:|--:|--:|
    | 1 | `x0 ≤ 37.6` | `well` | 0.800 | 0.271 to 0.998 | 3 | 0 | 3 |
    | 2 | `x0 > 37.6` | `ill` | 0.800 | 0.271 to 0.998 | 3 | 0 | 3 |
    |  | otherwise | `ill` | 0.500 | 0.169 to 0.831 | 6 | 3 | 0 |
    """
    rules = rules_of(rules)
    check_limit("max_categories", max_categories, 1, "whole lists")
    code = None if positive is None else class_code(rules.schema.classes, positive)
    return _grid(rules, level, max_categories, code, code_span).markdown(escaped=True)


class ShownRules(RuleSet):
    """A rule set that notebooks show as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return _grid(self, 0.9, None, None, str).html()


def _grid(
    rules: RuleSet, level: float, max_categories: int | None, code: int | None, quoted: Callable[[str], str]
) -> Grid:
    """Tabulate the rules; names from the data are quoted."""
    column = (
        "probability" if code is None else f"probability of {quoted(label_text(rules.schema.classes[code]))}"
    )
    rows = []
    for at, rule in enumerate((*rules, rules.default), 1):
        prediction = _RulePrediction.of(rules, rule, level, code)
        number = str(at) if at <= len(rules) else ""
        conditions = [quoted(condition_text(one, max_categories)) for one in rule.conditions]
        tests = " and ".join(conditions) or ("anything" if number else "otherwise")
        terms = ["; ".join(map(quoted, _terms(rules, rule, code)))] * rules.has_slopes
        rows.append([number, tests, quoted(prediction.label), *prediction.numbers, *terms])
    header = ["rule", "if", "class", column, f"{100 * level:g} % interval", "covers", "wrong", "decides"]
    header += ["changes within the rule"] * rules.has_slopes
    return Grid(pluralise(len(rules), "rule"), header, rows, "><<><>>><")


def rules_dict(rules: Any, *, level: float = 0.9) -> dict[str, Any]:
    """Convert a list of rules to plain values, which JSON can hold.

    Parameters
    ----------
    rules : RuleSet or fitted RuleClassifier
    level : float, default 0.9
        Level of the intervals.

    Returns
    -------
    dict
        Its field ``reading`` explains how to apply the rules; the result is then the prediction of the list.

    Examples
    --------
    >>> import json
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[36.5], [36.9], [38.0]], ["well", "well", "ill"])
    >>> plain = rules_dict(clf.rules())
    >>> plain["rules"][0]["if"], plain["rules"][0]["class"]
    ([{'feature': 'x0', 'at_most': 37.4}], 'well')
    >>> json.loads(json.dumps(plain)) == plain
    True
    """
    rules = rules_of(rules)
    schema = rules.schema
    return {
        "format": "hornbeam-rule-list",
        "version": 1,
        "reading": _READING + _READING_TERMS * rules.has_slopes,
        "features": json_features(schema),
        "classes": [json_value(label) for label in schema.classes],
        "level": level,
        "rules": [
            {"if": [_plain_condition(one) for one in rule.conditions], **_plain_rule(rules, rule, level)}
            for rule in rules
        ],
        "default": _plain_rule(rules, rules.default, level),
    }


def _terms(rules: RuleSet, rule: Rule, code: int | None) -> list[str]:
    return [term.text(code) for term in terms_of(rule.slopes, rules.schema, 0)]


class _RulePrediction(NamedTuple):
    """The prediction and the rows of a rule, as text; `positive` is the class of interest, or empty."""

    label: str
    positive: str
    probability: str
    interval: str
    covers: str
    wrong: str
    decides: str

    @classmethod
    def of(cls, rules: RuleSet, rule: Rule, level: float, code: int | None) -> Self:
        at = rule.target if code is None else code
        low, high = (probability_text(bound.item(at)) for bound in rule.interval(level))
        predicted = probability_text(rule.belief.item(at)), f"{low} to {high}"
        rows = (f"{rows:.6g}" for rows in (rule.support, rule.errors, rule.decided.sum()))
        positive = "" if code is None else label_text(rules.schema.classes[code])
        return cls(label_text(rules.label(rule)), positive, *predicted, *rows)

    @property
    def numbers(self) -> tuple[str, ...]:
        return self[2:]

    @property
    def outcome(self) -> str:
        rows = f"covers {self.covers} row{'s' * (self.covers != '1')}, {self.wrong} wrong; decides {self.decides}"
        separator = f"; {self.positive} " if self.positive else ", "
        return f"{self.label}{separator}{self.probability} ({self.interval}); {rows}"


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


def _plain_rule(rules: RuleSet, rule: Rule, level: float) -> dict[str, Any]:
    low, high = rule.interval(level)
    return {
        "class": json_value(rules.label(rule)),
        "probabilities": rule.belief.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "covered": rule.covered.tolist(),
        "decided": rule.decided.tolist(),
        "expected_error": rule.error,
        **_plain_terms(rules, rule),
    }


def _plain_terms(rules: RuleSet, rule: Rule) -> dict[str, Any]:
    """Convert the terms of a rule; no field without terms."""
    terms = []
    for at, category, low, high, centre, slope in rule.slopes.terms(0):
        feature = rules.schema.features[at]
        limits = {"low": low, "high": high}
        named = limits if category < 0 else {"category": json_value(feature.categories[category])}
        terms.append({"feature": feature.name, **named, "centre": centre, "slope": slope})
    return {"terms": terms} if terms else {}
