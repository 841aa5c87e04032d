"""Small fits and single predictions compared with scikit-learn, best of many rounds."""

import os
import sys
from time import process_time

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.tree import DecisionTreeClassifier

from hornbeam import TreeClassifier
from hornbeam.recipe import PRESETS

pytestmark = [
    pytest.mark.skipif(
        "libasan" in os.environ.get("LD_PRELOAD", ""), reason="kernels are slowed down by the sanitizers"
    ),
    pytest.mark.skipif(sys.platform == "win32", reason="processor time has steps of 16 ms"),
]

SETS = {"150 x 4": load_iris(return_X_y=True), "1,000 x 10": make_classification(1_000, 10, random_state=0)}


def race(ours, theirs, rounds=50, calls=1):
    """Ratio of the best times; both alternate, so that the load of the machine affects both."""
    best = [np.inf, np.inf]
    for _ in range(rounds):
        for at, run in enumerate((ours, theirs)):
            begin = process_time()
            for _ in range(calls):
                run()
            best[at] = min(best[at], process_time() - begin)
    return best[0] / best[1]


@pytest.mark.parametrize("size", SETS)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_small_fit_is_as_fast_as_a_few_of_scikit_learn(preset, size):
    X, y = SETS[size]
    smoothing = "hgs" if preset == "default" else "auto"
    pruning = "collapse" if preset == "c4.5" else "auto"  # scikit-learn does not prune by default
    ours = TreeClassifier(preset, smoothing=smoothing, pruning=pruning)
    theirs = DecisionTreeClassifier(random_state=0)
    assert race(lambda: ours.fit(X, y), lambda: theirs.fit(X, y)) < 3.0


@pytest.mark.parametrize("size", SETS)
def test_pruning_and_raising_cost_a_few_fits(size):
    X, y = SETS[size]
    pruned, grown = TreeClassifier("c4.5"), TreeClassifier("c4.5", pruning="collapse")
    assert race(lambda: pruned.fit(X, y), lambda: grown.fit(X, y)) < 10.0


def test_cross_fitted_smoothing_costs_a_few_fits():
    X, y = SETS["1,000 x 10"]  # with fewer rows the calls of the optimiser dominate
    cross_fitted, plain = TreeClassifier(), TreeClassifier(smoothing="hgs")
    assert race(lambda: cross_fitted.fit(X, y), lambda: plain.fit(X, y), rounds=20) < 16.0


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_a_single_row_is_predicted_faster_than_by_scikit_learn(method):
    X, y = SETS["1,000 x 10"]
    ours = getattr(TreeClassifier().fit(X, y), method)
    theirs = getattr(DecisionTreeClassifier(random_state=0).fit(X, y), method)
    row = X[:1].copy()
    assert race(lambda: ours(row), lambda: theirs(row), calls=5) < 1.0


def test_the_row_predictor_is_another_ten_times_faster():
    X, y = SETS["1,000 x 10"]
    fitted = TreeClassifier().fit(X, y)
    predict, row, single = fitted.row_predictor(), tuple(X[0].tolist()), X[:1].copy()
    assert race(lambda: predict(row), lambda: fitted.predict_proba(single), calls=20) < 0.2


def test_a_row_with_slopes_takes_at_most_the_time_of_three_without():
    """Absolute times: benchmarks/asv_suite/predict.py."""
    X, y = SETS["1,000 x 10"]
    sloped, plain = TreeClassifier("readable").fit(X, y), TreeClassifier("readable", slopes=0).fit(X, y)
    assert len(sloped.tree_.slopes)
    assert not len(plain.tree_.slopes)
    with_slopes, without, row = sloped.row_predictor(), plain.row_predictor(), tuple(X[0].tolist())
    assert race(lambda: with_slopes(row), lambda: without(row), calls=200) < 3.0
