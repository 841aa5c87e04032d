"""Candidates on trial: what they lost on held-out rows, and which of them wins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from hornbeam.kernels.elementary import log
from hornbeam.kernels.sums import row_dots
from hornbeam.pruning import Pruner, cut_alphas
from hornbeam.recipe import Recipe
from hornbeam.tree.decision.costs import Costs
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up, push_down
from hornbeam.tuning.folds import FoldTree, route_held_out
from hornbeam.typing import Floats

__all__ = [
    "CandidateLosses",
    "Score",
    "evaluate_alphas",
    "evaluate_pruners",
    "losses",
    "powers",
    "squared_losses",
]

type Score = Literal["brier", "log", "error"] | Costs

_LEAST = 1e-15  # what a class held impossible is given when it comes: 34.5 nats
_TOLERANCE = 1e-12  # of the largest loss: what rounding may put between candidates that lose the same


@dataclass(frozen=True, slots=True, eq=False)
class CandidateLosses:
    """What each candidate lost on the same rows.

    Parameters
    ----------
    n_leaves : float64 array of shape (n_candidates,)
        Leaves of all trees it pruned.
    loss, square : float64 array of shape (n_candidates,)
        Sums of the losses of all rows, and of their squares.
    rows : float
        The weight of these rows.
    n_trees : int, default 1
        How many trees each of them pruned.

    Examples
    --------
    Four rows each. The second lost least, 1 on average with a standard error of 0.25; the third, which is
    smaller, is within it and the fourth is not.

    >>> loss, square = np.array([6.0, 4.0, 5.0, 6.0]), np.array([9.25, 5.0, 7.0, 9.5])
    >>> trial = CandidateLosses(np.array([9.0, 5.0, 3.0, 1.0]), loss, square, 4.0)
    >>> trial.winner(), trial.winner(simplicity=1.0)
    (1, 2)
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
        """What each candidate lost on a row, on average."""
        return self.loss / self.rows

    @property
    def error(self) -> Floats:
        """The standard error of the mean."""
        spread: Floats = np.maximum(self.square / self.rows - np.square(self.mean), 0.0)
        return np.sqrt(spread / self.rows)

    def winner(self, simplicity: float = 0.0) -> int:
        """Find the smallest candidate that is `simplicity` standard errors at most above the best.

        Of candidates of one size, the one that lost least; of equals, the last.
        """
        mean, error = self.mean, self.error
        slack = _TOLERANCE * float(np.abs(mean).max())
        best = self._smallest(mean, mean.min() + slack)
        return self._smallest(mean, mean[best] + simplicity * error[best] + slack)

    def _smallest(self, mean: Floats, bound: float) -> int:
        near = np.flatnonzero(mean <= bound)
        return int(near[np.lexsort((-near, mean[near], self.n_leaves[near]))[0]])


def losses(belief: Floats, score: Score) -> Floats:
    """Say what a row of each class loses where it is answered with a belief.

    Parameters
    ----------
    belief : float64 array of shape (n, n_classes)
    score : {"brier", "log", "error"} or Costs

    Returns
    -------
    float64 array of shape (n, n_classes)

    Examples
    --------
    >>> belief = np.array([[0.75, 0.25]])
    >>> losses(belief, "brier").tolist(), losses(belief, "error").tolist()
    ([[0.125, 1.125]], [[0.0, 1.0]])
    >>> losses(belief, Costs([[0, 1], [5, 0]])).tolist()
    [[1.0, 0.0]]
    """
    if score == "brier":
        squared: Floats = 1 + row_dots(belief, belief)[:, None] - 2 * belief
        return squared
    if score == "log":
        return -log(np.maximum(belief, _LEAST))
    costs = score if isinstance(score, Costs) else Costs(1.0 - np.eye(belief.shape[1]))
    paid: Floats = costs.matrix.T[costs.cheapest(belief)]
    return paid


