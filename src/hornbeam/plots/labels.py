"""What is said at the nodes of a drawn tree, in as few letters as there is room for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hornbeam.export.words import conditions, digits_apart, feature_name, several, shortened
from hornbeam.plots.canvas import text_width
from hornbeam.plots.page import Page
from hornbeam.tree import Tree
from hornbeam.typing import Bools

__all__ = ["Label", "labels_of"]


@dataclass(frozen=True, slots=True)
class Label:
    """What is said at a node: the test that leads there, its rows, and the name of the feature it asks for."""

    test: str = ""
    rows: str = ""
    name: str = ""

    def width(self, page: Page) -> float:
        """Points that the words take."""
        over = text_width(self.test, page.font) + self.indent(page) + text_width(self.rows, page.small)
        wide = max(over if self.rows else text_width(self.test, page.font), text_width(self.name, page.font))
        return wide + 0.6 * page.font if wide else 0.0

    def indent(self, page: Page) -> float:
        """Points from the end of the test to the rows."""
        return 0.7 * page.font


def labels_of(tree: Tree, roomy: Bools, letters: int, page: Page) -> list[Label]:
    """Say what leads to each node, and what it asks, in so many letters; all rows come to the root.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([["red"], ["blue"], ["green"]], [1, 0, 1]).tree_
    >>> [label.test for label in labels_of(tree, np.ones(3, bool), 28, Page.of(2))]
    ['3 rows', '= blue', 'in {green, red}']
    """
    skeleton, digits = tree.skeleton, digits_apart(tree)
    labels = [
        Label(several(tree.rows.item(0), "row")) if roomy[0] else Label(),
        *[Label()] * (tree.n_nodes - 1),
    ]
    for node in np.flatnonzero(skeleton.n_children).tolist():
        feature, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        if roomy[node]:
            rows = several(tree.rows.item(node), "row") if node and page.counted else ""
            name = shortened(feature_name(tree.schema.features[feature].name), letters)
            labels[node] = replace(labels[node], rows=rows, name=name)
        children = first + np.flatnonzero(roomy[first : first + skeleton.n_children[node]])
        if len(children):
            tests = _short_tests(tree, node, digits[feature], letters)
            for child in children.tolist():
                labels[child] = Label(tests[child - first])
    return labels


def _short_tests(tree: Tree, node: int, digits: int, letters: int) -> list[str]:
    """Say what leads to each child, with as many categories of a set as there is room for."""
    told = conditions(tree, node, 8, digits)
    for most in (5, 4, 3, 2, 1):
        if all(len(test) <= letters for test in told):
            break
        fewer = conditions(tree, node, most, digits)
        told = [test if len(test) <= letters else less for test, less in zip(told, fewer, strict=True)]
    return [test if len(test) <= letters else _cut_short(test, letters) for test in told]


def _cut_short(test: str, letters: int) -> str:
    """Cut the category that is named, and if that is not enough, the number of those that are not."""
    named, comma, others = test.rpartition(", … ")
    if not comma:
        return shortened(test, letters)
    kept = letters - len(comma + others)
    if kept >= len("in {abc…"):
        return shortened(named, kept) + comma + others
    return f"{named[: letters - 1]}…"
