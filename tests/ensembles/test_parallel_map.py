"""parallel_map: results in order, a bounded number of them ahead of the caller, and errors in their place."""

import threading
import time

import pytest

from hornbeam.ensembles.prediction import parallel_map


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
def test_results_are_in_order(n_jobs):
    def work(number):
        time.sleep(0.002 * (number % 3 == 0))  # every third call is slow
        return number

    assert list(parallel_map(work, 20, n_jobs)) == list(range(20))


def test_few_results_wait_in_memory():
    begun = []
    results = parallel_map(begun.append, 1000, 2)
    next(results)
    time.sleep(0.05)
    assert len(begun) <= 6
    results.close()


def test_an_error_is_raised_in_its_place():
    def work(number):
        if number == 3:
            raise ValueError("three")
        return number

    results = parallel_map(work, 100, 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(results)


def test_with_one_job_the_caller_does_the_work():
    assert set(parallel_map(lambda _: threading.get_ident(), 3, 1)) == {threading.get_ident()}
