"""Sizes of a tree with their held-out losses, and the choice of one."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.errors import TreeError
from hornbeam.pruning.leaf_price import LeafPrice
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS
from hornbeam.tree.route import predict_rows
from hornbeam.tree.several import apart
from hornbeam.tree.tree import Step
from hornbeam.tuning.cross_fitted import CrossFitted, fit_strengths
from hornbeam.tuning.size_choice import HeldOutLoss, SizeChoice
from hornbeam.tuning.size_path import SizePath, size_path

NOISY = make_classification(700, 10, n_informative=5, n_classes=3, flip_y=0.2, random_state=0)
TABLES = {
    "two classes": Table.read(*load_breast_cancer(return_X_y=True)),
    "three classes": Table.read(*NOISY),
    "weights": Table.read(*load_iris(return_X_y=True), sample_weight=np.arange(150) % 7 + 0.5),
    "number": Table.read(*load_diabetes(return_X_y=True), target_kind=Kind.NUMERIC),
}


@pytest.fixture(scope="module", params=TABLES)
def learned(request):
    """A smoothed tree of all rows, and the smoothed fold trees with their held-out rows."""
    table = TABLES[request.param]
    recipe = (REGRESSION_PRESETS if table.numeric_target else PRESETS)["default"]
    bins = recipe.bin(table)
    _, folds = CrossFitted(recipe, folds=4, repeats=1).grow_fold_trees(
        recipe, table, bins, bins.encode(table)
    )
    smoother, smoothed = fit_strengths(folds)
    tree = replace(recipe, smoother=smoother).finish(recipe.grower.grow(table, bins))
    return tree, folds, smoothed


def slow_loss(folds, smoothed, price):
    """The loss of all held-out rows, one by one, if a leaf has this price times the rows of its tree."""
    total = rows = 0.0
    for (tree, _), sample in zip(apart(smoothed), folds.held_out.apart(), strict=True):
        held_out = sample.taken()
        predicted = predict_rows(LeafPrice(price * tree.weight_in_rows[0])(tree), held_out)
        if tree.is_regression:
            each = (held_out.numeric_target.values - predicted[:, 0]) ** 2
        else:
            each = -np.log(predicted[np.arange(len(predicted)), held_out.target])
        total, rows = total + (sample.weights * each).sum(), rows + sample.weights.sum()
    return total / rows


def test_held_out_losses_are_those_of_a_slow_loop(learned):
    _, folds, smoothed = learned
    found = HeldOutLoss.of(folds, smoothed)
    at = np.linspace(1, len(found.price) - 2, 12).astype(int)
    for price in np.sqrt(
        found.price[at] * found.price[at + 1]
    ):  # between two cuts, where rounding plays no part
        assert found.at(np.array([price]))[0] == pytest.approx(slow_loss(folds, smoothed, price), rel=1e-9)


def test_every_size_is_that_of_a_price(learned):
    tree, folds, smoothed = learned
    held_out = HeldOutLoss.of(folds, smoothed)
    largest = SizeChoice(held_out, 0.0)(tree)
    path = size_path(largest)
    assert path.n_leaves[0] == largest.n_leaves == LeafPrice(held_out.lowest)(tree).n_leaves
    assert path.n_leaves[-1] == 1
    assert (np.diff(path.n_leaves) < 0).all()
    for tolerance in (0.01, 0.05, 0.3, 10.0):
        chosen = SizeChoice(held_out, tolerance)(tree)
        assert chosen.n_leaves == path.smallest(tolerance)
        assert path.increase[path.position(tolerance)] <= tolerance


@pytest.mark.parametrize("estimator", [TreeClassifier, TreeRegressor])
def test_an_estimator_has_the_size_that_its_path_promises(estimator):
    X, y = NOISY if estimator is TreeClassifier else load_diabetes(return_X_y=True)
    path = estimator().fit(X, y).size_path_
    for tolerance in (0.02, 0.1):
        fitted = estimator(tolerance=tolerance).fit(X, y)
        assert fitted.tree_.n_leaves == path.smallest(tolerance) < path.n_leaves[0]
        assert fitted.size_path_.to_dict() == path.to_dict()


def test_a_target_of_small_numbers_has_losses():
    X, y = load_diabetes(return_X_y=True)
    path = TreeRegressor().fit(X, y / 1e6).size_path_
    assert (path.loss > 0).all()
    assert "0.0000" not in repr(path)
    assert TreeRegressor(tolerance=0.1).fit(X, y / 1e6).tree_.n_leaves == path.smallest(0.1) > 1


def test_a_loss_above_0_is_no_tolerance_above_0():
    path = SizePath(np.array([4, 3, 1]), np.array([0.0, 0.0, 1e-9]))
    assert path.smallest(tolerance=10.0) == 3
    assert path.to_dict()["increase"] == [0.0, 0.0, np.inf]


def test_a_price_found_on_a_sample_is_scaled_to_all_rows():
    table = Table.read(*make_classification(8000, 10, n_informative=6, flip_y=0.2, random_state=0))
    recipe = PRESETS["default"]
    sizes = [CrossFitted(recipe, rows=rows, tolerance=0.1).fit(table).n_leaves for rows in (1000, 8000)]
    assert 0.5 < sizes[0] / sizes[1] < 2


def test_the_path_is_saved(tmp_path):
    clf = TreeClassifier(tolerance=0.05).fit(*NOISY)
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    assert hornbeam.load(tmp_path / "model.hornbeam").size_path_.to_dict() == clf.size_path_.to_dict()


def test_other_trees_have_no_path():
    clf = TreeClassifier("cart").fit(*NOISY)
    assert size_path(clf.tree_) is None
    assert not hasattr(clf, "size_path_")
    assert size_path(TreeClassifier().fit([[1.0]], ["a"]).tree_) is None  # nothing was held out


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_leaves": (3, 1)},
        {"n_leaves": (3, 1), "loss": (0.1,)},
        {"n_leaves": (), "loss": ()},
        {"n_leaves": (1, 3), "loss": (0.1, 0.2)},
        {"n_leaves": (3, 0), "loss": (0.1, 0.2)},
        {"n_leaves": (3.5, 1), "loss": (0.1, 0.2)},
        {"n_leaves": (10**30, 1), "loss": (0.1, 0.2)},
        {"n_leaves": (3, 1), "loss": (0.1, float("nan"))},
        {"n_leaves": (3, 1), "loss": (0.1, "much")},
        {"n_leaves": "31", "loss": (0.1, 0.2)},
        {"n_leaves": (3, 1), "loss": (0.1, 0.2), "more": 1},
    ],
)
def test_a_path_that_somebody_made_up_is_refused(parameters):
    tree = TreeClassifier("cart").fit(*NOISY).tree_
    with pytest.raises(TreeError, match="expected decreasing numbers of leaves"):
        size_path(replace_history(tree, Step.of("size-path", **parameters)))


def replace_history(tree, step):
    return tree._edited(history=(step,))


def test_a_step_lists_small_sizes_and_some_large_ones():
    sizes = np.arange(400, 0, -1)
    step = dict(SizePath(sizes, np.linspace(0.1, 1.0, 400)).step().parameters)
    assert step["n_leaves"][0] == 400
    assert step["n_leaves"][-50:] == tuple(range(50, 0, -1))
    assert len(step["n_leaves"]) < 100
    assert len(step["loss"]) == len(step["n_leaves"])


def test_losses_of_smaller_sizes_are_raised_where_fold_trees_had_far_fewer_rows(learned):
    """By the square of the share of rows, at least 0.5 of them; from 0.85 on they are as they were found."""
    tree, folds, smoothed = learned
    held_out = HeldOutLoss.of(folds, smoothed)
    rows = float(tree.weight_in_rows[0])
    paths = [
        size_path(SizeChoice(replace(held_out, rows=share * rows), 0.0)(tree)) for share in (0.9, 0.8, 0.1)
    ]
    for path, share in zip(paths[1:], (0.8, 0.5), strict=True):
        assert path.loss[0] == paths[0].loss[0]
        raised = (paths[0].loss - paths[0].loss[0]) / share**2
        np.testing.assert_allclose(path.loss - path.loss[0], raised, atol=1e-5)  # a history has six decimals
