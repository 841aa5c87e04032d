"""Boosting: leaf values worked by hand, parity with scikit-learn, and results independent of threads and order."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from hornbeam import ensembles
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.ensembles import Loss, Poisson, QuantileLoss, SquaredError
from hornbeam.ensembles.boosting import losses
from hornbeam.ensembles.boosting.early_stopping import EarlyStopping
from hornbeam.ensembles.boosting.losses import BinaryLogLoss, SoftmaxLoss
from hornbeam.ensembles.boosting.trainer import Boosting, _Rows, _Run
from hornbeam.errors import DataError, HornbeamError, ParameterError
from hornbeam.growing.leafwise import Leafwise
from support.examples import examples
from support.strategies_growing import random_table

SMALL = Leafwise(max_leaf_nodes=7, min_samples_leaf=2)


def regression(seed=0, n=400, missing=0.1, weight=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    y = np.abs(X[:, 0] * 2 + X[:, 1] * X[:, 2] + rng.normal(size=n)).round(3)
    X[rng.random(X.shape) < missing] = np.nan
    return Table.read(X, y, sample_weight=weight, target_kind=Kind.NUMERIC)


def classes(seed=0, n=400, n_classes=2, **kinds):
    return random_table(seed, n_rows=n, n_classes=n_classes, n_values=12, **kinds)


def loss_of(table):
    if table.numeric_target is not None:
        return SquaredError()
    return BinaryLogLoss() if table.schema.n_classes == 2 else SoftmaxLoss(table.schema.n_classes)


# Numbers worked by hand.


def test_logistic_leaves_are_newton_steps():
    """y = (1, 1, 0): the initial score is ln 2, negative gradients are (1/3, 1/3, -2/3), leaves 1.5 and -3."""
    table = Table.read([[0.0], [0.0], [1.0]], [1, 1, 0])
    fitted = Boosting(BinaryLogLoss(), Leafwise(min_samples_leaf=1), 1, learning_rate=1.0).fit(table).boosted
    assert fitted.start[0] == pytest.approx(np.log(2))
    assert fitted.trees[0].belief[1:, 0] == pytest.approx([1.5, -3.0], abs=1e-6)


def test_a_ridge_is_added_to_the_hessians():
    table = Table.read([[0.0], [0.0], [1.0]], [1, 1, 0])
    grower = Leafwise(min_samples_leaf=1, l2_regularization=2.0)
    fitted = Boosting(BinaryLogLoss(), grower, 1, learning_rate=0.5).fit(table).boosted
    expected = [0.5 * (2 / 3) / (4 / 9 + 2), 0.5 * (-2 / 3) / (2 / 9 + 2)]
    assert fitted.trees[0].belief[1:, 0] == pytest.approx(expected, abs=1e-6)


def test_leaves_of_several_classes_are_those_of_friedman():
    """(K - 1) / K times the sum of negative gradients over that of p (1 - p)."""
    table = Table.read([[0.0], [1.0], [1.0], [1.0]], ["a", "b", "b", "c"])
    fitted = Boosting(SoftmaxLoss(3), Leafwise(min_samples_leaf=1), 1, learning_rate=1.0).fit(table).boosted
    assert fitted.start == pytest.approx(np.log([0.25, 0.5, 0.25]))
    of_a = fitted.trees[0].belief[1:, 0]
    assert of_a == pytest.approx([2 / 3 * 0.75 / 0.1875, 2 / 3 * -0.25 / 0.1875], abs=1e-6)


@pytest.mark.parametrize(("quantile", "expected"), [(0.5, [2.0, 20.0]), (0.75, [3.0, 30.0])])
def test_leaves_of_the_quantile_loss_are_quantiles_of_residuals(quantile, expected):
    X, y = [[0.0]] * 3 + [[1.0]] * 3, np.array([1.0, 2.0, 3.0, 10.0, 20.0, 30.0])
    table = Table.read(X, y, target_kind=Kind.NUMERIC)
    fitted = (
        Boosting(QuantileLoss(quantile), Leafwise(min_samples_leaf=1), 1, learning_rate=1.0)
        .fit(table)
        .boosted
    )
    leaves = fitted.start[0] + fitted.trees[0].belief[1:, 0]
    assert leaves.tolist() == expected
    assert fitted.start[0] == np.quantile(y, quantile, method="averaged_inverted_cdf")


# Other libraries.


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_regression_matches_scikit_learn(loss):
    table = regression(missing=0.0)
    X, y = np.column_stack(table.columns), table.numeric_target.values
    peer = HistGradientBoostingRegressor(loss=loss, max_iter=15, max_leaf_nodes=8, early_stopping=False)
    with threadpool_limits(1):
        peer.fit(X, y)
    mine = {"squared_error": SquaredError(), "poisson": Poisson()}[loss]
    fitted = Boosting(mine, Leafwise(max_leaf_nodes=8), 15).fit(table).boosted
    np.testing.assert_allclose(mine.predict(fitted.scores(table))[:, 0], peer.predict(X), rtol=1e-4)


def test_two_classes_match_scikit_learn():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 5)).round(1)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=600) > 0).astype(int)
    peer = HistGradientBoostingClassifier(max_iter=15, max_leaf_nodes=8, early_stopping=False)
    with threadpool_limits(1):
        peer.fit(X, y)
    table = Table.read(X, y)
    fitted = Boosting(BinaryLogLoss(), Leafwise(max_leaf_nodes=8), 15).fit(table).boosted
    np.testing.assert_allclose(fitted.scores(table)[0], peer.decision_function(X), atol=1e-4)


# Invariants.


@given(st.data())
@examples(20)
def test_trees_depend_neither_on_threads_nor_on_row_order(data):
    kind = data.draw(st.sampled_from(["regression", "two", "three"]))
    seed = data.draw(st.integers(0, 99))
    weights = data.draw(st.sampled_from(["none", "whole", "real"]))
    table = (
        regression(seed, 150)
        if kind == "regression"
        else classes(seed, 150, 2 if kind == "two" else 3, weights=weights)
    )
    grower = replace(
        SMALL,
        max_features=data.draw(st.sampled_from([None, 2])),
        l2_regularization=data.draw(st.sampled_from([0, 1.0])),
    )
    boost = Boosting(
        loss_of(table),
        grower,
        4,
        subsample=data.draw(st.sampled_from([1.0, 0.6])),
        stopping=data.draw(
            st.sampled_from([None, EarlyStopping(0.25, 2), EarlyStopping(patience=2, folds=3)])
        ),
        seed=seed,
    )
    order = np.random.default_rng(seed).permutation(table.n_rows)
    assert boost.fit(table.take(order), n_jobs=2).boosted.digest == boost.fit(table).boosted.digest


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
def test_trees_of_many_rows_do_not_depend_on_threads(n_jobs):
    """With enough rows for the kernel to use several threads."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20_000, 6))
    table = Table.read(X, (X[:, 0] * X[:, 1] > rng.normal(size=20_000)).astype(int))
    boost = Boosting(BinaryLogLoss(), Leafwise(), 4, subsample=0.9)
    assert boost.fit(table, n_jobs=n_jobs).boosted.digest == boost.fit(table).boosted.digest


