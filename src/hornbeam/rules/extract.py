"""The rules of a tree's leaves."""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.rules.rule import Rule, RuleSet
from hornbeam.tree.condition import Condition, branch, merged_paths
from hornbeam.tree.statistics.pessimism import pessimistic_errors
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping, path_tests
from hornbeam.typing import Floats

__all__ = ["extract"]

_MOST_TESTS = 5_000_000

type _Path = tuple[Condition, ...]


def extract(
    tree: Tree,
    *,
    inner: bool = False,
    merge: bool = True,
    confidence: float = 0.25,
    constants: str = "c4.5",
    size: Floats | None = None,
) -> RuleSet:
    """Write a tree as rules: for each leaf the tests that lead there.

    Parameters
    ----------
    tree : Tree
    inner : bool, default False
        Also the rules of inner nodes, deepest first, behind those of the leaves: for rows that stop there, at a
        missing value or a category never seen.
    merge : bool, default True
        One condition a feature; otherwise one a test, first to last, and at most 5,000,000 in all.
    confidence, constants
        Of the errors to expect (`hornbeam.tree.statistics.pessimism.pessimistic_errors`).
    size : float64 array of shape (n_nodes,), optional
        Rows that speak for each node; default: its rows, or their weight if that is less.

    Returns
    -------
    RuleSet
        Leaves from left to right, with the evidence and the belief of the tree; the root is the default.

    Notes
    -----
    Rules of leaves exclude each other, so their order does not matter. With those of the inner nodes they decide
    every row as the tree does, but for missing values that go to every child: such a row gets the answer of
    the node where it would be shared out.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "yes", "no"]).tree_
    >>> for rule in extract(tree):
    ...     print([(c.above, c.at_most) for c in rule.conditions], rule.target, rule.support)
    [(None, 0.5)] 0 1.0
    [(0.5, 2.5)] 1 2.0
    [(2.5, None)] 0 1.0
    """
    if tree.is_regression:
        raise ParameterError(
            "the tree answers with a number, and rules name classes; expected a tree of classes. "
            "Write its leaves as rules: leaves(tree).as_rules()."
        )
    weight = tree.evidence * tree.unit
    n = weight.sum(axis=1)
    size = np.minimum(n, tree.rows) if size is None else size
    target = tree.decided
    wrong = n - weight[np.arange(tree.n_nodes), target]
    # A leaf without rows is as good as naming its class always.
    default = 1 - (weight[0, target] + 1) / (n[0] + 2)
    error = np.where(
        n > 0, pessimistic_errors(n, wrong, confidence, constants) / np.where(n > 0, n, 1), default
    )
    if not merge:
        _refuse_long_paths(tree)
    led = dict(merged_paths(tree)) if merge else _paths(tree)
    leaf = tree.skeleton.is_leaf
    nodes = [node for node in led if node and leaf[node]]
    if inner:
        nodes += sorted((node for node in led if node and not leaf[node]), reverse=True)
    decided = evidence_stopping(tree.skeleton, tree.evidence) * tree.unit
    decided[0] = weight[0] - decided[nodes].sum(axis=0)

    def rule(node: int) -> Rule:
        path = tuple(sorted(led[node], key=attrgetter("column"))) if merge else led[node]
        counts = weight[node], decided[node], tree.belief[node]
        return Rule(path, int(target[node]), *counts, size.item(node), error.item(node))

    return RuleSet(tree.schema, tuple([rule(node) for node in nodes]), rule(0))


def _refuse_long_paths(tree: Tree) -> None:
    tests = path_tests(tree.skeleton)
    if tests > _MOST_TESTS:
        raise ParameterError(
            f"The paths to the {tree.n_leaves:,} leaves of this tree have {tests:,} tests together, expected "
            f"{_MOST_TESTS:,} at most: rules with a condition for each test would take too long. Grow a smaller tree, "
            "with max_depth, min_samples_leaf or pruning, or use its leaves as they are: leaves().as_rules()."
        )


def _paths(tree: Tree) -> dict[int, _Path]:
    """The tests that lead to each node, nodes depth first from left to right."""
    led: dict[int, _Path] = {}
    todo: list[tuple[int, _Path]] = [(0, ())]
    while todo:
        node, path = todo.pop()
        led[node] = path
        if tree.skeleton.n_children[node]:
            first = tree.skeleton.first_child.item(node)
            children = range(first, first + tree.skeleton.n_children.item(node))
            todo += reversed([(child, (*path, branch(tree, child))) for child in children])
    return led
