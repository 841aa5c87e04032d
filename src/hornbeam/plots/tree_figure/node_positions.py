"""Where the nodes of a drawn tree stand: numbers alone, no picture yet.

The root is at the left, every leaf has a line of its own, and children stand to the right of their parent. So two
nodes of which none is above the other are a line apart at least, an inner node is one and a half from the next below,
and a branch passes no words but its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hornbeam.tree import Skeleton
from hornbeam.tree.walk import depths, leaves_below, push_down
from hornbeam.typing import Bools, Floats, Indices

__all__ = ["Layout", "arrange", "lines", "room"]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Places of nodes.

    Parameters
    ----------
    line : float64 array of shape (n,)
        How many lines each node stands below the first; leaves at 0, 1, 2, ...
    begin, end : float64 arrays of shape (n,)
        Where the words that lead to each node begin and end, from the left edge. A branch bends between the
        end of the parent's words and the beginning of its own.
    """

    line: Floats
    begin: Floats
    end: Floats

    @property
    def width(self) -> float:
        """From the left edge to the end of the last words."""
        return float(self.end.max())


def arrange(skeleton: Skeleton, width: Floats, *, bend: float, aligned: bool = True) -> Layout:
    """Give every node of a tree its place.

    Parameters
    ----------
    skeleton : Skeleton
    width : float64 array of shape (n,)
        How wide the words are that lead to each node; 0 where there are none.
    bend : float
        How far a branch needs to reach another line.
    aligned : bool, default True
        Keep nodes of the same depth in a column. Otherwise a branch is as long as its own words, and the
        drawing as wide as its longest path.

    Returns
    -------
    Layout

    Examples
    --------
    >>> stump = Skeleton.of([2, 0, 0], feature=[0, -1, -1], threshold=[0.5, np.nan, np.nan])
    >>> layout = arrange(stump, np.array([30.0, 50.0, 40.0]), bend=10.0)
    >>> layout.line.tolist(), layout.begin.tolist(), layout.end.tolist()
    ([0.5, 0.0, 1.0], [0.0, 40.0, 40.0], [30.0, 90.0, 90.0])
    >>> arrange(stump, np.array([30.0, 50.0, 40.0]), bend=10.0, aligned=False).end.tolist()
    [30.0, 90.0, 80.0]
    """
    if aligned:
        depth = depths(skeleton)
        column = np.zeros(depth[-1] + 1)
        np.maximum.at(column, depth, width)
        width = column[depth]
    bends = np.full(skeleton.n_nodes, bend)
    bends[0] = 0.0  # nothing leads to the root
    end = push_down(skeleton, width + bends)
    return Layout(lines(skeleton), end - width, end)


def lines(skeleton: Skeleton) -> Floats:
    """Put leaves on lines 0, 1, 2, ... in their order, and every other node in the middle of its children.

    Examples
    --------
    >>> tests = [0.5, np.nan, 1.5, np.nan, np.nan]
    >>> lines(Skeleton.of([2, 0, 2, 0, 0], feature=[0, -1, 0, -1, -1], threshold=tests)).tolist()
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


def room(line: Floats, column: Indices, weight: Floats, above: Floats, below: Floats) -> Bools:
    """Choose the words to write, the weightiest first, so that none in a column touch.

    Parameters
    ----------
    line, column : arrays of shape (n,)
        Where the words stand.
    weight : array of shape (n,)
        Whose words matter most.
    above, below : float64 arrays of shape (n,)
        How many lines of room the words take over and under their own.

    Returns
    -------
    bool array of shape (n,)

    Examples
    --------
    >>> line, column, high = np.array([0.0, 1.0, 2.0, 2.5]), np.array([0, 0, 0, 1]), np.full(4, 1.5)
    >>> room(line, column, np.array([5, 9, 1, 1]), high, np.zeros(4)).tolist()
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
