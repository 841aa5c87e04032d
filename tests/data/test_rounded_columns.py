"""Whole numbers beyond 2**53: `fit` warns if conversion to float64 rounds them, and only then."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hornbeam import BoostedTreesRegressor, ForestClassifier, TreeClassifier
from hornbeam.data.table import Table
from hornbeam.errors import HornbeamWarning

LARGE = 2**53 + 1
NULLABLE = pd.DataFrame({"a": pd.array([None, LARGE], "Int64"), "b": [1, 2]})


@pytest.mark.parametrize(
    "X",
    [
        np.array([[LARGE, 1], [2, 3]]),
        np.array([[2**64 - 1, 1], [2, 3]], np.uint64),
        [[LARGE, 1], [2, 3]],
        [[-LARGE, 1], [None, 3]],
        pd.DataFrame({"a": [LARGE, 2], "b": [1, 2]}),
        NULLABLE,
        NULLABLE.convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame({"a": [None, LARGE], "b": [1, 2]}),
        pa.table({"a": [None, LARGE], "b": [1, 2]}),
    ],
    ids=["int64", "uint64", "list", "objects", "pandas", "nullable", "pandas-arrow", "polars", "pyarrow"],
)
def test_a_rounded_column_is_listed(X):
    table = Table.read(X)
    assert table.rounded == table.schema.names[:1]


@pytest.mark.parametrize("values", [[2**53, -(2**53)], [2**62, -(2**63)], [2.0**60, 0.5], [1, 2], [2**80, 1]])
def test_an_exact_column_is_not_listed(values):
    assert Table.read([[value] for value in values]).rounded == ()
    assert Table.read(pd.DataFrame({"a": values})).rounded == ()


@pytest.mark.parametrize(
    "model", [TreeClassifier("cart"), ForestClassifier(2), BoostedTreesRegressor(n_estimators=1)]
)
def test_fit_warns_once_about_rounded_columns_and_predict_does_not(model):
    X = np.column_stack([np.arange(20) % 3 + 2**60, np.arange(20) % 4])
    with pytest.warns(
        HornbeamWarning, match=r"beyond 2\*\*53 are rounded .* in 'x0'\. .* pass them as text"
    ) as caught:
        model.fit(X, np.arange(20) % 2)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
