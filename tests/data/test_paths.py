"""Addresses that cannot be reached are refused."""

import pytest

from hornbeam import TreeClassifier
from hornbeam.data import write_parquet
from hornbeam.data.files.paths import list_files
from hornbeam.errors import DataError, ParameterError


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nosuch://bucket/rows", "'nosuch://bucket/rows' cannot be reached: .*Check the address"),
        ("file:///no/such/folder/rows.parquet", "There is nothing at 'file:///no/such/folder/rows.parquet'"),
    ],
)
def test_an_address_that_cannot_be_reached_raises_a_data_error(address, message):
    with pytest.raises(DataError, match=message):
        list_files(address)


def test_credentials_of_an_address_are_in_no_message():
    """Neither in ours nor in that of pyarrow, which repeats the address."""
    with pytest.raises(DataError) as caught:
        list_files("nosuch://key:secret@host/rows?token=secret")
    assert str(caught.value).startswith("'nosuch://host/rows' cannot be reached")
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_cache_or_a_copy_in_a_store_is_refused(tmp_path):
    """A folder called ``s3:`` would be made on each machine."""
    import pyarrow as pa

    rows = pa.table({"x": [0.0, 1.0] * 50, "y": ["a", "b"] * 50})
    with pytest.raises(ParameterError, match="folder is 's3://bucket/rows', an address of a store"):
        write_parquet(rows, "s3://key:secret@bucket/rows")
    files = write_parquet(rows, tmp_path)
    with pytest.raises(ParameterError, match="cache is 's3://bucket/codes', an address of a store"):
        TreeClassifier("cart").fit(files, "y", cache="s3://key:secret@bucket/codes", memory=100)
