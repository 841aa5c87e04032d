"""The smoothers of Hornbeam by name. A new one is a class, and its line in `SMOOTHERS`."""

from collections.abc import Callable
from functools import partial

from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.estimates import Laplace, MEstimate, Raw
from hornbeam.smoothing.hdp import HDP
from hornbeam.smoothing.hgs import HGS, GradientHGS, LeaveOneOutHGS
from hornbeam.smoothing.m_branch import MBranch
from hornbeam.smoothing.shrinkage import HierarchicalShrinkage
from hornbeam.smoothing.smoother import NamedSmoother

_CLASSES: tuple[type[NamedSmoother], ...] = (
    Raw,
    Laplace,
    MEstimate,
    MBranch,
    HierarchicalShrinkage,
    HGS,
    GradientHGS,
    LeaveOneOutHGS,
    HDP,
    Borrowing,
)
SMOOTHERS = {smoother.name: smoother for smoother in _CLASSES}
"""Each computes its predictions from the evidence alone, whatever the predictions were before."""

PUBLISHED: dict[str, Callable[[], NamedSmoother]] = {"hgs-published": partial(GradientHGS, prior=0.0)}
"""Smoothers with the settings of their paper, by a name of their own; the history has the name of the smoother."""
