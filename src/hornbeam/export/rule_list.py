"""A list of rules for people, and for programs that were not written yet."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from hornbeam.data.schema import Kind
from hornbeam.export.checks import check_max_categories
from hornbeam.export.condition_text import condition_text
from hornbeam.export.json_rules import json_value
from hornbeam.export.people.markdown import code_span
from hornbeam.export.wording import label_text, probability_text
from hornbeam.rules import Rule, RuleSet
from hornbeam.tree import Condition
from hornbeam.tree.decision.positive import class_code
from hornbeam.typing import Label

__all__ = ["rules_dict", "rules_markdown", "rules_text"]

_READING = (
    "The first rule whose conditions all hold answers; if none does, the default. A condition holds for a known "
    "value if it is at_most the number, above it, in the list, or if any known value will do; what it does not "
    "mention it does not ask, and one that mentions nothing of these holds for no known value. It holds for a "
    "missing value where it says so. Values of an ordinal feature that are not in its categories are missing."
)


def rules_text(
    rules: RuleSet,
    *,
    level: float = 0.9,
    max_categories: int | None = None,
    positive: Label | None = None,
) -> str:
    """Write a list of rules as text: conditions, class, probability with its interval, and the rows.

    Parameters
    ----------
    rules : RuleSet
    level : float, default 0.9
        Of the intervals.
    max_categories : int, optional
        Longer lists of categories are cut, with the number of those left out; no list is cut if not given.
    positive : label, optional
        The class of interest: every rule has the probability of this class, beside the class it answers.

    Returns
    -------
    str
        The number of a rule is its position in the list, from 1 on. It covers the rows that meet its conditions,
        and decides those that no rule before it does.

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
    check_max_categories(max_categories)
    code = None if positive is None else class_code(rules.schema.classes, positive)
    lines = []
    for at, rule in enumerate(rules, 1):
        said = _Said.of(rules, rule, level, code)
        tests = " and ".join(condition_text(one, max_categories) for one in rule.conditions) or "anything"
        lines += [f"{at}. if {tests}", f"{' ' * len(str(at))}  then {said.outcome}"]
    return "\n".join([*lines, f"otherwise {_Said.of(rules, rules.default, level, code).outcome}"])


def rules_markdown(
    rules: RuleSet,
    *,
    level: float = 0.9,
    max_categories: int | None = None,
    positive: Label | None = None,
) -> str:
    """Write a list of rules as a Markdown table.

    Parameters
    ----------
    rules : RuleSet
    level : float, default 0.9
        Of the intervals.
    max_categories : int, optional
        Longer lists of categories are cut, with the number of those left out; no list is cut if not given.
    positive : label, optional
        The class of interest: every rule has the probability of this class, beside the class it answers.

    Returns
    -------
    str
        A table as GitHub and MyST read it. Everything that comes from the data stands in code spans, where no
        markup or link can begin.

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
    check_max_categories(max_categories)
    code = None if positive is None else class_code(rules.schema.classes, positive)
    likely = "probability" if code is None else f"probability of {code_span(label_text(positive))}"
    lines = [
        f"| rule | if | class | {likely} | {100 * level:g} % interval | covers | wrong | decides |",
        "|--:|---|---|--:|---|--:|--:|--:|",
    ]
    for at, rule in enumerate((*rules, rules.default), 1):
        said = _Said.of(rules, rule, level, code)
        number = str(at) if at <= len(rules) else ""
        asked = [code_span(condition_text(one, max_categories)) for one in rule.conditions]
        tests = " and ".join(asked) or ("anything" if number else "otherwise")
        lines.append(f"| {' | '.join([number, tests, code_span(said.label), *said.numbers])} |")
    return "\n".join(lines)


def rules_dict(rules: RuleSet, *, level: float = 0.9) -> dict[str, Any]:
    """Give a list of rules as plain values, which JSON can hold.

    Parameters
    ----------
    rules : RuleSet
    level : float, default 0.9
        Of the intervals.

    Returns
    -------
    dict
        Its field ``reading`` says how to apply the rules; whoever does so gets the answers of the list.

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
    schema = rules.schema
    return {
        "format": "hornbeam-rule-list",
        "version": 1,
        "reading": _READING,
        "features": [
            {"name": f.name, "kind": f.kind.value, "categories": [json_value(c) for c in f.categories]}
            for f in schema.features
        ],
        "classes": [json_value(label) for label in schema.classes],
        "level": level,
        "rules": [
            {"if": [_plain(one) for one in rule.conditions], **_facts(rules, rule, level)} for rule in rules
        ],
        "default": _facts(rules, rules.default, level),
    }


class _Said(NamedTuple):
    """What a rule answers, in words; `named` is the class of interest, or empty."""

    label: str
    named: str
    probability: str
    interval: str
    covers: str
    wrong: str
    decides: str

    @classmethod
    def of(cls, rules: RuleSet, rule: Rule, level: float, code: int | None) -> Self:
        at = rule.target if code is None else code
        low, high = (bound.item(at) for bound in rule.interval(level))
        believed = probability_text(rule.belief.item(at)), f"{low:.3f} to {high:.3f}"
        rows = (f"{rows:.6g}" for rows in (rule.support, rule.errors, rule.decided.sum()))
        named = "" if code is None else label_text(rules.schema.classes[code])
        return cls(label_text(rules.label(rule)), named, *believed, *rows)

    @property
    def numbers(self) -> tuple[str, ...]:
        return self[2:]

    @property
    def outcome(self) -> str:
        rows = f"covers {self.covers} row{'s' * (self.covers != '1')}, {self.wrong} wrong; decides {self.decides}"
        answer = (
            f"{self.label}; {self.named} {self.probability}"
            if self.named
            else f"{self.label}, {self.probability}"
        )
        return f"{answer} ({self.interval}); {rows}"


def _plain(condition: Condition) -> dict[str, Any]:
    """The condition in the words of `to_json`."""
    feature = condition.feature
    plain: dict[str, Any] = {"feature": feature.name}
    bounds = {"above": condition.above, "at_most": condition.at_most}
    asked = {name: bound for name, bound in bounds.items() if bound is not None}
    if condition.known:
        if condition.among is not None:
            plain["in"] = [json_value(feature.categories[code]) for code in condition.among]
        elif asked and feature.kind is Kind.ORDINAL:
            plain["in"] = [json_value(feature.categories[code]) for code in condition.codes]
        else:
            plain |= asked or {"known": True}
    return plain | ({"missing": True} if condition.missing else {})


def _facts(rules: RuleSet, rule: Rule, level: float) -> dict[str, Any]:
    low, high = rule.interval(level)
    return {
        "class": json_value(rules.label(rule)),
        "probabilities": rule.belief.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "covered": rule.covered.tolist(),
        "decided": rule.decided.tolist(),
        "expected_error": rule.error,
    }
