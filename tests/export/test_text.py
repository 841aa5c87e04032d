"""A tree as text: every kind of split, unusual names, and any depth."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import ParameterError
from hornbeam.export import to_text
from hornbeam.export.wording import conditions, conditions_within, threshold_digits
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from hornbeam.tree.words import number_text
from support.strategies import chain, trees

nan = np.nan


def split(feature, *, slots=(), threshold=nan, n_children=2, missing_slot=-1):
    leaves = n_children
    skeleton = Skeleton.of(
        [n_children] + [0] * leaves,
        [0] + [-1] * leaves,
        [threshold] + [nan] * leaves,
        missing_slot=[missing_slot] + [-1] * leaves,
        slot_start=[0] + [len(slots)] * (leaves + 1),
        slot_of=slots,
    )
    return Tree.raw(Schema((feature,), ("a",)), skeleton, np.zeros((leaves + 1, 1), np.int64))


def branches(tree, **options):
    return [re.sub(r"^.─ \d\) | ··.*", "", line) for line in to_text(tree, **options).splitlines()[1:]]


def test_the_usual_tree_of_iris():
    schema = Schema(
        (Feature("petal length (cm)"), Feature("petal width (cm)")), ("setosa", "versicolor", "virginica")
    )
    skeleton = Skeleton.of(
        [2, 0, 2, 2, 0, 0, 0], [0, -1, 1, 0, -1, -1, -1], [2.45, nan, 1.75, 4.95, nan, nan, nan]
    )
    leaves = np.array([[0] * 3, [50, 0, 0], [0] * 3, [0] * 3, [0, 1, 45], [0, 47, 1], [0, 2, 4]])
    assert to_text(Tree.raw(schema, skeleton, pull_up(skeleton, leaves))).splitlines() == [
        "0) every row",
        "├─ 1) petal length (cm) ≤ 2.45 ········ setosa      1.000  50 setosa",
        "└─ 2) petal length (cm) > 2.45",
        "   ├─ 3) petal width (cm) ≤ 1.75",
        "   │  ├─ 5) petal length (cm) ≤ 4.95 ·· versicolor  0.979  47 versicolor, 1 virginica",
        "   │  └─ 6) petal length (cm) > 4.95 ·· virginica   0.667  4 virginica, 2 versicolor",
        "   └─ 4) petal width (cm) > 1.75 ······ virginica   0.978  45 virginica, 1 versicolor",
    ]


def test_a_single_leaf():
    tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[1, 3]]))
    assert to_text(tree) == "0) every row ·· yes  0.750  3 yes, 1 no"
    assert to_text(tree, positive="no") == "0) every row ·· yes  P(no) 0.250  3 yes, 1 no"
    with pytest.raises(ParameterError, match=r"positive='No': expected one of the classes \['no', 'yes'\]"):
        to_text(tree, positive="No")


@pytest.mark.parametrize(
    ("threshold", "written"),
    [
        (2.0, "2"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (np.inf, "inf"),
        (1 / 3, "0.3333333333333333"),
    ],
)
def test_thresholds_are_shortest_decimals(threshold, written):
    assert branches(split(Feature("x"), threshold=threshold)) == [f"x ≤ {written}", f"x > {written}"]


def test_the_branch_of_missing_values_is_marked():
    x = Feature("x")
    assert branches(split(x, threshold=1.0, missing_slot=1)) == ["x ≤ 1", "x > 1 or missing"]
    assert branches(split(x, threshold=1.0, n_children=3, missing_slot=2)) == ["x ≤ 1", "x > 1", "x missing"]
    shared = ["x ≤ 1, or missing in part", "x > 1, or missing in part"]
    assert branches(split(x, threshold=1.0, missing_slot=-2)) == shared
    colour = Feature("c", Kind.NOMINAL, ("red", "blue"))
    assert branches(split(colour, slots=[0, 0], missing_slot=1)) == ["c in {red, blue}", "c missing"]


def test_categories_are_listed_and_long_lists_cut():
    feature = Feature("c", Kind.NOMINAL, tuple(range(20)))
    tree = split(feature, slots=[0] * 10 + [1] * 9 + [-1])
    assert branches(tree)[0] == "c in {0, 1, 2, 3, 4, 5, 6, 7, … 2 more}"
    assert branches(tree, max_categories=1)[1] == "c in {10, … 8 more}"
    assert branches(tree, max_categories=None)[0] == "c in {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}"


def test_a_large_set_is_written_by_its_complement():
    feature = Feature("c", Kind.NOMINAL, tuple(range(20)))
    # 19 stops at the node, so it is left out as well.
    assert branches(split(feature, slots=[0] + [1] * 18 + [-1])) == ["c = 0", "c not in {0, 19}"]
    assert branches(split(feature, slots=[0] + [1] * 19, missing_slot=1)) == ["c = 0", "c ≠ 0 or missing"]
    assert branches(split(feature, slots=[0] * 20, missing_slot=1)) == ["c known", "c missing"]


@given(st.lists(st.integers(-1, 1), min_size=2, max_size=12).filter(lambda slots: {0, 1} <= set(slots)))
def test_a_set_is_exact_for_every_category(slots):
    """The categories that are read back are exactly those of the branch."""
    feature = Feature("c", Kind.NOMINAL, tuple(f"v{code}" for code in range(len(slots))))
    tree = split(feature, slots=slots)
    for slot, test in enumerate(conditions(tree, 0)):
        named = {int(code) for code in re.findall(r"v(\d+)", test)}
        if test.startswith(("not in", "≠", "known")):
            named = set(range(len(slots))) - named
        assert named == {code for code, place in enumerate(slots) if place == slot}


@given(
    st.lists(st.integers(0, 1), min_size=2, max_size=40).filter(lambda slots: {0, 1} <= set(slots)),
    st.integers(12, 60),
)
def test_a_cut_condition_lists_as_many_categories_as_fit(slots, letters):
    feature = Feature("c", Kind.NOMINAL, tuple(f"v{code:02}" for code in range(len(slots))))
    tree = split(feature, slots=slots)
    for whole, test in zip(conditions(tree, 0), conditions_within(tree, 0, letters), strict=True):
        assert len(test) <= letters
        if len(whole) <= letters:
            assert test == whole
        elif "… " in test:
            one_more = conditions(tree, 0, test.count("v") + 1)
            assert all(len(other) > letters for other in one_more if other.startswith(test.split(", …")[0]))


def test_ordinal_thresholds_are_categories():
    size = Feature("size", Kind.ORDINAL, ("small", "medium", "large"))
    assert branches(split(size, threshold=0.5)) == ["size ≤ small", "size > small"]
    assert branches(split(size, threshold=1.0)) == ["size ≤ medium", "size > medium"]
    assert branches(split(size, threshold=np.inf)) == ["size ≤ inf", "size > inf"]


@pytest.mark.parametrize(
    ("category", "written"),
    [
        ("plain word", "plain word"),
        ("größe", "größe"),
        ("<=50K", "<=50K"),
        ("", "''"),
        (" x", "' x'"),
        ("a, b", "'a, b'"),
        ("1", "'1'"),
        (1, "1"),
        (1.5, "1.5"),
        (True, "True"),
        ("True", "'True'"),
        ("missing", "'missing'"),
        ("a or missing", "'a or missing'"),
        ("… 3 more", "'… 3 more'"),
        ("of 2 more classes", "'of 2 more classes'"),
        ("a\nb", r"'a\nb'"),
        ("\x1b[31m", r"'\x1b[31m'"),
        ("\u202eabc", r"'\u202eabc'"),
    ],
)
def test_ambiguous_categories_are_quoted(category, written):
    feature = Feature("c", Kind.NOMINAL, (category, "other"))
    assert branches(split(feature, slots=[0, 1]))[0] == f"c = {written}"


def test_a_quoted_name_differs_from_an_escaped_one():
    shown = {branches(split(Feature(name), threshold=1.0))[0] for name in ("\n", r"'\n'")}
    assert shown == {r"'\n' ≤ 1", """"'\\\\n'" ≤ 1"""}


def test_control_characters_in_names_are_escaped():
    tree = split(Feature("evil\r\x1b[2J"), threshold=1.0)
    assert branches(tree)[0] == r"'evil\r\x1b[2J' ≤ 1"


def test_a_probability_below_one_is_not_written_as_one():
    tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[99_999, 1]]))
    assert "  0.999  " in to_text(tree)


def test_evidence_is_in_rows_and_small_classes_are_summed():
    schema = Schema((), tuple("abcdef"))
    tree = Tree.raw(schema, Skeleton.leaf(), np.array([[1, 2, 4, 8, 16, 32]]), unit=0.25)
    assert to_text(tree).endswith("8 f, 4 e, 2 d, 1 c, 0.75 of 2 more classes")
    assert to_text(Tree.raw(schema, Skeleton.leaf(), np.zeros((1, 6), np.int64))).endswith(
        "a  0.167  no evidence"
    )


def test_cutting_at_a_depth_counts_the_leaves_left_out():
    deep = chain(4)
    evidence = pull_up(deep, np.where(deep.is_leaf, 1, 0)[:, None])
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), deep, evidence)
    assert to_text(tree, max_depth=0) == "0) every row ·· a  1.000  5 a (5 leaves below)"
    last = to_text(tree, max_depth=2).splitlines()[-1]
    assert last == "   └─ 4) x > 1 ·· a  1.000  3 a (3 leaves below)"
    assert to_text(tree, max_depth=4) == to_text(tree)


def test_a_very_deep_tree_is_written_without_recursion_and_in_narrow_lines():
    deep = chain(10_000)
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), deep, np.zeros((deep.n_nodes, 1), np.int64))
    lines = to_text(tree).splitlines()
    assert len(lines) == deep.n_nodes
    assert max(map(len, lines)) < 200
    assert lines[-1].startswith("⋯9968 ")


@given(trees())
def test_every_node_has_exactly_one_line(tree):
    lines = to_text(tree).split("\n")
    assert len(lines) == tree.n_nodes
    assert all(line.isprintable() for line in lines)
    assert sum(" ··" in line for line in lines) >= tree.n_leaves


def test_invalid_limits_raise():
    tree = Tree.raw(Schema((), ("a",)), Skeleton.leaf(), np.array([[1]]))
    with pytest.raises(ParameterError, match="max_depth=-1"):
        to_text(tree, max_depth=-1)
    with pytest.raises(ParameterError, match="max_categories=0"):
        to_text(tree, max_categories=0)


@given(st.floats(allow_nan=False), st.integers(3, 9))
@example(1.795e308, 3)
def test_a_short_number_is_short_and_near(value, digits):
    text = number_text(value, digits)
    assert len(text) <= max(digits, 9) + 7  # sign, point, and an exponent or leading zeros
    assert float(text) == pytest.approx(value, rel=10.0 ** (1 - digits))
    assert float(number_text(value)) == value


@given(st.lists(st.floats(1.0, 1.001), min_size=1, max_size=8, unique=True))
def test_thresholds_of_a_feature_stay_distinct(thresholds):
    n = len(thresholds)
    skeleton = Skeleton.of(
        [2] * n + [0] * (n + 1), [0] * n + [-1] * (n + 1), [*thresholds, *[np.nan] * (n + 1)]
    )
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), skeleton, np.zeros((2 * n + 1, 1), np.int64))
    (digits,) = threshold_digits(tree)
    text = {number_text(threshold, digits) for threshold in thresholds}
    assert digits == 9 or len(text) == n
    assert digits == 4 or len({number_text(threshold, digits - 1) for threshold in thresholds}) < n
