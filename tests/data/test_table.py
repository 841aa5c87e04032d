"""`Table.read` gives the same table for the same content in any container."""

import datetime
import decimal
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hornbeam import TreeClassifier
from hornbeam.data.labels import read_labels
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import DataError, SchemaError

NUMBER = [1.5, None, -2.0, float("inf")]
WHOLE = [3, None, 1, 2]
FLAG = [True, None, False, True]
COLOUR = ["red", None, "blue", "red"]
SIZE = ["small", None, "large", "small"]
SIZES = ["small", "medium", "large"]


def pandas_frame():
    return pd.DataFrame(
        {
            "number": NUMBER,
            "whole": pd.array(WHOLE, dtype="Int64"),
            "flag": pd.array(FLAG, dtype="boolean"),
            "colour": COLOUR,
            "size": pd.Categorical(SIZE, categories=SIZES, ordered=True),
        }
    )


def pandas_old_frame():
    """Return a frame in old pandas style: objects, floats for integers, an unused category first."""
    return pd.DataFrame(
        {
            "number": pd.Series(NUMBER, dtype=object),
            "whole": pd.Series(WHOLE, dtype="float32"),
            "flag": pd.Series(FLAG, dtype=object),
            "colour": pd.Categorical(COLOUR, categories=["white", "red", "blue"]),
            "size": pd.Categorical(SIZE, categories=SIZES, ordered=True),
        }
    ).set_axis([3, 3, 1, 2])


def pandas_arrow_frame():
    return pandas_frame().astype(
        {
            "number": "double[pyarrow]",
            "whole": "int8[pyarrow]",
            "flag": "bool[pyarrow]",
            "colour": pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())),
        }
    )


def arrow_table():
    return pa.table(
        {
            "number": NUMBER,
            "whole": pa.array(WHOLE, pa.uint8()),
            "flag": FLAG,
            "colour": pa.array(COLOUR, pa.large_string()),
            "size": pa.DictionaryArray.from_arrays(
                pa.array([0, None, 2, 0], pa.uint8()), pa.array(SIZES), ordered=True
            ),
        }
    )


def arrow_chunks():
    """Return a table with chunks whose dictionaries differ."""
    table = arrow_table()
    colour = pa.chunked_array(
        [pa.array(COLOUR[:2]).dictionary_encode(), pa.array(COLOUR[2:]).dictionary_encode()]
    )
    return table.set_column(3, "colour", colour)


