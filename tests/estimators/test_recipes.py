"""The meaning of the parameters of a TreeClassifier."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from hornbeam import ForestClassifier, TreeClassifier
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Criterion
from hornbeam.recipe import PRESETS
from hornbeam.smoothing import HDP, HGS, Laplace
from hornbeam.tree.decision import Costs, DecisionRule
from hornbeam.tree.edit import with_decision
from hornbeam.tuning.cross_validated import CrossValidated
from support.examples import examples

X, y = load_breast_cancer(return_X_y=True)


def grown(classifier):
    """The step that grew the tree, as a dict."""
    return dict(classifier.tree_.history[0].parameters)


@pytest.mark.parametrize("preset", PRESETS)
def test_auto_is_the_value_of_the_preset(preset):
    classifier = TreeClassifier(preset).fit(X, y)
    recipe = PRESETS[preset]
    assert grown(classifier)["criterion"] == recipe.grower.criterion
    assert grown(classifier)["min_weight_leaf"] == (2.0 if preset.startswith("c4") else 0.0)
    steps = [step.name for step in (recipe.pruner, recipe.smoother) if step is not None]
    if preset == "default":  # size and intervals are chosen on the held-out rows, too
        steps += ["size-path", "leaf-price", "borrowing", "interval-calibration"]
    if preset == "c4.5":
        steps = ["collapse", *steps]
        assert dict(classifier.tree_.history[-1].parameters)["raising"]
    assert [step.name for step in classifier.tree_.history] == ["grow", *steps]


def test_a_parameter_overrides_the_preset():
    classifier = TreeClassifier(
        "c4.5", criterion="gini", nominal_split="subset", missing="learned", smoothing="laplace", pruning=None
    ).fit(X, y)
    step = grown(classifier)
    assert (step["criterion"], step["nominal_split"], step["missing"]) == ("gini", "subset", "learned")
    assert [step.name for step in classifier.tree_.history] == ["grow", "laplace"]


@pytest.mark.parametrize("estimator", [TreeClassifier("cart", max_depth=3), ForestClassifier(2, max_depth=3)])
def test_the_random_state_is_the_seed_of_hdp(estimator):
    estimator = estimator.set_params(smoothing="hdp", random_state=3).fit(X, y)
    tree = estimator.tree_ if hasattr(estimator, "tree_") else estimator.forest_.trees[0]
    assert dict(tree.history[-1].parameters)["random_state"] == 3
    passed = clone(estimator).set_params(smoothing=HDP(random_state=3)).fit(X, y)
    assert np.array_equal(estimator.predict_proba(X), passed.predict_proba(X))


def test_enum_members_and_step_objects_are_accepted():
    named = TreeClassifier(criterion="gini", smoothing="hgs").fit(X, y)
    passed = TreeClassifier(criterion=Criterion.GINI, smoothing=HGS()).fit(X, y)
    assert named.tree_.digest == passed.tree_.digest
    doubled = TreeClassifier(criterion="gini", smoothing=lambda tree: Laplace()(Laplace()(tree))).fit(X, y)
    assert [step.name for step in doubled.tree_.history] == ["grow", "laplace", "laplace"]


@pytest.mark.parametrize(
    "setting",
    [
        {"max_depth": 3},
        {"max_depth": np.int64(3)},
        {"min_samples_split": 40},
        {"min_samples_split": 0.1},
        {"min_samples_leaf": 20},
        {"min_samples_leaf": 0.05},
        {"min_weight_fraction_leaf": 0.05},
        {"min_impurity_decrease": 0.01},
        {"max_leaf_nodes": 5},
    ],
)
def test_limits_are_those_of_scikit_learn(setting):
    ours = TreeClassifier("cart", **setting).fit(X, y).tree_
    theirs = DecisionTreeClassifier(random_state=0, **setting).fit(X, y)
    assert ours.n_leaves == theirs.get_n_leaves()
    assert ours.depth == theirs.get_depth()
    assert 1 < ours.n_leaves < TreeClassifier("cart").fit(X, y).tree_.n_leaves


def test_min_weight_fraction_leaf_holds_for_every_leaf():
    weight = np.random.default_rng(0).uniform(0.1, 9.0, len(y))
    tree = TreeClassifier("cart", min_weight_fraction_leaf=0.1).fit(X, y, sample_weight=weight).tree_
    held = (tree.evidence * tree.unit).sum(axis=1) / weight.sum()
    assert held.min() >= 0.1 - 1e-9
    assert tree.n_leaves > 2


def test_limits_above_the_number_of_rows_leave_the_root():
    assert TreeClassifier(min_samples_split=10**12).fit(X, y).tree_.n_leaves == 1
    assert TreeClassifier(min_samples_leaf=10**12).fit(X, y).tree_.n_leaves == 1
    assert TreeClassifier(max_depth=10**12).fit(X, y).tree_.n_leaves > 1


@pytest.mark.parametrize("preset", PRESETS)
def test_fewer_bins_give_fewer_thresholds(preset):
    tree = TreeClassifier(preset, max_bins=4).fit(X, y).tree_
    features = tree.skeleton.feature
    cuts = {
        (f, t) for f, t in zip(features.tolist(), tree.skeleton.threshold.tolist(), strict=True) if f >= 0
    }
    assert all(sum(f == feature for f, _ in cuts) <= 3 for feature in range(X.shape[1]))


def test_auto_bins_are_exact_on_small_data():
    automatic, exact = TreeClassifier().fit(X, y), TreeClassifier(max_bins=None).fit(X, y)
    assert automatic.tree_.digest == exact.tree_.digest
    assert automatic.tree_.digest != TreeClassifier(max_bins=16).fit(X, y).tree_.digest


def test_random_state_changes_only_the_folds_and_threads_nothing():
    tree = TreeClassifier().fit(X, y).tree_
    assert TreeClassifier(n_jobs=-1).fit(X, y).tree_.digest == tree.digest
    dealt = [TreeClassifier(random_state=seed).fit(X, y).tree_ for seed in (0, 3, np.random.RandomState(0))]
    assert dealt[0].digest == tree.digest
    assert len({other.digest for other in dealt}) == 3
    assert len({str(other.history[0]) for other in dealt}) == 1
    plain = [TreeClassifier("cart", random_state=seed).fit(X, y).tree_.digest for seed in (None, 3)]
    assert plain[0] == plain[1]


def test_a_tolerance_in_percent_is_refused():
    with pytest.raises(
        ParameterError, match=r"tolerance=5: expected a share from 0 to 1\. Pass 0\.05 for 5 %"
    ):
        TreeClassifier(tolerance=5).fit(X, y)


def test_tolerance_makes_trees_smaller():
    leaves = [TreeClassifier(tolerance=share).fit(X, y).tree_.n_leaves for share in (0.0, 0.05, 0.2)]
    every = TreeClassifier(pruning=None).fit(X, y).tree_.n_leaves
    assert every > leaves[0] >= leaves[1] >= leaves[2]
    assert leaves[0] > leaves[2] > 1


def test_cost_complexity_is_chosen_within_one_standard_error():
    table = Table.read(X, y)
    chosen = CrossValidated(PRESETS["cart"], simplicity=1.0, seed=2)
    named = TreeClassifier("cart", pruning="cost-complexity", random_state=2).fit(X, y).tree_
    assert named.digest == chosen.fit(table).digest
    costs = [[0, 1], [20, 0]]
    dear = TreeClassifier("cart", smoothing="hgs", pruning="cost-complexity", costs=costs).fit(X, y).tree_
    recipe = replace(PRESETS["cart"], smoother=HGS())
    paid = CrossValidated(recipe, score=Costs(costs), simplicity=1.0)
    assert dear.digest == with_decision(paid.fit(table), DecisionRule(Costs(costs))).digest
    cross_fitted = TreeClassifier(pruning="cost-complexity").fit(X, y).tree_
    assert [step.name for step in cross_fitted.history] == [
        "grow",
        "cost-complexity",
        "borrowing",
        "interval-calibration",
    ]


@examples(40)
@given(st.data())
@pytest.mark.parametrize("smoothing", ["cross-fitted", None, "laplace", "hgs", HGS(alpha=5.0, prior=0.1)])
@pytest.mark.parametrize("missing", ["own", "learned"])
def test_probabilities_keep_monotone_constraints(missing, smoothing, data):
    n = data.draw(st.integers(4, 60))
    seed = data.draw(st.integers(0, 2**32 - 1))
    signs = data.draw(st.tuples(st.sampled_from([-1, 1]), st.sampled_from([-1, 0, 1])))
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, 2)).astype(float)
    y = np.r_[0, 1, rng.random(n - 2) < X[2:, 0] / 6].astype(int)
    classifier = TreeClassifier("cart", missing=missing, smoothing=smoothing, monotonic_cst=signs).fit(X, y)
    grid = np.linspace(-0.5, 6.5, 15)
    predicted = classifier.predict_proba(np.stack(np.meshgrid(grid, grid, indexing="ij"), -1).reshape(-1, 2))
    assert (np.diff(predicted[:, 1].reshape(15, 15), axis=0) * signs[0] >= -1e-12).all()
    assert (np.diff(predicted[:, 1].reshape(15, 15), axis=1) * signs[1] >= -1e-12).all()
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0, rtol=1e-12)


def test_constraints_by_name_equal_constraints_by_position():
    by_name = TreeClassifier(monotonic_cst={"x1": -1}).fit(X[:, :3], y)
    by_place = TreeClassifier(monotonic_cst=[0, -1, 0]).fit(X[:, :3], y)
    assert by_name.tree_.digest == by_place.tree_.digest
    assert by_name.tree_.digest != TreeClassifier().fit(X[:, :3], y).tree_.digest
