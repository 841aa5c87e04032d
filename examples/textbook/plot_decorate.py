"""
DECORATE: trees that disagree on purpose
========================================

A forest makes its trees differ by chance. DECORATE (Melville and Mooney, 2003) makes them differ on purpose: each new
tree also learns from rows that were made up, and labelled with what the others hold for *unlikely*. A tree stays
only if the training error of all of them together does not rise. It takes about thirty lines on top of any classifier,
so here it is an example and not a class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from hornbeam import ForestClassifier, TreeClassifier
from hornbeam.evaluation import probability_rmse

X, y = load_breast_cancer(return_X_y=True)


# %%
# Rows made up, and labels against the tide
# -----------------------------------------
# Numbers are drawn from a normal distribution with the mean and spread of their column. (There are no nominal columns
# here; their categories would be drawn by their frequencies, as Melville and Mooney do.) The probability of a label is
# proportional to one over what the ensemble gives it; where that is nothing, the label gets practically all.


def contrary(probability):
    """Label probabilities: the less likely, the likelier."""
    inverse = 1 / np.maximum(probability, 1e-6)
    return inverse / inverse.sum(axis=1, keepdims=True)


def made_up(X, n, rng):
    """Rows like those of X, column by column."""
    return rng.normal(X.mean(axis=0), X.std(axis=0), (n, X.shape[1]))


contrary(np.array([[0.5, 0.3, 0.2]])).round(3)


# %%
# The ensemble
# ------------


def mean_probability(trees, X):
    return np.mean([tree.predict_proba(X) for tree in trees], axis=0)


def decorate(X, y, n_trees=15, n_trials=50, seed=0):
    """Grow trees that disagree where nobody knows, and agree where the rows are."""
    rng = np.random.default_rng(seed)

    def error(trees):
        return np.mean(mean_probability(trees, X).argmax(axis=1) != y)

    trees = [TreeClassifier("cart").fit(X, y)]
    for _ in range(n_trials):
        extra = made_up(X, len(X), rng)
        chances = contrary(mean_probability(trees, extra)).cumsum(axis=1)
        labels = (rng.random((len(extra), 1)) > chances[:, :-1]).sum(axis=1)
        tree = TreeClassifier("cart").fit(np.vstack([X, extra]), np.append(y, labels))
        if error([*trees, tree]) <= error(trees):
            trees.append(tree)
        if len(trees) == n_trees:
            break
    return trees


# %%
# Against a forest
# ----------------
# On few rows, where chance alone gives trees that are too much alike, disagreement helps most.

sizes, n_rounds = [30, 60, 120, 240], 2
found = {"one tree": [], "DECORATE, 15 trees": [], "forest, 15 trees": []}
for size in sizes:
    scores = {name: [] for name in found}
    for number in range(n_rounds):
        X_few, X_new, y_few, y_new = train_test_split(X, y, train_size=size, stratify=y, random_state=number)
        trees = decorate(X_few, y_few, seed=number)
        answers = {
            "one tree": trees[0].predict_proba(X_new),
            "DECORATE, 15 trees": mean_probability(trees, X_new),
            "forest, 15 trees": ForestClassifier(15).fit(X_few, y_few).predict_proba(X_new),
        }
        for name, answer in answers.items():
            scores[name].append(probability_rmse(y_new, answer))
    for name, score in scores.items():
        found[name].append(np.mean(score))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, score), color in zip(found.items(), ("#7f7f7f", "#d95f02", "#2166ac"), strict=True):
    ax.plot(sizes, score, marker="o", color=color, label=name)
ax.set(
    xscale="log", xlabel="training rows", ylabel="RMSE of the probabilities", xticks=sizes, xticklabels=sizes
)
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
