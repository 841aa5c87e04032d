"""
Words and missing values as they are
====================================

303 patients of the Cleveland Clinic; 138 have a disease of the coronary arteries (UCI, Heart Disease, CC BY 4.0). The
table has words, truth values and missing values, and goes into ``fit`` as it was read: nothing is encoded or filled in.
The file is ``docs/guide/data/heart.csv`` of the repository.
"""

import matplotlib.pyplot as plt
import pandas as pd
from signed_documents import DOCS  # the folder of the documentation

from hornbeam import TreeClassifier
from hornbeam.plots import TreeDisplay

X = pd.read_csv(DOCS / "guide" / "data" / "heart.csv")
y = X.pop("target")
X.isna().sum()[lambda n: n > 0]

# %%
# The tree
# --------
# A split of words has a set of words on each side. The dark path is that of one patient.

clf = TreeClassifier(max_leaf_nodes=6).fit(X, y)
TreeDisplay.from_estimator(clf, positive="present", highlight=X[:1])
plt.show()

# %%
# A row without values
# --------------------
# The row of the picture again, with one value missing at a time. The fit had rows without ``thal``, so its split has
# a branch for them. All rows of the fit had ``cp``: a row without it stops at the node, with the probability of all
# rows of the node.

clf.explain(X[:1].assign(thal=None))

# %%
clf.explain(X[:1].assign(cp=None))
