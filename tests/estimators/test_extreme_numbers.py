"""Extreme numbers are used with the right result, or raise a HornbeamError."""

from copy import copy
from decimal import Decimal

import numpy as np
import pytest
from sklearn.base import clone

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, HornbeamError, ParameterError
from support.estimators import ESTIMATORS, NUMBERS, WEIGHTED, X, Y, answers, fitted

WEIGHT = np.random.default_rng(5).choice([0.5, 1.0, 1.5, 2.75], 60)
CROSS_FITTED_ONLY = (
    "smoothing",
    "pruning",
    "tolerance",
    "random_state",
)
EXTREME = [
    2**31,
    2**63 - 1,
    2**63,
    2**70,
    -(2**70),
    10**400,
    -(10**5_000),
    -1,
    float("nan"),
    float("inf"),
    1e308,
    1j,
    "x",
    b"x",
    [],
    {0: 10**400},
    {(0, 1): 10**5_000},
    [[0, 10**400], [1, 0]],
    np.array([1, 2]),
    object(),
    object,
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_extreme_parameters_are_used_or_refused(name):
    for parameter in ESTIMATORS[name].get_params(deep=False):
        for value in EXTREME:
            estimator = clone(ESTIMATORS[name])
            if hasattr(estimator, "smoothing") and parameter not in CROSS_FITTED_ONLY:
                estimator.smoothing = "raw"
            setattr(estimator, parameter, value)
            try:
                fitted(estimator, X[:12], (NUMBERS if "regressor" in name or name == "quantile" else Y)[:12])
            except HornbeamError:
                continue
            assert np.isfinite(answers(estimator)).all(), (parameter, type(value))


@pytest.mark.parametrize("parameter", ["min_samples_leaf", "max_depth", "random_state", "n_jobs"])
def test_a_huge_parameter_is_refused_with_a_remedy(parameter):
    for value in (2**70, 10**5_000):
        with pytest.raises(ParameterError, match=f"{parameter}=.*expected .*Pass {parameter}="):
            TreeClassifier(**{parameter: value}).fit(X, Y)


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize("weight", [1e308, 1.7976931348623157e308 / 60, 1e150])
def test_weights_whose_sum_is_too_large_are_refused(name, weight):
    with pytest.raises(DataError, match=r"too large to be added up.*Divide all weights by 1e\d+"):
        fitted(clone(ESTIMATORS[name]), sample_weight=WEIGHT * (weight / 2.75))


@pytest.mark.parametrize("name", sorted({*WEIGHTED} - {"smoothed"}))
def test_weights_times_a_power_of_two_give_the_same_model(name):
    shares = [
        answers(fitted(clone(ESTIMATORS[name]), sample_weight=np.ldexp(WEIGHT, k))) for k in (-900, -60)
    ]
    np.testing.assert_array_equal(*shares)
    large = [answers(fitted(clone(ESTIMATORS[name]), sample_weight=np.ldexp(WEIGHT, k))) for k in (70, 400)]
    np.testing.assert_allclose(*large, rtol=0, atol=1e-15)


@pytest.mark.parametrize("power", [-1000, -60, 0, 1, 40, 60, 400])
def test_without_smoothing_the_scale_of_weights_changes_nothing(power):
    weight = np.ldexp(WEIGHT, power)
    expected = TreeClassifier("cart").fit(X, Y, WEIGHT).predict_proba(X)
    np.testing.assert_array_equal(TreeClassifier("cart").fit(X, Y, weight).predict_proba(X), expected)
    mean = TreeRegressor("cart").fit(X, NUMBERS, WEIGHT).predict(X)
    np.testing.assert_allclose(TreeRegressor("cart").fit(X, NUMBERS, weight).predict(X), mean, rtol=1e-9)


def test_a_target_times_weights_that_is_too_large_is_refused():
    with pytest.raises(DataError, match="target times the weights is too large"):
        TreeRegressor().fit(X, NUMBERS * 1e130, WEIGHT * 1e30)


def test_large_weights_are_refused_by_update_forget_and_teachers():
    tree = TreeClassifier().fit(X, Y)
    before = tree.tree_.digest
    for change in (tree.update, tree.forget):
        with pytest.raises(DataError, match="sample_weight"):
            change(X, Y, sample_weight=np.full(60, 1e308))
    assert tree.tree_.digest == before
    with pytest.raises(DataError, match="too large"):
        TreeClassifier(teacher=clone(ESTIMATORS["forest"])).fit(X, Y, np.full(60, 1e308))


@pytest.mark.parametrize("value", [10**400, Decimal("sNaN"), -(10**400)], ids=["huge", "sNaN", "-huge"])
def test_values_that_no_float_can_hold_are_refused(value):
    with pytest.raises(DataError, match="x0"):
        TreeClassifier().fit([[value], [1]], [0, 1])
    with pytest.raises(DataError, match="y"):
        TreeRegressor().fit([[0], [1]], [value, 1])


def test_extreme_method_options_are_used_or_refused():
    tree, mean = TreeClassifier("cart").fit(X, Y), TreeRegressor("cart").fit(X, NUMBERS)
    calls = [
        lambda odd: tree.predict_proba(X, base_rates=odd),
        lambda odd: tree.predict(X, costs=odd),
        lambda odd: tree.predict_interval(X[:5], level=odd),
        lambda odd: mean.predict_interval(X[:5], level=odd),
        lambda odd: copy(tree).update(X, Y, decay=odd),
        lambda odd: copy(tree).update(X, Y, sample_weight=odd),
        lambda odd: copy(mean).forget(X, NUMBERS, sample_weight=odd),
        lambda odd: copy(tree).set_costs(odd),
        lambda odd: copy(tree).update(X[:2], [odd, 0]),
        lambda odd: clone(tree).fit(X, Y, grow_rows=odd),
        lambda odd: clone(tree).fit(X, Y, memory=odd),
        lambda odd: clone(ESTIMATORS["ranker"]).fit(X, Y, query=odd),
        lambda odd: tree.predict([[odd, 1, 1]]),
        lambda odd: tree.predict({"x0": odd, "x1": 1, "x2": 1}),
        tree.predict,
    ]
    for number, call in enumerate(calls):
        for value in [*EXTREME, "\0", "\ud800", Decimal("sNaN")]:
            try:
                call(value)
            except HornbeamError:
                continue
            except Exception as error:
                raise AssertionError(f"call {number} with a {type(value).__name__}") from error


def test_memory_and_grow_rows_may_be_whole_floats(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0, 4.0] * 10, "y": [0, 1, 1, 0] * 10}), path)
    same = [TreeClassifier().fit(str(path), "y", memory=size).tree_.digest for size in (2e9, 2_000_000_000)]
    assert same[0] == same[1]
    with pytest.raises(ParameterError, match=r"memory=2\*\*30"):
        TreeClassifier().fit(str(path), "y", memory=2.5)
