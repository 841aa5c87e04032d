"""
Rows that belong together
=========================

Patients who come twenty times each. Rows of one patient are alike, so a tree that is checked on other visits of the
same patients learns to recognise patients. ``groups=`` keeps all visits of a patient on one side of each comparison.
The data are made up, so that new patients are not scarce.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from hornbeam import TreeClassifier
from hornbeam.evaluation import log_loss


def visits(rng, n_patients, each):
    """Make visits: six measurements are the same at all visits of a patient, four differ."""
    patient = np.repeat(np.arange(n_patients), each)
    own, risk = rng.normal(size=(n_patients, 6)), 1.5 * rng.normal(size=n_patients)
    X = np.column_stack([own[patient], rng.normal(size=(len(patient), 4))])
    log_odds = 0.8 * X[:, 0] + 0.5 * X[:, 6] + risk[patient]
    return X, (rng.random(len(patient)) < 1 / (1 + np.exp(-log_odds))).astype(int), patient


rng = np.random.default_rng(10)
X, y, patient = visits(rng, 100, 20)
X_new, y_new, _ = visits(rng, 4000, 1)

# %%
# Two fits
# --------
# Hornbeam warns where rows look as if they belonged together; here the warning is what the example is about.

with warnings.catch_warnings(action="ignore"):
    by_row = TreeClassifier().fit(X, y)
by_patient = TreeClassifier().fit(X, y, groups=patient)
trees = {"without groups": by_row, "groups=patient": by_patient}
{name: len(tree.leaves()) for name, tree in trees.items()}

# %%
# Seen patients, new patients
# ---------------------------
# The line is the loss of a model that gives everybody the share of the class.

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for at, tree in enumerate(trees.values()):
    losses = log_loss(y, tree.predict_proba(X)), log_loss(y_new, tree.predict_proba(X_new))
    for up, loss, colour in zip((0.18, -0.18), losses, ("#9ecae1", "#2166ac"), strict=True):
        ax.barh(at + up, loss, 0.34, color=colour)
        ax.text(loss + 0.005, at + up, f"{loss:.2f}", va="center")
base = log_loss(y_new, np.tile([1 - y.mean(), y.mean()], (len(y_new), 1)))
ax.axvline(base, color="#7f7f7f", linewidth=1)
ax.set(
    yticks=range(2), yticklabels=list(trees), xlabel="log loss: pale of patients of the fit, dark of new ones"
)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
