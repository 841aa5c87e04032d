"""Edges: their position between values, and the number of rows between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.binning.cells import bit_length
from hornbeam.data.binning.cuts import fit_cuts
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.kernels.census import midpoint, shortest_between
from support import reference_decimals

LARGEST = np.finfo(np.float64).max
# No finite number is between -inf and the lowest finite number, and keys never give that pair.
pairs = (
    st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False))
    .map(sorted)
    .filter(lambda pair: pair[0] < pair[1] and pair[1] > -LARGEST)
)


def edges_of(column, max_bins=255):
    [found] = fit_cuts(MemorySource(Table.read(column[:, None])), LocalEngine(), [0], max_bins)
    return found.edges


@given(st.lists(pairs, min_size=1, max_size=30), st.sampled_from([midpoint, shortest_between]))
def test_an_edge_is_between_its_neighbours(pairs, between):
    left, right = np.array(pairs).T.copy()
    found = between(left, right)
    assert np.isfinite(found).all()
    assert (left <= found).all()
    assert (found < right).all()


@given(st.lists(pairs, min_size=1, max_size=30), st.sampled_from(["midpoint", "shortest_between"]))
def test_a_number_between_two_has_the_bits_of_its_slow_twin(pairs, name):
    left, right = np.array(pairs).T.copy()
    found, expected = globals()[name](left, right), getattr(reference_decimals, name)(left, right)
    assert found.tobytes() == expected.tobytes()


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_midpoint_is_the_middle(left, width):
    found = midpoint(np.array([left]), np.array([left + width]))[0]
    assert found == pytest.approx(left + width / 2, rel=1e-12, abs=1e-12 * abs(left))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (0.1, 0.2, "0.15"),
        (1, 2, "1.5"),
        (0, 1, "0.5"),
        (3, 1000, "500.0"),
        (-0.3, 0.2, "0.0"),
        (0.12345678, 0.12345699, "0.1234569"),
        (36.6, 36.7, "36.65"),
        (1999, 2001, "2000.0"),
        (1e-7, 3e-7, "2e-07"),
    ],
)
def test_shortest_between_gives_short_decimals(left, right, expected):
    found = shortest_between(np.array([left], float), np.array([right], float))[0]
    assert repr(float(found)) == expected


def digits(number):
    return len(f"{number!r}".split("e")[0].replace("-", "").replace(".", "").strip("0"))


@given(st.floats(1e-3, 1e6), st.floats(1e-6, 0.5))
def test_no_shorter_decimal_lies_in_the_middle_half(left, part):
    right = left * (1 + part)
    found = float(shortest_between(np.array([left]), np.array([right]))[0])
    low, high = left + 0.26 * (right - left), left + 0.74 * (right - left)
    for length in range(1, digits(found)):
        shorter = [float(f"{value:.{length - 1}e}") for value in np.linspace(low, high, 50)]
        assert not any(low < number < high for number in shorter)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_bit_length_equals_that_of_python(numbers):
    assert bit_length(np.array(numbers, np.uint64)).tolist() == [number.bit_length() for number in numbers]


SHAPES = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(sigma=3, size=n),
    "shifted": lambda rng, n: 1e9 + rng.random(n),
    "integers": lambda rng, n: rng.integers(0, 5_000, n).astype(float),
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-310,
    "huge": lambda rng, n: rng.normal(size=n) * 1e307,
    "two scales": lambda rng, n: np.where(rng.random(n) < 0.5, rng.random(n), 1e12 + rng.random(n)),
    "times": lambda rng, n: 1.7e9 + rng.integers(0, 10**7, n),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("max_bins", [2, 10, 255])
def test_bins_have_nearly_equal_numbers_of_rows(shape, max_bins):
    column = SHAPES[shape](np.random.default_rng(0), 50_000)
    edges = edges_of(column, max_bins)
    assert len(edges) == max_bins - 1
    assert (np.diff(edges) > 0).all()
    rows = np.bincount(np.searchsorted(edges, column), minlength=max_bins)
    # A cell has at most a quarter of the rows of an equal bin; each end of a bin may be off by half a cell, and the
    # edge may move by one cell.
    equal = len(column) / max_bins
    assert rows.max() <= 1.75 * equal + 1
    assert rows.min() >= 0.25 * equal - 1
    ranks = np.searchsorted(np.sort(column), edges, side="right") / len(column)
    assert np.abs(ranks - np.arange(1, max_bins) / max_bins).max() <= 1 / max_bins


def test_a_frequent_value_has_its_own_bin():
    rng = np.random.default_rng(1)
    column = rng.lognormal(size=40_000)
    column[:15_000] = 0.0
    column[15_000:20_000] = 1.0
    column[20_000:25_000] = np.inf
    rng.shuffle(column)
    edges = edges_of(column, 64)
    code = np.searchsorted(edges, column)
    for value in (0.0, 1.0, np.inf):
        assert set(column[code == np.searchsorted(edges, value)]) == {value}
    other_rows = np.bincount(code[(column != 0) & (column != 1) & np.isfinite(column)])
    assert other_rows.max() <= 1.75 * 15_000 / (len(edges) + 1 - 3)
    assert len(edges) + 1 == 64


def test_every_frequent_value_has_its_own_bin():
    # Nearly all rows have one of 18 values, so that each of these fills one of the 20 bins.
    rng = np.random.default_rng(2)
    column = np.where(rng.random(30_000) < 0.96, rng.integers(0, 18, 30_000), 18 * rng.random(30_000))
    edges = edges_of(column, 20)
    assert len(edges) == 19
    assert len(np.unique(np.searchsorted(edges, np.arange(18.0)))) == 18


def test_edges_have_few_digits():
    column = np.random.default_rng(3).normal(size=100_000)
    edges = edges_of(column)
    assert np.mean([digits(float(edge)) for edge in edges]) < 6


def test_many_features_are_counted_in_batches():
    matrix = np.random.default_rng(4).normal(size=(600, 70))
    found = fit_cuts(MemorySource(Table.read(matrix)), LocalEngine(), list(range(70)), 16)
    for feature in (0, 63, 64, 69):
        np.testing.assert_array_equal(found[feature].edges, edges_of(matrix[:, feature], 16))


def test_subnormal_numbers_are_separated_from_zero():
    column = np.repeat([-5e-324, 0.0, 5e-324, 1.0, 2.0, 3.0], [1, 20, 1, 1, 1, 1])
    edges = edges_of(column, 5)
    assert (np.diff(edges) > 0).all()
    assert set(column[np.searchsorted(edges, column) == np.searchsorted(edges, 0.0)]) == {0.0}
