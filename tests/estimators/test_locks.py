"""Several threads and one estimator: updates wait for each other, and a second fit is refused."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import BusyError, DataError
from hornbeam.estimators.methods import locks
from support.estimators import ESTIMATORS, NUMBERS, X, Y, fitted

N_THREADS, N_UPDATES, N_ROWS = 4, 20, 50
ROWS = np.random.default_rng(3).normal(size=(N_ROWS, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)


class Waiting:
    """Rows whose reading blocks until the test releases it."""

    def __init__(self, rows, error=None):
        self.rows, self.error = rows, error
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.shape = rows.shape

    def __array__(self, dtype=None, copy=None):
        self.begun.set()
        assert self.go_on.wait(30)
        if self.error is not None:
            raise self.error
        return self.rows


@pytest.mark.parametrize("estimator", [TreeClassifier("cart"), TreeRegressor("cart")])
def test_updates_of_several_threads_are_all_counted(estimator):
    measured = isinstance(estimator, TreeRegressor)
    estimator.fit(
        X, NUMBERS if measured else Y, np.full(len(X), 100)
    )  # so that sums have room for many more rows
    target = ROWS[:, 0] if measured else LABELS

    def change(_):
        for _ in range(N_UPDATES):
            estimator.update(ROWS, target)
            estimator.forget(ROWS[:10], target[:10])
            estimator.predict(ROWS)

    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(change, range(N_THREADS)))
    counted = estimator.tree_.weight[0] * estimator.tree_.unit.item(0)
    assert counted == 100 * len(X) + N_THREADS * N_UPDATES * (N_ROWS - 10)


@pytest.mark.parametrize("name", sorted({*ESTIMATORS} - {"smoothed", "quantile"}))
def test_a_second_fit_is_refused_and_the_first_is_intact(name):
    estimator, rows = clone(ESTIMATORS[name]), Waiting(X)
    alone = fitted(clone(ESTIMATORS[name])).predict(X)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(fitted, estimator, rows)
        assert rows.begun.wait(30)
        try:
            with pytest.raises(BusyError, match="Another thread fits or updates this"):
                fitted(estimator)
        finally:
            rows.go_on.set()
        first.result()
    np.testing.assert_array_equal(estimator.predict(X), alone)
    fitted(estimator)


@pytest.mark.parametrize("error", [ValueError("on purpose"), KeyboardInterrupt()])
def test_an_error_releases_the_lock(error):
    rows = Waiting(X, error)
    rows.go_on.set()
    estimator = TreeClassifier("cart").fit(X, Y)
    for method in (estimator.fit, estimator.update, estimator.forget):
        with pytest.raises(DataError if isinstance(error, ValueError) else KeyboardInterrupt):
            method(rows, Y)
        with ThreadPoolExecutor(1) as pool:  # another thread, because the lock of this one is reentrant
            pool.submit(estimator.update, X, Y).result(30)
            pool.submit(estimator.fit, X, Y).result(30)


def test_copies_have_their_own_locks():
    estimator, rows = TreeClassifier("cart").fit(X, Y), Waiting(X)
    copies = [copy.copy(estimator), copy.deepcopy(estimator), clone(estimator)]
    copies.append(pickle.loads(pickle.dumps(estimator)))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(estimator.update, rows, Y)
        assert rows.begun.wait(30)
        try:
            for other in copies:
                other.fit(X, Y)
        finally:
            rows.go_on.set()
        first.result()


def test_an_estimator_without_a_hash_has_a_lock():
    class Equal(TreeClassifier):
        def __eq__(self, other):
            return type(other) is type(self)

        __hash__ = None

    one, other = Equal().fit(X, Y), Equal().fit(X, Y)
    assert one == other
    before = len(locks._LOCKS)
    del one, other
    assert len(locks._LOCKS) == before - 2
