"""Smoothing of means: worked numbers, the twin in classes, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam import TreeRegressor
from hornbeam.data import Table
from hornbeam.data.schema import Kind
from hornbeam.errors import ParameterError
from hornbeam.growing import Criterion, Grower
from hornbeam.smoothing import (
    HDP,
    HGS,
    Borrowing,
    HierarchicalShrinkage,
    Laplace,
    MBranch,
    MEstimate,
    Monotone,
    Raw,
)
from hornbeam.tree import Tree, count_rows
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.evidence.standardised import StandardisedTarget
from strategies_growing import bins_of, regression_tables


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
    """Steps of -4 and +2 out of 3 rows, at strength 1 times 3/4; of -2 and +2 out of 2 rows, times 2/3."""
    found = HierarchicalShrinkage()(tree).belief[:, 0]
    np.testing.assert_allclose(found, [6, 6 - 3, 6 + 1.5, 7.5 - 4 / 3, 7.5 + 4 / 3])


def test_borrowing_by_hand(tree):
    """All strengths 0: every ancestor lends a row of its mean, and nobody in particular one of the root's mean."""
    found = Borrowing(scale=0.0)(tree)
    np.testing.assert_allclose(
        found.belief[:, 0], [6, (2 + 6 + 6) / 3, (16 + 6 + 6) / 4, (6 + 8 + 6 + 6) / 4, 30 / 4]
    )
    np.testing.assert_allclose(found.borrowed, [1, 2, 2, 3, 3])


@settings(max_examples=40)
@given(regression_tables(max_rows=40), st.lists(st.floats(-1, 1), min_size=6, max_size=6))
def test_borrowing_is_its_formula(table, strengths):
    """Node by node, from the docstring."""
    tree = Grower(Criterion.SQUARED_ERROR).grow(table, bins_of(table))
    found = Borrowing(*strengths)(tree).belief[:, 0]
    scale, size, depth, impurity, prior, own = strengths
    n, mean = tree.weight * tree.unit[0], tree.belief[:, 0]
    spread = variances(tree.evidence, tree.unit)
    spread = spread / (spread[0] or 1.0)
    for node in range(tree.n_nodes):
        *above, _ = path(tree, node)
        lent = [
            np.exp(scale + size * np.log(max(n[p], 1)) + depth * np.log(1 + d) + impurity * spread[p])
            for d, p in enumerate(above)
        ]
        weights = np.array([n[node] ** (1 + own), *lent, np.exp(prior)])
        if n[node] < 1:
            weights[0] = n[node]
        values = np.array([mean[node], *mean[above], mean[0]])
        at = pytest.approx((weights @ values) / weights.sum(), rel=1e-7, abs=1e-7 * np.abs(mean).max())
        assert found[node] == at


@pytest.mark.parametrize("smoother", [Borrowing(), HierarchicalShrinkage(3.0), MBranch(2.0), Raw()])
def test_means_of_zeros_and_ones_are_probabilities(smoother):
    """0 and 1 as numbers or as two classes as common: the same tests, and the same answers from the same smoother.

    Entropy and variance are not the same impurity, so `Borrowing` has no strength for it here.
    """
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0.5).astype(float)
    y[: int(100 - y.sum()) if y.sum() < 100 else 0] = 1.0
    order = np.argsort(y, kind="stable")
    y[order] = np.repeat([0.0, 1.0], 100)
    means = Grower(Criterion.SQUARED_ERROR, max_depth=4)
    numbers = Table.read(X, y, target=Kind.NUMERIC)
    grown = means.grow(numbers, bins_of(numbers))
    classes = count_rows(grown.skeleton, Table.read(X, y.astype(int)))
    np.testing.assert_allclose(smoother(grown).belief[:, 0], smoother(classes).belief[:, 1], atol=1e-12)
    np.testing.assert_allclose(smoother(grown).borrowed, smoother(classes).borrowed)


def test_a_constant_target_stays_what_it_is():
    tree = TreeRegressor().fit([[0], [1], [2], [3]], [7.0] * 4).tree_
    assert tree.n_nodes == 1
    assert tree.belief.tolist() == [[7.0]]


def test_monotone_means_are_brought_in_order(tree):
    """The right child believes less than the left one: both move to the middle."""
    wrong = Borrowing(scale=3.0)(tree)
    falling = Monotone(signs=(-1,))(wrong).belief[:, 0]
    assert falling[1] >= falling[2]
    rising = Monotone(signs=(1,))(wrong).belief[:, 0]
    np.testing.assert_array_equal(rising, wrong.belief[:, 0])


@pytest.mark.parametrize("smoother", [Laplace(), MEstimate(), HGS(), HDP()])
def test_smoothers_of_classes_refuse_numbers(tree, smoother):
    with pytest.raises(ParameterError, match="is about classes, and the target of this tree is numeric"):
        smoother(tree)


def test_the_standard_of_a_coin():
    tree = TreeRegressor("cart").fit([[0], [1]], [0.0, 1.0]).tree_
    assert StandardisedTarget.of(tree) == StandardisedTarget(0.5, 0.5)
    np.testing.assert_allclose(StandardisedTarget.of(tree).of_tree(tree), [[1, 1], [1, 0], [0, 1]])
