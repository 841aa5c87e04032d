"""Row hashes, and the order they define."""

import numpy as np

from hornbeam.data.hashes import splitmix64
from hornbeam.data.row_order import break_ties, row_hash, target_bits
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table


def test_equal_rows_have_equal_hashes_until_ties_are_broken():
    coded, target = np.zeros((1000, 2), np.uint8), np.zeros(1000, np.int32)
    hashes = row_hash(coded, target)
    assert len(set(hashes.tolist())) == 1
    assert len(set(break_ties(hashes).tolist())) == 1000
    assert row_hash(coded, target, seed=1)[0] != hashes[0]
    half = break_ties(hashes) < 2**63
    assert 400 < half.sum() < 600


def test_a_number_and_its_negative_differ_for_every_seed():
    """Half of the factors of the hash were even, and lost the sign bit."""
    table = Table.read([[1.0], [1.0]], [2.0, -2.0], target_kind=Kind.NUMERIC)
    for seed in range(64):
        first, second = row_hash(np.zeros((2, 1), np.uint8), target_bits(table), seed)
        assert first != second


def test_bits_of_splitmix64():
    hashes = splitmix64(np.array([1, 2], np.uint64)).tolist()
    assert hashes == [0x5692161D100B05E5, 0xDBD238973A2B148A]
