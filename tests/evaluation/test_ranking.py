"""Ranking scores against examples by hand and scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score, ndcg_score

from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import mean_average_precision, mean_reciprocal_rank, ndcg


def test_scores_equal_examples_by_hand():
    assert ndcg([2, 0, 1], [0.1, 0.3, 0.2]) == pytest.approx(0.5869, abs=5e-5)
    assert mean_average_precision([1, 0, 1, 0], [4, 3, 2, 1]) == pytest.approx((1 + 2 / 3) / 2)
    assert mean_average_precision([1, 0, 1, 0], [4, 3, 2, 1], k=2) == pytest.approx(1 / 2)
    assert mean_reciprocal_rank([0, 0, 2], [3, 2, 1]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("k", [None, 1, 4, 50])
def test_ndcg_equals_that_of_scikit_learn(k):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 4, (6, 12)), rng.normal(size=(6, 12)).round(1)
    y[:, 0] = 3  # every query has a relevant row
    expected = ndcg_score(2.0**y - 1, scores, k=k)
    assert ndcg(y.ravel(), scores.ravel(), query=np.repeat(np.arange(6), 12), k=k) == pytest.approx(expected)


def test_average_precision_without_ties_equals_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    y, scores = rng.integers(0, 2, (5, 9)), rng.normal(size=(5, 9))
    y[:, 2] = 1
    expected = label_ranking_average_precision_score(y, scores)
    order = rng.permutation(45)  # rows of a query need not be adjacent
    group = np.repeat(np.arange(5), 9)[order]
    assert mean_average_precision(y.ravel()[order], scores.ravel()[order], query=group) == pytest.approx(
        expected
    )


def test_equal_scores_do_not_improve_the_result():
    assert mean_reciprocal_rank([1, 0, 0, 0], [0, 0, 0, 0]) == 0.25
    assert mean_average_precision([1, 0], [0, 0]) == 0.5
    assert ndcg([1, 0], [0, 0]) == pytest.approx((1 + 1 / np.log2(3)) / 2)


def test_queries_without_a_relevant_row_are_ignored():
    group = ["a", "a", "b", "b"]
    for score in (ndcg, mean_average_precision, mean_reciprocal_rank):
        assert score([1, 0, 0, 0], [2, 1, 5, 9], query=group) == 1.0
        assert np.isnan(score([0, 0], [1, 2]))


def test_wrong_arguments_are_refused():
    with pytest.raises(DataError, match="one value of each per row"):
        ndcg([1, 0], [1.0])
    with pytest.raises(DataError, match="Relevance below 0"):
        ndcg([-1, 0], [1.0, 2.0])
    with pytest.raises(DataError, match="relevance and scores"):
        mean_reciprocal_rank(["a", "b"], [1.0, 2.0])
    for k in (0, -1, 2.5, True, "all"):
        with pytest.raises(ParameterError, match="expected a whole number of ranks"):
            ndcg([1, 0], [1.0, 2.0], k=k)
