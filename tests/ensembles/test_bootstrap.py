"""Bootstrap samples: share of distinct rows, reproducibility, and weights."""

import numpy as np
import pytest
from scipy.stats import chisquare

from hornbeam.data.table import Table
from hornbeam.ensembles.forest.bootstrap import Bootstrap
from hornbeam.errors import ParameterError


def rows(n, weight=None):
    return Table.read(np.arange(n, dtype=float)[:, None], np.zeros(n, int), sample_weight=weight)


@pytest.mark.parametrize(("n", "share"), [(10, 0.651), (1000, 0.632)])
def test_the_share_of_distinct_rows_is_the_theoretical_one(n, share):
    """1 - (1 - 1/n)**n; the mean over many samples is within five standard errors."""
    bootstrap = Bootstrap.of(rows(n))
    held = np.array([len(bootstrap.sample(tree).rows) / n for tree in range(2000)])
    assert abs(held.mean() - share) < 0.0005 + 5 * held.std() / len(held) ** 0.5


def test_all_rows_are_drawn_equally_often():
    bootstrap, times = Bootstrap.of(rows(50)), np.zeros(50)
    for tree in range(400):
        sample = bootstrap.sample(tree)
        times[sample.rows] += sample.weight
    assert times.sum() == 50 * 400
    assert chisquare(times).pvalue > 1e-3


def test_a_sample_depends_on_the_seed_and_the_tree_alone():
    table = rows(100)
    one, other = Bootstrap.of(table, seed=3), Bootstrap.of(table, seed=4)
    again = Bootstrap.of(table, seed=3).sample(5)
    assert all(np.array_equal(a, b) for a, b in zip(one.sample(5), again, strict=True))
    assert not np.array_equal(one.sample(5).rows, other.sample(5).rows)
    assert not np.array_equal(one.sample(5).rows, one.sample(6).rows)


def test_samples_are_the_same_on_every_platform():
    sample = Bootstrap.of(rows(12), seed=2026).sample(7)
    assert sample.rows.tolist() == [0, 1, 2, 3, 4, 5, 6, 8, 9]
    assert sample.weight.tolist() == [2, 2, 1, 1, 1, 2, 1, 1, 1]


def test_a_row_of_weight_three_is_drawn_like_three_rows():
    weight = np.array([1, 3, 2, 1])
    together, apart = Bootstrap.of(rows(4, weight)), Bootstrap.of(rows(7))
    first = np.cumsum(weight) - weight
    for tree in range(20):
        one, other = together.sample(tree), apart.sample(tree)
        times = np.zeros(7, int)
        times[other.rows] = 1 if other.weight is None else other.weight
        drawn = np.add.reduceat(times, first)
        assert one.rows.tolist() == np.flatnonzero(drawn).tolist()
        assert one.weight.tolist() == drawn[drawn > 0].tolist()
        assert one.n_left.tolist() == np.add.reduceat(other.n_left, first).tolist()


def test_fractional_weights_multiply_the_draws():
    weight = np.array([0.5, 0.25, 4.0, 1.5, 0.125])
    plain, weighted = Bootstrap.of(rows(5)), Bootstrap.of(rows(5, weight))
    for tree in range(20):
        times, sample = plain.sample(tree), weighted.sample(tree)
        assert sample.rows.tolist() == times.rows.tolist()
        expected = weight[times.rows] * (1 if times.weight is None else times.weight)
        np.testing.assert_array_equal(sample.weight * sample.unit, expected)
        assert sample.n_left.tolist() == times.n_left.tolist()


@pytest.mark.parametrize(("max_samples", "n_draws"), [(None, 40), (7, 7), (0.25, 10), (1.0, 40), (1e-9, 1)])
def test_max_samples_is_the_size_of_a_sample(max_samples, n_draws):
    sample = Bootstrap.of(rows(40), max_samples).sample(0)
    assert (len(sample.rows) if sample.weight is None else sample.weight.sum()) == n_draws


@pytest.mark.parametrize("max_samples", [0, 41, 0.0, 1.5, -0.5])
def test_max_samples_out_of_range_is_refused(max_samples):
    with pytest.raises(ParameterError, match=r"max_samples=.*expected a whole number from 1 to .* 40"):
        Bootstrap.of(rows(40), max_samples)
