"""
A scorecard
===========

Lenders sign tables of points. Here a tree with terms is fitted to a thousand clients of a German bank (UCI, Statlog
German Credit, CC BY 4.0; ``docs/guide/data/german-credit.csv`` of the repository), and written as such a table.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from signed_documents import DOCS  # the folder of the documentation

from hornbeam import TreeClassifier

X = pd.read_csv(DOCS / "guide" / "data" / "german-credit.csv")
y = X.pop("target")
X = X[["checking_status", "duration", "credit_amount", "savings_status", "employment", "age"]]
train = np.arange(len(X)) % 2 == 0

# %%
# Points
# ------
# 600 points are odds of 50 to 1 that a client repays; every 20 points double the odds. A client has the points of every
# segment whose condition it fulfils.

clf = TreeClassifier("readable", max_leaf_nodes=2).fit(X[train], y[train])
clf.scorecard(positive="good")

# %%
# Are the points calibrated?
# --------------------------
# The other clients, in ten groups by their points: the share that repaid, and the share that the points predict.

card = clf.scorecard(positive="good")
points = card.points(X[~train])
group = pd.qcut(points, 10, labels=False, duplicates="drop")
seen = pd.DataFrame({"points": points, "good": (y[~train] == "good").to_numpy()}).groupby(group).mean()
scale = np.linspace(points.min(), points.max(), 200)
predicted = 1 / (1 + np.exp(-(scale - card.offset) / card.factor))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(scale, predicted, color="#7f7f7f", label="predicted by the points")
ax.plot(seen["points"], seen["good"], "o", color="#2166ac", label="about 50 new clients each")
ax.set(xlabel="points", ylabel="share that repaid", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
