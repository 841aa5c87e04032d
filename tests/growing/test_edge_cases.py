"""Extreme data: few rows, many classes, huge values, deep trees."""

import numpy as np
import pytest

from hornbeam import TreeClassifier
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.recipe import PRESETS
from hornbeam.tree.evidence.count import count_rows
from support.strategies_growing import OF_CLASSES, bins_of

presets = pytest.mark.parametrize("preset", PRESETS)


def fit(preset, X, y, **parameters):
    return TreeClassifier(preset, smoothing=None, pruning=None, **parameters).fit(X, y).tree_


@presets
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [2.0], [3.0]], ["only", "only", "only"]),
        ([[1.0]], ["only"]),
        ([[1.0, 5.0]] * 8, [0, 1] * 4),
        ([[np.nan]] * 8, [0, 1] * 4),
        (np.array([["a"]] * 8, dtype=object), [0, 1] * 4),
        (np.array([[None]] * 8, dtype=object), [0, 1] * 4),
    ],
    ids=["one class", "one row", "constant columns", "all missing", "one category", "no category"],
)
def test_without_a_possible_split_the_tree_is_a_leaf(preset, X, y):
    tree = fit(preset, X, y)
    assert tree.n_nodes == 1
    assert tree.evidence[0].sum() * tree.unit[0] == len(y)


@presets
def test_a_column_without_values_is_ignored(preset):
    X = np.c_[np.full(12, np.nan), np.arange(12.0)]
    tree = fit(preset, X, [0] * 6 + [1] * 6)
    assert tree.skeleton.feature[0] == 1
    assert tree.n_leaves == 2


@presets
def test_a_thousand_classes_get_a_leaf_each(preset):
    y = np.arange(1000).repeat(2)
    X = np.c_[y + np.tile([0.0, 0.25], 1000), np.zeros(2000)]
    tree = fit(preset, X, y)
    evidence = tree.evidence[tree.skeleton.is_leaf]
    assert evidence.sum(axis=0).tolist() == [2] * 1000
    if preset not in ("c4.5", "c4.4"):  # these penalise the choice among many cuts
        assert tree.n_leaves == 1000


@presets
@pytest.mark.parametrize(
    "values",
    [
        [-1.7e308, 1.7e308, -np.inf, np.inf, 0.0],
        [5e-324, 1e-323, -5e-324, 0.0, -0.0, 1e-308],
        [1e17, 1e17 + 16, 1e17 + 32, 1e17 + 48],
        [1.0, 1.0 + 2**-52, 1.0 + 2**-51, 1.0 - 2**-53],
    ],
    ids=["huge", "tiny", "neighbours of 1e17", "neighbours of 1"],
)
def test_every_row_is_routed_to_the_node_that_counted_it(preset, values):
    """Thresholds between neighbouring floats, infinities and subnormals separate the rows as the counts do."""
    rng = np.random.default_rng(0)
    X = rng.choice([*values, np.nan], (200, 2))
    y = (X[:, 0] > values[1]).astype(int) + rng.integers(0, 2, 200)
    tree = fit(preset, X, y)
    again = count_rows(tree.skeleton, Table.read(X, y), unit=float(tree.unit[0]))
    np.testing.assert_array_equal(again.evidence, tree.evidence)
    if preset not in ("c4.5", "c4.4"):  # these do not cut between values closer than 1e-5
        assert tree.n_leaves > 1


def test_a_tree_of_depth_ten_thousand():
    n = 10_001
    tree = fit("cart", np.arange(float(n))[:, None], np.arange(n) % 2)
    assert (tree.depth, tree.n_leaves) == (n - 1, n)


def test_a_tree_of_a_million_nodes():
    names = tuple(range(1000))
    features = tuple(Feature(name, Kind.NOMINAL, names) for name in "ab")
    a, b = (column.astype(np.int32) for column in np.divmod(np.arange(1_000_000), 1000))
    target = ((a * 7919 + b * 5) % 3).astype(np.int32)
    table = Table(Schema(features, (0, 1, 2)), (a, b), target, None, 1.0, None)
    tree = Grower(nominal_split=Nominal.MULTIWAY).grow(table, bins_of(table))
    assert (tree.n_nodes, tree.depth) == (1_001_001, 2)
    assert tree.evidence[tree.skeleton.is_leaf].max() == 1


def test_sixty_thousand_categories_are_split():
    """Each category has rows of one class: one subset split is enough, and a multiway split has a child for each."""
    code = np.arange(60_000, dtype=np.int32).repeat(2)
    feature = Feature("postcode", Kind.NOMINAL, tuple(range(60_000)))
    target = (code % 7 < 3).astype(np.int32)
    table = Table(Schema((feature,), (0, 1)), (code,), target, None, 1.0, None)
    bins = bins_of(table)
    subset = Grower(nominal_split=Nominal.SUBSET).grow(table, bins)
    assert subset.evidence.tolist() == [[68_568, 51_432], [68_568, 0], [0, 51_432]]
    assert Grower(nominal_split=Nominal.MULTIWAY).grow(table, bins).n_leaves == 60_000


def test_more_categories_than_codes_are_refused():
    X = np.arange(65_535).astype(str).astype(object)[:, None]
    with pytest.raises(DataError, match="'x0' has 65535 categories; at most 65534 are supported"):
        TreeClassifier().fit(X, np.arange(65_535) % 2)


@pytest.mark.parametrize("criterion", [Criterion.ENTROPY, Criterion.GAIN_RATIO])
def test_more_values_than_codes_are_binned(criterion):
    """With more than 65,535 distinct values a bin holds several values, and cuts lie between bins."""
    x = np.arange(70_000) / 7
    table = Table.read(x[:, None], (x > 5000).astype(int))
    tree = Grower(criterion).grow(table, bins_of(table))
    assert tree.n_leaves == 2
    assert tree.skeleton.threshold[0] == pytest.approx(5000, abs=1.0)


def test_weights_over_fifty_powers_of_two_are_summed_exactly():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 8, (300, 2)).astype(float), rng.integers(0, 3, 300)
    weight = 2.0 ** rng.integers(-40, 10, 300)
    table = Table.read(X, y, sample_weight=weight)
    for criterion in OF_CLASSES:
        for missing in Missing:
            tree = Grower(criterion, missing=missing).grow(table, bins_of(table))
            assert tree.evidence[0].sum() == table.weight.sum()
            assert np.nanmin(tree.gain, initial=0.0) >= 0.0
