"""Prices of columns: worked numbers, laws, and the words of a user.

That the kernel agrees with the slow twin is in `test_grower.py`, that threads, partitions and order of rows do not
matter in `laws/`: growers there are drawn with prices too.
"""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor, load, save
from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.data.engine import LocalEngine
from hornbeam.errors import HornbeamError, ParameterError
from hornbeam.growing.grower import Grower
from hornbeam.kernels.subtree import Rows
from hornbeam.pruning import LeafPrice
from hornbeam.tree.feature_costs import FeatureCosts
from hornbeam.tree.walk import path, pull_up
from support.examples import examples
from support.reference_growing import unpaid_price
from support.strategies_growing import (
    bins_of,
    growers,
    prices,
    random_table,
    regression_tables,
    training_tables,
)

# Eight rows: the test of a laboratory separates the classes, an interview gets one row of each class wrong.
ROWS = [[0, 0], [0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 1], [1, 0]]
STATE = ["ill"] * 4 + ["well"] * 4
LAB_GAIN, INTERVIEW_GAIN = 1.0, 0.18872  # bits, of 1 bit


def root_feature(tree):
    return tree.skeleton.feature.item(0)


@pytest.mark.parametrize(("price", "first"), [(0, 0), (80, 0), (82, 1), (100, 1)])
def test_a_split_must_earn_its_price(price, first):
    """The price is in per cent of the bit: 1 - .80 is above .189, 1 - .82 is below."""
    fit = TreeClassifier("id3", feature_costs={"x0": price}).fit(ROWS, STATE)
    assert root_feature(fit.tree_) == first
    gain = LAB_GAIN - price / 100 if first == 0 else INTERVIEW_GAIN
    assert fit.tree_.gain[0] == pytest.approx(gain, abs=1e-5)


def test_a_column_that_was_paid_is_free_below():
    """Below the interview the test would gain .811 bits for .82: nothing is split. A second cut is free."""
    tree = TreeClassifier("id3", feature_costs={"x0": 82}).fit(ROWS, STATE).tree_
    assert (root_feature(tree), tree.n_leaves) == (1, 2)
    X = [[0], [1], [2]] * 4
    tree = TreeClassifier("cart", feature_costs={"x0": 40}).fit(X, ["a", "b", "c"] * 4).tree_
    assert tree.n_leaves == 3
    assert FeatureCosts.of(tree).mean(tree) == 40
    assert FeatureCosts.of(tree).paid(tree).tolist() == [40, 0, 0, 0, 0]


def test_columns_share_a_price():
    """The second column has 1/2 of .5 of Gini's .625: it earns 40 alone, and nothing has to be earned if it is paid."""
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, ["a", "a", "b", "c"] * 5
    apart = TreeClassifier("cart", feature_costs={"x0": 30, "x1": 85}).fit(X, y)
    shared = TreeClassifier("cart", feature_costs={"sample": (30, ["x0", "x1"])}).fit(X, y)
    assert apart.tree_.n_leaves == 2
    assert shared.tree_.n_leaves == 3
    assert shared.path_costs(X).tolist() == [30.0] * 20
    both = TreeClassifier("cart", feature_costs={"sample": (20, ["x0", "x1"]), "x0": 1, "x1": 2}).fit(X, y)
    assert both.path_costs([[0, 0], [1, 0]]).tolist() == [21.0, 23.0]
    assert FeatureCosts.of(both.tree_).mean(both.tree_) == 22.0


def test_a_regression_price_is_a_share_of_the_variance():
    y = [0.0, 0.0, 6.0, 6.0]  # variance 9; the column explains all
    for scale in (1e-6, 1.0, 1e6):
        fits = [
            TreeRegressor("cart", feature_costs={"x0": price}).fit(
                [[0], [0], [1], [1]], np.multiply(y, scale)
            )
            for price in (99, 101)
        ]
        assert [fit.tree_.n_leaves for fit in fits] == [2, 1]


def test_a_price_is_a_share_of_half_the_dispersion_of_counts():
    """Variance 1 and mean 2, so half the dispersion is .25 or .125; the split gains .26162 or .14384."""
    X, y = [[0], [0], [1], [1]], [1.0, 1.0, 3.0, 3.0]
    for criterion, most in (("poisson", 104.648), ("gamma", 115.073)):
        fits = [
            TreeRegressor("cart", criterion=criterion, feature_costs={"x0": price}).fit(X, y)
            for price in (most - 0.1, most + 0.1)
        ]
        assert [fit.tree_.n_leaves for fit in fits] == [2, 1]


# ---- laws


