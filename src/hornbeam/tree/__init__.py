"""The tree as data, and the makers of trees from trees."""

from hornbeam.tree.condition import Condition
from hornbeam.tree.costs import Costs
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.edit import believe, collapse, count, raise_child
from hornbeam.tree.evidence import add_rows, decay, remove_rows
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree, raw_belief
from hornbeam.tree.walk import level_order

__all__ = [
    "Condition",
    "Costs",
    "DecisionRule",
    "Skeleton",
    "Step",
    "Tree",
    "add_rows",
    "believe",
    "collapse",
    "count",
    "decay",
    "level_order",
    "raise_child",
    "raw_belief",
    "remove_rows",
]
