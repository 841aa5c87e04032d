"""Where the numbers of the page "Growing step by step" come from."""

from itertools import product
from math import log2
from statistics import mean, pstdev

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from docs_learn.numbers_impurity import HUNGRY, PATRONS, VISITS
from hornbeam import TreeClassifier
from hornbeam.errors import HornbeamWarning
from support.page_numbers import computed, given, printed, recomputed
from support.reference_smoothing import borrowing
from support.textbook import (
    DAYS,
    best_threshold,
    bits,
    candidates_text,
    entropy,
    gain,
    id3,
    nodes_of,
    short_threshold,
    sse,
    tree_text,
)
from test_learn_growing import GROWING, inline

BUYS = {"red": 16, "orange": 14, "yellow": 15, "violet": 17, "green": 5, "cyan": 4, "blue": 3, "grey": 6}


def truth_table(function, n_inputs):
    return [[*row, function(row)] for row in product("FT", repeat=n_inputs)]


def is_odd(row):
    return "FT"[row.count("T") % 2]


def thresholds_text(result):
    """All cuts between 1, 2, 3, ... with their gains, as Hornbeam prints them."""
    n, whole = len(result), bits(result)
    gains = {cut: (whole - bits(result[:cut]) - bits(result[cut:])) / n for cut in range(1, n)}
    text = f"node 0: {n} rows, entropy {whole / n:.4f} bits rank gain split f p in each child"
    for cut, amount in gains.items():
        rank = 1 + sum(other > amount for other in gains.values())
        sides = " | ".join(f"{side.count('f')} {side.count('p')}" for side in (result[:cut], result[cut:]))
        text += f" {rank}{'*' * (rank == 1)} {amount:.4f} hours ≤ {cut}.5 | > {cut}.5 {sides}"
    return text


def students(n, first):
    """The students of the page: hours, and whether they passed."""
    rng = np.random.default_rng(first)
    hours = rng.integers(0, 60, n)
    return hours, (hours > 30) ^ (rng.random(n) < 0.15)


def identifiers():
    """Gain, accuracies on old and new students of the best cut of hours, and of a majority on new students."""
    (hours, passed), (new_hours, new_passed) = students(300, 1000), students(300, 5000)

    def left(cut):
        return sum(bits(passed[side].tolist()) for side in (hours <= cut, hours > cut)) / 300

    cut = min(np.unique(hours)[:-1], key=left)
    above = [passed[hours <= cut].mean() > 0.5, passed[hours > cut].mean() > 0.5]
    scores = [
        np.mean(np.where(h > cut, above[1], above[0]) == p)
        for h, p in ((hours, passed), (new_hours, new_passed))
    ]
    amount = bits(passed.tolist()) / 300 - left(cut)
    information = entropy((hours <= cut).sum(), (hours > cut).sum())
    return amount, amount / information, scores, np.mean(new_passed == (passed.mean() > 0.5))


def default_tree_of_students():
    """Leaves and accuracies of the default, which tunes itself, from its predictions."""

    def frame(n, first):
        hours, passed = students(n, first)
        return pd.DataFrame({"number": [f"{first + i:09}" for i in range(n)], "hours": hours}), passed

    (X, y), (X_new, y_new) = frame(300, 1000), frame(300, 5000)
    with pytest.warns(HornbeamWarning, match="an identifier"):
        tree = TreeClassifier().fit(X, y)
    return len(set(tree.apply(X))), [
        np.mean(tree.predict(rows) == real) for rows, real in ((X, y), (X_new, y_new))
    ]


def one_hot_tree(colours, depth=0):
    """Leaves, depth and right people of the greedy tree of one colour against all others, with equal leaves merged."""

    def people(names):
        return [sum(BUYS[c] for c in names), sum(20 - BUYS[c] for c in names)]

    def impurity(names):
        yes, no = people(names)
        return 2 * yes * no / (yes + no)

    label = int(people(colours)[1] > people(colours)[0])
    leaf = {"leaves": 1, "depth": depth, "labels": {label}, "right": max(people(colours))}
    if len(colours) == 1:
        return leaf
    best = min(colours, key=lambda c: impurity([c]) + impurity([d for d in colours if d != c]))
    below = [one_hot_tree(part, depth + 1) for part in ([best], [c for c in colours if c != best])]
    if len(labels := below[0]["labels"] | below[1]["labels"]) == 1:
        return leaf
    return {
        "leaves": sum(b["leaves"] for b in below),
        "depth": max(b["depth"] for b in below),
        "labels": labels,
        "right": sum(b["right"] for b in below),
    }


def three_trees():
    right = sum(max(n, 20 - n) for n in BUYS.values()) / 160
    one_hot = one_hot_tree(list(BUYS))
    return [[8, 1, right], [2, 1, right], [one_hot["leaves"], one_hot["depth"], one_hot["right"] / 160]]


def survey(n, seed):
    rng = np.random.default_rng(seed)
    income = rng.integers(1, 7, n).astype(float)
    owes = rng.random(n) < np.where(income > 3, 0.2, 0.8)
    income[rng.random(n) < np.where(owes, 0.5, 0.1)] = np.nan
    return income[:, None], owes


