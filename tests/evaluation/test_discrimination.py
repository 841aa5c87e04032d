"""ROC curve, Gini, KS and lift against scikit-learn, SciPy, a slow twin and worked numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn import metrics

from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import gini, ks_statistic, lift_table, roc_auc, roc_curve


@st.composite
def scored(draw):
    """Outcomes of both kinds and scores with ties."""
    n = draw(st.integers(2, 60))
    came = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    came[:2] = [True, False]
    score = np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))) / 12
    return came, score


@given(scored())
def test_the_curve_is_scikit_learns(given):
    came, score = given
    fpr, tpr, threshold = metrics.roc_curve(came, score, drop_intermediate=False)
    found = roc_curve(came, score)
    np.testing.assert_allclose(found.false_positive_rate, fpr, atol=1e-15)
    np.testing.assert_allclose(found.true_positive_rate, tpr, atol=1e-15)
    np.testing.assert_array_equal(found.threshold, threshold)


@given(scored())
def test_area_and_gini_are_scikit_learns(given):
    area = metrics.roc_auc_score(*given)
    assert roc_auc(*given) == pytest.approx(area, abs=1e-12)
    assert gini(*given) == pytest.approx(2 * area - 1, abs=1e-12)


@given(scored())
def test_ks_is_scipys(given):
    came, score = given
    found = ks_statistic(came, score)
    wanted = ks_2samp(score[came], score[~came], alternative="less", method="asymp")
    assert found.value == pytest.approx(wanted.statistic, abs=1e-12)
    above = score >= found.threshold
    assert above[came].mean() - above[~came].mean() == pytest.approx(found.value)


@given(scored(), st.integers(1, 10))
def test_lift_is_the_mean_over_all_orders_of_ties(given, n_groups):
    """A slow twin: each row is cut into as many pieces as there are groups, so that groups hold whole pieces."""
    came, score = given
    n = len(came)
    order = np.argsort(-score, kind="stable")
    shared = np.array([came[score == s].mean() for s in score[order]])
    pieces, said = np.repeat(shared, n_groups), np.repeat(score[order], n_groups)
    table = lift_table(came, score, n_groups)
    np.testing.assert_allclose(table.positives, pieces.reshape(n_groups, n).sum(axis=1) / n_groups)
    np.testing.assert_allclose(table.predicted, said.reshape(n_groups, n).mean(axis=1))
    np.testing.assert_allclose(table.rows, n / n_groups)
    assert table.captured[-1] == pytest.approx(1)
    assert table.cumulative_lift[-1] == pytest.approx(1)


def test_a_decile_table_by_hand():
    came, score = [1] * 4 + [0] * 1 + [1] * 1 + [0] * 14, np.arange(20, 0, -1)
    table = lift_table(came, score)
    assert table.positives.tolist() == [2, 2, 1, 0, 0, 0, 0, 0, 0, 0]
    assert table.lift[:3] == pytest.approx([4.0, 4.0, 2.0])
    assert table.captured[:3] == pytest.approx([0.4, 0.8, 1.0])
    assert table.cumulative_lift[:3] == pytest.approx([4.0, 4.0, 10 / 3])


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(DataError, match="no row of the class"):
        roc_auc([0, 0], [0.1, 0.2])
    with pytest.raises(DataError, match="of the class alone"):
        ks_statistic([1, 1], [0.1, 0.2])
    with pytest.raises(DataError, match="Pass y == label"):
        gini(["a", "b"], [0.1, 0.2])
    with pytest.raises(DataError, match="one of each a row"):
        roc_curve([1, 0], [[0.1, 0.9], [0.2, 0.8]])
    with pytest.raises(DataError, match="NaN"):
        roc_curve([1, 0], [np.nan, 0.2])
    with pytest.raises(ParameterError, match="n_groups=0"):
        lift_table([1, 0], [0.1, 0.2], 0)
