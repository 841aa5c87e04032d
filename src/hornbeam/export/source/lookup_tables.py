"""A tree as flat tables, for targets that walk instead of asking in nested ifs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.tree import Tree
from hornbeam.typing import Floats, Indices

__all__ = ["LookupTables"]


@dataclass(frozen=True, slots=True, eq=False)
class LookupTables:
    """The tables of a walk from the root to where a row stops.

    Every node has a place: inner nodes come first, then the leaves, both in level order. A lead says where a
    value leads: to the inner node of that place, or, below zero, to a stop at the place ``~lead``.

    Parameters
    ----------
    node : int32 array of shape (n_nodes,)
        The node at each place.
    feature : int32 array of shape (n_inner,)
        What each inner node asks.
    threshold : float64 array of shape (n_inner,)
        NaN on nominal tests.
    start : int32 array of shape (n_inner + 1,)
        Where the leads of each inner node begin.
    lead : int32 array
        Of a numeric test: at most the threshold, above it, missing. Of a nominal one: each category by its
        code, missing. Where no branch is meant for a value it stops at the node itself.
    spread_start : int32 array of shape (n_inner + 1,)
    spread_lead : int32 array
    spread_share : float64 array
        The children that share a missing value, where several do, and the share of each.
    belief : float64 array of shape (n_nodes, n_classes)
        What the tree answers at each place.
    decided : intp array of shape (n_nodes,)
        The class that the tree decides for at each place, by its code.
    most_open : int
        How many shares can wait at the same time on a walk that takes the first of them first.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature, Schema
    >>> from hornbeam.tree import Skeleton, Tree
    >>> stump = Skeleton.of([2, 0, 0], feature=[0, -1, -1], threshold=[0.5, np.nan, np.nan])
    >>> tree = Tree.raw(Schema((Feature("dose"),), ("ill", "well")), stump, np.array([[5, 5], [4, 1], [1, 4]]))
    >>> LookupTables.of(tree).lead.tolist()
    [-2, -3, -1]
    """

    node: Indices
    feature: Indices
    threshold: Floats
    start: Indices
    lead: Indices
    spread_start: Indices
    spread_lead: Indices
    spread_share: Floats
    belief: Floats
    decided: NDArray[np.intp]
    most_open: int

    @classmethod
    def of(cls, tree: Tree) -> Self:
        """Lay out the tables of a tree."""
        skeleton = tree.skeleton
        leaf = skeleton.is_leaf
        order = np.argsort(leaf, kind="stable").astype(np.int32)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        inner = order[: len(order) - skeleton.n_leaves]
        lead_to = np.where(leaf, ~place, place)
        leads = [_leads(tree, node, lead_to, ~place.item(node)) for node in inner.tolist()]
        weight = tree.weight.astype(np.float64)
        shares = [_shares(tree, node, weight) for node in inner.tolist()]
        return cls(
            node=order,
            feature=skeleton.feature[inner],
            threshold=skeleton.threshold[inner],
            start=_starts(leads),
            lead=np.array([lead for run in leads for lead in run], np.int32),
            spread_start=_starts(shares),
            spread_lead=np.array([lead_to[child] for run in shares for child in run], np.int32),
            spread_share=np.array([share for run in shares for share in run.values()]),
            belief=tree.belief[order],
            decided=tree.decided[order],
            most_open=_most_open(tree, dict(zip(inner.tolist(), shares, strict=True))),
        )

    @property
    def n_inner(self) -> int:
        """How many nodes ask something."""
        return len(self.feature)

    @property
    def fractional(self) -> bool:
        """Whether some missing value is shared by several children."""
        return len(self.spread_lead) > 0


def _starts(runs: list[list[int]] | list[dict[int, float]]) -> Indices:
    return np.cumsum([0, *map(len, runs)], dtype=np.int32)


def _leads(tree: Tree, node: int, lead_to: Indices, stop: int) -> list[int]:
    """Where each known value leads from a node, and then where a missing one does."""
    skeleton = tree.skeleton
    first, missing = skeleton.first_child.item(node), skeleton.missing_slot.item(node)
    run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]].tolist()
    return [stop if slot < 0 else lead_to.item(first + slot) for slot in [*(run or (0, 1)), missing]]


def _shares(tree: Tree, node: int, weight: Floats) -> dict[int, float]:
    """The children that share a missing value, each with its share; none where it stops or takes a branch."""
    skeleton = tree.skeleton
    if skeleton.missing_slot[node] != -2:
        return {}
    first = skeleton.first_child.item(node)
    children = range(first, first + skeleton.n_children.item(node))
    total = 0.0  # added up one by one, as the router does: the last bit counts
    for child in children:
        total += weight.item(child)
    return {child: weight.item(child) / total for child in children if weight[child] > 0}


def _most_open(tree: Tree, shares: dict[int, dict[int, float]]) -> int:
    most = [1] * tree.n_nodes
    for node in reversed(shares):
        first = tree.skeleton.first_child.item(node)
        below = most[first : first + tree.skeleton.n_children.item(node)]
        waiting = [most[child] + len(shares[node]) - 1 - i for i, child in enumerate(shares[node])]
        most[node] = max(below + waiting)
    return most[0]
