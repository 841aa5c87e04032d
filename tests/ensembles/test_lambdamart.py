"""LambdaMART: gradients and hessians worked by hand, and a slow reference implementation."""

from itertools import combinations

import numpy as np
import pytest

from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.lambdamart import LambdaLoss, Queries
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import ndcg
from hornbeam.kernels.leafwise import lambdas


def test_gradients_worked_by_hand():
    loss = LambdaLoss(Queries.of([0, 0, 0]), normalize=False)
    gradient, hessian = loss.negative_gradients(np.array([[0.1, 0.3, 0.2]]), np.array([2.0, 0.0, 1.0]))
    np.testing.assert_allclose(gradient[0], [0.2650, -0.2805, 0.0155], atol=5e-5)
    np.testing.assert_allclose(hessian[0], [0.1202, 0.1276, 0.0433], atol=5e-5)


def test_normalised_gradients_worked_by_hand():
    loss = LambdaLoss(Queries.of([0, 0]))
    gradient, hessian = loss.negative_gradients(np.array([[0.0, 0.99]]), np.array([1.0, 0.0]))
    # One pair, 1 apart with the .01: dNDCG = 1 - 1 / log2(3) = .3691, rho = 1 / (1 + exp(-.99)) = .7291. The pair
    # adds .2691, twice that is .5382, log2(1.5382) / .5382 = 1.1543.
    np.testing.assert_allclose(gradient[0], [0.3106, -0.3106], atol=5e-5)
    np.testing.assert_allclose(hessian[0], [0.0841, 0.0841], atol=5e-5)


def by_hand(score, relevance, group, sigma, normalize):
    """Add up the pairs one by one, from the change of NDCG if the two rows swap places."""
    gradient, hessian = np.zeros(len(score)), np.zeros(len(score))
    for query in np.unique(group):
        rows, total = np.flatnonzero(group == query), 0.0
        # Ranks as scores: the same order, without ties.
        place = -np.argsort(np.argsort(-score[rows], kind="stable"))
        for a, b in combinations(range(len(rows)), 2):
            first, second = (a, b) if relevance[rows[a]] > relevance[rows[b]] else (b, a)
            i, j = rows[first], rows[second]
            if relevance[i] == relevance[j]:
                continue
            swapped = place.copy()
            swapped[[first, second]] = place[[second, first]]
            change = abs(ndcg(relevance[rows], place) - ndcg(relevance[rows], swapped))
            if normalize and len(set(score[rows])) > 1:
                change /= 0.01 + abs(score[i] - score[j])
            rho = 1 / (1 + np.exp(sigma * (score[i] - score[j])))
            gradient[i] += sigma * rho * change
            gradient[j] -= sigma * rho * change
            hessian[[i, j]] += sigma**2 * rho * (1 - rho) * change
            total += 2 * sigma * rho * change
        if normalize and total:
            gradient[rows] *= np.log2(1 + total) / total
            hessian[rows] *= np.log2(1 + total) / total
    return gradient, hessian


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("sigma", [1.0, 0.5])
def test_gradients_are_the_changes_of_ndcg(sigma, normalize):
    rng = np.random.default_rng(0)
    score, relevance = rng.normal(size=40).round(1), rng.integers(0, 4, 40).astype(float)
    group = rng.integers(0, 5, 40)
    relevance[group == 3] = 0.0  # no pairs of different relevance
    score[group == 4] = 0.5  # all equal, as in the first round
    loss = LambdaLoss(Queries.of(group), sigma, normalize=normalize)
    gradient, hessian = loss.negative_gradients(score[None], relevance)
    expected = by_hand(score, relevance, group, sigma, normalize)
    np.testing.assert_allclose(gradient[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(hessian[0], expected[1], atol=1e-12)


def test_truncation_leaves_out_pairs_of_low_ranks():
    score, relevance = np.array([[4.0, 3.0, 2.0, 1.0]]), np.array([0.0, 1.0, 0.0, 2.0])
    gradient, hessian = LambdaLoss(Queries.of([0] * 4), truncation=1).negative_gradients(score, relevance)
    assert gradient[0][2] == hessian[0][2] == 0.0  # of the relevance of the first row, so in no pair with it
    assert (hessian[0][[0, 1, 3]] > 0).all()
    whole, _ = LambdaLoss(Queries.of([0] * 4), truncation=4).negative_gradients(score, relevance)
    np.testing.assert_array_equal(
        whole, LambdaLoss(Queries.of([0] * 4)).negative_gradients(score, relevance)[0]
    )


def test_normalised_gradients_of_a_query_grow_with_their_logarithm():
    rng = np.random.default_rng(1)
    score, relevance, group = (
        rng.normal(size=200),
        rng.integers(0, 5, 200).astype(float),
        np.repeat([0, 1], 100),
    )
    plain, _ = LambdaLoss(Queries.of(group), normalize=False).negative_gradients(score[None] / 100, relevance)
    normalised, _ = LambdaLoss(Queries.of(group)).negative_gradients(score[None] / 100, relevance)
    assert np.abs(normalised).sum() < np.abs(plain).sum()  # although similar scores get more weight
    np.testing.assert_allclose([normalised[0][group == q].sum() for q in (0, 1)], 0.0, atol=1e-12)


@pytest.mark.parametrize("group", [["a", None], [1.0, np.nan], np.array(["a", 1], dtype=object)])
def test_rows_without_a_query_are_refused(group):
    with pytest.raises(DataError, match="query has rows without one"):
        Queries.of(group)


def test_relevance_out_of_range_is_refused():
    table = Table.read([[1.0], [2.0]], [0.0, -1.0], target_kind=Kind.NUMERIC)
    with pytest.raises(DataError, match="relevance from 0"):
        LambdaLoss(Queries.of([0, 0])).initial_score(table)
    huge = Table.read([[1.0], [2.0]], [70.0, 90.0], target_kind=Kind.NUMERIC)
    with pytest.raises(DataError, match="y ranges from 70 to 90; expected relevance from 0 to 64"):
        LambdaLoss(Queries.of([0, 0])).initial_score(huge)
    with pytest.raises(ParameterError, match="sigma"):
        LambdaLoss(Queries.of([0]), sigma=0.0)


def test_the_kernel_refuses_nan_gains():
    places, starts = np.arange(2), np.array([0, 2])
    gradient, _ = lambdas(np.zeros(2), np.array([1.0, 0.0]), places, starts, 1.0, None, False)
    assert gradient[0] == -gradient[1] > 0
    with pytest.raises(ValueError, match="gains expected"):
        lambdas(np.zeros(2), np.array([1.0, np.nan]), places, starts, 1.0, None, False)
