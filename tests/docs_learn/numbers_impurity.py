"""Where the numbers of the page "Impurity and gain" come from."""

from collections import Counter
from itertools import product
from math import log2
from statistics import mean

from docs_learn.test_impurity import PAGE, tables
from support.page_numbers import computed, given, printed, quoted
from support.textbook import (
    DAYS,
    OUTLOOK,
    WIND,
    candidates_text,
    entropy,
    gain,
    gini,
    id3,
    nodes_of,
    ranked,
    split_information,
    split_rows,
    tree_text,
)

VISITS, (PIZZA_NAMES, *PIZZAS) = (
    [list(row) for row in table] for table in tables(PAGE.read_text(encoding="utf-8"))
)
NAMES = [
    "Alternative",
    "Bar",
    "FriSat",
    "Hungry",
    "Patrons",
    "Price",
    "Raining",
    "Reservation",
    "Type",
    "WaitEstimate",
]
ALTERNATIVE, BAR, FRISAT, HUNGRY, PATRONS, PRICE, RAINING, RESERVATION, TYPE, MINUTES = range(10)
MEAT, CRUST, VEG = range(3)


def left(rows, feature):
    """The entropy after a split."""
    return entropy_of(rows) - gain(rows, feature, entropy)


def entropy_of(rows):
    labels = [row[-1] for row in rows]
    return entropy(*map(labels.count, set(labels)))


def learned(row):
    """The tree that ID3 learns from the visits; F where it is a tie."""
    if row[PATRONS] != "Full":
        return "T" if row[PATRONS] == "Some" else "F"
    if row[HUNGRY] == "F" or row[TYPE] in ("French", "Italian"):
        return "F"
    return "T" if row[TYPE] == "Burger" else row[FRISAT]


def by_hand(row):
    """The tree of Russell and Norvig: the decision, and the features on the way."""
    asked = [PATRONS]

    def ask(feature):
        asked.append(feature)
        return row[feature]

    def decide():
        if row[PATRONS] != "Full":
            return "T" if row[PATRONS] == "Some" else "F"
        minutes = ask(MINUTES)
        if minutes == "30-60":
            if ask(ALTERNATIVE) == "T":
                return ask(FRISAT)
            return "T" if ask(RESERVATION) == "T" else ask(BAR)
        if minutes == "10-30":
            if ask(HUNGRY) == "F" or ask(ALTERNATIVE) == "F":
                return "T"
            return ask(RAINING)
        return "T" if minutes == "0-10" else "F"

    return decide(), tuple((feature, row[feature]) for feature in asked)


def size(leaves):
    """Nodes, depth and features of a tree."""
    features = {feature for path in leaves for feature, _ in path}
    return len(nodes_of(leaves)), max(map(len, leaves)), len(features)


