"""Data whose conversion raises an exception, and invalid data of other libraries, raise a DataError."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hornbeam.data.labels import read_labels
from hornbeam.data.numeric_target import read_numeric_target
from hornbeam.data.table import Table
from hornbeam.data.weights import read_weights
from hornbeam.errors import DataError


class Failing:
    """An object whose conversion to an array fails."""

    shape = (2, 1)

    def __array__(self, *_, **__):
        raise KeyError("on purpose")


class Unhashable(str):
    """A text that cannot be hashed."""

    __slots__ = ()

    def __hash__(self):
        raise RuntimeError("on purpose")


def broken_text():
    """Return text that is not UTF-8."""
    return pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], "<i4")), pa.py_buffer(b"a\xff"))


def broken_dictionary(index):
    """Return a dictionary array with an index outside its dictionary of two texts."""
    return pa.DictionaryArray.from_arrays(pa.array([0, index, 1], pa.int8()), ["no", "yes"], safe=False)


def test_an_exception_of_another_library_is_the_cause_of_a_data_error():
    reads = (
        lambda: Table.read(Failing()),
        lambda: Table.read([[Unhashable("a")], [Unhashable("b")]]),
        lambda: read_labels(Failing()),
        lambda: read_labels(np.array([Unhashable("a"), Unhashable("b")], dtype=object)),
        lambda: read_numeric_target(Failing()),
        lambda: read_weights(Failing(), 2),
    )
    for read in reads:
        with pytest.raises(DataError, match=r"Reading .* failed with a") as raised:
            read()
        assert isinstance(raised.value.__cause__, (KeyError, RuntimeError))


@pytest.mark.parametrize("index", [2, 100, -1, -2])
def test_an_index_outside_its_dictionary_is_refused(index):
    array = broken_dictionary(index)
    for y in (array, pa.chunked_array([array, array])):
        with pytest.raises(DataError, match="broken Arrow array"):
            read_labels(y)
    with pytest.raises(DataError, match="Column 'x' is a broken Arrow array"):
        Table.read(pa.table({"x": array}))
    with pytest.raises(DataError, match="broken Arrow array"):
        Table.read(pa.table({"x": pa.chunked_array([array, array])}))


def test_text_that_is_not_utf8_is_refused():
    with pytest.raises(DataError, match="not UTF-8"):
        Table.read(pa.table({"x": broken_text()}))
    with pytest.raises(DataError, match="not UTF-8"):
        Table.read(pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(broken_text())}))
    with pytest.raises(DataError, match="not UTF-8"):
        read_labels(broken_text())


@pytest.mark.parametrize("value", [10**400, Decimal("sNaN")], ids=["huge", "sNaN"])
def test_a_number_too_large_for_a_float_is_refused(value):
    # Where older libraries compare an sNaN, they raise InvalidOperation before the column is read.
    message = "'x0' has a number that is too large for a float|Reading X failed with a InvalidOperation"
    for X in ([[value], [1]], pd.DataFrame({"x0": [value, 1]}, dtype=object)):
        with pytest.raises(DataError, match=message):
            Table.read(X)
    with pytest.raises(DataError):
        Table.read([[value], ["a"]])


def test_integer_labels_up_to_64_bits_are_exact():
    for y in ([2**63, 1], [-(2**63), 1], pl.Series([2**64 - 1, 0], dtype=pl.UInt64), [2**64 - 1, 2**63]):
        classes, codes = read_labels(y)
        assert classes[codes].tolist() == list(y)


@pytest.mark.parametrize("y", [[2**64, 1], [2**63, -1], [10**400, 1]], ids=["2**64", "both signs", "10**400"])
def test_integer_labels_beyond_64_bits_are_refused(y):
    with pytest.raises(DataError, match="do not fit 64 bits"):
        read_labels(y)
    with pytest.raises(DataError, match="do not fit 64 bits"):
        read_labels(np.array(y, dtype=object))


@pytest.mark.parametrize("y", [[1, True, 0], [True, 1.0], [0, False, np.True_]])
def test_booleans_among_numbers_are_refused_as_labels(y):
    for labels in (y, tuple(y), np.array(y, dtype=object), pd.Series(y, dtype=object)):
        with pytest.raises(DataError, match="mixes booleans with numbers"):
            read_labels(labels)
