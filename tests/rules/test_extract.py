"""The rules of a tree give the predictions of the tree."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.rules.extract import extract
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from support.strategies import schemas, skeletons, tables, trees
from support.worked_trees import T0


@st.composite
def trees_and_tables(draw):
    """A tree that may split rows with missing values, and a table."""
    schema = draw(schemas(max_classes=4))
    return draw(trees(schema=st.just(schema))), draw(tables(schema))


@st.composite
def unsplit_trees_and_tables(draw):
    """A tree in which every row stops at one node, and a table."""
    schema = draw(schemas(max_classes=4))
    skeleton = draw(skeletons(schema, fractional=False))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    own = rng.integers(0, 5, (skeleton.n_nodes, schema.n_classes)) * skeleton.is_leaf[:, None]
    return Tree.raw(schema, skeleton, pull_up(skeleton, own)), draw(tables(schema))


@given(unsplit_trees_and_tables())
def test_with_inner_nodes_every_row_gets_the_prediction_of_the_tree(pair):
    tree, table = pair
    assert (extract(tree, inner=True).predict_proba(table) == predict_rows(tree, table)).all()


@given(trees_and_tables())
def test_at_most_one_rule_of_a_leaf_fires(pair):
    tree, table = pair
    for merge in (False, True):
        rules = extract(tree, merge=merge)
        fires = np.zeros((len(rules), table.n_rows), int)
        for at, rule in enumerate(rules):
            valid = [c.holds_in(table.columns[c.column]) for c in rule.conditions]
            fires[at] = np.logical_and.reduce(valid) if valid else 1
        assert (fires.sum(axis=0) <= 1).all()
        stop = route(tree.skeleton, table)
        assert (fires.any(axis=0) == (tree.skeleton.is_leaf[stop] & (stop > 0))).all()


def test_rules_have_the_evidence_of_the_leaves():
    rules = extract(T0)
    assert [rule.covered.tolist() for rule in rules] == [[4, 0], [2, 1], [1, 2]]
    assert [rule.code for rule in rules] == [0, 0, 1]
    assert [rule.wrong for rule in rules] == [0, 1, 1]
    assert rules.default.covered.tolist() == [7, 3]
    assert rules.default.decided.tolist() == [0, 0]


def test_conditions_on_one_feature_are_merged():
    rules = extract(T0)
    assert [len(rule.conditions) for rule in rules] == [1, 1, 1]
    assert [len(rule.conditions) for rule in extract(T0, merge=False)] == [2, 2, 1]


def test_a_single_leaf_has_no_rules():
    leaf = Tree.raw(T0.schema, T0.skeleton.leaf(), np.array([[3, 1]]))
    rules = extract(leaf)
    assert len(rules) == 0
    assert rules.default.decided.tolist() == [3, 1]


def test_intervals_of_a_fitted_tree_are_those_of_its_leaves():
    X, y = [[0.0]] * 10 + [[1.0]] * 40, ["no"] * 10 + ["no", "yes"] * 20
    clf = TreeClassifier().fit(X, y)
    low, high = interval(clf.tree_, 0.8)
    for node, rule in zip((1, 2), clf.rules(), strict=True):
        np.testing.assert_allclose(rule.interval(level=0.8), (low[node], high[node]))
