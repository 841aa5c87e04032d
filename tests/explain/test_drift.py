"""Drift: numbers worked by hand, scipy's tests, early stops, distributed rows, files, and false alarms."""

from dataclasses import fields
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency, ttest_ind_from_stats

from hornbeam import TreeClassifier
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.sources import MemorySource
from hornbeam.errors import DataError, ParameterError, SchemaError
from hornbeam.explain.drift import _chi_square, _holm, _welch, drift
from hornbeam.smoothing import HGS
from hornbeam.smoothing.interval_calibration import IntervalCalibration, effective_size
from hornbeam.tree import Table
from support.examples import examples
from support.scored_models import KINDS, fitted_model, new_rows, write_files
from support.strategies import tables, trees
from support.worked_trees import rows_at, worked_tree


def test_an_example_worked_by_hand():
    """B, A1 and A2 have 4, 3 and 3 of 10 training rows, and 2, 12 and 6 of 20 new rows."""
    tree = worked_tree()
    found = drift(tree, rows_at(tree, {2.0: [2, 0], 0.0: [9, 3], 1.0: [4, 2]}))
    assert found.node.tolist() == [2, 3, 4]
    assert found.rows.tolist() == [2, 12, 6]
    np.testing.assert_allclose(found.expected, [0.4, 0.3, 0.3])
    np.testing.assert_allclose(found.found, [0.1, 0.6, 0.3])
    before, now = np.array([4.5, 3.5, 3.5]) / 11.5, np.array([2.5, 12.5, 6.5]) / 21.5
    np.testing.assert_allclose(found.psi, (now - before) * np.log(now / before))
    assert found.stability_index == pytest.approx(found.psi.sum())
    assert found.psi_p_value == pytest.approx(chi2.sf(found.psi.sum() / (1 / 10 + 1 / 20), 2))
    np.testing.assert_allclose(found.probability, [[1 / 4, 3 / 4], [1, 0], [2 / 3, 1 / 3]])
    np.testing.assert_allclose(found.observed, [[1, 0], [3 / 4, 1 / 4], [2 / 3, 1 / 3]])
    single = [
        chi2_contingency(counts, correction=False).pvalue
        for counts in ([[1, 3], [2, 0]], [[3, 0], [9, 3]], [[2, 1], [4, 2]])
    ]
    ordered = np.sort(single)
    np.testing.assert_allclose(
        np.sort(found.p_value), np.minimum([3 * ordered[0], 2 * ordered[1], ordered[2]], 1)
    )


def test_predictions_count_with_their_effective_size():
    tree = IntervalCalibration(0.5, 0.8)(HGS()(worked_tree()))
    found = drift(tree, rows_at(tree, {2.0: [20, 4]}))
    counts = [tree.belief[2] * effective_size(tree)[2], [20, 4]]
    assert found.p_value[0] == pytest.approx(chi2_contingency(counts, correction=False).pvalue)
    assert np.isnan(found.p_value[1:]).all()  # no rows, nothing to compare
    assert np.isnan(found.observed[1:]).all()


@examples(25)
@given(st.data())
def test_shares_add_up_and_the_index_is_not_negative(data):
    tree = data.draw(trees(max_inner=6))
    table = data.draw(tables(tree.schema, weights=False))
    found = drift(tree, table)
    assert found.found.sum() == pytest.approx(1)
    assert found.rows.sum() == pytest.approx(table.n_rows)
    assert found.expected.sum() == pytest.approx(1.0 if tree.evidence.any() else 0.0)
    assert (found.psi >= 0).all()
    assert 0 <= found.psi_p_value <= 1
    tested = ~np.isnan(found.p_value)
    assert ((found.p_value[tested] >= 0) & (found.p_value[tested] <= 1)).all()
    np.testing.assert_allclose(found.observed[found.rows > 0].sum(axis=1), 1)
    unlabelled = drift(tree, Table(table.schema, table.columns))
    np.testing.assert_array_equal(unlabelled.psi, found.psi)
    assert unlabelled.p_value is None


