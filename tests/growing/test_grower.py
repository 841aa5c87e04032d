"""The grower against its slow twin, split by split, and the rules of its docstring."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, TreeError
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.recipe import PRESETS
from hornbeam.tree import Step
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.reference_growing import Node, Twin, best_subset_gain, entropy, grow_slowly
from support.strategies_growing import bins_of, growers, random_table, training_tables


def assert_same(tree: Tree, twin: Tree) -> None:
    for name in ("n_children", "feature", "missing_slot", "slot_start", "slot_of", "threshold"):
        np.testing.assert_array_equal(getattr(tree.skeleton, name), getattr(twin.skeleton, name), name)
    np.testing.assert_array_equal(tree.evidence, twin.evidence)
    np.testing.assert_array_equal(tree.rows, twin.rows)
    np.testing.assert_allclose(tree.gain, twin.gain, rtol=0, atol=2e-9)
    assert tree.digest == twin.digest


@examples(400)
@given(st.data())
def test_every_node_equals_that_of_the_twin(data):
    table = data.draw(training_tables())
    grower = replace(
        data.draw(growers(table)), corrected=False
    )  # the twin of S-values is in test_corrected.py
    bins = bins_of(table)
    assert_same(grower.grow(table, bins), grow_slowly(grower, table, bins))


@examples(100)
@given(st.data())
def test_with_few_bins_the_tree_equals_that_of_the_twin(data):
    table = data.draw(training_tables(max_rows=60))
    grower = replace(data.draw(growers(table)), corrected=False)
    bins = bins_of(table, max_bins=data.draw(st.sampled_from([1, 2, 3, 10])))
    assert_same(grower.grow(table, bins), grow_slowly(grower, table, bins))


@examples(200)
@given(st.integers(0, 2**32 - 1), st.sampled_from([Criterion.ENTROPY, Criterion.GINI]), st.integers(2, 8))
def test_for_two_classes_the_subset_is_the_best_of_all(seed, criterion, n_categories):
    table = random_table(seed, n_numeric=0, n_categories=n_categories, missing=0.0, weights="whole")
    grower, bins = Grower(criterion, max_depth=1), bins_of(table)
    tree = grower.grow(table, bins)
    assume(tree.n_nodes > 1)
    twin = Twin(grower, table, bins)
    root = Node(twin.cases, 0, (0.0, 1.0))
    assert tree.gain[0] == pytest.approx(best_subset_gain(twin, root, 0), abs=2e-9)


def test_categories_are_split_even_if_the_largest_class_has_the_same_share_in_each():
    # Class 0 is half of every category; the other half is class 1 in a and c, and class 2 in b and d.
    rows = [(c, k) for c, other in zip("abcd", (1, 2, 1, 2), strict=True) for k in [0] * 5 + [other] * 5]
    x, y = np.array([c for c, _ in rows], dtype=object)[:, None], [k for _, k in rows]
    tree = TreeClassifier("cart", smoothing=None, max_depth=1).fit(x, y).tree_
    assert sorted(map(sorted, tree.evidence[1:].tolist())) == [[0, 10, 10], [0, 10, 10]]
    assert len(set(tree.skeleton.slot_of[[0, 2]])) == len(set(tree.skeleton.slot_of[[1, 3]])) == 1


# ---- ties


def test_among_equal_features_the_first_is_split():
    x = np.array([0.0, 0.0, 1.0, 1.0])
    tree = TreeClassifier("cart").fit(np.c_[x, x, 1 - x], [0, 0, 1, 1]).tree_
    assert tree.skeleton.feature[0] == 0


@pytest.mark.parametrize("criterion", ["entropy", "gini", "hellinger"])
def test_among_equal_cuts_the_lowest_is_taken(criterion):
    x = np.arange(6.0)[:, None]
    tree = TreeClassifier("cart", criterion=criterion, max_depth=1).fit(x, [0, 1, 1, 1, 1, 0]).tree_
    assert tree.skeleton.threshold[0] == 0.5


@pytest.mark.parametrize(
    ("criterion", "first", "second"),
    [
        ("gini", [(0, 1, 5), (1, 1, 1)], [(1, 2, 3), (0, 0, 3)]),
        ("gini", [(0, 0, 1), (1, 4, 4)], [(1, 2, 4), (0, 2, 1)]),
        ("entropy", [(0, 0, 1), (1, 2, 3)], [(1, 1, 2), (0, 1, 2)]),
        ("entropy", [(0, 3, 3), (1, 0, 0)], [(1, 2, 0), (0, 1, 3)]),
    ],
)
def test_gains_that_differ_only_by_rounding_are_equal(criterion, first, second):
    # Class counts left and right of two splits of equal gain; in rounded sums the second gain is larger.
    sides = [
        [(k, side) for side, counts in enumerate(test) for k, n in enumerate(counts) for _ in range(n)]
        for test in (first, second)
    ]
    (y, one), (also_y, other) = (np.array(sorted(side)).T for side in sides)
    assert (y == also_y).all()
    tree = (
        TreeClassifier("cart", criterion=criterion, max_depth=1).fit(np.c_[one, other].astype(float), y).tree_
    )
    assert tree.skeleton.feature[0] == 0


# ---- limits


def test_every_split_reaches_the_minimum_decrease():
    x, y = np.arange(10.0)[:, None], np.array([1] * 6 + [0] * 4)
    y[[5, 6]] = 0, 1
    full = TreeClassifier("cart").fit(x, y).tree_
    decrease = full.gain * full.rows / full.rows[0]
    bar = np.nanmin(decrease) * 1.001
    cut = TreeClassifier("cart", min_impurity_decrease=bar).fit(x, y).tree_
    kept = cut.gain * cut.rows / cut.rows[0]
    assert 1 < cut.n_leaves < full.n_leaves
    assert np.nanmin(kept) >= bar


@pytest.mark.parametrize(
    ("limit", "least"), [("min_samples_split", 7), ("min_samples_leaf", 4), ("min_weight_leaf", 4.0)]
)
def test_every_node_has_the_minimum_size(limit, least):
    table = random_table(5, n_rows=200, n_classes=3, noise=1.0, weights="whole")
    tree = Grower(**{limit: least}).grow(table, bins_of(table))
    size = tree.evidence.sum(axis=1) if limit == "min_weight_leaf" else tree.rows
    limited = ~tree.skeleton.is_leaf if limit == "min_samples_split" else np.arange(tree.n_nodes) > 0
    assert tree.n_leaves > 5
    assert size[limited].min() >= least


def test_two_branches_of_a_multiway_split_have_the_minimum_size():
    """C4.5's rule: the branches of rare categories may be smaller."""
    letters = list("aaaabbbbccd")
    y = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1]
    for least, sizes in ((2, [4, 4, 2, 1]), (4, [4, 4, 2, 1]), (5, [11])):
        model = TreeClassifier(
            "cart", nominal_split="multiway", min_samples_leaf=least, smoothing=None, pruning=None
        )
        tree = model.fit([[letter] for letter in letters], y).tree_
        assert tree.rows[tree.skeleton.is_leaf].tolist() == sizes


