"""Sizes on the page of a drawn tree, in points, and the text at each node."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hornbeam.export.wording import conditions_within, feature_name, pluralise, shortened, threshold_digits
from hornbeam.plots.canvas import text_width
from hornbeam.tree import Tree
from hornbeam.typing import Bools, Floats

__all__ = ["SMALLEST_FONT", "NodeText", "Page", "lengthen_texts", "node_texts"]

SMALLEST_FONT = 6.5  # of a test
_MAX_HEIGHT = 1700.0  # of a new figure
_MAX_PITCH, _DENSE_PITCH = 26.0, 12.5  # from line to line; below the second some texts have no room
_ROW_COUNT_PITCH = 15.0  # from this pitch on, inner nodes have their number of rows
_LETTER_HEIGHT = 1.17  # as a part of the font size
_REST = 80.0  # for legend, heads and caption
_TERM = 10.0  # height of each term of a leaf


@dataclass(frozen=True, slots=True)
class Page:
    """Sizes of lines, letters and bars.

    `pitch` is the distance from line to line in points; `shows_rows`: inner nodes have their number of rows.
    """

    pitch: float
    font: float
    shows_rows: bool

    @classmethod
    def of(cls, n_lines: int, height: float | None = None, n_terms: int = 0) -> Page:
        """Choose sizes for this number of lines with room for terms, in a new figure or in a given height."""
        terms = n_terms * _TERM
        if height is not None:
            pitch = min(max(_MAX_PITCH, terms), max(height - _REST, 1.0) / n_lines)
        else:
            least = max(_DENSE_PITCH, terms, 380 / n_lines)
            pitch = min(max(_MAX_PITCH, terms), least, _MAX_HEIGHT / n_lines)
        return cls(pitch, min(9.0, max(SMALLEST_FONT, 0.52 * pitch)), pitch >= _ROW_COUNT_PITCH)

    @property
    def dense(self) -> bool:
        """Whether lines are too close for all texts."""
        return self.pitch < _DENSE_PITCH

    def has_room(self, n_terms: int) -> bool:
        """Whether a line is high enough for this number of terms."""
        return self.pitch >= n_terms * _TERM

    @property
    def above(self) -> float:
        """Height of a test over a branch, in lines."""
        return (_LETTER_HEIGHT * self.font + 0.5 + self.widest_branch / 2) / self.pitch

    @property
    def below(self) -> float:
        """Height of a feature's name under a branch, in lines."""
        return (_LETTER_HEIGHT * self.font + 1.0) / self.pitch

    @property
    def thickness(self) -> float:
        """Height of a bar."""
        return min(0.5 * self.pitch, self.font) if self.pitch > 4 else self.pitch

    @property
    def widest_branch(self) -> float:
        """Width of a branch that all rows take."""
        return max(3.0, min(0.28 * self.pitch, 7.0))

    @property
    def small(self) -> float:
        """Size of small letters."""
        return self.font - 1.5

    @property
    def node_bar(self) -> float:
        """Width of the bar on a node."""
        return 1.8 * self.font

    @property
    def bend(self) -> float:
        """Distance from the text of one column to that of the next: the bar of a node, and the curve."""
        return self.node_bar + 2.0 * self.font


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
