"""Scorecards: worked points, and the same whole points by hand from the printed card, in Python and in databases."""

import csv
import io
import math
import sqlite3

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hornbeam import Tree, TreeClassifier
from hornbeam.data.schema import Feature, Schema
from hornbeam.errors import ParameterError
from hornbeam.explain.scorecard import scorecard
from hornbeam.tree import Skeleton, Slopes, Table, with_slopes
from hornbeam.tree.route import predict_rows
from support.examples import examples
from support.lending import everybody, income, lending, sizes, three_levels
from support.paper import by_hand

FACTOR = 20 / math.log(2)
OFFSET = 600 - FACTOR * math.log(50)
KNOWN = {"job": ("clerk", "manager", "other"), "grade": ("A", "B", "C")}
ORDER = {"grade": ("A", "B", "C")}
NOTE = (
    "A row has the points of all segments whose condition it fulfils; a missing value has 0. A value is limited to the "
    "range; its points are rounded to a whole number, halves up. "
)


def test_the_card_of_lending():
    """Leaf 1 has odds of 4 to 1: two doublings above 1 to 1, at 487 points.

    A year is 5.77 points: 6 would be 1.6 points off at 18 years, and 29 for five years are 0.2 off. The root has odds
    of 130 to 70, or 0.89 doublings. The bound: base 0.12, late and age half a point each and age 0.2 more, and 0.1.
    """
    card = scorecard(lending(), positive="good")
    assert card.to_markdown() == (
        "| segment | if | base points | feature | points | within | 0 points at |\n"
        "|--:|---|--:|---|---|---|--:|\n"
        "| 1 | `age ≤ 30` | 527 | `late` | −20 per +1 | `0 to 4` | `1` |\n"
        "|  |  |  | `age` | +29 per +5 | `18 to 30` | `25` |\n"
        "| 2 | `age > 30` | 487 | `job = manager` | −20 |  |  |\n"
        "|  |  |  | `job: another` | +20 |  |  |\n"
        "|  |  |  | `grade ≤ A` | +20 |  |  |\n"
        "|  |  |  | `A < grade ≤ B` | +0 |  |  |\n"
        "|  |  |  | `grade > B` | −20 |  |  |\n"
        "| 0 | `age missing` | 505 |  |  |  |  |\n"
        "\n"
        f"{NOTE}Points are 487.123 + 28.8539 × log odds of `good`, "
        "rounded: at most 1.4 more or less, 1.05 times the odds."
    )
    assert card.segments[0].points == 527
    assert [term.points for term in card.segments[0].terms] == [-20, 29]
    assert card.rounding == pytest.approx(
        (OFFSET + 40 - 527) + 0.5 + 0.5 + (0.2 * FACTOR - 29 / 5) * -7, abs=1e-6
    )


def test_bins_of_lending():
    """A step of late payments is 20 points; two years are 11.5, so the end of a bin is at most 6.3 off: 35 is 34.6."""
    young = scorecard(lending(), positive="good", bins=True)[0]
    assert [(term.feature, term.points) for term in young.terms] == [
        ("late ≤ 0.5", 20),
        ("0.5 < late ≤ 1.5", 0),
        ("1.5 < late ≤ 2.5", -20),
        ("2.5 < late ≤ 3.5", -40),
        ("late > 3.5", -60),
        ("age ≤ 20", -35),
        ("20 < age ≤ 22", -23),
        ("22 < age ≤ 24", -12),
        ("24 < age ≤ 26", 0),
        ("26 < age ≤ 28", 12),
        ("age > 28", 23),
    ]
    assert not any(term.step or term.within for term in young.terms)


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


NAMES = ("late", "age", "job", "grade")


