"""The benchmark of the pruners: one random tree, judged in several ways."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.output import OURS, Report
from benchmarks.timing import Runner, Stopwatch, race

Facts = dict[str, object]
_LONGEST_PATH = 100_000  # nodes; scikit-learn's path takes seconds there, and grows with their square
PEERS = (OURS, "threads", "sequential", "naive", "sklearn")


def prune(options: Namespace, report: Report) -> None:
    """Bayes risk by frontiers, node by node and naively; the cost-complexity path of a tree."""
    from hornbeam.pruning import BayesRisk
    from hornbeam.smoothing import Laplace

    tree = Laplace()(random_tree(options.nodes, options.classes))
    costs = 1.0 + np.arange(options.classes)[:, None] - np.eye(options.classes)
    risk: dict[str, Runner] = {
        OURS: partial(_judge, BayesRisk(costs), tree),
        "threads": partial(_judge, BayesRisk(costs)._with_threads(options.threads), tree),
        "sequential": partial(_judge, BayesRisk(costs, method="sequential"), tree),
        "naive": partial(_judge_naively, tree, costs),
    }
    _run("bayes risk", risk, options, report)
    _run("ccp path", _paths(options), options, report)


def _run(case: str, runners: dict[str, Runner], options: Namespace, report: Report) -> None:
    wanted = tuple(options.peers or PEERS)
    chosen = {name: runner for name, runner in runners.items() if name.startswith(wanted)}
    for name, result in race(chosen, repeats=options.repeats, patience=options.patience).items():
        report.add_result(name, result, case)


def _judge(pruner: Any, tree: Any, watch: Stopwatch) -> Facts:
    """The verdicts count; making the smaller tree from them is the same work for all."""
    from hornbeam.tree import collapse

    with watch("judge"):
        cut = pruner.cuts(tree)
    with watch("collapse", extra=True):
        leaves = collapse(tree, cut).n_leaves
    return {"nodes": tree.n_nodes, "leaves": leaves}


def _judge_naively(tree: Any, costs: Any, watch: Stopwatch) -> Facts:
    with watch("judge"):
        leaves = naive(tree, costs)
    return {"nodes": tree.n_nodes, "leaves": leaves}


def naive(tree: Any, costs: Any) -> int:
    """Ask every node for all the leaves below it, as the definition is written; the leaves that are left."""
    first_child, n_children = tree.skeleton.first_child.tolist(), tree.skeleton.n_children.tolist()
    for node in range(tree.n_nodes - 1, -1, -1):
        if n_children[node]:
            leaves, waiting = [], [node]
            while waiting:
                here = waiting.pop()
                below = range(first_child[here], first_child[here] + n_children[here])
                waiting.extend(below)
                if not below:
                    leaves.append(here)
            risk = tree.evidence[node].sum() * (tree.belief[node] @ costs).min()
            total = (tree.evidence[leaves].sum(axis=1) * (tree.belief[leaves] @ costs).min(axis=1)).sum()
            if risk <= total * (1 + 1e-12):
                n_children[node] = 0
    kept, waiting = 0, [0]
    while waiting:
        node = waiting.pop()
        kept += not n_children[node]
        waiting.extend(range(first_child[node], first_child[node] + n_children[node]))
    return kept


def random_tree(n_nodes: int, n_classes: int) -> Any:
    """A tree in which about five of eight nodes split, with a few rows in every leaf."""
    from hornbeam import Tree
    from hornbeam.tree import Feature, Schema, Skeleton
    from hornbeam.tree.walk import pull_up

    rng = np.random.default_rng(0)
    levels, splits, width = [], n_nodes // 2, 1
    while width:
        here = min(splits, -(-5 * width // 8))
        level = np.zeros(width, np.int32)
        level[rng.permutation(width)[:here]] = 2
        levels.append(level)
        splits, width = splits - here, 2 * here
    n_children = np.concatenate(levels)
    inner = n_children > 0
    skeleton = Skeleton.of(n_children, np.where(inner, 0, -1), np.where(inner, 0.0, np.nan))
    # Classes of a leaf lean towards one of them, so that some splits are worth keeping.
    rows = rng.integers(0, 4, (len(inner), n_classes))
    rows[np.arange(len(inner)), rng.integers(0, n_classes, len(inner))] += rng.integers(0, 12, len(inner))
    schema = Schema((Feature("x"),), tuple(range(n_classes)))
    return Tree.raw(schema, skeleton, pull_up(skeleton, rows * ~inner[:, None]))


def _paths(options: Namespace) -> dict[str, Runner]:
    """The same tree, grown by scikit-learn on noise, for its path and for ours."""
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import ccp_pruning_path

    from hornbeam.pruning.cost_complexity import cost_complexity_path

    rng = np.random.default_rng(0)
    rows = int(1.6 * min(options.nodes, _LONGEST_PATH))  # of noise make about this many nodes
    X, y = rng.random((rows, 3)), rng.integers(0, 2, rows)
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y).tree_
    ours = converted(theirs)

    def run(find: Callable[[], Any], watch: Stopwatch) -> Facts:
        with watch("path"):
            find()
        return {"nodes": theirs.node_count}

    return {
        OURS: partial(run, lambda: cost_complexity_path(ours)),
        "sklearn": partial(run, lambda: ccp_pruning_path(theirs)),
    }


def converted(old: Any) -> Any:
    """A tree of scikit-learn as one of ours."""
    from hornbeam import Tree
    from hornbeam.tree import Feature, Schema, Skeleton
    from hornbeam.tree.level_order import level_order

    parent, rank = np.full(old.node_count, -1), np.zeros(old.node_count, int)
    for slot, child in enumerate((old.children_left, old.children_right)):
        inner = np.flatnonzero(child >= 0)
        parent[child[inner]], rank[child[inner]] = inner, slot
    order = level_order(parent, rank)
    inner = old.children_left[order] >= 0
    threshold = np.where(inner, old.threshold[order], np.nan)
    skeleton = Skeleton.of(np.where(inner, 2, 0), np.where(inner, old.feature[order], -1), threshold)
    counts = np.rint(old.value[order, 0] * old.weighted_n_node_samples[order, None]).astype(np.int64)
    features = tuple(Feature(f"x{i}") for i in range(old.n_features))
    return Tree.raw(Schema(features, tuple(range(counts.shape[1]))), skeleton, counts)
