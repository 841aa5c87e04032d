"""Scorecards: worked points, sums by hand against exact points, and the query in a database."""

import math
import re
import sqlite3

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hornbeam import TreeClassifier
from hornbeam.errors import ParameterError
from hornbeam.explain.scorecard import scorecard
from hornbeam.tree import Table
from hornbeam.tree.route import predict_rows
from support.lending import everybody, income, lending, sizes, three_levels

FACTOR = 20 / math.log(2)
OFFSET = 600 - FACTOR * math.log(50)


def test_the_card_of_lending():
    """Leaf 1 has odds of 4 to 1: two doublings above 1 to 1, at 487 points."""
    assert scorecard(lending(), positive="good").to_markdown() == (
        "| segment | if | base points | feature | points | within | 0 points at |\n"
        "|--:|---|--:|---|---|---|--:|\n"
        "| 1 | `age ≤ 30` | 527 | `late` | −20 per +1 | `0 to 4` | `1` |\n"
        "|  |  |  | `age` | +5.8 per +1 | `18 to 30` | `25` |\n"
        "| 2 | `age > 30` | 487 | `job = manager` | −20 |  |  |\n"
        "|  |  |  | `job: another` | +20 |  |  |\n"
        "|  |  |  | `grade` | −20 per step up | `A to C` | `B` |\n"
        "\n"
        "Points = 487.123 + 28.8539 × log odds of `good`."
    )
    card = scorecard(lending(), positive="good")
    assert card.segments[0].points == pytest.approx(OFFSET + 40)
    assert [term.points for term in card.segments[0].terms] == pytest.approx([-20, 0.2 * FACTOR])


ROWS = [
    [3, 24, "clerk", "B"],
    [9, 18, "clerk", "A"],
    [0, 30, None, None],
    [None, 29, "other", "C"],
    [1, 40, "manager", "C"],
    [1, 70, "pilot", "A"],
    [1, 31, None, "B"],
    [2, None, "clerk", "B"],
]


@pytest.mark.parametrize("positive", ["good", "bad"])
def test_points_are_the_scaled_log_odds(positive):
    table = Table.read(ROWS, schema=lending().schema)
    code = lending().schema.classes.index(positive)
    p = predict_rows(lending(), table)
    expected = OFFSET + FACTOR * np.log(p[:, code] / p[:, 1 - code])
    assert_allclose(scorecard(lending(), positive=positive).points(table), expected, rtol=1e-12)


def test_base_odds_have_base_points_and_double_every_so_often():
    card = scorecard(lending(), positive="good", base_points=100, base_odds=4, points_to_double=-10)
    assert card.segments[0].points == pytest.approx(100)
    assert card.segments[1].points == pytest.approx(120)


@pytest.mark.parametrize("row", ROWS[:7])
def test_points_by_hand_are_near_the_exact_points(row):
    """Adds up the card as a reader would: from the printed table alone."""
    card = scorecard(lending(), positive="good")
    value = dict(zip(("late", "age", "job", "grade"), row, strict=True))
    segment = card.segments[0 if value["age"] <= 30 else 1]
    total = round(segment.points)
    for term in segment.terms:
        signed = float(re.match(r"[+−][\d.]+", term.text)[0].replace("−", "-"))
        name = re.match(r"\w+", term.feature)[0]
        if value[name] is None:
            continue
        if "another" in term.feature:
            total += signed * (value["job"] != "manager")
        elif "=" in term.feature:
            total += signed * (value["job"] == "manager")
        elif name == "grade":
            total += signed * ("ABC".index(value["grade"]) - "ABC".index(term.reference))
        else:
            low, high = map(float, term.within.split(" to "))
            total += signed * (min(max(value[name], low), high) - float(term.reference))
    exact = card.points(Table.read([row], schema=lending().schema))[0]
    assert total == pytest.approx(exact, abs=1)


def test_each_term_stands_once_with_the_rows_that_it_counts_for():
    """Leaves 3 and 4 have odds of 4 to 1, leaf 2 odds of 1 to 1; the root and node 1 have terms alone."""
    card = scorecard(three_levels(), positive="good")
    assert card.to_markdown() == (
        "| segment | if | base points | feature | points | within | 0 points at |\n"
        "|--:|---|--:|---|---|---|--:|\n"
        "| 0 | `every row` | 0 | `late` | −20 per +1 | `0 to 4` | `1` |\n"
        "| 1 | `age ≤ 30` | 0 | `job = manager` | −20 |  |  |\n"
        "|  |  |  | `job: another` | +20 |  |  |\n"
        "| 3 | `age ≤ 30 and grade ≤ A` | 527 | `age` | +5.8 per +1 | `20 to 30` | `25` |\n"
        "| 4 | `age ≤ 30 and grade > A` | 527 |  |  |  |  |\n"
        "| 2 | `age > 30` | 487 |  |  |  |  |\n"
        "\n"
        "A row has the points of all segments whose condition it fulfils. "
        "Points = 487.123 + 28.8539 × log odds of `good`."
    )
    page = card.to_html()
    for feature in ("late", "job = manager", "job: another", "age"):
        assert page.count(f">{feature}<") == 1
    columns = card.to_dict()
    assert columns["rule"] == [segment.rule for segment in card]
    assert columns["points"] == pytest.approx([0, 0, OFFSET + 40, OFFSET + 40, OFFSET], abs=1e-9)
    assert columns["terms"] == [
        "late: −20 per +1",
        "job = manager: −20; job: another: +20",
        "age: +5.8 per +1",
        "",
        "",
    ]
    assert str(card[1]) == "age ≤ 30: 0 points; job = manager: −20; job: another: +20"


