"""Branches, nodes and tests of a sketched tree, put on axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.export.people.palette import bars
from hornbeam.plots.canvas import AS_IT_IS, DARK, GREY, PALE, text_width
from hornbeam.plots.tree_figure.figure_layout import Sketch
from hornbeam.plots.tree_figure.leaf_table import Bars
from hornbeam.typing import Bools, Floats

__all__ = ["draw_branches", "draw_legend", "draw_nodes", "draw_words"]

_AT = np.linspace(0, 1, 15)
_LED = 4.0  # points from line to line from which on dots lead from a leaf to the table
_EASE = _AT**2 * (3 - 2 * _AT)  # from one line to another, level at both ends


def draw_branches(ax: Any, drawn: Sketch, passed: Bools) -> Any:
    """Draw a curve from every node to each of its children, as wide as rows take it; give the collection."""
    from matplotlib.collections import LineCollection

    skeleton, layout, y = drawn.folded.tree.skeleton, drawn.layout, drawn.y
    width = _widths(drawn)
    begin = _departures(drawn, width)
    curves = [
        np.array([(0.0, y[0]), (layout.end[0] + drawn.page.node_bar / 2, y[0])])
    ]  # all rows, to the root
    for node in range(1, skeleton.n_nodes):
        left = layout.end[skeleton.parent[node]] + drawn.page.node_bar / 2
        x = left + (layout.begin[node] - 2.0 - left) * _AT
        curve = np.column_stack([x, begin[node] + (y[node] - begin[node]) * _EASE])
        curves.append(np.vstack([curve, (layout.end[node] + drawn.page.node_bar / 2, y[node])]))
    branches = LineCollection(
        curves,
        linewidths=width,
        colors=np.where(passed, DARK, PALE).tolist(),
        capstyle="butt",
        zorder=1,
    )
    return ax.add_collection(branches)


def _widths(drawn: Sketch) -> Floats:
    """How wide each branch is: in proportion to its rows, and still to be seen where few take it."""
    rows, widest = drawn.folded.tree.rows, drawn.page.widest_branch
    return np.maximum(widest * rows / max(1, rows.item(0)), 0.5)


def _departures(drawn: Sketch, width: Floats) -> Floats:
    """Where each branch leaves its parent: side by side, as the rows part."""
    skeleton = drawn.folded.tree.skeleton
    leave = drawn.y.copy()
    for node in np.flatnonzero(skeleton.n_children).tolist():
        children = slice(skeleton.first_child[node], skeleton.first_child[node] + skeleton.n_children[node])
        ends = np.cumsum(width[children])
        leave[children] = drawn.y[node] + ends - width[children] / 2 - ends[-1] / 2
    return leave


def draw_nodes(ax: Any, drawn: Sketch, passed: Bools) -> Any:
    """Draw a bar on every inner node, a dot for a leaf, a triangle for what is folded; give the bars."""
    folded, layout, page, y = drawn.folded, drawn.layout, drawn.page, drawn.y
    leaf = folded.tree.skeleton.is_leaf
    drawn_bars, belief = Bars(), bars(folded.tree)
    for node in np.flatnonzero(~leaf).tolist():
        drawn_bars.add(layout.end[node], y[node], page.node_bar, page.thickness, belief[node])
    made = drawn_bars.draw(ax)
    middle = layout.end + page.node_bar / 2
    if page.pitch >= _LED:
        right = drawn.table_left - page.font / 2
        ax.hlines(y[leaf], middle[leaf], right, color=PALE, linewidth=0.7, linestyle=(0, (1, 2)), zorder=0)
    size = min(page.thickness, 6.0) ** 2
    for mark, which in (("o", leaf & (folded.hidden == 0)), (">", folded.hidden > 0)):
        colour = np.where(passed[which], DARK, GREY).tolist()
        ax.scatter(middle[which], y[which], s=size, marker=mark, color=colour, linewidth=0, zorder=3)
    return made


def draw_words(ax: Any, drawn: Sketch, passed: Bools) -> list[Any]:
    """Write what leads to a node over its branch, and under it what the node asks; give the texts."""
    page, layout, y = drawn.page, drawn.layout, drawn.y
    half = _widths(drawn) / 2
    texts = []

    def write(x: float, height: float, words: str, **style: Any) -> None:
        if words:
            texts.append(ax.text(x, height, words, zorder=4, **{"fontsize": page.font} | style, **AS_IT_IS))

    for node, label in enumerate(drawn.labels):
        colour = DARK if passed[node] or not passed.any() else GREY
        x, above, below = layout.begin[node], y[node] - half[node] - 0.5, y[node] + half[node] + 1.0
        write(x, above, label.test, va="bottom", color=colour)
        beside = x + text_width(label.test, page.font) + label.indent(page)
        write(beside, above, label.rows, va="bottom", color=GREY, fontsize=page.small)
        write(x, below, label.name, va="top", color=colour)
    return texts


def draw_legend(ax: Any, drawn: Sketch) -> list[Any]:
    """Write the classes beside their colours; give the texts."""
    font = drawn.page.font
    texts = []
    for line, entries in enumerate(drawn.legend):
        y = (1.8 * line + 0.9) * font
        for colour, name, x in entries:
            ax.scatter(x + font / 2, y, s=(0.8 * font) ** 2, marker="s", color=colour, linewidth=0)
            place = x + 1.3 * font
            texts.append(ax.text(place, y, name, va="center_baseline", fontsize=font, color=DARK, **AS_IT_IS))
    return texts
