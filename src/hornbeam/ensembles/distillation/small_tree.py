"""Search for a small tree with lookahead, on rows with soft labels."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.distillation.search_rows import STEPS, SearchRows, grow_soft
from hornbeam.growing.tree_builder import build_skeleton
from hornbeam.kernels.lookahead import LeafRules, SearchRules
from hornbeam.kernels.subtree import Nodes
from hornbeam.tree.importance import importance
from hornbeam.tree.level_order import level_order
from hornbeam.tree.skeleton import Skeleton
from hornbeam.typing import Bools, Floats, Indices

# Rows of a search: labels of a teacher have little noise. A prime, so that a sample of rows has no pattern.
_MOST_ROWS = 11_987
_MOST_FEATURES = 32
_MIN_ROWS = 5.0  # per leaf of the tree that selects them


@dataclass(frozen=True, slots=True)
class SmallTree:
    """Settings of the search for a small tree.

    Every cut of a node is valued by what its two branches explain of the soft labels, each with a linear model of the
    terms of the node (`leaf`). The best cuts are compared by what a whole tree below them explains within the budget of
    leaves. A leaf has at least `min_rows` rows, `min_counted` counted rows and the share `min_share` of all counted
    rows. Of more rows than a search takes, all counted ones are used if they are at most half of these, so that the
    minimum is exact; else a share of them.
    """

    max_leaf_nodes: int = 16
    max_depth: int = 7
    min_rows: float = 20.0
    min_counted: float = 1.0
    min_share: float = 0.0
    leaf: LeafRules = field(default_factory=lambda: LeafRules(2))

    def grow(
        self, table: Table, labels: Floats, n_jobs: int = 1, *, counted: Bools | None = None
    ) -> Skeleton:
        """Find a tree for rows with soft labels of shape (n_rows, n_channels); `counted` rows are all, or some."""
        counted = np.ones(table.n_rows, np.bool_) if counted is None else counted
        least = np.array([self.min_rows, max(self.min_counted, self.min_share * np.count_nonzero(counted))])
        if table.n_rows > _MOST_ROWS:
            sample = _sample(counted)
            least[1] *= np.count_nonzero(counted[sample]) / np.count_nonzero(counted)
            table, labels, counted = table.take(sample), labels[sample], counted[sample]
        search = SearchRows.of(table, labels, n_jobs, counted)
        rules = SearchRules(self.max_leaf_nodes, self.max_depth, *np.rint(least * STEPS).astype(int).tolist())
        features = _most_important(table, labels, n_jobs)
        rows = search.rows if features is None else search.rows.select(features)
        feature, left = rows.search(rules, self.leaf, n_jobs)
        if features is not None:
            feature = np.where(feature < 0, -1, features[feature]).astype(np.int32)
        nodes = _nodes(feature, left, search)
        return build_skeleton(nodes, search.bins, level_order(nodes.parent, nodes.slot))


def _sample(counted: Bools) -> NDArray[np.intp]:
    """Draw rows for the search, in their order: all that are counted if these are at most half, and some others."""
    kept = np.flatnonzero(counted)
    if 2 * len(kept) > _MOST_ROWS:
        return np.arange(_MOST_ROWS) * len(counted) // _MOST_ROWS
    others, n = np.flatnonzero(~counted), _MOST_ROWS - len(kept)
    return np.sort(np.append(kept, others[np.arange(n) * len(others) // n]))


def _most_important(table: Table, labels: Floats, n_jobs: int) -> NDArray[np.intp] | None:
    """Find the features with the largest gains in a tree of any size; None if the table has only a few."""
    if table.schema.n_features <= _MOST_FEATURES:
        return None
    gains = importance(grow_soft(table, labels, _MIN_ROWS, n_jobs))
    return np.sort(np.argsort(-gains, kind="stable")[:_MOST_FEATURES])


def _nodes(feature: Indices, left: Bools, search: SearchRows) -> Nodes:
    """Turn the nodes of a search into nodes of the grower; categories and missing values without rows stop there."""
    n, rows = len(feature), search.rows
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
        number = int(feature[node])
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
        members[_right_branch(feature, node)] = here[~on_left]
    return Nodes(
        parent,
        slot,
        feature,
        first,
        last,
        missing,
        np.full(n, np.nan),
        np.zeros(n, np.int64),
        np.zeros((n, 1), np.int64),
        start,
        np.concatenate(maps).astype(np.int32) if maps else np.empty(0, np.int32),
    )


def _right_branch(feature: Indices, node: int) -> int:
    """Return the right child of a node in preorder: the node after the left subtree."""
    at, open_branches = node + 1, 1
    while open_branches:
        open_branches += 1 if feature[at] >= 0 else -1
        at += 1
    return at
