"""Row hashes, and the order they define."""

import numpy as np

from hornbeam.data.row_order import break_ties, row_hash


def test_equal_rows_have_equal_hashes_until_ties_are_broken():
    coded, target = np.zeros((1000, 2), np.uint8), np.zeros(1000, np.int32)
    hashes = row_hash(coded, target)
    assert len(set(hashes.tolist())) == 1
    assert len(set(break_ties(hashes).tolist())) == 1000
    assert row_hash(coded, target, seed=1)[0] != hashes[0]
    half = break_ties(hashes) < 2**63
    assert 400 < half.sum() < 600