@examples(40)
@given(st.integers(2, 6), st.integers(0, 99))
def test_the_chi_square_test_matches_scipy(n_classes, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, (5, 2, n_classes)) * rng.integers(0, 2, (5, 1, n_classes))
    counts[:, :, 0] += 1
    sizes = counts.sum(axis=2)
    rates = counts / sizes[:, :, None]
    found = _chi_square(rates[:, 0], sizes[:, 0] * 1.0, rates[:, 1], sizes[:, 1] * 1.0)
    for p, table in zip(found, counts, strict=True):
        table = table[:, table.any(axis=0)]
        expected = chi2_contingency(table, correction=False).pvalue if table.shape[1] > 1 else 1.0
        assert p == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1.0, 2.0**400, 2.0**-400])
def test_welchs_test_matches_scipy_for_targets_of_any_size(scale):
    rng = np.random.default_rng(0)
    means, errors, sizes = rng.normal(size=(2, 9)), rng.uniform(0.2, 2, (2, 9)), rng.integers(2, 9, (2, 9))
    pairs = (means[0], errors[0], sizes[0], means[1], errors[1], sizes[1])
    expected = ttest_ind_from_stats(*pairs, equal_var=False).pvalue
    with np.errstate(over="raise", invalid="raise"):
        found = _welch((means[0] - means[1]) * scale, (errors * scale) ** 2, sizes * 1.0)
    np.testing.assert_allclose(found, expected)


def test_holms_correction():
    np.testing.assert_allclose(_holm(np.array([0.01, 0.04, 0.03, np.nan])), [0.03, 0.06, 0.06, np.nan])
    np.testing.assert_allclose(_holm(np.array([0.5, 0.9])), [1.0, 1.0])


def test_inner_nodes_where_rows_stop_are_listed():
    clf = TreeClassifier(smoothing=None).fit([[0.0]] * 5 + [[1.0]] * 5, [0] * 5 + [1] * 5)
    found = clf.drift([[0.0], [np.nan], [np.nan], [1.0]])
    assert found.node.tolist() == [0, 1, 2]
    assert found.expected.tolist() == [0.0, 0.5, 0.5]
    assert found.found.tolist() == [0.5, 0.25, 0.25]


def test_a_distributed_row_counts_in_every_leaf():
    X = np.array([[0.0]] * 6 + [[1.0]] * 3 + [[np.nan]])
    clf = TreeClassifier("c4.4").fit(X, [0] * 6 + [1] * 3 + [0])
    assert clf.tree_.skeleton.missing_slot[0] == -2
    np.testing.assert_allclose(clf.drift([[np.nan]] * 3).rows, [2.0, 1.0])


def test_columns_have_a_value_per_leaf():
    clf = TreeClassifier(smoothing="laplace").fit([[0.0]] * 5 + [[1.0]] * 5, ["no"] * 5 + ["yes"] * 5)
    labelled = clf.drift([[0.0], [1.0], [1.0]], ["no", "no", "yes"])
    columns = labelled.to_dict()
    assert {len(column) for column in columns.values()} == {2}
    assert columns["observed_no"] == [1.0, 0.5]
    assert columns["observed_yes"] == [0.0, 0.5]
    assert {len(column) for column in clf.drift([[0.0]]).to_dict().values()} == {2}
    assert len(labelled) == 2
    assert len(repr(labelled).splitlines()) == 4


def test_there_is_no_drift_after_updates():
    X, y = [[0.0]] * 50 + [[1.0]] * 50, [0] * 50 + [0, 1] * 25
    new = [[0.0]] * 20 + [[1.0]] * 80, [0] * 20 + [1] * 80
    clf = TreeClassifier().fit(X, y)
    moved = clf.drift(*new)
    assert moved.psi_p_value < 0.01
    assert moved.p_value[1] < 0.001
    for _ in range(20):
        clf.update(*new)
    updated = clf.drift(*new)
    assert updated.psi_p_value > 0.5
    assert updated.p_value.min() > 0.5