LOSSES = [BinaryLogLoss(), SoftmaxLoss(3), SquaredError(), QuantileLoss(), QuantileLoss(0.2), Poisson()]


def test_the_losses_here_are_all_of_rows():
    """The loss of rankings is that of pairs of rows, and has tests of its own."""
    every = [getattr(losses, name) for name in dir(losses)] + [
        getattr(ensembles, name) for name in ensembles.__all__
    ]
    found = {kind for kind in every if hasattr(kind, "negative_gradients")}
    assert {*map(type, LOSSES)} == found - {Loss}


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_row_of_weight_two_is_two_rows(loss):
    n_classes = {BinaryLogLoss: 2, SoftmaxLoss: 3}.get(type(loss))
    table = regression(2, 120) if n_classes is None else classes(2, 120, n_classes=n_classes)
    weight = np.random.default_rng(0).integers(1, 4, table.n_rows)
    heavy = replace(table, weight=weight.astype(np.int64), unit=1.0)
    boost = Boosting(loss, SMALL, 5)
    again = table.take(np.repeat(np.arange(table.n_rows), weight))
    one, other = boost.fit(heavy).boosted, boost.fit(again).boosted
    np.testing.assert_allclose(one.scores(table), other.scores(table), rtol=1e-12)


def test_scores_of_the_first_rounds_and_of_rows_in_any_form():
    table = regression(2, 120)
    boosted, X = Boosting(loss_of(table), SMALL, 3).fit(table).boosted, np.column_stack(table.columns)
    np.testing.assert_array_equal(boosted.scores(X, n_jobs=2), boosted.scores(table))
    first = replace(boosted, rounds=boosted.rounds[:1])
    np.testing.assert_array_equal(boosted.scores(X, n_estimators=1), first.scores(X))
    for options in {"X": object()}, {"X": X[:, 1:]}, {"X": X, "n_estimators": -1}, {"X": X, "n_jobs": "two"}:
        with pytest.raises(HornbeamError):
            boosted.scores(**options)


