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
