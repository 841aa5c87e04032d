"""Sweeps from the leaves to the root: what to predict, what to cut, and from which price of a leaf on."""

from typing import Any, NamedTuple

import numpy as np

from hornbeam import _native
from hornbeam.typing import Bools, Counts, Floats, Indices

__all__ = [
    "ExpectedCosts",
    "GivenCosts",
    "PruneSweep",
    "PrunedShape",
    "WeakestLinks",
    "frontiers",
    "least_costs",
    "prune_shape",
    "weakest_links",
]


def least_costs(belief: Floats, costs: Floats) -> tuple[Floats, Indices]:
    """Find the least expected cost of each row of `belief` and the class whose prediction has it.

    Parameters
    ----------
    belief : float64 array of shape (n, K)
    costs : float64 array of shape (K, K)
        ``costs[true, predicted]``.

    Returns
    -------
    least : float64 array of shape (n,)
    action : int32 array of shape (n,)
        The first class of equals.

    Examples
    --------
    >>> least, action = least_costs(np.array([[0.7, 0.3]]), np.array([[0.0, 1.0], [5.0, 0.0]]))
    >>> least.tolist(), action.tolist()
    ([0.7], [1])
    """
    least, action = np.empty(len(belief)), np.empty(len(belief), np.int32)
    _native.least_costs(belief, costs, least, action)
    return least, action


class PrunedShape(NamedTuple):
    """The shape that is left when some nodes become leaves, in level order."""

    node: Counts  #: which node each one was
    parent: Indices  #: -1 for the root
    first_child: Indices  #: -1 on a leaf
    n_children: Indices


def prune_shape(first_child: Indices, n_children: Indices, cut: Bools) -> PrunedShape:
    """Make leaves of the nodes in `cut`, and number anew what is left.

    Examples
    --------
    >>> left = prune_shape(*np.array([[1, -1, 3, -1, -1], [2, 0, 2, 0, 0]], np.int32), np.arange(5) == 2)
    >>> left.node.tolist(), left.parent.tolist(), left.n_children.tolist()
    ([0, 1, 2], [-1, 0, 0], [2, 0, 0])
    """
    n = len(n_children)
    # Large arrays of NumPy's come in huge pages, where the kernel's own would not.
    left = PrunedShape(np.empty(n, np.int64), *(np.empty(n, np.int32) for _ in range(3)))
    n_left = _native.rest(first_child, n_children, cut, *left)
    for array in left:
        array.resize(n_left, refcheck=False)  # in place: what was not filled is given back
    return left


def frontiers(first_child: Indices, n_children: Indices) -> tuple[Indices, Counts]:
    """Order nodes by height: leaves first, each frontier in level order.

    Returns
    -------
    order : int32 array of shape (n,)
    begin : int64 array
        Frontier ``h`` is ``order[begin[h]:begin[h + 1]]``.

    Examples
    --------
    >>> order, begin = frontiers(np.array([1, -1, 3, -1, -1], np.int32), np.array([2, 0, 2, 0, 0], np.int32))
    >>> order.tolist(), begin.tolist()
    ([1, 3, 4, 2, 0], [0, 3, 4, 5])
    """
    order, begin = _native.frontiers(first_child, n_children)
    return order, begin


class GivenCosts(NamedTuple):
    """Costs of n nodes, worked out before."""

    as_leaf: Floats  #: (n,): of a node that is a leaf
    staying: Floats  #: (n,): at an inner node, of the rows that stop there


class ExpectedCosts(NamedTuple):
    """Costs of n nodes whose rows get the answer that is cheapest under what their node believes."""

    evidence: Counts  #: (n, K): rows of each class
    unit: float  #: what a step of evidence is worth
    belief: Floats  #: (n, K): class probabilities
    costs: Floats  #: (K, K): ``costs[true, predicted]``


class PruneSweep:
    """What a node costs as a leaf against what its subtree costs, from the leaves up.

    Parameters
    ----------
    first_child, n_children : int32 arrays of shape (n,)
    costs : GivenCosts or ExpectedCosts
    slack, relative : float, default 0
        A node is cut where ``as_leaf <= below + slack + relative * abs(below)``.

    Examples
    --------
    >>> shape = np.array([1, -1, -1], np.int32), np.array([2, 0, 0], np.int32)
    >>> settler = PruneSweep(*shape, GivenCosts(as_leaf=np.array([3.0, 1.0, 2.0]), staying=np.zeros(3)))
    >>> settler.settle_all()
    >>> settler.cut.tolist(), settler.value.tolist()
    ([True, False, False], [3.0, 1.0, 2.0])
    """

    __slots__ = ("_settler", "cut", "value")

    def __init__(
        self,
        first_child: Indices,
        n_children: Indices,
        costs: GivenCosts | ExpectedCosts,
        *,
        slack: float = 0.0,
        relative: float = 0.0,
    ) -> None:
        #: Which nodes become leaves.
        self.cut: Bools = np.zeros(len(n_children), np.bool_)
        #: The cost of what is kept of each node's subtree.
        self.value: Floats = np.empty(len(n_children))
        out = self.value, self.cut
        self._settler: Any = _native.Settler(first_child, n_children, *costs, slack, relative, *out)

    def settle_all(self) -> None:
        """Settle every node, the last in level order first."""
        self._settler.settle_all()

    def settle(self, order: Indices) -> None:
        """Settle some nodes, whose children were settled before; threads may share a frontier."""
        self._settler.settle(order)


class WeakestLinks(NamedTuple):
    """When each inner node is cut as leaves become dearer."""

    alpha: Floats  #: the price of a leaf from which on a node is cut; infinite on a leaf
    added: Floats  #: what the cut adds to the cost of the tree
    fewer: Counts  #: by how many leaves the tree is smaller after it
    happens: Bools  #: whether it happens before an ancestor is cut


def weakest_links(
    first_child: Indices, n_children: Indices, as_leaf: Floats, staying: Floats
) -> WeakestLinks:
    """Find for every node the price of a leaf at which its subtree is no longer worth its leaves.

    Examples
    --------
    A root of cost 4 over leaves of cost 1 each: the second leaf saves 2.

    >>> shape = np.array([1, -1, -1], np.int32), np.array([2, 0, 0], np.int32)
    >>> weakest_links(*shape, as_leaf=np.array([4.0, 1.0, 1.0]), staying=np.zeros(3)).alpha.tolist()
    [2.0, inf, inf]
    """
    return WeakestLinks(*_native.weakest_links(first_child, n_children, as_leaf, staying))
