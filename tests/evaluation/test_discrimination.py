"""ROC curve, Gini, KS and lift against scikit-learn, SciPy, a slow twin and an example by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn import metrics

from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import gini, ks_statistic, lift_table, roc_auc, roc_curve


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
def test_area_and_gini_equal_those_of_scikit_learn(pair):
    area = metrics.roc_auc_score(*pair)
    assert roc_auc(*pair) == pytest.approx(area, abs=1e-12)
    assert gini(*pair) == pytest.approx(2 * area - 1, abs=1e-12)


@given(outcomes_and_scores())
def test_ks_equals_that_of_scipy(pair):
    y_true, score = pair
    found = ks_statistic(y_true, score)
    expected = ks_2samp(score[y_true], score[~y_true], alternative="less", method="asymp")
    assert found.value == pytest.approx(expected.statistic, abs=1e-12)
    above = score >= found.threshold
    assert above[y_true].mean() - above[~y_true].mean() == pytest.approx(found.value)


@given(outcomes_and_scores(), st.integers(1, 10))
def test_lift_is_the_mean_over_all_orders_of_ties(pair, n_groups):
    """A slow twin: each row is cut into one piece per group, so that groups consist of whole pieces."""
    y_true, score = pair
    n = len(y_true)
    order = np.argsort(-score, kind="stable")
    shared = np.array([y_true[score == s].mean() for s in score[order]])
    pieces, scores = np.repeat(shared, n_groups), np.repeat(score[order], n_groups)
    table = lift_table(y_true, score, n_groups)
    np.testing.assert_allclose(table.positives, pieces.reshape(n_groups, n).sum(axis=1) / n_groups)
    np.testing.assert_allclose(table.predicted, scores.reshape(n_groups, n).mean(axis=1))
    np.testing.assert_allclose(table.rows, n / n_groups)
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
        roc_auc([0, 0], [0.1, 0.2])
    with pytest.raises(DataError, match="of the class alone"):
        ks_statistic([1, 1], [0.1, 0.2])
    with pytest.raises(DataError, match="Pass y == label"):
        gini(["a", "b"], [0.1, 0.2])
    with pytest.raises(DataError, match="one of each per row"):
        roc_curve([1, 0], [[0.1, 0.9], [0.2, 0.8]])
    with pytest.raises(DataError, match="NaN"):
        roc_curve([1, 0], [np.nan, 0.2])
    with pytest.raises(ParameterError, match="n_groups=0"):
        lift_table([1, 0], [0.1, 0.2], 0)
