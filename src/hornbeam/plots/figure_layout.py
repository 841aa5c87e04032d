"""A drawn tree fitted to its page: what is shown, with which text and where, in points from the upper left corner.

The root is at the left, every leaf has its own line, and children are to the right of their parent. So two nodes of
different subtrees are at least one line apart, an inner node is one and a half lines from the next node below, and a
branch crosses only its own text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hornbeam.export.people.display_subset import DisplaySubset, display_subset
from hornbeam.export.people.palette import CLASS_COLOURS, OTHERS
from hornbeam.export.slope_text import path_terms
from hornbeam.export.wording import conditions_within, scale_text, threshold_digits
from hornbeam.plots.canvas import text_width
from hornbeam.plots.leaf_table import LeafTable
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import depths, leaves_below, push_down
from hornbeam.tree.words import feature_name, label_text, pluralise, shortened
from hornbeam.typing import Bools, Floats, Indices

_WIDTH = 1250.0  # points of a new figure, which is wider if its text would have to be cut
_SMALLEST_FONT = 6.5  # of a test
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
        return cls(pitch, min(9.0, max(_SMALLEST_FONT, 0.52 * pitch)), pitch >= _ROW_COUNT_PITCH)

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


@dataclass(frozen=True, slots=True, eq=False)
class NodePositions:
    """The line of each node, and the begin and end of its text.

    Leaves are on lines 0, 1, 2, ...; `begin` and `end` are distances from the left edge. A branch bends between the
    end of the parent's text and the begin of its own.
    """

    line: Floats
    begin: Floats
    end: Floats

    @property
    def width(self) -> float:
        """Distance from the left edge to the end of the last text."""
        return float(self.end.max())


def place_nodes(skeleton: Skeleton, width: Floats, *, bend: float, aligned: bool = True) -> NodePositions:
    """Compute the position of every node from the width of its text, 0 if it has none.

    `bend` is the width of a branch's bend to another line. If `aligned`, nodes of the same depth are in a column.
    Otherwise a branch is as long as its own text, and the drawing as wide as its longest path.
    """
    if aligned:
        depth = depths(skeleton)
        column = np.zeros(depth[-1] + 1)
        np.maximum.at(column, depth, width)
        width = column[depth]
    bends = np.full(skeleton.n_nodes, bend)
    bends[0] = 0.0  # no branch leads to the root
    end = push_down(skeleton, width + bends)
    return NodePositions(line_numbers(skeleton), end - width, end)


def line_numbers(skeleton: Skeleton) -> Floats:
    """Put leaves on lines 0, 1, 2, ... in their order, and every other node in the middle of its children."""
    below = leaves_below(skeleton)
    before = np.cumsum(below) - below
    first_sibling = np.append(0, skeleton.first_child[skeleton.parent[1:]])
    line = push_down(skeleton, before - before[first_sibling]).astype(np.float64)
    first, last = skeleton.first_child, skeleton.first_child + skeleton.n_children - 1
    for node in np.flatnonzero(skeleton.n_children)[::-1].tolist():
        line[node] = (line[first[node]] + line[last[node]]) / 2
    return line


def without_overlap(line: Floats, column: Indices, weight: Floats, above: Floats, below: Floats) -> Bools:
    """Choose the texts to write, those of largest weight first, so that no two in a column overlap.

    `above` and `below` are the height of each text above and below its line, in lines.
    """
    written = np.zeros(len(line), bool)
    top, bottom = line - above, line + below
    for places in (np.flatnonzero(column == each) for each in np.unique(column)):
        by_weight = places[np.argsort(-weight[places], kind="stable")]
        for node in by_weight.tolist():
            others = by_weight[written[by_weight]]
            written[node] = ((bottom[others] <= top[node]) | (top[others] >= bottom[node])).all()
    return written


@dataclass(frozen=True, slots=True, eq=False)
class FigureLayout:
    """A tree to draw, with the text and position of each part.

    `texts` is empty where there is no room; `has_text`: a leaf has text in the table; `complete`: all nodes have their
    text. `legend` has rows of (colour, class, position).
    """

    shown: DisplaySubset
    page: Page
    positions: NodePositions
    texts: list[NodeText]
    has_text: Bools
    table: LeafTable
    complete: bool
    legend: list[list[tuple[str, str, float]]] = field(default_factory=list)

    @property
    def top(self) -> float:
        """Top of the first line, below the legend and the heads of the table."""
        return (1.8 * len(self.legend) + 1.6) * self.page.font

    @property
    def y(self) -> Floats:
        """Vertical position of each node."""
        return self.top + (self.positions.line + 0.5) * self.page.pitch

    @property
    def height(self) -> float:
        """Height of the page, with the caption."""
        return self.top + self.shown.tree.n_leaves * self.page.pitch + 2.6 * self.page.font

    @property
    def table_left(self) -> float:
        """Left edge of the table."""
        return self.positions.width + self.page.node_bar + self.page.font

    @property
    def font(self) -> float:
        """Size of the letters."""
        return self.page.font

    @property
    def width(self) -> float:
        """Width of the page."""
        return self.table_left + self.table.columns(np.flatnonzero(self.has_text).tolist())[-1]


def fit_to_page(
    tree: Tree,
    max_leaves: int | None,
    keep: Sequence[int],
    level: float | None,
    size: tuple[float, float] | None,
    code: int | None = None,
) -> FigureLayout:
    """Fit a tree to a page of its own, or to one of given width and height.

    The nodes of `keep` are shown, and get text before all others. `level` is that of the intervals, None for none;
    `code` is the class of interest.
    """
    shown = display_subset(tree, max_leaves, keep=keep[:-1])
    skeleton = shown.tree.skeleton
    weight = np.where(np.isin(shown.node, keep), np.inf, shown.tree.rows)
    low, high = (None, None) if level is None else interval(tree, level, shown.node)
    max_width = _WIDTH if size is None else size[0]
    leaves = np.flatnonzero(skeleton.is_leaf).tolist()
    n_terms = max((len(path_terms(shown.tree, leaf)) for leaf in leaves), default=0)
    best_page = Page.of(shown.tree.n_leaves, None if size is None else size[1], n_terms)
    for page, aligned, letters, n_texts in _candidates(best_page, skeleton.n_nodes, size is None):
        roomy, has_text = _room(skeleton, weight, page)
        roomy[np.argsort(-weight, kind="stable")[n_texts:]] = False
        texts = node_texts(shown.tree, roomy, letters, page)
        width = np.array([text.width(page) for text in texts])
        positions = place_nodes(skeleton, width, bend=page.bend, aligned=aligned)
        has_terms = n_terms > 0 and page.has_room(n_terms)
        table = LeafTable(shown, page.font, low, high, level, code, has_terms)
        layout = FigureLayout(shown, page, positions, texts, has_text, table, n_texts == skeleton.n_nodes)
        if layout.width <= max_width:
            break
    return replace(_use_free_width(layout), legend=class_legend(tree, page.font, layout.width))


def _use_free_width(layout: FigureLayout) -> FigureLayout:
    """List more categories where a line has free width: in a column of longer texts, and from a leaf to the table."""
    skeleton, positions, page = layout.shown.tree.skeleton, layout.positions, layout.page
    # Where lines are close together, text of other columns may be to the right of a leaf.
    right = positions.end if page.dense else np.where(skeleton.is_leaf, positions.width, positions.end)
    texts = lengthen_texts(layout.shown.tree, layout.texts, right - positions.begin, page)
    width = np.array([text.width(page) for text in texts])
    end = np.where(skeleton.is_leaf, np.maximum(positions.end, positions.begin + width), positions.end)
    return replace(layout, texts=texts, positions=replace(positions, end=end))


def _candidates(page: Page, n: int, new: bool) -> Iterator[tuple[Page, bool, int, int]]:
    """List the settings to try, widest first: page, whether depths are aligned, letters, number of texts."""
    without_rows = replace(page, shows_rows=False)
    small = replace(without_rows, font=_SMALLEST_FONT)
    for each in dict.fromkeys((page, without_rows, small)):
        for letters in (*((60, 44, 34) if each is page else ()), 28, 24, 20):
            yield each, True, letters, n
            if not page.dense:  # a dense page chose its texts by columns
                yield each, False, letters, n
    if not new:
        for letters in (16, 12):
            yield small, page.dense, letters, n
    if page.dense or not new:
        while n := n // 2:
            yield small, page.dense, 16, n
        yield small, True, 0, 0


def _room(skeleton: Skeleton, weight: Floats, page: Page) -> tuple[Bools, Bools]:
    """Find the nodes with room for their text, and the leaves with room for their cells of the table."""
    line, is_leaf = line_numbers(skeleton), skeleton.is_leaf
    above = np.full(len(line), page.above)
    if not page.dense:
        return np.ones(len(line), bool), is_leaf
    roomy = without_overlap(line, depths(skeleton), weight, above, np.where(is_leaf, 0.0, page.below))
    return roomy, is_leaf & without_overlap(line, np.where(is_leaf, 0, -1), weight, above / 2, above / 2)


def class_legend(tree: Tree, font: float, width: float) -> list[list[tuple[str, str, float]]]:
    """Place the colours of the classes, or of the mean, in as many rows as needed."""
    if tree.is_regression:
        entries = [(CLASS_COLOURS[0], scale_text(tree))]
    elif tree.n_classes > len(CLASS_COLOURS):
        entries = [(CLASS_COLOURS[0], "the class named"), (OTHERS, "all other classes")]
    else:
        names = [shortened(label_text(label), 24) for label in tree.schema.classes]
        entries = list(zip(CLASS_COLOURS, names, strict=False))
    rows: list[list[tuple[str, str, float]]] = [[]]
    at = 0.0
    for colour, name in entries:
        wide = text_width(name, font) + 3 * font
        if rows[-1] and at + wide > width:
            rows.append([])
            at = 0.0
        rows[-1].append((colour, name, at))
        at += wide
    return rows
