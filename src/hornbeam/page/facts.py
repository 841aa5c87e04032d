"""The last section: the data and the settings, word for word, for those who must make the tree again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import hornbeam
from hornbeam.data.schema import Feature, Kind
from hornbeam.export.answers import mean
from hornbeam.export.words import feature_name, probability, shortened, word
from hornbeam.page.markup import Markup, element
from hornbeam.page.prose import shown
from hornbeam.page.sections import section
from hornbeam.page.subject import Subject
from hornbeam.tree import Tree
from hornbeam.tree.base_rate import base_rate
from hornbeam.tree.mean import variances
from hornbeam.tree.tree import unsmoothed

__all__ = ["fact_section"]

_MOST_FEATURES, _MOST_CATEGORIES, _MOST_CLASSES, _MOST_LETTERS = 300, 12, 60, 400


def fact_section(subject: Subject) -> Markup:
    """Write down classes, features, parameters, the steps that made the tree, and its digest."""
    tree = subject.tree
    return section(
        "facts",
        "Data and settings",
        element("h3", "Target" if tree.is_measured else "Classes"),
        _pairs(_numbers(tree)) if tree.is_measured else _classes(tree),
        element("h3", "Features"),
        _features(tree),
        element("h3", f"Settings of the {subject.kind}"),
        _pairs({name: _said(value) for name, value in subject.settings.items()})
        if subject.settings
        else element("p", "A tree on its own has none.", class_="note"),
        element("h3", "How the tree was made"),
        _history(tree),
        element("h3", "Identity"),
        _pairs(_identity(tree)),
        element("h3", "What is in this file"),
        element("p", _PRIVACY_OF_NUMBERS if tree.is_measured else _PRIVACY),
    )


_PRIVACY = (
    "The tree with its counts, and of the test rows how many of each class stopped at each node and at each "
    "probability. No row of training or test data is in this file, it loads nothing and sends nothing. The names of "
    "features, categories and classes are in it, and so are thresholds, which lie halfway between values that "
    "occurred; a leaf of very few rows may say something about the people behind them."
)


_PRIVACY_OF_NUMBERS = (
    "The tree with the rows and means of its nodes, and of the test rows how many stopped at each node and their mean. "
    "No row of training or test data is in this file, it loads nothing and sends nothing; but the mean of a leaf that "
    "one row reached is the number of that row. The names of features and categories are in it, and so are thresholds, "
    "which lie halfway between values that occurred."
)


def _numbers(tree: Tree) -> dict[str, str]:
    spread = float(variances(tree.evidence[:1], tree.unit)[0]) ** 0.5
    return {
        "Mean": mean(float(unsmoothed(tree)[0, 0])),
        "Standard deviation": mean(spread),
        "Weight of the training rows": f"{tree.weight.item(0) * tree.unit[0]:,.6g}",
    }


def _classes(tree: Tree) -> Markup:
    classes, rates, counts = tree.schema.classes, base_rate(tree), tree.evidence[0] * tree.unit
    rows = [
        (shown(word(label)), f"{counts[k]:,.6g}", probability(rates[k]))
        for k, label in enumerate(classes[:_MOST_CLASSES])
    ]
    return _table(("Class", "Training rows", "Share"), rows, len(classes), "classes")


def _features(tree: Tree) -> Markup:
    schema, skeleton = tree.schema, tree.skeleton
    tests = np.bincount(skeleton.feature[skeleton.feature >= 0], minlength=schema.n_features).tolist()
    rows = [
        (
            shown(feature_name(feature.name)),
            feature.kind.value,
            _values(feature),
            _missing(tree, at),
            tests[at],
        )
        for at, feature in enumerate(schema.features[:_MOST_FEATURES])
    ]
    heads = ("Feature", "Kind", "Values", "Missing values", "Tests")
    return _table(heads, rows, schema.n_features, "features")


def _values(feature: Feature) -> str:
    if feature.kind is Kind.NUMERIC:
        return "numbers"
    words = [shown(word(category)) for category in feature.categories]
    rest = len(words) - _MOST_CATEGORIES
    return ", ".join(words[:_MOST_CATEGORIES]) + (f" and {rest:,} more" if rest > 0 else "")


def _missing(tree: Tree, feature: int) -> str:
    """What the tests of a feature do where it is missing."""
    slots = tree.skeleton.missing_slot[tree.skeleton.feature == feature]
    said = [
        words
        for words, some in (
            ("take a branch", (slots >= 0).any()),
            ("take every branch in part", (slots == -2).any()),
            ("stop", (slots == -1).any()),
        )
        if some
    ]
    return " or ".join(said) or "not asked for"


def _history(tree: Tree) -> Markup:
    steps = [
        element(
            "li",
            element("b", step.name),
            " ",
            ", ".join(f"{name} = {_said(value)}" for name, value in step.parameters),
        )
        for step in tree.history
    ]
    return element("ol", *steps, class_="steps") if steps else element("p", "Not recorded.", class_="note")


def _identity(tree: Tree) -> dict[str, str]:
    return {
        "Digest": tree.digest,
        "Nodes": f"{tree.n_nodes:,}, of them {tree.n_leaves:,} leaves, depth {tree.depth}",
        "Hornbeam": hornbeam.__version__,
    }


def _said(value: Any) -> str:
    """A setting on one line."""
    said = value if isinstance(value, str) else repr(value)
    said = "".join(c if c.isprintable() else " " for c in said)
    return shortened(" ".join(said.split()), _MOST_LETTERS)


def _pairs(pairs: dict[str, str]) -> Markup:
    found = [element("div", element("dt", name), element("dd", said)) for name, said in pairs.items()]
    return element("dl", *found, class_="pairs")


def _table(heads: tuple[str, ...], rows: Sequence[tuple[object, ...]], total: int, things: str) -> Markup:
    body = [
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:]))
        for row in rows
    ]
    table = element(
        "table",
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *body),
        class_="facts",
    )
    left_out = total - len(rows)
    note = [element("p", f"{left_out:,} further {things} are not listed.", class_="note")] if left_out else []
    frame = element("div", table, class_="scroll", tabindex=0, role="region", aria_label=f"Table of {things}")
    return element("div", frame, *note)
