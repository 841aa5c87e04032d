"""Encoded tables: checked once, and left as they are by growing."""

import numpy as np
import pytest

from hornbeam.data.encoded_rows import EncodedTable
from hornbeam.data.schema import Kind
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.grower import Grower
from support.strategies_growing import bins_of, random_table


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_encoded_table_grows_the_same_tree_again_and_again(n_jobs):
    table = random_table(2, n_rows=300)
    encoded = EncodedTable.of(table, bins_of(table))
    before, expected = encoded.codes.copy(), Grower().grow(table, encoded.bins).digest
    assert [Grower().grow(encoded, n_jobs=n_jobs).digest for _ in range(2)] == [expected] * 2
    np.testing.assert_array_equal(encoded.codes, before)


def test_rows_are_taken_with_their_codes_and_other_weights():
    table = random_table(3, n_rows=40, weights="whole")
    encoded, rows = EncodedTable.of(table, bins_of(table)), np.array([5, 0, 7])
    some = encoded.take(rows)
    np.testing.assert_array_equal(some.codes, encoded.codes[rows])
    np.testing.assert_array_equal(some.table.weight, table.weight[rows])
    other = encoded.take(rows, table.take(rows[::-1]))
    np.testing.assert_array_equal(other.table.weight, table.weight[rows[::-1]])
    assert some.n_rows == 3


def test_codes_that_do_not_fit_the_bins_are_refused():
    table = random_table(1)
    bins = bins_of(table)
    codes = bins.encode(table)
    EncodedTable(table, bins, codes.astype(np.uint16))
    for wrong in (codes[:-1], codes[:, :-1], codes.astype(np.int64)):
        with pytest.raises(DataError, match="expected uint8 or uint16 of shape"):
            EncodedTable(table, bins, wrong)
    codes[3, 1] = bins.n_codes[1] + 1
    with pytest.raises(DataError, match=r"column 1 of the codes has the code \d+; expected at most"):
        EncodedTable(table, bins, codes)


def test_rows_for_gradients_have_a_numeric_target():
    table = random_table(1)
    encoded = EncodedTable.for_gradients(table, bins_of(table))
    assert encoded.table.schema.target_kind is Kind.NUMERIC
    assert encoded.table.target is None


def test_a_table_without_bins_is_refused():
    with pytest.raises(ParameterError, match="bins=None"):
        Grower().grow(random_table(1))
