"""The numbers of the learn page on many trees, computed again without Hornbeam."""

import re
from fractions import Fraction
from itertools import pairwise
from math import comb, log, sqrt
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "learn" / "ensembles.md").read_text(encoding="utf-8")


def numbers(pattern):
    """The numbers of a list on the page, such as that of ``x1 =``."""
    return [float(word) for word in re.findall(r"-?\d+(?:\.\d+)?", re.search(pattern, PAGE)[1])]


X = np.column_stack([numbers(r">>> x1 = \[(.*)\]"), numbers(r">>> x2 = \[(.*)\]")])
Y = np.repeat([1, -1], 5)


def entropy(weight_of_plus, weight):
    shares = [p for p in (weight_of_plus / weight, 1 - weight_of_plus / weight) if p > 0]
    return -sum(p * log(p) for p in shares)


def best_stump(weights):
    """The stump of least weighted entropy: feature, the two values around its cut, and its predictions."""
    best = None
    for feature in (0, 1):
        values = np.unique(X[:, feature])
        for low, high in pairwise(values):
            left = X[:, feature] <= low
            sides = [weights[side].sum() for side in (left, ~left)]
            plus = [weights[side & (Y == 1)].sum() for side in (left, ~left)]
            impurity = sum(side * entropy(p, side) for side, p in zip(sides, plus, strict=True))
            if best is None or impurity < best[0]:
                votes = [1 if p > side / 2 else -1 for side, p in zip(sides, plus, strict=True)]
                best = impurity, "xy"[feature], low, high, np.where(left, *votes)
    return best[1:]


ROUND = re.compile(
    r"^(\d): ([xy]) <= ([\d.]+) +error ([\d.]+)  alpha ([\d.]+)  Z ([\d.]+)\n   D ([\d. ]+)$", re.MULTILINE
)


def rounds():
    """Feature, values around the cut, predictions, error, alpha and Z of each round, and the weights after it."""
    D, found = np.full(10, 0.1), []
    for _ in range(3):
        name, low, high, h = best_stump(D)
        error = D[h != Y].sum()
        alpha = log(1 / error - 1) / 2
        D = D * np.where(h == Y, 1 / sqrt(1 / error - 1), sqrt(1 / error - 1))
        Z, D = D.sum(), D / D.sum()
        found.append((name, low, high, h, error, alpha, Z, D))
    return found


def test_three_rounds_of_adaboost():
    total = np.zeros(10)
    for (_, feature, *_), (name, _, _, h, error, alpha, Z, D) in zip(
        ROUND.findall(PAGE), rounds(), strict=True
    ):
        assert feature == name
        assert D[h != Y].sum() == pytest.approx(0.5)
        assert pytest.approx(2 * sqrt(error * (1 - error))) == Z
        total += alpha * h
    assert (np.sign(total) == Y).all()


def test_the_digits_of_the_lecture():
    found = ROUND.findall(PAGE)
    assert [line[3] for line in found] == ["0.3000", "0.2143", "0.1364"]
    assert [line[4] for line in found] == ["0.4236", "0.6496", "0.9229"]
    assert [line[1:3] for line in found] == [("x", "0.2"), ("x", "0.8"), ("y", "0.7")]
    assert {"0.0714", "0.1667"} == set(found[0][6].split())  # 1/14 and 1/6
    assert "[0.3, 0.2143, 0.1364]" in PAGE  # scikit-learn's AdaBoost
    assert "[0.4236, 0.6496, 0.9229]" in PAGE


def wrong_majority(n_voters, error):
    return sum(
        comb(n_voters, k) * error**k * (1 - error) ** (n_voters - k)
        for k in range(n_voters + 1)
        if 2 * k > n_voters
    )


def wrong_weighted_vote():
    """Equal weights: two or three of three are wrong. The weights of the logarithm: the first alone decides."""
    a, b = Fraction(1, 10), Fraction(4, 10)
    return [float((1 - a) * b * b + 2 * a * b * (1 - b) + a * b * b), float(a)]


def test_the_picture_has_the_points_of_the_page():
    import importlib.util
    import sys

    folder = Path(__file__).parents[1] / "docs" / "pictures"
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("learn_ensembles", folder / "learn_ensembles.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_array_equal(module.POINTS, X)
    np.testing.assert_array_equal(module.LABELS, Y)
