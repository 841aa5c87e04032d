"""Labels of every type become sorted classes and codes."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hornbeam.data.labels import match_labels, read_labels
from hornbeam.errors import DataError, SchemaError

TEXT = ["b", "c", "a", "b"]


@pytest.mark.parametrize(
    "y",
    [
        TEXT,
        tuple(TEXT),
        np.array(TEXT),
        np.array(TEXT, dtype=object),
        np.array(TEXT, dtype=np.dtypes.StringDType()),
        np.array(TEXT)[:, None],
        [[label] for label in TEXT],
        pd.Series(TEXT),
        pd.Series(TEXT, dtype="category"),
        pd.Series(TEXT, index=[7, 7, 8, 9]),
        pd.Series(pd.Categorical(TEXT, categories=["z", "c", "b", "a"], ordered=True)),
        pl.Series(TEXT),
        pl.Series(TEXT, dtype=pl.Categorical),
        pl.Series(TEXT, dtype=pl.Enum(["c", "b", "a", "z"])),
        pa.array(TEXT),
        pa.chunked_array([TEXT[:1], TEXT[1:]]),
        pa.chunked_array([TEXT[:1], TEXT[1:]]).dictionary_encode(),
        np.ma.array(TEXT),
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}-{getattr(y, 'dtype', '')}",
)
def test_text_labels_are_the_same_from_every_container(y):
    classes, codes = read_labels(y)
    assert classes.tolist() == ["a", "b", "c"]
    assert codes.dtype == np.int32
    assert codes.tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize(
    ("y", "classes", "dtype"),
    [
        (np.array([3, 1, 3], dtype=np.int8), [1, 3], np.int8),
        (np.array([3, -1, 3]), [-1, 3], np.int64),
        (np.array([2**63 + 5, 1, 2**63 + 5], dtype=np.uint64), [1, 2**63 + 5], np.uint64),
        (np.array([2**63 + 5, 2**63 + 4, 2**63 + 5], dtype=np.uint64), [2**63 + 4, 2**63 + 5], np.uint64),
        (np.array([2**62, -(2**62), 2**62]), [-(2**62), 2**62], np.int64),
        (np.array([127, -128, 127], dtype=np.int8), [-128, 127], np.int8),
        (np.array([3, 1, 3], dtype=">i4"), [1, 3], np.dtype(">i4")),
        (np.array([True, False, True]), [False, True], np.bool_),
        ([1.0, -2.0, 1.0], [-2.0, 1.0], np.float64),
        (np.array([1.0, -2.0, 1.0], dtype=np.float32), [-2.0, 1.0], np.float32),
        ([1e300, 1.0, 1e300], [1.0, 1e300], np.float64),
        (np.array([3, 1, 3], dtype=object), [1, 3], np.int64),
        (np.array([True, False, True], dtype=object), [False, True], np.bool_),
        (np.array([3.0, 1, 3], dtype=object), [1.0, 3.0], np.float64),
        (pd.Series([3, 1, 3], dtype="Int64"), [1, 3], np.int64),
        (pd.Series([3, 1, 3], dtype="category"), [1, 3], np.int64),
        (pl.Series([3, 1, 3]), [1, 3], np.int64),
        (pa.array([3, 1, 3], pa.int16()), [1, 3], np.int16),
        (pa.array([True, False, True]), [False, True], np.bool_),
    ],
)
def test_numeric_labels_keep_their_type(y, classes, dtype):
    found, codes = read_labels(y)
    assert found.dtype == dtype
    assert found.tolist() == classes
    assert codes.tolist() == [1, 0, 1]


@given(
    hnp.arrays(
        st.sampled_from(["int8", "uint8", "int64", "uint64", "float64", "bool", "U3"]),
        st.integers(1, 40),
    ).filter(lambda y: y.dtype.kind != "f" or (np.isfinite(y).all() and (y == np.rint(y)).all()))
)
def test_labels_equal_numpy_unique(y):
    classes, codes = read_labels(y)
    expected_classes, expected_codes = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype
    np.testing.assert_array_equal(classes, expected_classes)
    np.testing.assert_array_equal(codes, expected_codes)


@given(st.lists(st.integers(-2000, 2000) | st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_small_and_large_ranges_of_integers_are_read_back(values):
    classes, codes = read_labels(np.array(values, dtype=np.int64))
    assert classes.tolist() == sorted(set(values))
    assert classes[codes].tolist() == values


@pytest.mark.parametrize(
    "y",
    [
        ["a", None],
        ["a", float("nan")],
        [1.0, float("nan")],
        [None, None],
        np.array(["a", None], dtype=object),
        np.ma.array([1, 2], mask=[False, True]),
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="category"),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([True, None], dtype="boolean"),
        pd.Series(["a", pd.NA], dtype=object),
        pl.Series(["a", None]),
        pl.Series([1, None]),
        pl.Series([True, None]),
        pl.Series(["a", None], dtype=pl.Categorical),
        pa.array(["a", None]),
        pa.chunked_array([["a", "b", None]]).dictionary_encode(),
        pa.array(["a", None]).dictionary_encode(),
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}-{getattr(y, 'dtype', '')}",
)
def test_missing_labels_are_refused(y):
    with pytest.raises(DataError, match="Input y contains NaN"):
        read_labels(y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1.0], "Unknown label type: continuous"),
        ([np.inf, 1.0], r"Input y contains infinity or a value too large for dtype\('float64'\)"),
        ([1, "a"], r"uniformly strings or numbers, got \['int', 'str'\]"),
        (np.array([1, "a"], dtype=object), r"uniformly strings or numbers, got \['int', 'str'\]"),
        ([decimal.Decimal(1), "a"], "Unknown label type: unknown"),
        ([{"a": 1}, {"b": 2}], "Unknown label type: unknown"),
        ([b"a", b"b"], "Unknown label type"),
        ([1j, 2], "Complex data not supported"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "Unknown label type"),
        ([[0, 1], [1, 0]], r"y should be a 1d array, got an array of shape \(2, 2\)"),
        (3, r"y should be a 1d array, got an array of shape \(\)"),
    ],
)
def test_unusable_labels_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        read_labels(y)


def test_matched_labels_have_the_codes_of_the_known_classes():
    assert match_labels(read_labels([3, 1]), (3, 2, 1)).tolist() == [0, 2]
    with pytest.raises(SchemaError, match="label 4"):
        match_labels(read_labels([3, 4]), (3, 2, 1))
