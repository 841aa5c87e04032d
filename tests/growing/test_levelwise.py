"""Passes, messages and cache of growing level by level; that the tree is the same is in `laws/test_same_tree.py`."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.data.engine import LocalEngine
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.criterion import Missing
from hornbeam.growing.grower import Grower
from hornbeam.growing.levelwise import counting, frontier
from hornbeam.growing.levelwise import phase as level_phase
from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.growing.levelwise.frontier import PassBudget
from hornbeam.growing.levelwise.gather import next_round
from hornbeam.growing.levelwise.nodes import OpenNode
from hornbeam.growing.levelwise.task_context import NodeOfRowCache
from hornbeam.kernels.subtree import NodeRange, Rows
from support.recording_engines import Counting, Measuring, Travelling, sent
from support.strategies_growing import OF_CLASSES, bins_of, random_table


def encoded(table, bins, block=10):
    return EncodedRows(Rows(bins.encode(table), table.target.astype(np.uint16), table.weight), block)


def grow(grower, table, engine=None, **options):
    bins = bins_of(table)
    engine = LocalEngine() if engine is None else engine
    options = {"unit": table.unit, "gather_rows": 0} | options
    return grower.grow_by_level(encoded(table, bins), bins, table.schema, engine, **options)


@pytest.fixture
def table():
    return random_table(0, n_rows=300, noise=1.0, n_numeric=4)


def test_units_of_rows_in_memory_cover_every_row_once():
    table = random_table(0, n_rows=25, weights="whole")
    source = encoded(table, bins_of(table))
    assert [(partition.begin, partition.end) for partition in source.partitions()] == [
        (0, 10),
        (10, 20),
        (20, 25),
    ]
    assert source.rows.numerator is None
    for at, array in enumerate(source.rows[:3]):
        np.testing.assert_array_equal(
            np.concatenate([source.read(u)[at] for u in source.partitions()]), array
        )
    with pytest.raises(ParameterError, match="block is 0; a partition holds at least 1 row"):
        encoded(table, bins_of(table), block=0)


def test_one_reduction_per_level_and_one_to_gather(table):
    """One for the first pass, one for each level of large nodes, one to gather the rows of small nodes."""
    engine = Counting()
    tree = grow(Grower(max_depth=4), table, engine)
    assert (tree.depth, engine.n_calls) == (4, 1 + 4)
    for options in ({"gather_rows": 300}, {"gather_rows": None}):
        engine = Counting()
        assert grow(Grower(max_depth=4), table, engine, **options).digest == tree.digest
        assert engine.n_calls == 1 + 1


# ---- blocks of features, batches of nodes


@pytest.mark.parametrize("criterion", OF_CLASSES)
@pytest.mark.parametrize("weights", ["none", "real"])
def test_the_tree_does_not_depend_on_budget_tasks_or_order(criterion, weights):
    """From one message per task to a pass for every node and a block for every feature."""
    table = random_table(1, n_rows=200, noise=0.6, n_numeric=4, n_nominal=2, weights=weights)
    grower = Grower(criterion, max_depth=5)
    alone = grower.grow(table, bins_of(table))
    shapes = set()
    for budget in (1, 10_000, 40_000, 2**28):
        for n_tasks, reverse in ((1, False), (3, False), (16, True)):
            passes = []
            engine = LocalEngine(n_tasks=n_tasks, reverse=reverse)
            tree = grow(grower, table, engine, budget=budget, on_progress=passes.append)
            assert tree.digest == alone.digest
            np.testing.assert_array_equal(tree.gain, alone.gain)
            shapes |= {(p.blocks > 1, p.n_nodes > 1) for p in passes[1:]}
    assert shapes == {(False, False), (False, True), (True, False), (True, True)}


@pytest.mark.parametrize("criterion", OF_CLASSES)
@pytest.mark.parametrize(
    "options", [{}, {"budget": 20_000}, {"gather_rows": 60, "budget": 4000}, {"gather_rows": None}]
)
def test_everything_that_tasks_exchange_can_be_pickled(criterion, options):
    table = random_table(2, n_rows=200, noise=0.6, weights="whole")
    grower = Grower(criterion, max_depth=6)
    tree = grow(grower, table, Travelling(), **options)
    assert tree.digest == grower.grow(table, bins_of(table)).digest


def test_the_histograms_of_a_task_fit_the_budget(table):
    passes, engine, budget = [], Measuring(LocalEngine(n_tasks=3)), 8_000
    grow(Grower(), table, engine, budget=budget, on_progress=passes.append)
    assert any(p.blocks > 1 for p in passes)
    assert len(passes) == len(engine.task_bytes)
    for done, sizes in zip(passes[1:], engine.task_bytes[1:], strict=True):
        assert done.phase == "count"
        assert set(sizes) == {done.task_bytes}
        assert sum(sizes) == done.predicted_bytes(n_tasks=3)
        assert done.task_bytes <= budget
        if done.blocks == 1:
            assert done.task_bytes <= budget // 4


def test_threads_divide_the_nodes_of_a_wide_level():
    table = random_table(6, n_rows=3000, noise=1.0, n_values=50)
    passes = []
    tree = grow(Grower(max_depth=10), table, LocalEngine(2), on_progress=passes.append)
    assert max(p.n_nodes for p in passes) >= 2 * counting._NODES_PER_THREAD
    assert tree.digest == Grower(max_depth=10).grow(table, bins_of(table)).digest


# ---- siblings


def test_all_but_the_largest_child_are_counted(table):
    passes = []
    grow(Grower(max_depth=6), table, on_progress=passes.append)
    assert [p.level for p in passes[1:]] == [0, 1, 2, 3, 4, 5]
    assert passes[1].n_rows == 300
    assert all(p.n_rows <= 300 * 2 // 3 for p in passes[2:])  # there may be a third child, for missing values
    binary = random_table(0, n_rows=300, noise=1.0, missing=0.0)
    passes.clear()
    grow(Grower(max_depth=6), binary, on_progress=passes.append)
    assert all(p.n_rows <= 150 for p in passes[2:])
    rows_done = [p.rows_done for p in passes]
    assert rows_done == sorted(rows_done)
    assert rows_done[-1] == 300


@pytest.mark.parametrize("limit", [0, 20, 100])
def test_nodes_with_more_rows_than_32_bits_can_hold(table, monkeypatch, limit):
    """Above the limit cells are pairs of 64-bit numbers; children below it cannot use the cells of their parent."""
    grower = Grower()
    alone = grow(grower, table)
    monkeypatch.setattr(frontier, "_MAX_COUNT32", limit)
    passes = []
    assert grow(grower, table, on_progress=passes.append).digest == alone.digest
    n_cells = 2 * int((bins_of(table).n_codes + 1).sum())
    assert (passes[1].task_bytes, passes[-1].task_bytes % 16) == (16 * n_cells, 0)


# ---- cache of the node of each row


def test_the_cache_keeps_entries_while_there_is_space():
    cache, node = NodeOfRowCache(max_bytes=24), np.arange(4, dtype=np.int32)
    cache.put("a", node, 5)
    cache.put("b", node, 5)  # 16 bytes more than fit
    assert cache.get("a", 4, 7)[1] == 5
    assert cache.get("b", 4, 7)[0].tolist() == [0, 0, 0, 0]
    cache.put("a", node[::-1].copy(), 7)  # replaces the entry
    assert cache.get("a", 4, 7)[0].tolist() == [3, 2, 1, 0]
    assert cache.get("a", 3, 7)[1] == 1  # another number of rows
    assert cache.get("a", 4, 6)[1] == 1  # an older tree
    unpickled = sent(cache)
    unpickled.put("a", node, 7)
    assert unpickled.get("a", 4, 7)[1] == 1


def test_threads_share_the_space_of_the_cache():
    class Slow:
        """The other thread puts its entry while the size of this one is read."""

        @property
        def nbytes(self):
            time.sleep(0.05)
            return 16

    cache = NodeOfRowCache(max_bytes=24)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda unit: cache.put(unit, Slow(), 5), "ab"))
    assert len(cache._entries) == 1


@pytest.mark.parametrize("max_bytes", [0, 500])
def test_a_small_cache_does_not_change_the_tree(table, monkeypatch, max_bytes):
    monkeypatch.setattr(level_phase, "NodeOfRowCache", lambda _: NodeOfRowCache(max_bytes))
    for options in ({}, {"gather_rows": 30}):
        assert grow(Grower(), table, **options).digest == Grower().grow(table, bins_of(table)).digest


# ---- small nodes


def test_small_nodes_are_gathered_in_several_rounds_that_fit_the_budget(table):
    row_bytes, budget = 5 + 2, 600
    passes, engine = [], Measuring(LocalEngine(2))
    options = {"gather_rows": 40, "budget": budget, "on_progress": passes.append}
    tree = grow(Grower(), table, engine, **options)
    assert tree.digest == Grower().grow(table, bins_of(table)).digest
    rounds = [
        (p, sum(sizes)) for p, sizes in zip(passes, engine.task_bytes, strict=True) if p.phase == "gather"
    ]
    assert len(rounds) > 1
    for done, n_bytes in rounds:
        assert done.row_bytes == done.n_rows * row_bytes <= budget * engine.parallelism
        assert n_bytes == done.row_bytes + 4 * done.n_rows  # and the node of each row
        assert done.blocks >= done.row_bytes / (budget // 4) or done.blocks == done.n_nodes


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_a_block_is_a_single_node_or_fits_a_message(parallelism):
    """A row takes 10 bytes, the budget of a task is 1,000 bytes, and a message has at most 250."""
    sizes = [50, 40, 30, 30, 20, 10, 10, 5, 5]
    small = [OpenNode(at, NodeRange(0, n), np.array([n])) for at, n in enumerate(sizes)]
    pass_budget = PassBudget(RowSummary(np.array([200]), 200, False, 8, np.dtype(np.uint8)), 1000, None)
    blocks = next_round(small, pass_budget, parallelism)
    sizes_of_blocks = [[node.n_rows for node in block] for block in blocks]
    assert sum(map(sum, sizes_of_blocks)) + sum(node.n_rows for node in small) == 200
    assert sum(map(sum, sizes_of_blocks)) <= 100 * parallelism
    assert len(sizes_of_blocks) >= parallelism
    assert all(
        sum(block) <= 50 for block in sizes_of_blocks
    )  # the largest node, which is more than a message
    assert sorted(node.n_rows for node in small) == sorted(sizes[sum(map(len, sizes_of_blocks)) :])


def test_rows_of_nodes_with_few_remaining_levels_are_not_gathered(table):
    """By default rows are gathered for four levels or more, and at once if all rows fit."""
    for max_depth, phases in ((5, ["count", "gather"]), (4, ["count"] * 4), (None, ["count", "gather"])):
        passes = []
        tree = grow(
            Grower(max_depth=max_depth), table, gather_rows=None, budget=8000, on_progress=passes.append
        )
        assert [p.phase for p in passes[1:]][: len(phases)] == phases, max_depth
        assert tree.digest == Grower(max_depth=max_depth).grow(table, bins_of(table)).digest


# ---- refusals


def test_rows_out_of_range_are_refused():
    table = random_table(0)
    bins = bins_of(table)
    source = encoded(table, bins)
    source.rows.label[7] = 99
    with pytest.raises(ValueError, match="codes and labels within their ranges expected"):
        Grower().grow_by_level(source, bins, table.schema, LocalEngine())


def test_a_source_without_rows_is_refused():
    table = random_table(0)
    bins = bins_of(table)
    empty = EncodedRows(Rows(np.empty((0, 3), np.uint8), np.empty(0, np.uint16), None))
    with pytest.raises(DataError, match="the source has no rows"):
        Grower().grow_by_level(empty, bins, table.schema, LocalEngine())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget=0: expected a number of bytes"),
        ({"gather_rows": -1}, "gather_rows=-1: expected a number of rows of 0 or more"),
    ],
)
def test_limits_out_of_range_are_refused(table, options, message):
    with pytest.raises(ParameterError, match=message):
        grow(Grower(), table, **options)


def test_fractional_rows_are_refused():
    with pytest.raises(ParameterError, match="missing='fractional' needs all rows in one place"):
        grow(Grower(missing=Missing.FRACTIONAL), random_table(0))
