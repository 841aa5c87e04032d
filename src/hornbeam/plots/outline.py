"""A tree as an outline, for axes that are too narrow for a drawing: a line for each node, with its whole condition.

The lines are in the order of a walk down the tree; a child is further to the right than its parent, and its condition
names the feature. Every line has a bar of its probabilities; leaves have the cells of the table at the right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hornbeam.export.people.display_subset import DisplaySubset, display_subset
from hornbeam.export.people.palette import bars
from hornbeam.export.slope_text import scope_text, terms_text
from hornbeam.export.wording import conditions_within, threshold_digits
from hornbeam.plots.canvas import DARK, GREY, PALE, VERBATIM, text_width
from hornbeam.plots.figure_layout import class_legend
from hornbeam.plots.leaf_table import LeafTable, draw_bars
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import depths
from hornbeam.tree.words import feature_name, pluralise, shortened
from hornbeam.typing import Bools, Floats

_FONTS = (8.0, 7.0, 6.5, 6.0)  # of the texts, the largest that fits
_LINE, _MOST_LINE = 1.25, 2.2  # height of the line of a node, in letters: at least, and at most
_NEXT_LINE = 1.2  # of every further line of the node
_INDENT = 1.1  # of a child, in letters
_BAR = 3.2  # width of a bar, in letters
_MOST_LETTERS, _MOST_LINES = 120, 5  # of a condition


@dataclass(frozen=True, slots=True, eq=False)
class OutlineLayout:
    """The lines of an outline and their places, in points from the upper left corner.

    `lines` has the texts of each node, the nodes in the order of the outline; `terms` those of its terms.
    `complete`: no condition is cut, and all lines fit. `bounds` are the intervals of the nodes, drawn on the bars.
    `legend` is as in `FigureLayout`.
    """

    shown: DisplaySubset
    font: float
    pitch: float
    size: tuple[float, float]
    table: LeafTable
    lines: dict[int, list[str]]
    terms: dict[int, list[str]]
    complete: bool
    bounds: tuple[Floats, Floats] | None
    caption: str
    legend: list[list[tuple[str, str, float]]] = field(default_factory=list)

    @property
    def width(self) -> float:
        """Width of the page."""
        return self.size[0]

    @property
    def height(self) -> float:
        """Height of the page."""
        return self.size[1]

    @property
    def top(self) -> float:
        """Top of the first line, below the legend and the heads."""
        return _top(self.legend, self.font)

    @property
    def next_line(self) -> float:
        """Height of the lines of a node after its first."""
        return _NEXT_LINE * self.font

    @property
    def y(self) -> dict[int, float]:
        """The middle of the first line of each node."""
        at, found = self.top, {}
        for node, lines in self.lines.items():
            found[node] = at + self.pitch / 2
            at += self.pitch + (len(lines) + len(self.terms[node]) - 1) * self.next_line
        return found

    def draw(self, ax: Any, passed: Bools) -> tuple[Any, Any, list[Any], list[Any]]:
        """Draw the outline; return the stems, the bars, the texts of the nodes and those of the table."""
        y, tree = self.y, self.shown.tree
        x = np.multiply(depths(tree.skeleton), _INDENT * self.font, dtype=np.float64)
        edges = self._draw_stems(ax, x, y, passed)
        columns = _columns(self.table, self.size[0])
        texts = []
        for node, lines in self.lines.items():
            colour = DARK if passed[node] or not passed.any() else GREY
            indents = [0.0] * len(lines)
            indents[1:] = [_INDENT * self.font] * (len(lines) - 1)
            for at, (line, indent) in enumerate(zip(lines, indents, strict=True)):
                place = x[node] + indent, y[node] + at * self.next_line
                texts.append(self._write(ax, *place, line, color=colour))
            for at, line in enumerate(self.terms[node], len(lines)):
                place = x[node] + _INDENT * self.font, y[node] + at * self.next_line
                texts.append(self._write(ax, *place, line, color=GREY, fontsize=0.9 * self.font))
        leaves = {node: y[node] for node in self.lines if tree.skeleton.is_leaf[node]}
        head = self.top - 0.8 * self.font
        cells = [
            self._write(ax, place, height, cell, ha=side, color=GREY if node < 0 else DARK)
            for node, height in {-1: head, **leaves}.items()
            for cell, (place, side) in zip(_cells(self.table, node), columns[1:], strict=True)
            if cell
        ]
        thickness = min(0.7 * self.pitch, self.font)
        belief, bar_left = bars(tree), columns[0][0]
        inner = ((bar_left, y[node], belief[node], 0.35) for node in self.lines if node not in leaves)
        inner_bars = draw_bars(ax, inner, self.table.bar_width, 0.5 * thickness)
        low, high = (None, None) if self.bounds is None else self.bounds
        replace(self.table, low=low, high=high).draw_leaf_bars(ax, bar_left, leaves, thickness)
        return edges, inner_bars, texts, cells

    def _write(self, ax: Any, x: float, y: float, text: str, **style: Any) -> Any:
        style = {"fontsize": self.font, "va": "center_baseline", "zorder": 4, **style, **VERBATIM}
        return ax.text(x, y, text, **style)

    def _draw_stems(self, ax: Any, x: Floats, y: dict[int, float], passed: Bools) -> Any:
        """Draw a stem from each node to its children, its width in proportion to their rows."""
        from matplotlib.collections import LineCollection

        parent, rows = self.shown.tree.skeleton.parent, self.shown.tree.rows
        children = sorted((node for node in self.lines if node), key=lambda node: bool(passed[node]))
        stems = []
        for node in children:
            left = x[parent[node]] + 0.35 * self.font
            begin = y[parent[node]] + 0.55 * self.font
            stems.append([(left, begin), (left, y[node]), (x[node] - 0.15 * self.font, y[node])])
        widths = [max(0.6, 2.4 * rows.item(node) / max(1, rows.item(0))) for node in children]
        colours = [DARK if passed[node] else PALE for node in children]
        return ax.add_collection(LineCollection(stems, linewidths=widths, colors=colours, zorder=1))


def fit_outline(
    tree: Tree,
    max_leaves: int | None,
    keep: Sequence[int],
    level: float | None,
    size: tuple[float, float],
    code: int | None,
    caption_of: Callable[[DisplaySubset], str],
) -> OutlineLayout:
    """Fit an outline to a page: larger letters and intervals if there is room, else wrapped and at last cut conditions.

    Subtrees with few rows are folded if there are more nodes than lines. `caption_of` writes the caption of what is
    shown.
    """
    (width, height), smallest = size, _FONTS[-1]
    n = tree.n_leaves if max_leaves is None else min(max_leaves, tree.n_leaves)
    n = min(n, max(2, int(height / (_LINE * smallest))))
    above = _top(class_legend(tree, smallest, width), smallest)
    while True:
        shown = display_subset(tree, n, keep=keep[:-1])
        caption = wrapped_to(caption_of(shown), width, smallest)
        room = height - above - _foot(caption, smallest)
        if n <= 2 or shown.tree.n_nodes * _LINE * smallest <= room:
            break
        n -= 1
    found = None
    bounds = None if level is None else interval(tree, level, shown.node)
    for font, has_interval, wraps in _candidates(bounds is not None):
        low, high = bounds if has_interval and bounds is not None else (None, None)
        table = LeafTable(shown, font, low, high, level if has_interval else None, code, bar_letters=_BAR)
        room = _columns(table, width)[0][0] - font
        legend = class_legend(tree, font, width)
        lines = {node: _text(shown.tree, node, room, font, wraps) for node in _walk(shown.tree)}
        terms = {node: _terms(shown.tree, node, width, font, code) for node in lines}
        caption = wrapped_to(caption_of(shown), width, font)
        free = height - _top(legend, font) - _foot(caption, font)
        pitch = _pitch(lines, terms, free, font)
        if pitch < _LINE * font and any(terms.values()):
            terms = {node: [] for node in lines}
            caption = wrapped_to(f"{caption_of(shown)}; terms are left out", width, font)
            free = height - _top(legend, font) - _foot(caption, font)
            pitch = _pitch(lines, terms, free, font)
        complete = pitch >= _LINE * font and not any(
            "…" in line for texts in lines.values() for line in texts
        )
        found = OutlineLayout(
            shown, font, pitch, size, table, lines, terms, complete, bounds, caption, legend
        )
        if complete:
            break
    assert found is not None
    return found


def wrapped_to(text: str, width: float, font: float) -> str:
    """Break a text into lines of at most a width in points."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, font) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def _candidates(has_interval: bool) -> Iterator[tuple[float, bool, bool]]:
    """List letters, whether there are intervals, and whether conditions wrap; the best first."""
    for wraps in (False, True):
        for with_interval in (True, False)[0 if has_interval else 1 :]:
            yield from ((font, with_interval, wraps) for font in _FONTS[:-1])
    yield from ((_FONTS[-1], False, wraps) for wraps in (True, False))


