"""Trees worked out by hand, to the digits the textbooks print."""

from dataclasses import replace

import numpy as np
import pytest

from hornbeam import TreeClassifier
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.tree.tree import Tree
from support.reference_growing import entropy, gini
from support.strategies_growing import bins_of

GOLF = """
sunny hot high false no
sunny hot high true no
overcast hot high false yes
rainy mild high false yes
rainy cool normal false yes
rainy cool normal true no
overcast cool normal true yes
sunny mild high false no
sunny cool normal false yes
rainy mild normal false yes
sunny mild normal true yes
overcast mild high true yes
overcast hot normal false yes
rainy mild high true no
"""
GOLF_FEATURES = ("outlook", "temperature", "humidity", "windy")

RESTAURANT = """
T F F T Some $$$ F T French 0-10 T
T F F T Full $ F F Thai 30-60 F
F T F F Some $ F F Burger 0-10 T
T F T T Full $ F F Thai 10-30 T
T F T F Full $$$ F T French >60 F
F T F T Some $$ T T Italian 0-10 T
F T F F None $ T F Burger 0-10 F
F F F T Some $$ T T Thai 0-10 T
F T T F Full $ T F Burger >60 F
T T T T Full $$$ F T Italian 10-30 F
F F F F None $ F F Thai 0-10 F
T T T T Full $ F F Burger 30-60 T
"""
RESTAURANT_FEATURES = ("Alt", "Bar", "Fri", "Hun", "Pat", "Price", "Rain", "Res", "Type", "Est")

PIZZA = """
Y Thin N Great
N Deep N Bad
N Stuffed Y Good
Y Stuffed Y Great
Y Deep N Good
Y Deep Y Great
N Thin Y Good
Y Deep N Good
N Thin N Bad
"""
PIZZA_FEATURES = ("Meat", "Crust", "Veg")

C45 = Grower(Criterion.GAIN_RATIO, Nominal.MULTIWAY, Missing.FRACTIONAL, min_weight_leaf=2.0)


def read(text: str, names: tuple[str, ...], only: str | None = None, without: int | None = None) -> Table:
    """Rows of words, the class last; only one feature, if asked; that feature lost in one row, if asked."""
    rows = [line.split() for line in text.strip().splitlines()]
    X = np.array([row[:-1] for row in rows], dtype=object)
    if only is not None:
        X, names = X[:, [names.index(only)]], (only,)
    if without is not None:
        X[without] = None
    return Table.read(X, [row[-1] for row in rows], feature_names=names)


def grow(table: Table, grower: Grower) -> Tree:
    return grower.grow(table, bins_of(table))


def stump(text: str, names: tuple[str, ...], only: str, **options) -> Tree:
    """The test on one feature alone, whether it would win or not."""
    return grow(read(text, names, only, **options), Grower(nominal_split=Nominal.MULTIWAY, max_depth=1))


def split_information(tree: Tree, lost: int = 0) -> float:
    """Entropy of the known rows' branches, and of the lost as one more."""
    return entropy([*(tree.rows[1:] - lost).tolist(), lost])


# ---- golf, nominal (Quinlan 1986)


@pytest.mark.parametrize(
    ("feature", "gain"),
    [("outlook", 0.2467), ("temperature", 0.0292), ("humidity", 0.1518), ("windy", 0.0481)],
)
def test_golf_gains(feature, gain):
    assert stump(GOLF, GOLF_FEATURES, feature).gain[0] == pytest.approx(gain, abs=5e-5)


def test_golf_average_leaves_outlook_and_humidity_to_compete():
    gains = [stump(GOLF, GOLF_FEATURES, feature).gain[0] for feature in GOLF_FEATURES]
    assert np.mean(gains) == pytest.approx(0.1190, abs=5e-5)
    assert [bool(g >= np.mean(gains) - 1e-3) for g in gains] == [True, False, True, False]


@pytest.mark.parametrize(
    ("feature", "information", "ratio"), [("outlook", 1.5774, 0.1564), ("humidity", 1.0, 0.1518)]
)
def test_golf_ratios(feature, information, ratio):
    tree = stump(GOLF, GOLF_FEATURES, feature)
    assert split_information(tree) == pytest.approx(information, abs=5e-5)
    assert tree.gain[0] / split_information(tree) == pytest.approx(ratio, abs=5e-5)