@examples(60)
@given(st.data(), st.sampled_from([training_tables, regression_tables]))
def test_free_columns_change_nothing(data, tables):
    table = data.draw(tables(max_rows=80))
    grower, bins = data.draw(growers(table)), bins_of(table)
    drawn = data.draw(prices(table.schema.n_features))
    plain = replace(grower, feature_costs=None, feature_cost_weight=0.0).grow(table, bins)
    free = tuple((0.0, features) for _, features in drawn["feature_costs"])
    for costs in (drawn | {"feature_cost_weight": 0.0}, drawn | {"feature_costs": free}):
        tree = replace(grower, **costs).grow(table, bins)
        assert tree.digest == plain.digest
        np.testing.assert_array_equal(tree.gain, plain.gain)


@examples(60)
@given(st.data(), st.sampled_from([training_tables, regression_tables]))
def test_a_column_of_a_huge_price_is_never_tested(data, tables):
    table = data.draw(tables(max_rows=80))
    grower, bins = data.draw(growers(table)), bins_of(table)
    f = data.draw(st.integers(0, table.schema.n_features - 1))
    costs = {"feature_costs": ((1e15, (f,)),), "feature_cost_weight": 1.0}
    tree = replace(grower, **costs).grow(table, bins)
    assert f not in tree.skeleton.feature or tree.n_leaves == 1


@examples(60)
@given(st.data(), st.sampled_from([training_tables, regression_tables]))
def test_what_is_paid_by_definition(data, tables):
    table = data.draw(tables(max_rows=80))
    costs = data.draw(prices(table.schema.n_features)) | {"feature_cost_weight": 0.0}
    grower = replace(data.draw(growers(table)), **costs)
    tree = grower.grow(table, bins_of(table))
    feature, found = tree.skeleton.feature.tolist(), FeatureCosts.of(tree)
    paid = []
    for node in range(tree.n_nodes):
        above = frozenset(feature[one] for one in path(tree.skeleton, node)[:-1])
        paid.append(unpaid_price(grower, above, feature[node]) if feature[node] >= 0 else 0.0)
    np.testing.assert_allclose(found.paid(tree), paid)
    total = [sum(paid[one] for one in path(tree.skeleton, node)) for node in range(tree.n_nodes)]
    np.testing.assert_allclose(found.of_paths(tree), total)


@examples(40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 2.0, 8.0]))
def test_no_pruned_tree_has_less_loss_and_price(seed, weight):
    """Among all subtrees that keep the root, against a slow sum over each."""
    table = random_table(seed, n_rows=60, n_numeric=3)
    costs = ((1.0, (0,)), (2.0, (1, 2)), (0.5, (2,)))
    grower = Grower(max_depth=3, min_samples_leaf=4, feature_costs=costs, feature_cost_weight=weight)
    tree = hornbeam.smoothing.HGS()(grower.grow(table, bins_of(table)))
    cut = LeafPrice(0.5).cuts(tree)
    belief, rows, skeleton = tree.belief, tree.weight_in_rows, tree.skeleton
    stay = np.where(skeleton.is_leaf, rows, 0.0)
    paid = FeatureCosts.of(tree).paid(tree) * rows * weight / 100

    def as_leaf(node):
        below = [leaf for leaf in np.flatnonzero(stay) if node in path(skeleton, leaf)]
        return sum(
            stay[leaf] * (1 + belief[node] @ belief[node] - 2 * belief[leaf] @ belief[node]) for leaf in below
        )

    unit = as_leaf(0) / rows[0]

    def cheapest(node):
        children = range(skeleton.first_child[node], skeleton.first_child[node] + skeleton.n_children[node])
        leaf = as_leaf(node) + 0.5
        if not children:
            return leaf
        split = paid[node] * unit + sum(map(cheapest, children))
        assert cut[node] == (leaf <= split) or abs(leaf - split) < 1e-9
        return min(leaf, split)

    cheapest(0)
    assert pull_up(skeleton, stay)[0] == rows[0]


def test_level_by_level_with_prices():
    table = random_table(5, n_rows=300, n_numeric=4, noise=0.4)
    grower = Grower(corrected=True, feature_costs=((2.0, (0,)), (3.0, (1, 2))), feature_cost_weight=0.5)
    bins = bins_of(table)
    source = EncodedRows(Rows(bins.encode(table), table.target.astype(np.uint16), None), 50)
    whole = grower.grow(table, bins)
    assert whole.digest != replace(grower, feature_costs=None).grow(table, bins).digest
    for budget in (2**28, 1):  # one block of features, and several
        tree = grower.grow_by_level(source, bins, table.schema, LocalEngine(), gather_rows=0, budget=budget)
        assert tree.digest == whole.digest


# ---- in the words of a user


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4)).round(1)
    y = np.where(X[:, 0] + X[:, 1] + X[:, 2] > rng.normal(size=400) / 2, "yes", "no")
    return X, y


COSTS = {"x0": 3, "sample": (2.5, ["x1", "x2"])}


