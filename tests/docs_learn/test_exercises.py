"""The results of all exercises, computed without Hornbeam."""

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, comb, exp, log, log2, prod, sqrt
from statistics import mean

import numpy as np
import pytest
from sklearn.metrics import ndcg_score
from sklearn.svm import LinearSVC

from support.docs_module import DOCS

ANSWER = re.compile(
    r"^\*\*Exercise (\d+)\*\* .*?^:::\{dropdown\} Solution\n(?:Answer: `([^`]+)`)?", re.DOTALL | re.MULTILINE
)
TENNIS = """sunny hot high weak no,sunny hot high strong no,overcast hot high weak yes,rain mild high weak yes,
rain cool normal weak yes,rain cool normal strong no,overcast cool normal strong yes,sunny mild high weak no,
sunny cool normal weak yes,rain mild normal weak yes,sunny mild normal strong yes,overcast mild high strong yes,
overcast hot normal weak yes,rain mild high strong no"""
DAYS = [day.split() for day in TENNIS.split(",")]
OUTLOOK, HUMIDITY, WIND = 0, 2, 3


def entropy(*counts):
    return -sum(n / sum(counts) * log2(n / sum(counts)) for n in counts if n)


def gini(*counts):
    return 1 - sum((n / sum(counts)) ** 2 for n in counts)


def gain(rows, feature, impurity):
    """The gain of a feature of rows whose last cell is the class."""

    def of(part):
        return impurity(*Counter(row[-1] for row in part).values())

    parts = [[row for row in rows if row[feature] == value] for value in {row[feature] for row in rows}]
    return of(rows) - sum(len(part) / len(rows) * of(part) for part in parts)


def n_nodes(rows, features):
    """Nodes and leaves of the tree of ID3."""
    if len({row[-1] for row in rows}) == 1 or not features:
        return 1, 1
    best = max(features, key=lambda f: gain(rows, f, entropy))
    parts = [[row for row in rows if row[best] == value] for value in {row[best] for row in rows}]
    below = [n_nodes(part, features - {best}) for part in parts]
    return 1 + sum(n for n, _ in below), sum(leaves for _, leaves in below)


def leaves_of_majority(known=()):
    """Leaves of the smallest tree of the majority of three inputs that tests them in order."""
    results = {sum(known + rest) >= 2 for rest in product((0, 1), repeat=3 - len(known))}
    return 1 if len(results) == 1 else leaves_of_majority((*known, 0)) + leaves_of_majority((*known, 1))


def best_threshold(cost, values):
    """The threshold between 0, 1, 2, ... with the least sum of costs of its two sides."""
    return min(range(1, len(values)), key=lambda i: cost(values[:i]) + cost(values[i:])) - 0.5


def sse(values):
    return sum((value - mean(values)) ** 2 for value in values)


def bits(classes):
    return len(classes) * entropy(*Counter(classes).values())


def limit(n, confidence=0.25):
    """The rate at which no error in n rows has this probability."""
    return 1 - confidence ** (1 / n)


def limit_of_errors(errors, n):
    """The same for some errors, by bisection of the binomial distribution."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        chance = sum(comb(n, e) * middle**e * (1 - middle) ** (n - e) for e in range(errors + 1))
        low, high = (middle, high) if chance > 0.25 else (low, middle)
    return low


def auc(positive, negative):
    """The share of pairs in the right order; half of the ties."""
    pairs = list(product(positive, negative))
    return sum((p > n) + (p == n) / 2 for p, n in pairs) / len(pairs)


def m_branch(counts, m=1, rows=10):
    """Rain at the last node of a branch from the root, of pairs (rain, all)."""
    p = 0.5
    for height, (rain, n) in zip(range(len(counts), 0, -1), counts, strict=True):
        added = m * (1 + (1 - 1 / height) * sqrt(rows))
        p = (rain + added * p) / (n + added)
    return p


def rank_svm():
    """NDCG of a linear ranker on the queries of the page."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(150), 10)
    X = rng.normal(size=(1500, 5))
    X[:, 4] = X[10 * query, 4]
    noise = rng.normal(scale=0.5, size=1500)
    grade = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 2 * X[:, 4] + noise, [0.5, 1.5, 2.5, 3.5])
    pairs = [
        X[i] - X[j]
        for q in range(75)
        for i, j in product(range(10 * q, 10 * q + 10), repeat=2)
        if grade[i] > grade[j]
    ]
    found = LinearSVC(fit_intercept=False, random_state=0)
    found.fit(np.vstack([pairs, np.negative(pairs)]), np.repeat([1, -1], len(pairs)))
    scores = (X @ found.coef_[0]).reshape(150, 10)[75:]
    grades = grade.reshape(150, 10)[75:]
    some = grades.max(axis=1) > 0  # NDCG is not defined where no document is good
    return ndcg_score(2 ** grades[some] - 1, scores[some])


