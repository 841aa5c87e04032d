"""Strengths and sizes chosen by the deviance of held-out rows."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import mean_gamma_deviance, mean_poisson_deviance

from hornbeam import TreeRegressor
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.pruning.leaf_price import LeafPrice
from hornbeam.recipe import REGRESSION_PRESETS
from hornbeam.tree.route import predict_rows
from hornbeam.tree.several import apart
from hornbeam.tuning.cross_fitted import CrossFitted, fit_strengths
from hornbeam.tuning.size_choice import HeldOutLoss

DEVIANCES = {"poisson": mean_poisson_deviance, "gamma": mean_gamma_deviance}


@pytest.fixture(scope="module", params=DEVIANCES)
def learned(request):
    """The criterion, fold trees, their smoother, and the smoothed trees."""
    rng, n = np.random.default_rng(0), 400
    X, exposure = rng.uniform(size=(n, 4)), rng.uniform(0.2, 2.0, n)
    rate = np.exp(2 * X[:, 0] - 1.5 * (X[:, 1] > 0.5))
    y = rng.poisson(rate * exposure) / exposure if request.param == "poisson" else rate * rng.gamma(2.0, 1, n)
    table = Table.read(X, y, sample_weight=exposure, target_kind=Kind.NUMERIC)
    default = REGRESSION_PRESETS["default"]
    recipe = replace(default, grower=replace(default.grower, criterion=request.param))
    bins = recipe.bin(table)
    fitter = CrossFitted(recipe, folds=4, repeats=1)
    _, folds = fitter.grow_fold_trees(recipe, table, bins, bins.encode(table))
    return request.param, folds, *fit_strengths(folds, loss=request.param)


def held_out_deviance(criterion, trees, folds, finish=lambda tree: tree):
    """The deviance of all held-out rows, one by one."""
    y, predicted, weight = [], [], []
    for (tree, _), sample in zip(apart(trees), folds.held_out.apart(), strict=True):
        rows = sample.taken()
        y += rows.numeric_target.values.tolist()
        predicted += predict_rows(finish(tree), rows)[:, 0].tolist()
        weight += sample.weights.tolist()
    return DEVIANCES[criterion](y, predicted, sample_weight=weight)


def test_held_out_losses_are_those_of_a_slow_loop(learned):
    criterion, folds, _, smoothed = learned
    found = HeldOutLoss.of(folds, smoothed, criterion)
    for at in (0, len(found.price) // 2, len(found.price) - 1):
        price = found.price[at] * (1 + 1e-9)

        def prune(tree, price=price):
            return LeafPrice(price * tree.weight_in_rows[0], criterion)(tree)

        expected = held_out_deviance(criterion, smoothed, folds, prune)
        assert found.loss[at] == pytest.approx(expected, rel=1e-6)


def test_strengths_lower_the_deviance(learned):
    """Nearly at a minimum, which the weak prior of the strengths moves a little; lower than that of squares."""
    criterion, folds, smoother, smoothed = learned
    found = held_out_deviance(criterion, smoothed, folds)
    for name in ("scale", "own"):
        for step in (-0.5, 0.5):
            other = replace(smoother, **{name: getattr(smoother, name) + step})
            assert found < held_out_deviance(criterion, folds.tree, folds, other) + 0.002


def test_a_leaf_saves_half_the_deviance_over_the_dispersion():
    """Two leaves of 4 rows with means 1 and 3 around 2: 4 (log 1/2 + 1) + 4 (3 log 3/2 - 1), over 1 / 2."""
    reg = TreeRegressor("cart", criterion="poisson").fit([[0]] * 4 + [[1]] * 4, [1.0] * 4 + [3.0] * 4)
    saved = 2 * (4 * (np.log(0.5) + 1) + 4 * (3 * np.log(1.5) - 1))
    assert LeafPrice(saved - 0.01, "poisson")(reg.tree_).n_leaves == 2
    assert LeafPrice(saved + 0.01, "poisson")(reg.tree_).n_leaves == 1
    saved = 4 * (4 * (-np.log(0.5) - 0.5) + 4 * (-np.log(1.5) + 0.5))
    assert LeafPrice(saved - 0.01, "gamma")(reg.tree_).n_leaves == 2
    assert LeafPrice(saved + 0.01, "gamma")(reg.tree_).n_leaves == 1
