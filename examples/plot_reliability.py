"""
Can I trust this probability?
=============================

Ten measurements of 442 diabetes patients, and whether the disease of each got worse than that of half of them within a
year. The data are real, few and noisy; scikit-learn ships them. A tree that believes its raw leaves is always certain,
and wrong about every third patient. The default tree says how much it does not know.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from hornbeam import TreeClassifier
from hornbeam.evaluation import log_loss, probability_rmse, reliability_curve
from hornbeam.plots import ReliabilityDisplay

BLUE, ORANGE, GREY = "#2166ac", "#d95f02", "#7f7f7f"

X, progress = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
y = np.where(progress > progress.median(), "worse", "milder")

# %%
# Said and seen
# -------------
# Ten folds: every patient is predicted by a tree that has not seen him. Each point is a group of patients with about
# the same prediction; the bar is the 90 % confidence interval of the share that got worse. Below: how often each
# probability is given.

trees = {
    "Before: raw leaves": (TreeClassifier(smoothing=None, pruning=None), ORANGE),
    "After: the default": (TreeClassifier(), BLUE),
}
folds = StratifiedKFold(10, shuffle=True, random_state=0)

figure, panels = plt.subplots(
    2, 2, sharex=True, sharey="row", figsize=(8, 5.8), height_ratios=[4, 1], layout="constrained"
)
for (above, below), (title, (tree, colour)) in zip(panels.T, trees.items(), strict=True):
    p = cross_val_predict(tree, X, y, cv=folds, method="predict_proba")
    curve = reliability_curve(y, p[:, 1], positive="worse", n_bins=8)
    ReliabilityDisplay(curve).plot(above, color=colour, linewidth=1, markersize=6)
    above.set_title(f"{title}\nlog loss {log_loss(y, p):.2f}, RMSE {probability_rmse(y, p):.2f}", loc="left")
    below.hist(p[:, 1], bins=np.linspace(0, 1, 21), color=colour)
    below.spines[["top", "right"]].set_visible(False)
    above.set(xlabel="", ylabel="")
    below.set(xlabel="predicted probability of getting worse")
(before, _), (patients, _) = panels
before.set(ylabel="share that got worse")
patients.set(ylabel="patients")
before.text(0.0, 0.47, "said 0:\na third got worse", color=ORANGE, va="bottom")
before.text(1.0, 0.54, "said 1:\na third did not", color=ORANGE, va="top", ha="right")
before.text(0.12, 0.08, "what is said is seen", color=GREY, rotation=45, rotation_mode="anchor", va="top")
plt.show()

# %%
# How sure is each leaf?
# ----------------------
# The default tree of all 442 patients. Rings are what the rows of a leaf say, dots what the tree believes, lines 90 %
# intervals. Leaves that look pure are believed only as far as held-out rows bear them out; a leaf of two or three
# rows says what lies above it, nearly whatever its own rows say.

leaves = TreeClassifier().fit(X, y).leaves()
order = np.argsort(leaves.probability[:, 1])
low, high, said, rate = (v[order, 1] for v in (leaves.low, leaves.high, leaves.probability, leaves.raw))
rows = leaves.rows[order]
place = np.arange(len(leaves))

figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
axes.hlines(place, low, high, color=BLUE, alpha=0.35, linewidth=4)
axes.plot(rate, place, "o", color=ORANGE, markerfacecolor="none", label="raw rate of the leaf")
axes.plot(said, place, "o", color=BLUE, label="what the tree believes, with its 90 % interval")
axes.set_yticks(place, rows)
axes.set(xlabel="probability of getting worse", ylabel="rows of the leaf", xlim=(-0.02, 1.02))
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, loc="lower right")
axes.set_title("What a leaf says, and what is believed of it", loc="left")
plt.show()
