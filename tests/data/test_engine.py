"""`reduce` gives the same sum for any grouping and order of partitions, and raises exceptions unchanged."""

import threading
import time
from operator import iadd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.engine import LocalEngine, combine_parts, group_partitions
from hornbeam.data.sources import MemorySource, Partition
from hornbeam.data.table import Table
from hornbeam.errors import EngineError, ParameterError

engines = st.builds(
    LocalEngine, n_jobs=st.integers(1, 4), n_tasks=st.none() | st.integers(1, 40), reverse=st.booleans()
)


def histogram(partitions, shared):
    counts = np.zeros((2, shared), np.int64)
    for partition in partitions:
        counts[partition % 2, partition % shared] += 1
    return list(counts)


@given(st.lists(st.integers(0, 1000), max_size=50), engines)
def test_each_unit_is_counted_once(partitions, engine):
    even, odd = engine.reduce(histogram, partitions, 7, blocks=2)
    expected = histogram(partitions, 7)
    np.testing.assert_array_equal(even, expected[0])
    np.testing.assert_array_equal(odd, expected[1])


@given(st.lists(st.integers(), max_size=20), engines)
def test_parts_are_combined_and_each_block_is_finished(partitions, engine):
    result = engine.reduce(
        lambda group, shared: [set(group)],
        partitions,
        "shared",
        combine=set.union,
        finish=lambda block, part, shared: (block, sorted(part), shared),
    )
    assert result == [(0, sorted(set(partitions)), "shared")]


def test_reverse_takes_the_last_unit_first():
    def as_list(partitions, shared):
        return [list(partitions)]

    assert LocalEngine(n_tasks=2).reduce(as_list, [1, 2, 3, 4], None) == [[1, 2, 3, 4]]
    assert LocalEngine(n_tasks=2, reverse=True).reduce(as_list, [1, 2, 3, 4], None) == [[4, 3, 2, 1]]


def test_tasks_run_in_parallel():
    barrier = threading.Barrier(3, timeout=20)
    assert LocalEngine(n_jobs=3).reduce(
        lambda partitions, shared: [barrier.wait() >= 0], [1, 2, 3], None
    ) == [3]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_exception_of_a_task_is_raised_unchanged(n_jobs):
    error = KeyError("unit 2")

    def task(partitions, shared):
        if 2 in partitions:
            raise error
        return [0]

    with pytest.raises(KeyError) as raised:
        LocalEngine(n_jobs=n_jobs, n_tasks=3).reduce(task, [1, 2, 3], None)
    assert raised.value is error


def test_an_interrupt_does_not_wait_for_running_tasks():
    release = threading.Event()

    def task(partitions, shared):
        if partitions[0] == 0:
            raise KeyboardInterrupt
        release.wait(20)
        return [0]

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        LocalEngine(n_jobs=2).reduce(task, [0, 1], None)
    assert time.monotonic() - begin < 10
    release.set()


def test_a_task_must_return_one_part_per_block():
    with pytest.raises(EngineError, match="returned 1 parts; expected one per block, 2"):
        LocalEngine().reduce(lambda partitions, shared: [0], [1], None, blocks=2)


@pytest.mark.parametrize("settings", [{"n_jobs": 0}, {"n_tasks": 0}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ParameterError, match=r"expected (None, )?a whole number"):
        LocalEngine(**settings)


@pytest.mark.parametrize("block", [1, 2, 5, 100])
def test_units_of_a_memory_source_cover_every_row_once(block):
    matrix = np.arange(10.0).reshape(5, 2)
    source = MemorySource(Table.read(matrix), block=block)
    partitions = source.partitions()
    assert (source.n_rows, source.schema.n_features) == (5, 2)
    assert all(partition.end - partition.begin <= block for partition in partitions)
    read = [np.column_stack(source.read(partition).columns) for partition in partitions]
    np.testing.assert_array_equal(np.concatenate(read), matrix)
    assert partitions[0] == Partition(0, min(block, 5))


def test_a_block_of_no_rows_is_refused():
    with pytest.raises(ParameterError, match="at least 1 row"):
        MemorySource(Table.read([[0.0]]), block=0)


def test_groups_of_neighbours():
    assert group_partitions("abcde", 3) == ["a", "bc", "de"]
    assert group_partitions([], 3) == [[]]


def test_combining_does_not_change_the_parts():
    one, two = [1], [2]
    assert (combine_parts(iadd, [one, two]), one) == ([1, 2], [1])
