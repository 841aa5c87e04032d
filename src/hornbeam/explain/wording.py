"""Conditions and values as text and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite, isnan
from typing import Any

from hornbeam.data.schema import Feature
from hornbeam.export.wording import condition_text, label_text, plain_label, threshold_text
from hornbeam.tree import Condition, Tree
from hornbeam.tree.condition import is_missing, merge_conditions, merged_path_conditions, path_conditions
from hornbeam.typing import Category

__all__ = ["condition_dict", "known_text", "rule_text", "rule_texts", "value_of", "value_text"]


def condition_dict(condition: Condition) -> dict[str, Any]:
    """Return a condition as plain values, for JSON."""
    bounds = {"above": condition.above, "at_most": condition.at_most}
    plain: dict[str, Any] = {name: at for name, at in bounds.items() if at is not None and isfinite(at)}
    if condition.among is not None:
        plain["among"] = [plain_label(condition.feature.categories[code]) for code in condition.among]
    return {"text": condition_text(condition), **plain, "missing": condition.missing}


def rule_text(tree: Tree, node: int) -> str:
    """Write the conditions on the path to a node, in one line."""
    return _all_of(merge_conditions(path_conditions(tree, node)))


def rule_texts(tree: Tree, nodes: Sequence[int]) -> list[str]:
    """Write the conditions on the paths to several nodes, as `rule_text` does, in one pass over the tree."""
    wanted = set(nodes)
    texts = {node: _all_of(conditions) for node, conditions in merged_path_conditions(tree) if node in wanted}
    return [texts[node] for node in nodes]


def _all_of(conditions: Iterable[Condition]) -> str:
    return " and ".join(map(condition_text, conditions)) or "every row"


def value_of(feature: Feature, value: float) -> Category | None:
    """Convert a value of a table column to the original value; None if it is missing or unseen."""
    if feature.is_numeric:
        return None if isnan(value) else value
    return feature.categories[int(value)] if value >= 0 else None


def value_text(feature: Feature, value: float) -> str:
    """Write a value of a table column as text."""
    known = value_of(feature, value)
    if known is None and not is_missing(feature, value):
        return "a category never seen"
    return known_text(feature, known)


def known_text(feature: Feature, value: Category | None) -> str:
    """Write an original value as text; None is missing."""
    if value is None:
        return "missing"
    return threshold_text(feature, float(value)) if feature.is_numeric else label_text(value)