def test_unknown_labels_and_columns_are_refused():
    clf = TreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(SchemaError, match="y has the label 2"):
        clf.drift([[0.0]], [2])
    with pytest.raises(SchemaError):
        clf.drift([[0.0, 1.0]])


@pytest.mark.long
def test_unchanged_data_seldom_raises_an_alarm():
    """The tree is grown from one half of the rows, and the other half is compared with it."""
    alarms = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 3))
        y = rng.random(400) < 1 / (1 + np.exp(-X[:, 0] - X[:, 1] * X[:, 2]))
        found = TreeClassifier(tolerance=0.05).fit(X[:200], y[:200]).drift(X[200:], y[200:])
        alarms.append((found.psi_p_value < 0.05, np.nanmin(found.p_value) < 0.05))
    # At a rate of one in twenty, 5 or more of 20 happen once in 400 times.
    assert np.sum(alarms, axis=0).max() < 5


def assert_same_bits(one, other):
    for name in (field.name for field in fields(one)):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)


@pytest.mark.parametrize("kind", KINDS)
def test_files_have_the_bits_of_memory(kind, tmp_path):
    model, target = fitted_model(kind)
    rows = new_rows(500, 2)
    X, folder = rows[["age", "ward", "dose"]], write_files(rows, tmp_path)
    labelled, unlabelled = model.drift(X, rows[target]), model.drift(X)
    weighted = drift(model.tree_, _table(model, rows, target))
    source = scan_parquet(folder, target=target, sample_weight="weight", schema=model.tree_.schema)
    for n_tasks in (1, 3, 16):
        engine = LocalEngine(n_jobs=2, n_tasks=n_tasks, reverse=n_tasks == 3)
        assert_same_bits(model.drift(folder, target, engine=engine), labelled)
        assert_same_bits(model.drift(folder, engine=engine), unlabelled)
        assert_same_bits(model.drift(source, engine=engine), weighted)
    assert_same_bits(model.drift(X, rows[target], sample_weight=rows["weight"]), weighted)
    assert_same_bits(model.drift(folder, target, sample_weight="weight"), weighted)
    assert labelled.stability_index != weighted.stability_index


def _table(model, rows, target):
    return Table.read(
        rows[["age", "ward", "dose"]], rows[target], sample_weight=rows["weight"], schema=model.tree_.schema
    )


def test_a_leaf_with_slopes_predicts_the_mean_of_its_rows():
    model, target = fitted_model("sloped numbers")
    rows = new_rows(500, 2)
    found = drift(model.tree_, _table(model, rows, target))
    X = rows[["age", "ward", "dose"]]
    stop, predicted, weight = model.apply(X), model.predict(X), rows["weight"].to_numpy()
    for node in set(found.node.tolist()) & set(model.tree_.slopes.node.tolist()):
        here = stop == node
        mean = (
            fsum(weight[here] * predicted[here]) / weight[here].sum()
            if here.any()
            else model.tree_.belief[node, 0]
        )
        assert found.probability[found.node == node, 0] == pytest.approx(mean, rel=1e-15)


def test_rows_of_files_are_refused_with_advice(tmp_path):
    model, target = fitted_model("classes")
    folder = write_files(new_rows(50, 2), tmp_path)
    with pytest.raises(ParameterError, match="y is a list; expected the name of their column"):
        model.drift(folder, ["ill"])
    source = scan_parquet(folder, target=target, features=["age", "ward"])
    with pytest.raises(ParameterError, match="expected no y"):
        model.drift(source, target)
    with pytest.raises(ParameterError, match="the feature 'ward' has other categories"):
        model.drift(source)
    empty = Table.read(new_rows(1, 1)[["age", "ward", "dose"]], schema=model.tree_.schema).slice(0, 0)
    with pytest.raises(DataError, match="there are no rows"):
        drift(model.tree_, MemorySource(empty))