@pytest.mark.parametrize("positive", ["good", "bad"])
@pytest.mark.parametrize("bins", [False, True])
@pytest.mark.parametrize("tree", [lending(), everybody(), three_levels()])
def test_points_are_those_by_hand_and_near_the_scaled_log_odds(tree, bins, positive):
    table = Table.read(ROWS, schema=tree.schema)
    code = tree.schema.classes.index(positive)
    p = predict_rows(tree, table)
    card = scorecard(tree, positive=positive, bins=bins)
    assert_allclose(
        card.points(table), OFFSET + FACTOR * np.log(p[:, code] / p[:, 1 - code]), atol=card.rounding
    )
    hand = [by_hand(card, dict(zip(NAMES, row, strict=True)), KNOWN, ORDER) for row in ROWS]
    assert card.points(table).tolist() == hand


def test_points_of_a_data_frame_and_of_rows_in_a_list():
    frame = pd.DataFrame(ROWS, columns=list(NAMES))
    card = scorecard(lending(), positive="good")
    assert card.points(frame).tolist() == card.points(ROWS).tolist()
    assert card.points(frame)[:2].tolist() == [527 - 40 + round(-29 / 5), 527 - 60 + round(-29 * 7 / 5)]


def test_base_odds_have_base_points_and_double_every_so_often():
    card = scorecard(lending(), positive="good", base_points=100, base_odds=4, points_to_double=-10)
    assert card.segments[0].points == 100
    assert card.segments[1].points == 120


def test_more_points_to_double_are_more_exact():
    errors = []
    for double in (5, 20, 100, 1_000):
        card = scorecard(lending(), positive="good", points_to_double=double)
        errors.append(card.rounding / card.factor)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01


def test_each_term_stands_once_with_the_rows_that_it_counts_for():
    """Leaves 3 and 4 have odds of 4 to 1, leaf 2 odds of 1 to 1; the root and node 1 have terms alone."""
    card = scorecard(three_levels(), positive="good")
    assert card.to_markdown().splitlines()[:-2] == [
        "| segment | if | base points | feature | points | within | 0 points at |",
        "|--:|---|--:|---|---|---|--:|",
        "| 0 | `every row` | 0 | `late` | −20 per +1 | `0 to 4` | `1` |",
        "| 1 | `age ≤ 30` | 0 | `job = manager` | −20 |  |  |",
        "|  |  |  | `job: another` | +20 |  |  |",
        "| 3 | `age ≤ 30 and grade ≤ A` | 527 | `age` | +29 per +5 | `20 to 30` | `25` |",
        "| 4 | `age ≤ 30 and grade > A` | 527 |  |  |  |  |",
        "| 2 | `age > 30` | 487 |  |  |  |  |",
        "| 0 | `age missing` | 505 |  |  |  |  |",
        "| 1 | `age ≤ 30 and grade missing` | 527 |  |  |  |  |",
    ]
    page = card.to_html()
    for feature in ("late", "job = manager", "job: another", "age"):
        assert page.count(f">{feature}<") == 1
    columns = card.to_dict()
    assert columns["rule"] == [segment.rule for segment in card]
    assert columns["points"] == [0, 0, 527, 527, 487, 505, 527]
    assert columns["terms"][:4] == [
        "late: −20 per +1",
        "job = manager: −20; job: another: +20",
        "age: +29 per +5",
        "",
    ]
    assert str(card[1]) == "age ≤ 30: 0 points; job = manager: −20; job: another: +20"


def test_a_term_of_the_root_and_one_of_a_leaf_for_the_same_feature_stay_apart():
    """527 for the segment, -20 for each of 2 late payments above 1, +20 for another job, -20 above 2 late payments."""
    card = scorecard(everybody(), positive="good")
    assert [(segment.node, term.feature, term.points) for segment in card for term in segment.terms][:4] == [
        (0, "late", -20),
        (0, "job = manager", -20),
        (0, "job: another", 20),
        (1, "late", -20),
    ]
    assert card.points([[3, 24, "clerk", "B"]]) == 527 - 40 + 20 - 20


# ---- steps


