"""A large tree made small enough to look at: its lightest parts are folded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError
from hornbeam.export.wording import pluralise
from hornbeam.tree import Tree
from hornbeam.tree.edit import collapse
from hornbeam.tree.walk import leaves_below, push_down
from hornbeam.typing import Counts

__all__ = ["DisplaySubset", "display_subset"]


@dataclass(frozen=True, slots=True, eq=False)
class DisplaySubset:
    """A tree with some of its parts folded.

    Parameters
    ----------
    tree : Tree
        What is left to show. A folded part is a leaf of it, with the evidence and belief of the node it
        hangs from.
    node : ndarray of intp
        The number that each of its nodes has in the whole tree.
    hidden : ndarray of int64
        How many leaves are folded into each of its nodes; 0 where nothing is.
    """

    tree: Tree
    node: NDArray[np.intp]
    hidden: Counts

    def summary(self, leaf: int) -> str:
        """Say what is folded into a leaf, or nothing.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> folded = display_subset(TreeClassifier("id3").fit([[1], [2], [3], [3]], list("abca")).tree_, 2)
        >>> [folded.summary(node) for node in range(3)]
        ['', '+2 leaves, 2 rows', '']
        """
        hidden = self.hidden.item(leaf)
        return f"+{hidden:,} leaves, {pluralise(self.tree.rows.item(leaf), 'row')}" if hidden else ""


def display_subset(tree: Tree, max_leaves: int | None, *, keep: Iterable[int] = ()) -> DisplaySubset:
    """Open the nodes of most rows until there are as many leaves as can be looked at.

    Parameters
    ----------
    tree : Tree
    max_leaves : int or None
        Leaves and folded parts at most; None folds nothing. The root is opened however many children it has.
    keep : iterable of int
        Nodes to open before all others: the path of a row, from the root on.

    Returns
    -------
    DisplaySubset

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit(*load_digits(return_X_y=True)).tree_
    >>> small = display_subset(tree, 12)
    >>> tree.n_leaves, small.tree.n_leaves, int(small.hidden.sum())
    (169, 12, 169)
    >>> small.summary(3)
    '+8 leaves, 188 rows'
    """
    if max_leaves is None or tree.n_leaves <= max_leaves:
        return DisplaySubset(tree, np.arange(tree.n_nodes), np.zeros(tree.n_nodes, np.int64))
    if max_leaves < 1:
        raise ParameterError(f"max_leaves={max_leaves}: expected 1 or more, or None for all leaves.")
    skeleton = tree.skeleton
    shut = ~_opened(tree, max_leaves, keep) & ~skeleton.is_leaf
    # Shut is also what lies below: a node is gone if one above it is.
    gone = push_down(skeleton, shut, np.logical_or)
    shown = np.append(True, ~gone[skeleton.parent[1:]])
    node = np.flatnonzero(shown)
    hidden = np.where(shut, leaves_below(skeleton), 0)[node]
    return DisplaySubset(collapse(tree, shut), node, hidden)


def _opened(tree: Tree, max_leaves: int, keep: Iterable[int]) -> NDArray[np.bool_]:
    """The nodes to open, the heaviest first; a node has at least the rows of those below, so parents lead."""
    skeleton = tree.skeleton
    n_children, parent = skeleton.n_children.tolist(), skeleton.parent.tolist()
    opened = np.zeros(tree.n_nodes, bool)
    n_leaves = 1
    first = [0, *sorted(set(keep))]
    for node in first:
        if n_children[node] and not opened[node]:
            opened[node] = True
            n_leaves += n_children[node] - 1
    for node in np.argsort(-tree.rows, kind="stable").tolist():
        if n_leaves >= max_leaves:
            break
        more = n_children[node] - 1
        if more > 0 and not opened[node] and opened[parent[node]] and n_leaves + more <= max_leaves:
            opened[node] = True
            n_leaves += more
    return opened
