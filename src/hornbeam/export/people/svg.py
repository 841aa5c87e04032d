"""A tree as an SVG picture, for browsers and papers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_whole
from hornbeam.export.people.palette import bar, bars
from hornbeam.export.slope_text import terms_text
from hornbeam.export.wording import conditions, conditions_within, evidence_text, prediction_line
from hornbeam.tree.decision import class_code
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.walk import leaves_below
from hornbeam.tree.words import feature_name, label_text, shortened
from hornbeam.typing import Floats, Indices, Label

_LETTER_WIDTH = 7.3  # of most letters at 13 pixels
_LEVEL, _BOX, _BAR = 96, 40, 5  # heights: from level to level, of a box, of the bar of probabilities
_LINE = 15  # height of each line of a leaf after the second: its terms
_MARGIN = 12


def to_svg(
    model: Tree | HasTree,
    *,
    max_depth: int | None = None,
    max_width: int = 30,
    positive: Label | None = None,
) -> str:
    """Draw a tree: a box for each node with its feature or prediction, a bar of its probabilities, labelled branches.

    For a numeric target the length of a bar is the position of the mean between the lowest and the highest mean.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    max_depth : int, optional
        Nodes at this depth are drawn as if they were leaves, with the number of leaves they hide.
    max_width : int, default 30
        Largest number of letters in a line. Longer lines are cut, lists of categories with the number of those left
        out; a tooltip has the whole line. Terms of nodes have twice as many.
    positive : label, optional
        The class of interest: every leaf has its probability, beside the class it decides for.

    Returns
    -------
    str
        A picture that needs no script, font or network; its text can be selected and searched.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> picture = to_svg(clf)
    >>> picture[:4], ">≤ 0.5<" in picture, picture[-6:]
    ('<svg', True, '</svg>')
    """
    tree = single_tree(model)
    check_whole("max_depth", max_depth, 0, none="the whole tree")
    check_whole("max_width", max_width, 1)
    skeleton = tree.skeleton
    levels = skeleton.levels[: None if max_depth is None else max_depth + 2]
    n = levels[-1]
    n_children = skeleton.n_children[:n].copy()
    n_children[levels[-2] :] = 0
    code = None if positive is None else class_code(tree.schema.classes, positive)
    boxes, edges = _texts(tree, n_children, max_width, code)
    labels = [
        [shortened(line, max_width if at < 2 else 2 * max_width) for at, line in enumerate(lines)]
        for lines in boxes
    ]
    width = np.array(
        [
            max(map(_pixels, [*lines[:2], edge, *(line[: -len(line) // 8] for line in lines[2:])]))
            for lines, (edge, _) in zip(labels, edges, strict=True)
        ]
    )
    below = _LINE * (max(map(len, boxes)) - 2)
    x = tree_layout(skeleton.first_child[:n], n_children, width + 36) + _MARGIN
    y = np.repeat(np.arange(len(levels) - 1), np.diff(levels)) * (_LEVEL + below) + _MARGIN
    across = f"{(x + width / 2).max() + 18 + _MARGIN:.0f}"
    down = f"{y[-1] + _BOX + below + _BAR + _MARGIN}"
    frame = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" '
        f'height="{down}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="13" '
        'text-anchor="middle" fill="#222">'
    )
    parts = [
        frame,
        f"<title>Decision tree of {tree.n_leaves} leaves</title>",
        *_edges(skeleton.parent[:n].tolist(), x, y, edges, below),
    ]
    belief = bars(tree)
    for node in range(n):
        parts += _box(x[node], y[node], width[node] + 20, labels[node], boxes[node], belief[node])
    return "\n".join([*parts, "</svg>"])


def _texts(
    tree: Tree, n_children: Indices, letters: int, code: int | None
) -> tuple[list[list[str]], list[tuple[str, str]]]:
    """Write the lines in each node's box, and the condition of each edge, cut to `letters` and in full."""
    classes = [label_text(label) for label in tree.schema.classes]
    hidden = leaves_below(tree.skeleton)
    boxes, edges = [], [("", "")]
    for node in range(len(n_children)):
        if n_children[node]:
            name = feature_name(tree.schema.features[tree.skeleton.feature[node]].name)
            boxes.append([name, f"{tree.rows[node]} rows", *terms_text(tree, node, code)])
            edges += zip(conditions_within(tree, node, letters), conditions(tree, node), strict=True)
            continue
        below = f" ({hidden[node]} leaves below)" if tree.skeleton.n_children[node] else ""
        prediction = prediction_line(tree, node, code=code)
        boxes.append([prediction + below, evidence_text(tree, node, classes), *terms_text(tree, node, code)])
    return boxes, edges