def numbers(*terms, names=("x",)):
    """Return a card of one leaf of even odds with terms of (feature, low, high, centre, points per unit)."""
    schema = Schema(tuple(map(Feature, names)), ("bad", "good"))
    feature, low, high, centre, points = zip(*terms, strict=True)
    slope = [[0, per / FACTOR] for per in points]
    leaf = Tree.raw(schema, Skeleton.leaf(), np.array([[1, 1]]))
    return with_slopes(leaf, Slopes.of([0] * len(terms), feature, low, high, centre, slope))


def test_a_step_is_the_smallest_that_whole_points_are_accurate_for():
    """0.3 points per unit, 50 units from the centre: 3 points per 10 are exact; 0, 1 (per 2) or 2 (per 5) are not."""
    [line] = scorecard(numbers((0, 0, 100, 50, 0.3)))[0].terms
    assert (line.text, line.within, line.reference) == ("+3 per +10", "0 to 100", 50)


def test_the_steps_of_a_feature_are_the_same_everywhere():
    """5.8 points per 10,000 in one segment and 1 per 1,000 in the other: steps that suit both."""
    tree = Tree.raw(
        Schema((Feature("age"), Feature("income")), ("bad", "good")),
        Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan]),
        np.array([[20, 20], [10, 10], [10, 10]]),
    )
    slope = np.array([[0, 5.8e-4], [0, 1e-3]]) / FACTOR
    tree = with_slopes(tree, Slopes.of([1, 2], [1, 1], [1e4, 1e4], [6e4, 3e4], [3e4, 2e4], slope))
    assert [segment.terms[0].text for segment in scorecard(tree)[:2]] == ["+3 per +5,000", "+5 per +5,000"]


def test_a_narrow_range_beside_a_wide_one_is_a_step():
    """31.52 and 31.57 are neighbours; 24 points between them would be 4,800 per +10."""
    tree = Tree.raw(
        Schema((Feature("x"), Feature("z")), ("bad", "good")),
        Skeleton.of([2, 0, 0], [1, -1, -1], [0.0, np.nan, np.nan]),
        np.array([[2, 2], [1, 1], [1, 1]]),
    )
    slope = np.array([[0, 480], [0, 0.3]]) / FACTOR
    tree = with_slopes(tree, Slopes.of([0, 1], [0, 0], [31.52, 0], [31.57, 100], [31.545, 50], slope))
    rows = [[31.52, 1], [31.57, 1], [31.53, 1], [0, 1]]
    card = scorecard(tree)
    assert (card[0].terms[0].text, card[0].terms[0].within) == ("−12 to +12", "31.52 to 31.57")
    assert card[1].terms[0].text == "+3 per +10"
    assert card.points(rows).tolist() == [475, 499, 480, 475]
    binned = scorecard(tree, bins=True)
    assert [(term.feature, term.points) for term in binned[0].terms] == [
        ("x ≤ 31.55", -12),
        ("x > 31.55", 12),
    ]
    assert binned.points(rows).tolist() == [475, 499, 475, 475]
    assert binned.rounding > 12


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_database_divides_by_a_width_with_many_digits(dialect):
    """SQLite has the width of 35.81 to 35.91 as a fraction; half of the way is half of the points."""
    pytest.importorskip("sqlglot")
    duckdb = pytest.importorskip("duckdb") if dialect == "duckdb" else None
    tree = with_slopes(
        Tree.raw(
            Schema((Feature("x"), Feature("z")), ("bad", "good")),
            Skeleton.of([2, 0, 0], [1, -1, -1], [0.0, np.nan, np.nan]),
            np.array([[2, 2], [1, 1], [1, 1]]),
        ),
        Slopes.of(
            *([0, 1], [0, 0], [35.81, 0], [35.91, 100], [35.85, 50]),
            slope=np.array([[0, 700], [0, 0.3]]) / FACTOR,
        ),
    )
    card, values = scorecard(tree), np.linspace(35.8, 35.92, 25).round(3).tolist()
    rows = duckdb.connect() if duckdb else sqlite3.connect(":memory:")
    rows.execute("CREATE TABLE rows (id INTEGER, x DOUBLE, z DOUBLE)")
    rows.executemany("INSERT INTO rows VALUES (?, ?, 1)", list(enumerate(values)))
    found = sorted(rows.execute(card.to_sql(dialect=dialect, keep=["id"])).fetchall())
    rows.close()
    hand = [by_hand(card, {"x": value, "z": 1}, {}) for value in values]
    assert [line[-1] for line in found] == hand == card.points([[value, 1] for value in values]).tolist()
    assert len(set(hand)) > 10


