"""Trees as Markdown, DOT and SVG, and the positions of the boxes."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import ParameterError
from hornbeam.export import to_dot, to_markdown, to_svg
from hornbeam.export.people.svg import tree_layout
from hornbeam.tree import Skeleton
from hornbeam.tree.level_order import parents_and_children
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.strategies import chain, schemas, skeletons, trees

nan = np.nan
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def tree():
    features = (Feature("age"), Feature("colour", Kind.NOMINAL, ("blue", "green", "a|b & <c>")))
    skeleton = Skeleton.of(
        n_children=[3, 2, 0, 0, 0, 0],
        feature=[0, 1, -1, -1, -1, -1],
        threshold=[30.5, nan, nan, nan, nan, nan],
        missing_slot=[2, 0, -1, -1, -1, -1],
        slot_start=[0, 0, 3, 3, 3, 3, 3],
        slot_of=[0, 1, 0],
    )
    evidence = np.array([[70, 47, 3], [60, 10, 0], [9, 36, 0], [1, 1, 3], [58, 0, 0], [2, 10, 0]])
    return Tree.raw(Schema(features, ("no", "yes", "`maybe`")), skeleton, evidence)


def test_markdown_has_a_line_per_leaf(tree):
    assert to_markdown(tree).split("\n")[2:] == [
        "| 4 | `age ≤ 30.5` and `colour in {blue, a\\|b & <c>} or missing` | `no` | 1.000 | `58 no` |",
        "| 5 | `age ≤ 30.5` and `colour = green` | `yes` | 0.833 | `10 yes, 2 no` |",
        "| 2 | `age > 30.5` | `yes` | 0.800 | `36 yes, 9 no` |",
        "| 3 | `age missing` | `` `maybe` `` | 0.600 | ``3 `maybe`, 1 no, 1 yes`` |",
    ]


def test_markdown_of_a_single_leaf():
    leaf = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[1, 3]]))
    assert to_markdown(leaf).split("\n")[2:] == ["| 0 | every row | `yes` | 0.750 | `3 yes, 1 no` |"]


def test_dot_labels_nodes_and_edges(tree):
    lines = to_dot(tree).split("\n")
    assert '  n0 -> n1 [label="≤ 30.5"];' in lines
    assert '  n1 -> n4 [label="in {blue, a|b &amp; <c>} or missing"];' in lines
    assert '  n3 [label="`maybe` 0.600\\n3 `maybe`, 1 no, 1 yes", style="rounded,bold"];' in lines


def test_svg_has_the_text_of_every_node(tree):
    drawing = ElementTree.fromstring(to_svg(tree))
    texts = [text.text for text in drawing.iter(f"{SVG}text") if text.text]
    assert {"age", "120 rows", "colour", "≤ 30.5", "missing", "= green", "yes 0.833", "10 yes, 2 no"} <= set(
        texts
    )
    (long,) = [text for text in drawing.iter(f"{SVG}text") if len(text)]
    assert long[0].text == "in {blue, a|b & <c>} or missing"
    assert long[0].tail == "in {blue, … 1 more} or missing"


def test_svg_is_cut_at_a_depth(tree):
    drawing = ElementTree.fromstring(to_svg(tree, max_depth=1))
    texts = [text.text for text in drawing.iter(f"{SVG}text")]
    assert "no 0.857 (2 leaves below)" in texts
    assert "= green" not in texts
    assert to_svg(tree, max_depth=2) == to_svg(tree)


@examples(40)
@given(trees())
def test_every_tree_is_drawn_inside_its_frame(tree):
    drawing = ElementTree.fromstring(to_svg(tree))
    width, height = (float(drawing.get(side)) for side in ("width", "height"))
    boxes = [box for box in drawing.iter(f"{SVG}rect") if box.get("rx")]
    assert len(boxes) == tree.n_nodes
    for box in boxes:
        x, y, w, h = (float(box.get(side)) for side in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height


@examples(60)
@given(schemas().flatmap(skeletons), st.integers(0, 2**32 - 1))
def test_no_two_nodes_overlap_and_parents_are_in_the_middle(skeleton, seed):
    width = np.random.default_rng(seed).uniform(1, 50, skeleton.n_nodes)
    x = tree_layout(skeleton.first_child, skeleton.n_children, width)
    assert (x - width / 2 >= -1e-9).all()
    for begin, end in zip(skeleton.levels, skeleton.levels[1:], strict=False):
        apart = np.diff(x[begin:end])
        assert (apart >= (width[begin : end - 1] + width[begin + 1 : end]) / 2 - 1e-6).all()
    for node in np.flatnonzero(skeleton.n_children):
        first, last = skeleton.first_child[node], skeleton.first_child[node] + skeleton.n_children[node] - 1
        assert x[node] == pytest.approx((x[first] + x[last]) / 2)


def test_equal_subtrees_have_the_same_shape_and_touch():
    n_children = np.array([2, 2, 2, 0, 2, 0, 2, 0, 0, 0, 0], np.int32)
    x = tree_layout(parents_and_children(n_children)[1], n_children, np.full(11, 2.0))
    assert x.tolist() == [4, 2, 6, 1, 3, 5, 7, 2, 4, 6, 8]


def test_a_deep_chain_is_placed_without_recursion():
    deep = chain(5_000)
    x = tree_layout(deep.first_child, deep.n_children, np.ones(deep.n_nodes))
    assert np.isfinite(x).all()


def test_invalid_limits_raise(tree):
    with pytest.raises(ParameterError, match="max_depth=-1"):
        to_svg(tree, max_depth=-1)
    with pytest.raises(ParameterError, match="max_categories=0"):
        to_markdown(tree, max_categories=0)
    for export in (to_svg, to_dot):
        with pytest.raises(ParameterError, match="max_width=0"):
            export(tree, max_width=0)
