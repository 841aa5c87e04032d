"""Every invariant of skeletons and trees, broken one at a time."""

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import TreeError
from hornbeam.tree import DecisionRule, Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from support.strategies import trees

#        0  age <= 30, missing: third child
#      / |  \
#     1  2   3      1  colour: blue -> 4, green -> 5, red not seen
#    / \
#   4   5
SCHEMA = Schema((Feature("age"), Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))), ("no", "yes"))
SKELETON_ARRAYS = {
    "parent": np.array([-1, 0, 0, 0, 1, 1], np.int32),
    "first_child": np.array([1, 4, -1, -1, -1, -1], np.int32),
    "n_children": np.array([3, 2, 0, 0, 0, 0], np.int32),
    "feature": np.array([0, 1, -1, -1, -1, -1], np.int32),
    "threshold": np.array([30.0, *[np.nan] * 5]),
    "slot_start": np.array([0, 0, 3, 3, 3, 3, 3], np.int32),
    "slot_of": np.array([0, 1, -1], np.int32),
    "missing_slot": np.array([2, -1, -1, -1, -1, -1], np.int32),
}
TREE_ARRAYS = {
    "evidence": np.array([[9, 6], [6, 4], [2, 1], [1, 1], [3, 2], [2, 2]]),
    "unit": np.ones(2),
    "rows": np.array([15, 10, 3, 2, 5, 4]),
    "gain": np.array([0.5, 0.1, *[np.nan] * 4]),
    "belief": np.full((6, 2), 0.5),
    "borrowed": np.zeros(6),
}


def skeleton(**changes):
    return Skeleton(**SKELETON_ARRAYS | changes)


def tree(**changes):
    return Tree(**{"schema": SCHEMA, "skeleton": skeleton(), **TREE_ARRAYS, **changes})


def with_entry(parts, name, at, value):
    array = parts[name].copy()
    array[at] = value
    return {name: array}