@pytest.mark.parametrize("kind", [TreeClassifier, TreeRegressor])
def test_a_model_keeps_its_prices(kind, rows, tmp_path):
    X, y = rows[0], rows[1] if kind is TreeClassifier else (rows[1] == "yes").astype(float)
    fit = clone(kind(feature_costs=COSTS, feature_cost_weight=0.5)).fit(X, y)
    assert fit.get_params()["feature_costs"] == COSTS
    save(fit, tmp_path / "model.hornbeam")
    for other in (load(tmp_path / "model.hornbeam"), pickle.loads(pickle.dumps(fit))):
        np.testing.assert_array_equal(other.path_costs(X), fit.path_costs(X))
        assert other.fit(X, y).tree_.digest == fit.tree_.digest


def test_prices_are_in_what_is_shown(rows):
    X, y = rows
    fit = TreeClassifier(feature_costs=COSTS, feature_cost_weight=0.5).fit(X, y)
    costs = fit.path_costs(X)
    mean = FeatureCosts.of(fit.tree_).mean(fit.tree_)
    assert mean == pytest.approx(costs.mean())
    assert 0 < mean <= 5.5
    assert fit.size_path_.price[0] == pytest.approx(mean, rel=1e-5)
    assert fit.size_path_.price[-1] == 0
    assert (np.diff(fit.size_path_.price) <= 0).all()
    assert str(fit.size_path_).splitlines()[0].split() == ["leaves", "log", "loss", "increase", "price"]
    row = fit.explain(X[:1])[0]
    assert row.paths[0].price == costs[0]
    assert row.to_dict()["paths"][0]["price"] == costs[0]
    assert f"the columns tested cost {costs[0]:g}" in str(row)
    words = f"cost {mean:.4g} on average, and {costs.max():.4g} at most"
    assert words in hornbeam.report(fit).text
    assert words in hornbeam.model_card(fit).text
    assert "price" not in TreeClassifier().fit(X, y).size_path_.to_dict()


def test_a_higher_weight_pays_less(rows):
    X, y = rows
    mean = [
        TreeClassifier(feature_costs=COSTS, feature_cost_weight=weight).fit(X, y).path_costs(X).mean()
        for weight in (0, 2, 1000)
    ]
    assert mean[0] > mean[1] > mean[2] == 0


def test_candidates_are_ranked_after_the_price(rows):
    X, y = rows
    fit = TreeClassifier("cart", feature_costs={"x0": 3, "x1": 90}, max_depth=2).fit(X, y)
    found = fit.candidate_splits(X, y)
    assert found.chosen.gain - found.chosen.penalty == pytest.approx(fit.tree_.gain[0])
    [refused] = [one for one in found if one.column == 1]
    assert refused.rejected == "no gain after the price"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feature_costs": 3}, "feature_costs=3: expected a dict from a feature to its price"),
        ({"feature_costs": {"x9": 3}}, "The first features are 'x0'"),
        ({"feature_costs": {"x0": -1}}, "A price is a number from 0 to 1e\\+15, not -1"),
        ({"feature_costs": {"x0": float("nan")}}, "not nan"),
        ({"feature_costs": {"x0": float("inf")}}, "not inf"),
        ({"feature_costs": {"x0": True}}, "not True"),
        ({"feature_costs": {"x0": "3"}}, "not '3'"),
        ({"feature_costs": {"sample": (3, ["x0", "x9"])}}, "The first features are 'x0'"),
        ({"feature_costs": {"sample": (3, [])}}, "Leave out groups without features"),
        ({"feature_costs": {"x0": 3}, "feature_cost_weight": -1}, "feature_cost_weight=-1.0"),
        ({"feature_costs": {"x0": 3}, "feature_cost_weight": float("nan")}, "feature_cost_weight=nan"),
        ({"feature_costs": {"x0": 3}, "feature_cost_weight": "1"}, "feature_cost_weight='1'"),
        ({"feature_costs": {"x0": 3}, "preset": "readable"}, "a tree with a teacher does not use it"),
    ],
)
@pytest.mark.parametrize("kind", [TreeClassifier, TreeRegressor])
def test_what_is_no_price_is_refused(kind, parameters, message, rows):
    X, y = rows
    with pytest.raises(ParameterError, match=message):
        kind(**parameters).fit(X, y == "yes")


def test_a_tree_without_prices_has_no_path_costs(rows):
    with pytest.raises(ParameterError, match="grown without prices"):
        TreeClassifier("cart").fit(*rows).path_costs(rows[0])


@pytest.mark.parametrize(
    "items", [((1.0, (9,)),), ((-1.0, (0,)),), ((1.0, ()),), ((1.0, (0.5,)),), 3, ((float("nan"), (0,)),)]
)
def test_a_grower_refuses_what_is_no_price(items):
    table = random_table(0)
    with pytest.raises(HornbeamError, match="feature_costs"):
        Grower(feature_costs=items).grow(table, bins_of(table))
