"""The benchmark of the guide's table: when do threads help to prune by Bayes risk?

    python -m benchmarks.speed frontiers --json | tee FILE | python -m benchmarks.speed.frontiers

The second command makes the table of what the first one measured.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks.output import OURS, Report
from benchmarks.speed.pruning import random_tree
from benchmarks.timing import Runner, Stopwatch, latency, race

SIZES = (1_000, 10_000, 100_000, 1_000_000)
CLASSES = (2, 5)
COLUMNS = {  # of the table: a peer and the part of its work
    "node by node": ("sequential", "judge"),
    "1 thread": (OURS, "judge"),
    "threads": ("threads", "judge"),
    "whole call": (OURS, "whole"),
}


def frontiers(options: Namespace, report: Report) -> None:
    """Bayes risk on trees of several sizes: node by node, on 1 thread, on `--threads`; and the whole call."""
    sizes = [size for size in SIZES if size <= options.nodes]
    # One race of all sizes: the turns of each are spread over the whole run, and so are the machine's slow moments.
    runners = {
        (f"{size} nodes, {classes} classes", peer): runner
        for size, classes in product(sizes, CLASSES)
        for peer, runner in _runners(size, classes, options.threads).items()
    }
    results = race(runners, repeats=options.repeats, patience=options.patience)
    for (case, peer), result in results.items():
        report.add_result(peer, result, case)


def _runners(size: int, classes: int, threads: int) -> dict[str, Runner]:
    from hornbeam.pruning import BayesRisk
    from hornbeam.smoothing import Laplace

    tree = Laplace()(random_tree(size, classes))
    costs = 1.0 + np.arange(classes)[:, None] - np.eye(classes)
    return {
        OURS: partial(_judge, BayesRisk(costs), 1, tree),
        "threads": partial(_judge, BayesRisk(costs)._with_threads(threads), threads, tree),
        "sequential": partial(_judge, BayesRisk(costs, method="sequential"), 1, tree),
    }


def _judge(pruner: Any, threads: int, tree: Any, watch: Stopwatch) -> dict[str, object]:
    """The verdicts count; one by one in Python, they are nearly all of the whole call."""
    watch.record("judge", _once(partial(pruner.cuts, tree)))
    if pruner.method == "frontier":
        watch.record("whole", _once(partial(pruner, tree)), extra=True)
    return {"nodes": tree.n_nodes, "classes": tree.n_classes, "threads": threads}


# A batch of short calls a turn, short enough to find a moment in which nothing else runs.
_once = partial(latency, repeats=0, seconds=0.002)


def table(records: Iterable[Mapping[str, Any]]) -> str:
    """Markdown: wall milliseconds of the best turn, and CPU milliseconds of the best one in brackets."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for record in records:
        if "parts" in record:
            found.setdefault((record["nodes"], record["classes"]), {})[record["peer"]] = record
    threads = max(record["threads"] for peers in found.values() for record in peers.values())
    names = [f"{threads} threads" if name == "threads" else name for name in COLUMNS]
    lines = [f"| nodes | classes | {' | '.join(names)} |", "|---" * (2 + len(names)) + "|"]
    for (nodes, classes), peers in found.items():
        laps = [peers[peer]["parts"][part] for peer, part in COLUMNS.values()]
        cells = [f"{_milliseconds(lap['wall'])} ({_milliseconds(lap['cpu'])})" for lap in laps]
        lines.append(f"| {round(nodes, -3):,} | {classes} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _milliseconds(seconds: float) -> str:
    figure = 1e3 * seconds
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.2g}" if figure < 10 else f"{figure:.1f}"


if __name__ == "__main__":
    print(table(map(json.loads, sys.stdin)))
