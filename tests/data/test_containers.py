"""Rows and columns taken from any container, in the same type."""

from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from hornbeam.data.files.parquet_writer import CodedColumn
from hornbeam.data.files.tabular import json_values
from hornbeam.data.reading.frame import drop_extra_columns, recombine_rows, take_column, take_rows, to_dense
from hornbeam.data.reading.raw_columns import as_array, check_shape
from hornbeam.errors import DataError


def test_rows_of_a_list_and_of_a_frame():
    assert take_rows([[1, "a"], [2, "b"]], np.array([1])) == [[2, "b"]]
    taken = take_rows(pd.DataFrame({"age": [30, 41, 52]}), np.array([2, 0]))
    assert (taken["age"].tolist(), taken.index.tolist()) == ([52, 30], [2, 0])


def test_values_of_several_rows():
    assert recombine_rows(np.array([[1, 2], [3, 4]]), np.array([[0, 1]])).tolist() == [[1, 4]]


def test_columns_of_a_frame():
    frame = pd.DataFrame({"a": [3.0], "id": [7]})
    rest, values = take_column(frame, "id", "groups")
    assert (list(rest), values.tolist()) == (["a"], [7])
    assert list(drop_extra_columns(frame, ["a"])) == ["a"]


def test_a_sparse_matrix_becomes_dense():
    assert to_dense(csr_array([[1, 0]])).tolist() == [[1.0, 0.0]]


def test_values_of_rows_keep_their_types():
    assert as_array([[1, "a"], [2, "b"]]).dtype == object


def test_a_matrix_without_columns():
    with pytest.raises(
        DataError, match=r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"
    ):
        check_shape(np.zeros((3, 0)))


def test_coded_columns_in_arrow():
    assert pa.types.is_dictionary(pa.array(CodedColumn(np.array([1, 0]), ("no", "yes"))).type)
    assert pa.array(CodedColumn(np.array([1, 0]), (10, 20))).to_pylist() == [20, 10]
    assert pa.array(CodedColumn(np.array([1, 0]), (None, "yes"))).to_pylist() == ["yes", None]


def test_dates_in_json():
    assert json_values("paid", pa.chunked_array([[date(2024, 1, 2), None]])) == ["2024-01-02", None]
