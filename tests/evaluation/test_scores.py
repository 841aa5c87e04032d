"""Scores against examples by hand, scikit-learn and a slow twin; sums of folds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from hornbeam.errors import DataError
from hornbeam.evaluation import brier_score, calibration_error, log_loss, probability_rmse, zero_one_loss
from hornbeam.evaluation.scores import ScoreSums
from support.examples import examples


def predictions(seed: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.5), size=n)
    y = np.append(np.arange(k), rng.integers(k, size=n))[:n]  # every class occurs
    return y, p, rng.random(n) + 0.1


def test_rmse_divides_by_the_number_of_classes() -> None:
    assert probability_rmse([0], [[0.7, 0.2, 0.1]], labels=range(3)) == pytest.approx(math.sqrt(0.14 / 3))
    assert brier_score([0], [[0.7, 0.2, 0.1]], labels=range(3)) == pytest.approx(0.14)


@given(st.integers(0, 10_000), st.integers(10, 60), st.integers(2, 5))
@examples(30)
def test_scores_equal_those_of_scikit_learn(seed: int, n: int, k: int) -> None:
    y, p, weight = predictions(seed, n, k)
    assert log_loss(y, p, sample_weight=weight) == pytest.approx(metrics.log_loss(y, p, sample_weight=weight))
    wrong = metrics.zero_one_loss(y, p.argmax(axis=1), sample_weight=weight)
    assert zero_one_loss(y, p, sample_weight=weight) == pytest.approx(wrong)
    each = ((p - np.eye(k)[y]) ** 2).mean(axis=1)
    assert probability_rmse(y, p, sample_weight=weight) == pytest.approx(
        np.sqrt(np.average(each, weights=weight))
    )


def test_for_two_classes_one_column_is_enough() -> None:
    y, second = ["no", "yes", "yes"], np.array([0.2, 0.9, 0.4])
    assert brier_score(y, second) == brier_score(y, np.column_stack([1 - second, second]))
    assert brier_score(y, second) == pytest.approx(2 * metrics.brier_score_loss([0, 1, 1], second))


@given(st.integers(0, 10_000), st.integers(1, 19))
@examples(20)
def test_sums_of_folds_equal_the_sums_of_all_rows(seed: int, cut: int) -> None:
    y, p, weight = predictions(seed, 20, 3)
    whole = ScoreSums.of(y, p, labels=range(3), sample_weight=weight)
    parts = [
        ScoreSums.of(y[rows], p[rows], labels=range(3), sample_weight=weight[rows])
        for rows in (slice(None, cut), slice(cut, None))
    ]
    total = parts[0] + parts[1]
    for name in ("rmse", "log_loss", "brier_score", "zero_one_loss", "calibration_error"):
        assert getattr(total, name) == pytest.approx(getattr(whole, name)), name


def test_calibration_error_equals_the_sum_over_bins() -> None:
    y, p, weight = predictions(3, 400, 4)
    best, confidence = p.argmax(axis=1), p.max(axis=1)
    expected = 0.0
    for i in range(15):
        inside = (confidence >= i / 15) & ((confidence < (i + 1) / 15) | (i == 14))
        if inside.any():
            share = weight[inside].sum() / weight.sum()
            right = np.average((best == y)[inside], weights=weight[inside])
            expected += share * abs(right - np.average(confidence[inside], weights=weight[inside]))
    assert calibration_error(y, p, sample_weight=weight) == pytest.approx(expected)


def test_a_true_class_of_probability_zero_costs_34_and_a_half_nats() -> None:
    assert log_loss([0, 1], [[0.0, 1.0], [0.0, 1.0]]) == pytest.approx(-math.log(1e-15) / 2)


def test_labels_may_have_any_order() -> None:
    p = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]
    assert zero_one_loss(["c", "a"], p, labels=["c", "a", "b"]) == 0.0


def test_on_a_tie_the_first_class_is_predicted() -> None:
    assert zero_one_loss([0, 1], [[0.5, 0.5], [0.5, 0.5]]) == 0.5


@pytest.mark.parametrize(
    ("y", "p", "labels", "message"),
    [
        ([0, 1], [[0.5, 0.5]], None, "one label per row"),
        ([0, 0], [[0.5, 0.5]] * 2, None, "labels="),
        ([0, 2], [[0.5, 0.5]] * 2, [0, 1], "not among the labels"),
        ([0, 1], [[1.5, -0.5]] * 2, None, "from 0 to 1"),
        ([0, 1], [[np.nan, 0.5]] * 2, None, "from 0 to 1"),
    ],
)
def test_wrong_arguments_are_refused(
    y: list[int], p: list[list[float]], labels: list[int] | None, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        probability_rmse(y, p, labels=labels)


def test_sums_of_different_classes_cannot_be_added() -> None:
    with pytest.raises(DataError, match="2 and 3 classes"):
        ScoreSums.of([0], [[1, 0]], labels=[0, 1]) + ScoreSums.of([0], [[1, 0, 0]], labels=[0, 1, 2])
