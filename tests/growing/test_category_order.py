"""One order of many categories for the whole tree: worked numbers, a twin of the splits, laws, and what it is worth."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from hornbeam import TreeClassifier
from hornbeam.data.encoded_rows import EncodingSource
from hornbeam.data.engine import LocalEngine
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.growing.category_order import order_categories, principal_direction
from hornbeam.growing.criterion import Criterion, Missing
from hornbeam.growing.grower import Grower
from hornbeam.recipe import PRESETS
from hornbeam.tree import Table
from hornbeam.tree.evidence.count import evidence_units
from hornbeam.tuning.cross_fitted import CrossFitted
from support.strategies_growing import bins_of, spec_of

EVERY = np.ones(2, bool)


# ---- the order


def test_two_categories_worked_by_hand():
    """20 - 200 / 20 - 1 = 9 and 2 * 10 * .09 - .25 = 1.55: variance .1722, k = .4516, r = 10 / 10.4516 = .9568.

    z = 1.55 / (2**.5 * .25) = 4.384."""
    position, factor = order_categories(np.array([10.0, 10.0]), np.array([0.3, -0.3]), 0.25, EVERY)
    assert position.tolist() == [1, 0]
    assert factor == pytest.approx(0.9568**3 * (1 - 16 / 4.384**2), abs=2e-4)


def test_differences_that_chance_explains_are_worth_nothing():
    """2 * 10 * .01 is less than the .25 that a difference of two means of ten rows has by chance."""
    position, factor = order_categories(np.array([10.0, 10.0]), np.array([0.1, -0.1]), 0.25, EVERY)
    assert (position.tolist(), factor) == ([0, 0], 0.0)


def test_one_row_in_each_category_is_worth_nothing():
    y = np.random.default_rng(0).integers(0, 2, 500)
    _, factor = order_categories(np.ones(500), y - y.mean(), float(y.var()), np.ones(500, bool))
    assert factor == 0.0


def test_a_category_of_few_rows_is_placed_nearer_to_the_middle():
    position, _ = order_categories(
        np.array([2.0, 100.0, 100.0]), np.array([0.25, 0.2, -0.2]), 0.25, np.ones(3, bool)
    )
    assert position.tolist() == [1, 2, 0]


def test_categories_of_equal_means_have_one_position_and_absent_ones_none():
    n, apart = np.full(1000, 50.0), np.tile([0.3, -0.3, 0.1, -0.1], 250)
    present = np.arange(1000) != 7
    position, _ = order_categories(n, apart, 0.25, present)
    assert position[7] == -1
    assert {int(p) for p in position[present][:8]} == {0, 1, 2, 3}


def test_there_are_at_most_255_positions_in_the_order_of_the_means():
    rng = np.random.default_rng(0)
    apart = rng.normal(0, 0.3, 2000)
    position, _ = order_categories(np.full(2000, 50.0), apart, 0.25, np.ones(2000, bool))
    assert set(position.tolist()) == set(range(255))
    assert (np.diff(position[np.argsort(apart)]) >= 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_principal_direction_is_the_first_eigenvector(seed):
    counts = np.random.default_rng(seed).multinomial(50, [0.2, 0.3, 0.5], 40) + np.arange(40)[:, None] * [
        1,
        0,
        0,
    ]
    weight = counts.sum(axis=1)
    shares = counts / weight[:, None]
    centred = shares - np.average(shares, axis=0, weights=weight)
    values, vectors = np.linalg.eigh((weight[:, None] * centred).T @ centred)
    first = vectors[:, values.argmax()]
    along = np.array(principal_direction(counts))
    assert abs(along @ first) == pytest.approx(np.linalg.norm(along), rel=1e-4)


# ---- the splits


def world(seed=0, categories=60, each=20, kind="two", weights=False, missing=0.0, effect=1.0):
    rng = np.random.default_rng(seed)
    n = categories * each
    place, lift = rng.integers(0, categories, n), rng.normal(0, effect, categories)
    a = rng.normal(size=n).round(1)
    score = a + lift[place]
    column = pd.Series([f"z{i:03d}" for i in place])
    column[rng.random(n) < missing] = None
    X = pd.DataFrame({"place": column, "a": a, "b": rng.normal(size=n).round(1)})
    if kind == "number":
        y = score + rng.normal(size=n)
    elif kind == "two":
        y = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    else:
        y = np.digitize(score + rng.logistic(size=n), [-1.0, 1.0])
    weight = rng.choice([1.0, 2.0, 3.0], n) if weights else None
    return X, y, weight


def read(kind, X, y, weight=None):
    return Table.read(X, y, sample_weight=weight, target_kind=Kind.NUMERIC if kind == "number" else None)


def grower_of(kind, **parameters):
    criterion = Criterion.SQUARED_ERROR if kind == "number" else Criterion.ENTROPY
    return Grower(criterion, corrected=True, **parameters)


def places(tree):
    """Nodes that split on the first feature."""
    return np.flatnonzero(tree.skeleton.feature == 0)


def entropy(y):
    share = np.bincount(y) / len(y)
    return -(share[share > 0] * np.log2(share[share > 0])).sum() * len(y)


@pytest.mark.parametrize("seed", range(3))
def test_below_the_root_each_split_is_the_best_cut_of_the_one_order(seed):
    X, y, _ = world(seed)
    table = Table.read(X, y)
    bins = bins_of(table)
    spec, codes = spec_of(grower_of("two"), table, bins), bins.encode(table)
    position = spec.position[: spec.n_codes[0]]
    tree = grower_of("two", min_samples_leaf=5).grow(table, bins)
    skeleton = tree.skeleton
    checked = 0
    for node in places(tree):
        if node == 0:
            continue
        slots = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
        order = np.argsort(position, kind="stable")
        assert (np.diff(slots[order]) >= 0).all()
        assert (slots >= 0).all()  # categories that the node does not have go to the nearer side
        here = np.flatnonzero(reaches(tree, table, node))
        at, label = position[codes[here, 0]], y[here]
        gains = [
            entropy(label) - entropy(label[at <= low]) - entropy(label[at > low])
            for low, _ in pairwise(np.unique(at))
            if min((at <= low).sum(), (at > low).sum()) >= 5
        ]
        assert tree.gain[node] * len(here) == pytest.approx(max(gains), abs=1e-6)
        checked += 1
    assert checked >= 3


def reaches(tree, table, node):
    """Whether each row passes through a node."""
    from hornbeam.tree.route import route

    at, parent = route(tree.skeleton, table).copy(), tree.skeleton.parent
    found = at == node
    while (at > 0).any():
        at = np.where(at > 0, parent[at], 0)
        found |= at == node
    return found


def test_a_column_that_means_nothing_is_not_used_below_the_root():
    X, y, _ = world(effect=0.0, categories=300, each=5)
    table = Table.read(X, y)
    tree = grower_of("two").grow(table, bins_of(table))
    assert (places(tree) == 0).all()


@pytest.mark.parametrize("preset", ["cart", "c4.5", "c4.4", "id3"])
def test_published_presets_have_no_such_order(preset):
    X, y, _ = world()
    table = Table.read(X, y)
    bins = bins_of(table)
    spec = spec_of(PRESETS[preset].grower, table, bins)
    assert spec.position is None


@pytest.mark.parametrize(("kind", "least"), [("two", 20), ("number", 20), ("three", 40)])
def test_fewer_categories_are_ordered_by_each_node(kind, least):
    for categories, ordered in ((least - 1, False), (least, True)):
        X, y, _ = world(categories=categories, each=60, kind=kind)
        table = read(kind, X, y)
        bins = bins_of(table)
        spec = spec_of(grower_of(kind), table, bins)
        assert (spec.position is not None) == ordered


# ---- laws


def by_level(grower, table, **options):
    source, bins = MemorySource(table, 97), bins_of(table)
    numeric = table.numeric_target is not None
    return grower.grow_by_level(
        EncodingSource(source, bins),
        bins,
        table.schema,
        LocalEngine(n_tasks=3),
        unit=evidence_units(table),
        target=source if numeric else None,
        **options,
    )


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", ["two", "three", "number"])
@pytest.mark.parametrize("missing", [Missing.OWN, Missing.LEARNED])
def test_the_same_tree_in_memory_and_level_by_level_in_any_order_of_rows(kind, weights, missing):
    X, y, weight = world(kind=kind, weights=weights, missing=0.1)
    table, grower = read(kind, X, y, weight), grower_of(kind, missing=missing)
    tree = grower.grow(table, bins_of(table))
    assert len(places(tree)) > 2
    for options in ({"gather_rows": 0}, {"gather_rows": 200, "budget": 2000}):
        assert by_level(grower, table, **options).digest == tree.digest
    shuffled = np.random.default_rng(1).permutation(len(y))
    other = read(kind, X.iloc[shuffled], y[shuffled], None if weight is None else weight[shuffled])
    assert grower.grow(other, bins_of(other)).digest == tree.digest


@pytest.mark.parametrize("kind", ["two", "three", "number"])
def test_a_row_of_weight_two_is_two_rows(kind):
    X, y, weight = world(kind=kind, weights=True)
    times = weight.astype(int)
    weighted = read(kind, X, y, weight)
    copied = read(kind, X.loc[X.index.repeat(times)].reset_index(drop=True), np.repeat(y, times))
    one, other = (grower_of(kind).grow(table, bins_of(weighted)) for table in (weighted, copied))
    np.testing.assert_array_equal(one.skeleton.feature, other.skeleton.feature)
    np.testing.assert_array_equal(one.skeleton.slot_of, other.skeleton.slot_of)


def test_threads_do_not_change_the_tree():
    X, y, _ = world(categories=400, each=200)
    table = Table.read(X, y)
    bins = bins_of(table)
    trees = [grower_of("two").grow(table, bins, n_jobs=n_jobs) for n_jobs in (1, 2)]
    assert trees[0].digest == trees[1].digest


# ---- what it is worth


def test_many_categories_with_an_effect_help_and_those_without_do_not_hurt():
    for effect, most in ((0.0, 0.006), (0.8, -0.004)):
        X, y, _ = world(0, categories=300, each=70, effect=effect)
        n = 300 * 10
        found = []
        for columns in (["place", "a", "b"], ["a", "b"]):
            clf = TreeClassifier().fit(X[columns][:n], y[:n])
            found.append(log_loss(y[n:], clf.predict_proba(X[columns][n:])))
        assert found[0] < found[1] + most


def test_trees_of_a_forest_order_categories_at_each_node():
    X, y, _ = world()
    table = Table.read(X, y)
    bins = bins_of(table)
    for sampled in ({"max_features": 2}, {"design_effect": 3.0}):
        spec = spec_of(grower_of("two", **sampled), table, bins)
        assert spec.position is None


def test_a_sample_takes_rare_categories_as_a_whole():
    X, y, _ = world(categories=200, each=10)
    X["place"] = np.where(np.arange(len(X)) % 4 == 0, "common", X.place)
    table = Table.read(X, y)
    bins = bins_of(table)
    recipe = PRESETS["default"]
    rows = CrossFitted(recipe, rows=500)._sample(recipe, bins, bins.encode(table), table)
    kept = X.place.iloc[rows].value_counts() / X.place.value_counts()
    assert len(rows) == 500
    assert kept["common"] == pytest.approx(0.25, abs=0.08)
    rare = kept.drop("common").fillna(0.0)
    assert ((rare == 0) | (rare == 1)).sum() >= len(rare) - 1  # the last one fills the sample
