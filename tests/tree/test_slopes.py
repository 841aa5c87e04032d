"""Slopes of nodes: every invariant broken one at a time, and what edits, digests and pickles keep."""

import copy
import hashlib
import pickle
import re
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import TreeError
from hornbeam.tree import Skeleton, Slopes, Step, collapse, with_belief, with_slopes
from hornbeam.tree.edit import raise_child, with_decision
from hornbeam.tree.evidence.count import count_rows, recount
from hornbeam.tree.evidence.update import add_rows, remove_rows
from hornbeam.tree.tree import Tree
from support.strategies import chain, skeletons, slopes_of, tables, trees, trees_with_slopes

nan = np.nan
SCHEMA = Schema((Feature("age"), Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))), ("no", "yes"))
#       0  age <= 30
#      / \
#     1   2      1  age <= 20
#    / \
#   3   4
SKELETON = Skeleton.of([2, 2, 0, 0, 0], [0, 0, -1, -1, -1], [30.0, 20.0, nan, nan, nan])
TREE = Tree.raw(SCHEMA, SKELETON, np.array([[5, 5], [4, 1], [1, 4], [3, 1], [1, 0]]))
ARRAYS = {
    "node": np.array([2, 3, 3, 3], np.int32),
    "feature": np.array([0, 0, 1, 1], np.int32),
    "category": np.array([-1, -1, 0, 2], np.int32),
    "low": np.array([31.0, 5.0, 0.0, 0.0]),
    "high": np.array([80.0, 20.0, 1.0, 1.0]),
    "centre": np.array([50.0, 12.0, 0.25, 0.5]),
    "slope": np.array([[0.0, 0.1], [0.0, -0.3], [0.5, 0.0], [0.0, 2.0]]),
}
SLOPES = Slopes(**ARRAYS)


def table(schema=SCHEMA):
    columns = (np.array([10.0, 25.0, 40.0, nan]), np.array([0, 2, -1, 1], np.int32))
    return Table(schema, columns, np.array([0, 0, 1, 1], np.int32), None, 1.0, None)


def equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one.arrays, other.arrays, strict=True))


def test_the_example_passes():
    tree = with_slopes(TREE, SLOPES, Step.of("slopes", terms=4))
    assert len(tree.slopes) == 4
    assert tree.slopes.nodes.tolist() == [2, 3]
    assert [list(tree.slopes.of_node(node)) for node in range(5)] == [[], [], [0], [1, 2, 3], []]
    assert tree.slopes.starts(5).tolist() == [0, 0, 0, 1, 4, 4]
    assert str(tree.history[-1]) == "slopes(terms=4)"


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("node", 0, -1, "slopes.node[0] is -1, expected 0 or more"),
        ("node", 0, 4, "slopes has terms 0 and 1 of nodes 4 and 3, expected ascending order"),
        ("node", 3, 5, "slopes.node[3] is 5, expected one of the 5 nodes"),
        ("feature", 0, -1, "slopes.feature[0] is -1"),
        ("feature", 3, 2, "slopes.feature[3] is 2, expected one of the schema's 2 features"),
        ("feature", 1, 1, "slopes has terms 1 and 2"),
        ("category", 3, 0, "slopes has terms 2 and 3"),
        ("category", 3, 3, "slopes.category[3] is 3, expected the code of a category"),
        ("category", 2, -2, "slopes.category[2] is -2, expected -1 or more"),
        ("low", 0, -np.inf, "slopes.low[0] is -inf, expected a finite number"),
        ("high", 0, np.inf, "slopes.high[0] is inf, expected a finite number"),
        ("centre", 0, nan, "slopes.centre[0] is nan, expected a finite number"),
        ("centre", 0, 30.0, "slopes.centre[0] is 30.0, expected a number from low to high"),
        ("centre", 0, 80.5, "slopes.centre[0] is 80.5, expected a number from low to high"),
        ("low", 2, -1.0, "slopes.low[2] is -1.0, expected 0, and high 1, for a category"),
        ("high", 2, 2.0, "slopes.low[2] is 0.0, expected 0, and high 1, for a category"),
        ("slope", (0, 1), nan, "slopes.slope[0] is [0.0, nan], expected a finite number"),
        ("slope", (0, 1), 1e99, "slopes.slope[0] is [0.0, 1e+99], expected a change of at most 1e+100"),
        ("high", 1, 1e102, "slopes.slope[1] is [0.0, -0.3], expected a change of at most 1e+100"),
    ],
)
def test_an_invalid_entry_is_named(name, at, value, message):
    array = ARRAYS[name].copy()
    array[at] = value
    with pytest.raises(TreeError, match=re.escape(message)):
        with_slopes(TREE, Slopes(**ARRAYS | {name: array}))
    with pytest.raises(TreeError, match=re.escape(message)):
        replace(TREE, slopes=Slopes(**ARRAYS | {name: array}))


