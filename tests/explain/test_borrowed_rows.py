"""Borrowed rows: their sources, and that own and borrowed rows together give the belief."""

import numpy as np
import pytest
from hypothesis import given

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.explain.borrowed_rows import borrowed_rows
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
from hornbeam.tree import Step
from hornbeam.tree.edit import with_belief
from hornbeam.tree.tree import raw_belief
from support.examples import examples
from support.strategies import trees
from support.worked_trees import worked_tree

SMOOTHERS = [
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
    """Pool the rows of a node with those it borrowed from each source."""
    raw = raw_belief(tree.skeleton, tree.evidence)
    uniform = np.full(tree.n_classes, 1 / tree.n_classes)
    rows = (tree.evidence[node] * tree.unit).astype(float)
    for source in borrowed_rows(tree, node):
        rows += source.rows * (uniform if source.source is None else raw[source.source])
    return rows / rows.sum()


@pytest.mark.parametrize("smoother", SMOOTHERS, ids=lambda smoother: type(smoother).__name__)
def test_own_and_borrowed_rows_give_the_belief(smoother):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), rng.integers(0, 3, 150)
    tree = TreeClassifier(smoothing=smoother, pruning=None, max_depth=5).fit(X, y).tree_
    for node in range(1, tree.n_nodes):
        assert sum(source.rows for source in borrowed_rows(tree, node)) == pytest.approx(tree.borrowed[node])
        np.testing.assert_allclose(pooled(tree, node), tree.belief[node], atol=1e-9)


def test_sources_worked_by_hand():
    """A2 below A below the root: one row each from A, from the root and from the prior."""
    found = borrowed_rows(HGS()(worked_tree()), 4)
    assert [(source.source, source.rows) for source in found] == [(1, 1.0), (0, 1.0), (None, 1.0)]
    assert [str(source) for source in found] == [
        "1.0 from node 1",
        "1.0 from node 0",
        "1.0 from the uniform prior",
    ]


def test_the_prior_is_named():
    given = borrowed_rows(MEstimate(2.0, (0.3, 0.7))(worked_tree()), 4)
    assert [str(source) for source in given] == ["2.0 from the given base rate"]
    tree = TreeRegressor("cart", smoothing=Borrowing()).fit([[0.0], [1.0]], [1.0, 3.0]).tree_
    assert str(borrowed_rows(tree, 0)[0]).endswith(" from the mean of all rows")


@pytest.mark.parametrize("smoother", [MBranch(), HDP(sweeps=20, burn_in=10)])
def test_mbranch_and_hdp_borrow_from_the_parent_alone(smoother):
    (source,) = borrowed_rows(smoother(worked_tree()), 4)
    assert source.source == 1
    assert source.rows == pytest.approx(smoother(worked_tree()).borrowed[4])
    (root,) = borrowed_rows(smoother(worked_tree()), 0)
    assert root.source is None


def test_raw_frequencies_borrow_nothing():
    assert borrowed_rows(Raw()(HGS()(worked_tree())), 4) == ()


def test_the_sources_of_an_unknown_step_are_empty():
    tree = HGS()(worked_tree())
    other = with_belief(tree, tree.belief, tree.borrowed[::-1].copy(), Step.of("unknown"))
    assert borrowed_rows(other, 4) == ()
    assert borrowed_rows(with_belief(worked_tree(), tree.belief, tree.borrowed, Step.of("unknown")), 4) == ()


@examples(30)
@given(trees())
def test_sources_add_up_to_the_borrowed_rows(tree):
    for smoother in (HGS(), HierarchicalShrinkage()):
        smoothed = smoother(tree)
        for node in range(tree.n_nodes):
            assert sum(source.rows for source in borrowed_rows(smoothed, node)) == pytest.approx(
                smoothed.borrowed[node]
            )
