"""Cost-complexity pruning: worked numbers, scikit-learn, and a naive search for the weakest link."""

import numpy as np
import pytest
from hypothesis import given
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.schema import Feature, Schema
from hornbeam.errors import ParameterError
from hornbeam.kernels.sweep import weakest_links
from hornbeam.pruning import CostComplexity
from hornbeam.pruning.bottom_up import stopping_at_inner
from hornbeam.pruning.cost_complexity import cost_complexity_path
from hornbeam.tree import Skeleton
from hornbeam.tree.level_order import level_order
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path, pull_up
from support.strategies import chain, trees
from support.worked_trees import over_leaves, worked_tree

IMPURITIES = ["gini", "entropy", "error"]


def test_worked_path_of_gini():
    found = cost_complexity_path(worked_tree())
    assert found.alphas == pytest.approx([0, 1 / 30, 0.48 - 0.95 / 3])
    assert found.impurities == pytest.approx([0.85 / 3, 0.95 / 3, 0.48])
    assert found.n_leaves.tolist() == [3, 2, 1]


def test_worked_weakest_links():
    """Saving per leaf: of A and the root at first, and of the root after A is cut."""
    skeleton = worked_tree().skeleton
    links = (skeleton.first_child, skeleton.n_children)
    for impurity, a, root, then in (("gini", 1 / 30, 0.29500 / 3, 0.16333), ("error", 0, 0.1, 0.2)):
        counts = worked_tree().evidence
        share = counts / counts.sum(axis=1, keepdims=True)
        each = 1 - (share**2).sum(axis=1) if impurity == "gini" else 1 - share.max(axis=1)
        cost = each * counts.sum(axis=1) / 10
        assert cost[1] - cost[3] - cost[4] == pytest.approx(a)
        assert (cost[0] - cost[2:].sum()) / 2 == pytest.approx(root)
        assert weakest_links(*links, cost, np.zeros(5)).alpha[:2] == pytest.approx([then, a], abs=5e-6)


def test_worked_path_of_errors():
    """A saves nothing, so it is cut at once; the root saves 2 of 10 rows."""
    found = cost_complexity_path(worked_tree(), "error")
    assert found.alphas == pytest.approx([0, 0.2])
    assert found.n_leaves.tolist() == [2, 1]


def converted(fitted):
    """A fitted tree of scikit-learn as one of ours."""
    old = fitted.tree_
    n = old.node_count
    parent, rank = np.full(n, -1), np.zeros(n, int)
    for slot, child in enumerate((old.children_left, old.children_right)):
        inner = np.flatnonzero(child >= 0)
        parent[child[inner]], rank[child[inner]] = inner, slot
    order = level_order(parent, rank)
    inner = old.children_left[order] >= 0
    skeleton = Skeleton.of(
        np.where(inner, 2, 0),
        np.where(inner, old.feature[order], -1),
        np.where(inner, old.threshold[order], np.nan),
    )
    counts = np.rint(old.value[:, 0] * old.weighted_n_node_samples[:, None]).astype(np.int64)
    features = tuple(Feature(f"x{i}") for i in range(old.n_features))
    return Tree.raw(Schema(features, tuple(fitted.classes_.tolist())), skeleton, counts[order])


@pytest.mark.parametrize("seed", range(50))
def test_the_path_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(20, 400)), int(rng.integers(2, 6))
    X = rng.normal(size=(n, 4)).round(int(rng.integers(0, 4)))
    y = rng.integers(0, k, n)
    criterion = ("gini", "entropy")[seed % 2]
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0)
    tree = converted(theirs.fit(X, y))
    other = theirs.cost_complexity_pruning_path(X, y)
    found = cost_complexity_path(tree, criterion)

    # Where links are equally weak theirs repeats an alpha, and the last entry is what is left.
    last = np.append(np.diff(other.ccp_alphas) > 1e-10, True)
    np.testing.assert_allclose(found.alphas, other.ccp_alphas[last], atol=1e-12)
    np.testing.assert_allclose(found.impurities, other.impurities[last], atol=1e-10)

    middle = len(found.alphas) // 2
    alpha = np.sqrt(found.alphas[middle - 1 : middle + 1].prod()) if middle > 1 else found.alphas[-1] / 2
    smaller = DecisionTreeClassifier(criterion=criterion, random_state=0, ccp_alpha=alpha).fit(X, y)
    assert CostComplexity(alpha, criterion)(tree).n_leaves == smaller.get_n_leaves()


