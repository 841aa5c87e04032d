"""What each row would be told if it were not there: the cost that fitted HGS minimises."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Self

import numpy as np

from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up, push_down, stopped
from hornbeam.typing import Floats

__all__ = ["LeaveOneOut"]


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOut:
    """The leave-one-out log loss of HGS as a function of alpha, and its gradient, in two sweeps.

    Each row is taken out of its leaf and of every ancestor (the tree's shape stays), its leaf is smoothed without it,
    and the probability of its class is scored. Rows of one leaf and class share their score, so the cost of all
    of them is a sum over nodes and classes.

    Parameters
    ----------
    skeleton : Skeleton
    own : float64 array of shape (n, K)
        Weight of the rows that stop at each node: a leaf's evidence, and what inner nodes keep for themselves.
    rest : float64 array of shape (n, K + 1)
        Weight of each class at each node without one row of that class, and of all classes without one row.
    lent : float64 array of shape (n, K + 1)
        What a node lends for each unit of alpha, one row taken out: frequencies and, last, 1; 0 on leaves
        and on inner nodes of a single row, which have nothing left to lend.
    prior : float
        Rows of the uniform distribution lent to every node.

    Notes
    -----
    Equations 5 to 8 of Zhang, Petitjean and Buntine (PAKDD 2020), in bits a row. Evidence does not say what
    each row weighs, so a left-out row takes the mean weight of all rows with it: exact if all rows weigh the same, an
    approximation otherwise (exact treatment would need evidence grouped by weight). A class of a single row
    cannot be scored without a prior, whatever alpha is; such rows are left out of the cost.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import Feature, Schema, Skeleton, Tree
    >>> stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    >>> tree = Tree.raw(Schema((Feature("x"),), (0, 1)), stump, np.array([[7, 3], [6, 1], [1, 2]]))
    >>> cost, gradient = LeaveOneOut.of(tree, prior=0.0)(np.array([1.0, 0.0, 0.0]))
    >>> round(cost, 4), gradient.round(4).tolist()
    (0.9981, [-0.1053, 0.0, 0.0])
    """

    skeleton: Skeleton
    own: Floats
    rest: Floats
    lent: Floats
    prior: float

    @classmethod
    def of(cls, tree: Tree, prior: float = 1.0) -> Self:
        """Take one row out of every node of a tree."""
        skeleton, weight = tree.skeleton, tree.evidence * tree.unit
        total = weight.sum(axis=1, keepdims=True)
        row = float(total[0, 0]) / max(int(tree.rows[0]), 1)
        rest = np.maximum(np.concatenate((weight, total), axis=1) - row, 0.0)
        lends = (rest[:, -1:] > 0) & ~skeleton.is_leaf[:, None]
        lent = np.divide(rest, rest[:, -1:], out=np.zeros_like(rest), where=lends)
        own = stopped(skeleton, tree.evidence) * tree.unit
        if prior == 0:
            own[:, rest[0, :-1] == 0] = 0.0
        return cls(skeleton, own, rest, lent, prior)

    def __call__(self, alpha: Floats) -> tuple[float, Floats]:
        """Return the cost, and its derivative by the alpha of every node (0 where there is nothing to lend)."""
        skeleton, own = self.skeleton, self.own
        n_classes = own.shape[1]
        from_parent = (alpha[:, None] * self.lent)[skeleton.parent]
        from_parent[0, :-1], from_parent[0, -1] = self.prior / n_classes, self.prior
        left = push_down(skeleton, from_parent) + self.rest
        scored = own > 0
        share, whole = left[:, :-1], np.broadcast_to(left[:, -1:], own.shape)
        scale = 1 / (max(float(own.sum()), np.finfo(float).tiny) * log(2))
        cost = scale * float(own[scored] @ np.log(whole[scored] / share[scored]))

        slope = np.zeros_like(left)
        np.divide(own, share, out=slope[:, :-1], where=scored)
        slope[:, -1] = -np.divide(own, whole, out=np.zeros_like(own), where=scored).sum(axis=1)
        below = pull_up(skeleton, slope) - slope  # a node lends to those below it, not to itself
        return cost, -scale * np.einsum("ij,ij->i", below, self.lent)
