"""Steps that change what a tree believes."""

from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.estimates import Laplace, MEstimate, Raw
from hornbeam.smoothing.hdp import HDP, Tying
from hornbeam.smoothing.hgs import HGS, GradientHGS, LeaveOneOutHGS
from hornbeam.smoothing.interval_calibration import IntervalCalibration, calibrate_tree, effective_size
from hornbeam.smoothing.m_branch import MBranch
from hornbeam.smoothing.monotone import Monotone
from hornbeam.smoothing.replay import replay, smoothers_of
from hornbeam.smoothing.shrinkage import HierarchicalShrinkage
from hornbeam.smoothing.smoother import Smoother

__all__ = [
    "HDP",
    "HGS",
    "Borrowing",
    "GradientHGS",
    "HierarchicalShrinkage",
    "IntervalCalibration",
    "Laplace",
    "LeaveOneOutHGS",
    "MBranch",
    "MEstimate",
    "Monotone",
    "Raw",
    "Smoother",
    "Tying",
    "calibrate_tree",
    "effective_size",
    "replay",
    "smoothers_of",
]
