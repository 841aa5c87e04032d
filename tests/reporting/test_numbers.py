"""The report on a regression tree: its scores by hand, its picture, and the page in a real browser."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import hornbeam
from hornbeam.evaluation.score_intervals import mean_curve, regression_scores
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.reliability import round_scale


@pytest.fixture(scope="module")
def tried():
    """A regressor, and rows it has not seen."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.loc[::9, "bmi"] = np.nan
    return hornbeam.TreeRegressor(max_depth=3).fit(X[::2], y[::2]), X[1::2], y[1::2]


def test_scores_are_scikit_learns(tried):
    reg, X, y = tried
    found = {s.name: s for s in regression_scores(ScoredRows.of(ReportedModel.of(reg), X, y), y.mean())}
    predicted = reg.predict(X)
    assert found["root mean squared error"].value == pytest.approx(root_mean_squared_error(y, predicted))
    assert found["mean absolute error"].value == pytest.approx(mean_absolute_error(y, predicted))
    assert found["R²"].value == pytest.approx(r2_score(y, predicted))
    for score in found.values():
        assert score.low < score.value < score.high
        assert score.gain_low < score.gain < score.gain_high


def test_intervals_hold_what_more_rows_would_show():
    """Of rows drawn again and again, about nine in ten samples have the true scores within their intervals."""
    rng = np.random.default_rng(0)
    reg = hornbeam.TreeRegressor("cart").fit([[0.0], [1.0]], [0.0, 2.0])
    reported, inside = ReportedModel.of(reg), []
    truth = {"root mean squared error": 1.0, "mean absolute error": np.sqrt(2 / np.pi), "R²": 0.5}
    gains = {"root mean squared error": np.sqrt(2) - 1, "R²": 0.5}
    for _ in range(300):
        X = rng.integers(0, 2, (200, 1)).astype(float)
        scored = ScoredRows.of(reported, X, 2 * X[:, 0] + rng.normal(size=200))
        scores = {score.name: score for score in regression_scores(scored, 1.0)}
        inside.append(
            [scores[name].low <= value <= scores[name].high for name, value in truth.items()]
            + [scores[name].gain_low <= value <= scores[name].gain_high for name, value in gains.items()]
        )
    assert (np.mean(inside, axis=0) > 0.86).all()


def test_a_target_that_never_changes_has_no_r2():
    reg = hornbeam.TreeRegressor("cart").fit([[0.0], [1.0]], [3.0, 3.0])
    scored = ScoredRows.of(ReportedModel.of(reg), [[0.0], [1.0]], [3.0, 3.0])
    assert np.isnan(regression_scores(scored, 3.0)[-1].value)
    assert "Predicted and seen" in hornbeam.report(reg, [[0.0], [1.0]], [3.0, 3.0]).text


def test_the_curve_groups_rows_by_what_was_said(tried):
    reg, X, y = tried
    curve = mean_curve(ScoredRows.of(ReportedModel.of(reg), X, y))
    assert curve.weight.sum() == len(y)
    assert (curve.weight @ curve.observed) / len(y) == pytest.approx(y.mean())
    assert (np.diff(curve.predicted) > 0).all()


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2, 1e6), (1e-9, 2e-9), (5.0, 5.0), (-1e-3, 1e-3)])
def test_scales_hold_what_is_drawn(low, high):
    begin, end = round_scale(low, high)
    assert begin <= low <= high <= end
    assert end - begin <= 4 * (high - low or 1)


def test_the_page_has_no_decisions_and_the_same_bytes(tried):
    reg, X, y = tried
    page = hornbeam.report(reg, X, y).text
    assert page == hornbeam.report(reg, X, y).text
    assert 'id="decisions"' not in page
    assert 'href="#decisions"' not in page
    assert "Root mean squared error" in page
    assert "better than the" in page


@pytest.mark.parametrize("width", [1280, 390])
def test_the_form_answers_as_predict_does(width, tried, browser, tmp_path):
    reg, X, y = tried
    with browser.page(hornbeam.report(reg, X, y).text, tmp_path, width=width) as page:
        for row in range(0, 60, 12):
            one = X.iloc[[row]]
            page.fill("#row-paste", one.to_csv(index=False))
            predicted = page.inner_text("#row-prediction .verdict b")
            assert float(predicted.replace("−", "-")) == pytest.approx(reg.predict(one)[0], rel=1e-3)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#leaf-table tbody tr").count() == reg.tree_.n_leaves
        assert page.locator("#tree-view [role=treeitem]").count() > 3


@pytest.mark.parametrize("scale", [2.0**-300, 1.0, 2.0**60, 2.0**350])
def test_targets_of_any_size_have_a_report(tried, scale):
    """Squares of such errors, or of their squares, overflow."""
    _, X, y = tried
    reg = hornbeam.TreeRegressor("cart", max_depth=2).fit(X, y * scale)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        found = regression_scores(ScoredRows.of(ReportedModel.of(reg), X, y * scale), (y * scale).mean())
        assert hornbeam.report(reg, X, y * scale).text
    assert all(np.isfinite([score.low, score.value, score.high]).all() for score in found)


def test_an_axis_has_ticks_where_all_numbers_are_one():
    for number in (0.0, 1e-200, 3.0, 1e19, -1e120):
        begin, end = round_scale(number, number)
        assert begin < number < end
