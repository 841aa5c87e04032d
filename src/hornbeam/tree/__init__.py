"""The tree as data, and functions that make new trees from it.

Files in reading order; their imports have no circle (`tests/tree/test_imports.py`).

`arrays`: read-only arrays, and checks of arrays.
`level_order`: the numbering of nodes.
`skeleton`: shape and splits.
`slopes`: terms of leaves that change a prediction with the value of a feature.
`walk`: sums, depths and paths over a skeleton; subtrees taken out and put in.
`decision`: costs and the decision rule.
`check`, `digest`: invariants and content hash of a tree.
`tree`: the tree itself, a skeleton with evidence and belief.
`route`: rows to nodes and predictions.
`few_rows`: predictions of a few rows without a table.
`several`: several trees side by side, for a fit.
`evidence`: counting, updating and standardising evidence.
`edit`: new trees from old ones, and edits by hand in a history.
`condition`: conditions on paths to nodes.
`importance`: feature importance of one tree or several.
`unwrap`: the tree of an estimator, a search or a pipeline.
`statistics`: confidence bounds and pessimistic errors, without a tree.
"""

from hornbeam.data.schema import Feature, Schema
from hornbeam.data.table import Table
from hornbeam.tree.condition import Condition
from hornbeam.tree.decision import Costs, DecisionRule
from hornbeam.tree.edit import collapse, with_belief, with_slopes
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.slopes import Slopes
from hornbeam.tree.tree import Step

__all__ = [
    "Condition",
    "Costs",
    "DecisionRule",
    "Feature",
    "Schema",
    "Skeleton",
    "Slopes",
    "Step",
    "Table",
    "collapse",
    "with_belief",
    "with_slopes",
]
