"""Search for a small tree with lookahead, on rows with soft labels."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hornbeam.ensembles.distillation.search_rows import STEPS, SearchRows
from hornbeam.growing.tree_builder import build_skeleton
from hornbeam.kernels.lookahead import LeafRules, SearchRules
from hornbeam.kernels.subtree import Nodes, PathRules
from hornbeam.tree.level_order import level_order
from hornbeam.tree.skeleton import Skeleton
from hornbeam.typing import Bools, Indices


@dataclass(frozen=True, slots=True)
class SmallTree:
    """Settings of the search for a small tree.

    Every cut of a node is valued by what its two branches explain of the soft labels, each with a linear model of the
    terms of the node (`leaf`). The best cuts are compared by what a whole tree below them explains within the budget of
    leaves. A leaf has at least `min_rows` rows, `min_counted` counted rows and the share `min_share` of all counted
    rows. `paths` says which features of the search may follow each other on a path; None: all may.
    """

    max_leaf_nodes: int = 16
    max_depth: int = 7
    min_rows: float = 20.0
    min_counted: float = 1.0
    min_share: float = 0.0
    leaf: LeafRules = field(default_factory=lambda: LeafRules(2))
    paths: PathRules | None = None

    def grow(self, search: SearchRows, n_jobs: int = 1) -> Skeleton:
        """Find a tree for rows with soft labels."""
        counted = max(self.min_counted, self.min_share * search.n_counted) * search.counted_share
        least = np.rint(np.array([self.min_rows, counted]) * STEPS).astype(int).tolist()
        rules = SearchRules(self.max_leaf_nodes, self.max_depth, *least)
        nodes = _nodes(*search.rows.search(rules, self.leaf, n_jobs, self.paths), search)
        skeleton = build_skeleton(nodes, search.bins, level_order(nodes.parent, nodes.slot))
        column = skeleton.feature
        return replace(skeleton, feature=np.where(column < 0, -1, search.features[column]).astype(np.int32))


def _nodes(column: Indices, left: Bools, search: SearchRows) -> Nodes:
    """Turn the nodes of a search into nodes of the grower; categories and missing values without rows stop there."""
    n, rows = len(column), search.rows
    parent, slot = np.full(n, -1, np.int32), np.zeros(n, np.int32)
    first, last, missing = (np.full(n, -1, np.int32) for _ in range(3))
    start, maps, length = np.full(n, -1, np.int64), [], 0
    members: dict[int, NDArray[np.intp]] = {0: np.arange(len(rows.codes))}
    above: list[int] = []  # inner nodes whose right branch is yet to come
    for node in range(n):
        if node > 0:
            parent[node] = above[-1]
            slot[node] = node != above[-1] + 1
            if slot[node]:
                above.pop()
        number = int(column[node])
        if number < 0:
            continue
        above.append(node)
        n_codes, goes_left, here = int(rows.n_codes[number]), left[node], members.pop(node)
        code = rows.codes[here, number]
        occurs = np.bincount(code, minlength=n_codes + 1) > 0
        if occurs[n_codes]:
            missing[node] = not goes_left[n_codes]
        if rows.nominal[number]:
            codes = search.codes_of(number)
            start[node], length = length, length + len(codes)
            maps.append(np.where(occurs[codes], ~goes_left[codes], -1))
        else:
            first[node] = np.flatnonzero(occurs[:n_codes] & goes_left[:n_codes])[-1]
            right = np.flatnonzero(occurs[:n_codes] & ~goes_left[:n_codes])
            last[node] = right[0] if len(right) else n_codes
        on_left = goes_left[code]
        members[node + 1] = here[on_left]
        members[_right_branch(column, node)] = here[~on_left]
    return Nodes(
        parent,
        slot,
        column,
        first,
        last,
        missing,
        np.full(n, np.nan),
        np.zeros(n, np.int64),
        np.zeros((n, 1), np.int64),
        start,
        np.concatenate(maps).astype(np.int32) if maps else np.empty(0, np.int32),
    )


def _right_branch(column: Indices, node: int) -> int:
    """Return the right child of a node in preorder: the node after the left subtree."""
    at, open_branches = node + 1, 1
    while open_branches:
        open_branches += 1 if column[at] >= 0 else -1
        at += 1
    return at
