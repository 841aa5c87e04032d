"""Text for people: tests, conditions, names, numbers, predictions and evidence.

Every name from the data becomes printable text on one line that cannot be mistaken for another name or for a part of a
drawing. Each target (HTML, DOT, Markdown) escapes its own special characters.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from math import inf, isnan

import numpy as np

from hornbeam.data.schema import Feature
from hornbeam.tree.condition import (
    Condition,
    is_missing,
    merge_conditions,
    merged_path_conditions,
    path_conditions,
)
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.skeleton import EVERY_CHILD
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import (
    feature_name,
    label_text,
    mean_text,
    membership_text,
    number_text,
    probability_head,
    probability_text,
    shortened,
    threshold_text,
)
from hornbeam.typing import Category, Floats

_MAX_CLASSES = 4  # in the evidence of a node
_MAX_DIGITS = 9  # of a threshold that is not written exactly


def branches(
    tree: Tree, node: int, max_categories: int | None = None, digits: int | None = None
) -> list[str]:
    """Write the test of each child of a node, with the name of the feature."""
    name = feature_name(tree.schema.features[tree.skeleton.feature[node]].name)
    return [f"{name} {condition}" for condition in conditions(tree, node, max_categories, digits)]


def conditions(
    tree: Tree, node: int, max_categories: int | None = None, digits: int | None = None
) -> list[str]:
    """Write the condition on the tested value for each child of a node, without the name of the feature.

    Lists of more than `max_categories` categories are cut, with the number of those left out. `digits` are those of a
    threshold (`number_text`); exact if None.
    """
    skeleton = tree.skeleton
    feature = tree.schema.features[skeleton.feature[node]]
    threshold, missing = skeleton.threshold.item(node), skeleton.missing_slot.item(node)
    if isnan(threshold):
        run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
        slots = range(skeleton.n_children[node])
        tests = [
            membership_text(feature, np.flatnonzero(run == slot).tolist(), max_categories) for slot in slots
        ]
    else:
        at = threshold_text(feature, threshold, digits, single=_compares_float32(tree))
        tests = [f"≤ {at}", f"> {at}", ""][: skeleton.n_children[node]]
    if missing == EVERY_CHILD:
        return [f"{test}, or missing in part" for test in tests]
    if missing >= 0:
        tests[missing] += " or missing" if tests[missing] else "missing"
    return tests


def _compares_float32(tree: Tree) -> bool:
    """Whether the tree is one of scikit-learn, which compares float32 values."""
    return any(step.name == "scikit-learn" for step in tree.history[:1])


def conditions_within(tree: Tree, node: int, letters: int, digits: int | None = None) -> list[str]:
    """Write the condition of each child of a node in at most this number of letters.

    Lists of categories are as long as the width allows; a text that is still too long is cut.
    """
    tests = conditions(tree, node, None, digits)
    n_categories = len(tree.schema.features[tree.skeleton.feature[node]].categories)
    # A category takes three letters or more, with its comma and space.
    for limit in range(min(letters // 3, n_categories), 0, -1):
        if all(len(test) <= letters for test in tests):
            return tests
        shorter = conditions(tree, node, limit, digits)
        tests = [test if len(test) <= letters else short for test, short in zip(tests, shorter, strict=True)]
    return [test if len(test) <= letters else _cut_short(test, letters) for test in tests]


def _cut_short(test: str, letters: int) -> str:
    """Cut the last category that is listed, or, if that is not enough, also the number of those left out."""
    listed, comma, rest = test.rpartition(", … ")
    if not comma:
        return shortened(test, letters)
    room = letters - len(comma + rest)
    if room >= len("in {abc…"):
        return shortened(listed, room) + comma + rest
    return f"{listed[: letters - 1]}…"


def threshold_digits(tree: Tree, digits: int = 4) -> list[int]:
    """Count for every feature the digits that keep its thresholds distinct: `digits`, or a few more."""
    skeleton = tree.skeleton
    found = []
    for feature in range(tree.schema.n_features):
        values = np.unique(skeleton.threshold[skeleton.feature == feature]).tolist()
        enough = (
            n for n in range(digits, _MAX_DIGITS) if len({number_text(v, n) for v in values}) == len(values)
        )
        found.append(next(enough, _MAX_DIGITS))
    return found


def prediction_text(
    tree: Tree, node: int, decimals: int = 3, max_letters: int | None = None, code: int | None = None
) -> tuple[str, str]:
    """Write the prediction of a node: the class it decides for and its probability, or an empty text and the mean.

    With `code` the probability is that of the class with this code (`probability_head`). Pictures have fewer than three
    decimals.
    """
    if tree.is_regression:
        return "", mean_text(tree.belief.item(node, 0), decimals)
    decided = tree.decided.item(node)
    name = label_text(tree.schema.classes[decided])
    probability = probability_text(tree.belief.item(node, decided if code is None else code), decimals)
    return name if max_letters is None else shortened(name, max_letters), probability


def prediction_line(
    tree: Tree, node: int, decimals: int = 3, max_letters: int | None = None, code: int | None = None
) -> str:
    """Write the prediction of a node in one line, as `prediction_text`: "bad 0.7", or "good, P(bad) 0.4"."""
    name, value = prediction_text(tree, node, decimals, max_letters, code)
    if code is None:
        return f"{name} {value}".strip()
    return f"{name}, {probability_head(tree.schema.classes[code], max_letters)} {value}"


def scale_text(tree: Tree) -> str:
    """Write the range that the bars of a numeric target cover."""
    low, high = tree.belief.min().item(), tree.belief.max().item()
    return f"mean, from {mean_text(low, 2)} to {mean_text(high, 2)}"


def interval_text(
    tree: Tree, low: Floats, high: Floats, node: int, decimals: int = 3, code: int | None = None
) -> str:
    """Write the interval of a node's prediction, or of the class with this code, from the bounds of the node."""
    code = tree.decided.item(node) if code is None else code
    write = mean_text if tree.is_regression else probability_text
    return " to ".join(write(bound.item(code), decimals) for bound in (low, high))