def _top(legend: list[Any], font: float) -> float:
    return (1.8 * len(legend) + 1.8) * font


def _foot(caption: str, font: float) -> float:
    """Height of the caption, with the space above it."""
    return (0.6 + 1.25 * len(caption.split("\n"))) * font


def _pitch(lines: dict[int, list[str]], terms: dict[int, list[str]], height: float, font: float) -> float:
    """Divide the height among the nodes, after all lines that follow their first."""
    n_more = sum(map(len, lines.values())) + sum(map(len, terms.values())) - len(lines)
    return min((height - n_more * _NEXT_LINE * font) / len(lines), _MOST_LINE * font)


def _walk(tree: Tree) -> Iterator[int]:
    """Yield the nodes depth first, from left to right."""
    skeleton, todo = tree.skeleton, [0]
    while todo:
        node = todo.pop()
        yield node
        first = skeleton.first_child.item(node)
        todo += range(first + skeleton.n_children.item(node) - 1, first - 1, -1)


def _text(tree: Tree, node: int, room: float, font: float, wraps: bool) -> list[str]:
    """Write the condition that leads to a node in one line, or in several, cut if there is no other way."""
    if node == 0:
        return [pluralise(tree.rows.item(0), "row")]
    skeleton = tree.skeleton
    parent = skeleton.parent.item(node)
    column, slot = skeleton.feature.item(parent), node - skeleton.first_child.item(parent)
    digits = threshold_digits(tree)[column]
    name = feature_name(tree.schema.features[column].name)
    room -= depths(skeleton).item(node) * _INDENT * font
    if wraps:
        whole = f"{name} {conditions_within(tree, parent, _MOST_LETTERS, digits)[slot]}"
        lines = wrapped_to(whole, room - _INDENT * font, font).split("\n")
        if (
            len(lines) <= _MOST_LINES
            and max(text_width(line, font) for line in lines) <= room - _INDENT * font
        ):
            return lines
    for letters in range(_MOST_LETTERS, 5, -1):
        line = f"{shortened(name, letters)} {conditions_within(tree, parent, letters, digits)[slot]}"
        if text_width(line, font) <= room:
            break
    return [line]


