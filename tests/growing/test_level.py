"""The level phase's own promises; that it grows the same tree is a law (`laws/test_same_tree.py`)."""

import numpy as np
import pytest

from hornbeam.data import LocalEngine
from hornbeam.errors import ParameterError
from hornbeam.growing import Grower, Missing
from hornbeam.growing import level as level_phase
from hornbeam.growing.coded import MemoryRows
from hornbeam.kernels.subtree import Rows
from strategies_growing import bins_of, random_table


def coded(table, bins, block=10):
    return MemoryRows(Rows(bins.encode(table), table.target.astype(np.uint16), table.weight), block)


class Counting:
    """A local engine that counts its reductions."""

    def __init__(self) -> None:
        self.engine = LocalEngine()
        self.n_calls = 0

    @property
    def parallelism(self) -> int:
        return 1

    def reduce(self, *arguments, **options):
        self.n_calls += 1
        return self.engine.reduce(*arguments, **options)

    def close(self) -> None:
        self.engine.close()


def test_blocks_of_memory_cover_every_row_once():
    table = random_table(0, n_rows=25, weights="whole")
    source = coded(table, bins_of(table))
    parts = [source.read(unit) for unit in source.units()]
    assert [len(part.label) for part in parts] == [10, 10, 5]
    np.testing.assert_array_equal(np.concatenate([part.codes for part in parts]), source.rows.codes)
    np.testing.assert_array_equal(np.concatenate([part.weight for part in parts]), table.weight)
    with pytest.raises(ParameterError, match="block is 0; a unit holds at least 1 row"):
        coded(table, bins_of(table), block=0)


def test_one_reduction_a_level_and_one_for_the_rest():
    """One to measure, one for each level whose nodes are too big for home, one to bring the others home."""
    table = random_table(0, n_rows=300, noise=1.0)
    bins, engine = bins_of(table), Counting()
    tree = Grower(max_depth=4).grow_by_level(coded(table, bins), bins, table.schema, engine)
    assert (tree.depth, engine.n_calls) == (4, 1 + 4)
    engine = Counting()
    Grower(max_depth=4).grow_by_level(coded(table, bins), bins, table.schema, engine, home_rows=300)
    assert engine.n_calls == 1 + 1


def test_many_open_nodes_are_counted_in_several_passes(monkeypatch):
    table = random_table(0, n_rows=300, noise=1.0)
    bins, engine = bins_of(table), Counting()
    grower = Grower(max_depth=4)
    one_pass = grower.grow_by_level(coded(table, bins), bins, table.schema, engine)
    monkeypatch.setattr(level_phase, "_OPEN_CELLS", 1)  # one node a pass
    passes = Counting()
    several = grower.grow_by_level(coded(table, bins), bins, table.schema, passes)
    assert several.digest == one_pass.digest
    assert passes.n_calls > engine.n_calls


def test_rows_out_of_range_are_refused():
    table = random_table(0)
    bins = bins_of(table)
    source = coded(table, bins)
    source.rows.label[7] = 99
    with pytest.raises(ValueError, match="codes and labels within their ranges expected"):
        Grower().grow_by_level(source, bins, table.schema, LocalEngine())


def test_fractional_rows_must_be_at_home():
    table = random_table(0)
    bins = bins_of(table)
    with pytest.raises(ParameterError, match="missing='fractional' needs all rows in one place"):
        Grower(missing=Missing.FRACTIONAL).grow_by_level(
            coded(table, bins), bins, table.schema, LocalEngine()
        )
