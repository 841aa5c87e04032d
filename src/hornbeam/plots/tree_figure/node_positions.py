"""Positions of the nodes of a drawn tree.

The root is at the left, every leaf has its own line, and children are to the right of their parent. So two nodes of
different subtrees are at least one line apart, an inner node is one and a half lines from the next node below, and a
branch crosses only its own text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hornbeam.tree import Skeleton
from hornbeam.tree.walk import depths, leaves_below, push_down
from hornbeam.typing import Bools, Floats, Indices

__all__ = ["NodePositions", "line_numbers", "place_nodes", "without_overlap"]


@dataclass(frozen=True, slots=True, eq=False)
class NodePositions:
    """The line of each node, and the begin and end of its text.

    Parameters
    ----------
    line : float64 array of shape (n,)
        Distance of each node from the first line, in lines; leaves at 0, 1, 2, ...
    begin, end : float64 arrays of shape (n,)
        Begin and end of each node's text, from the left edge. A branch bends between the end of the parent's text and
        the begin of its own.
    """

    line: Floats
    begin: Floats
    end: Floats

    @property
    def width(self) -> float:
        """Distance from the left edge to the end of the last text."""
        return float(self.end.max())


def place_nodes(skeleton: Skeleton, width: Floats, *, bend: float, aligned: bool = True) -> NodePositions:
    """Compute the position of every node.

    Parameters
    ----------
    skeleton : Skeleton
    width : float64 array of shape (n,)
        Width of each node's text; 0 if it has none.
    bend : float
        Width of a branch's bend to another line.
    aligned : bool, default True
        Keep nodes of the same depth in a column. Otherwise a branch is as long as its own text, and the drawing as wide
        as its longest path.

    Returns
    -------
    NodePositions

    Examples
    --------
    >>> stump = Skeleton.of([2, 0, 0], feature=[0, -1, -1], threshold=[0.5, np.nan, np.nan])
    >>> positions = place_nodes(stump, np.array([30.0, 50.0, 40.0]), bend=10.0)
    >>> positions.line.tolist(), positions.begin.tolist(), positions.end.tolist()
    ([0.5, 0.0, 1.0], [0.0, 40.0, 40.0], [30.0, 90.0, 90.0])
    >>> place_nodes(stump, np.array([30.0, 50.0, 40.0]), bend=10.0, aligned=False).end.tolist()
    [30.0, 90.0, 80.0]
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
    """Put leaves on lines 0, 1, 2, ... in their order, and every other node in the middle of its children.

    Examples
    --------
    >>> tests = [0.5, np.nan, 1.5, np.nan, np.nan]
    >>> line_numbers(Skeleton.of([2, 0, 2, 0, 0], feature=[0, -1, 0, -1, -1], threshold=tests)).tolist()
    [0.75, 0.0, 1.5, 1.0, 2.0]
    """
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

    Parameters
    ----------
    line, column : arrays of shape (n,)
        Position of each text.
    weight : array of shape (n,)
        Importance of each text.
    above, below : float64 arrays of shape (n,)
        Height of each text above and below its line, in lines.

    Returns
    -------
    bool array of shape (n,)

    Examples
    --------
    >>> line, column, high = np.array([0.0, 1.0, 2.0, 2.5]), np.array([0, 0, 0, 1]), np.full(4, 1.5)
    >>> without_overlap(line, column, np.array([5, 9, 1, 1]), high, np.zeros(4)).tolist()
    [False, True, False, True]
    """
    written = np.zeros(len(line), bool)
    top, bottom = line - above, line + below
    for places in (np.flatnonzero(column == each) for each in np.unique(column)):
        by_weight = places[np.argsort(-weight[places], kind="stable")]
        for node in by_weight.tolist():
            others = by_weight[written[by_weight]]
            written[node] = ((bottom[others] <= top[node]) | (top[others] >= bottom[node])).all()
    return written
