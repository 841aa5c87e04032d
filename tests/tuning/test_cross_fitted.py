"""Cross-fitting."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

from hornbeam import TreeClassifier
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.evaluation import probability_rmse
from hornbeam.growing.criterion import Missing
from hornbeam.recipe import PRESETS
from hornbeam.smoothing import HGS, LeaveOneOutHGS, Raw
from hornbeam.tree.route import predict_rows
from hornbeam.tuning.cross_fitted import CrossFitted
from hornbeam.tuning.size_path import size_path

DEFAULT = PRESETS["default"]
CANCER = Table.read(*load_breast_cancer(return_X_y=True))


def noisy(n, seed, noise=0.3):
    X, y = make_classification(n, 8, n_informative=3, flip_y=noise, random_state=seed)
    return Table.read(X, y)


def loss(tree, table):
    return probability_rmse(table.target, predict_rows(tree, table))


def test_on_noisy_rows_it_beats_fixed_smoothers_and_the_leave_one_out_optimum():
    both = noisy(3000, 0)
    train, test = both.slice(0, 600), both.slice(600, 3000)
    cross_fitted = loss(CrossFitted(DEFAULT, tolerance=None).fit(train), test)
    for other in (Raw(), HGS(), LeaveOneOutHGS()):
        assert cross_fitted < loss(replace(DEFAULT, smoother=other).fit(train), test) - 0.005


def test_it_borrows_more_where_there_is_more_noise():
    clean, dirty = (CrossFitted(DEFAULT).fit(noisy(500, 1, noise)) for noise in (0.0, 0.6))

    def mean_confidence(tree):
        return tree.belief[tree.skeleton.is_leaf].max(axis=1).mean()

    assert mean_confidence(clean) > mean_confidence(dirty) + 0.05


def test_the_tree_does_not_depend_on_the_order_of_rows_or_threads():
    tree = CrossFitted(DEFAULT).fit(CANCER)
    order = np.random.default_rng(0).permutation(CANCER.n_rows)
    assert CrossFitted(DEFAULT).fit(CANCER.take(order)).digest == tree.digest
    assert CrossFitted(DEFAULT).fit(CANCER, n_jobs=3).digest == tree.digest
    assert CrossFitted(DEFAULT, seed=1).fit(CANCER).digest != tree.digest


def test_the_tree_grows_beside_its_tuning():
    X = np.random.default_rng(0).normal(size=(60_000, 20))
    table = Table.read(X, X[:, 0] + X[:, 1] * X[:, 2] > 0)
    fitter = CrossFitted(DEFAULT, rows=1500)
    assert fitter.fit(table, n_jobs=3).digest == fitter.fit(table).digest


class Untunable(CrossFitted):
    def learn(self, *_, **__):
        raise ParameterError("no settings")


def test_an_error_of_tuning_beside_the_tree_is_raised():
    with pytest.raises(ParameterError, match="no settings"):
        Untunable(DEFAULT).fit(CANCER, n_jobs=2)


def test_strengths_of_a_sample_are_good_for_the_whole_table():
    table = noisy(6000, 2)
    all_rows, some = CrossFitted(DEFAULT, tolerance=None), CrossFitted(DEFAULT, rows=1500, tolerance=None)
    train, test = table.slice(0, 4000), table.slice(4000, 6000)
    whole, part = all_rows.fit(train), some.fit(train)
    np.testing.assert_array_equal(part.evidence, whole.evidence)  # only the strengths are from the sample
    assert loss(part, test) == pytest.approx(loss(whole, test), abs=0.01)
    order = np.random.default_rng(0).permutation(4000)
    assert some.fit(train.take(order)).digest == part.digest


def test_the_pruner_of_the_recipe_is_used():
    pruned = CrossFitted(replace(DEFAULT, pruner=PRESETS["c4.5"].pruner), tolerance=None).fit(CANCER)
    steps = ["grow", "collapse", "error-based", "borrowing", "interval-calibration"]
    assert [step.name for step in pruned.history] == steps


def test_fractional_rows_are_held_out_too():
    recipe = replace(DEFAULT, grower=replace(DEFAULT.grower, missing=Missing.FRACTIONAL))
    saved = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = load_breast_cancer(return_X_y=True)
        X[rng.random(X.shape) < 0.1] = np.nan
        table = Table.read(X, y).take(rng.permutation(len(y)))
        train, test = table.slice(0, 400), table.slice(400, 569)
        raw = loss(replace(recipe, smoother=None).fit(train), test)
        saved.append(raw - loss(CrossFitted(recipe).fit(train), test))
    assert min(saved) > 0.005
    assert np.mean(saved) > 0.015


@pytest.mark.parametrize("n", [1, 2, 3])
def test_it_fits_a_handful_of_rows(n):
    tree = CrossFitted(DEFAULT).fit(Table.read(np.arange(n)[:, None] * 1.0, np.arange(n) % 2))
    assert ((tree.belief > 0) & (tree.belief < 1)).all() or n == 1
    np.testing.assert_allclose(tree.belief.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"folds": 1}, "folds=1: expected 2 or more"),
        ({"rows": 1}, "rows=1: expected 2 or more"),
        ({"tolerance": -0.1}, "a share of 0 or more"),
        ({"tolerance": float("nan")}, "a share of 0 or more"),
    ],
)
def test_parameters_out_of_range_raise(setting, message):
    with pytest.raises(ParameterError, match=message):
        CrossFitted(DEFAULT, **setting)


def test_the_interval_calibration_does_not_depend_on_the_size_of_the_sample():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (6_000, 4)).astype(float)
    table = Table.read(X, rng.random(6_000) < 1 / (1 + np.exp(X.sum(axis=1) - 10)))
    own = [
        dict(CrossFitted(PRESETS["default"], rows=rows).fit(table).history[-1].parameters)["own"]
        for rows in (1_000, 6_000)
    ]
    assert own[0] > own[1] / 2


def test_repeated_folds_make_the_probabilities_of_few_rows_more_stable():
    table = Table.read(*load_breast_cancer(return_X_y=True)).take(np.arange(200))

    def deviation(repeats):
        trees = [CrossFitted(PRESETS["default"], repeats=repeats, seed=seed).fit(table) for seed in range(6)]
        predicted = np.array([predict_rows(tree, table)[:, 1] for tree in trees])
        return float(np.sqrt(predicted.var(axis=0).mean()))

    assert deviation(5) < 0.8 * deviation(1)
    assert (
        CrossFitted(PRESETS["default"]).fit(table).digest
        == CrossFitted(PRESETS["default"], repeats=5).fit(table).digest
    )


def test_from_a_thousand_rows_on_folds_are_not_repeated():
    rng = np.random.default_rng(0)
    table = Table.read(rng.normal(size=(1000, 3)), rng.integers(0, 2, 1000))
    assert (
        CrossFitted(PRESETS["default"]).fit(table).digest
        == CrossFitted(PRESETS["default"], repeats=1).fit(table).digest
    )


def test_a_limit_of_leaves_keeps_those_that_save_most():
    """The limited tree is the whole one at a higher price of a leaf, not one of the largest raw gains."""
    sizes = size_path(CrossFitted(DEFAULT).fit(CANCER)).n_leaves.tolist()
    limited = CrossFitted(DEFAULT, max_leaf_nodes=5).fit(CANCER)
    assert limited.n_leaves == max(n for n in sizes if n <= 5)
    assert size_path(limited).n_leaves.tolist() == [n for n in sizes if n <= 5]


def test_a_limit_of_leaves_under_monotone_constraints_is_one_of_price():
    signs = (-1, *[0] * 29)
    recipe = replace(DEFAULT, grower=replace(DEFAULT.grower, monotonic_cst=signs))
    expected = CrossFitted(recipe, max_leaf_nodes=4).fit(CANCER)
    clf = TreeClassifier(monotonic_cst=signs, max_leaf_nodes=4).fit(*load_breast_cancer(return_X_y=True))
    assert clf.tree_.digest == expected.digest
