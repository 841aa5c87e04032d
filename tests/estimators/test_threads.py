"""Many threads use one model at the same moment, and get what one thread gets."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.base import clone

from support.estimators import ESTIMATORS, X, answers, fitted

N_THREADS, N_MODELS = 8, 10


@pytest.fixture(autouse=True)
def _many_changes_of_thread():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


FIRST_USES = """
import sys, threading
import hornbeam

sys.setswitchinterval(1e-6)
names, failures = ["TreeRegressor", "TreeClassifier", "ForestClassifier", "load", "report", "diff"], []
barrier = threading.Barrier(len(names))

def use(name):
    barrier.wait()
    try:
        getattr(hornbeam, name)
    except BaseException as error:
        failures.append(f"{name}: {error!r}")

threads = [threading.Thread(target=use, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(120)
sys.exit("\\n".join(failures) or any(thread.is_alive() for thread in threads))
"""


def all_at_once(work):
    """Call work() in every thread at the same moment; return the results."""
    barrier = Barrier(N_THREADS)

    def call(_):
        barrier.wait(30)
        return work()

    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(call, range(N_THREADS)))


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_threads_share_a_model_that_was_never_used(name):
    model = fitted(clone(ESTIMATORS[name]))
    pickled, expected = pickle.dumps(model), answers(model)
    for _ in range(N_MODELS):  # new each time, because the router is made on first use
        new = pickle.loads(pickled)
        for found in all_at_once(lambda new=new: answers(new)):
            np.testing.assert_array_equal(found, expected)


def test_threads_share_what_a_tree_computes_on_first_use():
    tree = fitted(clone(ESTIMATORS["tree"])).tree_
    pickled, expected = pickle.dumps(tree), (tree.digest, tree.decided.tolist())
    for _ in range(N_MODELS):
        new = pickle.loads(pickled)
        assert all_at_once(lambda new=new: (new.digest, new.decided.tolist())) == [expected] * N_THREADS


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_threads_fit_clones_at_the_same_time(name):
    expected = answers(fitted(clone(ESTIMATORS[name])))
    for found in all_at_once(lambda: answers(fitted(clone(ESTIMATORS[name])), X)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.long
def test_threads_import_public_names_at_the_same_time():
    """Each imports scikit-learn, whose modules import each other."""
    run = subprocess.run([sys.executable, "-c", FIRST_USES], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
