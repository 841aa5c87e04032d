"""Comparisons: critical values of Demšar (2006), known p-values of the sign test, missing results, Markdown."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import Comparison
from hornbeam.evaluation.comparison import WinDrawLoss

METHODS = ("raw", "laplace", "hgs", "forest")


@pytest.fixture
def four() -> Comparison:
    """Four methods on fourteen sets, without draws."""
    losses = np.random.default_rng(5).random((14, 4)) + np.array([0.6, 0.4, 0.2, 0.0])
    return Comparison(METHODS, tuple(f"set {i}" for i in range(14)), losses, "RMSE")


def test_ranks_and_friedman_statistic_equal_the_formulas(four: Comparison) -> None:
    better = [[sum(other <= loss for other in row) for loss in row] for row in four.losses.tolist()]
    ranks = np.mean(better, axis=0)
    assert four.ranks() == pytest.approx(ranks)
    n, k = 14, 4
    statistic = 12 * n / (k * (k + 1)) * (sum(ranks**2) - k * (k + 1) ** 2 / 4)
    assert four.friedman().statistic == pytest.approx(statistic)
    assert four.friedman().p == pytest.approx(chi2.sf(statistic, k - 1))
    # Demšar's example has the same numbers of methods and sets.
    assert four.critical_difference() == pytest.approx(1.25, abs=0.005)


def test_critical_values_equal_the_published_table() -> None:
    # Table 5 of Demšar, JMLR 7 (2006): q at .05 for two to ten methods.
    table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, q in zip(range(2, 11), table, strict=True):
        one_set = Comparison(tuple(map(str, range(k))), ("a",), np.zeros((1, k)))
        assert one_set.critical_difference() / np.sqrt(k * (k + 1) / 6) == pytest.approx(q, abs=1.1e-3)


def test_sign_test_equals_known_p_values() -> None:
    assert WinDrawLoss(84, 0, 59).p == pytest.approx(0.0444, abs=5e-5)
    assert WinDrawLoss(83, 7, 60).p == pytest.approx(0.0654, abs=5e-5)
    assert WinDrawLoss(90, 0, 53).p == pytest.approx(0.0025, abs=5e-5)
    assert WinDrawLoss(5, 3, 5).p == WinDrawLoss(0, 3, 0).p == 1.0
    assert WinDrawLoss(3, 0, 9).p == WinDrawLoss(9, 0, 3).p


@pytest.mark.parametrize("wrong", [0, 1, 95, "0.05", None])
def test_a_wrong_significance_is_refused(wrong: object) -> None:
    two = Comparison(("a", "b"), ("x", "y"), np.zeros((2, 2)))
    assert two.critical_difference(significance=0.01) > two.critical_difference()
    with pytest.raises(ParameterError, match="between 0 and 1"):
        two.critical_difference(significance=wrong)  # type: ignore[arg-type]


def test_too_few_methods_or_sets_are_refused() -> None:
    one, none = Comparison(("a",), ("x",), [[0.1]]), Comparison(("a", "b", "c"), ("x",), [[0.1, np.nan, 0.2]])
    for few in (one, none):
        with pytest.raises(DataError, match="two methods at least"):
            few.critical_difference()
        with pytest.raises(DataError, match="three methods at least"):
            few.friedman()
    with pytest.raises(DataError, match="true or false for each of the 1 sets"):
        one.on([True, False])
    with pytest.raises(DataError, match="losses"):
        Comparison(("a",), ("x",), [["much"]])


def test_losses_equal_to_four_decimals_are_a_draw() -> None:
    losses = [[0.20001, 0.20004], [0.2, 0.2001], [0.3, 0.1]]
    comparison = Comparison(("a", "b"), ("x", "y", "z"), losses)
    assert comparison.record("a", "b") == WinDrawLoss(1, 1, 1)
    assert comparison.record("b", "a") == WinDrawLoss(1, 1, 1)
    assert comparison.ranks().tolist() == [(1.5 + 1 + 2) / 3, (1.5 + 2 + 1) / 3]


def test_missing_results_are_ignored_pair_by_pair() -> None:
    losses = [[0.1, 0.2, np.nan], [0.1, np.nan, 0.3], [0.1, 0.2, 0.05], [0.2, 0.3, 0.3]]
    comparison = Comparison(("a", "b", "c"), "wxyz", losses)
    assert comparison.record("a", "b") == WinDrawLoss(3, 0, 0)
    assert comparison.record("a", "c") == WinDrawLoss(2, 0, 1)
    assert comparison.complete().sets == ("y", "z")
    assert comparison.means() == pytest.approx([0.15, 0.25, 0.175])
    assert comparison.among(["c", "a"]).complete().sets == ("x", "y", "z")
    assert comparison.on([True, False, False, False]).losses.shape == (1, 3)


def test_markdown_has_the_best_first_and_every_record(four: Comparison) -> None:
    lines = str(four).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| forest", "| hgs", "| laplace", "| raw"]
    assert {line.count("|") for line in lines} == {8}
    assert str(four.record("forest", "raw")) in lines[2]
    short = four.to_markdown(against=["raw"]).splitlines()
    assert {line.count("|") for line in short} == {5}


def test_without_common_sets_means_and_ranks_are_nan() -> None:
    comparison = Comparison(("a", "b"), ("x",), [[0.1, np.nan]])
    assert np.isnan(comparison.means()).all()
    assert np.isnan(comparison.ranks()).all()
    assert comparison.record("a", "b") == WinDrawLoss(0, 0, 0)


def test_wrong_arguments_are_refused(four: Comparison) -> None:
    with pytest.raises(DataError, match="there are raw, laplace"):
        four.of("CART")
    with pytest.raises(DataError, match="a row for each set"):
        Comparison(("a", "b"), ("x",), [[0.1]])
