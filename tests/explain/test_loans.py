"""Loans: who lent, and that belief is what own and borrowed rows say together."""

import numpy as np
import pytest
from hypothesis import given, settings

from hornbeam import TreeClassifier
from hornbeam.explain import borrowed_rows
from hornbeam.smoothing import (
    HDP,
    HGS,
    Borrowing,
    GradientHGS,
    HierarchicalShrinkage,
    Laplace,
    LeaveOneOutHGS,
    MBranch,
    MEstimate,
    Raw,
)
from hornbeam.tree import Step, raw_belief
from hornbeam.tree.edit import with_belief
from strategies import trees
from worked_trees import worked_tree

LENDING = [
    HGS(2.0, 0.5),
    GradientHGS(),
    LeaveOneOutHGS(),
    Borrowing(0.3, 0.2, -0.4, 0.5, -1.0, -0.3),
    HierarchicalShrinkage(3.0),
    Laplace(),
    MEstimate(2.0, "root"),
    MEstimate(2.0),
]


def pooled(tree, node):
    """Own rows, and those that were lent, of whom it is said."""
    raw = raw_belief(tree.skeleton, tree.evidence)
    alike = np.full(tree.n_classes, 1 / tree.n_classes)
    rows = (tree.evidence[node] * tree.unit).astype(float)
    for loan in borrowed_rows(tree, node):
        rows += loan.rows * (alike if loan.lender is None else raw[loan.lender])
    return rows / rows.sum()


@pytest.mark.parametrize("smoother", LENDING, ids=lambda smoother: type(smoother).__name__)
def test_own_and_borrowed_rows_make_the_belief(smoother):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), rng.integers(0, 3, 150)
    tree = TreeClassifier(smoothing=smoother, pruning=None, max_depth=5).fit(X, y).tree_
    for node in range(1, tree.n_nodes):
        assert sum(loan.rows for loan in borrowed_rows(tree, node)) == pytest.approx(tree.borrowed[node])
        np.testing.assert_allclose(pooled(tree, node), tree.belief[node], atol=1e-9)


def test_worked_loans():
    """A2 below A below the root: one row each of A and the root, one of nobody."""
    found = borrowed_rows(HGS()(worked_tree()), 4)
    assert [(loan.lender, loan.rows) for loan in found] == [(1, 1.0), (0, 1.0), (None, 1.0)]
    assert [str(loan) for loan in found] == ["1.0 from node 1", "1.0 from node 0", "1.0 from nobody"]


@pytest.mark.parametrize("smoother", [MBranch(), HDP(sweeps=20, burn_in=10)])
def test_some_borrow_from_the_parent_alone(smoother):
    (loan,) = borrowed_rows(smoother(worked_tree()), 4)
    assert loan.lender == 1
    assert loan.rows == pytest.approx(smoother(worked_tree()).borrowed[4])
    (root,) = borrowed_rows(smoother(worked_tree()), 0)
    assert root.lender is None


def test_nobody_lends_to_raw_frequencies():
    assert borrowed_rows(Raw()(HGS()(worked_tree())), 4) == ()


def test_of_a_step_of_somebody_elses_nothing_is_said():
    tree = HGS()(worked_tree())
    other = with_belief(tree, tree.belief, tree.borrowed[::-1].copy(), Step.of("somebody's"))
    assert borrowed_rows(other, 4) == ()
    assert (
        borrowed_rows(with_belief(worked_tree(), tree.belief, tree.borrowed, Step.of("somebody's")), 4) == ()
    )


@settings(max_examples=30)
@given(trees())
def test_shrinkage_and_hgs_of_any_tree(tree):
    for smoother in (HGS(), HierarchicalShrinkage()):
        smoothed = smoother(tree)
        for node in range(tree.n_nodes):
            assert sum(loan.rows for loan in borrowed_rows(smoothed, node)) == pytest.approx(
                smoothed.borrowed[node]
            )