def answers_to_the_survey():
    (X, y), (X_new, y_new) = survey(1000, 0), survey(4000, 1)
    trees = [TreeClassifier(missing=way) for way in ("own", "learned", "fractional")]
    trees.append(make_pipeline(SimpleImputer(strategy="most_frequent"), TreeClassifier()))
    return [np.mean(tree.fit(X, y).predict(X_new) == y_new) for tree in trees]


PEOPLE = [
    [*cell[:3], *map(int, cell[3:])] for cell in inline(GROWING, "cells")
]  # class, sex, age, died, survived


def titanic():
    """The people at each leaf of the printed tree, counted; probabilities by the formula of its smoother; the score."""

    def fates(**conditions):
        columns = ("cabin", "sex", "age")
        met = [
            c
            for c in PEOPLE
            if all(c[columns.index(name)] in values.split() for name, values in conditions.items())
        ]
        return [sum(cell[3] for cell in met), sum(cell[4] for cell in met)]

    leaves = [
        fates(sex="male", age="adult", cabin="2nd 3rd"),
        fates(sex="male", age="adult", cabin="1st crew"),
        fates(sex="male", age="child", cabin="3rd"),
        fates(sex="male", age="child", cabin="1st 2nd"),
        fates(sex="female", cabin="3rd"),
        fates(sex="female", cabin="2nd crew"),
        fates(sex="female", cabin="1st"),
    ]
    rows = pd.DataFrame(
        [[*cell[:3], fate] for cell in PEOPLE for fate in ("died", "survived")],
        columns=["class", "sex", "age", "fate"],
    )
    weights = [n for cell in PEOPLE for n in cell[3:]]
    tree = (
        TreeClassifier(max_depth=3).fit(rows.drop(columns="fate"), rows["fate"], sample_weight=weights).tree_
    )
    strengths = dict(next(step for step in tree.history if step.name == "borrowing").parameters)
    belief, _ = borrowing(tree, **strengths)
    printed_order = [7, 8, 9, 10, 5, 11, 12]
    text = []
    for node, counts in zip(printed_order, leaves, strict=True):
        assert tree.evidence[node].tolist() == counts
        text.append([node, belief[node].max(), *sorted((n for n in counts if n), reverse=True)])
    return text, sum(map(max, leaves)) / sum(map(sum, leaves))


def neighbours():
    """Nearest neighbours without a filter, and with the features of a tree."""
    X, y = load_breast_cancer(return_X_y=True)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 200))])
    alone = make_pipeline(StandardScaler(), KNeighborsClassifier())
    filtered = make_pipeline(SelectFromModel(TreeClassifier()), alone)
    return [cross_val_score(model, X, y).mean() for model in (alone, filtered)]