def test_the_depth_is_at_most_max_depth():
    table = random_table(6, n_rows=300, noise=1.0)
    depths = [Grower(max_depth=depth).grow(table, bins_of(table)).depth for depth in (1, 2, 5)]
    assert depths == [1, 2, 5]


# ---- missing values and infinity


def test_infinity_is_a_known_value_in_a_split_of_known_against_missing_values():
    x = np.array([[np.inf], [np.inf], [np.nan], [np.nan]])
    clf = TreeClassifier("cart", smoothing=None).fit(x, ["known", "known", "lost", "lost"])
    assert clf.predict(x).tolist() == ["known", "known", "lost", "lost"]
    assert clf.tree_.skeleton.threshold[0] == np.inf


def test_missing_values_have_their_own_child_if_enough_rows_have_them():
    x = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, np.nan, np.nan])[:, None]
    table = Table.read(x, [0, 0, 0, 1, 1, 1, 2, 2])
    own = Grower().grow(table, bins_of(table))
    assert (own.skeleton.n_children[0], own.skeleton.missing_slot[0]) == (3, 2)
    few = Grower(min_samples_leaf=3).grow(table, bins_of(table))
    assert (few.skeleton.n_children[0], few.skeleton.missing_slot[0]) == (2, 1)


# ---- what is refused


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 0}, "max_depth=0: expected a whole number of at least 1, or None for no limit"),
        (
            {"max_leaf_nodes": 1},
            "max_leaf_nodes=1: expected a whole number of at least 2, or None for no limit",
        ),
        ({"min_samples_split": 1}, "min_samples_split=1: expected a whole number of at least 2"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0: expected a whole number of at least 1"),
        ({"min_weight_leaf": -1.0}, "min_weight_leaf=-1.0: expected a number of at least 0"),
        (
            {"min_impurity_decrease": float("nan")},
            "min_impurity_decrease=nan: expected a number of at least 0",
        ),
        (
            {"monotonic_cst": (0, 2)},
            r"monotonic_cst=\(0, 2\): expected for each feature 1 \(rises\), -1 \(falls\) or 0 \(free\)",
        ),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Grower(**parameters)


def test_constraints_that_do_not_fit_the_table_are_refused():
    table = random_table(1, n_classes=3)
    with pytest.raises(ParameterError, match="second of two classes; found 3 classes"):
        Grower(monotonic_cst=(1, 0, 0)).grow(table, bins_of(table))
    table = random_table(1, n_classes=2)
    with pytest.raises(ParameterError, match="monotonic_cst has 2 entries for 3 features"):
        Grower(monotonic_cst=(1, 0)).grow(table, bins_of(table))


def test_constraints_are_refused_for_fractional_rows():
    holes, whole = random_table(1), random_table(1, missing=0.0)
    grower = Grower(missing=Missing.FRACTIONAL, monotonic_cst=(1, 0, 0))
    with pytest.raises(ParameterError, match="expected missing='own' or 'learned', or no constraints"):
        grower.grow(holes, bins_of(holes))
    assert grower.grow(whole, bins_of(whole)).n_leaves > 1


def test_codes_out_of_range_are_refused():
    table = random_table(1)
    bins = bins_of(table)
    codes = bins.encode(table)
    codes[3, 1] = bins.n_codes[1] + 1
    with pytest.raises(DataError, match=r"column 1 of the codes has the code \d+; expected at most \d+"):
        Grower().grow(table, bins, codes)


@pytest.mark.filterwarnings("ignore:y has 70,000 classes")
def test_more_classes_than_codes_are_refused():
    with pytest.raises(DataError, match="70,000 classes; at most 65,535 are supported"):
        TreeClassifier().fit(np.zeros((70_000, 1)), np.arange(70_000))


def test_the_history_has_every_parameter():
    table = Table.read([[0.0], [1.0]], ["a", "b"])
    step = Grower(Criterion.GINI, Nominal.MULTIWAY, max_depth=3).grow(table, bins_of(table)).history[0]
    assert step.name == "grow"
    assert dict(step.parameters) == {
        "criterion": "gini",
        "nominal_split": "multiway",
        "missing": "own",
        "max_depth": 3,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
        "min_weight_leaf": 0.0,
        "min_weight_fraction_leaf": 0.0,
        "min_impurity_decrease": 0.0,
        "max_leaf_nodes": None,
        "monotonic_cst": None,
        "max_features": None,
        "corrected": False,
        "design_effect": 1.0,
    }


def test_gain_of_a_pure_split_is_the_entropy_of_the_node():
    tree = TreeClassifier("id3").fit(np.arange(6.0)[:, None], [0, 0, 1, 1, 1, 1]).tree_
    assert tree.gain[0] == pytest.approx(entropy([2, 4]), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "kind"), [("criterion", Criterion), ("nominal_split", Nominal), ("missing", Missing)]
)
def test_a_choice_may_be_given_as_text(name, kind):
    for member in kind:
        assert getattr(Grower(**{name: member.value}), name) is member
    with pytest.raises(ParameterError, match=f"{name}='other': expected one of '"):
        Grower(**{name: "other"})