class Capsule:
    """An object with nothing but the Arrow interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


FRAMES = {
    "pandas": pandas_frame,
    "pandas-old": pandas_old_frame,
    "pandas-arrow": pandas_arrow_frame,
    "pyarrow": arrow_table,
    "pyarrow-chunks": arrow_chunks,
    "pyarrow-batch": lambda: arrow_table().to_batches()[0],
    "capsule": lambda: Capsule(arrow_table()),
}
FOUR = ["number", "whole", "flag", "colour"]
NOMINAL_FRAMES = {
    **{name: lambda make=make: make().drop(columns="size") for name, make in list(FRAMES.items())[:3]},
    "pyarrow": lambda: arrow_table().select(FOUR),
    "polars": lambda: pl.DataFrame({"number": NUMBER, "whole": WHOLE, "flag": FLAG, "colour": COLOUR}),
    "polars-categorical": lambda: NOMINAL_FRAMES["polars"]().with_columns(
        pl.col("colour").cast(pl.Categorical)
    ),
    "polars-enum": lambda: NOMINAL_FRAMES["polars"]().with_columns(
        pl.col("colour").cast(pl.Enum(["white", "red", "blue"])), pl.col("whole").cast(pl.Int128)
    ),
    "numpy": lambda: np.array([NUMBER, WHOLE, FLAG, COLOUR], dtype=object).T,
    "numpy-masked": lambda: np.ma.array(
        np.array(
            [[1.5, 9, -2.0, np.inf], [3, 9, 1, 2], [True, 9, False, True], ["red", 9, "blue", "red"]],
            dtype=object,
        ).T,
        mask=np.array([[False, True, False, False]] * 4).T,
    ),
    "list": lambda: [list(row) for row in zip(NUMBER, WHOLE, FLAG, COLOUR, strict=True)],
}


def expect(table, columns, features):
    assert table.schema.features == features
    assert len(table.columns) == len(columns)
    for found, feature, expected in zip(table.columns, features, columns, strict=True):
        assert found.dtype == (np.int32 if feature.kind is Kind.NOMINAL else np.float64)
        np.testing.assert_array_equal(found, expected)
    types = [type(c) for f in table.schema.features for c in f.categories]
    assert types == [type(c) for f in features for c in f.categories]


FEATURES = (
    Feature("number"),
    Feature("whole"),
    Feature("flag", Kind.NOMINAL, (False, True)),
    Feature("colour", Kind.NOMINAL, ("blue", "red")),
    Feature("size", Kind.ORDINAL, ("small", "medium", "large")),
)
COLUMNS = ([1.5, np.nan, -2, np.inf], [3, np.nan, 1, 2], [1, -1, 0, 1], [1, -1, 0, 1], [0, np.nan, 2, 0])


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_gives_the_same_table(name):
    expect(Table.read(FRAMES[name]()), COLUMNS, FEATURES)


@pytest.mark.parametrize("name", NOMINAL_FRAMES)
def test_frames_and_arrays_give_the_same_table(name):
    names = ["number", "whole", "flag", "colour"] if name in ("numpy", "numpy-masked", "list") else None
    expect(Table.read(NOMINAL_FRAMES[name](), feature_names=names), COLUMNS[:4], FEATURES[:4])


@pytest.mark.parametrize("unknown", NOMINAL_FRAMES)
@pytest.mark.parametrize("known", ["pandas", "polars", "numpy"])
def test_a_schema_from_one_library_matches_frames_of_the_others(known, unknown):
    names = ["number", "whole", "flag", "colour"]
    schema = Table.read(NOMINAL_FRAMES[known](), feature_names=names).schema
    table = Table.read(NOMINAL_FRAMES[unknown](), schema=schema)
    assert table.schema is schema
    expect(table, COLUMNS[:4], FEATURES[:4])


def test_a_float_matrix_is_not_copied():
    for X in (np.zeros((4, 3)), np.zeros((3, 4)).T, np.zeros((8, 6))[::2, ::2]):
        table = Table.read(X)
        assert table.matrix is X
        assert table.schema == Schema((Feature("x0"), Feature("x1"), Feature("x2")))
        assert all(column.base is not None and np.shares_memory(column, X) for column in table.columns)
        assert [column.shape for column in table.columns] == [(4,)] * 3


@pytest.mark.parametrize("dtype", ["float16", "float32", "longdouble", "int8", "uint64", "int64", ">f8"])
def test_other_numeric_types_become_float64(dtype):
    X = np.array([[1, 2], [3, 4]], dtype=dtype)
    table = Table.read(X)
    assert table.matrix.dtype == np.float64
    assert table.matrix.tolist() == [[1, 2], [3, 4]]


def test_integers_beyond_2_to_the_53_are_rounded():
    assert Table.read(np.array([[2**53 + 1]])).columns[0].tolist() == [2.0**53]


def test_masked_numbers_are_missing():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(Table.read(X).matrix, [[1, np.nan], [3, 4]])
    assert X.data.tolist() == [[1, 2], [3, 4]]


def test_booleans_are_nominal():
    table = Table.read(np.array([[True, True], [False, True]]))
    expect(
        table,
        [[1, 0], [0, 0]],
        (Feature("x0", Kind.NOMINAL, (False, True)), Feature("x1", Kind.NOMINAL, (True,))),
    )
    assert table.matrix is None


@pytest.mark.parametrize(
    ("values", "kind", "categories", "column"),
    [
        ([1, 2.5, None], Kind.NUMERIC, (), [1, 2.5, np.nan]),
        ([decimal.Decimal("1.5"), Fraction(1, 4), np.float32(2)], Kind.NUMERIC, (), [1.5, 0.25, 2]),
        ([1, True, pd.NA], Kind.NUMERIC, (), [1, 1, np.nan]),
        ([None, pd.NaT, float("nan")], Kind.NUMERIC, (), [np.nan] * 3),
        ([np.True_, False, pd.NA], Kind.NOMINAL, (False, True), [1, 0, -1]),
        (["b", "a", float("nan")], Kind.NOMINAL, ("a", "b"), [1, 0, -1]),
        (["b", 10, 9], Kind.NOMINAL, (9, 10, "b"), [2, 1, 0]),
        (["b", 1, 1.0], Kind.NOMINAL, (1, "b"), [1, 0, 0]),
        (["b", 1.0, 1], Kind.NOMINAL, (1, "b"), [1, 0, 0]),
        ([True, 1, "b"], Kind.NOMINAL, (1, "b"), [0, 0, 1]),
        ([True, "b", None], Kind.NOMINAL, (True, "b"), [0, 1, -1]),
        ([np.str_("b"), 0.5, "b"], Kind.NOMINAL, (0.5, "b"), [1, 0, 1]),
        (["", "nan", "None"], Kind.NOMINAL, ("", "None", "nan"), [0, 2, 1]),
    ],
)
@pytest.mark.parametrize("wrap", [lambda v: np.array(v, dtype=object)[:, None], lambda v: [[x] for x in v]])
def test_the_kind_of_an_object_column_follows_from_its_values(wrap, values, kind, categories, column):
    expect(Table.read(wrap(values)), [column], (Feature("x0", kind, categories),))


@given(st.permutations([1, 1.0, True, "a", "b", None, 2.5, "1"]))
def test_categories_do_not_depend_on_the_order_of_rows(values):
    table = Table.read([[value] for value in values])
    categories = table.schema.features[0].categories
    assert [(type(c), c) for c in categories] == [(int, 1), (float, 2.5), (str, "1"), (str, "a"), (str, "b")]
    back = [None if code < 0 else categories[code] for code in table.columns[0]]
    assert back == values


def test_numpy_strings_are_nominal():
    for dtype in ("U2", np.dtypes.StringDType()):
        table = Table.read(np.array([["b"], ["a"], ["b"]], dtype=dtype))
        expect(table, [[1, 0, 1]], (Feature("x0", Kind.NOMINAL, ("a", "b")),))


def test_numeric_categories_keep_their_values():
    frame = pd.DataFrame({"c": pd.Categorical([30, 10, None], categories=[30, 20, 10])})
    expect(Table.read(frame), [[1, 0, -1]], (Feature("c", Kind.NOMINAL, (10, 30)),))
    arrow = pa.table({"c": pa.array([30, 10, None]).dictionary_encode()})
    expect(Table.read(arrow), [[1, 0, -1]], (Feature("c", Kind.NOMINAL, (10, 30)),))


def test_arrow_dictionaries_may_have_nulls_and_repeated_values():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None]), pa.array(["b", None, "a", "b"]))
    expect(Table.read(pa.table({"c": array})), [[1, -1, 0, 1, -1]], (Feature("c", Kind.NOMINAL, ("a", "b")),))


def test_decimals_are_numeric():
    values = [decimal.Decimal("1.5"), None]
    for frame in (
        pa.table({"d": values}),
        pl.DataFrame({"d": values}),
        pd.DataFrame({"d": values}),
        pd.DataFrame({"d": pd.array(values, dtype=pd.ArrowDtype(pa.decimal128(4, 2)))}),
    ):
        expect(Table.read(frame), [[1.5, np.nan]], (Feature("d"),))


def test_columns_without_values_are_numeric_unless_typed_as_text():
    for frame in (
        pa.table({"n": pa.nulls(2)}),
        pl.DataFrame({"n": [None, None]}),
        pd.DataFrame({"n": [None, None]}),
    ):
        expect(Table.read(frame), [[np.nan, np.nan]], (Feature("n"),))
    typed = pl.DataFrame({"n": pl.Series([None, None], dtype=pl.String)})
    expect(Table.read(typed), [[-1, -1]], (Feature("n", Kind.NOMINAL, ()),))


def test_names_come_from_feature_names_or_the_frame_or_are_generated():
    X = np.zeros((2, 2))
    assert Table.read(X, feature_names=["a", "b"]).schema.names == ("a", "b")
    assert Table.read(X, feature_names=pd.Index(["a", "b"])).schema.names == ("a", "b")
    assert {type(name) for name in Table.read(X, feature_names=np.array(["a", "b"])).schema.names} == {str}
    assert Table.read(pd.DataFrame(X)).schema.names == ("x0", "x1")
    assert Table.read(pd.DataFrame(X, columns=["b", "a"])).schema.names == ("b", "a")
    assert Table.read(pd.DataFrame(X, columns=["b", "a"]), feature_names=["c", "d"]).schema.names == (
        "c",
        "d",
    )


class NotAnArray:
    """Has `__array__` and nothing else."""

    def __array__(self, dtype=None, copy=None):
        return np.array([[1.0, 2.0]], dtype=dtype)


def test_anything_that_converts_to_an_array_is_read():
    assert Table.read(NotAnArray()).matrix.tolist() == [[1, 2]]
    assert Table.read(((1, 2), (3, 4))).columns[1].tolist() == [2, 4]
    assert Table.read([np.array([1.0, 2.0]), np.array([3.0, 4.0])]).columns[0].tolist() == [1, 3]


def test_reading_arrays_imports_only_numpy():
    program = (
        "import sys, numpy; from hornbeam.data.table import Table; Table.read(numpy.eye(3), [0, 1, 0]);"
        "print(sorted({'narwhals', 'pandas', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# Labels and weights


def test_labels_become_sorted_classes_and_codes():
    table = Table.read([[1.0], [2.0], [3.0]], ["b", "a", "b"])
    assert table.schema.classes == ("a", "b")
    assert table.target.tolist() == [1, 0, 1]
    assert table.weight is None
    assert table.unit == 1.0
    assert Table.read([[1.0], [2.0]]).target is None
    assert all(
        type(c) is int for c in Table.read([[1.0], [2.0]], np.array([1, 2], dtype=np.int8)).schema.classes
    )


def test_labels_that_were_read_before_are_not_copied():
    labels = read_labels(np.array([5, 3], dtype=np.int8))
    table = Table.read([[1.0], [2.0]], labels)
    assert table.schema.classes == (3, 5)
    assert table.target is labels.codes


def test_labels_are_matched_with_the_schema():
    schema = Table.read([[1.0], [2.0], [3.0]], ["a", "b", "c"]).schema
    assert Table.read([[1.0], [1.0]], ["c", "b"], schema=schema).target.tolist() == [2, 1]
    with pytest.raises(SchemaError, match="label 'z'"):
        Table.read([[1.0]], ["z"], schema=schema)


@pytest.mark.parametrize(
    "make",
    [lambda rows: np.array(rows, dtype=float), lambda rows: pd.DataFrame(rows, columns=["x0", "x1"]), list],
)
def test_rows_of_weight_zero_are_dropped(make):
    rows, y, weight = [[1, 5], [2, 6], [3, 7]], ["a", "b", "a"], [1.5, 0, 2]
    table = Table.read(make(rows), y, sample_weight=weight)
    without = Table.read(make([rows[0], rows[2]]), ["a", "a"], sample_weight=[1.5, 2])
    assert table.n_rows == 2
    assert table.schema.features == without.schema.features
    assert table.unit == without.unit
    np.testing.assert_array_equal(table.weight, without.weight)
    np.testing.assert_array_equal(table.columns, without.columns)
    assert table.schema.classes == ("a", "b")  # the class stays, without rows
    assert table.target.tolist() == [0, 0]
    if table.matrix is not None:
        assert all(np.shares_memory(column, table.matrix) for column in table.columns)


def test_categories_of_dropped_rows_are_not_in_the_schema():
    table = Table.read([["a"], ["b"]], [0, 1], sample_weight=[1, 0])
    assert table.schema.features[0].categories == ("a",)


def test_slices_are_views():
    table = Table.read(np.arange(12.0).reshape(4, 3), [0, 1, 0, 1], sample_weight=[1, 2, 3, 4])
    part = table.slice(1, 3)
    assert part.n_rows == 2
    assert part.schema is table.schema
    assert part.matrix.tolist() == [[3, 4, 5], [6, 7, 8]]
    assert [column.tolist() for column in part.columns] == [[3, 6], [4, 7], [5, 8]]
    assert part.target.tolist() == [1, 0]
    assert part.weight.tolist() == [2, 3]
    for ours, whole in zip(
        (*part.columns, part.target, part.weight), (*table.columns, table.target, table.weight), strict=True
    ):
        assert np.shares_memory(ours, whole)


# Matching a schema


def test_categories_are_matched_by_value_not_by_code():
    schema = Table.read(pd.DataFrame({"c": pd.Categorical(["a", "b", "c"])})).schema
    frame = pd.DataFrame({"c": pd.Categorical(["c", "z", None, "a"], categories=["z", "c", "b", "a"])})
    assert Table.read(frame, schema=schema).columns[0].tolist() == [2, -2, -1, 0]
    assert Table.read(pl.from_pandas(frame), schema=schema).columns[0].tolist() == [2, -2, -1, 0]


def test_ordinal_values_that_were_not_declared_are_missing():
    schema = Schema((Feature("size", Kind.ORDINAL, ("small", "large")),))
    np.testing.assert_array_equal(
        Table.read([["large"], ["huge"], [None]], schema=schema).columns[0], [1, np.nan, np.nan]
    )


def test_numbers_match_numeric_categories():
    schema = Schema(
        (
            Feature("x0", Kind.NOMINAL, (1, 2.5, "a")),
            Feature("x1", Kind.NOMINAL, (False, True)),
            Feature("x2"),
        )
    )
    table = Table.read(np.array([[2.5, 1, 7], [9, 0, 8], [np.nan, np.nan, 9]]), schema=schema)
    assert [column.tolist() for column in table.columns] == [[1, -2, -1], [1, 0, -1], [7, 8, 9]]
    assert table.matrix is None


def test_booleans_and_numeric_categories_match_numeric_features():
    schema = Schema((Feature("a"), Feature("b")))
    frame = pd.DataFrame({"a": [True, False], "b": pd.Categorical([3, None], categories=[3, "unused"])})
    np.testing.assert_array_equal(Table.read(frame, schema=schema).columns, [[1, 0], [3, np.nan]])


@pytest.mark.parametrize(
    ("feature", "X", "message"),
    [
        (Feature("f"), [["tall"]], "Column 'f' has text in row 0, but the tree was fitted with numbers"),
        (Feature("f", Kind.NOMINAL, ("a",)), [[3]], "holds numbers, but the categories .* are text"),
        (Feature("f", Kind.NOMINAL, (1, 2)), [["1"]], "holds text, but the categories .* are numbers"),
        (Feature("f", Kind.ORDINAL, ("a",)), np.array([[3.0]]), "Column 'f' holds numbers"),
        (
            Feature("f"),
            np.zeros((1, 2)),
            r"X has 2 features, but Tree is expecting 1 features as input: \['f'\]",
        ),
        (
            Feature("f"),
            pd.DataFrame({"g": [1.0]}),
            r"names should match those that were passed during fit.\nFeature names unseen at fit time:\n- g",
        ),
    ],
)
def test_columns_that_do_not_match_the_schema_are_refused(feature, X, message):
    with pytest.raises(SchemaError, match=message):
        Table.read(X, schema=Schema((feature,)))


def test_names_in_another_order_are_refused():
    schema = Table.read(pd.DataFrame({"a": [1.0], "b": [2.0]})).schema
    with pytest.raises(SchemaError, match=r"same order.*\nPass X\[model.feature_names_in_\]"):
        Table.read(pd.DataFrame({"b": [1.0], "a": [2.0]}), schema=schema)
    assert Table.read(np.zeros((1, 2)), schema=schema).schema is schema
    unnamed = Table.read(np.zeros((1, 2))).schema
    assert Table.read(pd.DataFrame({"b": [1.0], "a": [2.0]}), schema=unnamed).schema is unnamed


def test_missing_values_match_every_feature():
    schema = Schema((Feature("a"), Feature("b", Kind.NOMINAL, ("x",)), Feature("c", Kind.ORDINAL, ("x",))))
    for X in (
        np.full((1, 3), np.nan),
        [[None, None, None]],
        pl.DataFrame({"a": [None], "b": [None], "c": [None]}),
    ):
        a, b, c = Table.read(X, schema=schema).columns
        assert np.isnan(a[0])
        assert b.tolist() == [-1]
        assert np.isnan(c[0])


# Unusable data

DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required."),
        (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required."),
        (pd.DataFrame(index=[0, 1]), r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        (pl.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (np.zeros(3), "Expected 2D array, got 1D array instead(.|\n)*Reshape your data"),
        ([1.0, 2.0], "Expected 2D array, got 1D array instead"),
        (pd.Series([1.0]), "Expected 2D array, got 1D array instead"),
        (pl.Series([1.0]), "Expected 2D array, got 1D array instead"),
        (np.float64(3).reshape(()), "Expected 2D array, got scalar array instead"),
        (np.zeros((2, 2, 2)), "Found array with dim 3, while dim <= 2 is required"),
        ([[1, 2], [3]], "rows of X differ in length"),
        (np.zeros((2, 2), dtype=complex), "Complex data not supported"),
        ([[1j]], "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), "Complex data not supported"),
        (np.zeros(2, dtype=[("a", float), ("b", int)]), r"structured array with the fields \('a', 'b'\)"),
        (sparse.csr_array((10**6, 10**4)), r"74.5 GiB as dense data; expected at most 4 GiB.*toarray\(\)"),
        (sparse.csr_matrix((10**6, 10**4)), r"74.5 GiB as dense data; expected at most 4 GiB.*toarray\(\)"),
        (sparse.csr_array((2, 2), dtype=complex), "Complex data not supported"),
        (sparse.csr_array((0, 2)), "0 sample"),
        (pl.LazyFrame({"a": [1]}), r"Call collect\(\) first"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns of the same name"),
        (pa.table([[1], [2]], names=["a", "a"]), "two columns of the same name"),
        (pd.DataFrame([[1, 2]], columns=["a", 3]), r"of the types \['int', 'str'\]; expected strings"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "'x0' holds dates or times .*Convert it to a number"),
        ([[1, DAY]], "'x1' holds dates or times"),
        (pd.DataFrame({"d": pd.to_datetime([DAY])}), "'d' holds dates or times"),
        (pd.DataFrame({"d": [DAY]}), "'d' holds dates or times"),
        (pd.DataFrame({"d": pd.Categorical([pd.Timestamp(DAY)])}), "'d' holds dates or times"),
        (pl.DataFrame({"d": [DAY]}), "'d' holds dates or times"),
        (pl.DataFrame({"d": [datetime.timedelta(1)]}), "'d' holds dates or times"),
        (pa.table({"d": [datetime.datetime(2020, 1, 1)]}), "'d' holds dates or times"),
        (pa.table({"d": [datetime.time(1)]}), "'d' holds dates or times"),
        ([[{"a": 1}]], "values of type dict; .* argument must be a string or a number"),
        ([[b"a"]], "values of type bytes"),
        (np.array([[b"a"]]), "values of type "),
        (pl.DataFrame({"l": [[1]]}), "'l' holds values of type List"),
        (pd.DataFrame({"i": pd.cut([1, 2], 2)}), "'i' holds values of type Interval"),
        ({"a": [1]}, "X is a dict; expected a 2-D array"),
        (3, "X is a int; expected a 2-D array"),
        ("text", "X is a str; expected a 2-D array"),
    ],
    ids=str,
)
def test_unusable_data_are_refused(X, message):
    with pytest.raises(DataError, match=message):
        Table.read(X)


def test_different_numbers_of_rows_or_names_are_refused():
    with pytest.raises(DataError, match=r"inconsistent numbers of samples: \[2, 3\]"):
        Table.read(np.zeros((2, 1)), [0, 1, 0])
    with pytest.raises(DataError, match=r"sample_weight\.shape"):
        Table.read(np.zeros((2, 1)), [0, 1], sample_weight=[1])
    with pytest.raises(DataError, match="3 names for 1 columns"):
        Table.read(np.zeros((2, 1)), feature_names=["a", "b", "c"])
    with pytest.raises(SchemaError, match="Two columns are named 'a'"):
        Table.read(np.zeros((2, 2)), feature_names=["a", "a"])


def test_too_many_categories_are_refused_only_without_a_schema():
    names = [[f"id{i}"] for i in range(65_535)]
    with pytest.raises(DataError, match="65535 categories; at most 65534"):
        Table.read(names)
    schema = Table.read(names[:3]).schema
    assert Table.read(names, schema=schema).columns[0][[0, 2, 3]].tolist() == [0, 2, -2]


def test_unaligned_numbers_are_copied_to_aligned_columns():
    """A field of a packed record is unaligned."""
    record = np.zeros(3, dtype=[("flag", np.int8), ("x", np.float64, (2,))])
    record["x"] = [[1.0, 5.0], [2.0, 4.0], [3.0, 6.0]]
    assert not record["x"].flags.aligned
    table = Table.read(record["x"])
    assert all(column.flags.aligned for column in table.columns)
    assert [column.tolist() for column in table.columns] == record["x"].T.tolist()


def test_a_relation_of_duckdb_is_read_by_its_arrow_stream():
    """Its type is that of a lazy frame, but its rows need no call of the user."""
    duckdb = pytest.importorskip("duckdb")
    frame = pd.DataFrame({"a": [1.5, None, 3.0] * 20, "c": ["u", "v", None] * 20})
    y = ["no", "yes", "yes"] * 20
    with duckdb.connect() as database:
        database.register("frame", frame)
        relation = database.sql("SELECT a, c FROM frame")
        assert Table.read(relation, y).n_rows == 60
        model = TreeClassifier().fit(relation, y)
        assert model.tree_.digest == TreeClassifier().fit(frame, y).tree_.digest
        assert model.feature_names_in_.tolist() == ["a", "c"]
        np.testing.assert_array_equal(model.predict_proba(relation), model.predict_proba(frame))
