"""ROC curve, Gini, KS and lift against scikit-learn, SciPy, a slow twin and an example by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn import metrics

from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import gini_coefficient, ks_statistic, lift_table, reliability_curve
from hornbeam.evaluation.discrimination import roc_curve


@st.composite
def outcomes_and_scores(draw):
    """Outcomes of both kinds, and scores with ties."""
    n = draw(st.integers(2, 60))
    y_true = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    y_true[:2] = [True, False]
    score = np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))) / 12
    return y_true, score


@given(outcomes_and_scores())
def test_the_curve_equals_that_of_scikit_learn(pair):
    y_true, score = pair
    fpr, tpr, threshold = metrics.roc_curve(y_true, score, drop_intermediate=False)
    found = roc_curve(y_true, score)
    np.testing.assert_allclose(found.false_positive_rate, fpr, atol=1e-15)
    np.testing.assert_allclose(found.true_positive_rate, tpr, atol=1e-15)
    np.testing.assert_array_equal(found.threshold, threshold)


@given(outcomes_and_scores())
def test_gini_equals_that_of_scikit_learn(pair):
    area = metrics.roc_auc_score(*pair)
    assert gini_coefficient(*pair) == pytest.approx(2 * area - 1, abs=1e-12)


@given(outcomes_and_scores())
def test_ks_equals_that_of_scipy(pair):
    y_true, score = pair
    found = ks_statistic(y_true, score)
    expected = ks_2samp(score[y_true], score[~y_true], alternative="less", method="asymp")
    assert found.value == pytest.approx(expected.statistic, abs=1e-12)
    above = score >= found.threshold
    assert above[y_true].mean() - above[~y_true].mean() == pytest.approx(found.value)


@given(outcomes_and_scores(), st.integers(1, 10))
def test_lift_is_the_mean_over_all_orders_of_ties(pair, n_bins):
    """A slow twin: each row is cut into one piece per bin, so that bins consist of whole pieces."""
    y_true, score = pair
    n = len(y_true)
    order = np.argsort(-score, kind="stable")
    shared = np.array([y_true[score == s].mean() for s in score[order]])
    pieces, scores = np.repeat(shared, n_bins), np.repeat(score[order], n_bins)
    table = lift_table(y_true, score, n_bins=n_bins)
    np.testing.assert_allclose(table.positives, pieces.reshape(n_bins, n).sum(axis=1) / n_bins)
    np.testing.assert_allclose(table.predicted, scores.reshape(n_bins, n).mean(axis=1))
    np.testing.assert_allclose(table.rows, n / n_bins)
    assert table.captured[-1] == pytest.approx(1)
    assert table.cumulative_lift[-1] == pytest.approx(1)


def test_a_decile_table_equals_the_example_by_hand():
    y_true, score = [1] * 4 + [0] * 1 + [1] * 1 + [0] * 14, np.arange(20, 0, -1)
    table = lift_table(y_true, score)
    assert table.positives.tolist() == [2, 2, 1, 0, 0, 0, 0, 0, 0, 0]
    assert table.lift[:3] == pytest.approx([4.0, 4.0, 2.0])
    assert table.captured[:3] == pytest.approx([0.4, 0.8, 1.0])
    assert table.cumulative_lift[:3] == pytest.approx([4.0, 4.0, 10 / 3])


def test_wrong_arguments_are_refused():
    with pytest.raises(DataError, match="no row of the class"):
        gini_coefficient([0, 0], [0.1, 0.2])
    with pytest.raises(DataError, match="of the class alone"):
        ks_statistic([1, 1], [0.1, 0.2])
    with pytest.raises(DataError, match="pass positive="):
        gini_coefficient(["a", "b"], [0.1, 0.2])
    with pytest.raises(DataError, match="one of each per row"):
        roc_curve([1, 0], [[0.1, 0.9], [0.2, 0.8]])
    with pytest.raises(DataError, match="NaN"):
        roc_curve([1, 0], [np.nan, 0.2])
    with pytest.raises(ParameterError, match="n_bins=0"):
        lift_table([1, 0], [0.1, 0.2], n_bins=0)


SCORES = (gini_coefficient, ks_statistic, lift_table, reliability_curve)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("labels", [("paid", "bad"), (1, 2), (1, 0), (True, False)])
def test_labels_with_the_class_of_interest_equal_outcomes(score, labels):
    observed, p = np.array([True, False, True, True, False]), [0.9, 0.1, 0.4, 0.7, 0.4]
    y = np.array(labels)[observed.astype(int)]
    assert repr(score(y, p, positive=labels[1])) == repr(score(observed, p))
    with pytest.raises(ParameterError, match=r"positive='other': no row of y_true.*expected one of"):
        score(y, p, positive="other")


@pytest.mark.parametrize("score", SCORES[:3])
def test_a_weight_counts_as_that_many_rows(score):
    y, p, weight = np.array([1, 0, 1, 0, 0, 1]), np.array([0.9, 0.1, 0.4, 0.7, 0.4, 0.2]), [2, 1, 1, 3, 2, 0]
    assert repr(score(y, p, sample_weight=weight)) == repr(score(np.repeat(y, weight), np.repeat(p, weight)))
    with pytest.raises(DataError, match="sample_weight"):
        score(y, p, sample_weight=[1, 2])
    with pytest.raises(DataError, match="no row of the class"):
        score(y, p, sample_weight=1 - y)
