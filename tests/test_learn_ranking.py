"""The worked numbers of the page "Ranking", computed another way: by swapping documents, and by the kernel."""

import re
from itertools import permutations
from math import exp, log2
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from hornbeam.kernels.leafwise import lambdas

PAGE = (Path(__file__).parents[1] / "docs" / "learn" / "ranking.md").read_text(encoding="utf-8")
GRADE = {"A": 0, "B": 1, "C": 2}
PAIRS = (("B", "A"), ("C", "A"), ("C", "B"))  # the better document first
CLOSE = 5e-5  # four digits


def numbers_after(line):
    """The numbers that the page shows below a line of code, up to the next prompt or the end of the block."""
    shown = re.search(rf"^>>> {re.escape(line)}[^\n]*\n(.*?)(?=^>>> |^$)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return [float(number) for number in re.findall(r"-?\d+\.\d*|-?\d+", shown)]


def dcg(order):
    return sum((2 ** GRADE[name] - 1) / log2(1 + rank) for rank, name in enumerate(order, 1))


IDEAL = max(map(dcg, permutations("ABC")))


def swapped(first, second):
    """The order A, B, C after two documents have changed places."""
    return "ABC".translate(str.maketrans(first + second, second + first))


def step(scores):
    """Lambda and weight of A, B and C, pair by pair; their order is A, B, C."""
    total = {name: [0.0, 0.0] for name in GRADE}
    for better, worse in PAIRS:
        rho = 1 / (1 + exp(scores[better] - scores[worse]))
        change = (dcg(swapped(better, worse)) - dcg("ABC")) / IDEAL
        for name, sign in ((better, 1), (worse, -1)):
            total[name][0] += sign * rho * change
            total[name][1] += rho * (1 - rho) * change
    return np.array(list(total.values())).T


ZERO, LATER = dict.fromkeys("ABC", 0.0), {"A": 0.3, "B": 0.2, "C": 0.1}


def test_ndcg_by_hand():
    assert numbers_after("print(round(dcg, 4))") == [pytest.approx(dcg("ABC"), abs=CLOSE)]
    assert numbers_after("print(round(ideal, 4))") == [pytest.approx(IDEAL, abs=CLOSE)]
    expected = pytest.approx(ndcg_score([[0, 1, 3]], [[3, 2, 1]]), abs=CLOSE)
    assert numbers_after("print(round(dcg / ideal, 4))") == [expected]
    assert numbers_after("round(ndcg(grade, score), 4)") == [expected]


def test_close_predictions_in_the_wrong_order():
    assert numbers_after("[float(((p - grade)") == pytest.approx([(0.5**2 + 0.6**2) / 3, 131 / 3], abs=0.005)
    assert numbers_after("[round(ndcg(grade, p), 2)") == pytest.approx([dcg("BCA") / IDEAL, 1], abs=0.005)


def test_changes_of_ndcg_are_those_of_swaps():
    shown = np.reshape(numbers_after("delta.round(4)"), (3, 3))
    expected = np.zeros((3, 3))
    for better, worse in PAIRS:
        expected[GRADE[better], GRADE[worse]] = (dcg(swapped(better, worse)) - dcg("ABC")) / IDEAL
    np.testing.assert_allclose(shown, expected, atol=CLOSE)
    for change, digits in zip(expected[expected > 0], (".1016", ".4131", ".0721"), strict=True):
        assert f"{change:.4f}".lstrip("0") == digits
        assert digits in PAGE


@pytest.mark.parametrize("scores", [ZERO, LATER])
def test_lambdas_and_weights_are_those_of_the_kernel(scores):
    found = lambdas(
        np.array(list(scores.values())),
        np.array([0.0, 1, 3]),
        np.arange(3),
        np.array([0, 3]),
        1.0,
        None,
        False,
    )
    np.testing.assert_allclose(found, step(scores), atol=1e-12)


def test_lambdas_and_weights_on_the_page():
    gradient, weight = step(ZERO)
    np.testing.assert_allclose(numbers_after("negative_gradient.round(4)"), gradient, atol=CLOSE)
    np.testing.assert_allclose(numbers_after("weight.round(4)"), weight, atol=CLOSE)
    np.testing.assert_allclose(
        numbers_after("negative_gradient.round(4), weight.round(4)"), step(LATER).ravel(), atol=CLOSE
    )


def test_leaf_values_on_the_page():
    gradient, weight = step(ZERO)
    shared = (gradient[1] + gradient[2]) / (weight[1] + weight[2])
    assert numbers_after("print(a.round(4)") == pytest.approx([gradient[0] / weight[0], shared], abs=CLOSE)
    shown = numbers_after("ranker.fit(X, grade, query=[7, 7, 7])")
    assert shown == pytest.approx([gradient[0] / weight[0], shared, shared], abs=CLOSE)
    np.testing.assert_allclose(numbers_after("after.round(4)"), gradient / weight, atol=CLOSE)
