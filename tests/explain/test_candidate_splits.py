"""Candidate splits equal an exhaustive slow twin, and the split of a grown tree is the first of them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import log2, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hornbeam
from golden.test_worked_examples import (
    GOLF,
    GOLF_FEATURES,
    PIZZA,
    PIZZA_FEATURES,
    RESTAURANT,
    RESTAURANT_FEATURES,
)
from hornbeam import TreeClassifier, TreeRegressor, candidate_splits
from hornbeam.data import Table
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import DataError, ParameterError, SchemaError
from hornbeam.explain import CandidateSplit
from hornbeam.growing import Criterion, Grower, Missing, Nominal
from support.examples import examples
from support.reference_growing import entropy, gini
from support.strategies_growing import bins_of, growers, random_table, regression_tables, training_tables

# ---- a slow twin: every way to divide the rows of a table by one feature, and its gain by the formula


class Slow:
    """Splits of the root, as sets of rows; weights and sums are exact fractions."""

    def __init__(self, table: Table, grower: Grower) -> None:
        self.table, self.grower = table, grower
        steps = [1] * table.n_rows if table.weight is None else table.weight.tolist()
        self.weight = [Fraction(step) * Fraction(table.unit) for step in steps]
        self.rows = range(table.n_rows)

    def total(self, rows) -> Fraction:
        return sum((self.weight[row] for row in rows), Fraction(0))

    def counts(self, rows) -> list[Fraction]:
        target = self.table.target
        return [
            self.total([row for row in rows if target[row] == k]) for k in range(self.table.schema.n_classes)
        ]

    def numbers(self, rows) -> tuple[Fraction, Fraction]:
        """Mean and sum of squared deviations."""
        values = [Fraction(value) for value in self.table.numeric_target.values.tolist()]
        weight = self.total(rows)
        mean = sum((self.weight[row] * values[row] for row in rows), Fraction(0)) / weight
        return mean, sum((self.weight[row] * (values[row] - mean) ** 2 for row in rows), Fraction(0))

    def mean_in_steps(self, rows) -> float:
        """Mean of the rounded products of weight and value: of categories with equal means it decides the order."""
        table, at = self.table, list(rows)
        numerators = table.numeric_target.numerators(table.weight, table.unit)[at].sum().item()
        weights = len(at) if table.weight is None else table.weight[at].sum().item()
        return float(numerators) / float(weights)

    def loss(self, rows) -> float:
        """Weight times impurity."""
        if not rows:
            return 0.0
        if self.table.numeric_target is not None:
            return float(self.numbers(rows)[1])
        measure = gini if self.grower.criterion is Criterion.GINI else entropy
        return float(self.total(rows)) * measure([float(n) for n in self.counts(rows)])

    def gain(self, children) -> float:
        whole = [row for child in children for row in child]
        if self.grower.criterion is Criterion.HELLINGER:
            return self.hellinger(whole, children)
        return (self.loss(whole) - sum(map(self.loss, children))) / float(self.total(self.rows))

    def hellinger(self, whole, children) -> float:
        """1 minus the overlap of each class and the others, averaged over the classes of the node."""
        everything, n = self.counts(self.rows), self.total(self.rows)
        classes = [k for k, count in enumerate(everything) if 0 < count < n]

        def overlap(rows):
            size, counts = self.total(rows), self.counts(rows)
            parts = (counts[k] * (size - counts[k]) / (everything[k] * (n - everything[k])) for k in classes)
            return sum(float(part) ** 0.5 for part in parts) / max(1, len(classes))

        return overlap(whole) - sum(map(overlap, children))

    def ways(self, f: int) -> Iterator[tuple[list[frozenset[int]], bool]]:
        """Children of every split of a feature, as sets of rows; and whether missing values go to every child."""
        column, kind = self.table.columns[f], self.table.schema.features[f].kind
        nominal, grower = kind is Kind.NOMINAL, self.grower
        missing = frozenset(np.flatnonzero(column == -1 if nominal else np.isnan(column)).tolist())
        values = sorted({column[row].item() for row in self.rows if row not in missing})
        group = {value: frozenset(row for row in self.rows if column[row] == value) for value in values}
        if not values or len(values) + bool(missing) < 2:
            return
        every = grower.missing is Missing.FRACTIONAL and bool(missing)
        if nominal and grower.nominal is Nominal.MULTIWAY:
            children = [group[value] for value in values] + [missing] * (bool(missing) and not every)
            if len(children) > 1:
                yield children, every
            return
        if nominal and grower.missing is Missing.LEARNED and missing:
            group[nan], missing = missing, frozenset()
            values.append(nan)
        known = frozenset().union(*group.values())
        firsts = list(self.firsts(values, group, nominal))
        if not missing or every:
            yield from (([first, known - first], every) for first in firsts)
            return
        yield [known, missing], False
        if grower.missing is Missing.OWN and self.large(known) and self.large(missing):
            yield from (([first, known - first, missing], False) for first in firsts)
        else:
            yield from (([first, known - first | missing], False) for first in firsts)
            yield from (([first | missing, known - first], False) for first in firsts)

    def firsts(self, values, group, nominal) -> Iterator[frozenset[int]]:
        """Rows of the first child of each cut; of each subset for more than two classes."""
        if nominal and self.table.numeric_target is None and self.table.schema.n_classes > 2:
            for size in range(1, len(values)):
                for chosen in combinations(values[:-1], size):
                    yield frozenset().union(*(group[value] for value in chosen))
            return
        if nominal and self.table.numeric_target is not None:
            values = sorted(values, key=lambda value: self.mean_in_steps(group[value]))
        elif nominal:
            values = sorted(
                values, key=lambda value: self.counts(group[value])[-1] / self.total(group[value])
            )
        for at in range(1, len(values)):
            yield frozenset().union(*(group[value] for value in values[:at]))

    def large(self, rows) -> bool:
        return len(rows) >= self.grower.min_samples_leaf and self.total(rows) >= Fraction(
            self.grower.min_weight_leaf
        ) - Fraction(1, 10**6)


def children_of(split: CandidateSplit, table: Table) -> frozenset[frozenset[int]]:
    """The rows that meet the condition of each child."""
    column = table.columns[split.column]
    return frozenset(
        frozenset(np.flatnonzero(child.test.holds_in(column)).tolist()) for child in split.children
    )


def check_scan(table: Table, grower: Grower) -> None:
    slow = Slow(table, grower)
    tree = replace(grower, max_depth=1).grow(table, bins_of(table))
    scale, rounding = 1.0, 1e-9
    if table.numeric_target is not None:  # sums are rounded relative to the largest value
        scale = slow.loss(list(slow.rows)) / float(slow.total(slow.rows))
        rounding = 1e-9 * scale + 1e-12 * scale**0.5 * np.abs(table.numeric_target.values).max() + 1e-300
    best = candidate_splits(tree, table, None)
    by_feature = {split.column: split for split in best}
    for f in range(table.schema.n_features):
        expected = {frozenset(children): (children, every) for children, every in slow.ways(f)}
        found = candidate_splits(tree, table, None, feature=f)
        assert {children_of(split, table) for split in found} == set(expected)
        assert sorted(split.rank for split in found) == list(range(1, len(found) + 1))
        assert (f in by_feature) == bool(expected)
        for split in found:
            children, every = expected[children_of(split, table)]
            assert split.gain == pytest.approx(slow.gain(children), rel=1e-7, abs=rounding)
            assert (split.missing == "every") == every
            if not every:
                check_children(split, slow)
            if split.split_information is not None:
                weights = [float(slow.total(child)) for child in children]
                lost = float(slow.total(slow.rows)) - sum(weights)
                lost = lost if every else 0.0
                assert split.split_information == pytest.approx(entropy([*weights, lost]), abs=1e-9)
                assert split.gain_ratio * split.split_information == pytest.approx(
                    split.penalised_gain if split.split_information > 1e-6 else 0.0, abs=1e-12
                )
        if found.best is not None and not grower.corrected:
            # Ratios and S-values compare the treatments of missing values, gains the cuts of each treatment.
            like = found.best.missing, len(found.best.children)
            allowed = [split for split in found if split.rejected is None]
            if grower.criterion is Criterion.GAIN_RATIO:
                allowed = [split for split in allowed if (split.missing, len(split.children)) == like]
            assert found.best.penalised_gain >= max(split.penalised_gain for split in allowed) - 1e-6 * scale
        if f in by_feature:
            mine, first = by_feature[f], min(found, key=lambda split: split.rank)
            if grower.criterion is not Criterion.GAIN_RATIO:  # C4.5 also compares the features
                assert (mine.rejected is None) == (found.best is not None)
            assert mine.gain == pytest.approx(first.gain)
        if not grower.corrected:
            assert all(check_allowed(split, slow, expected) for split in found)


def check_children(split: CandidateSplit, slow: Slow) -> None:
    column = slow.table.columns[split.column]
    for child in split.children:
        rows = np.flatnonzero(child.test.holds_in(column)).tolist()
        assert child.rows == len(rows)
        assert child.weight == pytest.approx(float(slow.total(rows)))
        if slow.table.numeric_target is None:
            assert child.counts == pytest.approx([float(n) for n in slow.counts(rows)])
        else:
            mean, squares = slow.numbers(rows)
            spread = float(np.abs(slow.table.numeric_target.values).max())
            assert child.mean == pytest.approx(float(mean), abs=1e-9 * spread)
            assert child.sum_of_squares == pytest.approx(
                float(squares), abs=1e-9 * spread**2 * float(slow.total(rows)) + 1e-300
            )


def check_allowed(split: CandidateSplit, slow: Slow, expected) -> bool:
    """Splits with a child that is too small are rejected; for entropy and Gini without constraints no others are."""
    children, _ = expected[children_of(split, slow.table)]
    multiway = split.categories is not None and slow.grower.nominal is Nominal.MULTIWAY
    n_large = sum(map(slow.large, children))
    large = n_large >= 2 if multiway else n_large == len(children)
    if split.rejected is not None and split.rejected.startswith("growing chooses the subset first"):
        return large and slow.grower.missing is Missing.OWN and slow.table.schema.n_classes > 2
    free = slow.grower.monotone is None and not slow.grower.min_impurity_decrease
    if slow.grower.criterion in (Criterion.ENTROPY, Criterion.GINI, Criterion.HELLINGER) and free:
        return (split.rejected is None) == large
    return large or split.rejected is not None


@given(st.data(), training_tables(max_rows=16))
@examples(120)
def test_splits_of_classes_equal_the_slow_twin(data, table):
    check_scan(table, data.draw(growers(table)))


@given(st.data(), regression_tables(max_rows=16))
@examples(60)
def test_splits_of_numbers_equal_the_slow_twin(data, table):
    check_scan(table, data.draw(growers(table)))


def test_a_rejected_split_is_the_first_of_its_feature_by_the_gain_after_the_penalty():
    # Of n0, known against missing values has the least gain and no penalty; each cut has a penalty above its gain.
    features = Feature("n0"), Feature("c0", Kind.NOMINAL, ("a", "b"))
    columns = (
        np.array([105.0, 1.5, 424.0, nan, 335.5, 369.0, 154.0, 28.0, 207.0]),
        np.array([-1, 1, 1, 0, 0, 0, -1, 1, 0], np.int32),
    )
    target = np.array([1, 1, 0, 1, 1, 1, 1, 0, 1], np.int32)
    table = Table(Schema(features, (0, 1)), columns, target, None, 1.0, None)
    grower = Grower(
        criterion=Criterion.GAIN_RATIO, nominal=Nominal.MULTIWAY, missing=Missing.OWN, min_weight_leaf=2.0
    )
    check_scan(table, grower)
    tree = replace(grower, max_depth=1).grow(table, bins_of(table))
    (mine,) = (split for split in candidate_splits(tree, table, None) if split.feature == "n0")
    assert mine.missing == "own"
    assert mine.rejected is not None
    assert mine.gain == pytest.approx(0.0431, abs=1e-4)


# ---- the split that the tree took


def check_chosen(tree: hornbeam.Tree, model, table: Table) -> None:
    for node in range(tree.n_nodes):
        splits = candidate_splits(model, table, None, node)
        if tree.skeleton.feature[node] < 0:
            assert splits.chosen is None
            assert splits.limit is not None or splits.best is None
            continue
        first = splits[0]
        assert first.chosen
        assert first is splits.chosen is splits.best
        assert first.penalised_gain == pytest.approx(tree.gain[node], rel=1e-12, abs=1e-15)
        if splits.order == "gain":
            assert first.gain == tree.gain[node]
        assert [child.rows for child in first.children] == tree.rows[children(tree, node)].tolist()
        column = candidate_splits(model, table, None, node, feature=first.column)
        assert column.best.chosen
        assert column.best == replace(first, rank=1)


def children(tree, node):
    first = tree.skeleton.first_child[node]
    return slice(first, first + tree.skeleton.n_children[node])


@given(st.data(), training_tables(max_rows=40))
@examples(60)
def test_the_split_of_a_grown_tree_ranks_first(data, table):
    tree = data.draw(growers(table)).grow(table, bins_of(table))
    check_chosen(tree, tree, table)


@given(st.data(), regression_tables(max_rows=40))
@examples(40)
def test_the_split_of_a_grown_regression_tree_ranks_first(data, table):
    tree = data.draw(growers(table)).grow(table, bins_of(table))
    check_chosen(tree, tree, table)


def frame(table: Table):
    """The columns of a table as rows of values, None where missing."""
    columns = []
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        nominal = feature.kind is Kind.NOMINAL
        columns.append(
            [
                None if value == -1 and nominal else feature.categories[int(value)] if nominal else value
                for value in column.tolist()
            ]
        )
    return np.array(columns, dtype=object).T


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("preset", ["default", "cart", "c4.5", "c4.4", "id3"])
def test_the_split_of_every_preset_ranks_first(preset, weighted):
    table = random_table(7, n_rows=300, n_nominal=2)
    X, rng = frame(table), np.random.default_rng(1)
    code = (table.columns[0] > 1).astype(int) + (table.columns[2] < 2)
    y = [f"class {k}" for k in np.where(rng.random(300) < 0.2, rng.integers(0, 3, 300), code)]
    weight = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    class_weight = {"class 0": 3.0, "class 1": 1.0, "class 2": 0.5} if weighted else None
    model = TreeClassifier(preset, max_depth=4, min_samples_leaf=0.02, class_weight=class_weight)
    model.fit(X, y, sample_weight=weight)
    inner = np.flatnonzero(model.tree_.skeleton.feature >= 0)
    assert len(inner) >= 2
    for node in inner.tolist():
        splits = candidate_splits(model, X, y, node, sample_weight=weight)
        assert splits[0] is splits.chosen is splits.best
        assert splits[0].penalised_gain == pytest.approx(model.tree_.gain[node], rel=1e-12)
        if weighted and model.tree_.skeleton.is_fractional:
            continue  # the search divides rows by weights with class weights, the evidence by weights without
        counts = np.array([child.counts for child in splits[0].children])
        evidence = model.tree_.evidence * model.tree_.unit
        assert counts == pytest.approx(evidence[children(model.tree_, node)], abs=1e-9)
        assert splits.weight == pytest.approx(evidence[node].sum())


@pytest.mark.parametrize("preset", ["default", "cart"])
def test_the_split_of_every_regression_preset_ranks_first(preset):
    table = random_table(8, n_rows=300, n_classes=5, missing=0.1)
    X, y = frame(table), table.target + np.random.default_rng(1).normal(size=300)
    model = TreeRegressor(preset, max_depth=3, min_samples_leaf=5).fit(X, y)
    for node in np.flatnonzero(model.tree_.skeleton.feature >= 0).tolist():
        splits = candidate_splits(model, X, y, node)
        assert splits[0] is splits.chosen
        means = [child.mean for child in splits[0].children]
        weight, total, _ = (model.tree_.evidence * model.tree_.unit).T
        assert means == pytest.approx((total / weight)[children(model.tree_, node)])
    assert candidate_splits(model, X, y).impurity == pytest.approx(y.var())


@pytest.mark.long
@pytest.mark.parametrize("max_bins", ["auto", 16, None])
def test_bins_are_those_of_the_fit(max_bins):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(21_000, 2))
    y = (X[:, 0] + rng.normal(size=21_000) > 0).astype(int)
    model = TreeClassifier(max_depth=2, smoothing=None, max_bins=max_bins).fit(X, y)
    for node in np.flatnonzero(model.tree_.skeleton.feature >= 0).tolist():
        splits = candidate_splits(model, X, y, node)
        assert splits[0].chosen
        assert splits[0].threshold == model.tree_.skeleton.threshold[node]
        assert splits[0].gain == model.tree_.gain[node]
    cuts = candidate_splits(model, X, y, feature=1)
    assert len(cuts) == {"auto": 254, 16: 15, None: 20_999}[max_bins]
    assert cuts.best.threshold == candidate_splits(model, X, y)[1].threshold


def test_monotone_bounds_reach_deep_nodes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3)).round(1)
    y = (X.sum(axis=1) + rng.normal(size=500) > 0).astype(int)
    model = TreeClassifier("cart", monotonic_cst=[1, -1, 0], max_depth=5, min_samples_leaf=5).fit(X, y)
    tree = model.tree_
    seen = set()
    for node in range(tree.n_nodes):
        splits = candidate_splits(tree, X, y, node)
        seen |= {split.rejected for split in splits}
        if tree.skeleton.feature[node] >= 0:
            assert splits[0].chosen
            assert splits[0].gain == tree.gain[node]
        else:
            assert splits.limit is not None or splits.best is None
    assert "breaks a monotone constraint" in seen


# ---- worked numbers


def fitted(text: str, names: tuple[str, ...], preset: str, **options):
    rows = [line.split() for line in text.strip().splitlines()]
    X, y = [row[:-1] for row in rows], [row[-1] for row in rows]
    table = Table.read(np.array(X, dtype=object), y, feature_names=names)
    return hornbeam.recipe.PRESETS[preset].fit(table, **options), table


def gains(tree, table, node=0):
    return {split.feature: round(split.gain, 4) for split in candidate_splits(tree, table, None, node)}


def test_restaurant_gains():
    found = gains(*fitted(RESTAURANT, RESTAURANT_FEATURES, "id3"))
    assert next(iter(found)) == "Pat"
    assert found == {
        "Pat": 0.5409, "Est": 0.2075, "Price": 0.1957, "Hun": 0.1957, "Fri": 0.0207, "Res": 0.0207,
        "Alt": 0.0, "Bar": 0.0, "Rain": 0.0, "Type": 0.0,
    }  # fmt: skip


def test_pizza_gains():
    tree, table = fitted(PIZZA, PIZZA_FEATURES, "id3")
    splits = candidate_splits(tree, table, None)
    assert splits.impurity == pytest.approx(1.5305, abs=5e-5)
    assert gains(tree, table) == {"Meat": 0.5466, "Veg": 0.2405, "Crust": 0.1133}
    assert [child.counts for child in splits[0].children] == [(2, 2, 0), (0, 2, 3)]
    assert gains(tree, table, 1) == {"Veg": 1.0, "Crust": 0.5}


def test_golf_ratios():
    tree, table = fitted(GOLF, GOLF_FEATURES, "c4.5")
    splits = candidate_splits(tree, table, None)
    assert splits.order == "gain ratio"
    # windy and temperature have less than average gain
    assert [split.feature for split in splits][:2] == ["outlook", "humidity"]
    outlook = splits[0]
    assert (outlook.gain, outlook.split_information, outlook.gain_ratio) == pytest.approx(
        (0.2467, 1.5774, 0.1564), abs=5e-5
    )


def test_c45_penalty_and_minimum_of_a_numeric_feature():
    X, y = np.arange(1.0, 9.0)[:, None], [0, 0, 0, 1, 0, 1, 1, 1]
    model = TreeClassifier("c4.5", max_depth=1).fit(X, y)
    cuts = candidate_splits(model, X, y, feature=0)
    allowed = [(cut.threshold, round(cut.gain, 4)) for cut in cuts if not cut.rejected]
    assert allowed == [(2, 0.3113), (3, 0.5488), (5, 0.5488), (6, 0.3113)]
    assert cuts[3].rejected == "no gain after the penalty"
    assert cuts.best.threshold == 3.0
    assert cuts.best.penalty == pytest.approx(log2(5) / 8)
    assert cuts.best.penalised_gain == pytest.approx(0.2586, abs=5e-5)
    assert cuts[0].rejected == "a child has weight 1; at least 2 needed"
    assert cuts[1].rejected is None


def test_s_values_protect_from_an_identifier():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 200)
    # Two rows per identifier: fit warns about one.
    X = np.array(
        [[f"pair {i // 2}" for i in range(200)], np.where(rng.random(200) < 0.7, y, 1 - y)], dtype=object
    ).T
    model = TreeClassifier(max_depth=1, smoothing=None).fit(X, y)
    first, identifier = candidate_splits(model, X, y)
    assert first.feature == "x1"
    assert first.s_value > 5
    assert identifier.gain > first.gain
    assert identifier.rejected == "no more gain than by chance"
    id3 = TreeClassifier("id3", max_depth=1).fit(X, y)
    assert [split.feature for split in candidate_splits(id3, X, y)] == ["x0", "x1"]


# ---- text and errors


def test_text_of_every_kind_of_split():
    X = [[20.0, "a"], [30.0, "b"], [None, "c"], [40.0, "a"], [50.0, None], [None, "b"]]
    y = ["no", "no", "yes", "yes", "yes", "yes"]
    model = TreeClassifier("cart", min_samples_leaf=2).fit(X, y)
    assert str(candidate_splits(model, X, y, feature="x0")).splitlines() == [
        "node 0: 6 rows, gini 0.4444",
        "rank    gain  split                      no yes in each child  not allowed because",
        "  3   0.1111  x0 known | missing         2 2 | 0 2",
        "  6   0.1778  x0 ≤ 25 | > 25 or missing  1 0 | 1 4             a child has 1 row; min_samples_leaf=2",
        "  1*  0.4444  x0 ≤ 35 | > 35 or missing  2 0 | 0 4",
        "  2   0.2222  x0 ≤ 45 | > 45 or missing  2 1 | 0 3",
        "  5   0.0000  x0 ≤ 25 or missing | > 25  1 2 | 1 2",
        "  4   0.1111  x0 ≤ 35 or missing | > 35  2 2 | 0 2",
        "  7   0.0444  x0 ≤ 45 or missing | > 45  2 3 | 0 1             a child has 1 row; min_samples_leaf=2",
        "* the split of the tree",
    ]


def test_pages_of_notebooks_escape_names():
    import pandas as pd

    X = pd.DataFrame({"<b>": ["<i>", "&", "<i>", "&"]})
    page = candidate_splits(TreeClassifier("id3").fit(X, [0, 1, 0, 1]), X, [0, 1, 0, 1])._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt; = &amp; | = &lt;i&gt;" in page


X_SMALL, Y_SMALL = [[1.0, "a"], [2.0, "b"], [3.0, "a"]], ["no", "yes", "yes"]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"node": 9}, ParameterError, "node=9: expected a node of the tree, from 0 to"),
        ({"node": -1}, ParameterError, "node=-1"),
        (
            {"feature": "age"},
            ParameterError,
            "feature='age': expected one of 'x0', 'x1', or an index from 0 to 1",
        ),
        ({"node": 0.5}, ParameterError, "node=0.5: expected a node of the tree"),
        ({"node": "root"}, ParameterError, "node='root': expected a node of the tree"),
        ({"feature": 2}, ParameterError, "feature=2"),
        ({"feature": 0.5}, ParameterError, "feature=0.5: expected one of 'x0'"),
        ({"feature": True}, ParameterError, "feature=True: expected one of 'x0'"),
        ({"feature": ["x0"]}, ParameterError, "feature=['x0']: expected one of 'x0'"),
        ({"y": None}, DataError, "y is None"),
        ({"y": ["no", "yes", "perhaps"]}, SchemaError, "'perhaps'"),
        ({"X": Table.read(X_SMALL, Y_SMALL)}, ParameterError, "Pass y=None"),
        ({"X": Table.read(X_SMALL), "y": None}, SchemaError, "schema=tree.schema"),
        ({"X": Table.read(X_SMALL, ["in", "out", "in"]), "y": None}, SchemaError, "schema=tree.schema"),
        ({"X": Table.read([[1.0]] * 3, Y_SMALL), "y": None}, SchemaError, "schema=tree.schema"),
        ({"grower": "gini"}, ParameterError, "grower='gini': expected a Grower"),
        ({"model": "oak"}, ParameterError, "model is a str without a tree"),
        ({"model": TreeClassifier()}, ParameterError, "Call fit first"),
        ({"X": [[1.0, "green"]] * 3}, DataError, "3 rows have a category of 'x1'"),
        ({"X": [[9.0, "a"]] * 3, "node": 1}, DataError, "none of the 3 rows reaches node 1"),
        ({"grower": Grower("squared_error")}, ParameterError, "the target is categorical"),
    ],
)
def test_errors_say_what_to_do(changes, error, words):
    model = TreeClassifier("id3").fit(X_SMALL, Y_SMALL)
    arguments = {"model": model, "X": X_SMALL, "y": Y_SMALL} | changes
    with pytest.raises(error, match=re.escape(words)):
        candidate_splits(**arguments)


def test_a_table_without_a_target_is_refused():
    model = TreeClassifier("id3").fit(X_SMALL, Y_SMALL)
    table = Table.read(X_SMALL, schema=model.tree_.schema)
    with pytest.raises(DataError, match="a Table without a target"):
        candidate_splits(model, table, None)


def test_pipelines_are_refused():
    X = [[1.0], [2.0], [3.0]]
    pipeline = make_pipeline(StandardScaler(), TreeClassifier("id3")).fit(X, Y_SMALL)
    with pytest.raises(ParameterError, match="Pass pipeline"):
        candidate_splits(pipeline, X, Y_SMALL)


def test_a_tree_of_another_library_needs_a_grower():
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    from hornbeam.interop import from_sklearn

    X, y = load_iris(return_X_y=True)
    theirs = DecisionTreeClassifier(random_state=0, max_depth=2).fit(X, y)
    tree = from_sklearn(theirs)
    with pytest.raises(ParameterError, match=r"grower=Grower\('gini'\)"):
        candidate_splits(tree, X, y)
    chosen = candidate_splits(tree, X, y, grower=Grower("gini")).chosen
    impurities, weight = theirs.tree_.impurity, theirs.tree_.n_node_samples
    decrease = impurities[0] - (weight[1] * impurities[1] + weight[2] * impurities[2]) / weight[0]
    if chosen is not None:  # equal splits: scikit-learn draws one of them
        assert chosen.gain == pytest.approx(decrease)
