"""Addresses that cannot be reached are refused."""

import pytest

from hornbeam.data.files.paths import list_files
from hornbeam.errors import DataError


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