def test_the_example_passes():
    assert tree().n_leaves == 4


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("parent", 0, 0, "parent[0] is 0, expected -1"),
        ("parent", 4, 2, "parent[4] is 2, expected 1"),
        ("first_child", 1, 3, "first_child[1] is 3, expected 4"),
        ("first_child", 2, 0, "first_child[2] is 0, expected -1"),
        ("n_children", 0, -3, "n_children[0] is -3"),
        ("n_children", 0, 1, "n_children[0] is 1, expected 0 on a leaf, else 2 or more"),
        ("n_children", 2, 2, "n_children adds up to 7, expected 5"),
        ("feature", 1, -1, "feature[1] is -1, expected 0 or more where there are children"),
        ("feature", 2, 0, "feature[2] is 0, expected -1 on a leaf"),
        ("feature", 2, -2, "feature[2] is -2"),
        ("threshold", 3, 1.0, "threshold[3] is 1.0, expected NaN on a leaf"),
        ("threshold", 1, 1.0, "slot_start[1] is 0, expected slots on nominal splits alone"),
        ("threshold", 0, np.nan, "slot_start[0] is 0, expected slots on nominal splits alone"),
        ("slot_start", 0, 1, "slot_start runs from 1 to 3, expected 0 to 3"),
        ("slot_start", 6, 4, "slot_start runs from 0 to 4, expected 0 to 3"),
        ("slot_start", 1, 4, "slot_start[1] is 4, expected no more than the next entry"),
        ("slot_start", 2, 1, "slot_start[2] is 1, expected slots on nominal splits alone"),
        ("slot_of", 1, 2, "slot_of[1] is 2 at node 1, expected -1 (not seen here) or a slot below 2"),
        ("slot_of", 1, -2, "slot_of[1] is -2 at node 1"),
        ("slot_of", 0, -1, "slot_of never leads from node 1 to its child 4"),
        ("missing_slot", 0, 1, "n_children[0] is 3, expected 2 on a numeric split, 3 if missing_slot is 2"),
        ("missing_slot", 1, 2, "missing_slot[1] is 2, expected below the number of children"),
        ("missing_slot", 1, -3, "missing_slot[1] is -3, expected -2 or more"),
        ("missing_slot", 3, -2, "missing_slot[3] is -2, expected -2 or more, -1 on a leaf"),
        ("missing_slot", 3, 0, "missing_slot[3] is 0, expected below the number of children, -1 on a leaf"),
    ],
)
def test_a_broken_skeleton_is_refused(name, at, value, message):
    with pytest.raises(TreeError, match=re.escape(message)):
        skeleton(**with_entry(SKELETON_ARRAYS, name, at, value))


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("evidence", (4, 1), -1, "evidence[4] is [3, -1], expected no count below 0"),
        ("evidence", (0, 0), 10, "evidence[0] is [10, 6], expected exactly [9, 6], the sum of its children"),
        ("evidence", (0, 0), 8, "evidence[0] is [8, 6], expected exactly [9, 6]"),
        ("evidence", (4, 0), 5, "evidence[1] is [6, 4], expected at least [7, 4]"),
        ("unit", 1, 2.0, "unit is [1.0, 2.0], expected one positive number for all classes"),
        ("unit", slice(None), 0.0, "unit is [0.0, 0.0]"),
        ("unit", slice(None), np.nan, "unit is [nan, nan]"),
        ("unit", slice(None), np.inf, "unit is [inf, inf]"),
        ("unit", slice(None), 2e307, "the evidence is worth more than any number"),
        ("rows", 5, -1, "rows[5] is -1, expected 0 or more"),
        ("rows", 0, 16, "rows[0] is 16, expected exactly 15"),
        ("rows", 5, 6, "rows[1] is 10, expected at least 11"),
        ("gain", 2, 0.0, "gain[2] is 0.0, expected NaN on a leaf"),
        ("gain", 0, -np.inf, "gain[0] is -inf, expected a finite number, or NaN where unknown"),
        ("belief", (3, 0), -0.5, "belief[3] is [-0.5, 0.5], expected no probability below 0"),
        ("belief", (3, 0), np.nan, "belief[3] is [nan, 0.5], expected no probability below 0"),
        ("belief", (3, 0), 0.6, "belief[3] is [0.6, 0.5], expected probabilities that add up to 1"),
        ("borrowed", 2, -1.0, "borrowed[2] is -1.0, expected 0 or more, and finite"),
        ("borrowed", 2, np.inf, "borrowed[2] is inf"),
        ("borrowed", 2, np.nan, "borrowed[2] is nan"),
    ],
)
def test_a_broken_tree_is_refused(name, at, value, message):
    with pytest.raises(TreeError, match=re.escape(message)):
        tree(**with_entry(TREE_ARRAYS, name, at, value))


@pytest.mark.parametrize("name", sorted(SKELETON_ARRAYS))
def test_a_skeleton_takes_arrays_of_the_right_type_and_shape(name):
    with pytest.raises(TreeError, match=f"^{name} is a list"):
        skeleton(**{name: SKELETON_ARRAYS[name].tolist()})
    with pytest.raises(TreeError, match=f"^{name} holds float32"):
        skeleton(**{name: SKELETON_ARRAYS[name].astype(np.float32)})
    with pytest.raises(TreeError, match=f"^{name} has shape"):
        skeleton(**{name: SKELETON_ARRAYS[name][:, None]})


@pytest.mark.parametrize("name", sorted(TREE_ARRAYS))
def test_a_tree_takes_arrays_of_the_right_type_and_shape(name):
    with pytest.raises(TreeError, match=f"^{name} holds float32"):
        tree(**{name: TREE_ARRAYS[name].astype(np.float32)})
    with pytest.raises(TreeError, match=f"^{name} has shape"):
        tree(**{name: TREE_ARRAYS[name][1:]})


def test_a_tree_needs_a_node_and_a_class():
    nothing = np.zeros(0, np.int32)
    with pytest.raises(TreeError, match="parent has no nodes"):
        Skeleton(nothing, nothing, nothing, nothing, np.zeros(0), np.zeros(1, np.int32), nothing, nothing)
    with pytest.raises(TreeError, match="schema has no classes"):
        tree(schema=Schema(SCHEMA.features, ()))


def test_a_decision_rule_has_the_classes_of_the_tree():
    three = DecisionRule(class_weight=np.array([1.0, 2.0, 3.0]))
    with pytest.raises(
        TreeError, match=re.escape("costs of shape (3, 3), expected (2, 2), a row and a column")
    ):
        tree(decision=three)


