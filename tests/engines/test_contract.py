"""The contract of every engine: each partition counts once, in any grouping."""

import signal
import threading
import time

import numpy as np
import pytest

from hornbeam.errors import EngineError, ParameterError
from support import passes

UNITS = list(range(23))


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("n_tasks", [None, 1, 5, 20])
def test_each_unit_counts_once(engine_of, n_tasks, blocks):
    totals = engine_of(n_tasks=n_tasks).reduce(passes.histogram, UNITS, blocks, blocks=blocks)
    np.testing.assert_array_equal(totals, passes.histogram(UNITS, blocks))


@pytest.mark.parametrize("n_tasks", [2, 20])
def test_blocks_are_finished_in_order(engine_of, n_tasks):
    finished = engine_of(n_tasks=n_tasks).reduce(passes.histogram, UNITS, 4, blocks=4, finish=passes.listed)
    assert finished == [(b, total.tolist(), 4) for b, total in enumerate(passes.histogram(UNITS, 4))]


def test_results_and_combine_functions_of_any_type(engine_of):
    [text] = engine_of(n_tasks=9).reduce(
        passes.as_set, [3, 1, 2, 3], "block", combine=passes.union, finish=passes.joined
    )
    assert text == "block 0: [1, 2, 3]"
    [box] = engine_of(n_tasks=20).reduce(passes.boxed, UNITS, None, combine=passes.add_boxed)
    np.testing.assert_array_equal(box["counts"], passes.histogram(UNITS, 1)[0])


@pytest.mark.parametrize("n_tasks", [None, 3])
def test_no_units_give_the_result_of_no_rows(engine_of, n_tasks):
    [total] = engine_of(n_tasks=n_tasks).reduce(passes.histogram, [], 1)
    assert total.tolist() == [0] * 10


def test_fewer_units_than_tasks(engine_of):
    [total] = engine_of(n_tasks=50).reduce(passes.histogram, [4, 4, 5], 1)
    assert total.tolist() == [0, 0, 0, 0, 2, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("task", "combine", "finish", "where"),
    [
        (passes.fail, passes.union, None, (2, "fold")),
        (passes.boxed, passes.fail_adding, None, (-1, "combine")),
        (passes.boxed, passes.add_boxed, passes.fail_at_last, (0, "finish")),
    ],
)
def test_an_error_of_a_task_is_raised_unchanged(engine_of, task, combine, finish, where):
    with pytest.raises(passes.BadUnitError) as raised:
        engine_of(n_tasks=3).reduce(task, UNITS, None, combine=combine, finish=finish)
    assert (raised.value.unit, raised.value.where) == where


def test_a_task_must_return_one_part_per_block(engine_of):
    with pytest.raises(EngineError, match="returned 1 parts; expected one per block, 2"):
        engine_of().reduce(passes.narrow, [1], None, blocks=2)


@pytest.fixture
def interrupts():
    """Enable interrupts, which a process in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_the_pass_and_not_the_engine(engine_of):
    engine = engine_of(n_tasks=4)
    begin = time.monotonic()
    threading.Timer(0.3, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        engine.reduce(passes.slow, [1, 2, 3, 4], 3.0)
    assert time.monotonic() - begin < 3.0
    assert engine.reduce(passes.slow, [1, 2, 3, 4], 0.0) == [4]
    engine.close()


@pytest.mark.parametrize("settings", [{"n_tasks": 0}, {"n_tasks": -1}])
def test_parameters_out_of_range_are_refused(engine_of, settings):
    with pytest.raises(ParameterError, match="1 or more"):
        engine_of(**settings)


def test_parallelism_is_that_of_the_cluster(engine_of):
    assert engine_of().parallelism == 2
