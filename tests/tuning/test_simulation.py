"""Intervals calibrated on simulated targets."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tuning.calibrate import calibrate_intervals
from hornbeam.tuning.cross_fitted import CrossFitted

DEFAULT = PRESETS["default"]


def credit(n, seed):
    """Late payments, income and two columns of noise; the true probability of a default; and defaults."""
    rng = np.random.default_rng(seed)
    late, income = rng.poisson(0.5, n), rng.lognormal(10.8, 0.5, n).round(2)
    X = np.column_stack([late, income, rng.integers(0, 2, n), rng.integers(18, 80, n)]).astype(float)
    p = 1 / (1 + np.exp(2 - 0.9 * late + (income - 49000) / 40000))
    return X, p, (rng.random(n) < p).astype(int)


def simulation_of(table, recipe):
    bins = recipe.bin(table)
    return CrossFitted(recipe).learn(recipe, table, bins, bins.encode(table)).simulation


def covered(settings, seeds, n=3000):
    """Share of leaves whose 90 % interval covers the true rate."""
    fresh, p, _ = credit(60_000, 999)
    held = []
    for seed in seeds:
        X, _, y = credit(n, seed)
        clf = TreeClassifier(**settings).fit(X, y)
        if "smoothing" in settings:
            clf.calibrate_intervals(X, y)
        node = clf.apply(fresh)
        rows = np.bincount(node, minlength=clf.tree_.n_nodes)
        leaf = clf.tree_.skeleton.is_leaf & (rows > 0)
        truth = (np.bincount(node, p, minlength=clf.tree_.n_nodes)[leaf]) / rows[leaf]
        low, high = (bound[leaf, 1] for bound in interval(clf.tree_))
        held.append((low <= truth) & (truth <= high))
    return np.concatenate(held).mean()


@pytest.mark.parametrize(
    "settings", [{"min_samples_leaf": 50}, {"min_samples_leaf": 50, "smoothing": "hgs"}], ids=str
)
def test_intervals_of_large_leaves_cover_the_truth(settings):
    """A calibration by the disagreement of fold trees covered .65 and .68."""
    assert 0.82 < covered(settings, range(300, 308)) < 0.98


def test_classes_are_drawn_with_the_predicted_probabilities():
    X, _, y = credit(2000, 0)
    simulation = simulation_of(Table.read(X, y), DEFAULT)
    drawn = np.mean([simulation.draw(number).target for number in range(50)], axis=0)
    error = np.sqrt(simulation.truth[:, 1] * simulation.truth[:, 0] / 50)
    assert np.abs((drawn - simulation.truth[:, 1]) / error).mean() == pytest.approx(0.8, abs=0.05)


def test_simulated_residuals_keep_their_size():
    table = Table.read(*load_diabetes(return_X_y=True), target_kind=Kind.NUMERIC)
    simulation = simulation_of(table, REGRESSION_PRESETS["default"])
    mean, drawn = simulation.truth[:, 0], simulation.draw(0).numeric_target.values
    np.testing.assert_allclose(np.abs(drawn - mean), np.abs(simulation.table.numeric_target.values - mean))
    assert (
        0.4 < (np.sign(drawn - mean) == np.sign(simulation.table.numeric_target.values - mean)).mean() < 0.6
    )


@pytest.mark.parametrize("smoothing", ["auto", "hgs", None])
def test_the_calibration_does_not_depend_on_order_threads_or_copies(smoothing):
    X, _, y = credit(400, 1)
    weight = np.random.default_rng(1).integers(1, 4, 400)
    order = np.random.default_rng(2).permutation(400)

    def calibration(rows, target, n_jobs=None, **options):
        clf = TreeClassifier(smoothing=smoothing, n_jobs=n_jobs).fit(rows, target, **options)
        return clf.calibrate_intervals(rows, target, **options).tree_.history[-1]

    once = calibration(X, y)
    assert once.name == "interval-calibration"
    assert calibration(X[order], y[order]) == once
    assert calibration(X, y, n_jobs=3) == once
    assert calibration(X, y, sample_weight=weight) == calibration(
        np.repeat(X, weight, axis=0), np.repeat(y, weight), groups="copies"
    )


def test_calibrating_a_default_tree_again_gives_the_same_intervals():
    X, _, y = credit(500, 2)
    clf = TreeClassifier().fit(X, y)
    before = clf.predict_interval(X)
    np.testing.assert_array_equal(clf.calibrate_intervals(X, y).predict_interval(X), before)


def test_regression_trees_can_be_calibrated():
    X, y = load_diabetes(return_X_y=True)
    raw = TreeRegressor(smoothing="hierarchical-shrinkage").fit(X, y)
    narrow = np.diff(raw.predict_interval(X), axis=0).mean()
    assert np.diff(raw.calibrate_intervals(X, y).predict_interval(X), axis=0).mean() > 1.1 * narrow


def test_fractional_rows_raise():
    X, _, y = credit(100, 0)
    table, recipe = Table.read(X, y), PRESETS["c4.5"]
    with pytest.raises(ParameterError, match=r"missing='fractional'.*expected 'own' or 'learned'"):
        calibrate_intervals(recipe.fit(table), table, recipe)


def test_at_most_ten_thousand_rows_are_used():
    X, _, y = credit(12_000, 3)
    table = Table.read(X, y)
    simulation = simulation_of(table, replace(DEFAULT, grower=replace(DEFAULT.grower, max_depth=3)))
    assert simulation.table.n_rows == len(simulation.codes) == len(simulation.truth) == 10_000
