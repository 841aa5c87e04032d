"""The tree as data, and the makers of trees from trees."""

from hornbeam.tree.costs import Costs
from hornbeam.tree.edit import believe, collapse, count, raise_child
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree, raw_belief
from hornbeam.tree.walk import level_order

__all__ = [
    "Costs",
    "Skeleton",
    "Step",
    "Tree",
    "believe",
    "collapse",
    "count",
    "level_order",
    "raise_child",
    "raw_belief",
]
