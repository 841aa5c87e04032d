"""Figures of trees and of the results of `hornbeam.evaluation`; need matplotlib (``pip install 'hornbeam[plots]'``).

In reading order:

- `canvas`: axes, colours and text; the tree of an estimator
- `tree`: the drawn tree
- `figure_layout`: text and position of its parts, fitted to a page
- `leaf_table`: the table beside it
- `leaves`: leaves by probability, with intervals
- `probabilities`: the reliability diagram, and a histogram of predicted probabilities
- `pruning`: held-out loss along the pruning path
- `sizes`: held-out loss against the size
- `comparison`: ranks of methods, for `Comparison.plot`
"""

from hornbeam.plots.leaves import LeafDisplay
from hornbeam.plots.probabilities import ProbabilityDisplay, ReliabilityDisplay
from hornbeam.plots.pruning import PruningPathDisplay
from hornbeam.plots.sizes import SizePathDisplay
from hornbeam.plots.tree import TreeDisplay

__all__ = [
    "LeafDisplay",
    "ProbabilityDisplay",
    "PruningPathDisplay",
    "ReliabilityDisplay",
    "SizePathDisplay",
    "TreeDisplay",
]