@pytest.mark.parametrize("grower", [Grower(nominal_split=Nominal.MULTIWAY), C45], ids=["ID3", "C4.5"])
def test_golf_tree_is_quinlans(grower):
    """Outlook; under sunny humidity, under rainy windy; overcast is yes."""
    table = read(GOLF, GOLF_FEATURES)
    tree = grow(table, grower)
    names = [table.schema.names[f] if f >= 0 else "leaf" for f in tree.skeleton.feature]
    assert names == ["outlook", "leaf", "windy", "humidity", "leaf", "leaf", "leaf", "leaf"]
    assert tree.schema.features[0].categories == ("overcast", "rainy", "sunny")
    assert tree.evidence.tolist() == [[5, 9], [0, 4], [2, 3], [3, 2], [0, 3], [2, 0], [3, 0], [0, 2]]


def test_golf_with_one_outlook_lost():
    """An overcast yes without its outlook: 13 known rows, (2,3), (3,0), (3,2)."""
    tree = grow(read(GOLF, GOLF_FEATURES, "outlook", without=11), C45)
    assert tree.gain[0] == pytest.approx(13 / 14 * 0.2144, abs=5e-5)
    assert tree.gain[0] == pytest.approx(0.1990, abs=6e-5)
    assert split_information(tree, lost=1) == pytest.approx(1.8092, abs=5e-5)
    assert tree.gain[0] / split_information(tree, lost=1) == pytest.approx(0.1100, abs=5e-5)


def test_the_lost_row_is_shared_out_by_the_known():
    tree = grow(read(GOLF, GOLF_FEATURES, "outlook", without=11), C45)
    weight = tree.evidence * tree.unit
    np.testing.assert_allclose(weight[1:], [[0, 3 + 3 / 13], [2, 3 + 5 / 13], [3, 2 + 5 / 13]], atol=1e-12)
    assert tree.evidence[1:].sum(axis=0).tolist() == tree.evidence[0].tolist()
    assert tree.skeleton.missing_slot[0] == -2


# ---- numbers 1 to 8 (C4.5 Release 8)

EIGHT = np.arange(1.0, 9.0)[:, None], [0, 0, 0, 1, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("cut", "gain"), [(2.5, 0.3113), (3.5, 0.5488), (4.5, 0.1887), (5.5, 0.5488), (6.5, 0.3113)]
)
def test_gain_of_every_allowed_cut(cut, gain):
    sides = Table.read((EIGHT[0] > cut).astype(float), EIGHT[1])
    assert grow(sides, Grower(max_depth=1)).gain[0] == pytest.approx(gain, abs=5e-5)


def test_the_first_of_the_best_cuts_is_taken_midway():
    tree = grow(Table.read(*EIGHT), Grower(min_weight_leaf=2.0, max_depth=1))
    assert tree.skeleton.threshold[0] == 3.5
    assert tree.gain[0] == pytest.approx(0.5488, abs=5e-5)


def test_c45_pays_for_five_cuts_and_lowers_the_threshold():
    free, tree = (grow(Table.read(*EIGHT), replace(grower, max_depth=1)) for grower in (Grower(), C45))
    assert tree.skeleton.threshold[0] == 3.0
    assert free.gain[0] - tree.gain[0] == pytest.approx(0.2902, abs=5e-5)
    assert tree.gain[0] == pytest.approx(0.2586, abs=5e-5)
    assert split_information(tree) == pytest.approx(0.9544, abs=5e-5)
    assert tree.gain[0] / split_information(tree) == pytest.approx(0.2709, abs=5e-5)


# ---- the restaurant (Russell and Norvig)


@pytest.mark.parametrize(("feature", "gain"), [("Pat", 0.5409), ("Type", 0.0)])
def test_restaurant_gains(feature, gain):
    assert stump(RESTAURANT, RESTAURANT_FEATURES, feature).gain[0] == pytest.approx(gain, abs=5e-5)


