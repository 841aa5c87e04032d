"""Distillation: synthetic rows, fidelity to the teacher, and the evidence of the real rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.ensembles.distillation.distillation import Distillation
from hornbeam.ensembles.distillation.search_rows import _repeated
from hornbeam.ensembles.distillation.synthetic_rows import SyntheticRows
from hornbeam.ensembles.temperature import apply_temperature
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.route import decision_path, predict_rows
from support.examples import examples
from support.strategies_growing import random_table

FEW = SyntheticRows(least=600, most=2000)


def smooth(seed=0, n=200):
    """Two numeric features, and classes with slowly changing probabilities."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    yes = 1 / (1 + np.exp(-6 * (X[:, 0] + X[:, 1] - 1)))
    return Table.read(X, np.where(rng.random(n) < yes, "yes", "no"))


def oracle(table):
    """Return a teacher with the true probabilities of `smooth`."""

    def teacher(rows):
        a, b = (column[rows[:, at]] for at, column in enumerate(table.columns))
        yes = 1 / (1 + np.exp(-6 * (a + b - 1)))
        return np.column_stack([1 - yes, yes])

    return teacher


# ---- synthetic rows


@examples(25)
@given(st.integers(0, 10**6), st.integers(2, 60))
def test_each_synthetic_row_has_the_values_of_two_rows(seed, n):
    table = random_table(seed, n_rows=n, n_classes=2, n_values=12)
    passes = list(replace(FEW, seed=seed).draw(table))
    assert len(passes) == max(1, round(min(max(30 * n, 600), 2000) / n))
    own = np.arange(n)[:, None]
    for rows in passes:
        assert rows.shape == (n, table.schema.n_features)
        taken = rows != own
        other = np.where(taken, rows, -1).max(axis=1, keepdims=True)
        assert (rows[taken] == np.broadcast_to(other, rows.shape)[taken]).all()


def test_rows_exchange_the_given_share_of_values():
    table = smooth(n=500)
    passes = np.array(list(SyntheticRows(exchange=0.25).draw(table)))
    assert (passes != np.arange(500)[:, None]).mean() == pytest.approx(0.25, abs=0.01)


def test_neighbours_are_similar_in_the_features_that_matter():
    rng = np.random.default_rng(1)
    X = np.c_[rng.normal(size=300) + np.repeat([-50, 50], 150), rng.normal(size=300)]
    table = Table.read(X, np.repeat([0, 1], 150))
    for rows in SyntheticRows(per_row=3, least=0).draw(table):
        same = (table.columns[0] > 0) == (table.columns[0][rows.max(axis=1)] > 0)
        assert same.mean() > 0.95  # rows at the border of two leaves may have a neighbour in the other


# ---- the tree


def test_soft_rows_grow_the_regression_tree_of_the_probabilities():
    """Gini's criterion on fractional rows is the squared error of the probabilities as outputs."""
    rng = np.random.default_rng(3)
    X, p = rng.random((250, 3)), rng.dirichlet(np.ones(3) * 2, 250).clip(0.02)
    p /= p.sum(axis=1, keepdims=True)
    rows = replace(Table.read(X, rng.integers(0, 3, 250)), target=None)
    soft = _repeated(rows, p)
    bins = Bins.fit(MemorySource(soft), LocalEngine(1), max_bins=255)
    ours = Grower(Criterion.GINI, min_weight_leaf=4.999, max_depth=4).grow(soft, bins)
    theirs = DecisionTreeRegressor(min_samples_leaf=5, max_depth=4, random_state=0).fit(X, p)
    assert ours.n_leaves == theirs.get_n_leaves()
    np.testing.assert_allclose(predict_rows(ours, rows), theirs.predict(X), atol=1e-5)


def test_the_tree_is_close_to_its_teacher():
    table = smooth()
    tree = Distillation(max_leaf_nodes=1000).fit(table, oracle(table))
    new = smooth(seed=9, n=2000)
    truth = oracle(new)(np.repeat(np.arange(2000)[:, None], 2, axis=1))
    assert np.sqrt(((predict_rows(tree, new) - truth) ** 2).mean()) < 0.08


@pytest.mark.parametrize("weight", [None, "whole"])
def test_real_rows_are_the_evidence_and_the_teacher_counts_as_thirty_rows(weight):
    table = smooth()
    if weight is not None:
        table = replace(table, weight=np.arange(1, 201))
    tree = Distillation(synthetic_rows=FEW).fit(table, oracle(table))
    assert (tree.evidence == count_rows(tree.skeleton, table).evidence).all()
    assert (tree.borrowed == 30).all()
    raw = tree.evidence.sum(axis=1, keepdims=True)
    teacher = (tree.belief * (raw + 30) - tree.evidence) / 30
    np.testing.assert_allclose(teacher.sum(axis=1), 1)
    assert (teacher > 0).all()
    assert tree.history[0].name == "distill"


