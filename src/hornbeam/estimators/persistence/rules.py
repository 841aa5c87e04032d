"""Codec of rules."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isnan
from typing import Any

import numpy as np

from hornbeam.data.schema import Schema
from hornbeam.errors import StorageError, TreeError
from hornbeam.rules.rule import Rule
from hornbeam.rules.rule_set import RuleSet
from hornbeam.tree import Step
from hornbeam.tree.check import check_belief
from hornbeam.tree.condition import Condition
from hornbeam.typing import Floats


def encode_rules(rules: RuleSet) -> dict[str, Any]:
    """Return rules as plain values."""
    return {"rules": tuple(map(_encode_rule, rules)), "default": _encode_rule(rules.default)}


def decode_rules(learned: Mapping[str, Any], schema: Schema) -> RuleSet:
    """Return the rules of a file.

    Raises
    ------
    StorageError
        If a rule is wrong; the message names what.
    """
    rules = tuple(_decode_rule(rule, schema) for rule in learned["rules"])
    default = _decode_rule(learned["default"], schema)
    if default.conditions:
        raise StorageError("the default rule has conditions; expected none: it is for every other row")
    return RuleSet(schema, rules, default)


def _encode_rule(rule: Rule) -> Step:
    conditions = tuple(
        Step.of(
            "condition",
            column=one.column,
            above=one.above,
            at_most=one.at_most,
            among=one.among,
            missing=bool(one.missing),
        )
        for one in rule.conditions
    )
    return Step.of(
        "rule",
        conditions=conditions,
        target=int(rule.code),
        covered=rule.covered,
        decided=rule.decided,
        belief=rule.probability,
        size=float(rule.size),
        error=float(rule.error),
    )


def _decode_rule(encoded: Any, schema: Schema) -> Rule:
    wanted = {"conditions", "target", "covered", "decided", "belief", "size", "error"}
    found = dict(encoded.parameters) if isinstance(encoded, Step) and encoded.name == "rule" else {}
    if found.keys() != wanted or type(found["conditions"]) is not tuple:
        raise StorageError(f"a rule is {encoded!s:.80}; expected {', '.join(sorted(wanted))}")
    if type(found["target"]) is not int or not 0 <= found["target"] < schema.n_classes:
        raise StorageError(
            f"a rule names the class {found['target']!r:.80}; expected 0 to {schema.n_classes - 1}"
        )
    for name, most in (("size", inf), ("error", 1.0)):
        if type(found[name]) is not float or not 0 <= found[name] <= most or found[name] == inf:
            raise StorageError(
                f"the {name} of a rule is {found[name]!r:.80}; expected a number from 0, finite"
            )
    weights = {
        name: _weights(name, found[name], schema.n_classes) for name in ("covered", "decided", "belief")
    }
    try:
        check_belief(weights["belief"][None], np.zeros(1), 1, schema.n_classes)
    except TreeError as error:
        raise StorageError(f"a rule: {error}") from error
    conditions = tuple(_condition(one, schema) for one in found["conditions"])
    covered, decided, probability = weights["covered"], weights["decided"], weights["belief"]
    code, size, rate = found["target"], found["size"], found["error"]
    return Rule(conditions, schema.classes, code, covered, decided, probability, size, rate)


def _weights(name: str, value: Any, n_classes: int) -> Floats:
    fits = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == (n_classes,)
    if fits and ((value >= 0) & (value < inf)).all():
        weights: Floats = value
        return weights
    raise StorageError(
        f"{name} of a rule is {value!r:.80}; expected {n_classes} numbers, 0 or more and finite"
    )


def _condition(encoded: Any, schema: Schema) -> Condition:
    wanted = {"column", "above", "at_most", "among", "missing"}
    found = dict(encoded.parameters) if isinstance(encoded, Step) and encoded.name == "condition" else {}
    if found.keys() != wanted or type(found["missing"]) is not bool:
        raise StorageError(f"a condition is {encoded!s:.80}; expected {', '.join(sorted(wanted))}")
    column, among = found["column"], found["among"]
    if type(column) is not int or not 0 <= column < schema.n_features:
        raise StorageError(f"a condition has column {column!r:.80}; expected 0 to {schema.n_features - 1}")
    for name in ("above", "at_most"):
        if found[name] is not None and (type(found[name]) is not float or isnan(found[name])):
            raise StorageError(f"{name} of a condition is {found[name]!r:.80}; expected None or a number")
    feature = schema.features[column]
    if among is not None and not _are_codes(among, len(feature.categories)):
        raise StorageError(
            f"among of a condition is {among!r:.80}; expected None, or ascending codes of {len(feature.categories)} "
            "categories"
        )
    return Condition(feature=feature, **found)


def _are_codes(among: Any, n_categories: int) -> bool:
    return (
        type(among) is tuple
        and all(type(code) is int and 0 <= code < n_categories for code in among)
        and sorted(set(among)) == list(among)
    )