def test_patrons_is_the_root():
    table = read(RESTAURANT, RESTAURANT_FEATURES)
    tree = grow(table, Grower(nominal_split=Nominal.MULTIWAY))
    assert table.schema.names[tree.skeleton.feature[0]] == "Pat"
    assert tree.schema.features[4].categories == ("Full", "None", "Some")
    assert tree.evidence[:4].tolist() == [[6, 6], [4, 2], [2, 0], [0, 4]]
    best = max(stump(RESTAURANT, RESTAURANT_FEATURES, name).gain[0] for name in RESTAURANT_FEATURES)
    assert tree.gain[0] == best


# ---- pizza (lecture on ID3)


@pytest.mark.parametrize(("feature", "left_over"), [("Meat", 0.9839), ("Crust", 1.4172), ("Veg", 1.2900)])
def test_pizza_information(feature, left_over):
    tree = stump(PIZZA, PIZZA_FEATURES, feature)
    information = entropy(tree.evidence[0].tolist())
    assert information == pytest.approx(1.5305, abs=5e-5)
    assert information - tree.gain[0] == pytest.approx(left_over, abs=5e-5)


def test_pizza_tree():
    """Meat first; without meat the vegetables decide: none is bad, some are good."""
    table = read(PIZZA, PIZZA_FEATURES)
    tree = grow(table, Grower(nominal_split=Nominal.MULTIWAY))
    assert [table.schema.names[f] for f in tree.skeleton.feature[:2]] == ["Meat", "Veg"]
    assert tree.schema.classes == ("Bad", "Good", "Great")
    assert tree.evidence[1].tolist() == [2, 2, 0]
    first = tree.skeleton.first_child[1]
    assert tree.evidence[first : first + 2].tolist() == [[2, 0, 0], [0, 2, 0]]


# ---- CART: root (6, 4), A (5, 1) into (3, 0) and (2, 1), B (1, 3)

CART_ROWS = (
    [(0.0, 0.0, 0)] * 3 + [(0.0, 1.0, 0)] * 2 + [(0.0, 1.0, 1)] + [(1.0, 0.0, 0)] + [(1.0, 0.0, 1)] * 3
)


def test_gini_of_the_running_example():
    data = np.array(CART_ROWS)
    tree = TreeClassifier("cart").fit(data[:, :2], data[:, 2]).tree_
    assert tree.evidence.tolist() == [[6, 4], [5, 1], [1, 3], [3, 0], [2, 1]]
    impurity = [gini(counts) for counts in tree.evidence.tolist()]
    assert impurity[:3] == pytest.approx([0.48, 0.2778, 0.375], abs=5e-5)
    left_over = (6 * impurity[1] + 4 * impurity[2]) / 10
    assert left_over == pytest.approx(0.3167, abs=5e-5)
    assert tree.gain[0] == pytest.approx(0.1633, abs=5e-5)
    assert tree.gain[0] == pytest.approx(impurity[0] - left_over, abs=1e-12)
    assert tree.gain[1] * 6 / 10 == pytest.approx(0.03333, abs=5e-6)


# ---- Hellinger (Cieslak and Chawla): squared distance, halved to lie between 0 and 1


@pytest.mark.parametrize(
    ("left", "right", "gain"),
    [
        ((4, 0), (0, 4), 1.0),
        ((2, 2), (2, 2), 0.0),
        ((5, 1), (1, 3), 1 - np.sqrt(5 / 6 * 1 / 4) - np.sqrt(1 / 6 * 3 / 4)),
    ],
)
def test_hellinger_is_one_less_the_overlap(left, right, gain):
    rows = [
        (side, k) for side, counts in enumerate((left, right)) for k, n in enumerate(counts) for _ in range(n)
    ]
    x, y = np.array(rows, dtype=float).T
    tree = grow(Table.read(x[:, None], y), Grower(Criterion.HELLINGER, max_depth=1))
    assert tree.gain[0] == pytest.approx(gain, abs=1e-12)


def test_hellinger_does_not_mind_how_rare_a_class_is():
    rows = [(0.0, 0)] * 500 + [(0.0, 1)] * 1 + [(1.0, 0)] * 100 + [(1.0, 1)] * 3
    x, y = np.array(rows).T
    tree = grow(Table.read(x[:, None], y), Grower(Criterion.HELLINGER, max_depth=1))
    assert tree.gain[0] == pytest.approx(1 - np.sqrt(5 / 6 * 1 / 4) - np.sqrt(1 / 6 * 3 / 4), abs=1e-12)
