"""Pictures of trees and of what `hornbeam.evaluation` finds; need matplotlib (``pip install 'hornbeam[plots]'``)."""

from hornbeam.plots.calibration import ReliabilityDisplay
from hornbeam.plots.comparison import (
    plot_critical_difference,
    plot_difference,
    plot_forest_sizes,
    plot_times,
)
from hornbeam.plots.leaves import LeafDisplay
from hornbeam.plots.probabilities import ProbabilityDisplay
from hornbeam.plots.pruning import PruningPathDisplay
from hornbeam.plots.size_curve import plot_sizes
from hornbeam.plots.tree import TreeDisplay

__all__ = [
    "LeafDisplay",
    "ProbabilityDisplay",
    "PruningPathDisplay",
    "ReliabilityDisplay",
    "TreeDisplay",
    "plot_critical_difference",
    "plot_difference",
    "plot_forest_sizes",
    "plot_sizes",
    "plot_times",
]
