"""Poisson and gamma deviance against a slow reference, and laws of trees that are grown by them."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.engine import LocalEngine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.criterion import Criterion, Missing
from hornbeam.growing.grower import Grower
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import Recipe
from hornbeam.tree.route import decision_path
from support.examples import examples
from support.reference_growing import divisions
from support.strategies_growing import bins_of, growers, regression_tables

DEVIANCES = [Criterion.POISSON, Criterion.GAMMA]


def half_deviance(y, w, criterion) -> float:
    """Half the deviance of some rows beside their weighted mean; infinite if all of them are 0."""
    mean = sum(a * b for a, b in zip(w, y, strict=True)) / sum(w)
    if mean == 0:
        return float("inf")
    if criterion is Criterion.POISSON:
        return sum(b * ((a * log(a / mean) if a else 0.0) - (a - mean)) for a, b in zip(y, w, strict=True))
    return sum(b * ((a - mean) / mean - log(a / mean)) for a, b in zip(y, w, strict=True))


def counts(table: Table, criterion: Criterion) -> Table:
    """The table with small counts, among them zeros, as its target; for gamma, one more."""
    values = np.abs(table.numeric_target.values)
    values = np.floor(4 * values / max(values.max(initial=0), 1e-300)) + (criterion is Criterion.GAMMA)
    return replace(table, numeric_target=NumericTarget.of(values, table.weight, table.unit))


def weights(table: Table) -> list[float]:
    return (np.ones(table.n_rows) if table.weight is None else table.weight * table.unit).tolist()


@pytest.mark.parametrize("criterion", DEVIANCES)
@examples(40)
@given(data=st.data())
def test_every_split_has_the_largest_gain(criterion, data):
    table = counts(data.draw(regression_tables(max_rows=24)), criterion)
    grower = replace(data.draw(growers(table)), corrected=False, criterion=criterion, monotonic_cst=None)
    grower = replace(grower, min_samples_leaf=1, min_samples_missing=0, min_weight_leaf=0.0)
    grower = replace(
        grower,
        min_impurity_decrease=0.0,
        interaction_cst=None,
        once_per_path=False,
        forbidden_below=None,
        feature_costs=None,
        max_depth=2,
    )
    tree = grower.grow(table, bins_of(table))
    y, w = table.numeric_target.values.tolist(), weights(table)
    indptr, nodes = decision_path(tree.skeleton, table)
    row_of = np.repeat(np.arange(table.n_rows), np.diff(indptr))

    def loss(rows):
        return half_deviance([y[row] for row in rows], [w[row] for row in rows], criterion)

    def splits(column, feature, rows):
        """All splits by a feature; missing values whose targets are all 0 get no child of their own."""
        nominal = feature.kind is Kind.NOMINAL
        lost = [row for row in rows if (column[row] < 0 if nominal else np.isnan(column[row]))]
        own = not lost or any(y[row] for row in lost)
        return divisions(column, rows, nominal, grower if own else replace(grower, missing=Missing.LEARNED))

    for node in range(tree.n_nodes):
        rows = row_of[nodes == node].tolist()
        total = sum(w[row] for row in rows)
        gains = [
            (loss(rows) - sum(loss(group) for group in groups if group)) / total
            for column, feature in zip(table.columns, table.schema.features, strict=True)
            for groups in splits(column, feature, rows)
            if sum(map(bool, groups)) > 1 and loss(rows) < float("inf")
        ]
        best = max(gains, default=0.0)
        if tree.skeleton.n_children[node]:
            assert tree.gain[node] == pytest.approx(best, rel=1e-6, abs=1e-9)
            children = slice(tree.skeleton.first_child[node], None)
            assert (tree.belief[children][: tree.skeleton.n_children[node]] > 0).all()
        elif len(rows) >= grower.min_samples_split and node == 0:
            assert best < 1e-6


def count_rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 16, (n, 3)) / 16
    exposure = rng.integers(1, 5, n).astype(float)
    return X, rng.poisson(np.exp(2 * X[:, 0] - X[:, 1]) * exposure) + 1.0, exposure


def tree_of(X, y, grower, weight=None):
    table = Table.read(X, y, sample_weight=weight, target_kind=Kind.NUMERIC)
    return grower.grow(table, bins_of(table))


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("criterion", DEVIANCES)
def test_whole_weights_are_copies(criterion, corrected):
    X, y, exposure = count_rows()
    grower = Grower(criterion, corrected=corrected, min_samples_leaf=1)
    copies = np.repeat(np.arange(len(y)), exposure.astype(int))
    weighted, copied = tree_of(X, y, grower, exposure), tree_of(X[copies], y[copies], grower)
    assert weighted.skeleton.threshold.tobytes() == copied.skeleton.threshold.tobytes()
    assert weighted.evidence.tolist() == copied.evidence.tolist()
    assert weighted.gain.tobytes() == copied.gain.tobytes()


@pytest.mark.parametrize("criterion", DEVIANCES)
def test_the_unit_of_the_target_changes_no_split(criterion):
    X, y, exposure = count_rows()
    grower = Grower(criterion, corrected=True)
    one, other = (tree_of(X, y * factor, grower, exposure) for factor in (1.0, 1024.0))
    assert one.skeleton.threshold.tobytes() == other.skeleton.threshold.tobytes()
    factor = 1024.0 if criterion is Criterion.POISSON else 1.0  # gamma deviance has no unit
    np.testing.assert_allclose(other.gain, factor * one.gain, rtol=1e-12)


@pytest.mark.parametrize("criterion", DEVIANCES)
def test_order_threads_and_levels_give_one_digest(criterion):
    X, y, exposure = count_rows()
    grower = Grower(criterion, corrected=True)
    tree, order = tree_of(X, y, grower, exposure), np.random.default_rng(1).permutation(len(y))
    assert tree_of(X[order], y[order], grower, exposure[order]).digest == tree.digest
    table = Table.read(X, y, sample_weight=exposure, target_kind=Kind.NUMERIC)
    assert grower.grow(table, bins_of(table), n_jobs=2).digest == tree.digest
    source, recipe = MemorySource(table, block=70), Recipe(max_bins=None, grower=grower)
    by_level = fit(source, recipe, LocalEngine(), plan=Plan.of(source, recipe, memory=10_000))
    assert by_level.digest == recipe.fit(table).digest == tree.digest


def test_no_child_has_targets_of_0_alone():
    X, y = np.arange(12.0)[:, None], np.array([0.0] * 6 + [3.0] * 6)
    tree = tree_of(X, y, Grower("poisson"))
    assert (tree.belief > 0).all()
    assert tree_of(X, 0 * y, Grower("poisson")).n_leaves == 1
    assert tree_of(X, 0 * y + 2.0, Grower("gamma")).n_leaves == 1


@pytest.mark.parametrize(
    ("criterion", "value", "range_"), [("poisson", -1.0, "of 0 or more"), ("gamma", 0.0, "above 0")]
)
def test_targets_out_of_range_are_refused(criterion, value, range_):
    X, y = np.arange(6.0)[:, None], np.array([1.0, 2.0, 3.0, 4.0, 5.0, value])
    with pytest.raises(DataError, match=f"criterion='{criterion}': expected numbers {range_}"):
        tree_of(X, y, Grower(criterion))
    table = Table.read(X, y, target_kind=Kind.NUMERIC)
    source, recipe = MemorySource(table, block=2), Recipe(max_bins=None, grower=Grower(criterion))
    with pytest.raises(DataError, match=f"criterion='{criterion}'"):
        fit(source, recipe, plan=Plan.of(source, recipe, memory=1))
    classes = Table.read(X, list("aabbab"))
    with pytest.raises(ParameterError, match="the target is categorical"):
        Grower(criterion).grow(classes, bins_of(classes))
