"""The words for terms of leaves: worked numbers, and agreement of the numbers with predictions."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hornbeam.data.schema import Feature, Kind
from hornbeam.explain.leaves import leaves
from hornbeam.export import to_dot, to_html, to_markdown, to_svg, to_text
from hornbeam.export.slope_text import NodeTerm, path_terms, path_terms_texts, round_step, terms_text
from hornbeam.tree import with_slopes
from hornbeam.tree.route import route, sums_of_terms
from hornbeam.tree.slopes import Slopes
from support.lending import everybody, income, lending, sizes, three_levels
from support.strategies import tables, trees_with_slopes


def test_two_classes_have_odds_ratios_per_step_and_a_reference():
    assert terms_text(lending(), 1) == [
        "late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)",
        "age: odds of bad × 0.819 per +1 (18 to 30; × 1 at 25)",
    ]
    assert terms_text(lending(), 2) == [
        "job: odds of bad × 2 if manager, × 0.5 if another",
        "grade: odds of bad × 2 per step up (A to C; × 1 at B)",
    ]
    assert terms_text(lending(), 0) == []


def test_the_class_of_interest_inverts_the_ratio():
    assert terms_text(lending(), 1, code=0)[0] == "late: odds of good × 0.5 per +1 (0 to 4; × 1 at 1)"


def test_more_classes_are_listed_against_their_mean():
    assert terms_text(sizes(), 0) == [
        "late: small × 0.5, medium × 1, large × 2 per +1 (0 to 4)",
        (
            "job: small × 1, medium × 2, large × 0.5 if clerk; small × 4, medium × 0.5, large × 0.5 if manager; "
            "small × 1, medium × 1, large × 1 if another"
        ),
    ]
    assert terms_text(sizes(), 0, code=2)[0] == "late: odds of large × 2 per +1 (0 to 4)"


def test_regression_adds_to_the_mean():
    assert terms_text(income(), 1) == [
        "late: mean −12.5 per +1 (0 to 4; +0 at 2)",
        "job: mean +30 if manager, −10 if another",
    ]


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [
        (20, 60, 10),
        (0, 6, 1),
        (0, 1, 1),
        (0.1, 0.9, 0.1),
        (500, 18_000, 1000),
        (0, 0, 1),
        (0, 5e-324, 1e-300),
    ],
)
def test_steps_are_round_and_near_the_range(low, high, step):
    assert round_step(low, high) == step


def _term(low, high, centre, slope, feature=None):
    slope = np.array([0.0, slope])
    return NodeTerm(0, feature or Feature("x"), (), low, high, centre, -slope * centre, slope, ("no", "yes"))


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (_term(20, 60, 37.9612, 0.05878), "x: odds of yes × 1.8 per +10 (20 to 60; × 1 at 38)"),
        (_term(0, 12_000, 4321.5, 1e-4), "x: odds of yes × 1.11 per +1,000 (0 to 12000; × 1 at 4320)"),
        (_term(0.1, 0.5, 0.25, -8), "x: odds of yes × 0.449 per +0.1 (0.1 to 0.5; × 1 at 0.25)"),
        (_term(0, 4, 1, 50), "x: odds of yes × 10^21.7 per +1 (0 to 4; × 1 at 1)"),
        (_term(2, 2, 1, np.log(3)), "x: odds of yes × 3 if known"),
        (_term(0, 4, 1, 0), "x: odds of yes × 1 if known"),
        (
            _term(0, 2, 1.5, np.log(3), Feature("size", Kind.ORDINAL, ("S", "M", "L"))),
            "size: odds of yes × 3 per step up (S to L; × 1 between M and L)",
        ),
    ],
)
def test_worked_texts(term, text):
    assert term.text() == text


@given(st.data())
def test_the_terms_add_up_to_those_of_predictions(data):
    tree = data.draw(trees_with_slopes())
    table = data.draw(tables(tree.schema))
    sums, stops = sums_of_terms(tree, table), route(tree.skeleton, table).tolist()
    for row, node in enumerate(stops):
        changes = [term.change(table.columns[term.column][row].item()) for term in path_terms(tree, node)]
        size = np.abs(tree.slopes.slope).max(initial=1.0) * 30
        assert_allclose(sum(changes, np.zeros(sums.shape[1])), sums[row], atol=1e-14 * size)


@given(trees_with_slopes())
def test_every_term_has_a_text_on_one_line(tree):
    for node in tree.slopes.nodes.tolist():
        for text in terms_text(tree, node):
            assert text
            assert text.isprintable()


def test_a_written_ratio_and_reference_give_the_prediction():
    """What a reader computes from the text alone: base odds × ratio to the power of steps from the reference."""
    ratio, reference = re.fullmatch(
        r"late: odds of bad × ([\d.]+) per \+1 \(0 to 4; × 1 at ([\d.]+)\)", terms_text(lending(), 1)[0]
    ).groups()
    odds = 20 / 80 * float(ratio) ** (3 - float(reference))
    from hornbeam.tree.route import row_predictor

    only_late = with_slopes(lending(), Slopes.of([1], [0], [0], [4], [1], [[0, np.log(2.0)]]))
    assert row_predictor(only_late)((3, 20, 0, 0))[1] == pytest.approx(odds / (1 + odds), rel=1e-12)


# ------------------------------------------------------------------------------------------------ views


def test_text_has_the_terms_below_the_leaf():
    assert to_text(lending()) == (
        "0) every row\n"
        "├─ 1) age ≤ 30 ·· good  0.800  80 good, 20 bad\n"
        "│     late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)\n"
        "│     age: odds of bad × 0.819 per +1 (18 to 30; × 1 at 25)\n"
        "└─ 2) age > 30 ·· good  0.500  50 good, 50 bad\n"
        "      job: odds of bad × 2 if manager, × 0.5 if another\n"
        "      grade: odds of bad × 2 per step up (A to C; × 1 at B)"
    )
    assert "odds of good × 0.5 per +1" in to_text(lending(), positive="good")
    assert "odds" not in to_text(lending(), max_depth=0)


def test_text_has_the_terms_of_an_inner_node_below_it():
    assert to_text(everybody()) == (
        "0) every row\n"
        "│  for all rows:\n"
        "│    late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)\n"
        "│    job: odds of bad × 2 if manager, × 0.5 if another\n"
        "├─ 1) age ≤ 30 ·· good  0.800  80 good, 20 bad\n"
        "│     late: odds of bad × 2 per +1 (2 to 4; × 1 at 2)\n"
        "└─ 2) age > 30 ·· good  0.500  50 good, 50 bad\n"
        "      grade: odds of bad × 2 per step up (A to C; × 1 at B)"
    )
    assert to_text(everybody(), max_depth=0).split("\n")[1:] == [
        "   for all rows:",
        "     late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)",
        "     job: odds of bad × 2 if manager, × 0.5 if another",
    ]


def test_the_text_has_each_term_once_below_its_node():
    lines = to_text(three_levels()).split("\n")
    assert lines[:6] == [
        "0) every row",
        "│  for all rows:",
        "│    late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)",
        "├─ 1) age ≤ 30",
        "│  │  for these rows:",
        "│  │    job: odds of bad × 2 if manager, × 0.5 if another",
    ]
    assert lines[7] == "│  │     age: odds of bad × 0.819 per +1 (20 to 30; × 1 at 25)"
    assert sum("odds of bad" in line for line in lines) == 3
    page = to_html(three_levels())
    assert page.index("for all rows:") < page.index("late: odds") < page.index("for these rows:")


def test_a_table_of_leaves_has_the_terms_of_their_paths():
    """The rows of a term of a node above the leaf are named."""
    (terms,) = path_terms_texts(three_levels(), [3])
    assert terms == [
        "for all rows: late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)",
        "for age ≤ 30: job: odds of bad × 2 if manager, × 0.5 if another",
        "age: odds of bad × 0.819 per +1 (20 to 30; × 1 at 25)",
    ]
    assert path_terms_texts(three_levels(), [2, 4]) == [terms[:1], terms[:2]]
    assert path_terms_texts(three_levels(), [2, 3, 4], once=True) == [[], terms, []]
    assert leaves(three_levels()).terms == path_terms_texts(three_levels(), [2, 3, 4])


def test_tables_have_each_term_once():
    """The root and node 1 have a line in Markdown; below the table of leaves they stand with their rows."""
    late, job, age = (text.split(": ", 1)[1] for text in path_terms_texts(three_levels(), [3])[0])
    table = to_markdown(three_levels()).split("\n")
    assert table[0] == "| node | if | class | probability | changes for these rows | evidence |"
    assert table[2:5] == [
        f"| 0 | every row |  |  | `{late}` |  |",
        f"| 1 | `age ≤ 30` |  |  | `{job}` |  |",
        f"| 3 | `age ≤ 30` and `grade ≤ A` | `good` | 0.800 | `age: {age}` | `60 good, 15 bad` |",
    ]
    found = leaves(three_levels())
    written = [str(found), found.as_rules(), found._repr_html_()]
    assert str(found).split("\n")[-2:] == [f"for all rows: {late}", f"for age ≤ 30: {job}"]
    assert found.as_rules().split("\n")[:2] == [f"for all rows: {late}", f"for age ≤ 30: {job}"]
    for text in [to_markdown(three_levels()), *written]:
        assert [text.count(word) for word in ("late: odds", "job: odds", "age: odds")] == [1, 1, 1]
    every = str(leaves(three_levels(), inner=True)).split("\n")
    assert every[2].strip() == late
    assert not any(line.startswith("for ") for line in every)


def test_markdown_has_a_column_of_terms():
    lines = to_markdown(lending()).split("\n")
    assert lines[0] == "| leaf | if | class | probability | changes within the leaf | evidence |"
    assert lines[2] == (
        "| 1 | `age ≤ 30` | `good` | 0.800 | `late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)`; "
        "`age: odds of bad × 0.819 per +1 (18 to 30; × 1 at 25)` | `80 good, 20 bad` |"
    )
    assert {line.replace("\\|", "").count("|") for line in lines} == {7}
    assert "| 1 | `age ≤ 30` | 100 | `late: mean −12.5" in to_markdown(income())


@pytest.mark.parametrize("export", [to_html, to_dot, to_svg])
@pytest.mark.parametrize("tree", [lending(), sizes(), income(), everybody()])
def test_pictures_have_every_term(export, tree):
    page = export(tree)
    for node in tree.slopes.nodes.tolist():
        for text in terms_text(tree, node):
            assert text[:55] in page


def test_a_name_in_a_term_is_escaped():
    features = (Feature("<b>&"), *lending().schema.features[1:])
    tree = lending()
    from dataclasses import replace

    hostile = replace(tree, schema=replace(tree.schema, features=features))
    assert "<b>&:" not in to_html(hostile)
    assert "&lt;b&gt;&amp;: odds" in to_html(hostile)
    assert "&lt;b&gt;&amp;: odds" in to_svg(hostile)


def test_boxes_of_leaves_with_terms_do_not_overlap():
    svg = to_svg(lending())
    boxes = [
        tuple(map(float, found))
        for found in re.findall(r'<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)" height="(\d+)" rx', svg)
    ]
    assert [height for *_, height in boxes] == [40, 70, 70]
    (left, top, width, _), (other, *_) = boxes[1:]
    assert left + width < other
    assert boxes[0][1] + boxes[0][3] < top
    total = float(re.search(r'height="(\d+)" role', svg)[1])
    assert total >= top + 70