def claims():
    full = split_rows(VISITS, PATRONS)["Full"]
    ratio = [
        [gain(VISITS, f, entropy), split_information(VISITS, f)] for f in (PATRONS, HUNGRY, PRICE, MINUTES)
    ]
    holidays = [[*day[:4], "T" if i in (2, 12) else "F", day[4]] for i, day in enumerate(DAYS)]
    by_gain = [
        [gain(holidays, f, entropy), split_information(holidays, f)] for f in ranked(holidays, range(5))
    ]
    gains = [amount for amount, _ in by_gain]
    meat = split_rows(PIZZAS, MEAT)
    all_rows = list(product(*(sorted({row[f] for row in VISITS}) for f in range(10))))
    book = {path: Counter([decision]) for decision, path in map(by_hand, all_rows)}
    tree = id3(VISITS, range(10))
    wrong = [number for number, row in enumerate(VISITS, 1) if by_hand(row)[0] != row[-1]]
    assert all(learned(row) == row[-1] for row in VISITS)
    third_edition = [
        [*row[:RAINING], "T", *row[RAINING + 1 :]] if row is VISITS[3] else row for row in VISITS
    ]
    assert all(by_hand(row)[0] == row[-1] for row in third_edition)
    unhurried = [*VISITS[4][:MINUTES], "0-10"]
    assert [by_hand(row)[0] + learned(row) for row in (VISITS[3], unhurried)] == ["FT", "TF"]
    return {
        "The problem": [
            given(
                "| WaitEstimate | How many minutes will we wait, in the host's opinion? | 0-10, 10-30, 30-60, >60 |"
            ),
            computed('>>> print(len(X), "visits,"', len(VISITS), [row[-1] for row in VISITS].count("T")),
        ],
        "Entropy": [
            computed(">>> print(impurity([6, 6]))", entropy(6, 6)),
            computed(">>> print(round(impurity([4, 2]), 2))", entropy(4, 2)),
            computed(">>> print(impurity([0, 4]))", entropy(4)),
            computed(">>> print(impurity([1, 1, 1, 1, 1, 1, 1, 1]))", log2(8)),
        ],
        "Gini": [
            computed('>>> print(impurity([6, 6], "gini")', gini(6, 6), gini(4, 2)),
            computed('>>> print(impurity([1, 1, 1, 1], "gini"))', gini(1, 1, 1, 1)),
            computed("rises to 1 at p = 0.5, Gini and error to #", gini(1, 1)),
            given("rises to 1 at p = 0.5"),
            given("80 % of the rows are T, and a split makes two equal groups with 70 % and 90 % T"),
            computed("The mean error is # before and after", mean([0.3, 0.1])),
        ],
        "Gain": [
            computed(
                r"\tfrac12 \cdot #\right] = # \text{ bits.}", entropy_of(full), gain(VISITS, PATRONS, entropy)
            ),
            computed("Patrons* has None for # of # visits", 2, len(VISITS)),
            computed('>>> print(f"{1 - (none / 6', gain(VISITS, PATRONS, entropy)),
            quoted("slides print `#` here", "lecture on trees, ensembles and ranking", 0.0541),
        ],
        "All ten features": [
            printed(candidates_text(VISITS, NAMES)),
            computed(
                ">>> for split in again[:6]:", [gain(full, f, entropy) for f in ranked(full, range(10))[:6]]
            ),
            printed(tree_text(tree, NAMES)),
        ],
        "The tree of the book": [
            printed(tree_text(book, NAMES)),
            computed(">>> print([i + 1 for i in range(12)", wrong),
            computed("It is right on # of # visits. At visit #", 12 - len(wrong), 12, wrong),
            computed(
                "# nodes, depth # and # features # nodes, depth # and # features", size(book), size(tree)
            ),
            computed(
                ">>> print(same.sum()",
                sum(by_hand(row)[0] == learned(row) for row in all_rows),
                len(all_rows),
            ),
        ],
        "Gain ratio": [
            computed(">>> for split in c45", [[*numbers, numbers[0] / numbers[1]] for numbers in ratio]),
        ],
        "At least the average gain": [
            computed(
                ">>> for split in by_gain:", [[*numbers, numbers[0] / numbers[1]] for numbers in by_gain]
            ),
            computed(r"$# - \frac{12}{14} \cdot # = #$ bits", entropy(9, 5), entropy(5, 7), gains[2]),
            computed("(# + # + # + # + #) / 5 = #", gains, mean(gains)),
        ],
        "Try it: nine pizzas": [
            computed(
                '>>> print(f"Info {info:.2f}',
                entropy_of(PIZZAS),
                left(PIZZAS, MEAT),
                gain(PIZZAS, MEAT, entropy),
            ),
            quoted(
                "A. #, B. #, C. #, D. #, or E. none", "lecture on ID3, C4.5 and CART", 0.98, 1.35, 0.12, 1.41
            ),
            quoted("The lecture truncates # to #. A (#)", "the same", left(PIZZAS, CRUST), 1.41, 0.98),
            quoted("B (#) is near the mean", "the same", 1.35),
            computed("without their weights, #.", mean(map(entropy_of, split_rows(PIZZAS, CRUST).values()))),
            quoted("C (#) is a gain, $# - #$", "the same", 0.12, entropy_of(PIZZAS), 1.41),
            computed('>>> print(f"{info_crust:.4f}', left(PIZZAS, CRUST), gain(PIZZAS, CRUST, entropy)),
            computed(
                ">>> for node in (0, 1, 2):",
                [
                    [node, gain(rows, f, entropy)]
                    for node, rows in enumerate([PIZZAS, *meat.values()])
                    for f in ranked(rows, range(3))
                    if f != MEAT or node == 0
                ],
            ),
            printed(tree_text(id3(PIZZAS, range(3)), PIZZA_NAMES)),
        ],
        "Exercise 1": [
            computed("= # + #$.", -9 / 14 * log2(9 / 14), -5 / 14 * log2(5 / 14)),
            computed(">>> print(round(impurity([9, 5]), 4))", entropy(9, 5)),
        ],
        "Exercise 2": [computed('>>> print(round(impurity([9, 5], "gini")', gini(9, 5))],
        "Exercise 3": [
            computed(r"$# - \frac{8}{14} \cdot # - \frac{6}{14}", entropy(9, 5), entropy(6, 2)),
            computed(">>> print(round(impurity([9, 5])", gain(DAYS, WIND, entropy)),
        ],
        "Exercise 4": [
            computed(r"\frac18 \cdot 3 = #$ bits", 1 / 2 + 2 / 4 + 3 / 8 + 3 / 8),
            computed(">>> print(impurity([4, 2, 1, 1]))", entropy(4, 2, 1, 1)),
        ],
        "Exercise 5": [
            computed(r"all of # bits, the split information $\log_2 14 = #$", entropy(9, 5), log2(14)),
            computed(
                "that of *outlook*, #,", gain(DAYS, OUTLOOK, entropy) / split_information(DAYS, OUTLOOK)
            ),
            computed(">>> print(round(impurity([9, 5]) / np.log2(14)", entropy(9, 5) / log2(14)),
        ],
        "Exercise 6": [
            computed(
                r"so $# - \frac{10}{14} \cdot # = #$", gini(9, 5), gini(2, 3), gain(DAYS, OUTLOOK, gini)
            ),
            computed(">>> print(best.feature, round(best.gain, 4))", gain(DAYS, OUTLOOK, gini)),
        ],
    }
