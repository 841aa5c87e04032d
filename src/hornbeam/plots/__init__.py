"""Pictures of numbers that `hornbeam.evaluation` made; needs matplotlib (``pip install 'hornbeam[plots]'``)."""

from hornbeam.plots.calibration import ReliabilityDisplay
from hornbeam.plots.comparison import (
    plot_critical_difference,
    plot_difference,
    plot_forest_sizes,
    plot_times,
)
from hornbeam.plots.sizes import plot_sizes
from hornbeam.plots.tree import TreeDisplay

__all__ = [
    "ReliabilityDisplay",
    "TreeDisplay",
    "plot_critical_difference",
    "plot_difference",
    "plot_forest_sizes",
    "plot_sizes",
    "plot_times",
]
