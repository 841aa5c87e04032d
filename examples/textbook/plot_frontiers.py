"""
Pruning in parallel with joblib
===============================

Bayes-risk pruning goes from the leaves to the root. Nodes of one height do not depend on each other: they are a
*frontier*, and can be decided on at the same time (D. Chou, *Bayes Risk Pruning*, 2021). This example does so with
joblib, on threads and on processes, and compares the times with one thread and with Hornbeam's compiled code. The page
:doc:`/learn/frontiers` explains the method.
"""

from functools import partial
from itertools import pairwise
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed

from hornbeam import TreeClassifier
from hornbeam.pruning import BayesRisk

BLUE, ORANGE, GREY = "#2166ac", "#d95f02", "#7f7f7f"


# %%
# One frontier at a time
# ----------------------
# The value of a leaf is its risk: rows times the probability of a mistake. The value of an inner node is the smaller
# of its own risk and the sum of its children's values. A task decides on half of a frontier; a task for each node would
# be slower still.


def decide(nodes, risk, value, first, n_children):
    """Values of some nodes whose children have theirs, and whether each is cut."""
    values, cuts = [], []
    for node in nodes:
        below = sum(value[first[node] : first[node] + n_children[node]])
        cuts.append(n_children[node] > 0 and risk[node] <= below * (1 + 1e-12))
        values.append(risk[node] if cuts[-1] or not n_children[node] else below)
    return values, cuts


def frontiers(skeleton):
    """Nodes by height, the distance to the deepest leaf below, and where each height begins."""
    height = np.zeros(skeleton.n_nodes, int)
    for node in range(skeleton.n_nodes - 1, 0, -1):
        parent = skeleton.parent[node]
        height[parent] = max(height[parent], height[node] + 1)
    return np.argsort(height, kind="stable"), np.concatenate(([0], np.cumsum(np.bincount(height))))


def prune_with_joblib(tree, parallel):
    """Find the nodes that become leaves, one frontier after the other."""
    mistakes = 1 - np.eye(tree.n_classes)
    risk = tree.evidence.sum(axis=1) * (tree.belief @ mistakes).min(axis=1)
    first, n_children = tree.skeleton.first_child, tree.skeleton.n_children
    value, cut = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes, bool)
    order, begin = frontiers(tree.skeleton)
    for here, end in pairwise(begin):
        parts = np.array_split(order[here:end], parallel.n_jobs)
        found = parallel(delayed(decide)(part, risk, value, first, n_children) for part in parts)
        value[order[here:end]] = np.concatenate([values for values, _ in found])
        cut[order[here:end]] = np.concatenate([cuts for _, cuts in found])
    return cut


# %%
# The same tree, at different times
# ---------------------------------
# The trees are grown on noise, so that they are large; their probabilities are Laplace's. By work and span, two
# processors need at most (work / 2 + span) / work of the time of one: that is the dashed line.


def timed(call, repeats=2):
    """The result, and the least seconds of some calls."""
    seconds = []
    for _ in range(repeats):
        begin = perf_counter()
        result = call()
        seconds.append(perf_counter() - begin)
    return result, min(seconds)


rng = np.random.default_rng(0)
nodes, predicted = [], []
times = {"2 processes": [], "2 threads": [], "1 thread": [], "compiled": []}
with Parallel(2) as processes, Parallel(2, prefer="threads") as threads:
    for n_rows in (100, 300, 1_000, 3_000, 10_000, 30_000):
        X, y = rng.random((n_rows, 3)), rng.integers(0, 2, n_rows)
        tree = TreeClassifier("cart", smoothing="laplace", pruning=None).fit(X, y).tree_
        calls = [partial(prune_with_joblib, tree, parallel) for parallel in (processes, threads, Parallel(1))]
        results = [timed(call) for call in (*calls, partial(BayesRisk().cuts, tree))]
        assert all((cut == results[-1][0]).all() for cut, _ in results), "the same nodes are cut"
        for name, (_, seconds) in zip(times, results, strict=True):
            times[name].append(seconds)
        span = len(frontiers(tree.skeleton)[1]) - 1
        nodes.append(tree.n_nodes)
        predicted.append(times["1 thread"][-1] * (tree.n_nodes / 2 + span) / tree.n_nodes)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
styles = (ORANGE, "s-"), (ORANGE, "o-"), (GREY, "o-"), (BLUE, "o-"), (GREY, "--")
drawn = {f"joblib, {name}": seconds for name, seconds in times.items() if name != "compiled"}
drawn |= {"compiled, 1 thread": times["compiled"], "joblib, predicted for 2": predicted}
for (name, seconds), (colour, style) in zip(drawn.items(), styles, strict=True):
    axes.plot(nodes, seconds, style, color=colour, markersize=4, label=name)
axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="seconds")
axes.spines[["top", "right"]].set_visible(False)
figure.legend(frameon=False, loc="outside right center")
axes.set_title("To hand out tasks costs more than it saves", loc="left")
plt.show()

# %%
# To hand a task to a thread or a process takes longer than the few decisions in it, as most frontiers are small.
# Threads also take turns, since Python runs one of them at a time. The larger the tree, the less this matters. But the
# compiled code is hundreds of times faster than Python, and two processors can at best halve a time.
