"""Addresses of files that cannot be used."""

import pytest

from hornbeam.data.files.paths import files_of
from hornbeam.errors import DataError


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nosuch://bucket/rows", "'nosuch://bucket/rows' cannot be reached: .*Check the address"),
        ("file:///no/such/folder/rows.parquet", "There is nothing at 'file:///no/such/folder/rows.parquet'"),
    ],
)
def test_an_address_that_cannot_be_reached_is_told_in_our_words(address, words):
    with pytest.raises(DataError, match=words):
        files_of(address)
