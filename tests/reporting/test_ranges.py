"""The section on ranges of single rows: shares, losses and positions, against numbers computed by hand."""

import numpy as np
import pytest

from hornbeam import TreeRegressor, model_card, report
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import score_rows
from hornbeam.reporting.sections.ranges import position_shares, range_grids


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, 5 * X[:, 0] + (0.2 + X[:, 1]) * rng.normal(size=n)


MODELS = {"tree": {}, "terms": {"teacher": "ensemble", "max_leaf_nodes": 4, "slopes": 1}}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return TreeRegressor(distribution=True, **MODELS[request.param]).fit(*rows(400, 0))


def scored(model, X, y):
    reported = ReportedModel.of(model)
    return reported, score_rows(reported, X, y, None, None, None)


def test_shares_and_losses_are_those_of_the_predictions(model):
    X, y = rows(300, 1)
    held, losses = range_grids(*scored(model, X, y))
    for level, (name, share, _) in zip((0.5, 0.8, 0.9), held.rows, strict=True):
        low, high = model.predict_interval(X, level=level, kind="row")
        assert name == f"{100 * level:g} %"
        assert share.startswith(f"{100 * ((low <= y) & (y <= high)).mean():.1f} % (")
    for level, (name, loss) in zip((0.05, 0.1, 0.5, 0.9, 0.95), losses.rows, strict=True):
        apart = y - model.predict_quantile(X, level)
        assert name == f"{100 * level:g} %"
        assert loss == f"{np.maximum(level * apart, (level - 1) * apart).mean():.4g}"


def test_positions_are_even_if_the_model_is_right_and_at_the_ends_if_it_is_too_narrow(model):
    X, _ = rows(4_000, 2)
    y = model.sample(X)[:, 0]
    shares = position_shares(*scored(model, X, y))
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(shares, 0.1, atol=0.02)
    median = model.predict_quantile(X)
    wide = position_shares(*scored(model, X, median + 4 * (y - median)))
    assert wide[[0, -1]].min() > 2.5 * wide[4:6].max()


def test_a_value_with_a_probability_of_its_own_is_spread_evenly():
    model = TreeRegressor(distribution=True).fit(np.zeros((100, 1)), np.repeat([1.0, 2.0], 50))
    shares = position_shares(*scored(model, np.zeros((10, 1)), np.repeat([1.0, 2.0], [2, 8])))
    np.testing.assert_allclose(shares, [0.04] * 5 + [0.16] * 5, atol=1e-9)


def test_pages_have_the_section_only_with_a_distribution(model):
    X, y = rows(60, 3)
    page, card = report(model, X, y).text, model_card(model, X, y).text
    assert 'id="ranges"' in page
    assert "### Ranges of single rows" in card
    assert 'id="ranges"' not in report(model).text
    plain = TreeRegressor().fit(X, y)
    assert 'id="ranges"' not in report(plain, X, y).text
    assert "Ranges of single rows" not in model_card(plain, X, y).text
