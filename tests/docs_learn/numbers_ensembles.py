"""Where the numbers of the page "Many trees" come from."""

from math import e, log, prod, sqrt
from statistics import mean

import numpy as np

from hornbeam import AdaBoostClassifier, ForestClassifier, ForestRegressor
from hornbeam.ensembles import Forest
from support.page_numbers import computed, given, recomputed
from support.textbook import Cart, short_threshold
from test_learn_ensembles import Y, rounds, wrong_majority, wrong_weighted_vote


def bags_of_trees():
    """Trees, squared bias and variance of the means of 1, 5, 25 and 100 trees of 20 bags, from their predictions."""
    grid = np.linspace(0.1, 5.9, 59)[:, None]
    truth, each = np.sin(grid[:, 0]), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = np.sort(rng.uniform(0, 6, 60))
        bag = ForestRegressor(100, max_features=None, smoothing=None)
        trees = bag.fit(x[:, None], np.sin(x) + rng.normal(0, 0.4, 60)).forest_.trees
        each.append([Forest((tree,)).predict(grid)[:, 0] for tree in trees])
    table = []
    for n in (1, 5, 25, 100):
        predicted = np.mean(np.array(each)[:, :n], axis=1)
        bias = predicted.mean(axis=0) - truth
        table.append([n, np.mean(bias**2), predicted.var(axis=0).mean()])
    return table


def drawn_data():
    """The three samples that the page draws, one after the other, from one generator."""
    rng = np.random.default_rng(0)
    share = len(np.unique(rng.integers(10_000, size=10_000))) / 10_000
    few = rng.normal(size=(4400, 4))
    truth = 1 / (1 + np.exp(-2 * few[:, 0] - few[:, 1]))
    label = (rng.random(4400) < truth).astype(int)
    many = rng.normal(size=(800, 1000))
    useful = (many[:, :5].sum(axis=1) + rng.normal(size=800) > 0).astype(int)
    return share, few, truth, label, many, useful


def mean_and_votes(X, truth, y):
    """Distance from the truth and accuracy of the mean of 25 trees, and of their votes."""
    forest = ForestClassifier(25, min_samples_leaf=10, smoothing=None).fit(X[:400], y[:400])
    each = np.array([Forest((tree,)).predict(X[400:])[:, 1] for tree in forest.forest_.trees])
    answers = each.mean(axis=0), (each > 0.5).mean(axis=0)
    return [[sqrt(np.mean((p - truth[400:]) ** 2)), np.mean((p > 0.5) == y[400:])] for p in answers]


def many_features(X, y):
    """Accuracies of one tree of CART, and of three forests, from their predictions."""
    one = Cart().fit(X[:300], y[:300]).score(X[300:], y[300:])
    forests = (
        (ForestClassifier(50), 1000),
        (ForestClassifier(50, max_features=0.3), 1000),
        (ForestClassifier(50), 5),
    )
    return one, [
        np.mean(forest.fit(X[:300, :n], y[:300]).predict(X[300:, :n]) == y[300:]) for forest, n in forests
    ]


def wrong_labels():
    """Share of flipped labels; mean accuracies of AdaBoost and of a forest over 4 training sets."""

    def draw(rng, n_rows):
        X = rng.normal(size=(n_rows, 5))
        return X, (X[:, :3].sum(axis=1) > 0).astype(int)

    def scores(noise, seed):
        rng = np.random.default_rng(seed)
        (X, y), (X_test, y_test) = draw(rng, 300), draw(rng, 1000)
        noisy = np.where(rng.random(300) < noise, 1 - y, y)
        models = AdaBoostClassifier(50), ForestClassifier(50)
        return [np.mean(model.fit(X, noisy).predict(X_test) == y_test) for model in models]

    return [
        [100 * noise, *np.mean([scores(noise, seed) for seed in range(4)], axis=0)] for noise in (0, 0.1, 0.3)
    ]


