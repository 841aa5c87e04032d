"""Scores of two trees on the same rows: against the scores of each, scipy and slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import sem

from hornbeam import Table, TreeClassifier, TreeRegressor
from hornbeam.errors import DataError
from hornbeam.evaluation import brier_score, log_loss, roc_auc, score_changes, zero_one_loss
from hornbeam.evaluation.score_change import _auc_change
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
    for name, score in (("log loss", log_loss), ("Brier score", brier_score), ("error rate", zero_one_loss)):
        expected = score(y, p, labels=labels), score(y, q, labels=labels)
        assert (found[name].before, found[name].after) == pytest.approx(expected, rel=1e-12), name
    rows = np.arange(len(y))
    assert found["log loss"].error == pytest.approx(sem(np.log(p[rows, y]) - np.log(q[rows, y])), rel=1e-9)
    assert ("AUC" in found) == (n_classes == 2)
    if n_classes == 2:
        expected = roc_auc(y, p[:, 1]), roc_auc(y, q[:, 1])
        assert (found["AUC"].before, found["AUC"].after) == pytest.approx(expected, rel=1e-12)


scores = st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=30)


@given(scores)
def test_the_error_of_the_auc_is_delongs(rows):
    positive, before, after = (np.array(column) for column in zip(*rows, strict=True))
    m, n = np.count_nonzero(positive), np.count_nonzero(~positive)
    if min(m, n) < 2:
        return

    def wins(score):
        above = score[positive][:, None] - score[~positive][None]
        return (above > 0) + 0.5 * (above == 0)

    difference = wins(after) - wins(before)
    variance = difference.mean(axis=1).var(ddof=1) / m + difference.mean(axis=0).var(ddof=1) / n
    change = _auc_change(positive, before.astype(float), after.astype(float), np.ones(m + n))
    assert change.difference == pytest.approx(difference.mean(), abs=1e-12)
    assert change.error == pytest.approx(variance**0.5, abs=1e-12)


def test_means_of_weighted_rows_are_those_of_repeated_ones():
    before, after, X, y = two_trees()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = score_changes(before, after, Table.read(X, y, sample_weight=weight, schema=before.schema))
    again = np.repeat(np.arange(len(y)), weight)
    repeated = score_changes(before, after, Table.read(X[again], y[again], schema=before.schema))
    for one, other in zip(weighted, repeated, strict=True):
        assert (one.before, one.after) == pytest.approx((other.before, other.after), rel=1e-12)
        assert one.error >= other.error, "copies are not more evidence"


def test_costs_of_decisions_take_the_place_of_errors():
    before, after, X, y = two_trees(costs=[[0, 1], [9, 0]])
    *_, cost = score_changes(before, after, Table.read(X, y, schema=before.schema))
    assert cost.name == "mean cost"
    decided = before.decision(predict_rows(before, Table.read(X, schema=before.schema)))
    assert cost.before == pytest.approx(np.where(y == decided, 0, np.where(y == 1, 9, 1)).mean())


def test_numbers_have_the_squared_error():
    X, y = np.arange(40.0)[:, None], np.arange(40.0) ** 2
    before, after = (TreeRegressor(max_depth=depth).fit(X[::2], y[::2]).tree_ for depth in (1, 3))
    table = Table.read(X[1::2], y[1::2], schema=before.schema)
    (change,) = score_changes(before, after, table)
    first, second = (((predict_rows(tree, table)[:, 0] - y[1::2]) ** 2) for tree in (before, after))
    assert (change.before, change.after) == pytest.approx((first.mean(), second.mean()))
    assert change.error == pytest.approx(sem(second - first))


def test_rows_without_targets_are_refused():
    before, after, X, _ = two_trees()
    with pytest.raises(DataError, match="the rows have no target; expected a class for each row"):
        score_changes(before, after, Table.read(X, schema=before.schema))
