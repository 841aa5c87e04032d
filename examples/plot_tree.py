"""
A tree of any size
==================

Eight leaves with all their words, or a hundred on a page: the same call. Where a tree is too large
to be read, the parts where few rows come are folded, and the picture says so.
"""

import matplotlib.pyplot as plt
import pandas as pd
from signed_documents import DOCS  # the folder of the documentation
from sklearn.datasets import load_breast_cancer, load_digits

from hornbeam import TreeClassifier
from hornbeam.plots import TreeDisplay

# %%
# Eight leaves
# ------------
# 303 patients of the Cleveland Clinic (UCI, Heart Disease, CC BY 4.0; ``docs/guide/data/heart.csv`` of the repository).
# From left to right: the tested feature is below a branch, the condition above the next one. The width of a branch is
# its number of rows, and every node has a bar of its class probabilities. The table has the class of each leaf, its
# probability, interval and number of rows. The dark path is that of one patient.

X = pd.read_csv(DOCS / "guide" / "data" / "heart.csv")
y = X.pop("target")
patients = TreeClassifier(max_depth=3).fit(X, y)
TreeDisplay.from_estimator(patients, highlight=X[:1])
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
