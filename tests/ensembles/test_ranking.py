"""LambdaMART's pulls: worked numbers, and a slow obvious twin."""

from itertools import combinations

import numpy as np
import pytest

from hornbeam.data import Table
from hornbeam.data.schema import Kind
from hornbeam.ensembles.ranking import LambdaLoss, Queries
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import ndcg


def test_worked_numbers():
    loss = LambdaLoss(Queries.of([0, 0, 0]))
    pull, weight = loss.pulls(np.array([[0.1, 0.3, 0.2]]), np.array([2.0, 0.0, 1.0]))
    np.testing.assert_allclose(pull[0], [0.2650, -0.2805, 0.0155], atol=5e-5)
    np.testing.assert_allclose(weight[0], [0.1202, 0.1276, 0.0433], atol=5e-5)


def by_hand(score, relevance, group, sigma):
    """Each pair: what NDCG changes if the two change places."""
    pull, weight = np.zeros(len(score)), np.zeros(len(score))
    for query in np.unique(group):
        rows = np.flatnonzero(group == query)
        place = -np.argsort(
            np.argsort(-score[rows], kind="stable")
        )  # a score that keeps the order, without ties
        for a, b in combinations(range(len(rows)), 2):
            first, second = (a, b) if relevance[rows[a]] > relevance[rows[b]] else (b, a)
            i, j = rows[first], rows[second]
            if relevance[i] == relevance[j]:
                continue
            swapped = place.copy()
            swapped[[first, second]] = place[[second, first]]
            change = abs(ndcg(relevance[rows], place) - ndcg(relevance[rows], swapped))
            rho = 1 / (1 + np.exp(sigma * (score[i] - score[j])))
            pull[i] += sigma * rho * change
            pull[j] -= sigma * rho * change
            weight[[i, j]] += sigma**2 * rho * (1 - rho) * change
    return pull, weight


@pytest.mark.parametrize("sigma", [1.0, 0.5])
def test_pulls_are_what_ndcg_would_change(sigma):
    rng = np.random.default_rng(0)
    score, relevance = rng.normal(size=40).round(1), rng.integers(0, 4, 40).astype(float)
    group = rng.integers(0, 5, 40)
    relevance[group == 3] = 0.0  # nothing to be gained there
    pull, weight = LambdaLoss(Queries.of(group), sigma).pulls(score[None], relevance)
    expected = by_hand(score, relevance, group, sigma)
    np.testing.assert_allclose(pull[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(weight[0], expected[1], atol=1e-12)


def test_truncation_leaves_out_pairs_of_low_ranks():
    score, relevance = np.array([[4.0, 3.0, 2.0, 1.0]]), np.array([0.0, 1.0, 0.0, 2.0])
    pull, weight = LambdaLoss(Queries.of([0] * 4), truncation=1).pulls(score, relevance)
    assert pull[0][2] == weight[0][2] == 0.0  # as good as the first, and in no other pair with it
    assert (weight[0][[0, 1, 3]] > 0).all()
    whole, _ = LambdaLoss(Queries.of([0] * 4), truncation=4).pulls(score, relevance)
    np.testing.assert_array_equal(whole, LambdaLoss(Queries.of([0] * 4)).pulls(score, relevance)[0])


def test_what_is_no_relevance_is_refused():
    table = Table.read([[1.0], [2.0]], [0.0, -1.0], target=Kind.NUMERIC)
    with pytest.raises(DataError, match="relevance from 0"):
        LambdaLoss(Queries.of([0, 0])).start(table)
    with pytest.raises(ParameterError, match="sigma"):
        LambdaLoss(Queries.of([0]), sigma=0.0)