def claims():
    three = rounds()
    print_out = [
        [n, short_threshold(low, high), error, alpha, z, weights]
        for n, (_, low, high, _, error, alpha, z, weights) in enumerate(three, 1)
    ]
    errors, alphas, factors = ([one[i] for one in three] for i in (4, 5, 6))
    bounds = np.cumprod(factors)
    totals = np.cumsum([one[5] * one[3] for one in three], axis=0)
    table = [
        [n, z, bound, np.mean(np.sign(total) != Y)]
        for n, z, bound, total in zip((1, 2, 3), factors, bounds, totals, strict=True)
    ]
    share, few, truth, label, many, useful = drawn_data()
    one, (default, third, five) = many_features(many, useful)
    odds = 1 / 0.3 - 1
    after = [0.3 * f / (0.3 * f + 0.7 / f) for f in (odds, log(odds), sqrt(odds))]
    exercise = [2 * sqrt(error * (1 - error)) for error in (0.3, 0.2, 0.1)]
    always = 2 * sqrt(0.4 * 0.6)
    return {
        "Voting": [
            given("each is wrong with probability 0.3"),
            computed(
                ">>> [round(majority_error(n, 0.3), 4)", [wrong_majority(n, 0.3) for n in (1, 5, 15, 51)]
            ),
            given("To the right of 0.5"),
            given("with the errors 0.1, 0.4 and 0.4"),
            computed(">>> vote_error(np.ones(3))", wrong_weighted_vote()),
        ],
        "Bagging": [
            computed("about # % of the distinct rows", 100 * (1 - 1 / e)),
            computed(">>> [round(1 - (1 - 1 / n)", [1 - (1 - 1 / n) ** n for n in (10, 100, 10_000)]),
            computed(">>> len(np.unique(drawn))", share),
            recomputed(">>> for n_trees in (1, 5, 25, 100):", bags_of_trees()),
        ],
        "Mean of probabilities, or majority vote?": [
            given("probabilities 0.9, 0.4 and 0.4"),
            computed("The mean is #.", mean([0.9, 0.4, 0.4])),
            given("compare on 4,000 others"),
            recomputed(">>> for name, p in answers.items():", mean_and_votes(few, truth, label)),
        ],
        "Random forests": [
            given("x = 0.7 and y = 0.8"),
            given("300 rows with 1,000 features"),
            computed("accuracy(ForestClassifier(50)) (#,", one),
            recomputed(f"accuracy(ForestClassifier(50)) ({one:.2f}, #)", default),
            recomputed(">>> accuracy(ForestClassifier(50, max_features=0.3))", third),
            recomputed(">>> accuracy(ForestClassifier(50), n_columns=5)", five),
            given("m = 31 of 1,000 features"),
            computed(">>> round(comb(995, 31)", prod(1 - 31 / (1000 - k) for k in range(5))),
            given("(`max_features=0.3`)"),
        ],
        "Boosting: AdaBoost": [given("its error is below 50 %")],
        "Which factor?": [
            given(r"for $\varepsilon = 0.3$"),
            computed(">>> [error_after(factor)", after),
            computed(r"for every $\varepsilon$ above #:", 1 / (1 + e)),
        ],
        "Three rounds by hand": [
            computed(">>> for t in (1, 2, 3):", print_out),
            computed(r"so $\varepsilon = #$ and $\alpha = \tfrac12\ln(7/3) = #$", errors[0], log(7 / 3) / 2),
            computed(r"\sqrt{7/3}\,/\,# = 1/6$", factors[0]),
            computed(r"\sqrt{3/7}\,/\,# = 1/14$", factors[0]),
            computed(r"$#\,h_1 + #\,h_2 + #\,h_3$", alphas),
        ],
        "How many training errors?": [computed(f"| {row[0]} | # | # | # |", row[1:]) for row in table]
        + [computed(f"| # | {row[1]:.4f}", row[0]) for row in table],
        "With a library": [
            computed(">>> boost.estimator_errors_", errors),
            computed(">>> (boost.estimator_weights_ / 2)", alphas),
            computed(">>> boost.training_error_bound_", bounds),
        ],
        "For and against": [recomputed(">>> for noise in (0.0, 0.1, 0.3):", wrong_labels())],
        "Gradient boosting": [
            computed(">>> [float((error[k]", [2 * (1 / 3) / (2 * 2 / 9), (-2 / 3) / (2 / 9)]),
            computed(">>> one.fit(", [2 * (1 / 3) / (2 * 2 / 9), (-2 / 3) / (2 / 9)]),
            given("(`learning_rate=0.1`)"),
        ],
        "Exercise 1": [
            given("wrong with probability 0.3"),
            computed(r"$3 \cdot # \cdot # + #$", 0.3**2, 0.7, 0.3**3),
            computed(">>> round(majority_error(3, 0.3), 4)", wrong_majority(3, 0.3)),
        ],
        "Exercise 2": [computed(">>> round(1 - (1 - 1 / 5)", 1 - (4 / 5) ** 5)],
        "Exercise 3": [
            given("has the error 0.2"),
            given(r"\ln(1/0.2 - 1)"),
            computed(">>> float(round(0.5 * np.log(1 / 0.2 - 1), 4))", log(2)),
        ],
        "Exercise 4": [
            given("have the errors 0.3, 0.2 and 0.1"),
            computed(
                r"$2\sqrt{#} \cdot 2\sqrt{#} \cdot 2\sqrt{#} = # \cdot # \cdot #$", 0.21, 0.16, 0.09, exercise
            ),
            computed(">>> float(np.prod(", prod(exercise)),
        ],
        "Exercise 5": [
            given("have errors of 0.4"),
            computed(
                r"$Z = 2\sqrt{#} = #$, and $\ln 0.1 / \ln # = #$",
                0.4 * 0.6,
                always,
                always,
                log(0.1) / log(always),
            ),
            given(r"\ln 0.1 /"),
            computed(">>> int(np.ceil(", next(t for t in range(1, 999) if always**t < 0.1)),
        ],
        "Exercise 6": [
            given("variance 0.154 and the correlation 0.4"),
            given(r"$0.4 \cdot 0.154 + \frac{0.6}{25} \cdot 0.154 ="),
            computed("= # + #$. Of infinitely many: #.", 0.4 * 0.154, 0.6 / 25 * 0.154, 0.4 * 0.154),
            computed(">>> round(0.4 * 0.154", 0.4 * 0.154 + 0.6 / 25 * 0.154),
        ],
        "Exercise 7": [computed(">>> float(error.sum() / hessian.sum())", (3 * 0.5 - 0.5) / (4 * 0.25))],
        "Exercise 8": [computed(">>> float(round(2 * np.sqrt(3 / 14", 2 * sqrt(3 / 14 * 11 / 14))],
    }
