"""Threads share the work; results come in turn, and an error stops all."""

import threading
import time

import pytest

from hornbeam.ensembles.parallel_map import parallel_map


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
def test_results_come_in_turn(n_jobs):
    def work(number):
        time.sleep(0.002 * (number % 3 == 0))  # every third is late
        return number

    assert list(parallel_map(work, 20, n_jobs)) == list(range(20))


def test_nobody_runs_far_ahead():
    """What is done and not yet taken waits in memory, so there must not be much of it."""
    begun = []
    turns = parallel_map(begun.append, 1000, 2)
    next(turns)
    time.sleep(0.05)
    assert len(begun) <= 6
    turns.close()


def test_an_error_is_raised_where_its_turn_is():
    def work(number):
        if number == 3:
            raise ValueError("three")
        return number

    turns = parallel_map(work, 100, 2)
    assert [next(turns) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(turns)


def test_one_thread_is_the_callers():
    assert set(parallel_map(lambda _: threading.get_ident(), 3, 1)) == {threading.get_ident()}
