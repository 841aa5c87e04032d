"""SHAP values of the exported arrays add up to the tree's prediction."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import ExportError
from hornbeam.export import to_matrix, to_shap
from hornbeam.tree import Skeleton
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.strategies import schemas, tables, trees

shap = pytest.importorskip("shap", reason="the extra 'test' brings shap")

from databases import codes  # noqa: E402


def added_up(tree, X):
    """Expected value plus SHAP values, for every row and class."""
    explainer = shap.TreeExplainer(to_shap(tree))
    values = explainer.shap_values(X, check_additivity=False)
    values = values[..., None] if values.ndim == 2 else values
    return np.atleast_1d(explainer.expected_value) + values.sum(axis=1)


@st.composite
def trees_with_rows(draw):
    schema = draw(schemas(max_classes=3))
    tree = draw(trees(st.just(schema), max_inner=8))
    assume(not tree.skeleton.is_fractional)
    return tree, draw(tables(schema, max_rows=20))


@examples(60)
@given(trees_with_rows())
def test_values_add_up_to_belief(case):
    """All kinds of features; missing branches, stops, unseen categories, leaves without rows."""
    tree, table = case
    np.testing.assert_allclose(added_up(tree, codes(table, unseen=-2)), predict_rows(tree, table), atol=1e-6)


def test_unseen_categories_may_be_any_number_below_or_above():
    categories = Feature("x", Kind.NOMINAL, ("a", "b", "c"))
    runs = {"slot_start": [0, 3, 3, 3], "slot_of": [0, 1, 0]}
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [np.nan] * 3, **runs)
    tree = Tree.raw(Schema((categories,), ("no", "yes")), skeleton, np.array([[6, 4], [6, 0], [0, 4]]))
    found = added_up(tree, np.array([[-2.0], [7.0], [0.0], [1.0], [2.0], [np.nan]]))
    np.testing.assert_allclose(found[:, 1], [0.4, 0.4, 0, 1, 0, 0.4], atol=1e-6)


def test_expected_value_is_the_mean_over_the_rows_of_training():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 6, 300), rng.normal(size=300)]).astype(object)
    X[:, 1] = [f"k{int(code)}" for code in X[:, 1]]
    y = (np.array([code in ("k0", "k3", "k5") for code in X[:, 1]]) ^ (X[:, 0] > 0)).astype(int)
    clf = TreeClassifier("cart", smoothing="hgs", max_depth=4).fit(X, y)
    assert (clf.tree_.skeleton.feature == 1).any()
    explainer = shap.TreeExplainer(to_shap(clf.tree_))
    np.testing.assert_allclose(explainer.expected_value, clf.predict_proba(X).mean(axis=0), atol=1e-6)
    values = explainer.shap_values(to_matrix(clf.tree_, X[:40]))
    found = explainer.expected_value + values.sum(axis=1)
    np.testing.assert_allclose(found, clf.predict_proba(X[:40]), atol=1e-6)


def test_values_of_a_numeric_tree_are_those_of_scikit_learns():
    sklearn_tree = pytest.importorskip("sklearn.tree")
    from hornbeam.interop import from_sklearn

    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)).astype(np.float32).astype(np.float64)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    theirs = sklearn_tree.DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    ours = shap.TreeExplainer(to_shap(from_sklearn(theirs))).shap_values(X[:50])
    np.testing.assert_allclose(ours, shap.TreeExplainer(theirs).shap_values(X[:50]), atol=1e-6)


def test_values_with_background_rows_add_up():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 3))
    clf = TreeClassifier("cart", smoothing="hgs").fit(X, (X[:, 0] > X[:, 1]).astype(int))
    explainer = shap.TreeExplainer(to_shap(clf.tree_), X[:20])
    found = explainer.expected_value + explainer.shap_values(X).sum(axis=1)
    np.testing.assert_allclose(found, clf.predict_proba(X), atol=1e-6)


def test_a_single_leaf():
    leaf = Tree.raw(Schema((Feature("x"),), ("no", "yes")), Skeleton.leaf(), np.array([[1, 3]]))
    np.testing.assert_allclose(added_up(leaf, np.zeros((2, 1))), [[0.25, 0.75]] * 2)


def test_trees_that_shap_cannot_express_raise():
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan], missing_slot=[-2, -1, -1])
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), skeleton, np.array([[2], [1], [1]]))
    with pytest.raises(ExportError, match="shap cannot express that"):
        to_shap(tree)


def test_sets_that_would_take_too_many_nodes_raise():
    """Ten features of 40 categories, each split into the odd and the even ones."""
    width, depth = 40, 6
    features = tuple(Feature(f"x{f}", Kind.NOMINAL, tuple(range(width))) for f in range(depth))
    n_inner = 2**depth - 1
    n = 2 ** (depth + 1) - 1
    inner = np.arange(n) < n_inner
    skeleton = Skeleton.of(
        np.where(inner, 2, 0),
        np.where(inner, np.floor(np.log2(np.arange(n) + 1)), -1),
        np.full(n, np.nan),
        slot_start=np.minimum(np.arange(n + 1), n_inner) * width,
        slot_of=np.tile([0, 1], n_inner * width // 2),
    )
    tree = Tree.raw(Schema(features, ("a",)), skeleton, np.zeros((n, 1), np.int64))
    with pytest.raises(ExportError, match="nominal_split='multiway'"):
        to_shap(tree)
