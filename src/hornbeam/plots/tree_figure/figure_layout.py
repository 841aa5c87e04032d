"""A tree measured for its page: what is shown, what is said, and where, in points from the upper left corner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hornbeam.export.people.display_subset import DisplaySubset, display_subset
from hornbeam.export.people.palette import CLASS_COLOURS, OTHERS
from hornbeam.export.prediction_text import scale_text
from hornbeam.export.wording import label_text, shortened
from hornbeam.plots.canvas import text_width
from hornbeam.plots.tree_figure.labels import Label, fuller_labels, labels_of
from hornbeam.plots.tree_figure.leaf_table import LeafTable
from hornbeam.plots.tree_figure.node_positions import Layout, arrange, lines, room
from hornbeam.plots.tree_figure.page import SMALLEST, Page
from hornbeam.tree import Skeleton, Tree
from hornbeam.tree.walk import depths
from hornbeam.typing import Bools, Floats

__all__ = ["Sketch", "sketch"]

_WIDE = 1250.0  # points of a new figure, which is wider if its words would have to be cut short


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """What there is to draw.

    Parameters
    ----------
    folded : DisplaySubset
        The tree to show.
    page : Page
    layout : Layout
    labels : list of Label
        What is said at each shown node; nothing where there is no room.
    said : bool array
        Which leaves have words in the table.
    table : LeafTable
    complete : bool
        Whether there was width for the words of all nodes.
    legend : list of rows of (colour, class, place), default []
    """

    folded: DisplaySubset
    page: Page
    layout: Layout
    labels: list[Label]
    said: Bools
    table: LeafTable
    complete: bool
    legend: list[list[tuple[str, str, float]]] = field(default_factory=list)

    @property
    def top(self) -> float:
        """Where the first line begins, below the legend and the heads of the table."""
        return (1.8 * len(self.legend) + 1.6) * self.page.font

    @property
    def y(self) -> Floats:
        """The height of each node."""
        return self.top + (self.layout.line + 0.5) * self.page.pitch

    @property
    def bottom(self) -> float:
        """Where the last line ends."""
        return self.top + self.folded.tree.n_leaves * self.page.pitch

    @property
    def height(self) -> float:
        """From the top of the page to the end of the caption."""
        return self.bottom + 2.6 * self.page.font

    @property
    def table_left(self) -> float:
        """Where the table begins."""
        return self.layout.width + self.page.node_bar + self.page.font

    @property
    def width(self) -> float:
        """From the left edge of the page to the right one."""
        return self.table_left + self.table.columns(np.flatnonzero(self.said).tolist())[-1]


def sketch(
    tree: Tree,
    max_leaves: int | None,
    keep: Sequence[int],
    bounds: tuple[Floats, Floats] | None,
    level: float,
    size: tuple[float, float] | None,
    code: int | None = None,
) -> Sketch:
    """Measure a tree for a page of its own, or for one of this width and height.

    Parameters
    ----------
    tree : Tree
    max_leaves : int or None
        As of `display_subset`.
    keep : sequence of int
        Nodes that are shown, and whose words come first.
    bounds : pair of arrays or None
        Intervals of all nodes.
    level : float
        Of the intervals.
    size : pair of float or None
        Width and height of the page, if it is given.
    code : int, optional
        The class of interest.

    Returns
    -------
    Sketch
    """
    folded = display_subset(tree, max_leaves, keep=keep[:-1])
    skeleton = folded.tree.skeleton
    weight = np.where(np.isin(folded.node, keep), np.inf, folded.tree.rows)
    low, high = (None, None) if bounds is None else (bound[folded.node] for bound in bounds)
    widest = _WIDE if size is None else size[0]
    whole = Page.of(folded.tree.n_leaves, None if size is None else size[1])
    for page, aligned, letters, n_words in _tries(whole, skeleton.n_nodes, size is None):
        roomy, said = _room(skeleton, weight, page)
        roomy[np.argsort(-weight, kind="stable")[n_words:]] = False
        labels = labels_of(folded.tree, roomy, letters, page)
        width = np.array([label.width(page) for label in labels])
        layout = arrange(skeleton, width, bend=page.bend, aligned=aligned)
        table = LeafTable(folded, page.font, low, high, level, code)
        made = Sketch(folded, page, layout, labels, said, table, n_words == skeleton.n_nodes)
        if made.width <= widest:
            break
    return replace(_spread(made), legend=_legend(tree, page.font, made.width))


def _spread(made: Sketch) -> Sketch:
    """Name more categories where the line is empty: in a column of longer words, and from a leaf to the table."""
    skeleton, layout, page = made.folded.tree.skeleton, made.layout, made.page
    # Where lines are close together, text of other columns may be to the right of a leaf.
    right = layout.end if page.dense else np.where(skeleton.is_leaf, layout.width, layout.end)
    labels = fuller_labels(made.folded.tree, made.labels, right - layout.begin, page)
    width = np.array([label.width(page) for label in labels])
    end = np.where(skeleton.is_leaf, np.maximum(layout.end, layout.begin + width), layout.end)
    return replace(made, labels=labels, layout=replace(layout, end=end))


def _tries(page: Page, n: int, new: bool) -> Iterator[tuple[Page, bool, int, int]]:
    """What to give up where there is not enough width: sizes, whether depths are aligned, letters, number of words."""
    fewer = replace(page, counted=False)
    small = replace(fewer, font=SMALLEST)
    for each in dict.fromkeys((page, fewer, small)):
        for letters in (*((60, 44, 34) if each is page else ()), 28, 24, 20):
            yield each, True, letters, n
            if not page.dense:  # else words were given room by columns
                yield each, False, letters, n
    if not new:
        for letters in (16, 12):
            yield small, page.dense, letters, n
    if page.dense or not new:
        while n := n // 2:
            yield small, page.dense, 16, n
        yield small, True, 0, 0


def _room(skeleton: Skeleton, weight: Floats, page: Page) -> tuple[Bools, Bools]:
    """Which nodes have room for their words, and which leaves for their line of the table."""
    line, is_leaf = lines(skeleton), skeleton.is_leaf
    above = np.full(len(line), page.above)
    if not page.dense:
        return np.ones(len(line), bool), is_leaf
    roomy = room(line, depths(skeleton), weight, above, np.where(is_leaf, 0.0, page.below))
    return roomy, is_leaf & room(line, np.where(is_leaf, 0, -1), weight, above / 2, above / 2)


def _legend(tree: Tree, font: float, width: float) -> list[list[tuple[str, str, float]]]:
    """The colours of the classes, or of the mean, and where they stand, in as many rows as it takes."""
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