def claims():
    conjunction = truth_table(lambda row: "FT"[row == ("T", "T")], 2)
    xor, odd = truth_table(is_odd, 2), truth_table(is_odd, 3)
    things = inline(GROWING, "things")
    petals, kinds = load_iris(return_X_y=True)
    petals = petals[:, 2:]
    iris = []
    for depth in (1, 2, 3):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(petals, kinds)
        iris += [depth, tree.get_n_leaves(), tree.score(petals, kinds)]
    low, high = (f"{short_threshold(*cut):g}" for cut in ((8, 11), (26, 29)))
    best, ratio, scores, majority = identifiers()
    n_leaves, default_scores = default_tree_of_students()
    target = [1, 2, 3, 10, 11, 12]
    titanic_leaves, titanic_score = titanic()
    alone, filtered = neighbours()
    visits = id3(VISITS, range(10))
    six = "ffpffp"
    parts = [sse(target[:3]), sse(target[3:])]
    return {
        "A truth table is a tree": [
            printed(tree_text(id3(conjunction, (0, 1)), "ab")),
            computed("(probability #, from 1 row of class T)", 1),
            printed(tree_text(id3(xor, (0, 1)), "ab")),
            computed(
                ">>> xor.tree_.gain[:3]",
                gain(xor, 0, entropy),
                [gain(xor[k : k + 2], 1, entropy) for k in (0, 2)],
            ),
            computed('>>> TreeClassifier("id3").fit(three, odd)', len(id3(odd, (0, 1, 2)))),
        ],
        "Splits cut a plane into rectangles": [
            printed(candidates_text(things, ["size", "colour"])),
            printed(tree_text(id3(things, (0, 1)), ["size", "colour"])),
        ],
        "One level at a time": [computed(">>> for depth in (1, 2, 3):", iris)],
        "Numbers: every cut is tried": [
            printed(thresholds_text("ffpffpppfppp")),
            computed("highest at # hours", best_threshold(bits, "ffpffpppfppp") + 1),
            printed(
                f"0) every row 1) x0 ≤ {low} no 1.000 3 no 2) x0 > {low} 3) x0 ≤ {high} yes 1.000 6 yes "
                f"4) x0 > {high} no 1.000 3 no"
            ),
        ],
        "A column of identifiers": [
            given("15 % of the results are the other way round"),
            computed("id3 root number leaves # train # test #", 300, 1, majority),
            computed("cart root number leaves # train # test #", 2, 1, majority),
            computed("c4.5 root hours leaves # train # test #", 2, scores),
            recomputed("default root hours leaves # train # test #", n_leaves, default_scores),
            computed(
                "number gain # ratio #", entropy(*number_of_each()), entropy(*number_of_each()) / log2(300)
            ),
            computed("hours gain # ratio #", best, ratio),
            computed("log2(300) = # bits", log2(300)),
        ],
        "One column, three trees": [computed(">>> for way, X in ways.items():", three_trees())],
        "A value without rows": [
            computed(
                ">>> id3.apply(french)",
                nodes_of(visits).index(((PATRONS, "Full"), (HUNGRY, "T"))),
                [
                    np.mean([row[-1] == c for row in VISITS if row[PATRONS] == "Full" and row[HUNGRY] == "T"])
                    for c in "FT"
                ],
            )
        ],
        "Missing values": [recomputed(">>> for way, tree in ways.items():", answers_to_the_survey())],
        "A numeric target": [
            computed("the mean is # and the SSE #.", mean(target), sse(target)),
            computed("means # and #, SSE # + # = #.", mean(target[:3]), mean(target[3:]), parts, sum(parts)),
            computed(
                ">>> sse(target)", sse(target), [sse(target[:i]) + sse(target[i:]) for i in range(1, 6)]
            ),
            printed(
                f"0) every row 1) x0 ≤ 2.5 {mean(target[:3])} 3 rows, deviation {pstdev(target[:3]):.4f} "
                f"2) x0 > 2.5 {mean(target[3:])} 3 rows, deviation {pstdev(target[3:]):.4f}"
            ),
        ],
        "The Titanic": [
            computed("# people were on board", sum(sum(cell[3:]) for cell in PEOPLE)),
            computed('>>> cells.groupby("fate")', [sum(cell[k] for cell in PEOPLE) for k in (3, 4)]),
            given("0) every row ├─ 1) sex = male │ ├─ 3) age = adult"),
            recomputed(
                "#) class in {2nd, 3rd} died # # died, # survived #) class in {1st, crew} died # # died, # survived "
                "4) age = child #) class = 3rd died # # died, # survived #) class in {1st, 2nd} survived # # survived",
                titanic_leaves[:4],
            ),
            given("4) age = child"),
            given("2) sex = female"),
            given("6) class in {1st, 2nd, crew}"),
            recomputed(
                "2) sex = female #) class = 3rd died # # died, # survived 6) class in {1st, 2nd, crew} "
                "#) class in {2nd, crew} survived # # survived, # died #) class = 1st survived # # survived, # died",
                titanic_leaves[4:],
            ),
            recomputed(">>> round(tree.score(X, fate", titanic_score),
        ],
        "A tree as a filter for features": [
            computed("... print(round(cross_val_score(model, X, y).mean(), 3)) #", alone),
            recomputed("... print(round(cross_val_score(model, X, y).mean(), 3)) 0.891 #", filtered),
        ],
        "Exercise 1": [computed(">>> tree.n_leaves, tree.depth", 6, 3)],
        "Exercise 2": [
            printed(tree_text(id3(DAYS, range(4)), ["outlook", "temperature", "humidity", "wind"]))
        ],
        "Exercise 3": [
            computed("Above # there is one row", best_threshold(bits, six) + 1),
            computed(
                r"The gain is $# - \frac56 \cdot # = #$ bits",
                bits(six) / 6,
                bits("ffpff") / 5,
                cut_gain(six, 5),
            ),
            computed("The next best, 2.5, has #.", cut_gain(six, 2)),
            computed("The next best, #,", sorted(range(1, 6), key=lambda k: -cut_gain(six, k))[1] + 0.5),
            computed(
                ">>> float(six.tree_.skeleton.threshold[0])", best_threshold(bits, six) + 1, cut_gain(six, 5)
            ),
        ],
        "Exercise 4": [
            computed("Twelve visits are # % of them", 100 * 12 / (2**6 * 3**2 * 4**2)),
            computed(">>> int(visits.nunique()", 2**6 * 3**2 * 4**2),
        ],
        "Exercise 6": [
            computed(
                "the SSE is #, while the cut at # leaves $2 + #$", sse(target), 2.5, sse([10, 11, 12, 100])
            ),
            computed(">>> float(tree.tree_.skeleton.threshold[0])", best_threshold(sse, [*target, 100])),
        ],
        "Exercise 7": [computed(">>> grown[0], size(grown)", len(nodes_of(id3(DAYS, range(4)))))],
    }


def number_of_each():
    passed = students(300, 1000)[1]
    return passed.sum(), (~passed).sum()


def cut_gain(result, cut):
    return (bits(result) - bits(result[:cut]) - bits(result[cut:])) / len(result)
