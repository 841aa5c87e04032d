"""Distillation: new rows near the old ones, a tree near its teacher, and real rows for its evidence."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from hornbeam.data import Table
from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.ensembles.distillation.distillation import Distillation, distillation
from hornbeam.ensembles.distillation.synthetic_rows import SyntheticRows
from hornbeam.ensembles.temperature import apply_temperature
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing import Criterion, Grower
from hornbeam.tree.edit import count_rows
from hornbeam.tree.route import decision_path, predict_rows
from strategies_growing import random_table

FEW = SyntheticRows(least=600, most=2000)


def smooth(seed=0, n=200):
    """Two numbers, and classes with probabilities that change slowly."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    yes = 1 / (1 + np.exp(-6 * (X[:, 0] + X[:, 1] - 1)))
    return Table.read(X, np.where(rng.random(n) < yes, "yes", "no"))


def oracle(table):
    """A teacher who knows the truth of `smooth`."""

    def ask(rows):
        a, b = (column[rows[:, at]] for at, column in enumerate(table.columns))
        yes = 1 / (1 + np.exp(-6 * (a + b - 1)))
        return np.column_stack([1 - yes, yes])

    return ask


# ---- new rows


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 60))
def test_new_rows_have_the_values_of_two_old_ones(seed, n):
    table = random_table(seed, n_rows=n, n_classes=2, n_values=12)
    turns = list(replace(FEW, seed=seed).mix(table))
    assert len(turns) == max(1, round(min(max(30 * n, 600), 2000) / n))
    own = np.arange(n)[:, None]
    for rows in turns:
        assert rows.shape == (n, table.schema.n_features)
        taken = rows != own
        other = np.where(taken, rows, -1).max(axis=1, keepdims=True)
        assert (rows[taken] == np.broadcast_to(other, rows.shape)[taken]).all()


def test_rows_exchange_the_share_that_was_asked_for():
    table = smooth(n=500)
    turns = np.array(list(SyntheticRows(exchange=0.25).mix(table)))
    assert (turns != np.arange(500)[:, None]).mean() == pytest.approx(0.25, abs=0.01)


def test_neighbours_are_alike_in_what_matters():
    rng = np.random.default_rng(1)
    X = np.c_[rng.normal(size=300) + np.repeat([-50, 50], 150), rng.normal(size=300)]
    table = Table.read(X, np.repeat([0, 1], 150))
    for rows in SyntheticRows(per_row=3, least=0).mix(table):
        same = (table.columns[0] > 0) == (table.columns[0][rows.max(axis=1)] > 0)
        assert same.mean() > 0.95  # those on the border of two leaves look across


# ---- the tree


def test_rows_of_several_classes_grow_the_tree_of_squared_distances():
    """Gini's criterion on parts of rows is a regression tree's on the probabilities as outputs."""
    rng = np.random.default_rng(3)
    X, p = rng.random((250, 3)), rng.dirichlet(np.ones(3) * 2, 250).clip(0.02)
    p /= p.sum(axis=1, keepdims=True)
    rows = replace(Table.read(X, rng.integers(0, 3, 250)), target=None)
    soft = distillation._softened(rows, p)
    bins = Bins.fit(MemorySource(soft), LocalEngine(1), max_bins=255)
    ours = Grower(Criterion.GINI, min_weight_leaf=4.999, max_depth=4).grow(soft, bins)
    theirs = DecisionTreeRegressor(min_samples_leaf=5, max_depth=4, random_state=0).fit(X, p)
    assert ours.n_leaves == theirs.get_n_leaves()
    np.testing.assert_allclose(predict_rows(ours, rows), theirs.predict(X), atol=1e-5)


def test_a_tree_comes_near_its_teacher():
    table = smooth()
    tree = Distillation().fit(table, oracle(table))
    new = smooth(seed=9, n=2000)
    truth = oracle(new)(np.repeat(np.arange(2000)[:, None], 2, axis=1))
    assert np.sqrt(((predict_rows(tree, new) - truth) ** 2).mean()) < 0.08


@pytest.mark.parametrize("weight", [None, "whole"])
def test_real_rows_are_the_evidence_and_the_teacher_weighs_thirty(weight):
    table = smooth()
    if weight is not None:
        table = replace(table, weight=np.arange(1, 201))
    tree = Distillation(mixing=FEW).fit(table, oracle(table))
    assert (tree.evidence == count_rows(tree.skeleton, table).evidence).all()
    assert (tree.borrowed == 30).all()
    raw = tree.evidence.sum(axis=1, keepdims=True)
    teacher = (tree.belief * (raw + 30) - tree.evidence) / 30
    np.testing.assert_allclose(teacher.sum(axis=1), 1)
    assert (teacher > 0).all()
    assert tree.history[-1].name == "distill"


