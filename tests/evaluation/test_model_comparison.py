"""Several models on the same rows: other libraries, published formulas, bootstrap samples, worked numbers and laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hornbeam import TreeClassifier
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import compare

SETS = {
    "breast cancer": (load_breast_cancer, 0, 5),
    "wine": (load_wine, 1, 2),
    "digits": (load_digits, 8, 20),
}


@pytest.fixture(scope="module", params=SETS)
def predicted(request):
    """Labels of half of the rows, the class of interest, and its probability by a tree and two other models."""
    load, positive, n_columns = SETS[request.param]
    X, y = load(return_X_y=True)
    X, y = X[:, :n_columns], (y == positive).astype(int)
    models = {
        "tree": TreeClassifier(),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "bayes": GaussianNB(),
    }
    return y[1::2], {name: m.fit(X[::2], y[::2]).predict_proba(X[1::2])[:, 1] for name, m in models.items()}


def entry(found, score, model, subgroup="all rows"):
    [one] = [one for one in found if (one.name, one.model, one.subgroup) == (score, model, subgroup)]
    return one


def delong(y, first, second):
    """The areas of two scores and the variance of their difference, as published, pair by pair."""
    areas, parts = [], []
    for p in (first, second):
        won = (p[y == 1][:, None] > p[y == 0]) + 0.5 * (p[y == 1][:, None] == p[y == 0])
        areas.append(won.mean())
        parts.append((won.mean(axis=1), won.mean(axis=0)))
    covariance = sum(np.cov([part[side] for part in parts]) / len(parts[0][side]) for side in (0, 1))
    return *areas, covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]


def test_areas_and_their_difference_are_those_of_delong(predicted):
    y, p = predicted
    found = compare(y, p)
    for other in ("logistic", "bayes"):
        first, second, variance = delong(y, p["tree"], p[other])
        one = entry(found, "area under the curve", other)
        assert entry(found, "area under the curve", "tree").value == pytest.approx(first, abs=1e-12)
        assert one.value == pytest.approx(second, abs=1e-12)
        assert one.difference == pytest.approx(second - first, abs=1e-12)
        rows = found._rows
        estimates = [rows.estimates(rows.predicted[name]) for name in ("tree", other)]
        error = (
            estimates[1]["area under the curve", None] - estimates[0]["area under the curve", None]
        ).error()
        assert error == pytest.approx(np.sqrt(variance), rel=1e-10)
        half = (one.difference_high - one.difference_low) / 2
        # Student's t is wider than the normal interval of the paper, the more so the fewer rows matter.
        assert 1.0 <= half / (norm.isf(0.05) * np.sqrt(variance)) < 1.25


def test_intervals_of_differences_are_close_to_the_paired_bootstrap(predicted):
    y, p = predicted
    found, rng = compare(y, p, costs=[[0, 1], [5, 0]]), np.random.default_rng(0)
    rows = found._rows
    drawn = {}
    for _ in range(300):
        at = rng.integers(0, len(y), len(y))
        part = rows.take(at)
        first, second = (part.estimates(part.predicted[name]) for name in ("tree", "logistic"))
        for key in first:
            drawn.setdefault(key[0], []).append(second[key].value - first[key].value)
    for score in ("log loss", "Brier score", "area under the curve", "Gini"):
        one = entry(found, score, "logistic")
        low, high = np.quantile(drawn[score], [0.05, 0.95])
        assert 0.75 < (one.difference_high - one.difference_low) / (high - low) < 1.35, score
        assert low <= one.difference <= high
    first, second = (
        rows.estimates(rows.predicted[name])["cost per row", None] for name in ("tree", "logistic")
    )
    seen = replace(second - first, unseen=0.0)  # what a bootstrap cannot draw is added to decisions
    assert 0.85 < seen.error() / np.std(drawn["cost per row"]) < 1.15


def test_values_are_those_of_scikit_learn(predicted):
    y, p = predicted
    found = compare(y, p)
    for name, values in p.items():
        clipped = np.clip(values, 1e-15, 1 - 1e-15)
        assert entry(found, "log loss", name).value == pytest.approx(metrics.log_loss(y, clipped), rel=1e-9)
        assert entry(found, "Brier score", name).value == pytest.approx(
            2 * metrics.brier_score_loss(y, values)
        )
        assert entry(found, "area under the curve", name).value == pytest.approx(
            metrics.roc_auc_score(y, values)
        )
        slope = entry(found, "calibration slope", name).value
        odds = logit(clipped)
        wanted = (
            LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(odds[:, None] / 10, y).coef_[0, 0]
            / 10
        )
        assert slope == pytest.approx(wanted, rel=1e-3)
        large = entry(found, "calibration in the large", name).value
        assert expit(odds + large).mean() == pytest.approx(y.mean(), abs=1e-9)


def test_net_benefit_and_alerts_worked_by_hand():
    y = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    p = [0.9, 0.6, 0.1, 0.7, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1]
    found = compare(y, {"model": p}, thresholds=[0.25, 0.5])
    # From 0.25 on: two true alerts and two false ones, each worth a third. From 0.5 on: two and one, worth one.
    assert entry(found, "net benefit at 0.25", "model").value == pytest.approx((2 - 2 / 3) / 10)
    assert entry(found, "net benefit at 0.5", "model").value == pytest.approx((2 - 1) / 10)
    assert entry(found, "net benefit at 0.5", "alert for every row").value == pytest.approx((3 - 7) / 10)
    assert entry(found, "alerts per 1,000 at 0.25", "model").value == 400
    assert np.isnan(entry(found, "log loss", "model").difference)


def test_costs_are_those_of_the_cheapest_decisions():
    y, p = ["ill", "ill", "well", "well"], [0.3, 0.1, 0.3, 0.1]
    found = compare(y, {"model": p}, positive="ill", costs={("ill", "well"): 4})
    assert entry(found, "cost per row", "model").value == (0 + 4 + 1 + 0) / 4  # "ill" is decided from 0.2 on


def test_the_interval_of_a_mean_is_student_s():
    y, p = [0, 1] * 30, np.tile([0.2, 0.7, 0.4, 0.6], 15)
    one = entry(compare(y, {"model": p}), "log loss", "model")
    losses = -np.log(np.where(y, p, 1 - p))
    error = losses.std(ddof=1) / np.sqrt(60)
    centred = losses - losses.mean()
    freedom = min(59, 2 * 60 * (centred**2).mean() ** 2 / ((centred**4).mean() - (centred**2).mean() ** 2))
    assert freedom == 59
    assert (one.low, one.high) == pytest.approx(
        (one.value - 1.671093 * error, one.value + 1.671093 * error), rel=1e-6
    )


def two_models(n=120, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    raw = rng.random((2, n, n_classes)) + 0.5 * np.eye(n_classes)[y]
    return y, dict(zip("ab", raw / raw.sum(axis=2, keepdims=True), strict=True))


def numbers(found):
    names = ("value", "low", "high", "difference", "difference_low", "difference_high")
    return np.array([[getattr(one, name) for name in names] for one in found])


@given(st.integers(0, 2**31), st.integers(2, 3), st.booleans())
def test_the_order_of_rows_and_groups_of_one_do_not_matter(seed, n_classes, by_groups):
    y, p = two_models(60, seed, n_classes)
    rng = np.random.default_rng(seed)
    settings = {"costs": 1 - np.eye(n_classes), "thresholds": [0.4] if n_classes == 2 else []}
    groups = rng.integers(0, 12, 60) if by_groups else None
    found = compare(y, p, groups=groups, **settings)
    order = rng.permutation(60)
    again = compare(
        y[order],
        {name: values[order] for name, values in p.items()},
        groups=None if groups is None else groups[order],
        **settings,
    )
    np.testing.assert_allclose(numbers(found), numbers(again), rtol=1e-6, atol=1e-9)
    if not by_groups:
        alone = compare(y, p, groups=np.arange(60), **settings)
        np.testing.assert_allclose(numbers(found), numbers(alone), rtol=0.05, atol=0.02)


def test_the_reference_is_subtracted():
    y, p = two_models()
    found, turned = compare(y, p), compare(y, p, reference="b")
    assert (found.reference, turned.reference) == ("a", "b")
    assert turned.models == ("b", "a")
    one, other = entry(found, "log loss", "b"), entry(turned, "log loss", "a")
    assert (one.difference, one.difference_low) == pytest.approx((-other.difference, -other.difference_high))


def test_a_copy_does_not_differ():
    y, p = two_models()
    found = compare(y, p | {"copy": p["a"]}, costs=[[0, 1], [3, 0]], thresholds=0.3)
    copies = [one for one in found if one.model == "copy" and one.score != "alerts per 1,000"]
    assert {(one.difference, one.difference_low, one.difference_high) for one in copies} == {(0.0, 0.0, 0.0)}


def test_rows_of_a_group_are_one_observation():
    y, p = two_models(80)
    ten = compare(
        np.repeat(y, 10),
        {name: np.repeat(v, 10, axis=0) for name, v in p.items()},
        groups=np.repeat(np.arange(80), 10),
    )
    for score in ("log loss", "Brier score", "calibration in the large", "calibration slope"):
        one, other = entry(compare(y, p), score, "b"), entry(ten, score, "b")
        assert (one.difference, one.difference_low) == pytest.approx(
            (other.difference, other.difference_low), rel=0.02
        )
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=0.02)


def test_weights_count_rows_twice_and_leave_others_out():
    y, p = two_models(50)
    weight = np.tile([1.0, 2.0, 0.0, 1.0, 3.0], 10)
    found = compare(y, p, sample_weight=weight, thresholds=0.5)
    times = weight.astype(int)
    repeated = compare(
        np.repeat(y, times), {n: np.repeat(v, times, axis=0) for n, v in p.items()}, thresholds=0.5
    )
    values = [[one.value for one in part] for part in (found, repeated)]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert found[0].rows == 40


def test_subgroups_are_scored_like_rows_of_their_own():
    y, p = two_models()
    part = np.where(np.arange(120) % 3, "most", "few")
    found = compare(y, p, subgroups=part)
    few = compare(y[::3], {name: values[::3] for name, values in p.items()})
    for score in ("log loss", "area under the curve", "calibration slope"):
        one, alone = entry(found, score, "b", "few"), entry(few, score, "b")
        assert (one.value, one.low, one.difference_high) == (alone.value, alone.low, alone.difference_high)
    assert [one.subgroup for one in found[:6]] == ["all rows"] * 2 + ["few"] * 2 + ["most"] * 2
    assert [row[:3] for row in found._subgroup_table().rows] == [
        ["few", "40", "a"],
        ["few", "40", "b"],
        ["most", "80", "a"],
        ["most", "80", "b"],
    ]


def test_many_classes_and_one_against_the_rest():
    y, p = two_models(90, n_classes=3)
    names = np.array(["one", "three", "two"])
    assert {one.score for one in compare(names[y], p)} == {"log loss", "Brier score"}
    found = compare(names[y], p, positive="two")
    alone = compare(y == 2, {name: values[:, 2] for name, values in p.items()})
    named = compare(names[y], {name: values[:, 2] for name, values in p.items()}, positive="two")
    for score in ("area under the curve", "calibration slope"):
        values = {entry(part, score, "b").low for part in (found, alone, named)}
        assert max(values) == pytest.approx(min(values))
    assert entry(named, "log loss", "a").value == entry(alone, "log loss", "a").value


def test_the_first_class_may_be_of_interest():
    y, p = two_models()
    found = compare(y, p, positive=0)
    alone = compare(y, {name: values[:, 0] for name, values in p.items()}, positive=0)
    assert [one.value for one in found] == pytest.approx([one.value for one in alone])
    assert entry(found, "log loss", "a").value == pytest.approx(entry(compare(y, p), "log loss", "a").value)


def test_what_is_not_defined_is_nan():
    apart = compare([0, 0, 1, 1], {"model": [0.1, 0.2, 0.8, 0.9]})
    assert entry(apart, "area under the curve", "model").value == 1
    assert np.isnan(
        [entry(apart, "area under the curve", "model").low, entry(apart, "calibration slope", "model").value]
    ).all()
    flat = compare([0, 1, 1], {"a": [0.5] * 3, "b": [0.4, 0.5, 0.6]})
    assert np.isnan(entry(flat, "calibration slope", "a").value)
    assert np.isnan(entry(flat, "calibration slope", "b").difference)
    one_class = compare([1, 1], {"a": [0.5, 0.7]}, labels=[0, 1])
    assert np.isnan([entry(one_class, score, "a").value for score in ("KS", "area under the curve")]).all()
    certain = entry(compare([0, 1, 1, 0], {"a": [0.0, 1.0, 0.0, 1.0]}), "log loss", "a")
    assert certain.value == pytest.approx(0.5 * -np.log(1e-15), rel=1e-6)


def test_the_table_to_read():
    y, p = two_models(40)
    text = str(compare(y, p, groups=np.arange(40) % 5))
    assert text.splitlines()[0].split("  ")[0] == "40 rows of 5 groups"
    assert "minus a" in text
    assert "Lower is better: log loss, Brier score." in text
    assert "There are only 5 groups, so intervals are rough." in text
    frame = compare(y, p).to_frame()
    assert list(frame.columns[:6]) == ["subgroup", "rows", "score", "threshold", "model", "value"]


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"predicted": [0.1, 0.2]}, ParameterError, "by its name"),
        ({"predicted": {}}, ParameterError, "by its name"),
        ({"predicted": {"a": [0.1, 0.2, 0.3]}}, DataError, "'a': probabilities of shape"),
        ({"predicted": {"a": [0.1, 1.2]}}, DataError, "'a': Probabilities from"),
        ({"predicted": {"a": [0.1, np.nan]}}, DataError, "'a': Probabilities"),
        ({"reference": "b"}, ParameterError, "reference='b'"),
        ({"thresholds": [0.0]}, ParameterError, "thresholds=0.0"),
        ({"level": 90}, ParameterError, "level=90"),
        ({"groups": [1]}, DataError, "groups has the shape"),
        ({"subgroups": ["a", None]}, DataError, "missing"),
        ({"positive": 7}, ParameterError, "positive=7"),
        ({"costs": [[0, 1]]}, ParameterError, "square matrix"),
        ({"sample_weight": [0, 0]}, DataError, "weight"),
    ],
)
def test_wrong_arguments(settings, error, words):
    with pytest.raises(error, match=words):
        compare([0, 1], **({"predicted": {"a": [0.1, 0.2]}} | settings))


def test_thresholds_need_a_class_of_interest():
    y, p = two_models(30, n_classes=3)
    with pytest.raises(ParameterError, match="positive="):
        compare(y, p, thresholds=0.5)