def _pixels(text: str) -> float:
    """Estimate the width of a text; East Asian letters and emoji are twice as wide."""
    return _LETTER_WIDTH * sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _edges(
    parent: list[int], x: Floats, y: NDArray[np.intp], edges: list[tuple[str, str]], down: int
) -> Iterator[str]:
    yield '<g fill="none" stroke="#888">'
    for node in range(1, len(parent)):
        begin, end = y[parent[node]] + _BOX + _BAR, y[node]
        bend = (begin + down + end) / 2 - 8
        from_x, to_x = f"{x[parent[node]]:.1f}", f"{x[node]:.1f}"
        # Straight down beside leaves with terms, which are higher than other nodes.
        straight = f" V{begin + down}" if down else ""
        yield f'<path d="M{from_x} {begin}{straight} C{from_x} {bend} {to_x} {bend} {to_x} {end}"/>'
    yield "</g>"
    # A white outline keeps the text readable where a line passes behind it.
    yield '<g stroke="#fff" stroke-width="4" paint-order="stroke" stroke-linejoin="round">'
    for node in range(1, len(parent)):
        yield _text(x[node], y[node] - 10, *edges[node])
    yield "</g>"


def _box(
    x: float, y: float, width: float, lines: list[str], full_lines: list[str], belief: Floats
) -> Iterator[str]:
    left, height = x - width / 2, _BOX + _LINE * (len(lines) - 2)
    yield f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="5" fill="#fff" stroke="#888"/>'
    yield _text(x, y + 17, lines[0], full_lines[0], ' font-weight="bold"')
    for at, (line, full_line) in enumerate(zip(lines[1:], full_lines[1:], strict=True)):
        yield _text(x, y + 33 + at * _LINE, line, full_line, ' font-size="11" fill="#555"')
    for colour, begin, end in bar(belief):
        yield (
            f'<rect x="{left + width * begin:.1f}" y="{y + height}" width="{width * (end - begin):.1f}" '
            f'height="{_BAR}" fill="{colour}"/>'
        )


def _text(x: float, y: float, text: str, full_text: str, style: str = "") -> str:
    title = f"<title>{escape(full_text)}</title>" if full_text != text else ""
    return f'<text x="{x:.1f}" y="{y}"{style}>{title}{escape(text)}</text>'


@dataclass(slots=True)
class _Outline:
    """The left and right edge of a drawn subtree on each of its levels, the deepest first.

    Positions are relative to `base`, so that a subtree is moved by one addition.
    """

    left: list[float]
    right: list[float]
    base: float


def tree_layout(first_child: Indices, n_children: Indices, width: Floats) -> Floats:
    """Place nodes without overlap, each parent over the middle of its children, equal subtrees in the same way.

    `width` has the width of each node, with the space beside it. The result is the middle of each node, from the left
    edge of the drawing.

    The algorithm of Reingold and Tilford for any number of children and any widths: subtrees are placed first, then
    moved together until their outlines touch. Outlines are merged into the taller one, so a step costs no more than
    the height of the shorter one, and the whole is linear.
    """
    n = len(width)
    offset = np.zeros(n)  # of each node from its parent
    outlines: dict[int, _Outline] = {}
    for node in range(n - 1, -1, -1):
        half = width.item(node) / 2
        first = first_child.item(node)
        children = range(first, first + n_children.item(node))
        if not children:
            outlines[node] = _Outline([-half], [half], 0.0)
            continue
        whole = outlines.pop(first)
        shifts = [0.0]
        for child in children[1:]:
            whole, shift = _moved_together(whole, outlines.pop(child))
            shifts.append(shift)
        middle = (shifts[0] + shifts[-1]) / 2
        offset[first : children.stop] = np.array(shifts) - middle
        whole.base -= middle
        whole.left.append(-half - whole.base)
        whole.right.append(half - whole.base)
        outlines[node] = whole
    left_edge = min(outlines[0].left) + outlines[0].base
    x = offset
    for node in np.flatnonzero(n_children).tolist():
        first = first_child.item(node)
        x[first : first + n_children.item(node)] += x[node]
    return x - left_edge


def _moved_together(one: _Outline, other: _Outline) -> tuple[_Outline, float]:
    """Move the other outline to the right of one until they touch; return both as one outline, and the shift."""
    shared = min(len(one.left), len(other.left))
    pairs = zip(one.right[-shared:], other.left[-shared:], strict=True)
    shift = max(right - left for right, left in pairs) + one.base - other.base
    other.base += shift
    if len(one.left) >= len(other.left):
        move = other.base - one.base
        one.right[-shared:] = [right + move for right in other.right]
        return one, shift
    move = one.base - other.base
    other.left[-shared:] = [left + move for left in one.left]
    return other, shift