def test_a_range_too_wide_for_a_difference_is_refused():
    with pytest.raises(TreeError, match="a change of at most 1e"):
        Slopes.of([0], [0], low=[-1.7e308], high=[1.7e308], centre=[-1.7e308], slope=[[0.0]])


@pytest.mark.parametrize("name", list(ARRAYS))
def test_types_and_shapes_are_checked(name):
    with pytest.raises(TreeError, match=rf"slopes\.{name} holds int16"):
        Slopes(**ARRAYS | {name: ARRAYS[name].astype(np.int16)})
    if name != "node":
        with pytest.raises(TreeError, match=rf"slopes\.{name} has (shape \(3,|3 rows)"):
            Slopes(**ARRAYS | {name: ARRAYS[name][:3]})
    with pytest.raises(TreeError, match=rf"slopes\.{name} is a list"):
        Slopes(**ARRAYS | {name: ARRAYS[name].tolist()})


def test_a_nominal_feature_needs_categories_and_a_numeric_one_has_none():
    one = {"low": [0], "high": [1], "centre": [0], "slope": [[0.0, 1.0]]}
    with pytest.raises(TreeError, match=r"slopes.category\[0\] is -1, expected the code of a category"):
        with_slopes(TREE, Slopes.of([2], [1], **one))
    with pytest.raises(
        TreeError, match=r"slopes.category\[0\] is 0, expected -1: the feature is not nominal"
    ):
        with_slopes(TREE, Slopes.of([2], [0], category=[0], **one))


def test_one_column_of_slopes_per_class():
    one = {"low": [0], "high": [1], "centre": [0]}
    with pytest.raises(TreeError, match=r"slopes.slope has 1 columns, expected 2"):
        with_slopes(TREE, Slopes.of([2], [0], slope=[[1.0]], **one))
    schema = Schema((Feature("age"),), (), Kind.NUMERIC)
    mean = Tree.raw(schema, Skeleton.leaf(), np.array([[4, 8, 20]]))
    assert with_slopes(mean, Slopes.of([0], [0], slope=[[1.0]], **one)).slopes.n_outputs == 1


def test_a_tree_that_splits_rows_has_no_slopes():
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, nan, nan], missing_slot=[-2, -1, -1])
    tree = Tree.raw(SCHEMA, skeleton, np.array([[5, 5], [4, 1], [1, 4]]))
    with pytest.raises(TreeError, match="missing values go to every child"):
        with_slopes(tree, Slopes.of([1], [0], low=[0], high=[1], centre=[0], slope=[[0.0, 1.0]]))


@given(trees())
def test_a_tree_has_an_empty_table_by_default(tree):
    assert len(tree.slopes) == 0
    assert tree.slopes.slope.shape == (0, tree.schema.n_outputs)
    assert with_slopes(tree, Slopes.none()).slopes.n_outputs == tree.schema.n_outputs
    assert with_slopes(tree, Slopes.none()).digest == tree.digest


