"""
One tree from many
==================

A forest draws finer borders than one tree grown on the same rows. With `teacher=forest` it labels new rows near the
real ones, and one tree is fitted to those: it comes near the forest, and can still be read.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from hornbeam import ForestClassifier, TreeClassifier
from hornbeam.evaluation import probability_rmse

X, y = make_moons(400, noise=0.3, random_state=0)
X_new, y_new = make_moons(4000, noise=0.3, random_state=1)


# %%
# Three who know
# --------------
# The default tree is grown on 400 rows. The forest of a hundred trees is the teacher. The distilled tree is grown on
# 12,000 new rows that the forest labelled, and pruned until it keeps 98 % of what the largest tree could tell apart, or
# has a leaf for each ten rows. Terms at its root change the probabilities with the value of each feature.

default = TreeClassifier().fit(X, y)
forest = ForestClassifier(oob_score=True).fit(X, y)
distilled = TreeClassifier(teacher=forest).fit(X, y)
models = {
    f"a default tree, {default.tree_.n_leaves} leaves": default,
    f"a distilled tree, {distilled.tree_.n_leaves} leaves": distilled,
    f"its teacher, {len(forest.forest_.trees)} trees": forest,
}
{name: round(probability_rmse(y_new, model.predict_proba(X_new)), 3) for name, model in models.items()}


# %%
# What they see
# -------------
# The colour is the probability of the second class, from purple, improbable, to orange.

a, b = np.meshgrid(np.linspace(-1.8, 2.8, 200), np.linspace(-1.3, 1.8, 200))
grid = np.column_stack([a.ravel(), b.ravel()])
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    shown = model.predict_proba(grid)[:, 1].reshape(a.shape)
    picture = ax.pcolormesh(a, b, shown, cmap="PuOr_r", vmin=0, vmax=1, rasterized=True)
    ax.scatter(*X.T, c=y, cmap="PuOr_r", s=8, edgecolors="black", linewidths=0.3)
    ax.set_title(name)
figure.colorbar(picture, ax=axes, label="probability")
plt.show()


# %%
# How small
# ---------
# Without terms and without a limit, fidelity is what to trade: a tree of a few leaves, or one that follows its teacher.

fidelities = [0.8, 0.9, 0.95, 0.98, 1.0]
students = [
    TreeClassifier(teacher=forest, slopes=0, max_leaf_nodes=10_000, fidelity=fidelity).fit(X, y)
    for fidelity in fidelities
]
leaves = [student.tree_.n_leaves for student in students]
losses = [probability_rmse(y_new, student.predict_proba(X_new)) for student in students]

figure, ax = plt.subplots(layout="constrained")
ax.plot(leaves, losses, "o-", label="distilled")
for n, loss, fidelity in zip(leaves, losses, fidelities, strict=True):
    ax.annotate(f"{fidelity:g}", (n, loss), xytext=(4, 5), textcoords="offset points")
ax.plot(
    default.tree_.n_leaves, probability_rmse(y_new, default.predict_proba(X_new)), "s", label="default tree"
)
ax.axhline(
    probability_rmse(y_new, forest.predict_proba(X_new)), linestyle="--", color="grey", label="the forest"
)
ax.set(xscale="log", xlabel="leaves", ylabel="RMSE of the probabilities")
ax.legend()
plt.show()
