"""Forced splits: the top of a tree that is given, and the nodes below it from which growing goes on.

Rows whose value of a forced split is missing, or of a category in none of its groups, get a child of their own where
there are such rows. A forced split that leaves another child without rows is left out, with all below it: so a tree
that is grown without some of the rows, for cross-fitting, has the part of the top that its rows allow.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple, Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError
from hornbeam.growing.count_encoded import encoded_sums, skeleton_to_code_tree
from hornbeam.growing.levelwise.nodes import NodeList, OpenNode
from hornbeam.kernels import levelwise
from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, PathRules, Rows, Split
from hornbeam.tree.skeleton import EVERY_CHILD, STOP, Skeleton
from hornbeam.tree.walk import descendants, features_above, pull_up, replace_subtree
from hornbeam.typing import Counts, Floats


class ForcedSplit(NamedTuple):
    """A forced split as plain values, which the history of a tree can hold.

    ``slots`` has the slot of each category of a nominal feature; ``threshold`` is None then.
    """

    feature: int
    n_children: int
    threshold: float | None
    slots: tuple[int, ...]
    missing_slot: int


def forced_splits(skeleton: Skeleton) -> tuple[ForcedSplit | None, ...]:
    """Convert a skeleton, node by node in level order; None for a leaf."""
    splits: list[ForcedSplit | None] = []
    for node, (begin, end) in enumerate(pairwise(skeleton.slot_start.tolist())):
        threshold, n = skeleton.threshold.item(node), skeleton.n_children.item(node)
        splits.append(
            ForcedSplit(
                skeleton.feature.item(node),
                n,
                None if np.isnan(threshold) else threshold,
                tuple(skeleton.slot_of[begin:end].tolist()),
                skeleton.missing_slot.item(node),
            )
            if n
            else None
        )
    return tuple(splits)


def forced_skeleton(splits: Sequence[Sequence[object] | None]) -> Skeleton:
    """Convert forced splits, or tuples of their values, into a skeleton."""
    leaf = ForcedSplit(-1, 0, None, (), STOP)
    try:
        nodes = [leaf if split is None else ForcedSplit(*split) for split in splits]  # type: ignore[arg-type]
        return Skeleton.of(
            [one.n_children for one in nodes],
            [one.feature for one in nodes],
            [np.nan if one.threshold is None else one.threshold for one in nodes],
            missing_slot=[one.missing_slot for one in nodes],
            slot_start=[0, *accumulate(len(one.slots) for one in nodes)],
            slot_of=[slot for one in nodes for slot in one.slots],
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(
            f"the forced splits are no tree: {error!s:.200}; expected what forced_splits of a skeleton returns."
        ) from error


def check_forced(
    skeleton: Skeleton,
    schema: Schema,
    max_depth: int | None,
    monotone: tuple[int, ...] | None,
    paths: PathRules | None,
) -> None:
    """Refuse forced splits that do not fit the features, or break another parameter of growing."""
    inner = np.flatnonzero(skeleton.n_children).tolist()
    n_levels = len(skeleton.levels) - 2
    if max_depth is not None and n_levels > max_depth:
        raise ParameterError(
            f"the forced splits have {n_levels} levels, and max_depth={max_depth}; expected at most as many levels."
        )
    for node in inner:
        column = skeleton.feature.item(node)
        if column >= schema.n_features:
            raise ParameterError(
                f"a forced split is of feature {column}; expected 0 to {schema.n_features - 1}, as the rows have."
            )
        n_categories = int(skeleton.slot_start[node + 1] - skeleton.slot_start[node])
        feature, nominal = schema.features[column], np.isnan(skeleton.threshold[node])
        if n_categories != (len(feature.categories) if nominal else 0):
            raise ParameterError(
                f"a forced split of {feature.name!r} has {n_categories} categories; expected those of the rows, "
                f"{len(feature.categories)}."
            )
        if skeleton.missing_slot[node] == EVERY_CHILD:
            raise ParameterError(
                f"a forced split of {feature.name!r} sends missing values to every child; expected one child."
            )
        if monotone is not None and monotone[column]:
            raise ParameterError(
                f"a forced split of {feature.name!r}, which has a monotone constraint; expected one or the other. "
                "Force splits of other features, or leave the constraint out."
            )
        if paths is not None and not paths.allowed(features_above(skeleton, node))[column]:
            raise ParameterError(
                f"a forced split of {feature.name!r}: a constraint does not allow it below the splits above. Expected "
                "splits that the constraints allow."
            )


def without_empty(skeleton: Skeleton, bins: Bins) -> Skeleton:
    """Leave out splits below every value, which codes cannot express; their first child has no rows."""
    for node in np.flatnonzero(np.isfinite(skeleton.threshold))[::-1].tolist():  # numbers before a node stay
        values: Floats = np.empty(0) if bins.values is None else bins.values[skeleton.feature.item(node)]
        if len(values) and skeleton.threshold[node] < values[0]:
            skeleton, _ = replace_subtree(skeleton, node, Skeleton.leaf())
    return skeleton


@dataclass(slots=True, eq=False)
class ForcedTop:
    """The nodes of the forced splits of one tree, and its leaves so far, from which growing goes on.

    The ranges of rows of the leaves follow one another. `thresholds` has that of each numeric split, by its node: those
    of the user, which need not lie midway between values. `begin` has for each node of the skeleton where the range
    begins of the leaf that has the rows which stop there.
    """

    node_list: NodeList
    leaves: list[OpenNode] = field(default_factory=list)
    thresholds: dict[int, float] = field(default_factory=dict)
    begin: Counts = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def of(
        cls,
        skeleton: Skeleton,
        code_tree: CodeTree,
        bins: Bins,
        spec: GrowthSpec,
        counted: Counts,
        key: int = 0,
    ) -> Self:
        """Make the nodes, given the evidence and number of rows that stop at each node (`count_stopped`)."""
        from hornbeam.growing.split_gains import gain_of_children  # imported only for forced splits

        stopped, rows = counted[:, :-1].copy(), counted[:, -1].copy()
        total, n_rows = pull_up(skeleton, stopped), pull_up(skeleton, rows)
        top = cls(NodeList(spec), begin=np.zeros(skeleton.n_nodes, np.int64))
        root = top.node_list.add(-1, 0, int(n_rows[0]), total[0])
        node_range = NodeRange.root(int(n_rows[0]), spec, key)
        waiting = deque([(0, OpenNode(root, node_range, total[0]))])
        while waiting:
            node, open_node = waiting.popleft()
            children = _children(skeleton, node, n_rows)
            if not children:
                top.leaves.append(open_node)
                top.begin[descendants(skeleton, node)] = open_node.node_range.begin
                continue
            counts, sizes = [total[child] for child in children], [int(n_rows[child]) for child in children]
            if rows[node]:  # a child of their own for the rows that stop
                counts, sizes = [*counts, stopped[node]], [*sizes, int(rows[node])]
            split = _split(skeleton, code_tree, bins, node, len(children), own=bool(rows[node]))
            evidence = np.array(counts)
            gain = gain_of_children(spec, open_node.node_range, split.feature, evidence, np.array(sizes))
            split = split._replace(gain=gain)
            ranges = list(pairwise(accumulate(sizes, initial=open_node.node_range.begin)))
            family = top.node_list.split(open_node, split, evidence, ranges)
            if split.left >= 0:
                top.thresholds[open_node.node] = skeleton.threshold.item(node)
            waiting.extend(zip(children, family, strict=False))
            if rows[node]:
                top.leaves.append(family[-1])
                top.begin[node] = ranges[-1][0]
        return top

    @classmethod
    def count(
        cls, skeleton: Skeleton, bins: Bins, spec: GrowthSpec, rows: Rows, key: int
    ) -> tuple[Self, Rows]:
        """Count rows in memory; return the top, and the rows sorted by its leaves."""
        skeleton = without_empty(skeleton, bins)
        code_tree = skeleton_to_code_tree(skeleton, bins)
        stop = levelwise.descend(rows.codes, spec, code_tree)
        stopped = encoded_sums(stop, rows, spec, skeleton.n_nodes)
        top = cls.of(skeleton, code_tree, bins, spec, stopped, key)
        return top, rows.take(np.argsort(top.begin[stop], kind="stable"))


def _children(skeleton: Skeleton, node: int, n_rows: Counts) -> list[int]:
    """Return the children of a split that is possible with these rows: none is empty; without one of missing values."""
    first, n = skeleton.first_child.item(node), skeleton.n_children.item(node)
    children = list(range(first, first + n))
    if n > 2 and not n_rows[children[-1]] and skeleton.missing_slot[node] == n - 1:
        children.pop()
    return children if all(n_rows[child] for child in children) else []


def _split(
    skeleton: Skeleton, code_tree: CodeTree, bins: Bins, node: int, n_slots: int, *, own: bool
) -> Split:
    """Return a forced split on codes; with ``own``, the rows that stop get a last child."""
    f, left = code_tree.feature.item(node), code_tree.left.item(node)
    n_codes, missing_slot = bins.n_codes.item(f), skeleton.missing_slot.item(node)
    slot_of = np.full(n_codes + 1, -1, np.int32)
    if bins.nominal[f]:
        begin = code_tree.map_start.item(node)
        slot_of[:-1] = code_tree.map[begin : begin + n_codes]
        left = -1
    else:
        slot_of[:-1] = np.arange(n_codes) > left
    slot_of[-1] = missing_slot if missing_slot < n_slots else -1
    if own:
        slot_of[slot_of < 0] = n_slots
    right = left + 1 if left >= 0 else -1
    return Split(f, 0.0, left, right, slot_of.item(-1), n_slots + own, slot_of)
