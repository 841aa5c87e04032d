"""The worked numbers of the lectures are on the page "Impurity and gain", and equal an independent computation.

Tables and numbers are read from the page itself; entropies are computed here with fractions and `math.log2`.
"""

import re
from collections import Counter
from fractions import Fraction
from math import log2
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "learn" / "impurity.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="only a checkout has the pages")


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def restaurant(page):
    names = re.findall(r"^\| (\w+) \| .*\?", page, re.MULTILINE)
    return [dict(zip([*names, "class"], row, strict=True)) for row in tables(page)[0]]


@pytest.fixture(scope="module")
def pizzas(page):
    names, *rows = tables(page)[1]
    return [dict(zip([*names[:-1], "class"], row, strict=True)) for row in rows]


def tables(page):
    found = re.findall(r'>>> table = """\n(.*?)\.\.\. """', page, re.DOTALL)
    return [[line.removeprefix("...").split() for line in block.splitlines()] for block in found]


def info(rows):
    shares = [Fraction(n, len(rows)) for n in Counter(row["class"] for row in rows).values()]
    return -sum(float(p) * log2(p) for p in shares)


def branches(rows, feature):
    return {value: [row for row in rows if row[feature] == value] for value in {row[feature] for row in rows}}


def info_after(rows, feature):
    return sum(len(part) / len(rows) * info(part) for part in branches(rows, feature).values())


def gain(rows, feature):
    return info(rows) - info_after(rows, feature)


def features(rows):
    return [name for name in rows[0] if name != "class"]


def section(page, title):
    return page.split(f"\n## {title}\n")[1].split("\n## ")[0]


def printed(text, pattern):
    """The number that follows a pattern on the page."""
    found = re.search(pattern + r"\s*(-?\d*\.?\d+)", text)
    assert found, pattern
    return float(found[1])


# ---- the tables are those of the lectures


def test_the_restaurant_is_that_of_the_lecture(restaurant):
    from golden.test_worked_examples import RESTAURANT

    assert [list(row.values()) for row in restaurant] == [
        line.split() for line in RESTAURANT.split("\n")[1:-1]
    ]
    assert features(restaurant) == [
        "Alternative", "Bar", "FriSat", "Hungry", "Patrons", "Price", "Raining", "Reservation", "Type",
        "WaitEstimate",
    ]  # fmt: skip


def test_every_value_is_explained(page, restaurant):
    for name in features(restaurant):
        explained = re.search(rf"^\| {name} \| .*? \| (.*?) \|$", page, re.MULTILINE)[1]
        assert {row[name] for row in restaurant} == set(explained.replace("`", "").split(", ")), name


def test_the_pizzas_are_those_of_the_lecture(pizzas):
    from golden.test_worked_examples import PIZZA

    assert [list(row.values()) for row in pizzas] == [line.split() for line in PIZZA.split("\n")[1:-1]]


# ---- information, entropy and Gini


def test_information_of_messages(page):
    text = section(page, "Information")
    assert r"I = -\log_2 p" in text
    assert r"$-\log_2 \frac12 = 1$ bit" in text
    assert -log2(1 / 2) == 1
    assert r"$-\log_2 \frac18 = 3$ bits" in text
    assert -log2(1 / 8) == 3


def test_entropy_and_its_bounds(page, restaurant):
    text = section(page, "Entropy")
    assert r"0 \le \mathrm{Info}(S) \le \log_2 C" in text
    assert printed(text, r"as two classes can be\n") == info(restaurant) == 1.0
    full = branches(restaurant, "Patrons")["Full"]
    assert printed(text, r"Patrons = Full: 4 F, 2 T\n") == round(info(full), 2) == 0.92
    assert printed(text, r"pure\n") == info(branches(restaurant, "Patrons")["Some"]) == 0
    assert printed(text, r"log2\(8\)\n") == log2(8)


def test_gini_and_its_bounds(page):
    text = section(page, "Gini")
    assert r"1 - \sum_{i=1}^{C} p_i^2" in text
    assert r"0 \le G(S) \le 1 - \frac1C" in text
    even, mixed = re.search(r'"gini"\), 3\)\)\n(\S+) (\S+)', text).groups()
    assert float(even) == 1 - 2 * Fraction(1, 2) ** 2
    assert float(mixed) == round(float(1 - Fraction(4, 6) ** 2 - Fraction(2, 6) ** 2), 3)
    assert printed(text, r"1 - 1/4\n") == 1 - 1 / 4