def evidence_text(tree: Tree, node: int, classes: list[str]) -> str:
    """Write the evidence of a node: classes, most frequent first, or the number of rows and their deviation."""
    counts, unit = tree.evidence[node], tree.unit.item(0)
    if tree.is_regression:
        deviation = variances(tree.evidence[node : node + 1], tree.unit).item() ** 0.5
        amount = _amount(counts[0], unit)
        found = (
            f"{amount} row{'s' * (amount != '1')}, deviation {deviation:.4g}" if counts[0] else "no evidence"
        )
        return ", ".join([found, *quantile_texts(tree, node)])
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].tolist()
    if not order:
        return "no evidence"
    listed = [f"{_amount(counts[k], unit)} {classes[k]}" for k in order[:_MAX_CLASSES]]
    rest = order[_MAX_CLASSES:]
    if rest:
        listed.append(f"{_amount(counts[rest].sum(), unit)} of {len(rest)} more classes")
    return ", ".join(listed)


def range_text(low: float, median: float, high: float, level: float) -> str:
    """Write the range of single rows and their median."""
    half = f"half of them {mean_text(median)} or less"
    if low == -inf:
        return f"too few rows for a range of {100 * level:g} %, {half}"
    return f"{100 * level:g} % of such rows between {mean_text(low)} and {mean_text(high)}, {half}"


def quantile_texts(tree: Tree, node: int) -> list[str]:
    """Write the quantiles of a node, if its tree has any: "10 % 8", "50 % 10.2"."""
    values = zip(tree.schema.quantiles, tree.belief[node, 1:].tolist(), strict=False)
    return [f"{100 * level:.10g} % {mean_text(value, 2)}" for level, value in values]


def _amount(steps: np.int64, unit: float) -> str:
    return str(steps) if unit == 1 else f"{steps * unit:.6g}"


def wrapped(items: Iterable[object], width: int = 100, indent: str = "    ") -> str:
    """Write the items of a table in source code, with commas, in lines of about this width."""
    lines, line = [], indent
    for item in items:
        cell = f"{item}, "
        if len(line) + len(cell) > width + 1 and line != indent:
            lines.append(line.rstrip())
            line = indent
        line += cell
    return "\n".join([*lines, line.rstrip()])


def rule_text(tree: Tree, node: int) -> str:
    """Write the conditions on the path to a node, in one line."""
    return _all_of(merge_conditions(path_conditions(tree, node)))


def rule_texts(tree: Tree, nodes: Sequence[int]) -> list[str]:
    """Write the conditions on the paths to several nodes, as `rule_text` does, in one pass over the tree."""
    texts = dict(rules_in_order(tree, set(nodes)))
    return [texts[node] for node in nodes]


def rules_in_order(tree: Tree, nodes: Container[int]) -> Iterator[tuple[int, str]]:
    """Yield each of these nodes with its conditions, as `rule_text`; depth first, from left to right."""
    for node, conditions in merged_path_conditions(tree):
        if node in nodes:
            yield node, _all_of(conditions)


def _all_of(conditions: Iterable[Condition]) -> str:
    return " and ".join(map(str, conditions)) or "every row"


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
