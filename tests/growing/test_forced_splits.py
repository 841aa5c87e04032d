"""Splits that a tree begins with."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier, TreeRegressor, load, save
from hornbeam.data.encoded_rows import EncodedTable, EncodingSource
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.explain.candidates.node_rows import NodeRows
from hornbeam.growing.criterion import Criterion, Missing
from hornbeam.growing.forced_splits import forced_skeleton, forced_splits
from hornbeam.growing.grower import Grower, grow_in_memory
from hornbeam.recipe import Recipe
from hornbeam.tree import Skeleton
from hornbeam.tree.evidence.count import count_rows, evidence_units
from hornbeam.tree.walk import replace_subtree
from support.examples import examples
from support.strategies_growing import bins_of, growers, random_table, regression_tables, training_tables

whole_rows = (Missing.OWN, Missing.LEARNED)
THREADS = {"n_jobs": 2, "quick_codes": 0, "serial_rows": 0, "smallest_grain": 1}


def free(grower):
    """A grower without the constraints that a forced split could break."""
    return replace(
        grower,
        monotonic_cst=None,
        interaction_cst=None,
        once_per_path=False,
        forbidden_below=None,
        max_depth=None,
    )


@examples(150)
@given(st.data(), st.sampled_from([training_tables, regression_tables]))
def test_the_splits_that_growing_would_take_change_nothing(data, tables):
    """In memory, with threads, and level by level."""
    table = data.draw(tables(max_rows=100))
    grower, bins = free(data.draw(growers(table, missing=whole_rows))), bins_of(table)
    alone = grower.grow(table, bins)
    top = replace(grower, max_depth=data.draw(st.integers(1, 3))).grow(table, bins).skeleton
    forced = replace(grower, forced_splits=forced_splits(top))
    trees = [forced.grow(table, bins), grow_in_memory(forced, table, bins, **THREADS)]
    source = MemorySource(table, data.draw(st.sampled_from([3, 1000])))
    numeric = table.numeric_target
    trees.append(
        forced.grow_by_level(
            EncodingSource(source, bins),
            bins,
            table.schema,
            LocalEngine(),
            unit=evidence_units(table),
            target=None if numeric is None else source,
            gather_rows=data.draw(st.sampled_from([0, 5])),
            budget=data.draw(st.sampled_from([1, 2**28])),
        )
    )
    for tree in trees:
        assert tree.digest == alone.digest
        if grower.criterion is not Criterion.GAIN_RATIO:  # its gain is after a penalty for the number of cuts
            np.testing.assert_allclose(tree.gain, alone.gain, rtol=1e-9, atol=1e-12)


@examples(100)
@given(st.data())
def test_growing_goes_on_as_the_editor_does(data):
    """A tree of forced splits whose leaves are grown one by one, from their rows."""
    table = data.draw(training_tables(max_rows=80, missing=False))
    first, grower = (free(data.draw(growers(table, missing=whole_rows))) for _ in range(2))
    bins = bins_of(table)
    top = replace(first, max_depth=2).grow(table, bins).skeleton
    tree, encoded = count_rows(top, table), EncodedTable.of(table, bins)
    skeleton = top
    for leaf in np.flatnonzero(top.is_leaf)[::-1].tolist():  # the last first: numbers of the others stay
        branch, _ = NodeRows.of(tree, encoded, grower, leaf).grow(None)
        skeleton, _ = replace_subtree(skeleton, leaf, branch)
    forced = replace(grower, forced_splits=forced_splits(top)).grow(table, bins)
    assert forced.digest == count_rows(skeleton, table).digest


@given(st.data())
@examples(50)
def test_plain_values_hold_the_splits(data):
    table = data.draw(training_tables())
    skeleton = data.draw(growers(table)).grow(table, bins_of(table)).skeleton
    plain = forced_splits(skeleton)
    again = forced_skeleton([None if one is None else tuple(one) for one in plain])
    for name in ("n_children", "feature", "threshold", "missing_slot", "slot_start", "slot_of"):
        np.testing.assert_array_equal(getattr(again, name), getattr(skeleton, name))


# ---- thresholds, missing values and categories


@pytest.mark.parametrize("max_bins", [None, 3])
@pytest.mark.parametrize("kind", ["c4.5", "cart", "default"])
def test_a_threshold_is_kept_whatever_the_bins(kind, max_bins):
    rng = np.random.default_rng(0)
    X = rng.normal(50_000, 20_000, (200, 2))
    y = (X[:, 1] > X[:, 0]).astype(int)
    forced = {"feature": 0, "threshold": 50_000}
    classifier = TreeClassifier(kind, pruning=None, max_bins=max_bins, forced_splits=forced).fit(X, y)
    tree, below = classifier.tree_, X[:, 0] <= 50_000
    assert tree.skeleton.threshold[0] == 50_000
    assert tree.evidence[1].tolist() == [((y == k) & below).sum() for k in (0, 1)]
    assert tree.gain[0] > 0


def test_a_gain_worked_by_hand():
    """Two of each class; left one of "no", right one "no" and two "yes": 1 - 3/4 (entropy of 1 against 2)."""
    tree = Grower(forced_splits=((0, 2, 1.5, (), -1), None, None)).grow(
        *with_bins(Table.read([[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]))
    )
    impurity = -(1 / 3 * np.log2(1 / 3) + 2 / 3 * np.log2(2 / 3))
    assert tree.gain[0] == pytest.approx(1 - 3 / 4 * impurity)
    assert tree.skeleton.threshold.tolist()[:1] == [1.5]
    assert tree.n_leaves == 3


def with_bins(table):
    return table, bins_of(table)


NAN = float("nan")
ROWS = [[1.0, "A"], [2.0, "A"], [3.0, "B"], [4.0, "C"], [NAN, "B"], [NAN, "C"]]
STATE = ["no", "no", "yes", "yes", "no", "yes"]


@pytest.mark.parametrize(
    ("split", "counts"),
    [
        ({"feature": 0, "threshold": 2.5}, [[2, 0], [0, 2], [1, 1]]),
        ({"feature": 0, "threshold": 2.5, "missing": "left"}, [[3, 1], [0, 2]]),
        ({"feature": 0, "threshold": 2.5, "missing": "right"}, [[2, 0], [1, 3]]),
        ({"feature": 0, "threshold": float("inf")}, [[2, 2], [1, 1]]),
        ({"feature": "x1", "categories": [["A"], ["B", "C"]]}, [[2, 0], [1, 3]]),
        ({"feature": "x1", "categories": [["A"], ["B"]]}, [[2, 0], [1, 1], [0, 2]]),
    ],
)
@pytest.mark.parametrize("missing", ["own", "learned"])
def test_where_rows_of_no_child_go(split, counts, missing):
    X = np.array(ROWS, dtype=object)
    parameters = {"missing": missing, "max_depth": 1, "forced_splits": split}
    tree = TreeClassifier("cart", **parameters).fit(X, STATE).tree_
    assert tree.evidence[1:].tolist() == counts


@pytest.mark.parametrize("empty", [9.0, -9.0, 1.0])
def test_a_split_that_leaves_a_child_without_rows_is_left_out(empty):
    table = random_table(0, missing=0.0)
    forced = ((0, 2, 1.0, (), -1), (0, 2, empty, (), -1), None, None, None)
    tree = Grower(forced_splits=forced, max_depth=2).grow(*with_bins(table))
    assert tree.skeleton.threshold[0] == 1.0
    assert (tree.rows > 0).all()
    assert tree.skeleton.n_children[1] == 2  # grown freely


# ---- in the words of a user


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3)).round(1)
    return X, (X[:, 0] + X[:, 1] > rng.normal(size=300) / 2).astype(int)


@pytest.mark.parametrize("kind", [TreeClassifier, TreeRegressor])
def test_a_tree_or_its_splits_as_a_dict(kind, rows, tmp_path):
    X, y = rows
    first = kind("cart", max_depth=1).fit(X[:, ::-1], y).tree_
    split = {"feature": first.skeleton.feature.item(0), "threshold": first.skeleton.threshold.item(0)}
    by_tree = kind("cart", forced_splits=first).fit(X, y)
    by_dict = kind("cart", forced_splits=split).fit(X, y)
    assert by_tree.tree_.digest == by_dict.tree_.digest != kind("cart").fit(X, y).tree_.digest
    for model in (by_tree, by_dict):
        save(model, tmp_path / "model.hornbeam")
        loaded = load(tmp_path / "model.hornbeam")
        assert loaded.fit(X, y).tree_.digest == by_dict.tree_.digest


def test_an_edited_tree_is_a_top(rows):
    """The editor forces a split and grows both children on; a fit with the forced split gives the same tree."""
    X, y = rows
    editor = TreeClassifier("cart").fit(X, y).edit(X, y)
    editor.split(0, "x2", threshold=0.25)
    editor.grow(2, None)
    editor.grow(1, None)
    forced = TreeClassifier("cart", forced_splits={"feature": "x2", "threshold": 0.25}).fit(X, y)
    assert forced.tree_.digest == editor.tree.digest


def test_cross_fitting_and_constraints_go_with_forced_splits(rows):
    X, y = rows
    split = {"feature": 2, "threshold": 0.0, "left": {"feature": 0, "threshold": 0.0}}
    classifier = TreeClassifier(forced_splits=split, once_per_path=True).fit(X, y)
    assert classifier.tree_.skeleton.feature[0] == 2
    with pytest.raises(ParameterError, match="a constraint does not allow it"):
        TreeClassifier(forced_splits=split, interaction_cst="no_interactions").fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"forced_splits": "x0"}, "expected a tree, or a dict"),
        ({"forced_splits": {"threshold": 1}}, "expected a tree, or a dict"),
        ({"forced_splits": {"feature": "x9", "threshold": 1}}, "The first features are 'x0'"),
        ({"forced_splits": {"feature": 0}}, "expected a threshold"),
        ({"forced_splits": {"feature": 0, "threshold": 1, "then": None}}, "'then' is none"),
        ({"forced_splits": {"feature": 0, "threshold": 1, "missing": "every"}}, "'left', 'right' or 'own'"),
        ({"forced_splits": {"feature": 0, "threshold": 1, "left": 3}}, "expected a tree, or a dict"),
        ({"forced_splits": {"feature": 0, "threshold": 1, "left": {"feature": 0, "threshold": 0}}, "max_depth": 1},
         "2 levels, and max_depth=1"),
        ({"forced_splits": {"feature": 0, "threshold": 1}, "monotonic_cst": [1, 0, 0]}, "a monotone constraint"),
        ({"forced_splits": {"feature": 0, "threshold": 1}, "preset": "readable"}, "a tree with a teacher"),
        ({"forced_splits": ((7, 2, 1.0, (), -1), None, None)}, "is of feature 7; expected 0 to 2"),
        ({"forced_splits": ((0, 2, None, (0, 1), -1), None, None)}, "has 2 categories"),
        ({"forced_splits": ((0, 2, 1.0, (), -2), None, None)}, "to every child"),
        ({"forced_splits": ((0,),)}, "expected a tree, or a dict"),
        ({"forced_splits": TreeClassifier("cart").fit([["a"], ["b"]], [0, 1]).tree_}, "other features"),
    ],
)  # fmt: skip
def test_what_cannot_be_forced_is_refused(parameters, message, rows):
    with pytest.raises(ParameterError, match=message):
        TreeClassifier(**parameters).fit(*rows)


def test_bins_get_the_thresholds_as_edges():
    table = random_table(0, n_rows=200, n_values=1000, missing=0.0)
    forced = forced_splits(Skeleton.of([2, 0, 0], [1, -1, -1], [7.25, np.nan, np.nan]))
    recipe = Recipe(max_bins=4, grower=Grower(forced_splits=forced))
    plain, bins = Recipe(max_bins=4).bin(table), recipe.bin(table)
    assert sorted({*bins.edges[1]} - {*plain.edges[1]}) == [7.25]
    assert bins.n_codes.tolist() == [plain.n_codes[0], plain.n_codes[1] + 1, plain.n_codes[2]]
    assert dict(recipe.grower.as_step().parameters)["forced_splits"] == forced
