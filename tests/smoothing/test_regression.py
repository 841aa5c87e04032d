"""Smoothing of regression trees: worked numbers, equality with two classes, and errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeRegressor
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.smoothing import HDP, HGS, Borrowing, HierarchicalShrinkage, Laplace, MBranch, MEstimate, Raw
from hornbeam.smoothing.interval_calibration import node_variances
from hornbeam.smoothing.monotone import Monotone
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.strategies_growing import bins_of, regression_tables


@pytest.fixture
def tree() -> Tree:
    """Root of 2, 6, 10 (mean 6); left 2; right 6, 10 (mean 8)."""
    return TreeRegressor("cart").fit([[0], [1], [2]], [2.0, 6.0, 10.0]).tree_


def path(tree: Tree, node: int) -> list[int]:
    found = [node]
    while tree.skeleton.parent[found[0]] >= 0:
        found.insert(0, int(tree.skeleton.parent[found[0]]))
    return found


def test_shrinkage_by_hand(tree):
    """Differences of -4 and +2 from a parent of 3 rows times 3/4; of -2 and +2 from one of 2 rows times 2/3."""
    found = HierarchicalShrinkage()(tree).belief[:, 0]
    np.testing.assert_allclose(found, [6, 6 - 3, 6 + 1.5, 7.5 - 4 / 3, 7.5 + 4 / 3])


def test_borrowing_by_hand(tree):
    """All strengths 0: a row with the mean of every ancestor, and one of the prior with the mean of the root."""
    found = Borrowing(scale=0.0)(tree)
    np.testing.assert_allclose(
        found.belief[:, 0], [6, (2 + 6 + 6) / 3, (16 + 6 + 6) / 4, (6 + 8 + 6 + 6) / 4, 30 / 4]
    )
    np.testing.assert_allclose(found.borrowed, [1, 2, 2, 3, 3])


@examples(40)
@given(regression_tables(max_rows=40), st.lists(st.floats(-1, 1), min_size=6, max_size=6))
def test_borrowing_follows_the_formula_of_its_docstring(table, strengths):
    tree = Grower(Criterion.SQUARED_ERROR).grow(table, bins_of(table))
    found = Borrowing(*strengths)(tree).belief[:, 0]
    scale, size, depth, impurity, prior, own = strengths
    n, mean = tree.weight * tree.unit[0], tree.belief[:, 0]
    variance = variances(tree.evidence, tree.unit)
    variance = variance / (variance[0] or 1.0)
    for node in range(tree.n_nodes):
        *above, _ = path(tree, node)
        pseudo_counts = [
            np.exp(scale + size * np.log(max(n[p], 1)) + depth * np.log(1 + d) + impurity * variance[p])
            for d, p in enumerate(above)
        ]
        weights = np.array([n[node] ** (1 + own), *pseudo_counts, np.exp(prior)])
        if n[node] < 1:
            weights[0] = n[node]
        values = np.array([mean[node], *mean[above], mean[0]])
        at = pytest.approx((weights @ values) / weights.sum(), rel=1e-7, abs=1e-7 * np.abs(mean).max())
        assert found[node] == at


@pytest.mark.parametrize("smoother", [Borrowing(), HierarchicalShrinkage(3.0), MBranch(2.0), Raw()])
def test_means_of_zeros_and_ones_are_probabilities(smoother):
    """A target of 0 and 1, as numbers or as two classes of equal frequency, has the same predictions.

    Entropy and variance are not the same impurity, so `Borrowing` has no strength for it here.
    """
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0.5).astype(float)
    y[: int(100 - y.sum()) if y.sum() < 100 else 0] = 1.0
    order = np.argsort(y, kind="stable")
    y[order] = np.repeat([0.0, 1.0], 100)
    means = Grower(Criterion.SQUARED_ERROR, max_depth=4)
    numbers = Table.read(X, y, target_kind=Kind.NUMERIC)
    grown = means.grow(numbers, bins_of(numbers))
    classes = count_rows(grown.skeleton, Table.read(X, y.astype(int)))
    np.testing.assert_allclose(smoother(grown).belief[:, 0], smoother(classes).belief[:, 1], atol=1e-12)
    np.testing.assert_allclose(smoother(grown).borrowed, smoother(classes).borrowed)


def test_a_constant_target_is_predicted_exactly():
    tree = TreeRegressor().fit([[0], [1], [2], [3]], [7.0] * 4).tree_
    assert tree.n_nodes == 1
    assert tree.belief.tolist() == [[7.0]]


def test_means_that_break_a_monotone_constraint_are_clipped(tree):
    """The mean of the right child is below that of the left one: both move to the middle."""
    wrong = Borrowing(scale=3.0)(tree)
    falling = Monotone(signs=(-1,))(wrong).belief[:, 0]
    assert falling[1] >= falling[2]
    rising = Monotone(signs=(1,))(wrong).belief[:, 0]
    np.testing.assert_array_equal(rising, wrong.belief[:, 0])


@pytest.mark.parametrize("smoother", [Laplace(), MEstimate(), HGS(), HDP()])
def test_classification_smoothers_raise_for_a_regression_tree(tree, smoother):
    with pytest.raises(ParameterError, match="is about classes, and the target of this tree is numeric"):
        smoother(tree)


def test_a_target_of_0_and_1_is_standardised_already():
    tree = TreeRegressor("cart").fit([[0], [1]], [0.0, 1.0]).tree_
    assert StandardisedTarget.of(tree) == StandardisedTarget(0.5, 0.5)
    np.testing.assert_allclose(StandardisedTarget.of(tree).of_tree(tree), [[1, 1], [1, 0], [0, 1]])


def test_variances_of_nodes_by_hand():
    """32/3 at the root, 4 in the right child; each child borrows one row from its parent."""
    tree = TreeRegressor("cart").fit([[0], [1], [2]], [2.0, 6.0, 10.0]).tree_
    assert node_variances(tree) == pytest.approx([32 / 3, 16 / 3, 56 / 9, 28 / 9, 28 / 9])
