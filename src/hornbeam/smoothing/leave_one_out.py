"""The leave-one-out loss of HGS, which its fitted variants minimise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError
from hornbeam.kernels.elementary import log, row_dots, row_sums
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping, pull_up, push_down
from hornbeam.typing import Floats

type Loss = Literal["log", "squared"]

_LN2 = 0.6931471805599453


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOut:
    """The leave-one-out loss of HGS as a function of alpha, and its gradient, in two sweeps.

    Each row is removed from its leaf and from every ancestor (the tree's shape stays), its leaf is smoothed
    without it, and the probability of its class is scored. Rows of one leaf and class have the same score, so
    the cost is a sum over nodes and classes.

    Equations 5 to 8 of Zhang, Petitjean and Buntine (PAKDD 2020), per row; the log loss is in bits. The squared loss is
    that of the class of the row alone, as in the authors' program; `probabilities` has the other classes too.

    Evidence does not hold the weights of single rows, so a left-out row has the mean weight of all rows: exact if all
    weights are equal, an approximation otherwise (an exact result needs evidence grouped by weight). A class of one
    row cannot be scored without a prior, whatever alpha is; this row is left out of the loss.
    """

    skeleton: Skeleton
    node: NDArray[np.intp]
    column: NDArray[np.intp]
    weight: Floats
    counts: Floats
    rest: Floats
    contribution: Floats
    prior: float
    loss: Loss

    @classmethod
    def of(cls, tree: Tree, prior: float = 1.0, loss: Loss = "log") -> Self:
        """Prepare the loss of a tree."""
        check_loss(loss)
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
        stopping = own[node, column] * tree.unit[0]
        return cls(skeleton, node, column, stopping, weight, rest, contribution, prior, loss)

    def __call__(self, alpha: Floats) -> tuple[float, Floats]:
        """Return the loss, and its derivative by the alpha of every node (0 on leaves)."""
        node, column, weight = self.node, self.column, self.weight
        left = self._smoothed(alpha, self.rest, self.contribution)
        share, whole = left[node, column], left[node, -1]
        total = max(float(weight.sum()), np.finfo(float).tiny)
        if self.loss == "log":
            scale = 1 / (_LN2 * total)
            losses, by_share, by_whole = weight * log(whole / share), -weight / share, weight / whole
        else:
            scale = 1 / total
            p = share / whole
            error = weight * (1 - p)
            losses, by_share, by_whole = error * (1 - p) / 2, -error / whole, error * p / whole

        gradient = np.zeros_like(left)
        gradient[node, column] = by_share
        gradient[:, -1] = np.bincount(node, by_whole, len(left))
        below = pull_up(self.skeleton, gradient) - gradient  # a node adds to those below it, not to itself
        return scale * float(losses.sum()), scale * row_dots(below, self.contribution)

    def probabilities(self, alpha: Floats) -> Floats:
        """Return the probabilities of all classes for a left-out row of each pair of node and class, shape (m, K)."""
        # A class that loses no row keeps its counts; only the totals of the nodes are smaller.
        whole = self.rest[:, -1:]
        frequency = np.divide(
            self.counts, whole, out=np.zeros_like(self.counts), where=self.contribution[:, -1:] > 0
        )
        p = self._smoothed(alpha, self.counts, frequency)[self.node]
        reduced = self._smoothed(alpha, self.rest, self.contribution)
        p[np.arange(len(p)), self.column] = reduced[self.node, self.column]
        return p / row_sums(p)[:, None]

    def _smoothed(self, alpha: Floats, counts: Floats, contribution: Floats) -> Floats:
        """Add to the counts of each node the contributions of its ancestors, times their alpha, and the prior."""
        n_classes = self.counts.shape[1]
        from_parent = (alpha[:, None] * contribution)[self.skeleton.parent]
        from_parent[0] = self.prior / n_classes
        from_parent[0, n_classes:] = self.prior  # the column of all classes, if there is one
        return push_down(self.skeleton, from_parent) + counts


def check_loss(loss: object) -> None:
    """Raise `ParameterError` unless a loss is "log" or "squared"."""
    if not isinstance(loss, str) or loss not in get_args(Loss.__value__):
        raise ParameterError(f"loss={loss!r}: expected 'log' or 'squared'.")