def test_neighbouring_floats_are_a_step():
    low = 1e6
    high = np.nextafter(low, np.inf).item()
    for bins in (False, True):
        card = scorecard(numbers((0, low, high, low, 40 / (high - low))), bins=bins)
        assert card.points([[low], [high]]).tolist() == [487, 527]


# ---- any tree


CATEGORIES = {"job": ("clerk", "pilot", "smith"), "level": ("low", "mid", "top")}


def draw_card(seed, bins):
    """Return a card of a small fitted tree with random terms at any node, and rows with odd values."""
    rng = np.random.default_rng(seed)
    n = 80

    def frame(n, strange):
        columns = {
            "late": rng.integers(0, 6, n).astype(float),
            "income": rng.normal(30, 20, n).round(2),
            "job": rng.choice([*CATEGORIES["job"], *["baker"] * strange], n),
            "level": rng.choice(CATEGORIES["level"], n),
        }
        X = pd.DataFrame(columns).astype({"job": object, "level": object})
        return X.mask(rng.random(X.shape) < 0.1 * (strange or seed % 2), None)

    X = frame(n, False)
    ordinal = pd.CategoricalDtype(CATEGORIES["level"], ordered=True)
    fit_X = X.astype({"level": ordinal})
    y = np.where(rng.random(n) < 0.3 + 0.1 * (X["late"] > 2) + 0.2 * (X["job"] == "pilot"), "bad", "good")
    clf = TreeClassifier("cart", smoothing="laplace", max_leaf_nodes=int(rng.integers(1, 7)) + 1)
    tree = clf.fit(fit_X, y).tree_
    picked = {}
    for _ in range(int(rng.integers(1, 12))):
        node, column = int(rng.integers(tree.n_nodes)), int(rng.integers(4))
        feature = tree.schema.features[column]
        code = int(rng.integers(len(feature.categories))) if feature.is_nominal else -1
        width = rng.choice([0.01, 1, 2, 5, 40])
        low = 0 if feature.categories else rng.choice([0.0, 1.0, 12.34])
        high = 1 if feature.is_nominal else 2 if feature.categories else round(low + width, 2)
        centre = round(rng.uniform(low, high), 2)
        picked[node, column, code] = (low, high, centre, [0, rng.normal() / (high - low)])
    keys = sorted(picked)
    node, column, code = zip(*keys, strict=True)
    low, high, centre, slope = zip(*[picked[key] for key in keys], strict=True)
    tree = with_slopes(tree, Slopes.of(node, column, low, high, centre, slope, code))
    return scorecard(tree, positive="bad", bins=bins, points_to_double=rng.choice([20, 50, -20])), frame(
        60, True
    )


def plain(frame):
    return [[None if pd.isna(cell) else cell for cell in row] for row in frame.to_numpy(object).tolist()]


