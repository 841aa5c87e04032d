"""The benchmarks of smoothing: sweeps over a random tree, and what asking held-out rows adds to a fit."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from typing import Any

from benchmarks import synthetic
from benchmarks.output import OURS, Report
from benchmarks.speed.pruning import random_tree
from benchmarks.timing import Runner, Stopwatch, race

Facts = dict[str, object]


def smooth(options: Namespace, report: Report) -> None:
    """Each smoother on a tree of this many nodes; HDP, 1,000 sweeps, on a tenth of it."""
    from hornbeam.smoothing import (
        HDP,
        HGS,
        Borrowing,
        GradientHGS,
        HierarchicalShrinkage,
        Laplace,
        LeaveOneOutHGS,
        MBranch,
    )

    tree = random_tree(options.nodes, options.classes)
    small = random_tree(options.nodes // 10, options.classes)
    runners: dict[str, Runner] = {
        OURS: partial(_smooth, HGS(), tree),
        "borrowing": partial(_smooth, Borrowing(), tree),
        "hgs-gradient": partial(_smooth, GradientHGS(), tree),
        "hgs-loo": partial(_smooth, LeaveOneOutHGS(), tree),
        "laplace": partial(_smooth, Laplace(), tree),
        "m-branch": partial(_smooth, MBranch(), tree),
        "shrinkage": partial(_smooth, HierarchicalShrinkage(), tree),
        "hdp": partial(_smooth, HDP(sweeps=1000), small),
    }
    for name, result in race(runners, repeats=options.repeats, patience=2.0).items():
        report.add_result(name, result)


def default(options: Namespace, report: Report) -> None:
    """A default fit against the same fit without fold trees (HGS, every leaf)."""
    from hornbeam import TreeClassifier

    X, y = synthetic.make(options.rows, options.classes, options.features)
    settings: dict[str, dict[str, Any]] = {
        OURS: {},
        "asks nobody": {"smoothing": "hgs"},
    }
    runners: dict[str, Runner] = {
        name: partial(_fit, TreeClassifier(**chosen, n_jobs=options.threads), X, y)
        for name, chosen in settings.items()
    }
    for name, result in race(runners, repeats=options.repeats, patience=options.patience).items():
        report.add_result(name, result)


def _smooth(smoother: Any, tree: Any, watch: Stopwatch) -> Facts:
    with watch("smooth"):
        smoother(tree)
    return {"nodes": tree.n_nodes, "classes": tree.n_classes}


def _fit(classifier: Any, X: Any, y: Any, watch: Stopwatch) -> Facts:
    with watch("fit"):
        classifier.fit(X, y)
    return {"rows": len(y), "leaves": classifier.tree_.n_leaves}