@pytest.mark.parametrize("kind", ["regression", "two", "three"])
def test_scores_in_the_loop_are_those_of_the_model(kind):
    """For all rows: sampled or not, held out, with unseen categories or missing values."""
    table = (
        regression(4)
        if kind == "regression"
        else classes(4, n_classes=2 if kind == "two" else 3, n_nominal=2)
    )
    stopping = EarlyStopping(0.3)
    boosting = Boosting(loss_of(table), SMALL, 6, subsample=0.3, stopping=stopping)
    rows = _Rows(boosting, table, 1)
    run = _Run(boosting, rows, ~rows.held_out(stopping)[0], None)
    for _ in range(6):
        run.advance()
    np.testing.assert_allclose(run.boosted(6).scores(table), run.scores, atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_constraints_hold(sign):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 2))
    table = Table.read(X, np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(size=500), target_kind=Kind.NUMERIC)
    for ridge in (0.0, 5.0):
        grower = Leafwise(monotonic_cst=(sign, 0), min_samples_leaf=5, l2_regularization=ridge)
        fitted = Boosting(SquaredError(), grower, 20).fit(table).boosted
        line = np.linspace(-3, 3, 200)
        for other in (-1.0, 0.3):
            scores = fitted.scores(
                Table.read(np.column_stack([line, np.full(200, other)]), schema=table.schema)
            )[0]
            assert (sign * np.diff(scores) >= 0).all()


def test_trees_keep_to_the_limits_of_leaves_depth_and_rows():
    table = regression(6)
    for grower in (Leafwise(5), Leafwise(None, max_depth=2), Leafwise(min_samples_leaf=50)):
        for tree in Boosting(SquaredError(), grower, 3).fit(table).boosted.trees:
            leaf = tree.skeleton.is_leaf
            assert tree.n_leaves <= (grower.max_leaf_nodes or np.inf)
            assert tree.depth <= (grower.max_depth or np.inf)
            assert tree.rows[leaf].min() >= grower.min_samples_leaf


def test_early_stopping_keeps_the_rounds_up_to_the_smallest_loss():
    table = classes(7, 300)
    result = Boosting(BinaryLogLoss(), SMALL, 200, learning_rate=0.5, stopping=EarlyStopping(0.3, 5)).fit(
        table
    )
    best = int(np.argmin(result.losses))
    assert len(result.boosted.rounds) == best
    assert len(result.losses) == best + 1 + 5


@pytest.mark.parametrize("kind", ["regression", "two", "three", "weighted"])
def test_rounds_chosen_by_folds_are_those_of_least_loss_of_each_row_without_its_fold(kind):
    """The slow way: a model of its own for each fold and each number of rounds, then one of all rows."""
    table = regression(3, 90, weight=np.arange(90) % 3 + 1 if kind == "weighted" else None)
    if kind in ("two", "three"):
        cuts = [1.5] if kind == "two" else [0.7, 2.0]
        table = Table.read(np.column_stack(table.columns), np.digitize(table.numeric_target.values, cuts))
    loss, most = loss_of(table), 12
    boosting = Boosting(loss, SMALL, most, learning_rate=0.3, stopping=EarlyStopping(patience=3, folds=3))
    result = boosting.fit(table)
    plain = replace(boosting, stopping=None)
    rows = _Rows(boosting, table, 1)
    target, weight = rows.target, np.ones(90) if rows.weight is None else rows.weight
    folds = rows.held_out(boosting.stopping)
    np.testing.assert_array_equal(np.sum(folds, axis=0), 1)
    expected = []
    for n_rounds in range(len(result.losses)):
        total = 0.0
        for held in folds:
            run = _Run(boosting, rows, ~held, None)
            for _ in range(n_rounds):
                run.advance()
            part = table.take(np.flatnonzero(held))
            total += weight[held] @ loss.row_losses(run.boosted(n_rounds).scores(part), target[held])
        expected.append(total / weight.sum())
    np.testing.assert_allclose(result.losses, expected, rtol=1e-9)
    best = int(np.argmin(expected))
    assert 0 < best == len(result.boosted.rounds)
    assert len(expected) == min(best + 3, most) + 1
    assert result.boosted.digest == replace(plain, n_rounds=best).fit(table).boosted.digest


def test_wrong_parameters_and_targets_are_refused():
    with pytest.raises(ParameterError, match="monotonic_cst constrains means"):
        Boosting(QuantileLoss(), Leafwise(monotonic_cst=(1,)))
    for wrong in ({"n_rounds": 0}, {"learning_rate": 0.0}, {"subsample": 1.5}):
        with pytest.raises(ParameterError, match="expected"):
            Boosting(SquaredError(), **wrong)
    with pytest.raises(DataError, match="nowhere negative"):
        Boosting(Poisson()).fit(Table.read([[1.0], [2.0]], [-1.0, 2.0], target_kind=Kind.NUMERIC))
    with pytest.raises(DataError, match="no target"):
        Boosting(SquaredError()).fit(Table.read([[1.0], [2.0]]))