# ---- gains of the restaurant


def test_patrons_step_by_step(page, restaurant):
    text = section(page, "Gain")
    patrons = branches(restaurant, "Patrons")
    weights = {value: Fraction(len(rows), len(restaurant)) for value, rows in patrons.items()}
    assert weights == {"None": Fraction(1, 6), "Some": Fraction(1, 3), "Full": Fraction(1, 2)}
    assert "None for 2 of 12 visits (weight 1/6), Some for 4 (1/3) and Full for 6 (1/2)" in text
    assert printed(text, r"\\tfrac12 \\cdot") == round(info(patrons["Full"]), 3)
    assert printed(text, r"\\right\] =") == round(gain(restaurant, "Patrons"), 3)
    assert printed(text, r"full / 2\):\.4f}\"\)\n") == round(gain(restaurant, "Patrons"), 4) == 0.5409
    assert "`.0541`" in text
    assert {info(rows) for rows in branches(restaurant, "Type").values()} == {1.0}
    assert "*Type* has 1 bit in each of its four branches" in text
    assert gain(restaurant, "Type") == 0


def test_the_second_question(page, restaurant):
    full = branches(restaurant, "Patrons")["Full"]
    lines = re.findall(r"^(\d\.\d{4}) (\w+)$", section(page, "All ten features"), re.MULTILINE)
    assert {name: float(number) for number, name in lines} == {
        name: round(gain(full, name), 4) for _, name in lines
    }
    left = set(features(restaurant)) - {name for _, name in lines}
    assert max(gain(full, name) for name in left) <= float(lines[-1][0]) + 5e-5


# ---- pizzas


def test_the_challenge_question(page, pizzas):
    text = section(page, "Try it: nine pizzas")
    answers = dict(re.findall(r"([A-D])\. (\d\.\d\d)", text))
    assert answers == {"A": "0.98", "B": "1.35", "C": "0.12", "D": "1.41"}
    crust = info_after(pizzas, "Crust")
    assert int(100 * crust) / 100 == float(answers["D"])
    assert round(info_after(pizzas, "Meat"), 2) == float(answers["A"])
    assert round(float(answers["D"]) + float(answers["C"]), 2) == round(info(pizzas), 2)
    found = re.search(r"^(1\.\d{4}), gain (\d\.\d{4})$", text, re.MULTILINE).groups()
    assert [float(number) for number in found] == [round(crust, 4), round(gain(pizzas, "Crust"), 4)]
    parts = branches(pizzas, "Crust").values()
    assert printed(text, "without their weights,") == round(sum(map(info, parts)) / 3, 2)
    assert gain(pizzas, "Meat") > gain(pizzas, "Crust")


def test_the_homework(page, pizzas):
    text = section(page, "Try it: nine pizzas")
    lines = re.findall(r"^([012]) (\d\.\d{4}) (\w+)$", text, re.MULTILINE)
    nodes = [pizzas, *(branches(pizzas, "Meat")[value] for value in "NY")]
    assert [(int(node), float(number)) for node, number, _ in lines] == [
        (int(node), round(gain(nodes[int(node)], name), 4)) for node, _, name in lines
    ]
    assert [(node, name) for node, _, name in lines] == [
        ("0", "Meat"), ("0", "Veg"), ("0", "Crust"), ("1", "Veg"), ("1", "Crust"), ("2", "Crust"), ("2", "Veg"),
    ]  # fmt: skip
    left = branches(branches(pizzas, "Meat")["N"], "Veg")
    assert {value: {row["class"] for row in rows} for value, rows in left.items()} == {
        "N": {"Bad"},
        "Y": {"Good"},
    }
    assert re.search(r"3\) Veg = N ·+ Bad ", text)
    assert re.search(r"4\) Veg = Y ·+ Good ", text)


def test_years(page):
    text = section(page, "Who invented it")
    for name, year in (("CART", 1984), ("random forests", 2001), ("ID3", 1986), ("C4.5", 1993)):
        assert re.search(rf"{name}\W.{{0,12}}{year}", text), name
