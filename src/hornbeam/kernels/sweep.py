"""Sweeps from the leaves to the root: least expected costs, pruning decisions, and cost-complexity alphas."""

from typing import Any, NamedTuple

import numpy as np

from hornbeam.kernels import _native
from hornbeam.typing import Bools, Counts, Floats, Indices


def least_costs(belief: Floats, costs: Floats) -> tuple[Floats, Indices]:
    """Find the least expected cost of each row of `belief` and the class whose prediction has it, the first of equals.

    ``costs[true, predicted]`` has the shape (K, K).
    """
    least, action = np.empty(len(belief)), np.empty(len(belief), np.int32)
    _native.least_costs(belief, costs, least, action)
    return least, action


def level_order(parent: Indices, rank: Indices) -> Counts:
    """Order nodes by level: the roots, then their children, siblings by rank.

    Raises a ValueError if a parent is not before its children, or siblings do not have the ranks 0, 1, ... once each.
    """
    return _native.level_order(parent, rank)


def pull_up(first_child: Indices, n_children: Indices, values: Floats | Counts) -> None:
    """Add to the numbers of each node those of all nodes below it, in place; float64 or int64, one row per node."""
    _native.pull_up(first_child, n_children, values.reshape(len(values), -1))


class PrunedShape(NamedTuple):
    """Shape of a pruned tree, in level order."""

    node: Counts  #: the node in the whole tree
    parent: Indices  #: -1 for the root
    first_child: Indices  #: -1 on a leaf
    n_children: Indices


def prune_shape(first_child: Indices, n_children: Indices, cut: Bools) -> PrunedShape:
    """Make leaves of the nodes in `cut`, and renumber the remaining nodes."""
    n = len(n_children)
    # NumPy allocates large arrays in huge pages, which a vector of the kernel would not use.
    shape = PrunedShape(np.empty(n, np.int64), *(np.empty(n, np.int32) for _ in range(3)))
    n_nodes = _native.prune_shape(first_child, n_children, cut, *shape)
    for array in shape:
        array.resize(n_nodes, refcheck=False)  # in place: frees the unused rest
    return shape


def frontiers(first_child: Indices, n_children: Indices) -> tuple[Indices, Counts]:
    """Order nodes by height: leaves first, each frontier in level order.

    Frontier ``h`` is ``order[begin[h]:begin[h + 1]]``.
    """
    order, begin = _native.frontiers(first_child, n_children)
    return order, begin


class GivenCosts(NamedTuple):
    """Costs of n nodes, computed before."""

    as_leaf: Floats  #: (n,): cost of a node as a leaf
    staying: Floats  #: (n,): cost of the rows that stop at an inner node


class ExpectedCosts(NamedTuple):
    """Expected costs of n nodes that predict the class with the least expected cost."""

    evidence: Counts  #: (n, K): rows of each class
    unit: float  #: value of one integer step of evidence
    belief: Floats  #: (n, K): class probabilities
    costs: Floats  #: (K, K): ``costs[true, predicted]``


class PruneSweep:
    """Bottom-up decision for each node whether it costs less as a leaf than as a subtree.

    A node is cut where ``as_leaf <= below + slack + relative * abs(below)``.
    """

    __slots__ = ("_sweep", "cut", "value")

    def __init__(
        self,
        first_child: Indices,
        n_children: Indices,
        costs: GivenCosts | ExpectedCosts,
        *,
        slack: float = 0.0,
        relative: float = 0.0,
    ) -> None:
        #: Whether each node becomes a leaf.
        self.cut: Bools = np.zeros(len(n_children), np.bool_)
        #: Cost of the pruned subtree of each node.
        self.value: Floats = np.empty(len(n_children))
        given: tuple[Any, ...] = (first_child, n_children, *costs, slack, relative, self.value, self.cut)
        self._sweep = _native.PruneSweep(*given)

    def decide(self, begin: int, end: int) -> None:
        """Decide on nodes `begin` to `end`, the last first; nodes from `end` on were decided before, or are leaves.

        Threads may handle parts of one level.
        """
        self._sweep.decide(begin, end)


class WeakestLinks(NamedTuple):
    """Cost-complexity pruning: when each inner node is cut as the penalty per leaf (alpha) increases."""

    alpha: Floats  #: the penalty from which on a node is cut; infinite on a leaf
    added: Floats  #: cost that the cut adds to the tree
    fewer: Counts  #: leaves that the cut removes
    happens: Bools  #: whether the node is cut before its ancestors


def weakest_links(
    first_child: Indices, n_children: Indices, as_leaf: Floats, staying: Floats
) -> WeakestLinks:
    """Find for every node the penalty per leaf at which it is cut."""
    return WeakestLinks(*_native.weakest_links(first_child, n_children, as_leaf, staying))
