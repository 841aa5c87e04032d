"""Smoothers: steps that estimate the predictions of every node from its counts and those of other nodes.

Reading order:

- `smoother`: the protocol, and checks of parameters
- `estimates`: raw frequencies, Laplace, m-estimate; of one node
- `m_branch`, `shrinkage`, `hgs`, `hdp`: published smoothers that use ancestors
- `leave_one_out`: the loss of fitted HGS
- `borrowing`: the default, fitted by `hornbeam.tuning.CrossFitted`
- `monotone`: monotone constraints on smoothed predictions
- `interval_calibration`: variances of nodes, and effective sample sizes for intervals
- `distribution`: a numeric target at every node, as counts over bins that are borrowed too
- `registry`: all smoothers by name
- `replay`: smoothing again, after an update or for new counts
"""

from typing import TYPE_CHECKING, Any

from hornbeam.lazy import lazy_attribute

if TYPE_CHECKING:
    from hornbeam.smoothing.borrowing import Borrowing
    from hornbeam.smoothing.estimates import Laplace, MEstimate, Raw
    from hornbeam.smoothing.hdp import HDP
    from hornbeam.smoothing.hgs import HGS, GradientHGS, LeaveOneOutHGS
    from hornbeam.smoothing.m_branch import MBranch
    from hornbeam.smoothing.shrinkage import HierarchicalShrinkage
    from hornbeam.smoothing.smoother import Smoother

__all__ = [
    "HDP",
    "HGS",
    "Borrowing",
    "GradientHGS",
    "HierarchicalShrinkage",
    "Laplace",
    "LeaveOneOutHGS",
    "MBranch",
    "MEstimate",
    "Raw",
    "Smoother",
]

_MODULES = {
    "HDP": ".hdp",
    "HGS": ".hgs",
    "Borrowing": ".borrowing",
    "GradientHGS": ".hgs",
    "HierarchicalShrinkage": ".shrinkage",
    "Laplace": ".estimates",
    "LeaveOneOutHGS": ".hgs",
    "MBranch": ".m_branch",
    "MEstimate": ".estimates",
    "Raw": ".estimates",
    "Smoother": ".smoother",
}


def __getattr__(name: str) -> Any:
    return lazy_attribute(globals(), _MODULES, name)
