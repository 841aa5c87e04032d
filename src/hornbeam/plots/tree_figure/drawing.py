"""Draw the branches, nodes, texts and legend of a tree on axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.export.people.palette import bars
from hornbeam.plots.canvas import DARK, GREY, PALE, VERBATIM, text_width
from hornbeam.plots.tree_figure.figure_layout import FigureLayout
from hornbeam.plots.tree_figure.leaf_table import BarCollection
from hornbeam.typing import Bools, Floats

__all__ = ["draw_branches", "draw_legend", "draw_nodes", "draw_texts"]

_STEPS = np.linspace(0, 1, 15)
_LEADER_PITCH = 4.0  # from this pitch on, dots lead from a leaf to the table
_CURVE = _STEPS**2 * (3 - 2 * _STEPS)  # horizontal at both ends


def draw_branches(ax: Any, figure: FigureLayout, passed: Bools) -> Any:
    """Draw a curve from every node to each of its children, its width in proportion to its rows."""
    from matplotlib.collections import LineCollection

    skeleton, positions, y = figure.shown.tree.skeleton, figure.positions, figure.y
    width = _widths(figure)
    begin = _branch_starts(figure, width)
    curves = [
        np.array([(0.0, y[0]), (positions.end[0] + figure.page.node_bar / 2, y[0])])
    ]  # of all rows, to the root
    for node in range(1, skeleton.n_nodes):
        left = positions.end[skeleton.parent[node]] + figure.page.node_bar / 2
        x = left + (positions.begin[node] - 2.0 - left) * _STEPS
        curve = np.column_stack([x, begin[node] + (y[node] - begin[node]) * _CURVE])
        curves.append(np.vstack([curve, (positions.end[node] + figure.page.node_bar / 2, y[node])]))
    branches = LineCollection(
        curves,
        linewidths=width,
        colors=np.where(passed, DARK, PALE).tolist(),
        capstyle="butt",
        zorder=1,
    )
    return ax.add_collection(branches)


def _widths(figure: FigureLayout) -> Floats:
    """Compute the width of each branch, in proportion to its rows, with a visible minimum."""
    rows, widest = figure.shown.tree.rows, figure.page.widest_branch
    return np.maximum(widest * rows / max(1, rows.item(0)), 0.5)


def _branch_starts(figure: FigureLayout, width: Floats) -> Floats:
    """Compute the height at which each branch leaves its parent: siblings side by side."""
    skeleton = figure.shown.tree.skeleton
    start = figure.y.copy()
    for node in np.flatnonzero(skeleton.n_children).tolist():
        children = slice(skeleton.first_child[node], skeleton.first_child[node] + skeleton.n_children[node])
        ends = np.cumsum(width[children])
        start[children] = figure.y[node] + ends - width[children] / 2 - ends[-1] / 2
    return start


def draw_nodes(ax: Any, figure: FigureLayout, passed: Bools) -> Any:
    """Draw a bar on every inner node, a dot for a leaf, a triangle for a folded subtree; return the bars."""
    shown, positions, page, y = figure.shown, figure.positions, figure.page, figure.y
    leaf = shown.tree.skeleton.is_leaf
    bar_collection, belief = BarCollection(), bars(shown.tree)
    for node in np.flatnonzero(~leaf).tolist():
        bar_collection.add(positions.end[node], y[node], page.node_bar, page.thickness, belief[node])
    drawn_bars = bar_collection.draw(ax)
    middle = positions.end + page.node_bar / 2
    if page.pitch >= _LEADER_PITCH:
        right = figure.table_left - page.font / 2
        ax.hlines(y[leaf], middle[leaf], right, color=PALE, linewidth=0.7, linestyle=(0, (1, 2)), zorder=0)
    size = min(page.thickness, 6.0) ** 2
    for mark, which in (("o", leaf & (shown.hidden == 0)), (">", shown.hidden > 0)):
        colour = np.where(passed[which], DARK, GREY).tolist()
        ax.scatter(middle[which], y[which], s=size, marker=mark, color=colour, linewidth=0, zorder=3)
    return drawn_bars


def draw_texts(ax: Any, figure: FigureLayout, passed: Bools) -> list[Any]:
    """Write the condition of a node over its branch, and its feature under it; return the texts."""
    page, positions, y = figure.page, figure.positions, figure.y
    half = _widths(figure) / 2
    texts = []

    def write(x: float, height: float, text: str, **style: Any) -> None:
        if text:
            texts.append(ax.text(x, height, text, zorder=4, **{"fontsize": page.font} | style, **VERBATIM))

    for node, text in enumerate(figure.texts):
        colour = DARK if passed[node] or not passed.any() else GREY
        x, above, below = positions.begin[node], y[node] - half[node] - 0.5, y[node] + half[node] + 1.0
        write(x, above, text.test, va="bottom", color=colour)
        beside = x + text_width(text.test, page.font) + text.indent(page)
        write(beside, above, text.rows, va="bottom", color=GREY, fontsize=page.small)
        write(x, below, text.name, va="top", color=colour)
    return texts


def draw_legend(ax: Any, figure: FigureLayout) -> list[Any]:
    """Write the classes beside their colours; return the texts."""
    font = figure.page.font
    texts = []
    for line, entries in enumerate(figure.legend):
        y = (1.8 * line + 0.9) * font
        for colour, name, x in entries:
            ax.scatter(x + font / 2, y, s=(0.8 * font) ** 2, marker="s", color=colour, linewidth=0)
            place = x + 1.3 * font
            texts.append(ax.text(place, y, name, va="center_baseline", fontsize=font, color=DARK, **VERBATIM))
    return texts
