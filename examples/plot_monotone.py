"""
A direction that must hold
==========================

Ten measurements of 442 people with diabetes, and how far the disease progressed within a year. A higher body mass index
should never predict a slower progression. A tree without the constraint does not promise that; with ``monotonic_cst``
it does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

from hornbeam import TreeRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
bmi = np.linspace(X["bmi"].min(), X["bmi"].max(), 200)
trees = {
    "without a constraint": TreeRegressor(),
    "bmi and bp may only raise it": TreeRegressor(monotonic_cst={"bmi": 1, "bp": 1}),
}

# %%
# What if
# -------
# Each line is one patient, whose body mass index is changed while all other measurements stay. Lines that fall are
# orange: there a higher index predicts a slower progression.

figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for ax, (name, tree) in zip(panels, trees.items(), strict=True):
    tree.fit(X, y)
    for patient in range(0, len(X), 9):
        row = X.iloc[[patient]]
        predicted = tree.predict(row.loc[row.index.repeat(len(bmi))].assign(bmi=bmi))
        falls = (np.diff(predicted) < 0).any()
        ax.plot(bmi, predicted, color="#d95f02" if falls else "#2166ac", linewidth=1, zorder=2 + falls)
    ax.set(title=name, xlabel="body mass index")
    ax.spines[["top", "right"]].set_visible(False)
panels[0].set(ylabel="predicted progression")
plt.show()

# %%
# What it costs
# -------------
# The share of the variance that each tree explains, in five folds.

{name: cross_val_score(tree, X, y, cv=5).mean().round(3) for name, tree in trees.items()}
