"""The features: importance, and values among the test rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature
from hornbeam.grid import Grid
from hornbeam.reporting.markup import Markup, element, framed
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.tree import section
from hornbeam.reporting.summary import shown
from hornbeam.tree.importance import importance
from hornbeam.tree.skeleton import EVERY_CHILD
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import feature_name, label_text, number_text, pluralise

NO_MEDIANS = "There are no medians, because the rows are not in memory."

_MOST_FEATURES, _MOST_NAMED, _MOST_CATEGORIES, _DIGITS = 300, 30, 3, 4


def feature_section(reported: ReportedModel, scored: ScoredRows | None) -> Markup:
    """The features with importance, and their ranges and missing values among the test rows."""
    data = (
        " Ranges and missing values are those of the test rows; values are rounded to four digits."
        + ("" if scored.table is not None else f" {NO_MEDIANS}")
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
        framed(feature_grid(reported.tree, scored)),
        note,
        _unvaried(reported.tree, scored),
        wide=True,
    )


def _unvaried(tree: Tree, scored: ScoredRows | None) -> Markup | str:
    """Name the features with one value or none in the test rows."""
    if scored is None or scored.n_rows < 2:
        return ""
    names = [feature_name(name) for at, name in enumerate(tree.schema.names) if not scored.values.varies(at)]
    if not names:
        return ""
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    listed = ", ".join(map(shown, names[:_MOST_NAMED]))
    return element("p", f"Features with one value or none in the test rows: {listed}{more}.", class_="note")


def feature_grid(tree: Tree, scored: ScoredRows | None) -> Grid:
    """Tabulate the features, the most important first, with their values in the test rows."""
    weight, skeleton = importance(tree), tree.skeleton
    tests = np.bincount(skeleton.feature[skeleton.feature >= 0], minlength=tree.schema.n_features)
    order = np.lexsort((np.arange(len(weight)), -weight))[:_MOST_FEATURES].tolist()
    terms = _nodes_with_terms(tree)
    sloped = len(tree.slopes) > 0
    rows = [
        [
            shown(feature_name(tree.schema.features[at].name)),
            tree.schema.features[at].kind.value,
            f"{weight[at]:.3f}",
            f"{tests[at]:,}",
            _when_missing(tree, at),
            *([] if scored is None else _values(tree.schema.features[at], scored, at)),
            *([f"{terms[at]:,}"] if sloped else []),
        ]
        for at in order
    ]
    heads = ["Feature", "Kind", "Importance", "Tests", "When missing"]
    more = [
        *([] if scored is None else ["Values in test rows", "Missing in test rows"]),
        *["Nodes with terms"] * sloped,
    ]
    title = (
        "Features"
        if scored is None
        else f"Features, and their values in {pluralise(scored.n_rows, 'test row')}"
    )
    return Grid(title, [*heads, *more], rows, "<<>><>" if scored is None else "<<>><<>")


def _nodes_with_terms(tree: Tree) -> NDArray[np.intp]:
    """Count for each feature the nodes in which it has terms."""
    pairs = np.unique(np.stack([tree.slopes.node, tree.slopes.feature]), axis=1)
    return np.bincount(pairs[1], minlength=tree.schema.n_features)


def _values(feature: Feature, scored: ScoredRows, at: int) -> list[str]:
    """The range of a feature, or its most frequent categories, and its missing values."""
    values, n_rows = scored.values, scored.n_rows
    missing = values.missing(at)
    if feature.is_nominal:
        unseen, _, *known = values.counts[at].tolist()
        words = _frequent(feature.categories, np.array(known), n_rows)
        words += f"; {unseen:,} rows with a value not in the training rows" if unseen else ""
    elif missing == n_rows:
        words = "none"
    else:
        words = " to ".join(_value(feature, ends.item(at)) for ends in (values.low, values.high))
        if scored.table is not None:
            words += f", median {_value(feature, float(np.nanmedian(scored.table.columns[at])))}"
    return [words, f"{missing:,}" + (f" ({100 * missing / n_rows:.1f} %)" if missing else "")]


def _value(feature: Feature, value: float) -> str:
    if feature.is_numeric:
        return number_text(value, _DIGITS)
    return label_text(feature.categories[int(value)])


def _frequent(categories: tuple[object, ...], counts: np.ndarray, n_rows: int) -> str:
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
            ("add nothing as a term", (tree.slopes.feature == feature).any()),
        )
        if some
    ]
    return " or ".join(predicted) or "not tested"
