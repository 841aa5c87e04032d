"""
A tree of any size
==================

Ten leaves with all their words, a hundred on a page, a thousand at a glance: the same call. Where a tree is too large
to be read, the parts where few rows come are folded, and the picture says so.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from hornbeam import TreeClassifier
from hornbeam.plots import TreeDisplay

# %%
# Ten leaves
# ----------
# From left to right: what is asked stands below a branch, the answer that leads on above it. A branch is as wide as
# many rows take it, and every node has a bar of its class probabilities. The table says what each leaf answers, how
# sure it is of it, and on how many rows that rests. The dark path is that of one flower.

iris = load_iris(as_frame=True)
flowers = TreeClassifier("cart", smoothing="hgs").fit(iris.data, iris.target_names[iris.target])
TreeDisplay.from_estimator(flowers, highlight=iris.data[70:71])
plt.show()

# %%
# A hundred leaves
# ----------------
# Handwritten digits. With more classes than there are colours, a bar sets the class that is named against all others.

digits = load_digits(as_frame=True)
hundred = TreeClassifier("cart", smoothing="hgs", max_leaf_nodes=100).fit(digits.data, digits.target)
TreeDisplay.from_estimator(hundred)
plt.show()

# %%
# At a glance
# -----------
# The same tree folded to fifteen parts: a triangle says how many leaves and rows are behind it. Trees of more than a
# hundred leaves are folded to forty parts unless told otherwise.

TreeDisplay.from_estimator(hundred, max_leaves=15)
plt.show()

# %%
# Among other pictures
# --------------------
# In axes that are given as much is shown as can be read there.

cancer = load_breast_cancer(as_frame=True)
kinds = cancer.target_names[cancer.target]
figure, (above, below) = plt.subplots(2, 1, figsize=(10, 8), layout="constrained")
TreeDisplay.from_estimator(TreeClassifier().fit(cancer.data, kinds), ax=above)
TreeDisplay.from_estimator(TreeClassifier(tolerance=0.05).fit(cancer.data, kinds), ax=below)
above.set_title("The most accurate tree", loc="left")
below.set_title("The smallest with at most 5 % more log loss on held-out rows", loc="left")
plt.show()
