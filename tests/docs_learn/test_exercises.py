"""The results of all exercises, computed without Hornbeam."""

import re
from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil, exp, log, log2, prod, sqrt
from statistics import mean

import pytest

from support.docs_module import DOCS
from support.textbook import (
    DAYS,
    OUTLOOK,
    WIND,
    auc,
    best_threshold,
    bits,
    entropy,
    gain,
    gini,
    id3,
    leaves_of_majority,
    limit,
    limit_of_errors,
    m_branch,
    nodes_of,
    rank_svm,
    split_information,
    sse,
)

ANSWER = re.compile(
    r"^\*\*Exercise (\d+)\*\* .*?^:::\{dropdown\} Solution\n(?:Answer: `([^`]+)`)?", re.DOTALL | re.MULTILINE
)
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
        len(id3(DAYS, range(4))),
        best_threshold(bits, "ffpffp") + 1,  # the first student has one hour
        2**6 * 3**2 * 4**2,
        len({frozenset({side, 255 - side}) for side in range(1, 255)}),
        best_threshold(sse, [1, 2, 3, 10, 11, 12, 100]),
        len(nodes_of(id3(DAYS, range(4)))),
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


# ---- what else the pages compute


def test_the_average_gain():
    """The holiday has the highest ratio, but less than the average gain; of the others it is outlook."""
    rows = [[*day[:4], "T" if i in (2, 12) else "F", day[4]] for i, day in enumerate(DAYS)]
    gains = [gain(rows, feature, entropy) for feature in range(5)]
    ratios = [gains[feature] / split_information(rows, feature) for feature in range(5)]
    assert max(range(5), key=ratios.__getitem__) == 4
    assert max((f for f in range(5) if gains[f] >= mean(gains)), key=ratios.__getitem__) == OUTLOOK


def test_ranknet():
    """The force is the slope of the cost."""
    for d in (-1, 0, 1):
        slope = (log(1 + exp(-d - 1e-6)) - log(1 + exp(-d + 1e-6))) / 2e-6
        assert slope == pytest.approx(-1 / (1 + exp(d)))


def test_an_empty_branch():
    """At the node of hungry guests of a full restaurant no visit was French, and two of four waited."""
    text = (DOCS / "learn/impurity.md").read_text(encoding="utf-8")
    table = re.search(r'>>> table = """\n(.*?)\.\.\. """', text, re.DOTALL)[1]
    rows = [line.split()[1:] for line in table.splitlines()]
    here = [row for row in rows if row[3] == "T" and row[4] == "Full"]
    assert Counter(row[-1] for row in here) == {"T": 2, "F": 2}
    assert {row[8] for row in here} == {"Burger", "Italian", "Thai"}
    assert {row[8] for row in rows} == {"Burger", "French", "Italian", "Thai"}


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
