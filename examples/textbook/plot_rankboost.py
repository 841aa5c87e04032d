"""
RankBoost and AdaRank
=====================

Two ways to turn AdaBoost into a ranker. RankBoost (Freund, Iyer, Schapire and Singer, 2003) has a weight for each
*pair* of documents, and raises it if the pair is in the wrong order. AdaRank (Xu and Li, 2007) has a weight for each
*query*, and raises it if the query's NDCG is low. Both take few lines with trees of Hornbeam as weak rankers, so they
are an example here, and not classes. LambdaMART, which is a class, is beside them.
"""

import matplotlib.pyplot as plt
import numpy as np

from hornbeam import BoostedTreesRanker, ForestRegressor, TreeClassifier
from hornbeam.evaluation import ndcg

# %%
# Queries
# -------
# 100 queries for training and 100 for testing, of ten documents each, with grades from 0 to 3.

rng = np.random.default_rng(0)
N_QUERIES, SIZE, N_ROUNDS = 100, 10, 40


def draw():
    """Features and grades; every query has a document of grade 3."""
    X = rng.normal(size=(N_QUERIES * SIZE, 6))
    value = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + rng.normal(scale=0.5, size=len(X))
    grade = np.digitize(value, [0.5, 1.5, 2.5])
    grade[np.arange(N_QUERIES) * SIZE + value.reshape(N_QUERIES, SIZE).argmax(axis=1)] = 3
    return X, grade


X, grade = draw()
X_new, grade_new = draw()
query = np.repeat(np.arange(N_QUERIES), SIZE)


# %%
# RankBoost
# ---------
# A weak ranker gives 1 to some documents and 0 to others. A pair is correct (+1) if only the better document has 1,
# incorrect (-1) if only the worse one has, and else counts 0. The weighted sum r of these numbers is from -1 to 1,
# and the weight of the ranker is half the logarithm of (1 + r) / (1 - r), as in AdaBoost.
#
# Which ranker has the largest r? Add up, for each document, the weights of the pairs in which it is the better one, and
# subtract those in which it is the worse one. Documents with a positive sum should have 1, the others 0: this is
# classification with weights, and a small tree does it.


def rankboost(X, grade, query, n_rounds=N_ROUNDS):
    """Trees that classify documents, and the weight of each."""
    better, worse = np.nonzero((query[:, None] == query) & (grade[:, None] > grade))
    weight = np.full(len(better), 1 / len(better))
    trees, alphas = [], []
    for _ in range(n_rounds):
        potential = np.bincount(better, weight, len(X)) - np.bincount(worse, weight, len(X))
        tree = TreeClassifier("cart", max_leaf_nodes=8)
        tree.fit(X, potential > 0, sample_weight=len(X) * np.abs(potential))
        given = tree.predict(X).astype(float)
        correct = given[better] - given[worse]  # +1, 0 or -1 for each pair
        r = weight @ correct
        alphas.append(0.5 * np.log((1 + r) / (1 - r)))
        weight *= np.exp(-alphas[-1] * correct)
        weight /= weight.sum()
        trees.append(tree)
    return trees, alphas


# %%
# AdaRank
# -------
# A weak ranker is a regression tree that predicts the grade, fitted with the weights of the queries. Its weight grows
# with the mean NDCG of its order. The weight of a query in the next round is exp(-NDCG) of all rankers so far.
#
# NDCG is from 0 to 1, so no query has more than e = 2.7 times the weight of another. Such weights hardly change a
# tree: with all features allowed, the same tree would be grown in nearly every round. (Xu and Li rank by one feature a
# round, and meet the same problem.) So each node may use two features only, drawn anew: a "forest" of one tree.


def adarank(X, grade, query, n_rounds=N_ROUNDS):
    """Trees that predict the grade, and the weight of each."""
    rows_of = [np.flatnonzero(query == q) for q in np.unique(query)]

    def ndcg_by_query(scores):
        return np.array([ndcg(grade[rows], scores[rows]) for rows in rows_of])

    weight = np.full(len(rows_of), 1 / len(rows_of))
    trees, alphas, total = [], [], np.zeros(len(X))
    for number in range(n_rounds):
        tree = ForestRegressor(1, bootstrap=False, max_features=2, max_leaf_nodes=8, random_state=number)
        tree.fit(X, grade, sample_weight=len(weight) * weight[query])
        predicted = tree.predict(X)
        measure = ndcg_by_query(predicted)
        alphas.append(0.5 * np.log((weight @ (1 + measure)) / (weight @ (1 - measure))))
        total += alphas[-1] * predicted
        weight = np.exp(-ndcg_by_query(total))
        weight /= weight.sum()
        trees.append(tree)
    return trees, alphas


# %%
# NDCG by round
# -------------
# On the queries for testing. The score of a document is the weighted sum of what the trees predict.


def scores_by_round(trees, alphas):
    votes = [alpha * tree.predict(X_new) for tree, alpha in zip(trees, alphas, strict=True)]
    return np.cumsum(votes, axis=0)


ranker = BoostedTreesRanker(n_estimators=N_ROUNDS, max_leaf_nodes=8).fit(X, grade, query=query)
found = {
    "LambdaMART (BoostedTreesRanker)": [
        ranker.boosted_.scores(X_new, n_estimators=n)[0] for n in range(1, N_ROUNDS + 1)
    ],
    "RankBoost": scores_by_round(*rankboost(X, grade, query)),
    "AdaRank": scores_by_round(*adarank(X, grade, query)),
}

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, by_round), color in zip(found.items(), ("#2166ac", "#d95f02", "#7f7f7f"), strict=True):
    measured = [ndcg(grade_new, scores, query=query) for scores in by_round]
    ax.plot(range(1, N_ROUNDS + 1), measured, color=color, label=f"{name}: {measured[-1]:.3f} at last")
ax.set(xlabel="rounds", ylabel="mean NDCG of 100 new queries")
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# LambdaMART and RankBoost use pairs, and end close to each other here; one set of drawn queries does not decide between
# them. In AdaRank the order of the documents changes only the weights of queries, within a factor of e, and each tree
# is fitted to the same grades.