def evaluate_pruners(
    recipe: Recipe, candidates: Sequence[Pruner | None], regrown: FoldTree, score: Score = "brier"
) -> CandidateLosses:
    """Prune a regrown tree with each candidate, smooth it, and ask the rows it was grown without.

    A row that is shared out to several children loses what its shares lose.

    Parameters
    ----------
    recipe : Recipe
        Smooths the pruned trees.
    candidates : sequence of Pruner or None
    regrown : FoldTree
    score : {"brier", "log", "error"} or Costs, default "brier"

    Returns
    -------
    CandidateLosses
    """
    found = []
    for candidate in candidates:
        tree = replace(recipe, pruner=candidate).finish(regrown.tree)
        _, held = route_held_out(tree, regrown.table)
        lost = losses(tree.belief, score)
        found.append((tree.n_leaves, (held * lost).sum(), (held * lost * lost).sum()))
    n_leaves, loss, square = np.array(found, np.float64).T
    return CandidateLosses(n_leaves, loss, square, float(regrown.held.sum()))


def evaluate_alphas(
    alphas: Floats,
    tree: Tree,
    held: Floats,
    lost: Floats,
    impurity: str = "gini",
    *,
    square: Floats | None = None,
) -> CandidateLosses:
    """Try `CostComplexity` with many alphas at once; what nodes believe must not depend on what is cut.

    Parameters
    ----------
    alphas : float64 array of shape (n_candidates,)
    tree : Tree
        Not pruned.
    held : float64 array of shape (n_nodes, n_classes)
        The weight of each class, in rows the tree was grown without, that stops at each node.
    lost : float64 array of shape (n_nodes, n_classes)
        What a row of each class loses if a node answers it: `losses`.
    impurity : {"gini", "entropy", "error"}, default "gini"
    square : float64 array of the shape of `lost`, optional
        The squares of the losses, if they are not those of `lost` (`squared_losses`).

    Returns
    -------
    CandidateLosses

    Notes
    -----
    A node is a leaf from its own alpha on until an ancestor is cut (`cut_alphas`), and answers the rows that
    pass it; before that it answers those that stop there. So each node adds to two runs of alphas, and one
    sweep over the nodes serves any number of candidates.
    """
    skeleton = tree.skeleton
    ascending, place = np.unique(alphas, return_inverse=True)
    size = len(ascending)
    cut = cut_alphas(tree, impurity)
    gone = np.append(np.inf, push_down(skeleton, cut, np.minimum)[skeleton.parent[1:]])
    end = np.where(gone < np.inf, np.searchsorted(ascending, gone), size)
    begin = np.minimum(np.searchsorted(ascending, cut), end)
    passing = pull_up(skeleton, held)

    def by_alpha(staying: Floats, as_leaf: Floats) -> Floats:
        change = np.bincount(begin, as_leaf - staying, size + 1) - np.bincount(end, as_leaf, size + 1)
        change[0] += staying.sum()
        total: Floats = np.cumsum(change)[place]
        return total

    def lost_by_alpha(each: Floats) -> Floats:
        return by_alpha(row_dots(held, each), row_dots(passing, each))

    n_leaves = by_alpha(skeleton.is_leaf.astype(np.float64), np.ones(tree.n_nodes))
    squares = lost_by_alpha(lost * lost if square is None else square)
    rows = held.sum() if square is None else held[:, 0].sum()
    return CandidateLosses(n_leaves, lost_by_alpha(lost), squares, float(rows))


def powers(one: FoldTree, standard: StandardisedTarget) -> Floats:
    """Add up the powers, 0 to 4, of a numeric target at the node where each held-out row stops.

    Parameters
    ----------
    one : FoldTree
    standard : StandardisedTarget
        Where numbers are seen from, so that no power is large.

    Returns
    -------
    float64 array of shape (n_nodes, 5)
    """
    assert one.table.numeric_target is not None
    assert one.node is not None
    z = standard.seen(one.table.numeric_target.values)
    terms = [one.weight]
    for _ in range(4):
        terms.append(terms[-1] * z)
    return np.stack([np.bincount(one.node, term, one.tree.n_nodes) for term in terms], axis=1)


def squared_losses(mean: Floats) -> tuple[Floats, Floats]:
    """Write (z - mean)**2 and its square as factors of the powers of z.

    Examples
    --------
    >>> loss, square = squared_losses(np.array([2.0]))
    >>> z = 3.0 ** np.arange(5)
    >>> float(loss[0] @ z), float(square[0] @ z)
    (1.0, 1.0)
    """
    one, none, squared = np.ones_like(mean), np.zeros_like(mean), mean * mean
    loss = np.stack([squared, -2 * mean, one, none, none], axis=1)
    square = np.stack([squared * squared, -4 * mean * squared, 6 * squared, -4 * mean, one], axis=1)
    return loss, square
