"""
Leaves, probabilities and size
==============================

Four questions to a tree, a picture each: what do its leaves say, how often is each probability given and to whom, is
what is said also seen, and how many leaves would be best? The patients are those of
:ref:`sphx_glr_gallery_plot_reliability.py`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from hornbeam import TreeClassifier
from hornbeam.plots import LeafDisplay, ProbabilityDisplay, PruningPathDisplay, ReliabilityDisplay

X, progress = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
y = np.where(progress > progress.median(), "worse", "milder")
shuffled = np.random.default_rng(0).permutation(len(y))
seen, unseen = shuffled[:330], shuffled[330:]
tree = TreeClassifier().fit(X.iloc[seen], y[seen])

# %%
# What the leaves say
# -------------------
# Dots are what the tree believes, larger where more rows came; lines are 90 % intervals, rings what the rows of a leaf
# say by themselves. The dotted line is the share of all patients that got worse.

LeafDisplay.from_estimator(tree, raw=True)
plt.show()

# %%
# What is said to whom
# --------------------
# Patients the tree has not seen: above the line those who got worse, below it those who did not.

ProbabilityDisplay.from_estimator(tree, X.iloc[unseen], y[unseen], n_bins=10)
plt.show()

# %%
# What is said and what is seen
# -----------------------------
# The same patients: on the diagonal, probabilities are true. Bars are 90 % confidence intervals.

ReliabilityDisplay.from_estimator(tree, X.iloc[unseen], y[unseen], n_bins=5)
plt.show()

# %%
# How many leaves
# ---------------
# Every tree on CART's pruning path, judged by the same patients: the smallest within one standard error of the best is
# marked.

grown = TreeClassifier("cart").fit(X.iloc[seen], y[seen])
PruningPathDisplay.from_estimator(grown, X.iloc[unseen], y[unseen], simplicity=1.0)
plt.show()
