"""Regression trees against a slow, simple twin in exact fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.fixed_point import fixed_point_weights
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.tree.route import decision_path
from hornbeam.tree.walk import path
from support.examples import examples
from support.reference_growing import divisions, may_follow
from support.strategies_growing import bins_of, growers, regression_tables

REGRESSION = Grower(Criterion.SQUARED_ERROR)


def tree_of(X, y, grower=REGRESSION, **kwargs):
    table = Table.read(X, y, target_kind=Kind.NUMERIC, **kwargs)
    return grower.grow(table, bins_of(table))


# ---- the twin: every possible split of a node, in fractions


def explained(groups) -> Fraction:
    """Sum over groups of (sum of w y)^2 / sum of w."""
    return sum((sum(s for _, s in g) ** 2 / sum(w for w, _ in g) for g in groups), Fraction(0))


def best_gain(table: Table, rows, grower: Grower, above: frozenset[int]) -> Fraction | None:
    """The largest decrease of the squared error, in squared steps of the numerator per step of weight.

    `above` are the features that split the ancestors.
    """
    assert table.numeric_target is not None
    numerator = table.numeric_target.numerators(table.weight, table.unit)
    weight = np.ones(table.n_rows, np.int64) if table.weight is None else table.weight
    pair = {row: (int(weight[row]), Fraction(int(numerator[row]))) for row in rows}
    least_weight = grower.min_weight_leaf / table.unit
    base, best = explained([[pair[row] for row in rows]]), None
    for f, (column, feature) in enumerate(zip(table.columns, table.schema.features, strict=True)):
        if not may_follow(grower, above, f, table.schema.n_features):
            continue
        nominal = feature.kind is Kind.NOMINAL
        for groups in divisions(column, rows, nominal, grower):
            groups = [g for g in groups if g]
            big = [
                len(g) >= grower.min_samples_leaf and sum(pair[r][0] for r in g) >= least_weight - 1e-6
                for g in groups
            ]
            enough = sum(big) >= 2 if nominal and grower.nominal_split is Nominal.MULTIWAY else all(big)
            if len(groups) > 1 and enough:
                gain = explained([[pair[row] for row in g] for g in groups]) - base
                best = gain if best is None else max(best, gain)
    return None if best is None else best / sum(w for w, _ in pair.values())


@examples(60)
@given(st.data())
def test_every_split_has_the_largest_gain(data):
    """Numeric cuts, and among all subsets of categories the best one along the order of their means."""
    table = data.draw(regression_tables(max_rows=24))
    grower = replace(data.draw(growers(table)), corrected=False, criterion=Criterion.SQUARED_ERROR)
    if grower.monotonic_cst is not None or grower.min_weight_leaf:
        return
    if (
        grower.nominal_split is Nominal.SUBSET
    ):  # the order finds the best of all subsets, not the best among those of a minimum size
        grower = replace(grower, min_samples_leaf=1)
    grower = replace(grower, min_samples_missing=0)  # a law of its own, against the reference
    tree = grower.grow(table, bins_of(table))
    assert table.numeric_target is not None
    scale = (table.numeric_target.unit / table.unit) ** 2
    indptr, nodes = decision_path(tree.skeleton, table)
    row_of = np.repeat(np.arange(table.n_rows), np.diff(indptr))
    for node in range(tree.n_nodes):
        rows = row_of[nodes == node].tolist()
        above = frozenset(tree.skeleton.feature.item(one) for one in path(tree.skeleton, node)[:-1])
        if tree.skeleton.n_children[node]:
            found = best_gain(table, rows, grower, above)
            assert found is not None
            assert tree.gain[node] == pytest.approx(float(found) * scale, rel=1e-9)
        elif (
            grower.max_depth is None
            and len(rows) >= grower.min_samples_split
            and not grower.min_impurity_decrease
        ):
            found = best_gain(table, rows, grower, above)
            values = table.numeric_target.values[rows]
            tiny = (
                1e-9 * np.ptp(values) ** 2 + (1e-15 * np.abs(values).max()) ** 2
            )  # weight times value is rounded
            assert found is None or float(found) * scale <= tiny


@examples(100)
@given(st.data())
def test_evidence_is_weight_sum_and_squares(data):
    table = data.draw(regression_tables(max_rows=60))
    tree = data.draw(growers(table)).grow(table, bins_of(table))
    assert table.numeric_target is not None
    values, indptr_nodes = table.numeric_target.values, decision_path(tree.skeleton, table)
    weight = np.ones(table.n_rows) if table.weight is None else table.weight * table.unit
    indptr, nodes = indptr_nodes
    row_of = np.repeat(np.arange(table.n_rows), np.diff(indptr))
    largest = np.abs(values).max(initial=1e-300)
    for node in range(tree.n_nodes):
        mine = row_of[nodes == node]
        w, y = weight[mine], values[mine]
        expected = [w.sum(), (w * y).sum(), (w * y * y).sum()]
        atol = np.array([1e-9, 1e-9 * largest, 1e-9 * largest**2]) * max(w.sum(), 1)
        assert (np.abs(tree.evidence[node] * tree.unit - expected) <= atol).all()
        assert tree.rows[node] == len(mine)
        assert tree.belief[node, 0] == pytest.approx((w * y).sum() / w.sum(), abs=1e-9 * largest)


# ---- examples with known results


def test_the_best_cut_of_six_rows_is_in_the_middle():
    """y = 1, 2, 3, 10, 11, 12: total squared error 125.5, of which the cut in the middle leaves 4."""
    tree = tree_of(
        [[i] for i in range(6)], [1, 2, 3, 10, 11, 12], Grower(Criterion.SQUARED_ERROR, max_depth=1)
    )
    assert tree.skeleton.threshold[0] == 2.5
    assert tree.gain[0] * 6 == pytest.approx(121.5)
    assert tree.belief[:, 0].tolist() == [6.5, 2.0, 11.0]
    assert (tree.evidence * tree.unit).tolist() == [[6.0, 39.0, 379.0], [3.0, 6.0, 14.0], [3.0, 33.0, 365.0]]


@pytest.mark.parametrize("value", [0.0, 0.1, -1e140, 1e-300, 12345.678])
def test_a_constant_target_is_one_leaf(value):
    X = np.random.default_rng(0).random((50, 3))
    for weight in (None, np.arange(1, 51), np.random.default_rng(1).random(50) + 0.1):
        tree = tree_of(X, np.full(50, value), sample_weight=weight)
        assert tree.n_nodes == 1
        assert tree.belief[0, 0] == pytest.approx(value, rel=1e-12, abs=1e-290)


@pytest.mark.parametrize("value", [0.1, 3.3, 1000.0])
def test_a_constant_target_of_a_few_weighted_rows_is_one_leaf(value):
    # With few rows a step is much smaller than the rounding of a float product of weight and value.
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(2, 9))
        for weight in (rng.exponential(size=n), np.round(1e9 * rng.exponential(size=n))):
            assert tree_of(rng.normal(size=(n, 2)), np.full(n, value), sample_weight=weight).n_nodes == 1


@given(st.lists(st.tuples(st.floats(-1e100, 1e100), st.floats(2.0**-20, 2.0**20)), min_size=1, max_size=8))
def test_products_of_weight_and_value_are_rounded_once(rows):
    values, weights = (np.array(column) for column in zip(*rows, strict=True))
    steps, step = fixed_point_weights(weights)
    target = NumericTarget.of(values, steps, step)
    for value, weight, found in zip(values, steps, target.numerators(steps, step), strict=True):
        exact = Fraction(value.item()) * weight.item() * Fraction(step) / Fraction(target.unit)
        if step != 1.0:
            assert abs(exact - found.item()) <= Fraction(1, 2) + Fraction(1, 2**40)


def test_trees_of_two_rows_and_of_one_row():
    assert tree_of([[0.0], [1.0]], [3.0, 5.0]).belief[:, 0].tolist() == [4.0, 3.0, 5.0]
    assert tree_of([[0.0]], [3.0]).belief.tolist() == [[3.0]]


def test_small_differences_between_large_values_are_found():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = 1e9 + np.where(X[:, 0] > 0.5, 1.0, 0.0) + 0.01 * rng.random(400)
    tree = tree_of(X, y, Grower(Criterion.SQUARED_ERROR, max_depth=1))
    assert tree.skeleton.feature[0] == 0
    assert tree.skeleton.threshold[0] == pytest.approx(0.5, abs=0.02)
    assert np.diff(tree.belief[1:, 0])[0] == pytest.approx(1.0, abs=0.01)


def test_sums_of_the_largest_tables_fit_64_bits():
    """Computed from bounds, without rows: every value is the largest, at the largest weight."""
    for n, largest in ((1, 1e140), (2**20, 1e140), (7, 1e-300), (2**20, 3.0)):
        weight = np.full(1, n)
        target = NumericTarget.of(np.array([largest]), weight)
        assert abs(int(target.numerators()[0]) * n) <= 2**61 + n
        assert int(target.squares()[0]) * n <= 2**61 + n
        assert target.unit > 0
        assert target.square_unit > 0


def test_monotone_constraints_hold_for_means():
    rng = np.random.default_rng(3)
    X = rng.random((600, 2))
    y = X[:, 0] + rng.normal(size=600)
    tree = tree_of(X, y, Grower(Criterion.SQUARED_ERROR, monotonic_cst=(1, 0), min_samples_leaf=5))
    grid = np.linspace(0, 1, 101)
    from hornbeam.tree.route import predict_rows

    for other in (0.1, 0.5, 0.9):
        rows = Table.read(np.c_[grid, np.full(101, other)], schema=tree.schema)
        assert (np.diff(predict_rows(tree, rows)[:, 0]) >= 0).all()
    assert tree.n_leaves > 5


# ---- what is refused


def test_a_criterion_of_another_kind_of_target_is_refused():
    with pytest.raises(ParameterError, match=r"criterion='entropy', and the target is numeric"):
        tree_of([[0.0], [1.0]], [0.0, 1.0], Grower())
    table = Table.read([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ParameterError, match="the target is categorical"):
        REGRESSION.grow(table, bins_of(table))


def test_fractional_rows_are_refused():
    with pytest.raises(ParameterError, match="missing='fractional' shares out rows of classes"):
        tree_of([[0.0], [1.0]], [0.0, 1.0], Grower(Criterion.SQUARED_ERROR, missing=Missing.FRACTIONAL))
