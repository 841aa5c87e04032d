"""Explanations: paths, numbers and reasons agree with the tree, and the text of every end."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import SmoothedClassifier, TreeClassifier
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import ParameterError
from hornbeam.explain.explanation import explain
from hornbeam.explain.intervals import predict_interval
from hornbeam.smoothing import HGS
from hornbeam.tree import Skeleton, Table
from hornbeam.tree.route import decision_path, predict_rows
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.strategies import schemas, tables, trees
from support.worked_trees import worked_tree


@st.composite
def trees_and_tables(draw):
    schema = draw(schemas(max_classes=4))
    return draw(trees(st.just(schema), max_inner=8)), draw(tables(schema, max_rows=8))


@examples(80)
@given(trees_and_tables())
def test_explanations_agree_with_routing_predictions_and_intervals(both):
    tree, table = both
    rows = explain(tree, table, 0.8)
    indptr, nodes = decision_path(tree.skeleton, table)
    probability = predict_rows(tree, table)
    low, high = predict_interval(tree, table, 0.8)
    assert len(rows) == table.n_rows
    for i, row in enumerate(rows):
        np.testing.assert_array_equal(row.probability, probability[i])
        np.testing.assert_array_equal((row.low, row.high), (low[i], high[i]))
        assert row.prediction == tree.schema.classes[tree.decision(probability[[i]])[0]]
        assert sum(path.share for path in row.paths) == pytest.approx(1)
        # The router ends the path at a node that sends missing values to every child.
        expected = nodes[indptr[i] : indptr[i + 1]].tolist()
        for path in row.paths:
            assert [step.node for step in path.steps][: len(expected)] == expected
            for step in path.steps:
                assert step.rows == tree.rows[step.node]
                assert step.borrowed == tree.borrowed[step.node]
                np.testing.assert_array_equal(step.probability, tree.belief[step.node])
                np.testing.assert_array_equal(step.counts, tree.evidence[step.node] * tree.unit)
        mixed = sum(path.share * np.array(path.steps[-1].probability) for path in row.paths)
        np.testing.assert_allclose(mixed, row.probability, atol=1e-12)
        for k, label in enumerate(tree.schema.classes):
            reasons = row.reasons(positive=label)
            moved = sum(reason.change for reason in reasons)
            assert moved == pytest.approx(row.probability[k] - tree.belief[0, k], abs=1e-12)
            sizes = [abs(reason.change) for reason in reasons]
            assert sizes == sorted(sizes, reverse=True)
            for reason in reasons:
                assert reason.before is None or reason.after - reason.before == reason.change
        json.dumps(row.to_dict(), allow_nan=False)
        assert str(row)


def test_a_path_worked_by_hand():
    """x = 0.9 goes to A, then to A2; all numbers are those of the worked example of HGS."""
    tree = HGS()(worked_tree())
    row = explain(tree, Table.read([[0.9]], schema=tree.schema))[0]
    (path,) = row.paths
    assert [step.node for step in path.steps] == [0, 1, 4]
    assert [str(step) for step in path.steps] == ["every row", "x ≤ 1.5 (is 0.9)", "x > 0.5 (is 0.9)"]
    assert path.steps[-1].counts == (2.0, 1.0)
    assert (path.end, path.node, path.share) == ("a leaf", 4, 1.0)
    (reason,) = row.reasons()
    assert reason.change == pytest.approx(tree.belief[4, 0] - tree.belief[0, 0])
    assert reason.before is None  # tested twice
    assert str(reason) == f"0.5 < x ≤ 1.5 moved 0 by {reason.change:+.3f}"


def colours(missing_slot):
    """Build a root that splits on a colour: blue and green have a child, red has none."""
    colour = Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))
    skeleton = Skeleton.of(
        [2, 0, 0],
        [0, -1, -1],
        [np.nan] * 3,
        missing_slot=[missing_slot, -1, -1],
        slot_start=[0, 3, 3, 3],
        slot_of=[0, 1, -1],
    )
    schema = Schema((colour,), ("no", "yes"))
    return Tree.raw(schema, skeleton, np.array([[6, 4], [6, 0], [0, 4]]))


def ends(tree, rows):
    return [row.paths[0].end for row in explain(tree, Table.read(rows, schema=tree.schema))]


def test_the_reason_of_every_end_is_given():
    assert ends(colours(-1), [["blue"], ["red"], ["pink"], [None]]) == [
        "a leaf",
        "node 0: colour is red, and no branch is for that",
        "node 0: colour is a category never seen, and no branch is for that",
        "node 0: colour is missing, and no branch is for that",
    ]
    empty = replace(colours(-2), evidence=np.zeros((3, 2), np.int64), rows=np.zeros(3, np.int64))
    assert ends(empty, [[None]]) == ["node 0: colour is missing, and no row shows where to go"]


def test_a_condition_names_missing_only_for_missing_values():
    tree = colours(1)
    path = explain(tree, Table.read([[None]], schema=tree.schema))[0].paths[0]
    assert str(path.steps[-1]) == "colour = green or missing (is missing)"
    known = explain(tree, Table.read([["green"]], schema=tree.schema))[0].paths[0]
    assert str(known.steps[-1]) == "colour = green (is green)"


def test_a_row_with_several_paths_shows_their_shares():
    tree = colours(-2)
    row = explain(tree, Table.read([[None]], schema=tree.schema))[0]
    assert [(path.node, path.share) for path in row.paths] == [(1, 0.6), (2, 0.4)]
    assert row.probability == (0.6, 0.4)
    assert row.reasons()[0].change == pytest.approx(0.0)
    assert str(row.reasons()[0]) == "colour = blue, or colour = green moved no by +0.000"
    assert str(row.paths[0].steps[1]) == "colour = blue (is missing)"
    lines = str(row).splitlines()
    assert lines[1] == "60.0 % of the row:"
    assert lines[6] == "40.0 % of the row:"


def test_at_most_five_paths_are_printed():
    X = np.arange(16.0)[:, None]
    X = np.vstack([np.repeat(X, 4, axis=0), [[np.nan]]])
    clf = TreeClassifier("c4.4", smoothing=None).fit(X, [*np.repeat(np.arange(16), 4), 0])
    row = clf.explain([[np.nan]])[0]
    assert len(row.paths) == clf.tree_.n_leaves > 5
    assert str(row).endswith(f"… and {clf.tree_.n_leaves - 5} more paths")


def test_explanations_are_a_sequence_and_copy_their_rows():
    X = np.array([[0.0], [2.0], [0.9]])
    tree = worked_tree()
    rows = explain(tree, Table.read(X, schema=tree.schema))
    X[:] = 2.0  # the caller may change the rows
    assert [row.paths[0].node for row in rows] == [3, 2, 4]
    assert [row.paths[0].node for row in rows[1:]] == [2, 4]
    assert rows[-1] == rows[2]
    with pytest.raises(IndexError):
        rows[3]
    assert rows.to_dict()["leaf"] == [3, 2, 4]
    assert repr(rows).count("every row") == 3
    many = explain(tree, Table.read(np.zeros((12, 1)), schema=tree.schema))
    assert repr(many).endswith("… and 2 more rows")


def test_an_unknown_label_is_refused():
    row = TreeClassifier("cart").fit([[0], [1]], ["no", "yes"]).explain([[1]])[0]
    with pytest.raises(ParameterError, match=r"expected one of the classes \['no', 'yes'\]"):
        row.reasons(positive="maybe")


def test_labels_are_those_of_predict_with_costs_and_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(rng.random(300) < 1 / (1 + np.exp(-X[:, 0])), "ill", "well")
    for settings_ in ({"costs": {("ill", "well"): 4}}, {"class_weight": {"ill": 3, "well": 1}}):
        clf = TreeClassifier(smoothing="hgs", max_depth=4, **settings_).fit(X, y)
        rows = clf.explain(X[:50])
        assert [row.prediction for row in rows] == clf.predict(X[:50]).tolist()
        assert any(row.probability[0] < 0.5 and row.prediction == "ill" for row in rows)
        np.testing.assert_array_equal([row.probability for row in rows], clf.predict_proba(X[:50]))
    for row in rows:
        assert ("; taken for" in row.to_text(positive="well")) == (row.prediction == "ill")


def test_a_smoothed_tree_of_another_library_can_be_explained():
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = SmoothedClassifier().fit(X, y)
    row = clf.explain(X[:1])[0]
    np.testing.assert_array_equal([row.probability], clf.predict_proba(X[:1]))
    assert row.reasons()[0].feature in X.columns
    forest = SmoothedClassifier(RandomForestClassifier(3, random_state=0)).fit(X, y)
    with pytest.raises(ParameterError, match="the mean of 3 trees"):
        forest.explain(X[:1])