@given(st.integers(0, 10_000), st.booleans())
@examples(60)
def test_points_by_hand_in_python_and_in_databases_are_equal(seed, bins):
    pytest.importorskip("sqlglot")
    duckdb = pytest.importorskip("duckdb")
    card, frame = draw_card(seed, bins)
    rows = plain(frame)
    points, reasons = card.points(rows), card.reasons(rows, n=3)
    hand = [
        by_hand(card, dict(zip(frame, row, strict=True)), CATEGORIES, {"level": CATEGORIES["level"]})
        for row in rows
    ]
    assert points.tolist() == hand
    code = card.tree.schema.classes.index("bad")
    p = predict_rows(card.tree, Table.read(rows, schema=card.tree.schema))
    exact = card.offset + card.factor * (np.log(p[:, code]) - np.log(p[:, 1 - code]))
    assert np.abs(points - exact).max() <= card.rounding + 1e-6
    for dialect, base in (("sqlite", sqlite3.connect(":memory:")), ("duckdb", duckdb.connect())):
        base.execute("CREATE TABLE rows (id INTEGER, late REAL, income DOUBLE, job TEXT, level TEXT)")
        base.executemany(
            "INSERT INTO rows VALUES (?, ?, ?, ?, ?)", [(at, *row) for at, row in enumerate(rows)]
        )
        found = sorted(base.execute(card.to_sql(dialect=dialect, keep=["id"], reasons=3)).fetchall())
        base.close()
        assert [line[-4] for line in found] == hand
        assert [type(line[-4]) for line in found] == [int] * len(rows)
        told = [[text for text in line[-3:] if text is not None] for line in found]
        assert told == [list(one) for one in reasons]


# ---- reasons


def test_reasons_are_the_points_below_the_best():
    """By the card: the best leaf has 527; 3 late payments are 60 below none, 24 years 35 below 30; a clerk is best."""
    card = scorecard(lending(), positive="good")
    assert card.reasons(ROWS) == [
        {"late": 60, "age": 35},
        {"late": 80, "age": 70},
        {},
        {"late": 20, "age": 6},
        {"age > 30": 40, "job": 40, "grade": 40},
        {"age > 30": 40},
        {"age > 30": 40, "job": 20, "grade": 20},
        {"age missing": 22},
    ]
    assert card.reasons(ROWS[4:5], n=1) == [{"age > 30": 40}]


def test_terms_of_a_path_cost_together():
    """Three late payments: 60 below the best by the term of the root, and 20 by that of the leaf."""
    assert scorecard(everybody(), positive="good").reasons([[3, 24, "clerk", "B"]]) == [{"late": 80}]


# ---- other trees


def test_a_card_of_an_estimator_without_slopes():
    clf = TreeClassifier("cart", smoothing="laplace").fit(
        [[0], [0], [4], [4]], ["good", "good", "bad", "bad"]
    )
    card = clf.scorecard()
    assert card.positive == "good"
    assert [segment.points for segment in card] == [
        round(OFFSET + FACTOR * math.log(odds)) for odds in (3, 1 / 3, 1)
    ]
    assert all(not segment.terms for segment in card.segments)


def test_certain_leaves_have_infinite_points():
    card = scorecard(TreeClassifier("cart").fit([[0], [4]], ["good", "bad"]))
    assert "| ∞ |" in card.to_markdown()
    assert "| −∞ |" in card.to_markdown()
    assert card.points([[0], [4], [None]]).tolist() == [math.inf, -math.inf, 487]
    assert card.reasons([[0], [4], [None]]) == [{}, {"x0 > 2": math.inf}, {}]
    assert card.rounding < 0.5


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("preset", ["cart", "c4.5"])
def test_a_database_has_no_points_for_certain_classes_and_those_of_shared_rows(dialect, preset):
    """C4.5 sends a missing value to every child: its points are those of the probability."""
    pytest.importorskip("sqlglot")
    duckdb = pytest.importorskip("duckdb") if dialect == "duckdb" else None
    X = [[0, 1], [0, 2], [4, 3], [4, 4], [None, 5], [None, 6], [9, 1], [9, 3]]
    clf = TreeClassifier(preset, min_samples_leaf=1).fit(
        X, ["good", "good", "bad", "bad", "good", "bad", "bad", "good"]
    )
    card = clf.scorecard(positive="good")
    rows = duckdb.connect() if duckdb else sqlite3.connect(":memory:")
    rows.execute("CREATE TABLE rows (id INTEGER, x0 REAL, x1 REAL)")
    rows.executemany("INSERT INTO rows VALUES (?, ?, ?)", [(at, *row) for at, row in enumerate(X)])
    found = sorted(rows.execute(card.to_sql(dialect=dialect, keep=["id"], reasons=1)).fetchall())
    rows.close()
    expected = [int(own) if math.isfinite(own) else None for own in card.points(X)]
    assert [line[-2] for line in found] == expected
    assert [line[-1] for line in found] == [next(iter(one), None) for one in card.reasons(X)]
    p = clf.predict_proba(X)
    with np.errstate(divide="ignore"):
        exact = OFFSET + FACTOR * (np.log(p[:, 1]) - np.log(p[:, 0]))
    np.testing.assert_array_equal(card.points(X), np.floor(exact + 0.5))


