"""A drawn tree fitted to its page: what is shown, with which text and where, in points from the upper left corner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hornbeam.explain.intervals import interval
from hornbeam.export.people.display_subset import DisplaySubset, display_subset
from hornbeam.export.people.palette import CLASS_COLOURS, OTHERS
from hornbeam.export.slope_text import leaf_terms
from hornbeam.export.wording import label_text, scale_text, shortened
from hornbeam.plots.canvas import text_width
from hornbeam.plots.tree_figure.leaf_table import LeafTable
from hornbeam.plots.tree_figure.node_positions import (
    NodePositions,
    line_numbers,
    place_nodes,
    without_overlap,
)
from hornbeam.plots.tree_figure.page import SMALLEST_FONT, NodeText, Page, lengthen_texts, node_texts
from hornbeam.tree import Skeleton, Tree
from hornbeam.tree.walk import depths
from hornbeam.typing import Bools, Floats

__all__ = ["FigureLayout", "fit_to_page"]

_WIDTH = 1250.0  # points of a new figure, which is wider if its text would have to be cut


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
    def bottom(self) -> float:
        """Bottom of the last line."""
        return self.top + self.shown.tree.n_leaves * self.page.pitch

    @property
    def height(self) -> float:
        """Height of the page, with the caption."""
        return self.bottom + 2.6 * self.page.font

    @property
    def table_left(self) -> float:
        """Left edge of the table."""
        return self.positions.width + self.page.node_bar + self.page.font

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
    slopes = shown.tree.slopes
    n_terms = max((len(leaf_terms(shown.tree, leaf)) for leaf in slopes.leaves.tolist()), default=0)
    best_page = Page.of(shown.tree.n_leaves, None if size is None else size[1], n_terms)
    for page, aligned, letters, n_texts in _candidates(best_page, skeleton.n_nodes, size is None):
        roomy, has_text = _room(skeleton, weight, page)
        roomy[np.argsort(-weight, kind="stable")[n_texts:]] = False
        texts = node_texts(shown.tree, roomy, letters, page)
        width = np.array([text.width(page) for text in texts])
        positions = place_nodes(skeleton, width, bend=page.bend, aligned=aligned)
        has_terms = len(slopes) > 0 and page.has_room(n_terms)
        table = LeafTable(shown, page.font, low, high, level, code, has_terms)
        layout = FigureLayout(shown, page, positions, texts, has_text, table, n_texts == skeleton.n_nodes)
        if layout.width <= max_width:
            break
    return replace(_use_free_width(layout), legend=_legend(tree, page.font, layout.width))


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
    small = replace(without_rows, font=SMALLEST_FONT)
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


def _legend(tree: Tree, font: float, width: float) -> list[list[tuple[str, str, float]]]:
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