@pytest.mark.parametrize(("n_missing", "n_children"), [(9, 2), (10, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_branch_of_missing_values_needs_its_rows(n_missing, n_children, weighted):
    """Three groups of pure classes; missing values go to the side of their class if they are too few."""
    x = [0.0] * 10 + [1.0] * 10 + [np.nan] * n_missing
    y = [0] * 10 + [1] * 10 + [2] * n_missing
    table = Table.read([[value] for value in x], y)
    if weighted:  # a row of weight n is n rows
        table = Table.read([[0.0], [1.0], [np.nan]], [0, 1, 2], sample_weight=[10, 10, n_missing])
    tree = Grower(corrected=False, min_samples_missing=10).grow(table, bins_of(table))
    assert tree.skeleton.n_children[0] == n_children
    assert Grower().grow(table, bins_of(table)).skeleton.n_children[0] == 3


def test_presets_of_the_literature_have_no_minimum_of_missing_values():
    least = {name: recipe.grower.min_samples_missing for name, recipe in PRESETS.items()}
    assert least == {"default": 10, "id3": 0, "c4.5": 0, "c4.4": 0, "cart": 0}


def test_a_history_with_other_settings_cannot_be_repeated():
    step = Step.of("grow", max_depth="int8")
    with pytest.raises(TreeError, match="'grow' that cannot be repeated: max_depth='int8': expected"):
        Grower.recorded(step, Schema((), ("no", "yes")))
