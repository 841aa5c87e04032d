"""Minimum-error pruning and the leaf budget."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.errors import ParameterError
from hornbeam.pruning import LeafBudget, MinimumError
from support.strategies import trees
from support.worked_trees import worked_tree


def test_worked_example():
    """A: 6 rows, expected errors 6 * 2/8 = 1.5 against 0.6 + 1.2; root: 10 * 5/12 against 1.5 + 4/3."""
    assert MinimumError()(worked_tree()).evidence.tolist() == [[6, 4], [5, 1], [1, 3]]


def test_without_pseudo_rows_only_useless_splits_are_cut():
    assert MinimumError(m=0)(worked_tree()).n_nodes == 3


def test_worked_m():
    """Errors with m = 2: root 4; A 6 * 1.8/8, B 4 * 2.2/6, A1 3 * .8/5, A2 3 * 1.8/5."""
    pruned = MinimumError(m=2)(worked_tree())
    assert pruned.n_nodes == 3  # A: 1.35 <= 1.56; root: 4 > 2.8167


@given(trees())
def test_pruning_never_adds_leaves(tree):
    for m in (None, 0.0, 2.0):
        assert MinimumError(m)(tree).n_leaves <= tree.n_leaves


def test_parameters_out_of_range_raise():
    with pytest.raises(ParameterError, match="pseudo-rows"):
        MinimumError(-1)
    with pytest.raises(ParameterError, match="a whole number, 1 or more"):
        LeafBudget(0)


@given(trees(), st.integers(1, 8))
def test_leaf_budgets_are_kept_and_nested(tree, n):
    small, large = LeafBudget(n)(tree), LeafBudget(n + 3)(tree)
    assert small.n_leaves <= n
    assert large.n_leaves <= n + 3
    assert LeafBudget(n)(large).digest == small.digest


@pytest.mark.parametrize("name", ["bayes-risk", "collapse", "error-based", "minimum-error"])
@pytest.mark.filterwarnings("ignore:Bayes-risk pruning compares training frequencies")
def test_the_estimator_takes_pruners_by_name(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0) ^ (rng.random(300) < 0.2)
    full = TreeClassifier("id3", pruning=None).fit(X, y).tree_
    pruned = TreeClassifier("id3", pruning=name).fit(X, y).tree_
    if name in ("bayes-risk", "collapse"):  # on raw frequencies they remove useless splits alone
        assert pruned.n_leaves == full.n_leaves
        return
    assert pruned.n_leaves < full.n_leaves
    assert pruned.history[-1].name == name