def test_the_teacher_speaks_with_the_mean_of_the_leaf_and_a_row_of_each_ancestor():
    table = smooth(n=60)
    ask, mixing = oracle(table), SyntheticRows(least=300, most=300)
    tree = Distillation(mixing=mixing).fit(table, ask)
    turns = [np.repeat(np.arange(60)[:, None], 2, axis=1), *mixing.mix(table)]
    rows = Table(
        table.schema, tuple(np.concatenate([c[r[:, i]] for r in turns]) for i, c in enumerate(table.columns))
    )
    told = np.concatenate([ask(r) for r in turns])
    indptr, nodes = decision_path(tree.skeleton, rows)
    row_of = np.repeat(np.arange(rows.n_rows), np.diff(indptr))
    for node in range(tree.n_nodes):
        parts, above = [told[row_of[nodes == node]]], tree.skeleton.parent[node]
        while above >= 0:
            parts.append(told[row_of[nodes == above]].mean(axis=0, keepdims=True))
            above = tree.skeleton.parent[above]
        mean = np.concatenate(parts).mean(axis=0)
        expected = (tree.evidence[node] + 30 * mean) / (tree.rows[node] + 30)
        np.testing.assert_allclose(tree.belief[node], expected, atol=1e-6)


def test_less_fidelity_is_a_smaller_tree():
    table = smooth()
    leaves = [Distillation(f, mixing=FEW).fit(table, oracle(table)).n_leaves for f in (0.3, 0.8, 0.95, 1.0)]
    assert leaves == sorted(leaves)
    assert leaves[0] >= 2
    assert leaves[0] < leaves[2] < leaves[3]


def test_a_teacher_who_says_the_same_of_all_makes_a_leaf():
    table = smooth()
    tree = Distillation(mixing=FEW).fit(table, lambda rows: np.full((len(rows), 2), [0.25, 0.75]))
    assert tree.n_nodes == 1


def test_held_out_rows_choose_the_temperature_of_the_teacher():
    table = smooth(n=2000)
    ask = oracle(table)
    real = np.repeat(np.arange(2000)[:, None], 2, axis=1)
    timid = apply_temperature(ask(real), 2.0)
    tree = Distillation(mixing=FEW).fit(table, lambda rows: apply_temperature(ask(rows), 2.0), timid)
    assert dict(tree.history[-1].parameters)["temperature"] == pytest.approx(0.5, rel=0.15)
    unheard = np.where(np.arange(2000)[:, None] % 3, timid, np.nan)
    again = Distillation(mixing=FEW).fit(table, lambda rows: apply_temperature(ask(rows), 2.0), unheard)
    assert (
        again.digest == tree.digest
    )  # a row that all have seen is asked of the teacher, who says the same here


def test_a_row_of_zeros_is_no_answer_either():
    table = smooth()
    real = np.repeat(np.arange(200)[:, None], 2, axis=1)
    told = oracle(table)(real)
    trees = [
        Distillation(mixing=FEW).fit(table, oracle(table), np.where(real[:, :1] % 3, told, gap))
        for gap in (np.nan, 0.0)
    ]
    assert trees[0].digest == trees[1].digest


def test_a_few_rows_are_few_questions():
    asked = []

    def ask(rows):
        asked.append(len(rows))
        return np.column_stack([rows[:, 0] % 2, 1 - rows[:, 0] % 2]).astype(float)

    Distillation().fit(Table.read([[0.0], [1.0]], ["a", "b"]), ask)
    assert asked == [2, 10_000]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([0.2, 0.3, 0.5], r"an array of shape \(200, 3\), expected \(200, 2\)"),
        ([np.nan, 1.0], r"answered \[nan, 1.0\]; expected probabilities"),
        ([-0.5, 1.5], r"answered \[-0.5, 1.5\]; expected probabilities"),
        ([0.4, 0.4], r"answered \[0.4, 0.4\]; .* sum to 1"),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(answer, message):
    table = smooth()
    with pytest.raises(DataError, match=message):
        Distillation(mixing=FEW).fit(table, lambda rows: np.full((len(rows), len(answer)), answer))
    if len(answer) == 2:
        with pytest.raises(DataError, match=message):
            Distillation(mixing=FEW).fit(table, oracle(table), np.full((200, 2), answer))


def test_what_is_refused():
    for fidelity in (0, 1.5, np.nan):
        with pytest.raises(ParameterError, match=r"fidelity=.*: expected a number above 0"):
            Distillation(fidelity)
    with pytest.raises(DataError, match="no target"):
        Distillation().fit(replace(smooth(), target=None), oracle(smooth()))
