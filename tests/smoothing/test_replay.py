"""Every smoother is found in the history, and gives the same predictions again."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from hornbeam import TreeClassifier
from hornbeam.errors import TreeError
from hornbeam.estimators.persistence.files import pack
from hornbeam.pruning import LeafBudget
from hornbeam.smoothing import (
    HDP,
    HGS,
    Borrowing,
    GradientHGS,
    HierarchicalShrinkage,
    Laplace,
    LeaveOneOutHGS,
    MBranch,
    MEstimate,
    Raw,
)
from hornbeam.smoothing.interval_calibration import IntervalCalibration
from hornbeam.smoothing.monotone import Monotone
from hornbeam.smoothing.replay import replay, smoothers_of
from hornbeam.storage.file import decode, encode
from hornbeam.tree import Step
from support.worked_trees import worked_tree

SMOOTHERS = [
    Borrowing(0.5, -0.3, 0.7, 1.0, -1.0, -0.4),
    Raw(),
    Laplace(),
    MEstimate(3.0, "root"),
    MEstimate(3.0, (0.25, 0.75)),
    HGS(2.0, 0.5),
    GradientHGS(step=0.02, tol=1e-3),
    GradientHGS(prior=0.0, loss="squared"),
    LeaveOneOutHGS(prior=0.5),
    HierarchicalShrinkage(2.0),
    MBranch(1.5),
    HDP(sweeps=30, burn_in=3, tying="level", random_state=4),
]


@pytest.mark.parametrize("smoother", SMOOTHERS, ids=str)
def test_a_smoother_is_found_in_its_step(smoother):
    tree = smoother(Laplace()(worked_tree()))
    assert smoothers_of(tree.history) == (smoother,)
    kept = decode(encode(pack(tree))).tree
    assert smoothers_of(kept.history) == (smoother,)
    assert replay(smoothers_of(kept.history), worked_tree()).digest == tree.digest


def test_a_raw_tree_has_no_smoother():
    assert smoothers_of(worked_tree().history) == ()


def test_monotone_and_interval_calibration_are_found_too():
    ordered = Monotone((1,))(HGS()(worked_tree()))
    calibrated = IntervalCalibration(0.5, 0.9)(ordered)
    assert smoothers_of(calibrated.history) == (HGS(), Monotone((1,)), IntervalCalibration(0.5, 0.9))
    # A later smoother replaces all of them, and a calibration counts only as the last step.
    assert smoothers_of(Laplace()(calibrated).history) == (Laplace(),)
    assert smoothers_of(LeafBudget(2)(calibrated).history) == (HGS(), Monotone((1,)))


def test_cross_fitted_smoothing_of_a_pruned_tree_is_repeated_bit_for_bit():
    X, y = load_breast_cancer(return_X_y=True)
    for settings in ({}, {"tolerance": 0.05}, {"monotonic_cst": np.ones(30, int)}, {"pruning": "bayes-risk"}):
        tree = TreeClassifier(**settings).fit(X, y).tree_
        assert replay((Raw(), *smoothers_of(tree.history)), tree).digest == tree.digest


def test_a_history_with_invalid_parameters_raises():
    with pytest.raises(TreeError, match=r"the history has the step hgs.* which cannot be made"):
        smoothers_of((Step.of("hgs", alpha="much"),))
    with pytest.raises(TreeError, match=r"alpha=-1\.0"):
        smoothers_of((Step.of("hgs", alpha=-1.0),))
