"""The text at the nodes of a drawn tree, cut to the room that it has."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hornbeam.export.wording import conditions_within, feature_name, pluralise, shortened, threshold_digits
from hornbeam.plots.canvas import text_width
from hornbeam.plots.tree_figure.page import Page
from hornbeam.tree import Tree
from hornbeam.typing import Bools, Floats

__all__ = ["NodeText", "lengthen_texts", "node_texts"]


@dataclass(frozen=True, slots=True)
class NodeText:
    """The text at a node: its condition, its number of rows, and the name of the feature that it tests."""

    test: str = ""
    rows: str = ""
    name: str = ""

    def width(self, page: Page) -> float:
        """Width of the text in points."""
        over = text_width(self.test, page.font) + self.indent(page) + text_width(self.rows, page.small)
        wide = max(over if self.rows else text_width(self.test, page.font), text_width(self.name, page.font))
        return wide + 0.6 * page.font if wide else 0.0

    def indent(self, page: Page) -> float:
        """Distance from the test to the number of rows, in points."""
        return 0.7 * page.font


def node_texts(tree: Tree, roomy: Bools, letters: int, page: Page) -> list[NodeText]:
    """Write the text of each node in at most `letters` letters; the root has the number of all rows."""
    skeleton, digits = tree.skeleton, threshold_digits(tree)
    texts = [
        NodeText(pluralise(tree.rows.item(0), "row")) if roomy[0] else NodeText(),
        *[NodeText()] * (tree.n_nodes - 1),
    ]
    for node in np.flatnonzero(skeleton.n_children).tolist():
        feature, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        if roomy[node]:
            rows = pluralise(tree.rows.item(node), "row") if node and page.shows_rows else ""
            name = shortened(feature_name(tree.schema.features[feature].name), letters)
            texts[node] = replace(texts[node], rows=rows, name=name)
        children = first + np.flatnonzero(roomy[first : first + skeleton.n_children[node]])
        if len(children):
            tests = conditions_within(tree, node, letters, digits[feature])
            for child in children.tolist():
                texts[child] = NodeText(tests[child - first])
    return texts


def lengthen_texts(tree: Tree, texts: list[NodeText], room: Floats, page: Page) -> list[NodeText]:
    """List more categories in tests that were cut, as far as the room of a node, in points, allows."""
    found, digits = list(texts), threshold_digits(tree)
    for node in [node for node, text in enumerate(texts) if "…" in text.test]:
        parent = tree.skeleton.parent.item(node)
        slot = node - tree.skeleton.first_child.item(parent)
        # Most letters are wider than a third of the font size.
        for letters in range(int(3 * room[node] / page.font), len(texts[node].test), -1):
            test = conditions_within(tree, parent, letters, digits[tree.skeleton.feature[parent]])[slot]
            longer = replace(texts[node], test=test)
            if longer.width(page) <= room[node]:
                found[node] = longer
                break
    return found
