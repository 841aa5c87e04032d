"""
Edit a tree
===========

A tree is rarely approved as it was grown. Here a threshold is rounded and a split is replaced. The editor counts the
rows again after each edit, keeps the reason, and computes what the edits changed on rows that were held out.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from hornbeam import TreeClassifier
from hornbeam.plots import TreeDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.filter(like="worst")
y = y.map({0: "malignant", 1: "benign"})
clf = TreeClassifier(max_leaf_nodes=4).fit(X[::2], y[::2])
editor = clf.edit(X[::2], y[::2], held_out=(X[1::2], y[1::2]), author="A. Analyst", date="2026-01-31")

# %%
# Which splits there are
# ----------------------
# The best split of each feature at node 3, by the rows of the fit and by held-out rows. The split of the tree gains
# nothing on held-out rows.

editor.candidates(3)

# %%
# Two edits
# ---------

editor.split(3, "worst perimeter", threshold=100, reason="held-out rows gain from it")
editor.set_threshold(1, 0.16, reason="a round number")
editor.score_changes()[0]

# %%
# Before and after
# ----------------

figure, (above, below) = plt.subplots(2, 1, figsize=(10, 6), layout="constrained")
TreeDisplay.from_estimator(clf, ax=above)
TreeDisplay.from_estimator(editor.tree, ax=below)
above.set_title("As it was grown", loc="left")
below.set_title("As it was edited", loc="left")
plt.show()

# %%
# The edits are in the history of the tree, which goes into its file and its report, each with its author and reason.

[edit.reason for edit in editor.edits]
