"""The reliability curve: bins of equal weight, SciPy's intervals, coverage of the intervals."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from scipy.stats import binomtest

from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import reliability_curve


@pytest.mark.parametrize("interval", ["wilson", "exact"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_equal_those_of_scipy(interval: Literal["wilson", "exact"], level: float) -> None:
    rng = np.random.default_rng(1)
    p = np.repeat([0.02, 0.3, 0.6, 0.99], [40, 30, 20, 50])
    y_true = rng.random(len(p)) < p
    y_true[:40], y_true[90:] = False, True  # a bin without the class, and a bin of the class only
    curve = reliability_curve(y_true, p, n_bins=20, level=level, interval=interval)
    for i, value in enumerate(np.unique(p)):
        inside = p == value
        ci = binomtest(int(y_true[inside].sum()), int(inside.sum())).proportion_ci(level, method=interval)
        assert (curve.low[i], curve.high[i]) == pytest.approx((ci.low, ci.high), abs=1e-9)
        assert curve.observed[i] == y_true[inside].mean()


def test_bins_have_equal_weight() -> None:
    p = np.random.default_rng(0).random(1000)
    curve = reliability_curve(p > 0.5, p, n_bins=8)
    assert curve.weight.tolist() == [125] * 8
    assert (np.diff(curve.predicted) > 0).all()


def test_rows_of_one_leaf_share_a_bin() -> None:
    p = np.repeat([0.1, 0.2, 0.9], [2, 1, 97])
    curve = reliability_curve(np.zeros(100), p, n_bins=10)
    assert curve.weight.tolist() == [3, 97]


def test_integer_weights_have_the_same_points_as_repeated_rows() -> None:
    y_true, p, weight = [0, 1, 1], [0.1, 0.5, 0.9], [3, 1, 2]
    one = reliability_curve(y_true, p, n_bins=2, sample_weight=weight)
    two = reliability_curve(np.repeat(y_true, weight), np.repeat(p, weight), n_bins=2)
    assert one.observed == pytest.approx(two.observed)
    assert one.predicted == pytest.approx(two.predicted)
    # Weight 3 is not three independent rows, so the interval is wider.
    assert ((one.high - one.low) >= (two.high - two.low)).all()


def test_equal_weights_do_not_change_the_intervals() -> None:
    rng = np.random.default_rng(2)
    p = rng.random(200)
    y_true = rng.random(200) < p
    plain, weighted = (
        reliability_curve(y_true, p),
        reliability_curve(y_true, p, sample_weight=np.full(200, 0.25)),
    )
    assert weighted.low == pytest.approx(plain.low)
    assert weighted.high == pytest.approx(plain.high)


def test_intervals_cover_the_true_probability() -> None:
    rng = np.random.default_rng(7)
    covered = []
    for _ in range(200):
        p = rng.random(400)
        curve = reliability_curve(rng.random(400) < p, p, n_bins=5, level=0.9)
        covered.append((curve.low <= curve.predicted) & (curve.predicted <= curve.high))
    assert 0.87 < np.mean(covered) < 0.97


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(DataError, match="one class"):
        reliability_curve([0, 1], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ParameterError, match="n_bins=0"):
        reliability_curve([0, 1], [0.5, 0.5], n_bins=0)


@pytest.mark.parametrize("labels", [["no", "yes", "yes"], [1, 2, 2], [None, 1, 1], [0.5, 1.0, 1.0]])
def test_labels_in_place_of_outcomes_are_refused(labels: list[object]) -> None:
    """Each of them is true in Python's sense, so every bin had an observed rate of 1."""
    with pytest.raises(DataError, match="pass positive="):
        reliability_curve(labels, [0.1, 0.8, 0.9])
    np.testing.assert_array_equal(reliability_curve([0.0, 1.0, 1.0], [0.1, 0.8, 0.9]).observed, [0, 1, 1])


def test_other_wrong_arguments_are_refused() -> None:
    for wrong in (["a", "b"], [np.nan, 0.5], [[0.1], [0.2]]):
        with pytest.raises(DataError):
            reliability_curve([0, 1], wrong)
    with pytest.raises(DataError, match="sample_weight"):
        reliability_curve([0, 1], [0.1, 0.9], sample_weight=[1, 2, 3])
    with pytest.raises(ParameterError, match="expected one of 'wilson', 'exact'"):
        reliability_curve([0, 1], [0.1, 0.9], interval="wald")  # type: ignore[arg-type]
