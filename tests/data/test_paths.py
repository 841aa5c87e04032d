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