DISCOUNT = [1 / log2(1 + rank) for rank in (1, 2, 3)]
IDEAL = 3 * DISCOUNT[0] + 1 * DISCOUNT[1]
LAPLACE_ON_DAYS = [(4, 5 / 6), (2, 3 / 5), (1, 2 / 5), (1, 2 / 5), (2, 3 / 5)]

COMPUTED = {
    "impurity": [
        entropy(9, 5),
        gini(9, 5),
        gain(DAYS, WIND, entropy),
        entropy(4, 2, 1, 1),
        entropy(9, 5) / log2(14),
        max(gain(DAYS, feature, gini) for feature in range(4)),
        None,
    ],
    "growing": [
        leaves_of_majority(),
        n_nodes(DAYS, {0, 1, 2, 3})[1],
        best_threshold(bits, "ffpffp") + 1,  # the first student has one hour
        2**6 * 3**2 * 4**2,
        len({frozenset({side, 255 - side}) for side in range(1, 255)}),
        best_threshold(sse, [1, 2, 3, 10, 11, 12, 100]),
        n_nodes(DAYS, {0, 1, 2, 3})[0],
    ],
    "overfitting": [
        0.2 * 0.8 * (1.96 / 0.01) ** 2,
        limit(4),
        8 * limit(8),
        gini(10, 10) - gini(8, 2),
        "yes" if limit_of_errors(2, 8) <= limit(3) else "no",
        1.96 * sqrt(0.1 * 0.9 / 400),
        None,
    ],
    "probabilities": [
        m_branch([(3, 10), (2, 3)]),
        Fraction(1 + 1, 10 + 2),
        (2 * 0.3 + 2 / 7) / (4 + 4),
        auc([2 / 3] + 9 * [10 / 12], [10 / 12]),
        -sum(n * log2(p) for n, p in LAPLACE_ON_DAYS) / 10,
        2 * 0.01 / 22,
        None,
        None,
    ],
    "frontiers": [
        Fraction(11, 6),
        5 * Fraction(5, 10) + 5 * Fraction(5, 10),
        4 * (1 - Fraction(4 + 1, 4 + 2)),
        Fraction(sum(2**depth for depth in range(10)), 10),
        sum(ceil(n / 2) for n in (6, 3, 1, 1)),
        sum(ceil(n / 2) for n in (1, 2, 4, 4)),
        None,
    ],
    "ensembles": [
        sum(prod(0.3 if w else 0.7 for w in wrong) for wrong in product((0, 1), repeat=3) if sum(wrong) > 1),
        mean(len(set(drawn)) for drawn in product(range(5), repeat=5)) / 5,
        log(sqrt(0.8 / 0.2)),
        prod(2 * sqrt(e * (1 - e)) for e in (0.3, 0.2, 0.1)),
        next(t for t in range(1, 999) if (2 * sqrt(0.4 * 0.6)) ** t < 1 / 10),
        0.4 * 0.154 + (1 - 0.4) / 25 * 0.154,
        (0.5 + 0.5 + 0.5 - 0.5) / (4 * 0.5 * 0.5),
        2 * sqrt(3 / 14 * 11 / 14),
    ],
    "ranking": [
        (3 * DISCOUNT[0] + 1 * DISCOUNT[2]) / IDEAL,
        2**4 - 1,
        (1 * DISCOUNT[0] + 3 * DISCOUNT[1]) / IDEAL,
        1 - (1 * DISCOUNT[0] + 3 * DISCOUNT[1]) / IDEAL,  # NDCG lost if C and B change places
        -log(1 / (1 + exp(-1))),
        rank_svm,
        None,
    ],
}


