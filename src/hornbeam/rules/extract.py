"""Rules of the leaves of a tree."""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from hornbeam.checks import check_flags
from hornbeam.errors import ParameterError
from hornbeam.rules.rule import Rule
from hornbeam.rules.rule_set import RuleSet
from hornbeam.tree.condition import Condition, branch_condition, merged_path_conditions
from hornbeam.tree.statistics import pessimistic_errors
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping, path_tests
from hornbeam.typing import Floats

_MAX_TESTS = 5_000_000

type _Path = tuple[Condition, ...]


def extract(
    tree: Tree,
    *,
    inner: bool = False,
    merge: bool = True,
    size: Floats | None = None,
) -> RuleSet:
    """Make a rule of each leaf, from the splits on its path.

    `inner` adds the rules of inner nodes, deepest first, after those of the leaves: for rows that stop there because of
    a missing value or a category without a slot. `merge` merges the conditions on each feature; otherwise there is one
    condition per split, at most 5,000,000 in all. `size` is the effective number of rows of each node; by default its
    rows, or their weight if that is less.

    The rules of the leaves are in the order from left to right, with the evidence, the belief and the terms of the
    tree; the root is the default. No row meets the rules of two leaves, so their order does not matter. With the rules
    of inner nodes, every row gets the prediction of the tree, except rows that are split over every child at a missing
    value: these get the prediction of the node where they are split.
    """
    check_flags(inner=inner, merge=merge)
    if tree.is_regression:
        raise ParameterError(
            "the target of the tree is numeric, and rules predict classes; expected a classification tree. "
            "Write its leaves as rules: leaves().as_rules()."
        )
    weight = tree.evidence * tree.unit
    n = weight.sum(axis=1)
    size = np.minimum(n, tree.rows) if size is None else size
    target = tree.decided
    wrong = n - weight[np.arange(tree.n_nodes), target]
    # A leaf without rows has the error rate of predicting its class for every row.
    default = 1 - (weight[0, target] + 1) / (n[0] + 2)
    error = np.where(n > 0, pessimistic_errors(n, wrong, 0.25, "c4.5") / np.where(n > 0, n, 1), default)
    if not merge:
        _refuse_long_paths(tree)
    conditions = dict(merged_path_conditions(tree)) if merge else _unmerged_paths(tree)
    leaf = tree.skeleton.is_leaf
    nodes = [node for node in conditions if node and leaf[node]]
    if inner:
        nodes += sorted((node for node in conditions if node and not leaf[node]), reverse=True)
    decided = evidence_stopping(tree.skeleton, tree.evidence) * tree.unit
    decided[0] = weight[0] - decided[nodes].sum(axis=0)

    def rule(node: int) -> Rule:
        path = conditions[node]
        if merge:
            path = tuple(sorted(path, key=attrgetter("column")))
        counts = weight[node], decided[node], tree.belief[node]
        slopes = tree.path_slopes.of_nodes(node, node + 1)
        return Rule(
            path, tree.schema.classes, int(target[node]), *counts, size.item(node), error.item(node), slopes
        )

    return RuleSet(tree.schema, tuple([rule(node) for node in nodes]), rule(0))


def _refuse_long_paths(tree: Tree) -> None:
    tests = path_tests(tree.skeleton)
    if tests > _MAX_TESTS:
        raise ParameterError(
            f"The paths to the {tree.n_leaves:,} leaves of this tree have {tests:,} tests together, expected "
            f"{_MAX_TESTS:,} at most: rules with a condition for each test would take too long. Grow a smaller tree, "
            "with max_depth, min_samples_leaf or pruning, or use its leaves as they are: leaves().as_rules()."
        )


def _unmerged_paths(tree: Tree) -> dict[int, _Path]:
    """Return the conditions on the path to each node, one per split; nodes depth first, from left to right."""
    found: dict[int, _Path] = {}
    todo: list[tuple[int, _Path]] = [(0, ())]
    while todo:
        node, path = todo.pop()
        found[node] = path
        if tree.skeleton.n_children[node]:
            first = tree.skeleton.first_child.item(node)
            children = range(first, first + tree.skeleton.n_children.item(node))
            todo += reversed([(child, (*path, branch_condition(tree, child))) for child in children])
    return found
