"""Losses of candidate pruners on held-out rows, and the choice among them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from hornbeam.kernels.elementary import log, row_dots
from hornbeam.pruning.pruner import Pruner
from hornbeam.recipe import Recipe
from hornbeam.tree.decision import Costs
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import n_roots, pull_up, push_down
from hornbeam.tuning.folds import FoldTrees, route_held_out
from hornbeam.typing import Floats

type Score = Literal["brier", "log", "error"] | Costs

_LEAST = 1e-15  # least probability in the log loss: 34.5 nats
_TOLERANCE = 1e-12  # of the largest loss: rounding error between candidates of equal loss


@dataclass(frozen=True, slots=True, eq=False)
class CandidateLosses:
    """Losses of several candidates on the same rows: sums of the losses of all rows, and of their squares.

    `n_leaves` are the leaves of all `n_trees` trees that a candidate pruned; `rows` is the weight of the rows.
    """

    n_leaves: Floats
    loss: Floats
    square: Floats
    rows: float
    n_trees: int = 1

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n_leaves + other.n_leaves,
            self.loss + other.loss,
            self.square + other.square,
            self.rows + other.rows,
            self.n_trees + other.n_trees,
        )

    @property
    def mean(self) -> Floats:
        """Mean loss of each candidate per row."""
        return self.loss / self.rows

    @property
    def error(self) -> Floats:
        """The standard error of the mean."""
        variance: Floats = np.maximum(self.square / self.rows - np.square(self.mean), 0.0)
        return np.sqrt(variance / self.rows)

    def winner(self, simplicity: float = 0.0) -> int:
        """Find the smallest candidate whose loss is at most `simplicity` standard errors above the least.

        Of candidates of equal size, the one of least loss; of equals, the last.
        """
        mean, error = self.mean, self.error
        slack = _TOLERANCE * float(np.abs(mean).max())
        best = self._smallest(mean, mean.min() + slack)
        return self._smallest(mean, mean[best] + simplicity * error[best] + slack)

    def _smallest(self, mean: Floats, bound: float) -> int:
        near = np.flatnonzero(mean <= bound)
        return int(near[np.lexsort((-near, mean[near], self.n_leaves[near]))[0]])


def losses(belief: Floats, score: Score) -> Floats:
    """Return the loss of a row of each class for given predictions, of shape (n, n_classes)."""
    if score == "brier":
        squared: Floats = 1 + row_dots(belief, belief)[:, None] - 2 * belief
        return squared
    if score == "log":
        return -log(np.maximum(belief, _LEAST))
    costs = score if isinstance(score, Costs) else Costs(1.0 - np.eye(belief.shape[1]))
    cost: Floats = costs.matrix.T[costs.cheapest(belief)]
    return cost


def evaluate_pruners(
    recipe: Recipe, candidates: Sequence[Pruner | None], fold_tree: FoldTrees, score: Score = "brier"
) -> CandidateLosses:
    """Prune one fold tree with each candidate, smooth it, and sum the losses of its held-out rows.

    The loss of a fractional row is the sum of the losses of its parts.
    """
    found, grown_from, held_rows = [], fold_tree.samples.taken(), fold_tree.held_out.taken()
    for candidate in candidates:
        tree = replace(recipe, pruner=candidate).finish(fold_tree.tree, grown_from)
        _, held = route_held_out(tree, held_rows)
        each = losses(tree.belief, score)
        found.append((tree.n_leaves, (held * each).sum(), (held * each * each).sum()))
    n_leaves, loss, square = np.array(found, np.float64).T
    return CandidateLosses(n_leaves, loss, square, float(fold_tree.held.sum()))


def evaluate_alphas(
    alphas: Floats, tree: Tree, cut: Floats, held: Floats, loss: Floats, *, square: Floats | None = None
) -> CandidateLosses:
    """Evaluate nested subtrees of a tree, or of several side by side; predictions must not depend on what is pruned.

    `cut` is the smallest alpha at which each node becomes a leaf: `cut_alphas`, or those of `price_links`. `held` is
    the weight of each class, in held-out rows, that stops at each node; `loss` that of a row of each class with the
    prediction of a node (`losses`), and `square` its squares, if they are not those of `loss` (`squared_losses`).

    A node is a leaf from its own alpha on until an ancestor is cut, and predicts for the rows that pass it; below its
    alpha it predicts for the rows that stop there. So each node adds to two ranges of alphas, and one sweep over the
    nodes is enough for any number of candidates.
    """
    skeleton = tree.skeleton
    ascending, place = np.unique(alphas, return_inverse=True)
    size = len(ascending)
    roots = n_roots(skeleton)
    above = push_down(skeleton, cut, np.minimum)[skeleton.parent[roots:]]
    removed = np.append(np.full(roots, np.inf), above)
    end = np.where(removed < np.inf, np.searchsorted(ascending, removed), size)
    begin = np.minimum(np.searchsorted(ascending, cut), end)
    passing = pull_up(skeleton, held)

    def by_alpha(staying: Floats, as_leaf: Floats) -> Floats:
        change = np.bincount(begin, as_leaf - staying, size + 1) - np.bincount(end, as_leaf, size + 1)
        change[0] += staying.sum()
        total: Floats = np.cumsum(change)[place]
        return total

    def loss_by_alpha(each: Floats) -> Floats:
        return by_alpha(row_dots(held, each), row_dots(passing, each))

    n_leaves = by_alpha(skeleton.is_leaf.astype(np.float64), np.ones(tree.n_nodes))
    squares = loss_by_alpha(loss * loss if square is None else square)
    rows = held.sum() if square is None else held[:, 0].sum()
    return CandidateLosses(n_leaves, loss_by_alpha(loss), squares, float(rows))


def squared_losses(mean: Floats) -> tuple[Floats, Floats]:
    """Return (z - mean)**2 and its square as coefficients of the powers of z."""
    one, none, squared = np.ones_like(mean), np.zeros_like(mean), mean * mean
    loss = np.stack([squared, -2 * mean, one, none, none], axis=1)
    square = np.stack([squared * squared, -4 * mean * squared, 6 * squared, -4 * mean, one], axis=1)
    return loss, square
