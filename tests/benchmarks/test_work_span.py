"""The simulation of more cores, by tasks of known length."""

from time import process_time

import numpy as np
import pytest
from benchmarks.speed.work_span import Cores, simulated

from hornbeam import TreeClassifier
from hornbeam.kernels.pool import Pool


def test_tasks_take_the_first_gap_of_any_core():
    cores = Cores(2)
    assert cores.place(0.0, 3.0) == 3.0
    assert cores.place(0.0, 2.0) == 2.0
    assert cores.place(0.0, 2.0) == 4.0  # on the second core, which is free at 2
    assert cores.place(10.0, 1.0) == 11.0
    assert cores.place(0.0, 7.0) == 10.0  # on the first, between 3 and 10
    assert cores.place(0.0, 7.0) == 11.0  # on the second, from 4 on
    assert cores.place(0.0, 0.5) == 11.5


def _spin(seconds: float) -> None:
    begin = process_time()
    while process_time() < begin + seconds:
        pass


@pytest.mark.parametrize(("threads", "turns"), [(1, 4), (2, 2), (3, 2), (4, 1)])
def test_four_equal_tasks_take_turns(threads, turns):
    with simulated(4) as simulation, Pool(threads) as pool:
        list(pool.map(_spin, [0.05] * 4))
    assert simulation.work >= 0.2
    assert 0.05 * turns <= simulation.now < 0.05 * turns + 0.04


def test_a_simulated_fit_grows_the_same_tree():
    X = np.random.default_rng(0).normal(size=(60_000, 20))
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    with simulated(4) as simulation:
        tree = TreeClassifier("cart", max_depth=6, n_jobs=4).fit(X, y).tree_
    assert tree.digest == TreeClassifier("cart", max_depth=6).fit(X, y).tree_.digest
    assert 0 < simulation.now < simulation.work