def naive_path(tree, impurity):
    """Look at every node, cut the weakest, and start again."""
    skeleton = tree.skeleton
    weight = tree.evidence * tree.unit
    total = weight.sum(axis=1)
    p = weight / np.maximum(total, 1e-300)[:, None]
    if impurity == "gini":
        each = 1 - (p**2).sum(axis=1)
    elif impurity == "entropy":
        each = -np.sum(p * np.log2(np.where(p > 0, p, 1)), axis=1)
    else:
        each = 1 - p.max(axis=1)
    each[total == 0] = 0
    each /= max(total[0], 1)
    as_leaf, staying = total * each, stopping_at_inner(skeleton, total) * each
    leaves, cost, is_leaf = np.ones(tree.n_nodes, int), as_leaf.copy(), skeleton.is_leaf.copy()
    for node in range(tree.n_nodes - 1, -1, -1):
        if not is_leaf[node]:
            first = skeleton.first_child[node]
            below = slice(first, first + skeleton.n_children[node])
            leaves[node], cost[node] = leaves[below].sum(), staying[node] + cost[below].sum()
    steps = [(0.0, cost[0], leaves[0])]
    while not is_leaf[0]:
        weakness = np.array([
            np.inf if is_leaf[path(skeleton, i)].any() else (as_leaf[i] - cost[i]) / (leaves[i] - 1)
            for i in range(tree.n_nodes)
        ])  # fmt: skip
        node = int(weakness.argmin())
        above, added, fewer = path(skeleton, node), as_leaf[node] - cost[node], leaves[node] - 1
        cost[above] += added
        leaves[above] -= fewer
        is_leaf[node] = True
        steps.append((max(weakness[node], steps[-1][0]), cost[0], leaves[0]))
    alphas, impurities, n_leaves = np.array(steps).T
    last = np.append(np.diff(alphas) > 1e-11 * as_leaf[0], True)
    return alphas[last], impurities[last], n_leaves[last]


def closed(tree):
    """The tree without rows that stop at inner nodes, where alphas may be negative."""
    leaves = tree.evidence * tree.skeleton.is_leaf[:, None]
    return Tree.raw(tree.schema, tree.skeleton, pull_up(tree.skeleton, leaves), unit=float(tree.unit[0]))


@pytest.mark.parametrize("impurity", IMPURITIES)
@given(tree=trees())
def test_the_path_is_that_of_a_naive_search(impurity, tree):
    tree = closed(tree)
    found = cost_complexity_path(tree, impurity)
    alphas, impurities, n_leaves = naive_path(tree, impurity)
    np.testing.assert_allclose(found.alphas, alphas, atol=1e-9)
    np.testing.assert_allclose(found.impurities, impurities, atol=1e-9)
    assert found.n_leaves.tolist() == n_leaves.tolist()
    for alpha, leaves in zip(found.alphas, found.n_leaves, strict=True):
        assert CostComplexity(float(alpha), impurity)(tree).n_leaves == leaves


def test_a_chain_of_a_hundred_thousand_nodes_is_fast():
    """Updating every ancestor at every cut would take billions of steps."""
    skeleton = chain(50_000)
    rng = np.random.default_rng(0)
    tree = over_leaves(skeleton, rng.integers(0, 5, (skeleton.n_leaves, 2)).tolist())
    assert cost_complexity_path(tree).n_leaves[-1] == 1


def test_the_path_of_a_leaf_has_one_entry():
    leaf = CostComplexity(np.inf)(worked_tree())
    assert leaf.n_nodes == 1
    assert cost_complexity_path(leaf).alphas.tolist() == [0]


def test_parameters_out_of_range_raise():
    with pytest.raises(ParameterError, match="0 or more"):
        CostComplexity(-0.1)
    with pytest.raises(ParameterError, match="'gini', 'entropy', 'error'"):
        CostComplexity(0.1, "accuracy")
    with pytest.raises(ParameterError, match="'gini', 'entropy', 'error'"):
        cost_complexity_path(worked_tree(), "accuracy")


@pytest.mark.parametrize(
    ("ours", "theirs"), [(TreeClassifier, DecisionTreeClassifier), (TreeRegressor, DecisionTreeRegressor)]
)
def test_the_path_of_rows_is_that_of_scikit_learn(ours, theirs):
    """scikit-learn repeats an alpha for each of several equally weak links; ours has it once."""
    rng = np.random.default_rng(0)
    X = rng.permutation(60)[:, None].astype(float)
    y = (X[:, 0] > 30).astype(int) ^ (rng.random(60) < 0.2)
    weight = rng.integers(1, 4, 60)
    estimator = ours("cart", max_depth=3)
    found = estimator.cost_complexity_pruning_path(X, y, weight)
    expected = theirs(max_depth=3, random_state=0).cost_complexity_pruning_path(X, y, weight)
    last = np.append(np.diff(expected.ccp_alphas) > 1e-12, True)
    np.testing.assert_allclose(found.ccp_alphas, expected.ccp_alphas[last], atol=1e-12)
    np.testing.assert_allclose(found.impurities, expected.impurities[last], atol=1e-12)
    assert not hasattr(estimator, "tree_")
