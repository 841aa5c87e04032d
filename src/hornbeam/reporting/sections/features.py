"""The features: importance, and values among the test rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.explain import importance
from hornbeam.export.wording import feature_name, label_text, number_text
from hornbeam.reporting.grid import Grid
from hornbeam.reporting.markup import Markup, element
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.tree import section
from hornbeam.reporting.summary import shown
from hornbeam.tree import Tree
from hornbeam.tree.skeleton import EVERY_CHILD

__all__ = ["feature_grid", "feature_section"]

_MOST_FEATURES, _MOST_CATEGORIES, _DIGITS = 300, 3, 4


def feature_section(reported: ReportedModel, scored: ScoredRows | None) -> Markup:
    """The features with importance, and their ranges and missing values among the test rows."""
    data = (
        " Ranges and missing values are those of the test rows; values are rounded to four digits."
        if scored is not None
        else " No test rows were given, so there are no ranges and no counts of missing values."
    )
    text = (
        "Importance is the feature’s share of what all tests of the tree gained on the training rows. It favours "
        f"features with many values.{data}"
    )
    left_out = reported.tree.schema.n_features - _MOST_FEATURES
    note = (
        element("p", f"{left_out:,} further features are not listed.", class_="note") if left_out > 0 else ""
    )
    return section(
        "features",
        "Features",
        element("p", text),
        feature_grid(reported.tree, None if scored is None else scored.table).html(),
        note,
        wide=True,
    )


def feature_grid(tree: Tree, table: Table | None) -> Grid:
    """Tabulate the features, the most important first.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0.0, 5], [1.0, 5]], ["no", "yes"]).tree_
    >>> print(feature_grid(tree, Table.read([[0.25, np.nan], [1.0, 5.0]], schema=tree.schema)).markdown())
    | Feature | Kind | Importance | Tests | When missing | Values | Missing |
    |---|---|--:|--:|---|---|--:|
    | x0 | numeric | 1.000 | 1 | stop | 0.25 to 1, median 0.625 | 0 |
    | x1 | numeric | 0.000 | 0 | not tested | 5 to 5, median 5 | 1 (50.0 %) |
    """
    weight, skeleton = importance(tree), tree.skeleton
    tests = np.bincount(skeleton.feature[skeleton.feature >= 0], minlength=tree.schema.n_features)
    order = np.lexsort((np.arange(len(weight)), -weight))[:_MOST_FEATURES].tolist()
    terms = _leaves_with_terms(tree)
    sloped = len(tree.slopes) > 0
    rows = [
        [
            shown(feature_name(tree.schema.features[at].name)),
            tree.schema.features[at].kind.value,
            f"{weight[at]:.3f}",
            f"{tests[at]:,}",
            _when_missing(tree, at),
            *([] if table is None else _values(table, at)),
            *([f"{terms[at]:,}"] if sloped else []),
        ]
        for at in order
    ]
    heads = ["Feature", "Kind", "Importance", "Tests", "When missing"]
    more = [*([] if table is None else ["Values", "Missing"]), *["Leaves with terms"] * sloped]
    title = "Features" if table is None else f"Features, and their values in {table.n_rows:,} test rows"
    return Grid(title, [*heads, *more], rows, text=(1, 4) if table is None else (1, 4, 5))


def _leaves_with_terms(tree: Tree) -> NDArray[np.intp]:
    """Count for each feature the leaves in which it has terms."""
    pairs = np.unique(np.stack([tree.slopes.node, tree.slopes.feature]), axis=1)
    return np.bincount(pairs[1], minlength=tree.schema.n_features)


def _values(table: Table, at: int) -> list[str]:
    """The range of a feature, or its most frequent categories, and its missing values."""
    feature, column = table.schema.features[at], table.columns[at]
    if feature.kind is Kind.NOMINAL:
        known, missing, unseen = column[column >= 0], int((column == -1).sum()), int((column == -2).sum())
        words = _frequent(feature.categories, known, table.n_rows)
        words += f"; {unseen:,} rows with a value not in the training rows" if unseen else ""
    else:
        known = column[~np.isnan(column)]
        missing = len(column) - len(known)
        names = feature.categories
        ends = [float(known.min()), float(known.max()), float(np.median(known))] if len(known) else []
        low, high, middle = (
            (number_text(end, _DIGITS) if feature.kind is Kind.NUMERIC else label_text(names[int(end)])) for end in ends
        ) if ends else ("", "", "")  # fmt: skip
        words = f"{low} to {high}, median {middle}" if ends else "none"
    return [words, f"{missing:,}" + (f" ({100 * missing / table.n_rows:.1f} %)" if missing else "")]


def _frequent(categories: tuple[object, ...], known: np.ndarray, n_rows: int) -> str:
    counts = np.bincount(known, minlength=len(categories))
    order = [k for k in np.argsort(-counts, kind="stable").tolist() if counts[k]]
    words = [
        f"{shown(label_text(categories[k]))} {100 * counts[k] / n_rows:.0f} %"
        for k in order[:_MOST_CATEGORIES]
    ]
    rest = len(order) - _MOST_CATEGORIES
    return ", ".join(words) + (f" and {rest:,} more" if rest > 0 else "") if words else "none"


def _when_missing(tree: Tree, feature: int) -> str:
    """The branch that missing values of a feature take."""
    slots = tree.skeleton.missing_slot[tree.skeleton.feature == feature]
    predicted = [
        words
        for words, some in (
            ("take a branch", (slots >= 0).any()),
            ("take every branch in part", (slots == EVERY_CHILD).any()),
            ("stop", (slots == -1).any()),
            ("change nothing in leaves", (tree.slopes.feature == feature).any()),
        )
        if some
    ]
    return " or ".join(predicted) or "not tested"
