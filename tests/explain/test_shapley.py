"""SHAP values: the definition by subsets of features, parity with shap, and sums."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.explain.shapley import _row_shares, _training_shares, shap_values
from hornbeam.export import to_matrix, to_shap
from hornbeam.tree import Table
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.route import predict_rows
from support.examples import examples
from support.strategies import schemas, tables, trees


@st.composite
def trees_and_tables(draw):
    schema = draw(schemas(max_features=4, max_classes=3))
    return draw(trees(st.just(schema), max_inner=6)), draw(tables(schema, max_rows=4))


def prediction(tree, table, row, known, node=0):
    """Predict a row with some known features; at splits on others, use the shares of the training rows."""
    skeleton = tree.skeleton
    if skeleton.is_leaf[node]:
        return tree.belief[node]
    feature, first = skeleton.feature.item(node), skeleton.first_child.item(node)
    shares = _training_shares(tree)[node]
    if feature in known:
        rows = _row_shares(tree, node, table.columns[feature][row : row + 1], child_shares(tree).get(node))
        shares = [share.item() for share in rows]
    below = [prediction(tree, table, row, known, first + slot) for slot in range(len(shares) - 1)]
    return sum(share * one for share, one in zip(shares, [*below, tree.belief[node]], strict=True))


def by_subsets(tree, table, row):
    """Compute the definition: the contribution of a feature, averaged over all sets of features known before it."""
    n = tree.schema.n_features
    values = np.zeros((n, tree.belief.shape[1]))
    for feature in range(n):
        others = [other for other in range(n) if other != feature]
        for size in range(n):
            share = factorial(size) * factorial(n - 1 - size) / factorial(n)
            for known in map(set, combinations(others, size)):
                more = prediction(tree, table, row, known | {feature})
                values[feature] += share * (more - prediction(tree, table, row, known))
    return values


@pytest.mark.long
@examples(60)
@given(trees_and_tables())
def test_values_are_those_of_the_definition(both):
    """Numeric, ordinal, nominal; own branches, stops, distributed rows, unseen categories, leaves without rows."""
    tree, table = both
    found = shap_values(tree, table)
    for row in range(table.n_rows):
        np.testing.assert_allclose(found.values[row], by_subsets(tree, table, row), atol=1e-12)
    np.testing.assert_allclose(found.base, prediction(tree, table, 0, set()), atol=1e-12)


@examples(60)
@given(trees_and_tables())
def test_base_and_values_add_up_to_the_prediction(both):
    tree, table = both
    found = shap_values(tree, table)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), predict_rows(tree, table), atol=1e-12)


def clients(n, seed, n_towns=4):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "town": rng.choice([f"town {i}" for i in range(n_towns)], n),
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 10, n).round()),
        }
    )
    odd = X["town"].str[-1].isin(list("1357"))
    return X, (odd ^ (X["age"] > 50)) | (X["income"] > 55) | (rng.random(n) < 0.1)


def test_values_match_shap_for_numeric_features():
    shap = pytest.importorskip("shap")
    X, y = clients(400, 0)
    X = X[["age", "income"]]
    tree = TreeClassifier("cart").fit(X, y).tree_
    assert tree.n_leaves > 10
    explainer = shap.TreeExplainer(to_shap(tree))
    found = shap_values(tree, Table.read(X, schema=tree.schema))
    np.testing.assert_allclose(found.values, explainer.shap_values(to_matrix(tree, X)), atol=1e-5)
    np.testing.assert_allclose(found.base, explainer.expected_value, atol=1e-5)


def test_values_match_shap_if_no_path_tests_a_category_twice():
    shap = pytest.importorskip("shap")
    X, y = clients(400, 1, n_towns=9)
    tree = TreeClassifier(max_leaf_nodes=5, smoothing="hgs").fit(X, y).tree_
    assert (tree.skeleton.feature == 1).sum() == 1
    explainer = shap.TreeExplainer(to_shap(tree))
    found = shap_values(tree, Table.read(X, schema=tree.schema))
    np.testing.assert_allclose(found.values, explainer.shap_values(to_matrix(tree, X)), atol=1e-5)


def test_the_base_is_the_mean_over_the_training_rows():
    X, y = clients(500, 2, n_towns=30)
    clf = TreeClassifier(pruning=None).fit(X, y)
    found = shap_values(clf.tree_, Table.read(X, schema=clf.tree_.schema))
    np.testing.assert_allclose(found.base, clf.predict_proba(X).mean(axis=0), atol=1e-12)


def test_values_of_a_regression_tree_add_up():
    X, y = clients(300, 3, n_towns=8)
    reg = TreeRegressor().fit(X, X["age"] + 5 * y)
    found = shap_values(reg.tree_, Table.read(X, schema=reg.tree_.schema))
    np.testing.assert_allclose(found.base[0] + found.values[..., 0].sum(axis=1), reg.predict(X), atol=1e-9)


def test_batches_do_not_change_the_values(monkeypatch):
    X, y = clients(100, 4)
    tree = TreeClassifier("cart").fit(X, y).tree_
    table = Table.read(X, schema=tree.schema)
    whole = shap_values(tree, table)
    monkeypatch.setattr("hornbeam.explain.shapley._CELLS", 9 * 7)
    batched = shap_values(tree, table)
    np.testing.assert_array_equal(batched.values, whole.values)
    np.testing.assert_array_equal(batched.base, whole.base)
