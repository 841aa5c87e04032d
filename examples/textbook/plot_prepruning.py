"""
Stop at each split, or prune afterwards
=======================================

Held-out rows can be used in two ways. *Pre-pruning* checks each split when it is made: it is kept if the held-out rows
of the node get fewer errors, or also if they get as many ("improvement or no decrease"). *Reduced-error pruning* grows
the whole tree first, and then judges whole subtrees by the same rows. Here are both on one set of points: half of the
plane is a checkerboard, whose first cut is worth nothing.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from hornbeam import TreeClassifier
from hornbeam.pruning import ReducedError

BLUE, ORANGE = "#2166ac", "#d95f02"


def points(n, seed):
    """Points from left to right: class 0, class 1, a checkerboard; a tenth of the classes are exchanged."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    x, upper = X[:, 0], X[:, 1] > 0.5
    y = np.where(x < 0.5, x > 0.25, upper ^ (x > 0.75))
    return X, (y ^ (rng.random(n) < 0.1)).astype(int)


# %%
# Pre-pruning
# -----------
# A node is grown by a tree of depth 1 on the rows that reach it. The held-out rows that reach it decide whether it is
# kept. Each branch goes on with its own rows, and its own held-out rows.


@dataclass
class Node:
    majority: int
    split: TreeClassifier | None = None
    children: tuple["Node", ...] = ()

    def predict(self, X):
        if self.split is None:
            return np.full(len(X), self.majority)
        side = self.split.apply(X) == 2
        left, right = self.children
        return np.where(side, right.predict(X), left.predict(X))

    @property
    def n_leaves(self):
        return sum(child.n_leaves for child in self.children) or 1


def grow(X, y, X_held, y_held, least=1):
    """Grow a tree whose splits each save at least so many errors of the held-out rows: 1, or 0 for "no decrease"."""
    node = Node(majority=int(y.mean() > 0.5))
    if len(set(y)) == 1 or len(X_held) == 0:
        return node
    split = TreeClassifier("cart", max_depth=1).fit(X, y)
    if (node.majority != y_held).sum() - (split.predict(X_held) != y_held).sum() >= least:
        node.split = split
        side, side_held = split.apply(X), split.apply(X_held)
        node.children = tuple(
            grow(X[side == i], y[side == i], X_held[side_held == i], y_held[side_held == i], least)
            for i in (1, 2)
        )
    return node


# %%
# Both on the same rows
# ---------------------
# 400 points to grow, 200 held out, 20,000 new ones to test. In the full tree every noisy point has its own region.
# Pre-pruning makes the first cut, and stops there: no single cut of the checkerboard helps. If "no decrease" is enough,
# it gets a little further by ties. Reduced-error pruning keeps the four squares, because it judges them together.

X, y = points(400, seed=0)
X_held, y_held = points(200, seed=1)
X_new, y_new = points(20_000, seed=2)

full = TreeClassifier("cart").fit(X, y)
pruned = TreeClassifier("cart", pruning=ReducedError(X_held, y_held)).fit(X, y)
stopped, no_decrease = (grow(X, y, X_held, y_held, least) for least in (1, 0))
trees = {
    "every leaf": (full, full.tree_.n_leaves),
    "pre-pruning": (stopped, stopped.n_leaves),
    "or no decrease": (no_decrease, no_decrease.n_leaves),
    "reduced-error pruning": (pruned, pruned.tree_.n_leaves),
}

across, up = np.meshgrid(np.linspace(0, 1, 301), np.linspace(0, 1, 301))
grid = np.column_stack([across.ravel(), up.ravel()])
figure, panels = plt.subplots(1, 4, figsize=(11.5, 3.5), sharey=True, layout="constrained")
for axes, (name, (tree, n_leaves)) in zip(panels, trees.items(), strict=True):
    region = tree.predict(grid).reshape(across.shape)
    axes.contourf(across, up, region, levels=[-0.5, 0.5, 1.5], colors=[ORANGE, BLUE], alpha=0.3)
    for label, colour, marker in ((0, ORANGE, "o"), (1, BLUE, "s")):
        axes.scatter(*X[y == label].T, c=colour, marker=marker, s=7)
    error = (tree.predict(X_new) != y_new).mean()
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel=f"{n_leaves} leaves, error {error:.3f}")
    axes.set_title(name, loc="left")
plt.show()

# %%
# Not bad luck
# ------------
# The same for thirty samples. A tenth of the points are noise, so no tree can have an error below 0.1 (dotted).

errors = {name: [] for name in trees}
for sample in range(30):
    X, y = points(400, seed=10 + sample)
    X_held, y_held = points(200, seed=100 + sample)
    full = TreeClassifier("cart").fit(X, y)
    pruned = TreeClassifier("cart", pruning=ReducedError(X_held, y_held)).fit(X, y)
    stopped, no_decrease = (grow(X, y, X_held, y_held, least) for least in (1, 0))
    for name, tree in zip(errors, (full, stopped, no_decrease, pruned), strict=True):
        errors[name].append((tree.predict(X_new) != y_new).mean())

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
for height, values in enumerate(errors.values()):
    axes.plot(values, np.full(len(values), -height), "|", markersize=16, color=BLUE)
axes.axvline(0.1, color="black", linewidth=1, linestyle=":")
axes.set(yticks=[0, -1, -2, -3], yticklabels=errors, xlabel="error on new points", ylim=(-3.6, 0.6))
axes.spines[["top", "right"]].set_visible(False)
axes.set_title("Pre-pruning finds the checkerboard only by chance", loc="left")
plt.show()
