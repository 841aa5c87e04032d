"""Decimals of every library become the nearest floats, in memory and from files."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.files.tabular import read_table
from hornbeam.data.table import Table
from support.examples import examples

DIGITS = {"decimal32": 9, "decimal64": 18, "decimal128": 38, "decimal256": 76}
TYPES = {
    name: (getattr(pa, name), digits)
    for name, digits in DIGITS.items()
    if hasattr(pa, name)  # pyarrow 18 has no small ones
}


@st.composite
def decimals(draw):
    """An Arrow type and values of it, with integers on both sides of 2**53."""
    name = draw(st.sampled_from(list(TYPES)))
    make, digits = TYPES[name]
    scale = draw(st.integers(-20 if digits >= 38 else 0, digits))
    most = 10 ** (digits + min(0, scale)) - 1  # pyarrow converts to whole numbers on the way
    near = st.integers(2**53 - 3, 2**53 + 3) if most > 2**54 else st.just(most)
    whole = st.one_of(st.integers(-most, most), st.integers(-10_000, 10_000), near, near.map(lambda n: -n))
    values = draw(st.lists(st.none() | whole, min_size=4, max_size=20))
    return make(digits, scale), [
        None if n is None else Decimal((n < 0, tuple(map(int, str(abs(n)))), -scale)) for n in values
    ]


def nearest(values):
    return np.array([np.nan if value is None else float(value) for value in values])


def column(X):
    [values] = Table.read(X).columns
    return values


@examples(200)
@given(decimals(), st.integers(0, 3))
def test_arrow_decimals_are_the_nearest_floats(drawn, skipped):
    kind, values = drawn
    array = pa.array(values, kind)
    expected = nearest(values)
    parts = pa.chunked_array([array[:skipped], array[skipped:]])
    np.testing.assert_array_equal(column(pa.table({"x": parts})), expected)
    np.testing.assert_array_equal(column(pa.table({"x": array[skipped:]})), expected[skipped:])
    frame = pd.DataFrame({"x": pd.Series(array, dtype=pd.ArrowDtype(kind))})
    np.testing.assert_array_equal(column(frame), expected)
    np.testing.assert_array_equal(column(pd.DataFrame({"x": np.array(values, object)})), expected)


@examples(100)
@given(st.lists(st.integers(1 - 10**38, 10**38 - 1), min_size=1, max_size=20), st.integers(0, 38))
def test_polars_decimals_are_the_nearest_floats(whole, scale):
    values = [Decimal((n < 0, tuple(map(int, str(abs(n)))), -scale)) for n in whole]
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Decimal(38, scale))})
    np.testing.assert_array_equal(column(frame), nearest(values))


@pytest.mark.parametrize("options", [{}, {"memory": 10_000}], ids=["in memory", "streamed"])
def test_decimals_in_files_give_the_tree_of_decimals_in_memory(tmp_path, options):
    """A cast by Arrow makes 1 in 7 of these numbers another float, and so another threshold."""
    rng = np.random.default_rng(0)
    values = [Decimal(n) / 1000 for n in rng.integers(-9999, 9999, 3000).tolist()]
    X = pd.DataFrame({"x": np.array(values, object)})
    y = np.where(nearest(values) + rng.normal(size=3000) > 0.69, "yes", "no")
    path = str(tmp_path / "rows.parquet")
    pq.write_table(pa.table({"x": values, "y": y}), path, row_group_size=500)
    source = scan_parquet(path, target="y", engine=LocalEngine(2, n_tasks=3))
    parts = [source.read(partition).columns[0] for partition in source.partitions()]
    np.testing.assert_array_equal(np.concatenate(parts), nearest(values))
    np.testing.assert_array_equal(read_table(path, types={"x": "number"})["x"].to_numpy(), nearest(values))
    model = TreeClassifier("cart", max_depth=4)
    of_files = model.fit(path, "y", **options).tree_.digest
    assert of_files == model.fit(X, y).tree_.digest
