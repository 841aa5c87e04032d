"""Where the numbers of the page "Ranking" come from."""

from math import e, exp, log, log2

import numpy as np
from sklearn.metrics import ndcg_score

from hornbeam import BoostedTreesRanker, BoostedTreesRegressor, ForestRegressor
from support.page_numbers import computed, given, recomputed
from support.textbook import queries, rank_svm
from test_learn_ranking import GRADE, IDEAL, LATER, PAIRS, ZERO, dcg, step, swapped

DISCOUNT = [1 / log2(1 + rank) for rank in (1, 2, 3)]
SETTINGS = {"n_estimators": 50, "max_leaf_nodes": 8}


def ndcg(scores, grades):
    """The mean over the test queries, by scikit-learn; queries without a good document do not count."""
    scores, grades = np.reshape(scores, (75, 10)), np.reshape(grades, (75, 10))
    some = grades.max(axis=1) > 0
    return ndcg_score(2 ** grades[some] - 1, scores[some])


def shares_of_gain(trees):
    """The share of each feature in the gain of the splits of a tree, as a mean over the trees."""
    shares = []
    for tree in trees:
        inner = tree.skeleton.feature >= 0
        gains = np.bincount(tree.skeleton.feature[inner], tree.gain[inner] * tree.weight[inner], minlength=5)
        shares.append(gains / gains.sum())
    return np.mean(shares, axis=0)


def many_queries():
    """NDCG of three models and of a bag of rankers, from their scores; importances, from the gains in the trees."""
    rng, X, grade, query = queries()
    train, test = query < 75, query >= 75
    boosting = BoostedTreesRegressor(**SETTINGS).fit(X[train], grade[train])
    forest = ForestRegressor().fit(X[train], grade[train])
    ranker = BoostedTreesRanker(**SETTINGS).fit(X[train], grade[train], query=query[train])
    found = [ndcg(model.predict(X[test]), grade[test]) for model in (boosting, forest, ranker)]
    importances = [shares_of_gain(model.boosted_.trees) for model in (boosting, ranker)]
    rows, total = np.flatnonzero(train).reshape(75, 10), 0
    for _ in range(10):
        drawn = rows[rng.integers(75, size=75)].ravel()
        member = BoostedTreesRanker(**SETTINGS).fit(
            X[drawn], grade[drawn], query=np.repeat(np.arange(75), 10)
        )
        total = total + member.predict(X[test])
    return found, importances, ndcg(total, grade[test])


def claims():
    delta = np.zeros((3, 3))
    for better, worse in PAIRS:
        delta[GRADE[better], GRADE[worse]] = (dcg(swapped(better, worse)) - dcg("ABC")) / IDEAL
    lambdas, weights = step(ZERO)
    later = step(LATER)
    shared = (lambdas[1] + lambdas[2]) / (weights[1] + weights[2])
    newton = lambdas / weights
    as_shown = dcg("ABC") / IDEAL
    cost = [log(1 + exp(-d)) for d in (-1, 0, 1)]
    force = [1 / (1 + exp(d)) for d in (-1, 0, 1)]
    found, importances, bagged = many_queries()
    return {
        "NDCG: how good is an order?": [
            computed(": 1, then #, then #.", DISCOUNT[1:]),
            computed("gain array([#, #, #])", [2**grade - 1 for grade in GRADE.values()]),
            computed(">>> discount.round(4)", DISCOUNT),
            computed(">>> print(round(dcg, 4))", dcg("ABC")),
            computed(">>> print(round(ideal, 4))", IDEAL),
            computed(">>> print(round(dcg / ideal, 4))", as_shown),
            computed(">>> round(ndcg(grade, score), 4)", as_shown),
            computed("As shown: A, B, C, NDCG #.", as_shown),
        ],
        "Three kinds of rankers": [
            computed(">>> [float(((p - grade)", (0.5**2 + 0.6**2) / 3, (81 + 1 + 49) / 3),
            computed(">>> [round(ndcg(grade, p), 2)", dcg("BCA") / IDEAL, 1),
        ],
        "RankNet: where the force comes from": [
            computed(r"$C = \ln 2 = #$", log(2)),
            computed("right order costs #, one point in the wrong order #.", cost[2], cost[0]),
            computed(">>> pair_cost(difference).round(4)", cost),
            computed(">>> ((above - below) / (2 * step))", [-f for f in force], force),
        ],
        "One step of LambdaMART": [
            computed(">>> delta.round(4)", delta),
            computed("worth # of NDCG, C before A #, C before B #.", delta[1, 0], delta[2, 0], delta[2, 1]),
            computed(r"discounts # and 1, so $3 \cdot # / # = #$", 0.5, 0.5, IDEAL, 3 * 0.5 / IDEAL),
            computed("lambda of C is ½ (# + #) = #", delta[2, 0], delta[2, 1], lambdas[2]),
            computed("its weight is ¼ (# + #) = #", delta[2, 0], delta[2, 1], weights[2]),
            computed(">>> negative_gradient.round(4)", lambdas),
            computed(">>> weight.round(4)", weights),
        ],
        "The tree": [
            computed(">>> print(a.round(4)", newton[0], shared),
            computed(">>> ranker.fit(X, grade, query=[7, 7, 7])", newton[0], shared, shared),
            computed(">>> after.round(4)", newton),
            computed(">>> ndcg(grade, after)", dcg("CBA") / IDEAL),
            given("With the scores .3, .2 and .1 from above"),
            given("e^{0.1 - 0.3}"),
            computed(r"e^{0.1 - 0.3}) = #$", 1 / (1 + exp(0.1 - 0.3))),
            computed(">>> negative_gradient.round(4), weight.round(4)", later),
        ],
        "Many queries": [
            recomputed(">>> for model in (boosting, forest, ranker):", found),
            recomputed(">>> boosting.feature_importances_", importances[0]),
            recomputed(">>> ranker.feature_importances_", importances[1]),
        ],
        "Bagging rankers": [recomputed(">>> round(ndcg(grade[test], total", bagged)],
        "Files with `qid:`": [
            given("(array([[1. , 0.5], [3. , 0. ], [2. , 0.1]]), array([0., 1., 2.]), array([7, 7, 7]))")
        ],
        "Exercise 1": [
            computed("DCG $3 + 0 + # = #$, divided by #.", DISCOUNT[2], dcg("CAB"), IDEAL),
            computed(">>> round(ndcg(", dcg("CAB") / IDEAL),
        ],
        "Exercise 3": [
            computed(r"$(1 + 3 \cdot #) / #$", DISCOUNT[1], IDEAL),
            computed(">>> round(ndcg(", (1 + 3 * DISCOUNT[1]) / IDEAL),
        ],
        "Exercise 4": [
            computed(r"discounts 1 and #: $2 \cdot # / #$", DISCOUNT[1], 1 - DISCOUNT[1], IDEAL),
            computed(">>> float(((3 - 1)", 2 * (1 - DISCOUNT[1]) / IDEAL),
        ],
        "Exercise 5": [
            computed(r"$\ln(1 + e^{-1}) = #$; the force is $1 / (1 + e) = #$", log(1 + 1 / e), 1 / (1 + e)),
        ],
        "Exercise 6": [computed(">>> round(ndcg(grade[test], X[test] @ svm", rank_svm())],
    }
