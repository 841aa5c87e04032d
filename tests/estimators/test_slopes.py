"""Estimators whose tree has slopes in its leaves: predictions, decisions, updates, scores and conversions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import hornbeam
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import InteropError
from hornbeam.estimators.inputs.prediction_columns import TreeColumns
from hornbeam.evaluation import scores
from hornbeam.evaluation.scores import ScoreSums
from hornbeam.interop import to_sklearn
from hornbeam.tree import with_slopes
from hornbeam.tree.evidence.base_rate import adjust_to_rates
from hornbeam.tree.route import predict_rows
from support.reference_slopes import decided, predicted
from support.strategies import slopes_of

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(400, 4)), 1)
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(size=400), [-0.5, 1.0])
ROWS = np.where(RNG.random((200, 4)) < 0.1, np.nan, 3 * RNG.normal(size=(200, 4)))


def fitted(**settings):
    clf = hornbeam.TreeClassifier(**{"smoothing": "laplace", "max_depth": 3} | settings).fit(X, Y)
    clf.tree_ = with_slopes(clf.tree_, slopes_of(clf.tree_, np.random.default_rng(1), 1.0))
    assert len(clf.tree_.slopes) > 5
    return clf


def test_probabilities_and_labels_are_those_of_the_slow_twin():
    clf = fitted()
    p = clf.predict_proba(ROWS)
    assert_array_equal(p, [predicted(clf.tree_, row) for row in ROWS.tolist()])
    assert_allclose(clf.predict_log_proba(ROWS), np.log(p))
    assert clf.predict(ROWS).tolist() == [clf.classes_[decided(clf.tree_, row)] for row in ROWS.tolist()]
    assert_array_equal(p, [clf.row_predictor()(row) for row in ROWS])
    assert (clf.predict(ROWS) != clf.classes_[clf.tree_.decided[clf.apply(ROWS)]]).any()


def test_costs_and_priors_work_on_the_probabilities():
    clf = fitted()
    p, costs = clf.predict_proba(ROWS), np.array([[0.0, 1.0, 9.0], [2.0, 0.0, 1.0], [1.0, 4.0, 0.0]])
    assert_allclose(clf.expected_cost(ROWS, costs=costs), p @ costs)
    assert_array_equal(clf.predict(ROWS, costs=costs), clf.classes_[(p @ costs).argmin(axis=1)])
    prior = np.array([0.2, 0.2, 0.6])
    rate = clf.tree_.evidence[0] / clf.tree_.evidence[0].sum()
    assert_allclose(clf.predict_proba(ROWS, base_rates=prior), adjust_to_rates(p, prior / rate), rtol=1e-9)
    with_costs = fitted(costs=costs)
    assert_array_equal(with_costs.predict(ROWS), with_costs.classes_[with_costs.tree_.decision(p)])


def test_updates_change_the_base_and_keep_the_slopes():
    clf = fitted()
    slopes, before = clf.tree_.slopes, clf.tree_.digest
    clf.update(X[:50], Y[:50])
    assert clf.tree_.slopes is slopes
    assert clf.tree_.digest != before
    plain = hornbeam.TreeClassifier(smoothing="laplace", max_depth=3).fit(X, Y).update(X[:50], Y[:50])
    assert_array_equal(clf.tree_.belief, plain.tree_.belief)
    assert clf.forget(X[:50], Y[:50]).tree_.digest == before


def test_scores_are_those_of_the_rows():
    clf = fitted()
    table = Table.read(X, clf._read_target(Y), schema=clf.tree_.schema)
    p = predict_rows(clf.tree_, table)
    expected = ScoreSums.of(table.target, p, labels=range(3))
    found = scores(clf.tree_, MemorySource(table, block=70)).model
    for measure in ("log_loss", "brier_score", "zero_one_loss"):
        assert found[measure] == pytest.approx(getattr(expected, measure), rel=1e-12)


def test_the_command_line_decides_the_same():
    clf = fitted()
    table = Table.read(ROWS, schema=clf.tree_.schema)
    labels = TreeColumns(clf.tree_)(table)["prediction"].tolist()
    assert labels == clf.predict(ROWS).tolist()


def test_scikit_learn_has_no_slopes():
    with pytest.raises(InteropError, match=r"Node \d+ has slopes, .* which no scikit-learn tree does"):
        to_sklearn(fitted().tree_)


def test_regression():
    reg = hornbeam.TreeRegressor("cart", max_depth=2).fit(X, X[:, 0] + Y)
    reg.tree_ = with_slopes(reg.tree_, slopes_of(reg.tree_, np.random.default_rng(2), 1.0))
    assert reg.predict(ROWS).tolist() == [predicted(reg.tree_, row)[0] for row in ROWS.tolist()]
    slopes = reg.tree_.slopes
    reg.update(X[:20], X[:20, 0] + Y[:20])
    assert reg.tree_.slopes is slopes
