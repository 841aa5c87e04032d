"""Pruners chosen by cross-validation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, make_classification

from hornbeam.data.row_order import rows_have_copies
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Missing
from hornbeam.pruning import CostComplexity, ErrorBased, LeafBudget, MinimumError
from hornbeam.pruning.cost_complexity import cost_complexity_pruners, cut_alphas
from hornbeam.recipe import PRESETS
from hornbeam.smoothing import HGS, Borrowing, HierarchicalShrinkage, Laplace, MBranch, MEstimate, Raw
from hornbeam.tree.decision import Costs
from hornbeam.tree.route import predict_rows
from hornbeam.tuning.candidate_losses import CandidateLosses, evaluate_alphas, evaluate_pruners, losses
from hornbeam.tuning.cross_fitted import CrossFitted
from hornbeam.tuning.cross_validated import CrossValidated
from hornbeam.tuning.folds import FoldAssignment, grow_without_folds
from support.examples import examples

CART = PRESETS["cart"]
CANCER = Table.read(*load_breast_cancer(return_X_y=True))
PRUNERS = (None, ErrorBased(0.25), ErrorBased(0.05), MinimumError(20.0), LeafBudget(4), CostComplexity(0.05))
COSTS = Costs([[0, 1, 3], [2, -1, 1], [9, 1, 0]])
SCORES = ("brier", "log", "error", COSTS)


def noisy(n, seed, n_classes=3, missing=0.0):
    X, y = make_classification(
        n, 5, n_informative=3, n_redundant=0, n_classes=n_classes, flip_y=0.3, random_state=seed
    )
    X = X.round(1)
    X[np.random.default_rng(seed).random(X.shape) < missing] = np.nan
    return Table.read(X, y)


def fold_trees(recipe, table, n_folds=5, seed=0):
    bins = recipe.bin(table)
    codes = bins.encode(table)
    assignment = FoldAssignment.of(table, codes, n_folds, seed)
    return grow_without_folds(recipe, table, bins, codes, [assignment]).apart()


def row_loss(predicted, true, score):
    """The loss of one row by the textbook definition."""
    truth = np.eye(len(predicted))[true]
    if score == "brier":
        return ((predicted - truth) ** 2).sum()
    if score == "log":
        return -np.log(max(predicted[true], 1e-15))
    if score == "error":
        return float(predicted.argmax() != true)
    return score.matrix[true, score.cheapest([predicted])[0]]


def slow_choice(recipe, candidates, table, score, simplicity, n_folds=5, seed=0):
    """Every candidate on every fold, row by row."""
    lost = [[] for _ in candidates]
    leaves = [0] * len(candidates)
    for one in fold_trees(replace(recipe, pruner=None), table, n_folds, seed):
        rows, others = one.held_out.taken(), one.samples.taken()
        for i, candidate in enumerate(candidates):
            pruner = candidate.with_rows(others) if isinstance(candidate, ErrorBased) else candidate
            tree = one.tree if pruner is None else pruner(one.tree)
            tree = tree if recipe.smoother is None else recipe.smoother(tree)
            leaves[i] += tree.n_leaves
            predicted = predict_rows(tree, rows)
            lost[i] += [row_loss(*each, score) for each in zip(predicted, rows.target, strict=True)]
    lost = np.array(lost)
    mean, error = lost.mean(axis=1), lost.std(axis=1) / lost.shape[1] ** 0.5
    best = min(range(len(candidates)), key=lambda i: (round(mean[i], 9), leaves[i], -i))
    bound = mean[best] + simplicity * error[best] + 1e-9
    within = [i for i in range(len(candidates)) if mean[i] <= bound]
    return candidates[min(within, key=lambda i: (leaves[i], round(mean[i], 9), -i))]


@pytest.mark.parametrize("simplicity", [0.0, 1.0])
@pytest.mark.parametrize("score", SCORES, ids=str)
def test_the_choice_from_a_list_is_that_of_a_slow_loop(score, simplicity):
    chosen = set()
    for seed, recipe in enumerate(
        [CART, PRESETS["c4.4"], replace(CART, smoother=MBranch()), PRESETS["default"]]
    ):
        table = noisy(90, seed)
        cv = CrossValidated(recipe, PRUNERS, score, 3, simplicity, seed)
        found = cv.choose(table).pruner
        assert found == slow_choice(recipe, PRUNERS, table, score, simplicity, 3, seed)
        assert cv.fit(table).digest == replace(recipe, pruner=found).fit(table).digest
        chosen.add(found)
    assert chosen != {None}


@pytest.mark.parametrize("simplicity", [0.0, 1.0])
@pytest.mark.parametrize("score", SCORES, ids=str)
def test_the_choice_on_the_path_is_that_of_a_slow_loop(score, simplicity):
    for seed, smoother in enumerate([None, Laplace(), HGS()]):
        recipe, table = replace(CART, smoother=smoother), noisy(80, seed, missing=0.05)
        candidates = cost_complexity_pruners(CART.fit(table))
        assert len(candidates) > 5
        found = CrossValidated(recipe, score=score, folds=3, simplicity=simplicity).choose(table).pruner
        assert found == slow_choice(recipe, candidates, table, score, simplicity, 3)


@pytest.mark.parametrize("missing", Missing)
@pytest.mark.parametrize(
    "smoother",
    [
        None,
        Raw(),
        Laplace(),
        MEstimate(2.0, "root"),
        HierarchicalShrinkage(5.0),
        HGS(2.0),
        Borrowing(0.5, 0.3),
    ],
    ids=str,
)
def test_one_sweep_gives_the_losses_of_every_alpha(smoother, missing):
    # Fractional rows cannot be combined with constraints.
    signs = None if missing == Missing.FRACTIONAL else (1, -1, 0, 0, 0)
    grower = replace(CART.grower, missing=missing, monotonic_cst=signs)
    recipe, table = replace(CART, grower=grower, smoother=smoother), noisy(150, 3, n_classes=2, missing=0.1)
    for impurity in ("gini", "entropy", "error"):
        pruners = [*cost_complexity_pruners(recipe.fit(table), impurity), CostComplexity(np.inf, impurity)]
        pruners = pruners[::-2] + pruners[::2]  # in no order, some of them twice
        alphas = np.array([each.alpha for each in pruners])
        for one in fold_trees(recipe, table, 2):
            lost = losses(recipe.finish(one.tree).belief, "log")
            fast = evaluate_alphas(alphas, one.tree, cut_alphas(one.tree, impurity), one.held, lost)
            slow = evaluate_pruners(recipe, pruners, one, "log")
            np.testing.assert_array_equal(fast.n_leaves, slow.n_leaves)
            np.testing.assert_allclose(fast.loss, slow.loss, rtol=1e-9)
            np.testing.assert_allclose(fast.square, slow.square, rtol=1e-9)
            assert fast.rows == slow.rows


def test_the_rule_of_one_standard_error_by_hand():
    # Ten rows, 5, 2, 3, 3 and 4 of them predicted wrong: 0.2 with a standard error of sqrt(0.2 * 0.8 / 10) = 0.126.
    wrong = np.array([5.0, 2.0, 3.0, 3.0, 4.0])
    found = CandidateLosses(np.array([9.0, 7.0, 4.0, 3.0, 1.0]), wrong, wrong, 10.0)
    assert found.winner() == 1
    assert found.winner(0.5) == 1  # up to 0.263
    assert found.winner(1.0) == 3  # up to 0.326
    # The order of candidates does not matter.
    turned = CandidateLosses(found.n_leaves[::-1], wrong[::-1], wrong[::-1], 10.0)
    assert (turned.winner(), turned.winner(1.0)) == (3, 1)


def test_of_equals_the_smallest_wins_and_then_the_last():
    lost = np.array([2.0, 2.0 + 1e-15, 2.0, 3.0])
    assert CandidateLosses(np.array([5.0, 3.0, 4.0, 1.0]), lost, lost, 10.0).winner() == 1
    assert CandidateLosses(np.array([5.0, 5.0, 5.0, 1.0]), lost[[0, 0, 0, 3]], lost, 10.0).winner() == 2


def test_losses_add_up_over_folds():
    one, other = (evaluate_pruners(CART, PRUNERS, fold) for fold in fold_trees(CART, noisy(60, 0), 2))
    both = one + other
    assert both.rows == 60
    np.testing.assert_array_equal(both.loss, one.loss + other.loss)
    np.testing.assert_array_equal(both.square, one.square + other.square)
    np.testing.assert_array_equal(both.n_leaves, one.n_leaves + other.n_leaves)


rows = st.integers(2, 25).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.integers(1, 3), min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)


@examples(15)
@given(rows, st.sampled_from(("brier", "log", "error")), st.booleans())
@pytest.mark.parametrize("candidates", [cost_complexity_pruners, PRUNERS], ids=["path", "list"])
def test_the_choice_does_not_depend_on_the_order_or_copies_of_rows(candidates, drawn, score, one_error):
    X, y, weight, order = map(np.array, drawn)
    cv = CrossValidated(PRESETS["c4.4"], candidates, score, 3, float(one_error))
    X = X.astype(float)
    weighted = Table.read(X, y, sample_weight=weight)
    digest = cv.fit(weighted).digest
    again = np.repeat(np.arange(len(y)), weight)
    groups = "copies" if rows_have_copies(weighted) else None
    assert cv.fit(Table.read(X[again], y[again], groups=groups)).digest == digest
    assert cv.fit(Table.read(X[order], y[order], sample_weight=weight[order])).digest == digest
    seventh = cv.fit(Table.read(X, y, sample_weight=weight / 7)).digest
    assert cv.fit(Table.read(X[order], y[order], sample_weight=weight[order] / 7)).digest == seventh


def test_the_choice_does_not_depend_on_threads_but_on_the_seed():
    table = noisy(200, 4)
    cv = CrossValidated(CART)
    assert cv.fit(table, n_jobs=3).digest == cv.fit(table).digest
    assert len({replace(cv, seed=seed).choose(table).pruner for seed in range(8)}) > 1


def test_a_tree_of_noise_is_pruned_to_its_root():
    rng = np.random.default_rng(0)
    table = Table.read(rng.random((200, 4)), rng.integers(0, 2, 200))
    assert CrossValidated(CART, simplicity=1.0).fit(table).n_leaves == 1
    assert CART.fit(table).n_leaves > 40


def test_cross_fitted_smoothing_takes_a_pruner_that_is_chosen():
    cv = CrossValidated(PRESETS["default"], simplicity=1.0)
    tree = CrossFitted(cv, tolerance=None).fit(CANCER)
    assert [step.name for step in tree.history] == [
        "grow",
        "cost-complexity",
        "borrowing",
        "interval-calibration",
    ]
    assert tree.digest == CrossFitted(cv.choose(CANCER), tolerance=None).fit(CANCER).digest


def test_the_pruner_of_the_recipe_is_replaced():
    chosen = CrossValidated(PRESETS["c4.5"], (None,)).choose(CANCER)
    assert chosen == replace(PRESETS["c4.5"], pruner=None)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_it_fits_a_handful_of_rows(n):
    table = Table.read(np.arange(n)[:, None] * 1.0, np.arange(n) % 2)
    assert CrossValidated(CART).fit(table).n_leaves <= n
    if n == 1:
        assert CrossValidated(CART, PRUNERS).choose(table).pruner is PRUNERS[0]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"candidates": ()}, "no candidates: expected at least one pruner"),
        ({"score": "auc"}, "score='auc': expected one of brier, log, error, or Costs"),
        ({"score": Costs(np.zeros((4, 2, 2)))}, "expected one matrix of costs for all rows"),
        ({"folds": 1}, "folds=1: expected 2 or more"),
        ({"simplicity": 1.5}, "simplicity=1.5: expected a number from 0"),
    ],
)
def test_parameters_out_of_range_raise(setting, message):
    with pytest.raises(ParameterError, match=message):
        CrossValidated(CART, **setting)


def test_a_single_pruner_as_candidates_raises():
    with pytest.raises(ParameterError, match="candidates returned a tree: expected a sequence of pruners"):
        CrossValidated(CART, CostComplexity(0.1)).fit(CANCER)
