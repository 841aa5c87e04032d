"""The leave-one-out log loss of HGS, which its fitted variants minimise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels.elementary import log
from hornbeam.kernels.sums import row_dots, row_sums
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping, pull_up, push_down
from hornbeam.typing import Floats

__all__ = ["LeaveOneOut"]

_LN2 = 0.6931471805599453


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOut:
    """The leave-one-out log loss of HGS as a function of alpha, and its gradient, in two sweeps.

    Each row is removed from its leaf and from every ancestor (the tree's shape stays), its leaf is smoothed
    without it, and the probability of its class is scored. Rows of one leaf and class have the same score, so
    the cost is a sum over nodes and classes.

    Parameters
    ----------
    skeleton : Skeleton
    node, column : int arrays of shape (m,)
        The pairs of node and class with rows that stop there: at a leaf, or at an inner node.
    weight : float64 array of shape (m,)
        The weight of those rows.
    rest : float64 array of shape (n, K + 1)
        Weight of each class at each node without one row of that class, and of all classes without one row.
    contribution : float64 array of shape (n, K + 1)
        Pseudo-counts from a node per unit of alpha, one row removed: frequencies and, last, 1; 0 on leaves and on
        inner nodes of a single row.
    prior : float
        Rows of the uniform distribution added to every node.

    Notes
    -----
    Equations 5 to 8 of Zhang, Petitjean and Buntine (PAKDD 2020), in bits per row. Evidence does not hold the weights
    of single rows, so a left-out row has the mean weight of all rows: exact if all weights are equal, an
    approximation otherwise (an exact result needs evidence grouped by weight). A class of a single row cannot be
    scored without a prior, whatever alpha is; these rows are left out of the cost.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import Feature, Schema, Skeleton, Tree
    >>> stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    >>> tree = Tree.raw(Schema((Feature("x"),), (0, 1)), stump, np.array([[7, 3], [6, 1], [1, 2]]))
    >>> cost, gradient = LeaveOneOut.of(tree, prior=0.0)(np.array([1.0, 0.0, 0.0]))
    >>> round(cost, 4), gradient.round(4).tolist()
    (1.1567, [-0.1543, 0.0, 0.0])
    """

    skeleton: Skeleton
    node: NDArray[np.intp]
    column: NDArray[np.intp]
    weight: Floats
    rest: Floats
    contribution: Floats
    prior: float

    @classmethod
    def of(cls, tree: Tree, prior: float = 1.0) -> Self:
        """Prepare the loss of a tree."""
        skeleton, weight = tree.skeleton, tree.evidence * tree.unit
        total = row_sums(weight)[:, None]
        row = float(total[0, 0]) / max(int(tree.rows[0]), 1)
        rest = np.maximum(np.concatenate((weight, total), axis=1) - row, 0.0)
        contributes = (rest[:, -1:] > 0) & ~skeleton.is_leaf[:, None]
        contribution = np.divide(rest, rest[:, -1:], out=np.zeros_like(rest), where=contributes)
        own = evidence_stopping(skeleton, tree.evidence)
        if prior == 0:
            own[:, rest[0, :-1] == 0] = 0
        node, column = np.nonzero(own)
        return cls(skeleton, node, column, own[node, column] * tree.unit[0], rest, contribution, prior)

    def __call__(self, alpha: Floats) -> tuple[float, Floats]:
        """Return the cost, and its derivative by the alpha of every node (0 on leaves)."""
        skeleton, node, column, weight = self.skeleton, self.node, self.column, self.weight
        n_classes = self.rest.shape[1] - 1
        from_parent = (alpha[:, None] * self.contribution)[skeleton.parent]
        from_parent[0, :-1], from_parent[0, -1] = self.prior / n_classes, self.prior
        left = push_down(skeleton, from_parent) + self.rest
        share, whole = left[node, column], left[node, -1]
        scale = 1 / (_LN2 * max(float(weight.sum()), np.finfo(float).tiny))
        cost = scale * float((weight * log(whole / share)).sum())

        gradient = np.zeros_like(left)
        gradient[node, column] = -weight / share
        gradient[:, -1] = np.bincount(node, weight / whole, len(left))
        below = pull_up(skeleton, gradient) - gradient  # a node adds to those below it, not to itself
        return cost, scale * row_dots(below, self.contribution)