@given(trees_with_slopes())
def test_pickles_and_copies_keep_the_slopes(tree):
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)):
        assert twin.digest == tree.digest
        assert equal(twin.slopes, tree.slopes)
        for array in twin.slopes.arrays:
            assert not array.flags.writeable
            assert array.flags.c_contiguous
    with pytest.raises(FrozenInstanceError):
        tree.slopes.node = tree.slopes.node


def test_unpickling_runs_the_checks():
    data = pickle.dumps(with_slopes(TREE, SLOPES))
    centre = np.array([12.0]).tobytes()
    assert data.count(centre) == 1
    with pytest.raises(TreeError, match=r"slopes.centre\[1\] is 2.0, expected a number from low to high"):
        pickle.loads(data.replace(centre, np.array([2.0]).tobytes()))


def test_writable_arrays_are_copied():
    low = ARRAYS["low"].copy()
    slopes = Slopes(**ARRAYS | {"low": low})
    low[0] = 99.0
    assert slopes.low[0] == 31.0


def test_every_array_changes_the_digest():
    wider = replace(SLOPES, low=SLOPES.low - np.array([1.0, 1, 0, 0]))
    changed = [
        Slopes.none(2),
        SLOPES,
        SLOPES.renumbered([0, 1, -1, 3, 4]),
        SLOPES.renumbered([0, 1, 2, 4, -1]),
        wider,
        replace(SLOPES, high=SLOPES.high + np.array([1.0, 1, 0, 0])),
        replace(SLOPES, centre=SLOPES.centre + 0.25),
        replace(SLOPES, slope=-SLOPES.slope),
        replace(SLOPES, category=np.array([-1, -1, 1, 2], np.int32)),
    ]
    assert len({with_slopes(TREE, slopes).digest for slopes in changed}) == len(changed)


def test_the_bytes_of_the_digest_are_those_documented(monkeypatch):
    hashed = []
    plain = hashlib.sha256

    class Recorder:
        def __init__(self, data):
            self.sha = plain(data)
            hashed.append(bytes(data))

        def update(self, data):
            hashed.append(bytes(data))
            self.sha.update(data)

        def hexdigest(self):
            return self.sha.hexdigest()

    monkeypatch.setattr(hashlib, "sha256", Recorder)
    _ = with_slopes(TREE, SLOPES).digest
    stream = b"slopes"
    for array, dtype in zip(SLOPES.arrays, ["<i4"] * 3 + ["<f8"] * 4, strict=True):
        stream += array.size.to_bytes(8, "little") + array.astype(dtype).tobytes()
    assert b"".join(hashed).endswith(stream)


def test_the_digest_never_changes_between_versions():
    assert (
        with_slopes(TREE, SLOPES).digest == "dc31d750bd035bda0e13deb805a98ec07bf2ebc59584d57a81cc18778349690d"
    )
    minus_zero = replace(SLOPES, slope=np.where(SLOPES.slope == 0, -0.0, SLOPES.slope))
    assert with_slopes(TREE, minus_zero).digest == with_slopes(TREE, SLOPES).digest


# -------------------------------------------------------------------------------------------------------- edits


@given(trees_with_slopes(), st.data())
def test_collapse_keeps_the_terms_of_nodes_that_remain(tree, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=tree.n_nodes, max_size=tree.n_nodes)))
    cut = collapse(tree, mask)
    cut = replace(cut)  # runs all checks

    def terms(of):
        """Terms by the path of their node: the slots from the root."""
        path = {0: ()}
        for node in range(of.n_nodes):
            for slot in range(of.skeleton.n_children[node]):
                path[int(of.skeleton.first_child[node]) + slot] = (*path[node], slot)
        columns = [array.tolist() for array in of.slopes.arrays]
        return [(path[node], *rest) for node, *rest in zip(*columns, strict=True)], path

    kept, paths = terms(cut)
    before, paths_before = terms(tree)
    mask_of = {
        paths_before[node]: mask[node] for node in range(tree.n_nodes) if tree.skeleton.n_children[node]
    }

    def remains(path):
        return not any(mask_of.get(path[:length], False) for length in range(len(path)))

    assert sorted(map(repr, kept)) == sorted(repr(term) for term in before if remains(term[0]))
    assert {term[0] for term in kept} <= set(paths.values())


