"""Pruning of regression trees: scikit-learn's path, worked numbers, and errors."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

from hornbeam import TreeRegressor
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.pruning import (
    BayesRisk,
    Collapse,
    CostComplexity,
    ErrorBased,
    LeafPrice,
    MinimumError,
    ReducedError,
)
from hornbeam.pruning.cost_complexity import cost_complexity_path, cost_complexity_pruners
from hornbeam.recipe import REGRESSION_PRESETS
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.route import predict_rows
from hornbeam.tuning.cross_validated import CrossValidated
from hornbeam.tuning.folds import FoldAssignment, grow_without_folds


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.mark.parametrize("least", [5, 20])
def test_the_path_is_scikit_learns(diabetes, least):
    X, y = diabetes
    peer = DecisionTreeRegressor(min_samples_leaf=least, random_state=0)
    theirs = peer.cost_complexity_pruning_path(X, y)
    mine = cost_complexity_path(TreeRegressor("cart", min_samples_leaf=least).fit(X, y).tree_)
    alphas, last = np.unique(theirs.ccp_alphas.round(7), return_index=True)
    np.testing.assert_allclose(mine.alphas, alphas, atol=1e-6)
    np.testing.assert_allclose(mine.impurities[-1], theirs.impurities[-1])
    assert len(last) == len(mine.alphas)


@pytest.mark.parametrize("alpha", [10.0, 60.0, 300.0])
def test_the_pruned_tree_is_scikit_learns(diabetes, alpha):
    X, y = diabetes
    peer = DecisionTreeRegressor(min_samples_leaf=5, random_state=0, ccp_alpha=alpha).fit(X, y)
    mine = TreeRegressor("cart", min_samples_leaf=5, pruning=CostComplexity(alpha)).fit(X, y)
    assert mine.tree_.n_leaves == peer.tree_.n_leaves
    np.testing.assert_allclose(mine.predict(X), peer.predict(X))


def test_the_alpha_is_found_on_held_out_rows(diabetes):
    """Compared with a loop: every candidate prunes every fold tree, and predicts every held-out row."""
    X, y = diabetes
    table = Table.read(X, y, target_kind=Kind.NUMERIC)
    recipe = REGRESSION_PRESETS["cart"]
    bins = recipe.bin(table)
    codes = bins.encode(table)
    fold_trees = grow_without_folds(recipe, table, bins, codes, [FoldAssignment.of(table, codes, 5)])
    candidates = cost_complexity_pruners(recipe.grower.grow(table, bins))
    lost, scale = (
        np.zeros((2, len(candidates))),
        2 * StandardisedTarget.of_all(fold_trees.tree).deviation ** 2,
    )
    for one in fold_trees.apart():
        held_out = one.held_out.taken()
        for at, candidate in enumerate(candidates):
            off = (
                predict_rows(candidate(one.tree), held_out)[:, 0] - held_out.numeric_target.values
            ) ** 2 / scale
            lost[:, at] += off.sum(), (off**2).sum()
    mean, square = lost / len(y)
    error = np.sqrt((square - mean**2) / len(y))
    best = int(mean.argmin())
    for simplicity in (0.0, 1.0):
        chosen = CrossValidated(recipe, simplicity=simplicity).choose(table).pruner
        allowed = mean[best] + simplicity * error[best]
        assert chosen.alpha == max(
            c.alpha for c, m in zip(candidates, mean, strict=True) if m <= allowed + 1e-9
        )
    assert TreeRegressor("cart", pruning="cost-complexity").fit(X, y).tree_.n_leaves < 20


def test_reduced_error_pruning_uses_squared_errors(diabetes):
    """The squared error of the pruning rows does not rise."""
    X, y = diabetes
    tree = TreeRegressor("cart", min_samples_leaf=5).fit(X[::2], y[::2]).tree_
    rows = Table.read(X[1::2], y[1::2], schema=tree.schema)
    for search in ("bottom-up", "greedy"):
        pruned = ReducedError(rows, search=search)(tree)
        before, after = (((predict_rows(t, rows)[:, 0] - y[1::2]) ** 2).sum() for t in (tree, pruned))
        assert after <= before
        assert pruned.n_leaves < tree.n_leaves


def test_a_leaf_saves_rows_times_half_squared_deviations():
    """Two leaves of 4 rows at -1 and +1 around a root of deviation 1: each leaf saves 4 / 2, together 4."""
    tree = TreeRegressor("cart").fit([[0]] * 4 + [[1]] * 4, [-1.0] * 4 + [1.0] * 4).tree_
    assert LeafPrice(3.99)(tree).n_leaves == 2
    assert LeafPrice(4.01)(tree).n_leaves == 1


@pytest.mark.parametrize("pruner", [BayesRisk(), Collapse(), ErrorBased(), MinimumError()])
def test_classification_pruners_raise_for_a_regression_tree(pruner):
    tree = TreeRegressor("cart").fit([[0], [1]], [0.0, 1.0]).tree_
    with pytest.raises(ParameterError, match="is about classes, and the target of this tree is numeric"):
        pruner(tree)


@pytest.mark.parametrize("impurity", ["entropy", "error"])
def test_classification_impurities_raise_for_a_regression_tree(impurity):
    tree = TreeRegressor("cart").fit([[0], [1]], [0.0, 1.0]).tree_
    with pytest.raises(ParameterError, match=f"impurity='{impurity}' is about classes"):
        CostComplexity(0.0, impurity)(tree)
