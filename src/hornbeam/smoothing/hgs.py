"""Hierarchical gradient smoothing (Zhang, Petitjean, Buntine, PAKDD 2020)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hornbeam.checks import check_number
from hornbeam.kernels.elementary import exp, log, minimise, row_sums
from hornbeam.smoothing.leave_one_out import LeaveOneOut, Loss, check_loss
from hornbeam.smoothing.smoother import NamedSmoother, check_rows
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.tree import Step, Tree, raw_belief
from hornbeam.tree.unwrap import single_tree
from hornbeam.tree.walk import push_down
from hornbeam.typing import Floats

# Optima often lie at alpha = 0 and sometimes at infinity, where log alpha is not finite.
_LEAST, _MOST = 1e-4, 1e4
_MOST_STEP, _MOST_STEPS = 1e100, 10_000


class _FromAllAncestors(NamedSmoother):
    """Pseudo-counts of the HGS family: each ancestor gives the same number to every node below it."""

    __slots__ = ()

    def pseudo_counts(self, tree: Tree, path: Sequence[int]) -> Floats:
        """Each step down the path adds the pseudo-counts from the parent."""
        return np.diff(tree.borrowed[list(path)], prepend=0.0)


@dataclass(frozen=True, slots=True)
class HGS(_FromAllAncestors):
    """Add `alpha` rows with the frequencies of each ancestor, and `prior` rows of the uniform distribution.

    Parameters
    ----------
    alpha : float, default 1.0
        Rows borrowed from each ancestor. The published optimiser starts at 1 and mostly stops there after one step
        (`GradientHGS`).
    prior : float, default 1.0
        Rows of the uniform distribution added to every node, so that no probability is 0; 0 is the published form.

    Notes
    -----
    Equation 4 of "Hierarchical gradient smoothing for probability estimation trees" (PAKDD 2020), with a
    uniform prior above the root. Inner nodes are smoothed as if they were leaves.

    References
    ----------
    Zhang, Petitjean and Buntine (2020) :cite:p:`zhang2020`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> HGS()(tree).belief[1].round(3).tolist()
    [0.611, 0.389]
    """

    name: ClassVar[str] = "hgs"
    needs_only_ancestors: ClassVar[bool] = True

    alpha: float = 1.0
    prior: float = 1.0

    def __post_init__(self) -> None:
        check_rows("alpha", self.alpha)
        check_rows("prior", self.prior)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        tree = single_tree(tree)
        expect_classes(tree, "HGS")
        alpha = np.full(tree.n_nodes, float(self.alpha))
        return _borrow(tree, alpha, self.prior, Step.of(self.name, alpha=self.alpha, prior=self.prior))


@dataclass(frozen=True, slots=True)
class GradientHGS(_FromAllAncestors):
    """HGS with an alpha per ancestor, found by the paper's gradient descent.

    Parameters
    ----------
    step : float, default 0.01
        The learning rate b.
    tol : float, default 1e-4
        Stop when a step lowers the loss per row by no more than this, or after 10,000 steps.
    prior : float, default 1.0
        Rows of the uniform distribution added to every node; 0 is the published form, ``smoothing="hgs-published"``.
    loss : {"log", "squared"}, default "log"
        The leave-one-out loss of a row whose class has the probability p: -log2 p, or (1 - p)^2 / 2. The history has
        it if it is not "log".

    Notes
    -----
    The algorithm of the paper: start at alpha = 1 and descend the leave-one-out log loss (equations 5 to 8,
    divided by the number of rows as in the authors' program). The first step lowers the cost by about
    ``step`` times the squared length of the gradient. If that is less than `tol`, the descent ends after one
    step and alpha stays 1. On 144 UCI sets (C4.4 trees, ten folds) it ended after one step in every fold of 140 sets,
    and of 136 sets with ``prior=0``; on the others, which have 8 to 34 rows for each class, it took hundreds or
    thousands of steps in some folds. With the squared loss it ended after one step on all of them. The history of the
    tree has the number of steps. A step takes time proportional to nodes times classes. Unlike in the authors'
    program alpha stays above 0.0001, and a step that raised the cost is undone.

    References
    ----------
    Zhang, Petitjean and Buntine (2020) :cite:p:`zhang2020`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6], [7]], [0, 0, 1, 0, 1, 0, 1, 1]
    >>> tree = TreeClassifier(preset="cart", max_depth=1).fit(X, y).tree_
    >>> smoothed = GradientHGS()(tree)
    >>> print(smoothed.history[-1])
    gradient-hgs(prior=1.0, step=0.01, steps=1, tol=0.0001)
    """

    name: ClassVar[str] = "gradient-hgs"

    step: float = 0.01
    tol: float = 1e-4
    prior: float = 1.0
    loss: Loss = "log"

    def __post_init__(self) -> None:
        check_rows("prior", self.prior)
        check_loss(self.loss)
        check_number("step", self.step, 0, _MOST_STEP, above=True)
        check_number("tol", self.tol, 0, _MOST_STEP, above=True)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        tree = single_tree(tree)
        expect_classes(tree, "HGS")
        alpha, steps = self.descend(tree)
        settings: dict[str, Any] = {"step": self.step, "tol": self.tol, "prior": self.prior}
        if self.loss != "log":
            settings["loss"] = self.loss
        return _borrow(tree, alpha, self.prior, Step.of(self.name, steps=steps, **settings))

    def cost(self, tree: Tree, alpha: Floats) -> tuple[float, Floats]:
        """Compute the mean leave-one-out loss of the rows, in bits, and its gradient by the alpha of each node."""
        return LeaveOneOut.of(tree, self.prior, self.loss)(alpha)

    def descend(self, tree: Tree) -> tuple[Floats, int]:
        """Find the alpha of every node; also return the number of steps."""
        cost_of = LeaveOneOut.of(tree, self.prior, self.loss)
        alpha, steps = np.ones(tree.n_nodes), 0
        cost, gradient = cost_of(alpha)
        while True:
            next_alpha = np.maximum(alpha - self.step * gradient, _LEAST)
            next_cost, gradient = cost_of(next_alpha)
            steps += 1
            gained = cost - next_cost
            if gained >= 0:
                alpha, cost = next_alpha, next_cost
            if not gained > self.tol or steps == _MOST_STEPS:
                return alpha, steps


@dataclass(frozen=True, slots=True)
class LeaveOneOutHGS(_FromAllAncestors):
    """HGS with an alpha per ancestor, at the optimum of the leave-one-out log loss.

    Parameters
    ----------
    prior : float, default 1.0
        Rows of the uniform distribution added to every node.
    tol : float, default 1e-6
        Stop when an iteration lowers the cost by less than this part of it.

    Notes
    -----
    The limit of the paper's descent without its early stop: L-BFGS-B on log alpha, between log 0.0001 and
    log 10000. **It is optimistic.** The splits were chosen with the left-out row among the others, so leaves
    look purer than they are and the optimum borrows far too little: on noisy data it predicts worse than
    ``HGS()``, nearly as badly as raw frequencies. It exists for comparisons.

    References
    ----------
    Zhang, Petitjean and Buntine (2020) :cite:p:`zhang2020`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6], [7]], [0, 0, 1, 0, 1, 0, 1, 1]
    >>> tree = TreeClassifier(preset="cart", max_depth=1).fit(X, y).tree_
    >>> LeaveOneOutHGS()(tree).belief.round(3).tolist()
    [[0.5, 0.5], [0.833, 0.167], [0.357, 0.643]]
    """

    name: ClassVar[str] = "leave-one-out-hgs"

    prior: float = 1.0
    tol: float = 1e-6

    def __post_init__(self) -> None:
        check_rows("prior", self.prior)
        check_number("tol", self.tol, 0, 1, above=True)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        tree = single_tree(tree)
        expect_classes(tree, "HGS")
        step = Step.of(self.name, prior=self.prior, tol=self.tol)
        return _borrow(tree, self.optimum(tree), self.prior, step)

    def optimum(self, tree: Tree) -> Floats:
        """Find the alpha of every node."""
        cost_of = LeaveOneOut.of(tree, self.prior)
        alpha = np.ones(tree.n_nodes)
        contributing = np.flatnonzero(cost_of.contribution[:, -1])
        if not len(contributing):
            return alpha

        def cost_and_gradient(log_alpha: Floats) -> tuple[float, Floats]:
            alpha[contributing] = exp(log_alpha)
            cost, gradient = cost_of(alpha)
            return cost, (alpha * gradient)[contributing]

        low, high = log([_LEAST, _MOST]).tolist()
        alpha[contributing] = exp(
            minimise(cost_and_gradient, np.zeros(len(contributing)), (low, high), tolerance=self.tol)
        )
        return alpha


def _borrow(tree: Tree, alpha: Floats, prior: float, step: Step) -> Tree:
    """Add the pseudo-counts of its ancestors and of the prior to every node (equation 4)."""
    skeleton, raw = tree.skeleton, raw_belief(tree.skeleton, tree.evidence)
    from_parent = (alpha[:, None] * raw)[skeleton.parent]
    from_parent[0] = prior / tree.n_classes
    borrowed = push_down(skeleton, from_parent)
    weight = tree.evidence * tree.unit + borrowed
    total = row_sums(weight)[:, None]
    # A node without rows and pseudo-counts keeps its raw prediction.
    belief = np.divide(weight, total, out=raw, where=total > 0)
    return with_belief(tree, belief, row_sums(borrowed), step)
