"""New branches for a node of a tree: its branch with another threshold or other groups, or one grown from its rows."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

import numpy as np

from hornbeam.data.schema import Kind
from hornbeam.editing.one_split import one_split
from hornbeam.errors import ParameterError
from hornbeam.explain.candidates.list_splits import candidates_at, check_node
from hornbeam.explain.candidates.node_rows import NodeRows
from hornbeam.explain.candidates.training_rows import TrainingRows
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import leaves_below, subtree
from hornbeam.typing import Floats

__all__ = ["branch_with_groups", "branch_with_threshold", "check_inner_node", "grown_branch"]


def check_inner_node(tree: Tree, node: int) -> None:
    """Raise `ParameterError` if a tree has no such node, or it is a leaf."""
    check_node(tree, node)
    if tree.skeleton.n_children[node] == 0:
        raise ParameterError(f"node {node} is a leaf; expected an inner node, which has a split.")


def branch_with_threshold(tree: Tree, node: int, threshold: Any) -> Skeleton:
    """Move the threshold of a numeric split; the splits below stay."""
    check_inner_node(tree, node)
    branch = subtree(tree.skeleton, node)
    column, values = branch.feature.item(0), branch.threshold.copy()
    feature = tree.schema.features[column]
    if feature.kind is Kind.NOMINAL or values[0] == inf:
        found = "by its categories" if feature.kind is Kind.NOMINAL else "into known and missing values"
        raise ParameterError(
            f"node {node} splits {feature.name!r} {found}; expected a split at a threshold. Use split, or set_groups "
            "for categories."
        )
    values[0] = one_split(tree.schema, column, threshold=threshold).threshold[0]
    return _changed(branch, threshold=values)


def branch_with_groups(tree: Tree, node: int, groups: Iterable[Iterable[Any]]) -> Skeleton:
    """Move categories between the children of a nominal split; the splits below stay."""
    check_inner_node(tree, node)
    branch = subtree(tree.skeleton, node)
    column, n = branch.feature.item(0), branch.n_children.item(0)
    known = branch.slot_of[: branch.slot_start.item(1)]
    alone = branch.missing_slot[0] == n - 1 and not (known == n - 1).any()
    split = one_split(tree.schema, column, groups=groups, missing="own" if alone else None)
    if split.n_children[0] != n:
        raise ParameterError(
            f"node {node} has {n} children and the new groups give {split.n_children[0]}; expected as many. Use split "
            "to replace the whole branch."
        )
    slot_of = branch.slot_of.astype(np.int32)
    slot_of[: len(known)] = split.slot_of
    return _changed(branch, slot_of=slot_of)


def grown_branch(tree: Tree, rows: TrainingRows, node: int, levels: int | None) -> tuple[Skeleton, Floats]:
    """Grow a node from its rows by some levels, or to the limits of the fit; return splits and gains.

    With ``levels=None`` the largest number of leaves of the fit is a limit too; a node at this limit gets one split.
    """
    check_node(tree, node)
    here = NodeRows.of(tree, rows.encoded, rows.grower, node)
    if levels is not None:
        skeleton, gain = here.grow(here.place.depth + levels)
    else:
        most = rows.grower.max_leaf_nodes
        others = tree.n_leaves - leaves_below(tree.skeleton).item(node)
        skeleton, gain = here.grow(None, None if most is None else max(2, most - others))
    if skeleton.n_nodes == 1:
        limit = candidates_at(tree, rows, node).limit or "no split gains enough"
        raise ParameterError(
            f"growing does not split node {node}: {limit}. Expected a node that can be split; a split of your own is "
            "possible with split."
        )
    return skeleton, gain


def _changed(skeleton: Skeleton, **changed: Any) -> Skeleton:
    names = ("n_children", "feature", "threshold", "missing_slot", "slot_start", "slot_of")
    return Skeleton.of(**{name: getattr(skeleton, name) for name in names} | changed)
