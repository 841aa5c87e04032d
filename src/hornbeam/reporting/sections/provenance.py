"""Provenance: classes, settings, and the steps that made the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import hornbeam
from hornbeam.data.schema import Feature
from hornbeam.editing.approval_log import edit_grid
from hornbeam.reporting.markup import Markup, element
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.sections.tree import section
from hornbeam.reporting.summary import shown
from hornbeam.tree.edit import EDIT
from hornbeam.tree.evidence.base_rate import base_rate
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.tree import Tree, unsmoothed
from hornbeam.tree.words import feature_name, label_text, mean_text, probability_text, shortened
from hornbeam.tuning.size_path import STEP

_MOST_FEATURES, _MOST_CATEGORIES, _MOST_CLASSES, _MOST_LETTERS = 300, 60, 60, 400
_MOST_EDITS = 300


def provenance_section(reported: ReportedModel) -> Markup:
    """List classes, features, parameters, the steps that made the tree, and its digest."""
    tree = reported.tree
    return section(
        "facts",
        "Data and settings",
        element("h3", "Target" if tree.is_regression else "Classes"),
        _pairs(_numbers(tree)) if tree.is_regression else _classes(tree),
        element("h3", "Categories"),
        _categories(tree),
        element("h3", f"Settings of the {reported.kind}"),
        _pairs({name: setting_text(value) for name, value in reported.settings.items()})
        if reported.settings
        else element("p", "This is a Tree without an estimator, so there are no settings.", class_="note"),
        element("h3", "How the tree was made"),
        _history(tree),
        *_edits(tree),
        element("h3", "Identity"),
        _pairs(_identity(tree)),
        element("h3", "What is in this file"),
        element("p", _REGRESSION_PRIVACY if tree.is_regression else _PRIVACY),
    )


_PRIVACY = (
    "This file holds the tree with its class counts; for the test rows it holds counts of each class at each node, "
    "at each probability and in each group, and the smallest, the middle and the largest value of each feature, "
    "rounded to four digits. It holds no whole row of the training or test data, and it neither loads nor sends "
    "anything. Names of features, categories and classes are in it. Thresholds lie between values of the training "
    "rows. A leaf with very few rows may say something about the people behind them."
)


_REGRESSION_PRIVACY = (
    "This file holds the tree with the row counts and means of its nodes; for the test rows it holds counts and "
    "means of each node and group, and the smallest, the middle and the largest value of each feature, rounded to "
    "four digits. It holds no whole row of the training or test data, and it neither loads nor sends anything. But "
    "the mean of a leaf that one row reached is the target of that row. Names of features and categories are in it, "
    "and thresholds, which lie between values of the training rows."
)


def _numbers(tree: Tree) -> dict[str, str]:
    spread = float(variances(tree.evidence[:1], tree.unit)[0]) ** 0.5
    return {
        "Mean": mean_text(float(unsmoothed(tree)[0, 0])),
        "Standard deviation": mean_text(spread),
        "Weight of the training rows": f"{tree.weight.item(0) * tree.unit[0]:,.6g}",
    }


def _classes(tree: Tree) -> Markup:
    classes, rates, counts = tree.schema.classes, base_rate(tree), tree.evidence[0] * tree.unit
    rows = [
        (shown(label_text(label)), f"{counts[k]:,.6g}", probability_text(rates[k]))
        for k, label in enumerate(classes[:_MOST_CLASSES])
    ]
    return _table(("Class", "Training rows", "Share"), rows, len(classes), "classes")


def _categories(tree: Tree) -> Markup:
    """The categories of each nominal feature."""
    features = [feature for feature in tree.schema.features if not feature.is_numeric]
    if not features:
        return element("p", "All features are numeric.", class_="note")
    rows = [(shown(feature_name(feature.name)), _values(feature)) for feature in features[:_MOST_FEATURES]]
    return _table(("Feature", "Categories of the training rows"), rows, len(features), "features")


def _values(feature: Feature) -> str:
    words = [shown(label_text(category)) for category in feature.categories]
    rest = len(words) - _MOST_CATEGORIES
    return ", ".join(words[:_MOST_CATEGORIES]) + (f" and {rest:,} more" if rest > 0 else "")


def _history(tree: Tree) -> Markup:
    steps = [
        element(
            "li",
            element("b", step.name),
            " ",
            ", ".join(f"{name} = {setting_text(value)}" for name, value in step.parameters),
        )
        for step in tree.history
        if step.name not in (STEP, EDIT)  # have a section of their own
    ]
    return element("ol", *steps, class_="steps") if steps else element("p", "Not recorded.", class_="note")


def _edits(tree: Tree) -> list[Markup]:
    """The edits by hand, if there are any."""
    grid = edit_grid(tree)
    if not grid.rows:
        return []
    return [
        element("h3", grid.caption),
        _table(
            grid.header,
            [[*map(setting_text, row)] for row in grid.rows[:_MOST_EDITS]],
            len(grid.rows),
            "edits",
        ),
    ]


def _identity(tree: Tree) -> dict[str, str]:
    return {
        "Digest": tree.digest,
        "Nodes": f"{tree.n_nodes:,}, of them {tree.n_leaves:,} leaves, depth {tree.depth}",
        "Hornbeam": hornbeam.__version__,
    }


def setting_text(value: Any) -> str:
    """Write a setting on one line."""
    predicted = value if isinstance(value, str) else repr(value)
    predicted = "".join(c if c.isprintable() else " " for c in predicted)
    return shortened(" ".join(predicted.split()), _MOST_LETTERS)


def _pairs(pairs: dict[str, str]) -> Markup:
    found = [
        element("div", element("dt", name), element("dd", predicted)) for name, predicted in pairs.items()
    ]
    return element("dl", *found, class_="pairs")


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]], total: int, things: str) -> Markup:
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
