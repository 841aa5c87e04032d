"""The thread pool: results in order, errors passed on, and fewer threads where the system has no more."""

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

from hornbeam import ForestClassifier, TreeClassifier
from hornbeam.kernels.pool import Pool

X = np.random.default_rng(0).normal(size=(9_000, 2))
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture
def no_threads():
    """No thread can be started: each would need a stack larger than the address space."""
    if sys.platform == "win32":
        pytest.skip("Windows has no stack that is too large to start a thread")
    before = threading.stack_size(1 << 47)
    try:
        with pytest.raises(RuntimeError, match="start new thread"):
            threading.Thread(target=print).start()
        yield
    finally:
        threading.stack_size(before)


def test_results_come_in_order_and_errors_are_passed_on():
    with Pool(3) as pool:
        assert list(pool.map(lambda number: number**2, range(50))) == [number**2 for number in range(50)]
        failing = pool.submit(int, "x")
        with pytest.raises(ValueError, match="invalid literal"):
            failing.result()
        assert pool.submit(abs, -1).result() == 1


def test_all_threads_end_with_the_pool():
    before = threading.active_count()
    with Pool(3) as pool:
        list(pool.map(abs, range(9)))
    assert threading.active_count() == before


def test_threads_of_a_pool_that_was_not_shut_down_end_with_it():
    pool = Pool(2)
    assert pool.submit(abs, -1).result() == 1
    (thread,) = pool._threads
    assert thread.is_alive()
    del pool
    gc.collect()
    thread.join(30)
    assert not thread.is_alive()


def test_the_interpreter_ends_with_a_pool_that_was_not_shut_down():
    script = "from hornbeam.kernels.pool import Pool; pool = Pool(2); print(pool.submit(abs, -1).result())"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "1\n"


def test_tasks_that_have_not_begun_can_be_cancelled():
    begun, resume = threading.Event(), threading.Event()
    pool = Pool(1)
    running = pool.submit(lambda: (begun.set(), resume.wait(30)))
    waiting = pool.submit(abs, -1)
    assert begun.wait(30)
    pool.shutdown(wait=False, cancel_futures=True)
    resume.set()
    assert running.result()[1]
    assert waiting.cancelled()


def test_without_threads_each_task_runs_at_once(no_threads):
    with Pool(2) as pool:
        assert pool.submit(threading.get_ident).result() == threading.get_ident()
        assert list(pool.map(abs, [-1, 2])) == [1, 2]


def test_a_fit_without_threads_gives_the_same_tree(request):
    expected = TreeClassifier("cart", n_jobs=2).fit(X, Y)
    forest = ForestClassifier(n_estimators=2, n_jobs=2).fit(X[:500], Y[:500])
    before = expected.predict_proba(X)
    request.getfixturevalue("no_threads")
    assert TreeClassifier("cart", n_jobs=2).fit(X, Y).tree_.digest == expected.tree_.digest
    np.testing.assert_array_equal(expected.predict_proba(X), before)
    again = ForestClassifier(n_estimators=2, n_jobs=2).fit(X[:500], Y[:500])
    np.testing.assert_array_equal(again.predict_proba(X[:500]), forest.predict_proba(X[:500]))


# Threads that still run kernels when a command ends with an error.
BUSY = """
import sys, time
import numpy as np
from hornbeam.cli import main
from hornbeam.data.table import Table
from hornbeam.kernels.pool import Pool
from hornbeam.recipe import PRESETS
rng = np.random.default_rng(0)
table = Table.read(rng.normal(size=(3_000, 5)), rng.integers(0, 2, 3_000))
def work():
    while True:
        PRESETS["cart"].fit(table)
pool = Pool(2)
for _ in range(2):
    pool.submit(work)
time.sleep(0.3)
sys.argv = ["hornbeam", "show", "no such file"]
main()
"""


def test_a_command_that_ends_while_threads_run_has_its_own_exit_code():
    pytest.importorskip("click")
    for _ in range(3):
        found = subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True, check=False)
        assert (found.returncode, found.stderr.count("\n")) == (3, 1), found.stderr