def _terms(tree: Tree, node: int, width: float, font: float, code: int | None) -> list[str]:
    """Write the terms of a node in lines; a word that is longer than a line is cut."""
    room = width - (depths(tree.skeleton).item(node) + 1) * _INDENT * font
    found = []
    for text in terms_text(tree, node, code):
        written = " ".join([*(one for one in scope_text(tree, node)), text])
        for line in wrapped_to(written, room, 0.9 * font).split("\n"):
            while text_width(line, 0.9 * font) > room and len(line) > 2:
                line = f"{line[:-2]}…"
            found.append(line)
    return found


def _cells(table: LeafTable, leaf: int) -> tuple[str, str, str, str]:
    """The cells of a leaf, or the heads if it is negative: probability, interval, class and rows."""
    name, value, bounds, rows, _ = table.heads if leaf < 0 else table.cells(leaf)
    return value, bounds, name, rows


def _columns(table: LeafTable, width: float) -> list[tuple[float, str]]:
    """The place and the side of each column, the bar first; the last one ends at the right edge."""
    font, leaves = table.font, np.flatnonzero(table.shown.tree.skeleton.is_leaf).tolist()
    heads, *rows = [_cells(table, leaf) for leaf in (-1, *leaves)]
    widths = [max(text_width(cell, font) for cell in column) for column in zip(*rows, strict=True)]
    bar = table.bar_width
    for at, head in enumerate(heads):
        # The head of the probabilities may extend over the bars, which have none.
        free = bar + 0.5 * font if at == 0 else 0.0
        widths[at] = max(widths[at], text_width(head, font) - free)
    right, places = width, []
    for at in (3, 2, 1, 0):
        if widths[at]:
            left = right - widths[at]
            places.append((left, "left") if at == 2 else (right, "right"))
            right = left - 0.8 * font
        else:
            places.append((right, "right"))
    return [(right + 0.3 * font - bar, "left"), *places[::-1]]
