"""New branches for a node, as skeletons: a split in the words of a user, a changed split, a grown branch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import inf, isnan, nan
from typing import Any

import numpy as np

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import ParameterError, shown
from hornbeam.explain.candidates.list_splits import candidates_at, check_node
from hornbeam.explain.candidates.node_rows import NodeRows
from hornbeam.explain.candidates.table import CandidateSplit
from hornbeam.explain.candidates.training_rows import TrainingRows
from hornbeam.explain.candidates.way import Direction
from hornbeam.tree.skeleton import EVERY_CHILD, STOP, Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import leaves_below, subtree
from hornbeam.typing import Floats

_DIRECTIONS = ("left", "right", "own", "every")


def one_split(
    schema: Schema,
    column: int,
    *,
    threshold: Any = None,
    categories: Iterable[Iterable[Any]] | None = None,
    missing: Direction | None = None,
) -> Skeleton:
    """Make a skeleton of one split.

    Values up to `threshold` go to the first child; an infinite one, with ``missing="own"``, splits known from missing
    values. `categories` are those of each child of a nominal feature; a row of a category in no group stops at
    the node. `missing` is where rows with a missing value go: "left", "right", "own", "every" or None, to stop.
    """
    feature = schema.features[column]
    if missing is not None and str(missing) not in _DIRECTIONS:
        raise ParameterError(
            f"missing={shown(missing)}: expected 'left', 'right', 'own', 'every' or None, which stops at the node."
        )
    if missing == "every" and schema.is_regression:
        raise ParameterError(
            "missing='every': a regression tree sends each row to one child; expected 'left', 'right', 'own' or None."
        )
    nominal = feature.is_nominal
    given, other = (categories, threshold) if nominal else (threshold, categories)
    if given is None or other is not None:
        needed = "categories for each child" if nominal else "a threshold"
        raise ParameterError(
            f"feature {feature.name!r} is {feature.kind.value}; expected {needed}, and nothing else."
        )
    if nominal:
        return _nominal(feature, column, _listed(feature, categories), missing)
    return _numeric(feature, column, _position(feature, threshold), missing)


def candidate_branch(schema: Schema, split: CandidateSplit) -> Skeleton:
    """Return a candidate as a skeleton: a root and its leaves."""
    column = split.column
    if column >= schema.n_features or schema.names[column] != split.feature:
        raise ParameterError(
            f"the candidate splits column {column}, {split.feature!r}, which this tree does not have there; expected "
            "one of `candidates` of this editor."
        )
    feature = schema.features[column]
    if split.categories is not None:
        return _nominal(feature, column, list(split.categories), split.missing)
    assert split.threshold is not None
    return _numeric(feature, column, split.threshold, split.missing)


def _numeric(feature: Feature, column: int, threshold: float, missing: Direction | None) -> Skeleton:
    if threshold == inf and missing != "own":
        raise ParameterError(
            f"threshold=inf: every known value of {feature.name!r} is below it; expected missing='own', which splits "
            "known from missing values."
        )
    n = 3 if missing == "own" and threshold != inf else 2
    return _leaves_below(column, n, threshold, _slot(missing, n))


def _position(feature: Feature, threshold: Any) -> float:
    """Return a threshold as a number; after a category of an ordinal feature, the next half of its position."""
    number, ordinal = nan, feature.kind is Kind.ORDINAL
    if ordinal and (code := _code(feature, threshold)) >= 0:
        return code + 0.5
    with suppress(TypeError, ValueError, OverflowError):
        number = float(threshold)
    if isnan(number) or number == -inf or (ordinal and number != inf):
        kind = "one of its categories" if ordinal else "a number"
        raise ParameterError(f"threshold={shown(threshold)} for {feature.name!r}: expected {kind}.")
    return number


def _code(feature: Feature, category: Any) -> int:
    """Return the code of a category; -1 if it is none, or cannot be compared."""
    try:
        return feature.categories.index(category)
    except (TypeError, ValueError):
        return -1


def _listed(feature: Feature, groups: Any) -> list[tuple[Any, ...]]:
    try:
        if any(isinstance(group, str) for group in groups):
            raise TypeError
        return [tuple(group) for group in groups]
    except TypeError:
        raise ParameterError(
            f"categories={shown(groups)} for {feature.name!r}: expected a list of categories for each child, as in "
            "[['A', 'B'], ['C']]."
        ) from None


def _nominal(
    feature: Feature, column: int, groups: list[tuple[Any, ...]], missing: Direction | None
) -> Skeleton:
    # A group without categories is the place of missing values, if they have a child of their own.
    place = groups.index(()) if missing == "own" and groups.count(()) == 1 else None
    groups = [group for at, group in enumerate(groups) if group or at == place]
    slot_of = np.full(len(feature.categories), -1, np.int32)
    for slot, group in enumerate(groups):
        for category in group:
            code = _code(feature, category)
            if code < 0:
                raise ParameterError(
                    f"{shown(category)} is not a category of {feature.name!r}; expected one of "
                    f"{', '.join(map(repr, feature.categories[:10]))}{', …' * (len(feature.categories) > 10)}."
                )
            if slot_of[code] >= 0:
                raise ParameterError(
                    f"{shown(category)} is given twice for {feature.name!r}; expected it in one group."
                )
            slot_of[code] = slot
    n = len(groups) + (missing == "own" and place is None)
    if n < 2:
        raise ParameterError(f"categories of {feature.name!r}: expected at least two children, found {n}.")
    if missing in ("left", "right") and len(groups) != 2:
        raise ParameterError(f"missing={missing!r} needs categories of two children; found {len(groups)}.")
    return _leaves_below(column, n, nan, _slot(missing, n) if place is None else place, slot_of.tolist())


def _slot(missing: Direction | None, n_children: int) -> int:
    named = {"left": 0, "right": 1, "own": n_children - 1, "every": EVERY_CHILD, None: STOP}
    return named[missing]


def _leaves_below(
    column: int, n: int, threshold: float, missing_slot: int, slot_of: Sequence[int] = ()
) -> Skeleton:
    return Skeleton.of(
        n_children=[n] + [0] * n,
        feature=[column] + [-1] * n,
        threshold=[threshold] + [nan] * n,
        missing_slot=[missing_slot] + [STOP] * n,
        slot_start=[0] + [len(slot_of)] * (n + 1),
        slot_of=slot_of,
    )


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
    if feature.is_nominal or values[0] == inf:
        found = "by its categories" if feature.is_nominal else "into known and missing values"
        raise ParameterError(
            f"node {node} splits {feature.name!r} {found}; expected a split at a threshold. Use split, or "
            "set_categories for categories."
        )
    values[0] = one_split(tree.schema, column, threshold=threshold).threshold[0]
    return _changed(branch, threshold=values)


def branch_with_categories(tree: Tree, node: int, categories: Iterable[Iterable[Any]]) -> Skeleton:
    """Move categories between the children of a nominal split; the splits below stay."""
    check_inner_node(tree, node)
    branch = subtree(tree.skeleton, node)
    column, n = branch.feature.item(0), branch.n_children.item(0)
    known = branch.slot_of[: branch.slot_start.item(1)]
    alone = branch.missing_slot[0] == n - 1 and not (known == n - 1).any()
    split = one_split(tree.schema, column, categories=categories, missing="own" if alone else None)
    if split.n_children[0] != n:
        raise ParameterError(
            f"node {node} has {n} children and the new categories give {split.n_children[0]}; expected as many. Use "
            "split to replace the whole branch."
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
