"""Checks of columns, compared with plain Python and with counts worked out by hand."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from hornbeam import TreeClassifier
from hornbeam.data.column_checks import (
    Check,
    check_columns,
    check_profile,
    check_schema,
    target_copies,
)
from hornbeam.data.files.profile import Profile, few_texts
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.data.target_copies import correlation, wrong_by_cut, wrong_by_missing, wrong_by_value
from hornbeam.errors import HornbeamWarning


def numbers(n_rows, width, name="x", **facts):
    return Profile(name, "number", n_rows, 0, n_rows, whole=True, width=width, **facts)


@pytest.mark.parametrize(
    ("column", "check"),
    [
        (Profile("x", "number", 5, 5, 0), Check.CONSTANT),
        (Profile("x", "text", 5, 0, 1), Check.CONSTANT),
        (Profile("x", "text", 5, 1, 1), None),  # whether it is missing may be informative
        (Profile("x", "text", 19, 0, 19), None),  # too few rows
        (Profile("x", "text", 20, 0, 10), None),  # half of them
        (Profile("x", "text", 20, 0, 11), Check.IDENTIFIER),
        (Profile("x", "number", 200, 0, 200), None),  # measurements
        (numbers(20, 20, is_row_number=True), Check.ROW_NUMBER),
        (numbers(99, 99), None),  # too few rows
        (numbers(100, 495), Check.UNREPEATED),  # 4,950 pairs: ten equal ones expected
        (numbers(100, 496), None),
        (numbers(100, 1e9, "customer_id"), Check.UNREPEATED),
        (numbers(100, 1e9, "CustomerID"), Check.UNREPEATED),
        (numbers(100, 1e9, "Id"), Check.UNREPEATED),
        (numbers(100, 1e9, "paid"), None),
        (numbers(100, 1e9, "income"), None),
        (numbers(99, 1e9, "id"), None),
    ],
)
def test_a_profile_fails_the_expected_check(column, check):
    found = check_profile(column)
    assert (None if found is None else found.check) == check
    assert found is None or found.column == column.name


SHAPES = st.sampled_from(
    ["ids", "shuffled", "gaps", "constant", "missing", "few", "floats", "late", "texts", "words"]
)


def column_of(shape, n, rng):
    match shape:
        case "ids":
            return np.arange(n) + 7.0
        case "shuffled":
            return rng.permutation(n) * 1.0
        case "gaps":
            return np.where(rng.random(n) < 0.02, np.nan, rng.permutation(n))
        case "constant":
            return np.full(n, 3.0)
        case "missing":
            return np.full(n, np.nan)
        case "few":
            return rng.integers(0, 4, n) * 1.0
        case "floats":
            return rng.normal(size=n)
        case "late":  # constant except for a row that a sample is likely to miss
            return np.where(np.arange(n) == n - 2, 1.0, 0.0)
        case "texts":
            return np.array([f"t{i}" for i in rng.permutation(n)], object)
        case "words":
            return np.array([f"w{i}" for i in rng.integers(0, max(2, n // 2), n)], object)


def reference_finding(name, values):
    """Return the finding for a column from all of its rows, in plain Python."""
    rows = values.tolist()
    known = [value for value in rows if value == value]
    whole = all(isinstance(value, float) and value.is_integer() for value in known)
    distinct = len(set(known))
    facts = {}
    if whole and distinct == len(rows):
        facts = {
            "is_row_number": all(b - a == 1 for a, b in pairwise(rows)),
            "width": max(rows) - min(rows) + 1,
        }
    holds = "text" if isinstance(rows[0], str) else "number"
    return check_profile(Profile(name, holds, len(rows), len(rows) - len(known), distinct, whole, **facts))


@given(st.lists(SHAPES, min_size=2, max_size=5), st.integers(20, 1500), st.integers(0, 99))
def test_checks_on_a_sample_find_the_same_as_on_all_rows(shapes, n, seed):
    rng = np.random.default_rng(seed)
    columns = [column_of(shape, n, rng) for shape in shapes]
    names = [f"c{at}" for at in range(len(columns))]
    X = np.empty((n, len(columns)), object)
    for at, column in enumerate(columns):
        X[:, at] = column
    table = Table.read(X, rng.integers(0, 2, n), feature_names=names)
    expected = [
        found
        for pair in zip(names, columns, strict=True)
        if (found := reference_finding(*pair)) is not None and found.check is not Check.CONSTANT
    ]
    assert list(check_columns(table)) == expected
    unnamed = {found.check for found in check_columns(Table.read(X, rng.integers(0, 2, n)))}
    assert unnamed == {found.check for found in expected} - {Check.UNREPEATED}


def test_a_single_column_and_few_rows_are_not_checked():
    ids = [[f"t{i}", i % 3] for i in range(19)]
    assert check_columns(Table.read(ids, [i % 2 for i in range(19)])) == ()
    assert check_columns(Table.read([[f"t{i}"] for i in range(50)], [i % 2 for i in range(50)])) == ()


def test_nominal_identifiers_are_found_from_the_schema():
    city = Feature("city", Kind.NOMINAL, tuple(f"c{i}" for i in range(30)))
    schema = Schema((city, Feature("age")), ("no", "yes"))
    assert [found.column for found in check_schema(schema, 59)] == ["city"]
    assert check_schema(schema, 60) == ()


def with_target(column, y, n_noise=2, **more):
    """Build a table of a column and columns of noise."""
    rng = np.random.default_rng(1)
    X = np.empty((len(y), 1 + n_noise), object)
    X[:, 0] = column
    X[:, 1:] = rng.normal(size=(len(y), n_noise))
    return Table.read(X, y, **({"feature_names": ["suspect", "a", "b"][: 1 + n_noise]} | more))


def copies(table):
    return [(found.column, found.what) for found in target_copies(table)]


@pytest.mark.parametrize("sort", [False, True])
def test_a_renamed_target_is_a_copy_up_to_one_row_in_a_thousand(sort):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    y = np.sort(y) if sort else y
    as_text, as_number = np.array(["low", "mid", "top"])[y], np.array([5.0, 1.0, 9.0])[y]
    for column in (as_text, as_number):
        assert copies(with_target(column, y)) == [("suspect", "alone gives the class of 100 % of the rows")]
        wrong = column.copy()
        wrong[[0, 1500, 2999]] = column[[1500, 2999, 0]]  # three rows of other classes, if sorted
        expected = 100 * (1 - np.count_nonzero(wrong != column) / 3000)
        assert copies(with_target(wrong, y)) == [
            ("suspect", f"alone gives the class of {expected:.2f} % of the rows")
        ]
        wrong[:20] = wrong[-20:]
        assert np.count_nonzero(wrong != column) > 3
        assert copies(with_target(wrong, y)) == []


def test_a_copy_of_very_many_classes_takes_little_memory():
    y = np.arange(60_000) // 2
    tracemalloc.start()
    found = copies(with_target(y * 3.0, y, n_noise=1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [name for name, _ in found] == ["suspect"]
    assert peak < 100e6  # 30,000 values times 30,000 classes would be 7 GB


def test_missing_values_of_one_class_only_are_a_copy():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    reason = np.where(y, np.array([f"r{i}" for i in range(9)])[rng.integers(0, 9, 400)], None)
    days = np.where(y, rng.normal(size=400), np.nan)
    for column in (reason, days):
        assert [name for name, _ in copies(with_target(column, y.astype(int)))] == ["suspect"]
        assert copies(with_target(rng.permutation(column), y.astype(int))) == []


def test_a_clean_cut_is_a_copy_only_with_many_rows_and_names():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = (x > 0.3).astype(int)
    assert [name for name, _ in copies(with_target(x, y))] == ["suspect"]
    assert copies(with_target(x[:999], y[:999])) == []
    assert copies(with_target(x, y, feature_names=None)) == []
    assert copies(with_target(x, y ^ (rng.random(2000) < 0.01))) == []


def test_strong_features_are_not_copies():
    iris = load_iris()
    for y in (iris.target, iris.target == 0):
        table = Table.read(iris.data, y, feature_names=iris.feature_names)
        assert check_columns(table) == ()
    rng = np.random.default_rng(0)
    odour = rng.integers(0, 9, 8000)  # as of mushrooms: nine values, of which one is ambiguous in a few rows
    poisonous = np.where(odour == 0, rng.random(8000) < 0.03, odour > 4)
    assert copies(with_target(np.array(list("nacfmpsyl"))[odour], poisonous.astype(int))) == []
    poisonous = odour > 4  # and without any exception
    assert copies(with_target(np.array(list("nacfmpsyl"))[odour], poisonous.astype(int))) == []


def test_predicting_the_common_class_is_not_a_copy_of_a_rare_one():
    rng = np.random.default_rng(0)
    y = (np.arange(60_000) % 2000 == 0).astype(int)  # 30 rows
    flag = rng.permutation(y)
    assert copies(with_target(flag, y)) == []
    assert [name for name, _ in copies(with_target(y * 1.0, y))] == ["suspect"]
    almost = y.copy()
    almost[np.flatnonzero(y)[0]] = 0  # right in all but one of 60,000 rows, but in 29 of 30 of the class
    assert copies(with_target(almost, y)) == []


@pytest.mark.parametrize("factor", [2.5, -0.001])
def test_a_linear_function_of_a_numeric_target_is_a_copy(factor):
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    x = factor * y + 40
    x[::20] = np.nan
    table = with_target(x, y, target_kind=Kind.NUMERIC)
    assert copies(table) == [("suspect", "has a correlation of 1.0000 with the target")]
    for noise, found in ((0.005, ["suspect"]), (0.03, [])):  # correlations of 0.99999 and 0.9995
        table = with_target(y + noise * rng.normal(size=500), y, target_kind=Kind.NUMERIC)
        assert [name for name, _ in copies(table)] == found
    x[::5] = np.nan
    assert copies(with_target(x, y, target_kind=Kind.NUMERIC)) == []


def test_huge_numbers_are_not_copies():
    y = np.arange(200.0)
    for x in (np.where(y > 100, np.inf, 0.0), np.where(y % 2, 1e300, -1e300)):
        assert copies(with_target(x, y, target_kind=Kind.NUMERIC)) == []


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan]), min_size=1, max_size=12).flatmap(
        lambda xs: st.tuples(st.just(xs), st.lists(st.integers(0, 1), min_size=len(xs), max_size=len(xs)))
    )
)
def test_counts_of_wrong_rows_equal_brute_force(rows):
    values, target = rows
    x, y = np.array(values), np.array(target)

    def wrong(groups):
        return sum(min(ones := int(y[group].sum()), int(group.sum()) - ones) for group in groups)

    missing = np.isnan(x)
    assert wrong_by_missing(x, y) == wrong([missing, ~missing])
    by_cut = [wrong([missing, x <= cut, x > cut]) for cut in (0.0, 1.0, 2.0, 3.0)]
    assert wrong_by_cut(x, y) == (len(x) if missing.all() else min(by_cut))
    values = [missing, *(x == value for value in (0.0, 1.0, 2.0, 3.0))]
    many = sum(group.any() for group in values) > 3
    assert wrong_by_value(x, y, 2) == (len(x) if many else wrong(values))


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=20))
def test_correlation_equals_that_of_numpy(pairs):
    x, y = np.array(pairs, float).T
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert correlation(x, y) == pytest.approx(abs(np.corrcoef(x, y)[0, 1]), abs=1e-12)
    else:
        assert correlation(x, y) == 0.0


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e120, 1e139])
def test_the_size_of_the_target_changes_no_correlation(scale):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 500))
    assert correlation(x, y * scale) == pytest.approx(correlation(x, y))
    assert correlation(x * scale, y * scale) == pytest.approx(correlation(x, y))
    assert copies(with_target(x, y * scale, target_kind=Kind.NUMERIC)) == []
    assert len(copies(with_target(3 * y, y * scale, target_kind=Kind.NUMERIC))) == 1


@pytest.mark.parametrize(
    ("text", "is_date"),
    [
        ("2024-01-{:02}", True),
        ("2024-01-{:02} 10:30", True),
        ("2024-01-{:02}T10:30:00Z", True),
        ("2024-01-{:02}-a", False),
        ("v2024-01-{:02}", False),
        ("{:02}.01.2024", False),
    ],
)
def test_dates_as_text_are_found(text, is_date):
    """In rows and in a schema; one other text among them clears the column."""
    dates = [text.format(row % 5 + 1) for row in range(60)]
    for other in (None, "unknown"):
        rows = [[other if other and not row else date, row % 7] for row, date in enumerate(dates)]
        table = Table.read(rows, [row % 2 for row in range(60)], feature_names=["paid", "weekday"])
        expected = ["dates as text"] if is_date and other is None else []
        assert [finding.check for finding in check_columns(table)] == expected
        assert [finding.check for finding in check_schema(table.schema, 60)] == expected


def test_a_fit_warns_about_dates_as_text():
    frame = pd.DataFrame({"paid": [f"2024-01-{row % 9 + 1:02}" for row in range(60)], "x": np.arange(60) % 7})
    with pytest.warns(
        HornbeamWarning, match=r"'paid' holds dates as text, each a category .*such as days since a date"
    ):
        TreeClassifier("cart").fit(frame, np.arange(60) % 2)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["3,5", "12", "-0,25"], True),
        (["3.5", ".5"], True),
        (["1", "02", "3"], False),
        (["3,5", "n/a"], False),
    ],
)
def test_numbers_as_text_are_found(texts, expected):
    """Whole numbers may be codes; one other text clears the column."""
    rows = [[texts[row % len(texts)], row % 7] for row in range(60)]
    table = Table.read(rows, [row % 2 for row in range(60)], feature_names=["amount", "weekday"])
    found = ["numbers as text"] if expected else []
    assert [finding.check for finding in check_columns(table)] == found
    assert [finding.check for finding in check_schema(table.schema, 60)] == found


@pytest.mark.parametrize("write", [str, float, lambda value: f"{value:,}"])
@pytest.mark.parametrize("n_bad", [1, 6, 7])
def test_one_bad_cell_makes_a_column_nominal(n_bad, write):
    """Up to one cell in twenty; the warning counts the cells, and contains no value."""
    values = [write(1_000 + 7 * row) for row in range(30)] * 4
    values[3 : 3 + n_bad] = ["n.a."] * n_bad
    frame = pd.DataFrame({"amount": pd.Series(values, dtype=object), "x": np.arange(120) % 7})
    table = Table.read(frame, np.arange(120) % 2)
    found = [(finding.check, finding.what) for finding in check_columns(table)]
    expected = [("a few texts among numbers", f"holds numbers, but for {n_bad} of 120 cells")]
    assert found == (expected if n_bad <= 6 else [])
    if n_bad <= 6:
        with pytest.warns(
            HornbeamWarning, match=f"'amount' holds numbers, but for {n_bad} of 120 cells.*to_numeric"
        ):
            TreeClassifier("cart").fit(frame, np.arange(120) % 2)
        pa = pytest.importorskip("pyarrow")
        profile = Profile.of("amount", pa.chunked_array([pa.array(map(str, values)).dictionary_encode()]))
        assert profile.n_few_texts == n_bad


def test_codes_with_many_letters_are_no_numbers():
    codes = [f"{row}" if row % 10 else f"V{row}" for row in range(60)]
    assert few_texts(codes) == []
    assert few_texts([True, *range(30)]) == [0]


@pytest.mark.parametrize("text", ["1,234", "1.234,56", "12 000", "1'000.5", "-3e-5", " 7 "])
def test_ways_to_write_a_number(text):
    assert few_texts([*map(str, range(30)), text]) == []


def test_a_fit_warns_about_numbers_with_a_decimal_comma():
    """Also where every row has another one, which looks like an identifier."""
    frame = pd.DataFrame({"amount": [f"{row},5" for row in range(60)], "x": np.arange(60) % 7})
    with pytest.warns(HornbeamWarning, match=r"'amount' holds numbers as text.*decimal=','"):
        TreeClassifier("cart").fit(frame, np.arange(60) % 2)