def test_collapse_by_hand():
    tree = with_slopes(TREE, SLOPES)
    cut = collapse(tree, np.array([False, True, False, False, False]))
    assert cut.slopes.node.tolist() == [2]
    assert cut.slopes.slope.tolist() == [[0.0, 0.1]]
    assert len(collapse(tree, np.array([True, *[False] * 4])).slopes) == 0
    assert collapse(tree, np.zeros(5, np.bool_)).slopes is tree.slopes


def test_collapse_keeps_the_terms_of_the_node_and_above():
    """Terms 1 and 2, at the root and at node 1, stay; that of node 3 goes with it."""
    one = {"low": [0] * 3, "high": [1] * 3, "centre": [0] * 3}
    slopes = Slopes.of([0, 1, 3], [0, 0, 0], slope=[[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], **one)
    cut = collapse(with_slopes(TREE, slopes), np.array([False, True, False, False, False]))
    assert cut.slopes.node.tolist() == [0, 1]
    assert cut.slopes.slope[:, 0].tolist() == [1.0, 2.0]
    assert cut.path_slopes.node.tolist() == [0, 1, 1, 2]
    assert cut.path_slopes.slope[:, 0].tolist() == [1.0, 1.0, 2.0, 1.0]


@given(trees_with_slopes())
def test_terms_of_leaves_are_those_of_their_paths(tree):
    leaf = tree.skeleton.is_leaf
    at_leaves = with_slopes(
        tree, tree.slopes.renumbered(np.where(leaf, np.arange(tree.n_nodes), -1).astype(np.int32))
    )
    assert at_leaves.path_slopes is at_leaves.slopes


def test_paths_with_too_many_terms_are_refused():
    """1,400 terms of the root, at each of 12,001 nodes below it."""
    schema = Schema(tuple(Feature(f"x{f}") for f in range(1_400)), ("no", "yes"))
    skeleton = chain(6_000)
    tree = Tree.raw(schema, skeleton, np.zeros((skeleton.n_nodes, 2), np.int64))
    many = np.zeros(1_400)
    slopes = Slopes.of(np.zeros(1_400), range(1_400), many, many, many, np.zeros((1_400, 2)))
    with pytest.raises(TreeError, match=r"slopes has 16,801,400 terms on the paths to all nodes together"):
        with_slopes(tree, slopes)


@st.composite
def counted(draw):
    schema = draw(st.just(SCHEMA))
    skeleton, rows = draw(skeletons(schema, fractional=False)), draw(tables(schema))
    tree = count_rows(skeleton, rows)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return with_slopes(tree, slopes_of(tree, rng)), rows


@given(counted())
def test_new_counts_and_predictions_keep_the_slopes(pair):
    tree, rows = pair
    twice = add_rows(tree, rows)
    smooth = with_belief(tree, (tree.belief + 0.5) / 2, tree.borrowed)
    for edited in (recount(tree, rows), twice, remove_rows(twice, rows), smooth):
        assert equal(edited.slopes, tree.slopes)
    assert remove_rows(twice, rows).digest == tree.digest


def test_counting_and_raising_give_no_slopes():
    tree = with_slopes(count_rows(SKELETON, table()), SLOPES)
    assert len(raise_child(tree, 0, 0, table()).slopes) == 0
    assert len(count_rows(SKELETON, table()).slopes) == 0
    assert with_decision(tree, tree.decision).slopes is tree.slopes
