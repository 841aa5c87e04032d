"""Scores of two trees on the same rows: against the scores of each, scipy and slow twins."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import sem
from sklearn.metrics import roc_auc_score

from hornbeam import ForestClassifier, TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, SchemaError
from hornbeam.evaluation import brier_score, log_loss, score_changes, zero_one_loss
from hornbeam.evaluation.discrimination import area_under_curve
from hornbeam.tree import Table
from hornbeam.tree.route import predict_rows


def two_trees(n_classes=2, seed=0, **parameters):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4)).round(2)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int) + (n_classes > 2) * (X[:, 1] > 1)
    trees = [TreeClassifier(max_depth=d, **parameters).fit(X[:200], y[:200]).tree_ for d in (1, 4)]
    return *trees, X[200:], y[200:]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_each_tree(n_classes):
    before, after, X, y = two_trees(n_classes)
    table = Table.read(X, y, schema=before.schema)
    found = {change.name: change for change in score_changes(before, after, table)}
    p, q = (predict_rows(tree, table) for tree in (before, after))
    labels = list(range(n_classes))
    expected = {
        "log loss": [log_loss(y, q, labels=labels) for q in (p, q)],
        "Brier score": [brier_score(y, q, labels=labels) for q in (p, q)],
        "accuracy": [1 - zero_one_loss(y, q, labels=labels) for q in (p, q)],
    }
    if n_classes == 2:
        expected["area under the curve"] = [roc_auc_score(y, q[:, 1]) for q in (p, q)]
    else:
        areas = [[roc_auc_score(y == k, q[:, k]) for k in labels] for q in (p, q)]
        expected["area under the curve"] = np.mean(areas, axis=1).tolist()
    assert list(found) == list(expected)
    for name, pair in expected.items():
        assert (found[name].before, found[name].after) == pytest.approx(pair, rel=1e-12), name
    rows = np.arange(len(y))
    assert found["log loss"].error == pytest.approx(sem(np.log(p[rows, y]) - np.log(q[rows, y])), rel=1e-9)
    one_hot = np.eye(n_classes)[y]
    squares = [((q - one_hot) ** 2).sum(axis=1) for q in (p, q)]
    assert found["Brier score"].error == pytest.approx(sem(squares[1] - squares[0]), rel=1e-9)


scores = st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=30)


@given(scores)
def test_the_error_of_the_auc_is_delongs(rows):
    positive, before, after = (np.array(column) for column in zip(*rows, strict=True))
    m, n = np.count_nonzero(positive), np.count_nonzero(~positive)
    assume(min(m, n) > 0)

    def wins(score):
        above = score[positive][:, None] - score[~positive][None]
        return (above > 0) + 0.5 * (above == 0)

    difference = wins(after) - wins(before)
    variance = difference.mean(axis=1).var() / m + difference.mean(axis=0).var() / n
    (first, influence), (second, pull) = (
        area_under_curve(positive, score.astype(float)) for score in (before, after)
    )
    assert second - first == pytest.approx(difference.mean(), abs=1e-12)
    error = np.sqrt(((pull - influence) ** 2).sum()) / (m + n)
    assert error == pytest.approx(variance**0.5, abs=1e-12)


def test_means_of_weighted_rows_are_those_of_repeated_ones():
    before, after, X, y = two_trees()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = score_changes(before, after, X, y, sample_weight=weight)
    again = np.repeat(np.arange(len(y)), weight)
    repeated = score_changes(before, after, X[again], y[again])
    for one, other in zip(weighted, repeated, strict=True):
        assert (one.before, one.after) == pytest.approx((other.before, other.after), rel=1e-12)
        assert one.error >= other.error, "copies are not more evidence"
    thrice = score_changes(before, after, X, y, sample_weight=3 * weight)
    assert [change.error for change in thrice] == pytest.approx([change.error for change in weighted])
    p, q = (predict_rows(tree, Table.read(X, schema=before.schema)) for tree in (before, after))
    rows, n = np.arange(len(y)), len(y)
    worse = np.log(p[rows, y]) - np.log(q[rows, y])
    deviation = worse - np.average(worse, weights=weight)
    expected = math.sqrt(sum((weight * deviation) ** 2) * n / (n - 1)) / sum(weight)
    assert weighted[0].error == pytest.approx(expected, rel=1e-12)


def test_costs_of_decisions_take_the_place_of_errors():
    before, after, X, y = two_trees(costs=[[0, 1], [9, 0]])
    *_, cost = score_changes(before, after, X, y)
    assert cost.name == "cost per row"
    for tree, mean in ((before, cost.before), (after, cost.after)):
        decided = tree.decision(predict_rows(tree, Table.read(X, schema=tree.schema)))
        assert mean == pytest.approx(np.where(y == decided, 0, np.where(y == 1, 9, 1)).mean())


def test_numbers_have_the_squared_error():
    X, y = np.arange(40.0)[:, None], np.arange(40.0) ** 2
    before, after = (TreeRegressor(max_depth=depth).fit(X[::2], y[::2]).tree_ for depth in (1, 3))
    table = Table.read(X[1::2], y[1::2], schema=before.schema)
    (change,) = score_changes(before, after, table)
    first, second = (((predict_rows(tree, table)[:, 0] - y[1::2]) ** 2) for tree in (before, after))
    assert (change.before, change.after) == pytest.approx((first.mean(), second.mean()))
    assert change.error == pytest.approx(sem(second - first))


def test_rows_of_one_class_have_no_area():
    before, after, X, y = two_trees()
    found = score_changes(before, after, X[y == 1], y[y == 1])
    assert [change.name for change in found] == ["log loss", "Brier score", "accuracy"]
    one = np.append(np.flatnonzero(y == 1), np.flatnonzero(y == 0)[0])
    *_, area = score_changes(before, after, X[one], y[one])
    assert math.isnan(area.error)
    assert "±" not in repr(area)


def test_unusable_rows_are_refused():
    before, after, X, y = two_trees()
    with pytest.raises(DataError, match="target"):
        score_changes(before, after, Table.read(X, schema=before.schema))
    with pytest.raises(SchemaError):
        score_changes(before, after, Table.read(X[y == 1], y[y == 1]))
    with pytest.raises(SchemaError, match="expected the same classes"):
        score_changes(before, TreeRegressor().fit(X, y), X, y)
    with pytest.raises(DataError, match="y is None"):
        score_changes(before, after, X)
    for wrong in ({"groups": [1, 2]}, {"sample_weight": [1, 2]}):
        with pytest.raises(DataError):
            score_changes(before, after, X, y, **wrong)


def test_models_of_any_kind_and_rows_in_files_are_compared(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    y = np.where(rows["a"] + rng.normal(size=300) > 0, "yes", "no")
    tree = TreeClassifier().fit(rows[:200], y[:200])
    forest = ForestClassifier(5, random_state=0).fit(rows[:200], y[:200])
    found = score_changes(tree, forest, rows[200:], y[200:])
    p, q = (model.predict_proba(rows[200:]) for model in (tree, forest))
    loss = found[0]
    assert (loss.before, loss.after) == pytest.approx((log_loss(y[200:], p), log_loss(y[200:], q)))
    rows[200:].assign(y=y[200:]).to_parquet(tmp_path / "rows.parquet", row_group_size=30)
    assert repr(score_changes(tree, forest, str(tmp_path / "rows.parquet"), "y")) == repr(found)


def test_the_area_has_an_error_where_a_class_has_no_held_out_rows():
    before, after, X, y = two_trees(3)
    table = Table.read(X[y < 2], y[y < 2], schema=before.schema)
    [area] = [
        change for change in score_changes(before, after, table) if change.name == "area under the curve"
    ]
    p, q = (predict_rows(tree, table) for tree in (before, after))
    influence = [
        np.mean([area_under_curve(y[y < 2] == k, one[:, k])[1] for k in (0, 1)], axis=0) for one in (p, q)
    ]
    assert area.error == pytest.approx(np.sqrt(((influence[1] - influence[0]) ** 2).sum()) / (y < 2).sum())


def test_rows_of_a_group_are_one_observation():
    """Four copies of each row, as groups, give the error of the rows themselves."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    before, after = (
        TreeClassifier("cart", max_depth=depth, smoothing="laplace").fit(X, y).tree_ for depth in (1, 3)
    )
    new, truth = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    rows = np.repeat(np.arange(30), 4)
    once = score_changes(before, after, new, truth)
    copies = score_changes(before, after, new[rows], truth[rows])
    grouped = score_changes(before, after, new[rows], truth[rows], groups=rows)
    table = Table.read(new[rows], truth[rows], groups=rows, schema=before.schema)
    assert repr(score_changes(before, after, table)) == repr(grouped)
    for one, many, alone in zip(once, grouped, copies, strict=True):
        assert many.error == pytest.approx(one.error)
        assert alone.error < 0.6 * one.error
