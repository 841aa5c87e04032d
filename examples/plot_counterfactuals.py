"""
What would have to be different?
================================

A client of a German bank is predicted to default. Which changes would lead to another prediction? Those that need the
fewest features to change come first; features that a client cannot change are left as they are. The thousand clients
are those of UCI, Statlog German Credit (CC BY 4.0; ``docs/guide/data/german-credit.csv`` of the repository).
"""

import matplotlib.pyplot as plt
import pandas as pd
from signed_documents import DOCS  # the folder of the documentation

from hornbeam import TreeClassifier
from hornbeam.plots import TreeDisplay

X = pd.read_csv(DOCS / "guide" / "data" / "german-credit.csv")
y = X.pop("target")
X = X[["checking_status", "duration", "credit_amount", "savings_status", "employment", "age"]]
clf = TreeClassifier(max_leaf_nodes=6, costs={("bad", "good"): 5, ("good", "bad"): 1}).fit(X, y)
client = X[1:2]
clf.explain(client)

# %%
# Ways to another prediction
# --------------------------

clf.counterfactuals(client, fixed=["age", "employment"], n=3)

# %%
# The client before and after the first change
# --------------------------------------------

first = clf.counterfactuals(client, fixed=["age", "employment"])[0][0]
changed = client.assign(**first.values)
figure, panels = plt.subplots(2, 1, figsize=(10, 6.5), layout="constrained")
for ax, row, title in zip(panels, (client, changed), ("As asked for", str(first)), strict=True):
    TreeDisplay.from_estimator(clf, ax=ax, positive="bad", highlight=row)
    ax.set_title(title, loc="left")
plt.show()