def test_the_segments_of_a_row_add_up_to_its_prediction():
    """Late 3 is two steps of -20, late 0 one of +20; a clerk up to 30 has +20; at 24 a year is missing to 25."""
    card = scorecard(three_levels(), positive="good")
    everyone, young, good_grade, other_grade, older = [segment.points for segment in card]
    rows = [
        ([3, 24, "clerk", "A"], everyone + young + good_grade - 40 + 20 - 0.2 * FACTOR),
        ([9, 24, "manager", "A"], everyone + young + good_grade - 60 - 20 - 0.2 * FACTOR),
        ([None, 24, "clerk", "B"], everyone + young + other_grade + 20),
        ([0, 40, "manager", "A"], everyone + older + 20),
    ]
    table = Table.read([row for row, _ in rows], schema=card.tree.schema)
    expected = [points for _, points in rows]
    assert_allclose(card.points(table), expected, rtol=1e-12)
    good = predict_rows(card.tree, table)[:, 0]
    assert_allclose(good, 1 / (1 + np.exp((OFFSET - np.array(expected)) / FACTOR)), rtol=1e-12)


def test_a_term_of_the_root_and_one_of_a_leaf_for_the_same_feature_stay_apart():
    """527 for the segment, -20 for each of 2 late payments above 1, +20 for another job, -20 above 2 late payments."""
    card = scorecard(everybody(), positive="good")
    assert [
        (segment.node, term.feature, round(term.points, 9)) for segment in card for term in segment.terms
    ] == [
        (0, "late", -20),
        (0, "job = manager", -20),
        (0, "job: another", 20),
        (1, "late", -20),
        (2, "grade", -20),
    ]
    assert card.points([[3, 24, "clerk", "B"]]) == pytest.approx([card[1].points - 40 + 20 - 20])


def test_a_card_of_an_estimator_without_slopes():
    clf = TreeClassifier("cart", smoothing="laplace").fit(
        [[0], [0], [4], [4]], ["good", "good", "bad", "bad"]
    )
    card = clf.scorecard()
    assert card.positive == "good"
    assert [round(segment.points, 6) for segment in card.segments] == [
        round(OFFSET + FACTOR * math.log(odds), 6) for odds in (3, 1 / 3)
    ]
    assert all(not segment.terms for segment in card.segments)


def test_certain_leaves_have_infinite_points():
    card = scorecard(TreeClassifier("cart").fit([[0], [4]], ["good", "bad"]))
    assert "| ∞ |" in card.to_markdown()
    assert "| −∞ |" in card.to_markdown()


def test_html_is_escaped_and_complete():
    page = scorecard(lending(), positive="good").to_html()
    for cell in ("527", "−20 per +1", "0 to 4", "job = manager", "age &gt; 30"):
        assert f">{cell}<" in page
    assert scorecard(lending())._repr_html_().startswith("<div")


def test_no_segment_is_left_out_of_a_long_card():
    X = np.arange(600.0)[:, None]
    card = scorecard(TreeClassifier("cart", smoothing="laplace").fit(X, np.arange(600) // 3 % 2))
    assert len(card.segments) == 200
    assert card.to_html().count("<tr>") == 201


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_database_computes_the_points(dialect):
    pytest.importorskip("sqlglot")
    card = scorecard(lending(), positive="good")
    duckdb = pytest.importorskip("duckdb") if dialect == "duckdb" else None
    rows = duckdb.connect() if duckdb else sqlite3.connect(":memory:")
    rows.execute("CREATE TABLE rows (id INTEGER, late REAL, age REAL, job TEXT, grade TEXT)")
    rows.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", [(at, *row) for at, row in enumerate(ROWS)])
    found = sorted(rows.execute(card.to_sql(dialect=dialect, keep=["id"])).fetchall())
    rows.close()
    expected = card.points(Table.read(ROWS, schema=card.tree.schema))
    assert [line[0] for line in found] == list(range(len(ROWS)))
    assert_allclose([line[-1] for line in found], expected, rtol=1e-12)


@pytest.mark.parametrize("tree", [income(), sizes()])
def test_other_targets_are_refused(tree):
    with pytest.raises(ParameterError, match="a scorecard is for two classes"):
        scorecard(tree)


@pytest.mark.parametrize("wrong", [{"base_odds": 0}, {"points_to_double": 0}, {"base_points": math.inf}])
def test_impossible_scales_are_refused(wrong):
    with pytest.raises(ParameterError, match="points_to_double"):
        scorecard(lending(), **wrong)
