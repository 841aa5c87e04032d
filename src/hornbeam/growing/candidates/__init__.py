"""The candidate splits of a node: the gain of each, their order, and why growing does not allow some of them.

The kernel that grows trees computes every gain, finds the best split of each feature and ranks the features. Everything
follows from the histogram of the node, which is a sum over its rows.

Read in this order:

- `way`: how the codes of a feature are divided among children, and splits that send missing values the same way
- `node_cells`: the histogram of a node
- `gains`: the gains of many splits
- `scan`: all splits of a feature, and why some are not allowed
- `candidate_order`: the best split of each feature, and the order of all
"""

from hornbeam.growing.candidates.candidate_order import all_candidates, best_candidates
from hornbeam.growing.candidates.gains import gain_of_children
from hornbeam.growing.candidates.node_cells import NodeCells
from hornbeam.growing.candidates.scan import Candidate
from hornbeam.growing.candidates.way import Direction, Way

__all__ = [
    "Candidate",
    "Direction",
    "NodeCells",
    "Way",
    "all_candidates",
    "best_candidates",
    "gain_of_children",
]