# ---- forms


def test_a_spreadsheet_reads_the_card():
    card = scorecard(three_levels(), positive="good")
    sheet = pd.read_csv(io.BytesIO(card.to_csv().encode()))
    body = sheet[: sheet["if"].str.startswith("A row has").argmax()]
    assert list(sheet) == [
        *(
            "segment",
            "if",
            "base points",
            "feature",
            "points",
            "per",
            "from",
            "to",
            "points at to",
            "0 points at",
        )
    ]
    assert body["base points"].dropna().tolist() == [segment.points for segment in card]
    lines = [term for segment in card for term in segment.terms]
    assert body["points"].dropna().tolist() == [line.points for line in lines]
    assert body["0 points at"].dropna().tolist() == [1, 25]
    assert card.to_csv().startswith("\ufeffsegment,")


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "@x", "+x", "-x"])
def test_no_cell_of_a_spreadsheet_is_a_formula(name):
    clf = TreeClassifier("cart", smoothing="laplace").fit(pd.DataFrame({name: [0.0, 9.0]}), ["a", "b"])
    cells = [cell for row in csv.reader(io.StringIO(clf.scorecard().to_csv())) for cell in row]
    assert [cell[1:] for cell in cells if cell.startswith("'")] == [
        segment.rule for segment in clf.scorecard()
    ]
    assert not [cell for cell in cells if cell[:1] in set("=+-@\t\r") - {""}]


def test_html_is_escaped_and_complete():
    page = scorecard(lending(), positive="good").to_html()
    for cell in ("527", "−20 per +1", "0 to 4", "job = manager", "age &gt; 30"):
        assert f">{cell}<" in page
    assert scorecard(lending())._repr_html_().startswith("<div")


def test_no_segment_is_left_out_of_a_long_card():
    X = np.arange(600.0)[:, None]
    card = scorecard(TreeClassifier("cart", smoothing="laplace").fit(X, np.arange(600) // 3 % 2))
    assert len(card.segments) == 201
    assert card.to_html().count("<tr>") == 202


def test_a_kept_column_with_a_name_of_the_result_is_refused():
    pytest.importorskip("sqlglot")
    for name in ("points", "reason_1", "hornbeam_base"):
        with pytest.raises(ParameterError, match="rename it in a view"):
            scorecard(lending()).to_sql(keep=[name], reasons=1)


@pytest.mark.parametrize("tree", [income(), sizes()])
def test_other_targets_are_refused(tree):
    with pytest.raises(ParameterError, match="a scorecard is for two classes"):
        scorecard(tree)


@pytest.mark.parametrize("wrong", [{"base_odds": 0}, {"points_to_double": 0}, {"base_points": math.inf}])
def test_impossible_scales_are_refused(wrong):
    with pytest.raises(ParameterError, match="points_to_double"):
        scorecard(lending(), **wrong)


def test_points_too_large_to_be_exact_are_refused():
    with pytest.raises(ParameterError, match="points_to_double=1e\\+30"):
        scorecard(lending(), points_to_double=1e30)
