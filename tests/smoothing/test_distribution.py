"""The distribution of a numeric target: numbers by hand, slow references, and laws for all data."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.binning.target_bins import BinnedSource, TargetBins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.smoothing import Borrowing
from hornbeam.smoothing.distribution import N_TAILS, Distribution, RangeLevels
from hornbeam.tree import Skeleton
from hornbeam.tree.evidence.count import count_rows
from support.examples import examples

SPLIT = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
NONE = RangeLevels.of(np.empty(0), np.empty(0), np.empty(0, np.int64), 0)
ONE_ROW = Borrowing(scale=0.0, prior=-10.0)  # a row with the values of each ancestor, hardly anything else


def counted(x, y, smoother=ONE_ROW, levels=NONE, bins=None, weight=None):
    table = Table.read(np.reshape(x, (-1, 1)), y, sample_weight=weight, target_kind="numeric")
    bins = TargetBins.cut(table.numeric_target.values, table.weight) if bins is None else bins
    return Distribution.count(count_rows(SPLIT, table), table, bins, smoother, levels)


# ---- by hand -----------------------------------------------------------------------------------------------


def test_a_leaf_has_its_own_rows_and_a_row_of_the_root():
    found = counted([0, 0, 0, 1], [1.0, 1.0, 2.0, 6.0])
    assert found.bins.high.tolist() == [1.0, 2.0, 6.0]
    assert found.tree.evidence.tolist() == [[2, 1, 1], [2, 1, 0], [0, 0, 1]]
    # (2, 1, 0) and a row of (1/2, 1/4, 1/4), of four rows together
    np.testing.assert_allclose(found.tree.belief[1], [2.5 / 4, 1.25 / 4, 0.25 / 4], rtol=1e-4)
    np.testing.assert_allclose(found.tree.belief[2], [0.5 / 2, 0.25 / 2, 1.25 / 2], rtol=1e-4)
    quantiles = found.quantiles(np.array([1, 2, 1]), np.array([0.5, 0.7, 0.95]))
    assert quantiles.tolist() == [[1.0, 2.0, 6.0], [6.0, 6.0, 6.0], [1.0, 2.0, 6.0]]


def test_values_within_a_bin_are_uniform_and_a_single_value_is_one():
    bins = TargetBins(np.array([0.0, 5.0]), np.array([0.0, 9.0]))  # zero, and 5 to 9
    found = counted([0, 0, 0, 0], [0.0, 0.0, 5.0, 9.0], bins=bins)
    at = np.zeros(4, np.int32)
    levels = np.array([0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(found.quantiles(at[:1], levels)[0], [0.0, 0.0, 7.0, 9.0], atol=1e-3)
    below, up_to = found.probabilities(at, np.array([0.0, 3.0, 7.0, 20.0]))
    np.testing.assert_allclose(below, [0.0, 0.5, 0.75, 1.0], atol=1e-4)
    np.testing.assert_allclose(up_to, [0.5, 0.5, 0.75, 1.0], atol=1e-4)
    np.testing.assert_allclose(found.sample(at[:1], np.array([[0.1, 0.625]])), [[0.0, 6.0]], atol=1e-3)


def test_a_quantile_at_a_jump_is_the_value_below_or_above():
    bins = TargetBins(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    found = counted([0, 1], [1.0, 2.0], Borrowing(scale=-1000.0, prior=-1000.0), bins=bins)
    found = type(found)(bins, found.tree._edited(belief=np.full((3, 2), 0.5)), ONE_ROW, NONE)
    half, root = np.array([0.5]), np.zeros(1, np.int32)
    assert found.quantiles(root, half).item() == 1.0
    assert found.quantiles(root, half, "right").item() == 2.0


def test_nine_rows_hold_a_range_of_80_percent():
    """With 9 rows the least and the largest hold 8 of 10 rows on average; 81 % takes more."""
    p = np.array([0.5, 0.1, 0.9, 0.3, 0.7, 0.2, 0.8, 0.4, 0.6])
    levels = RangeLevels.of(p, p, np.ones(9, np.int64), 9)
    assert levels.at(0.8) == (0.1, 0.9)
    assert levels.at(0.6) == (0.2, 0.8)
    assert levels.at(0.7) == (0.1, 0.9)  # the next wider one
    assert np.isnan(levels.at(0.81)).all()
    low, high = counted([0, 1], [1.0, 2.0], levels=levels).interval(np.zeros(1, np.int32), 0.9)
    assert low.item() == -np.inf
    assert high.item() == np.inf


def test_groups_count_instead_of_rows():
    p = np.linspace(0.01, 0.99, 99)
    assert np.isnan(RangeLevels.of(p, p, np.ones(99, np.int64), 9).at(0.9)).all()
    assert RangeLevels.of(p, p, np.ones(99, np.int64), 99).at(0.9) == (0.05, 0.95)


def test_a_range_has_the_median_where_most_rows_have_one_value():
    """95 of 100 rows are certain: any range holds them, and would hold 90 % without all others."""
    below, up_to = np.append(np.zeros(95), np.full(5, 0.5)), np.append(np.ones(95), np.full(5, 0.5))
    low, high = RangeLevels.of(below, up_to, np.ones(100, np.int64), 100).at(0.9)
    assert (low, high) == (0.5, 0.5)


# ---- slow references ---------------------------------------------------------------------------------------


def ends_by_hand(rows):
    """Numbers of values up to the ends of bins: a bin grows up to 1/32 of all rows and 1/4 of the rows before it."""
    ends, before, inside = [], 0, 0
    for at, more in enumerate(rows):
        if inside and inside + more > min(sum(rows) // 32, before // 4):
            ends.append(at)
            before, inside = before + inside, 0
            if 2 * before >= sum(rows):
                break
        inside += more
    return ends


@examples(80)
@given(st.integers(0, 2**32 - 1), st.integers(1, 400), st.sampled_from([3, 30, 10_000]), st.booleans())
def test_bins_are_those_of_a_loop(seed, n, n_values, weighted):
    rng = np.random.default_rng(seed)
    y = rng.integers(-n_values, n_values, n) / 4
    weight = rng.integers(1, 6, n) if weighted else np.ones(n, np.int64)
    values = np.unique(y).tolist()
    rows = [int(weight[y == value].sum()) for value in values]
    from_above = {len(values) - end for end in ends_by_hand(rows[::-1])}
    ends = sorted({*ends_by_hand(rows), *from_above, len(values)})
    bins = TargetBins.cut(y, weight if weighted else None)
    assert bins.low.tolist() == [values[end] for end in (0, *ends[:-1])]
    assert bins.high.tolist() == [values[end - 1] for end in ends]
    np.testing.assert_array_equal(bins.codes(y), [sum(one < value for one in bins.high) for value in y])


def distribution_by_hand(found, node):
    """Probability of each bin: own rows, and one row of each ancestor, in fractions."""
    own = [Fraction(int(one)) for one in found.tree.evidence[node]]
    parent = int(found.tree.skeleton.parent[node])
    while parent >= 0:
        rows = found.tree.evidence[parent]
        own = [one + Fraction(int(row), int(rows.sum())) for one, row in zip(own, rows, strict=True)]
        parent = int(found.tree.skeleton.parent[parent])
    return [one / sum(own) for one in own]


def quantile_by_hand(found, shares, level):
    below = Fraction(0)
    for low, high, share in zip(found.bins.low, found.bins.high, shares, strict=True):
        if below + share >= level:
            return float(low + float((level - below) / share) * (high - low))
        below += share
    return float(found.bins.high[-1])


@examples(60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 150))
def test_quantiles_are_those_of_fractions(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 2, n), rng.normal(size=n).round(2)
    x[:2] = 0, 1  # a leaf without rows has those of the root alone
    found = counted(x, y, Borrowing(scale=0.0, prior=-1000.0))
    levels = [Fraction(7, 101), Fraction(31, 97), Fraction(53, 89)]  # at no jump
    for node in range(3):
        shares = distribution_by_hand(found, node)
        wanted = [quantile_by_hand(found, shares, level) for level in levels]
        measured = found.quantiles(np.array([node], np.int32), np.array([float(one) for one in levels]))
        np.testing.assert_allclose(measured[0], wanted, atol=1e-3 * np.ptp(y) + 1e-9)


@examples(60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([0.3, 0.5, 0.8, 0.9, 0.95]))
def test_levels_are_ranks_of_the_held_out_rows(seed, n, level):
    rng = np.random.default_rng(seed)
    p = rng.permutation(np.arange(1, n + 1) / (n + 1)).round(4)
    found = RangeLevels.of(p, p, np.ones(n, np.int64), n).at(level)
    tail = Fraction(str(round(1 - level, 3))) / 2
    rank = -((-(n + 1) * (1 - tail)) // 1)  # rounded up
    if rank > n:
        assert np.isnan(found).all()
        return
    ordered = np.sort(p)
    assert found == (min(ordered[n - int(rank)], 0.5), max(ordered[int(rank) - 1], 0.5))


# ---- laws --------------------------------------------------------------------------------------------------


@examples(60)
@given(st.integers(0, 2**32 - 1), st.integers(4, 300), st.booleans())
def test_counts_add_up_and_do_not_depend_on_order_blocks_or_threads(seed, n, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (n, 1)).astype(float), rng.standard_t(1.5, n)
    weight = rng.integers(1, 4, n) if weighted else None
    table = Table.read(X, y, sample_weight=weight, target_kind="numeric")
    order = rng.permutation(n)
    bins = TargetBins.cut(table.numeric_target.values, table.weight)
    shuffled = table.take(order)
    again = TargetBins.cut(shuffled.numeric_target.values, shuffled.weight)
    np.testing.assert_array_equal(again.low, bins.low)
    np.testing.assert_array_equal(again.high, bins.high)
    tree = count_rows(SPLIT, table)
    found = Distribution.count(tree, table, bins, ONE_ROW, NONE)
    rows = np.ones(n) if weight is None else weight
    total = [rows.sum(), rows[X[:, 0] == 0].sum(), rows[X[:, 0] == 1].sum()]
    np.testing.assert_array_equal(found.tree.evidence.sum(axis=1), total)
    source = MemorySource(shuffled, block=max(1, n // 3))
    for engine in (LocalEngine(1), LocalEngine(3)):
        assert found.recount(tree, source, engine).digest == found.digest
    assert BinnedSource(source, bins).fingerprint != source.fingerprint


@examples(60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 200), st.sampled_from([2, 20, 10**6]))
def test_quantiles_rise_and_contain_their_probability(seed, n, n_values):
    rng = np.random.default_rng(seed)
    found = counted(rng.integers(0, 2, n), rng.integers(0, n_values, n) * 10.0 ** rng.integers(-5, 5))
    levels = np.sort(rng.random(20))
    node = np.arange(3, dtype=np.int32)
    for side in ("left", "right"):
        quantiles = found.quantiles(node, levels, side)
        assert (np.diff(quantiles, axis=1) >= 0).all()
        for at, level in enumerate(levels):
            below, up_to = found.probabilities(node, quantiles[:, at])
            assert (below <= level + 1e-9).all()
            assert (up_to >= level - 1e-9).all()


@examples(40)
@given(st.integers(0, 2**32 - 1), st.integers(4, 100), st.sampled_from([1.0, 0.5]))
def test_rows_that_are_added_can_be_removed(seed, n, factor):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (n, 1)).astype(float), rng.normal(size=n)
    first = counted(X, y).decay(factor)
    schema = Table.read(X, y, target_kind="numeric").schema
    late = Table.read(X[: n // 2], 100 * y[: n // 2], schema=schema)  # beyond the bins
    more = first.add(late)
    assert more.digest != first.digest
    assert more.remove(late.take(rng.permutation(n // 2))).digest == first.digest


def test_a_row_that_was_not_counted_cannot_be_removed():
    found = counted([0, 0, 1], [1.0, 2.0, 3.0])
    schema = Table.read([[0.0]], [1.0], target_kind="numeric").schema
    with pytest.raises(ValueError, match="leaf 1 has 0 rows of the class 3"):
        found.remove(Table.read([[0.0]], [3.0], schema=schema))


def test_there_is_a_level_for_each_tail():
    assert len(NONE.low) == len(NONE.high) == N_TAILS
