"""A tree as flat lookup tables, for targets that predict with a loop instead of nested ifs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels.elementary import log
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.slopes import Slopes
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats, Indices

type _Lists = dict[str, list[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class LookupTables:
    """The tables of a walk from the root to the node where a row stops.

    Every node has a place: inner nodes come first, then the leaves, both in level order. A lead is the target of a
    branch: the place of an inner node, or, if negative, ``~place`` of the node where the row stops.

    - ``node``: the node at each place.
    - ``feature``, ``threshold``: of each inner node; NaN on nominal splits.
    - ``start``, ``lead``: the leads of each inner node, from ``start[i]`` on. Of a numeric split: at most the
      threshold, above it, missing. Of a nominal one: each category by its code, missing. A value without a branch
      stops at the node.
    - ``share_start``, ``share_lead``, ``share``: the children among which a missing value is divided, and the shares.
    - ``belief``, ``decided``: the prediction at each place, and the code of the class that the tree decides for.
    - ``terms``: the terms of the path of each place.
    - ``score``: the scores at each place without its terms, logarithms of belief where there are terms, else belief.
    - ``most_open``: the largest number of shares that wait on the stack of a depth-first walk.
    """

    node: Indices
    feature: Indices
    threshold: Floats
    start: Indices
    lead: Indices
    share_start: Indices
    share_lead: Indices
    share: Floats
    belief: Floats
    decided: NDArray[np.intp]
    terms: Slopes
    score: Floats
    most_open: int

    @classmethod
    def of(cls, tree: Tree) -> Self:
        """Compute the tables of a tree."""
        skeleton = tree.skeleton
        leaf = skeleton.is_leaf
        order = np.argsort(leaf, kind="stable").astype(np.int32)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        inner = order[: len(order) - skeleton.n_leaves]
        lead_to = np.where(leaf, ~place, place)
        leads = [_leads(tree, node, lead_to, ~place.item(node)) for node in inner.tolist()]
        shares_of = child_shares(tree)
        shares = [shares_of.get(node, {}) for node in inner.tolist()]
        return cls(
            node=order,
            feature=skeleton.feature[inner],
            threshold=skeleton.threshold[inner],
            start=_starts(leads),
            lead=np.array([lead for run in leads for lead in run], np.int32),
            share_start=_starts(shares),
            share_lead=np.array([lead_to[child] for run in shares for child in run], np.int32),
            share=np.array([share for run in shares for share in run.values()]),
            belief=tree.belief[order],
            decided=tree.decided[order],
            terms=tree.path_slopes.reordered(order),
            score=node_scores(tree)[order],
            most_open=_most_open(tree, dict(zip(inner.tolist(), shares, strict=True))),
        )

    @property
    def n_inner(self) -> int:
        """Number of inner nodes."""
        return len(self.feature)

    @property
    def fractional(self) -> bool:
        """Whether some missing value is divided among the children of a node."""
        return len(self.share_lead) > 0

    def source_tables(self) -> tuple[_Lists, _Lists, _Lists]:
        """Return the tables of a source file by name: of the walk, of the shares, and of the terms."""
        walk = _lists(
            NODE=self.node, FEATURE=self.feature, THRESHOLD=self.threshold, START=self.start, LEAD=self.lead
        )
        shares = _lists(SHARED=self.share_start, SHARED_LEAD=self.share_lead, SHARE=self.share)
        terms = _lists(
            SCORE=self.score,
            TERM_START=self.terms.starts(len(self.node)),
            TERM_FEATURE=self.terms.feature,
            CATEGORY=self.terms.category,
            LOW=self.terms.low,
            HIGH=self.terms.high,
            CENTRE=self.terms.centre,
            SLOPE=self.terms.slope,
        )
        return walk, shares, terms


def _lists(**arrays: NDArray[Any]) -> _Lists:
    return {name: array.tolist() for name, array in arrays.items()}


def node_scores(tree: Tree) -> Floats:
    """Compute the scores of all nodes without terms: logarithms of belief if their paths have terms, else belief."""
    score = tree.belief.copy()
    if not tree.is_regression:
        nodes = tree.path_slopes.nodes
        score[nodes] = log(score[nodes].ravel()).reshape(-1, tree.n_classes)
    return score


def _starts(runs: list[list[int]] | list[dict[int, float]]) -> Indices:
    return np.cumsum([0, *map(len, runs)], dtype=np.int32)


def _leads(tree: Tree, node: int, lead_to: Indices, stop: int) -> list[int]:
    """Compute the lead of each known value from a node, then that of a missing one."""
    skeleton = tree.skeleton
    first, missing = skeleton.first_child.item(node), skeleton.missing_slot.item(node)
    run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]].tolist()
    return [stop if slot < 0 else lead_to.item(first + slot) for slot in [*(run or (0, 1)), missing]]


def _most_open(tree: Tree, shares: dict[int, dict[int, float]]) -> int:
    """Compute the depth of the stack: while a child is walked, the shares of its later siblings wait."""
    most = [1] * tree.n_nodes
    for node in reversed(shares):
        first = tree.skeleton.first_child.item(node)
        below = most[first : first + tree.skeleton.n_children.item(node)]
        waiting = [most[child] + len(shares[node]) - 1 - i for i, child in enumerate(shares[node])]
        most[node] = max(below + waiting)
    return most[0]