@pytest.mark.parametrize("page", COMPUTED)
def test_the_answers(page):
    found = ANSWER.findall((DOCS / "learn" / f"{page}.md").read_text(encoding="utf-8"))
    assert [int(number) for number, _ in found] == list(range(1, len(COMPUTED[page]) + 1))
    for (number, answer), value in zip(found, COMPUTED[page], strict=True):
        if value is None or isinstance(value, str):
            assert answer == (value or ""), number
        else:
            digits = len(answer.partition(".")[2])
            value = value() if callable(value) else value
            assert float(answer) == pytest.approx(float(value), abs=0.501 * 10.0**-digits), number


def page_numbers(page, pattern):
    """The numbers of each match on a page."""
    text = (DOCS / "learn" / f"{page}.md").read_text(encoding="utf-8")
    return [
        [float(number) for number in found.groups()] for found in re.finditer(pattern, text, re.MULTILINE)
    ]


# ---- what else the pages compute


def test_the_average_gain():
    rows = [[*day[:4], "T" if i in (2, 12) else "F", day[4]] for i, day in enumerate(DAYS)]
    names = ["outlook", "temperature", "humidity", "wind", "holiday"]
    gains = {name: gain(rows, f, entropy) for f, name in enumerate(names)}
    text = (DOCS / "learn/impurity.md").read_text(encoding="utf-8").split("### At least the average gain")[1]
    lines = re.findall(r"^([\d.]+) / ([\d.]+) = ([\d.]+) (\w+)$", text, re.MULTILINE)
    assert {name for *_, name in lines} == set(names)
    for *printed, name in lines:
        sizes = Counter(row[names.index(name)] for row in rows).values()
        split = entropy(*sizes)
        expected = [gains[name], split, gains[name] / split]
        assert [float(x) for x in printed] == [round(x, 4) for x in expected]
    average = float(re.search(r"/ 5 = ([\d.]+) ", text)[1])
    assert average == round(mean(gains.values()), 4)
    allowed = {name for name in names if gains[name] >= mean(gains.values())}
    ratios = {name: float(ratio) for _, _, ratio, name in lines}
    assert max(ratios, key=ratios.get) == "holiday"
    assert max(allowed, key=ratios.get) == "outlook"


def approximate_limit(errors, n):
    """C4.5's approximation by the normal distribution, with the deviation of 25 % from its table."""
    z2 = (0.84 + (0.25 - 0.84) * (0.25 - 0.2) / (0.4 - 0.2)) ** 2
    e = errors + 0.5
    return (e + z2 / 2 + sqrt(z2 * (e * (1 - e / n) + z2 / 4))) / (n + z2)


def test_the_limits_of_c45():
    rows = page_numbers("overfitting", r"^\| \w+: \w+ \| (\d+) \| 0 \| ([\d.]+) \| ([\d.]+) \|$")
    for n, rate, errors in rows:
        assert (rate, errors) == (round(limit(n), 3), round(n * limit(n), 3))
    [[split]] = page_numbers("overfitting", r"three leaves\*\* \| 16 \| 0 \| \| \*\*([\d.]+)\*\*")
    [[rate, leaf]] = page_numbers(
        "overfitting", r"one leaf: democrat\*\* \| 16 \| 1 \| ([\d.]+) \| \*\*([\d.]+)\*\*"
    )
    assert [n for n, *_ in rows] == [6, 9, 1]
    assert split == round(sum(n * limit(n) for n, *_ in rows), 3)
    assert (rate, leaf) == tuple(round(k * approximate_limit(1, 16), 3) for k in (1, 16))
    assert page_numbers("overfitting", r"exactly it is ([\d.]+)\.\)") == [[round(limit_of_errors(1, 16), 3)]]
    shown = page_numbers("overfitting", r"\$U\((\d), (\d+)\) = ([\d.]+)\$")
    assert len(shown) >= 7
    for errors, n, rate in shown:
        expected = approximate_limit(int(errors), n) if errors else limit(n)
        assert rate == round(expected, len(str(rate)) - 2)
    assert page_numbers("overfitting", r"2 wrong, and the limit is ([\d.]+)\.") == [
        [round(approximate_limit(2, 8), 3)]
    ]


def test_rules_of_the_tennis_tree():
    def wrong(**conditions):
        names = ["outlook", "temperature", "humidity", "wind"]
        met = [day for day in DAYS if all(day[names.index(f)] == v for f, v in conditions.items())]
        return sum(day[-1] == "no" for day in met), len(met)

    assert wrong(outlook="sunny", humidity="normal") == (0, 2)
    assert wrong(humidity="normal") == (1, 7)
    assert wrong(outlook="sunny") == (3, 5)
    assert wrong(outlook="rain", wind="weak") == (0, 3)
    assert wrong(wind="weak") == (2, 8)


