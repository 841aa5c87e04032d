"""
AdaBoost by weights and by draws
================================

AdaBoost (Freund and Schapire, 1997) can use its weights in two ways: pass them to the learner (*reweighting*), or draw
each training set with the weights as probabilities (*resampling*), which works for learners without weights. Both are
shown on rows of which every tenth has a wrong label. :doc:`The learn page </learn/ensembles>` has the formulas.
"""

import matplotlib.pyplot as plt
import numpy as np

from hornbeam import TreeClassifier

rng = np.random.default_rng(0)
X, X_test = rng.normal(size=(300, 5)), rng.normal(size=(2000, 5))
truth, y_test = (np.where(rows[:, :3].sum(axis=1) > 0, 1, -1) for rows in (X, X_test))
flipped = rng.permutation(300) < 30
y = np.where(flipped, -truth, truth)


# %%
# One loop for both
# -----------------
# The error and the new weights are the same in both; only the rows that the stump is fitted to differ.


def adaboost(y, *, resample=False, n_rounds=100):
    """Return the test error, and the weight of the rows with flipped labels, after each round."""
    D, total, errors, weights = np.full(300, 1 / 300), np.zeros(2000), [], []
    for _ in range(n_rounds):
        stump = TreeClassifier("cart", max_depth=1)
        if resample:
            drawn = rng.choice(300, size=300, p=D)
            stump.fit(X[drawn], y[drawn])
        else:
            stump.fit(X, y, sample_weight=D)
        h = stump.predict(X)
        error = D[h != y].sum()
        alpha = 0.5 * np.log(1 / error - 1)
        D = D * np.exp(-alpha * y * h)
        D /= D.sum()
        total += alpha * stump.predict(X_test)
        errors.append(np.mean(np.sign(total) != y_test))
        weights.append(D[flipped].sum())
    return errors, weights


found = {
    "reweighting": adaboost(y),
    "resampling": adaboost(y, resample=True),
    "reweighting, correct labels": adaboost(truth),
}
{name: round(errors[-1], 3) for name, (errors, _) in found.items()}


# %%
# What wrong labels do
# --------------------
# Reweighting and resampling behave alike; drawing adds some noise of its own. With wrong labels the test error stops
# falling early (left). The reason is on the right: a tenth of the rows has a wrong label, but after a few rounds a
# third of the weight, so many stumps are fitted to errors.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for (name, (errors, weights)), color in zip(found.items(), ("#2166ac", "#d95f02", "#7f7f7f"), strict=True):
    left.plot(range(1, 101), errors, color=color, label=name)
    right.plot(range(1, 101), weights, color=color)
left.set(xlabel="round", ylabel="test error", ylim=0)
right.set(xlabel="round", ylabel="weight of the flipped rows", ylim=0)
left.legend(frameon=False)
plt.show()