def test_nodes_must_be_in_level_order():
    # Node 0 is a leaf, so no node can follow it.
    with pytest.raises(
        TreeError, match=re.escape("n_children[0] is 0, expected children enough to reach the next")
    ):
        Skeleton.of([0, 2, 0], [-1, 0, -1], [np.nan, 1.0, np.nan])


def test_splits_must_match_the_schema():
    with pytest.raises(
        TreeError, match=re.escape("feature[1] is 1, expected one of the schema's 1 features")
    ):
        tree(schema=Schema(SCHEMA.features[:1], SCHEMA.classes))
    with pytest.raises(
        TreeError, match="node 1 a run of 3 slots, expected 0: it tests the numeric feature 'colour'"
    ):
        tree(schema=Schema((Feature("age"), Feature("colour")), SCHEMA.classes))
    with pytest.raises(TreeError, match="node 1 a run of 3 slots, expected 2"):
        tree(schema=Schema((Feature("age"), Feature("colour", Kind.NOMINAL, ("a", "b"))), SCHEMA.classes))


def fractional_tree(evidence, rows):
    """One split whose missing values go to both children."""
    parts = Skeleton.of([2, 0, 0], [0, -1, -1], [1.0, np.nan, np.nan], missing_slot=[-2, -1, -1])
    return Tree.raw(SCHEMA, parts, np.array(evidence), rows=np.array(rows))


def test_split_rows_may_be_in_every_child_but_their_evidence_adds_up():
    assert fractional_tree([[7, 3], [5, 1], [2, 2]], [4, 3, 3]).rows.tolist() == [4, 3, 3]
    assert (
        fractional_tree([[7, 3], [0, 0], [0, 0]], [4, 0, 0]).depth == 1
    )  # without known rows, missing values stop
    with pytest.raises(TreeError, match=re.escape("evidence[0] is [7, 3], expected exactly [6, 3]")):
        fractional_tree([[7, 3], [4, 1], [2, 2]], [4, 3, 3])
    with pytest.raises(TreeError, match=re.escape("rows[2] is 5, expected no more than its parent has")):
        fractional_tree([[7, 3], [5, 1], [2, 2]], [4, 3, 5])


@given(trees(), st.data())
def test_one_changed_link_or_count_is_always_found(tree, data):
    node = data.draw(st.integers(0, tree.n_nodes - 1))
    for name in ("parent", "first_child", "n_children"):
        parts = {part: getattr(tree.skeleton, part) for part in SKELETON_ARRAYS}
        with pytest.raises(TreeError):
            Skeleton(**parts | with_entry(parts, name, node, parts[name][node] + 1))
    evidence = tree.evidence.copy()
    evidence[node] = evidence[0] + 1
    if node:
        with pytest.raises(TreeError, match="evidence"):
            replace(tree, evidence=evidence)


def test_checking_a_million_nodes_is_fast():
    n_children = np.zeros(1_000_001, np.int32)
    n_children[:500_000] = 2
    inner = n_children > 0
    large = Skeleton.of(n_children, np.where(inner, 0, -1), np.where(inner, 0.5, np.nan))
    grown = Tree.raw(SCHEMA, large, pull_up(large, np.where(inner, 0, 1)[:, None] * np.array([[2, 1]])))
    begin = time.process_time()
    replace(grown, skeleton=replace(large))
    assert time.process_time() - begin < 2  # about 0.15 s on one idle core


@pytest.mark.parametrize(
    "unit", [[5e-324, 1.0, 1.0], [1.0, 1e308, 1.0], [1.0, 1e151, 1.0], [1.0, 1.0, 1e302]]
)
def test_means_and_squares_of_a_numeric_target_are_finite(unit):
    schema = Schema((), (), Kind.NUMERIC)
    parts = {
        "evidence": np.array([[3, 6, 20]]),
        "rows": np.array([3]),
        "gain": np.array([np.nan]),
        "belief": np.array([[2.0]]),
        "borrowed": np.zeros(1),
    }
    Tree(schema, Skeleton.leaf(), **parts, unit=np.ones(3))
    with pytest.raises(TreeError, match="the evidence is worth more than any number"):
        Tree(schema, Skeleton.leaf(), **parts, unit=np.array(unit))