def test_the_weakest_link():
    counts = {"root": (7, 3), "A": (6, 1), "A1": (4, 0), "A2": (2, 1), "B": (1, 2)}
    risk = {node: sum(n) / 10 * gini(*n) for node, n in counts.items()}
    text = (DOCS / "learn/overfitting.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (root|A1?2?|B)\b.*? \| (\d), (\d) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE
    )
    assert {name for name, *_ in rows} == set(counts)
    for name, *n, impurity, share in rows:
        assert tuple(map(int, n)) == counts[name]
        assert (impurity, share) == (f"{gini(*counts[name]):.4f}", f"{risk[name]:.4f}")
    below_root = risk["A1"] + risk["A2"] + risk["B"]
    links = [
        risk["A"] - risk["A1"] - risk["A2"],
        (risk["root"] - below_root) / 2,
        risk["root"] - risk["A"] - risk["B"],
    ]
    assert [
        float(g) for g in re.findall(r" = (0\.\d{4})\$", text.split("- $g(A)")[1].split("So for")[0])
    ] == [round(g, 4) for g in links]
    path = [[0.0, below_root, 3], [links[0], risk["A"] + risk["B"], 2], [links[2], risk["root"], 1]]
    printed = page_numbers("overfitting", r"^ *([\d.]+) +(0\.\d+) +(\d)$")
    assert printed == [[round(alpha, 4), round(left, 4), n] for alpha, left, n in path]


def test_pre_pruning_of_xor_in_both_forms():
    """The first split of CART (the larger decrease of Gini; x of equals), judged by validation rows."""

    def sample(n, seed):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (n, 2))
        return X, (X[:, 0] ^ X[:, 1]) ^ (rng.random(n) < 0.1)

    def after(X, y, feature):
        return sum(len(s) * gini(s.sum(), len(s) - s.sum()) for s in (y[X[:, feature] == v] for v in (0, 1)))

    better = not_worse = 0
    for seed in range(50):
        (A, a), (B, b) = sample(200, seed), sample(100, 1000 + seed)
        feature = min((0, 1), key=lambda f: after(A, a, f))
        side = [a[A[:, feature] == v].mean() > 0.5 for v in (0, 1)]
        split = sum(side[x] != label for x, label in zip(B[:, feature], b, strict=True))
        leaf = (b != (a.mean() > 0.5)).sum()
        better, not_worse = better + (split < leaf), not_worse + (split <= leaf)
    text = (DOCS / "learn/overfitting.md").read_text(encoding="utf-8")
    assert f"\n({better}, {not_worse}, 50)\n" in text
    assert f"in {better} of 50 samples if it must improve, and in {not_worse} if" in text
    assert f"in {not_worse - better} it is a tie" in text
    assert f"but {50 - not_worse} samples still end" in text


def test_roc_and_auc():
    rain = {"raw": (0, 1 / 3, 2 / 3), "laplace": (1 / 6, 2 / 5, 3 / 5), "hgs": (0.1347, 0.3238, 0.56)}
    rain["borrowing"] = (0.2171, 0.2672, 0.4126)  # computed in test_learn_probabilities.py
    text = (DOCS / "learn/probabilities.md").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^(\w+) +AUC 0\.857  bits ([\d.]+)$", text, re.MULTILINE))
    for name, (a1, a2, b) in rain.items():
        assert round(auc([a2, b, b], [a1, a1, a1, a1, a2, a2, b]), 3) == 0.857
        loss = -4 * log2(1 - a1) - 2 * log2(1 - a2) - log2(a2) - log2(1 - b) - 2 * log2(b)
        assert float(lines[name]) == round(loss / 10, 3)
    steps = [tuple(map(int, s)) for s in re.findall(r"\| (\d) of 3 \| (\d) of 7 \|$", text, re.MULTILINE)]
    assert steps == [(0, 0), (2, 1), (3, 3), (3, 7)]
    area = sum((t + s) / 6 * (f - g) / 7 for (s, g), (t, f) in pairwise(steps))
    assert area == pytest.approx(18 / 21)
    assert auc([1.0] + 9 * [0.9], [0.9]) == 0.55


