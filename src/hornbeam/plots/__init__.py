"""Figures of trees and of the results of `hornbeam.evaluation`; need matplotlib (``pip install 'hornbeam[plots]'``).

In reading order:

- `canvas`: axes, colours and text; the tree and the classes of an estimator
- `tree`: the drawn tree; its parts are in `tree_figure/`
- `leaves`: leaves by probability, with intervals
- `one_class`: base class of displays of one class's probabilities
- `calibration`: the reliability diagram
- `probabilities`: a histogram of predicted probabilities
- `pruning`: held-out loss along the pruning path
- `size_path`: held-out loss against the size, found in the fit
- `comparison`: ranks, differences and times of methods
- `size_curve`: score against size
"""

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
from hornbeam.plots.size_path import SizePathDisplay
from hornbeam.plots.tree import TreeDisplay

__all__ = [
    "LeafDisplay",
    "ProbabilityDisplay",
    "PruningPathDisplay",
    "ReliabilityDisplay",
    "SizePathDisplay",
    "TreeDisplay",
    "plot_critical_difference",
    "plot_difference",
    "plot_forest_sizes",
    "plot_sizes",
    "plot_times",
]
