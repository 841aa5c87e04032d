"""Horizontal positions of the nodes of a drawn tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hornbeam.typing import Floats, Indices

__all__ = ["tree_layout"]


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
