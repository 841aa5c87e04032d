"""The tree as data, and the makers of trees from trees."""

from hornbeam.tree.condition import Condition
from hornbeam.tree.decision.costs import Costs
from hornbeam.tree.decision.rule import DecisionRule
from hornbeam.tree.edit import collapse, count_rows, raise_child, with_belief
from hornbeam.tree.evidence.update import add_rows, decay, remove_rows
from hornbeam.tree.level_order import level_order
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree, raw_belief

__all__ = [
    "Condition",
    "Costs",
    "DecisionRule",
    "Skeleton",
    "Step",
    "Tree",
    "add_rows",
    "collapse",
    "count_rows",
    "decay",
    "level_order",
    "raise_child",
    "raw_belief",
    "remove_rows",
    "with_belief",
]