def test_teacher_means_are_those_of_the_node_and_a_row_of_each_ancestor():
    table = smooth(n=60)
    teacher, synthetic = oracle(table), SyntheticRows(least=300, most=300)
    tree = Distillation(synthetic_rows=synthetic).fit(table, teacher)
    passes = [np.repeat(np.arange(60)[:, None], 2, axis=1), *synthetic.draw(table)]
    rows = Table(
        table.schema, tuple(np.concatenate([c[r[:, i]] for r in passes]) for i, c in enumerate(table.columns))
    )
    predicted = np.concatenate([teacher(r) for r in passes])
    indptr, nodes = decision_path(tree.skeleton, rows)
    row_of = np.repeat(np.arange(rows.n_rows), np.diff(indptr))
    for node in range(tree.n_nodes):
        parts, above = [predicted[row_of[nodes == node]]], tree.skeleton.parent[node]
        while above >= 0:
            parts.append(predicted[row_of[nodes == above]].mean(axis=0, keepdims=True))
            above = tree.skeleton.parent[above]
        mean = np.concatenate(parts).mean(axis=0)
        expected = (tree.evidence[node] + 30 * mean) / (tree.rows[node] + 30)
        np.testing.assert_allclose(tree.belief[node], expected, atol=1e-6)


def test_less_fidelity_gives_a_smaller_tree():
    table = smooth()
    leaves = [
        Distillation(f, synthetic_rows=FEW).fit(table, oracle(table)).n_leaves for f in (0.3, 0.8, 0.95, 1.0)
    ]
    assert leaves == sorted(leaves)
    assert leaves[0] >= 2
    assert leaves[0] < leaves[2] < leaves[3]


def test_a_constant_teacher_gives_a_leaf():
    table = smooth()
    tree = Distillation(synthetic_rows=FEW).fit(table, lambda rows: np.full((len(rows), 2), [0.25, 0.75]))
    assert tree.n_nodes == 1


def test_held_out_rows_choose_the_temperature_of_the_teacher():
    table = smooth(n=2000)
    teacher = oracle(table)
    real = np.repeat(np.arange(2000)[:, None], 2, axis=1)
    timid = apply_temperature(teacher(real), 2.0)
    tree = Distillation(synthetic_rows=FEW).fit(
        table, lambda rows: apply_temperature(teacher(rows), 2.0), timid
    )
    assert dict(tree.history[0].parameters)["temperature"] == pytest.approx(0.5, rel=0.15)
    partly = np.where(np.arange(2000)[:, None] % 3, timid, np.nan)
    again = Distillation(synthetic_rows=FEW).fit(
        table, lambda rows: apply_temperature(teacher(rows), 2.0), partly
    )
    # Rows without a held-out prediction get the teacher's own, which is the same here.
    assert again.digest == tree.digest


def test_a_row_of_zeros_counts_as_no_held_out_prediction():
    table = smooth()
    real = np.repeat(np.arange(200)[:, None], 2, axis=1)
    predicted = oracle(table)(real)
    trees = [
        Distillation(synthetic_rows=FEW).fit(table, oracle(table), np.where(real[:, :1] % 3, predicted, gap))
        for gap in (np.nan, 0.0)
    ]
    assert trees[0].digest == trees[1].digest


def test_the_teacher_is_called_in_batches():
    sizes = []

    def teacher(rows):
        sizes.append(len(rows))
        return np.column_stack([rows[:, 0] % 2, 1 - rows[:, 0] % 2]).astype(float)

    Distillation().fit(Table.read([[0.0], [1.0]], ["a", "b"]), teacher)
    assert sizes == [2, 10_000]


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        ([0.2, 0.3, 0.5], r"an array of shape \(200, 3\) for 200 rows, expected \(200, 2\)"),
        ([np.nan, 1.0], r"returned \[nan, 1.0\]; expected probabilities"),
        ([-0.5, 1.5], r"returned \[-0.5, 1.5\]; expected probabilities"),
        ([0.4, 0.4], r"returned \[0.4, 0.4\]; .* sum to 1"),
    ],
)
def test_predictions_that_are_no_probabilities_are_refused(predicted, message):
    table = smooth()
    with pytest.raises(DataError, match=message):
        Distillation(synthetic_rows=FEW).fit(
            table, lambda rows: np.full((len(rows), len(predicted)), predicted)
        )
    if len(predicted) == 2:
        with pytest.raises(DataError, match=message):
            Distillation(synthetic_rows=FEW).fit(table, oracle(table), np.full((200, 2), predicted))


def test_wrong_fidelity_and_a_table_without_target_are_refused():
    for fidelity in (0, 1.5, np.nan):
        with pytest.raises(ParameterError, match=r"fidelity=.*: expected a number above 0"):
            Distillation(fidelity)
    with pytest.raises(DataError, match="no target"):
        Distillation().fit(replace(smooth(), target=None), oracle(smooth()))
