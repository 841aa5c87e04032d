"""What is said at the nodes of a drawn tree, in as few letters as there is room for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hornbeam.export.wording import conditions_within, feature_name, pluralise, shortened, threshold_digits
from hornbeam.plots.canvas import text_width
from hornbeam.plots.tree_figure.page import Page
from hornbeam.tree import Tree
from hornbeam.typing import Bools, Floats

__all__ = ["Label", "fuller_labels", "labels_of"]


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
    skeleton, digits = tree.skeleton, threshold_digits(tree)
    labels = [
        Label(pluralise(tree.rows.item(0), "row")) if roomy[0] else Label(),
        *[Label()] * (tree.n_nodes - 1),
    ]
    for node in np.flatnonzero(skeleton.n_children).tolist():
        feature, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        if roomy[node]:
            rows = pluralise(tree.rows.item(node), "row") if node and page.counted else ""
            name = shortened(feature_name(tree.schema.features[feature].name), letters)
            labels[node] = replace(labels[node], rows=rows, name=name)
        children = first + np.flatnonzero(roomy[first : first + skeleton.n_children[node]])
        if len(children):
            tests = conditions_within(tree, node, letters, digits[feature])
            for child in children.tolist():
                labels[child] = Label(tests[child - first])
    return labels


def fuller_labels(tree: Tree, labels: list[Label], room: Floats, page: Page) -> list[Label]:
    """Name more categories in the tests that were cut, where nodes have so many points of room."""
    found, digits = list(labels), threshold_digits(tree)
    for node in [node for node, label in enumerate(labels) if "…" in label.test]:
        parent = tree.skeleton.parent.item(node)
        slot = node - tree.skeleton.first_child.item(parent)
        # Few letters are narrower than a third of their size.
        for letters in range(int(3 * room[node] / page.font), len(labels[node].test), -1):
            test = conditions_within(tree, parent, letters, digits[tree.skeleton.feature[parent]])[slot]
            fuller = replace(labels[node], test=test)
            if fuller.width(page) <= room[node]:
                found[node] = fuller
                break
    return found
