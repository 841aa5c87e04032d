"""The part of a large tree that is shown: subtrees with few rows are folded into one leaf."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError
from hornbeam.tree.edit import collapse
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import leaves_below, push_down
from hornbeam.tree.words import pluralise
from hornbeam.typing import Counts


@dataclass(frozen=True, slots=True, eq=False)
class DisplaySubset:
    """A tree with some of its subtrees folded.

    A folded subtree is a leaf of `tree`, with the evidence and belief of the subtree's root. `node` has the number of
    each shown node in the whole tree, `hidden` the number of leaves folded into it; 0 if it is not folded.
    """

    tree: Tree
    node: NDArray[np.intp]
    hidden: Counts

    def summary(self, leaf: int) -> str:
        """Write the number of leaves and rows folded into a leaf; empty if it is not folded."""
        hidden = self.hidden.item(leaf)
        return f"+{hidden:,} leaves, {pluralise(self.tree.rows.item(leaf), 'row')}" if hidden else ""


def display_subset(tree: Tree, max_leaves: int | None, *, keep: Iterable[int] = ()) -> DisplaySubset:
    """Fold the subtrees with the fewest rows until at most `max_leaves` leaves are left; None folds nothing.

    The children of the root are always shown. The nodes of `keep` are not folded: the path of a row, from the root on.
    """
    if max_leaves is None or tree.n_leaves <= max_leaves:
        return DisplaySubset(tree, np.arange(tree.n_nodes), np.zeros(tree.n_nodes, np.int64))
    if max_leaves < 1:
        raise ParameterError(f"max_leaves={max_leaves}: expected 1 or more, or None for all leaves.")
    skeleton = tree.skeleton
    folded = ~_opened(tree, max_leaves, keep) & ~skeleton.is_leaf
    below_folded = push_down(skeleton, folded, np.logical_or)
    shown = np.append(True, ~below_folded[skeleton.parent[1:]])
    node = np.flatnonzero(shown)
    hidden = np.where(folded, leaves_below(skeleton), 0)[node]
    return DisplaySubset(collapse(tree, folded), node, hidden)


def _opened(tree: Tree, max_leaves: int, keep: Iterable[int]) -> NDArray[np.bool_]:
    """Choose the nodes whose children are shown, those with most rows first.

    A node has at least as many rows as its descendants, so it comes before them.
    """
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