def test_the_bound_of_adaboost():
    table = page_numbers("ensembles", r"^\| (\d) \| (0\.\d{4}) \| (0\.\d{4}) \| (0\.\d) \|$")
    errors = (0.3, 3 / 14, 3 / 22)  # checked in test_learn_ensembles.py
    bound = 1.0
    for (number, z, product_of_z, wrong), error in zip(table, errors, strict=True):
        bound *= 2 * sqrt(error * (1 - error))
        assert (z, product_of_z) == (round(2 * sqrt(error * (1 - error)), 4), round(bound, 4))
        assert wrong == {1: 0.3, 2: 0.3, 3: 0.0}[number] <= bound


def test_ranknet():
    cost = {d: log(1 + exp(-d)) for d in (-1, 0, 1)}
    force = {d: 1 / (1 + exp(d)) for d in (-1, 0, 1)}
    text = (DOCS / "learn/ranking.md").read_text(encoding="utf-8")
    assert f"array([{', '.join(f'{c:.4f}' for c in cost.values())}])" in text
    assert page_numbers(
        "ranking", r"right order costs ([\d.]+), one point in the wrong order ([\d.]+)\."
    ) == [[round(cost[1], 4), round(cost[-1], 4)]]
    assert page_numbers("ranking", r"the force is \$1 / \(1 \+ e\) = ([\d.]+)\$") == [[round(force[1], 4)]]
    for d, value in cost.items():  # the cross-entropy of certainty, and its slope by a small step
        assert value == pytest.approx(-log(1 / (1 + exp(-d))))
        assert (log(1 + exp(-d - 1e-6)) - value) / 1e-6 == pytest.approx(-force[d], abs=1e-5)


def test_an_empty_branch():
    """At the node of hungry guests of a full restaurant no visit was French, and two of four waited."""
    text = (DOCS / "learn/impurity.md").read_text(encoding="utf-8")
    table = re.search(r'>>> table = """\n(.*?)\.\.\. """', text, re.DOTALL)[1]
    rows = [line.split()[1:] for line in table.splitlines()]
    here = [row for row in rows if row[3] == "T" and row[4] == "Full"]
    assert Counter(row[-1] for row in here) == {"T": 2, "F": 2}
    assert {row[8] for row in here} == {"Burger", "Italian", "Thai"}
    assert {row[8] for row in rows} == {"Burger", "French", "Italian", "Thai"}


def test_layers_by_depth():
    children = {1: (2, 9), 2: (3, 6), 3: (4, 5), 6: (7, 8), 9: (10, 11)}
    layers = [[1]]
    while layers[-1]:
        layers.append(sorted(child for node in layers[-1] for child in children.get(node, ())))
    text = (DOCS / "learn/frontiers.md").read_text(encoding="utf-8")
    assert "\n" + "\n".join(map(str, layers[-2::-1])) + "\n" in text
    assert [len(layer) for layer in layers] == [1, 2, 4, 4, 0]


# ---- the built-in tables are those of the pages


def test_example_tables():
    pytest.importorskip("pandas")
    from hornbeam import example_table

    def rows(name):
        X, y = example_table(name)
        return [[str(cell) for cell in (*row, label)] for row, label in zip(X.to_numpy(), y, strict=True)]

    def inline(page, pattern):
        text = (DOCS / "learn" / f"{page}.md").read_text(encoding="utf-8")
        return [re.search(pattern, text, re.DOTALL)[1].replace("...", "")][0]

    assert rows("tennis") == DAYS
    visits = inline("impurity", r'>>> table = """\n(.*?)\.\.\. """')
    assert rows("restaurant") == [line.split() for line in visits.strip().splitlines()]
    pizzas = inline("impurity", r'Meat Crust   Veg Quality\n(.*?)\.\.\. """')
    assert rows("pizza") == [line.split() for line in pizzas.strip().splitlines()]
    days = inline("probabilities", r"humidity cloud weather\n(.*?)\.\.\. \"")
    assert rows("days") == [line.split() for line in days.strip().splitlines()]
    things = inline("growing", r'>>> things = """(.*?)"""')
    assert rows("things") == [thing.split() for thing in things.split(",")]
    result = inline("growing", r'>>> result = list\("(\w+)"\)')
    assert rows("hours") == [[str(i), letter] for i, letter in enumerate(result, 1)]
    points, sign = example_table("points")
    for name, key in (("x", "x1"), ("y", "x2")):
        assert str(points[name].tolist()) == inline("ensembles", rf">>> {key} = (\[.*?\])")
    assert sign.tolist() == [1] * 5 + [-1] * 5
