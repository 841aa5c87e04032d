"""Hierarchical gradient smoothing (Zhang, Petitjean, Buntine, PAKDD 2020)."""

from dataclasses import dataclass

import numpy as np

from hornbeam.kernels.elementary import exp, log
from hornbeam.kernels.sums import row_sums
from hornbeam.smoothing.descent import minimise
from hornbeam.smoothing.leave_one_out import LeaveOneOut
from hornbeam.smoothing.smoother import check_number, check_rows
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.tree import Step, Tree, raw_belief
from hornbeam.tree.walk import push_down
from hornbeam.typing import Floats

__all__ = ["HGS", "GradientHGS", "LeaveOneOutHGS"]

# Optima often lie at alpha = 0 and sometimes at infinity; neither is a number one can stand on.
_LEAST, _MOST = 1e-4, 1e4
_MOST_STEP, _MOST_STEPS = 1e100, 10_000


@dataclass(frozen=True, slots=True)
class HGS:
    """Every ancestor lends a node `alpha` rows of its frequencies; nobody in particular lends `prior` more.

    Parameters
    ----------
    alpha : float, default 1.0
        Rows lent by each ancestor. The published optimiser starts at 1 and, on data sets of more than a few
        dozen rows, stops there after one step (`GradientHGS`).
    prior : float, default 1.0
        Rows of the uniform distribution lent to every node, so that no probability is ever 0; 0 is the
        published form.

    Notes
    -----
    Equation 4 of "Hierarchical gradient smoothing for probability estimation trees" (PAKDD 2020), with a
    uniform pseudo-ancestor above the root. Inner nodes are smoothed as if they were leaves.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> HGS()(tree).belief[1].round(3).tolist()
    [0.611, 0.389]
    """

    alpha: float = 1.0
    prior: float = 1.0

    def __post_init__(self) -> None:
        check_rows("alpha", self.alpha)
        check_rows("prior", self.prior)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        expect_classes(tree, "HGS")
        alpha = np.full(tree.n_nodes, float(self.alpha))
        return _lend(tree, alpha, self.prior, Step.of("hgs", alpha=self.alpha, prior=self.prior))


@dataclass(frozen=True, slots=True)
class GradientHGS:
    """HGS with an alpha for each ancestor, found by the paper's gradient descent.

    Parameters
    ----------
    step : float, default 0.01
        The learning rate b.
    tolerance : float, default 1e-4
        Stop when a step lowers the cost, in bits a row, by no more than this, or after 10,000 steps.
    prior : float, default 1.0
        Rows of the uniform distribution lent to every node; 0 is the published form.

    Notes
    -----
    The algorithm of the paper: start at alpha = 1 and descend the leave-one-out log loss (equations 5 to 8,
    divided by the number of rows as in the authors' program). The first step lowers the cost by about
    ``step`` times the squared length of the gradient, which on all but tiny data sets is less than the
    tolerance: the descent ends after one step and alpha stays 1. The history of the tree says how many
    steps there were. Unlike the authors' program we keep alpha above 0.0001 and take back a step that
    raised the cost.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6], [7]], [0, 0, 1, 0, 1, 0, 1, 1]
    >>> tree = TreeClassifier(preset="cart", max_depth=1).fit(X, y).tree_
    >>> smoothed = GradientHGS()(tree)
    >>> print(smoothed.history[-1])
    hgs-gradient(prior=1.0, step=0.01, steps=1, tolerance=0.0001)
    """

    step: float = 0.01
    tolerance: float = 1e-4
    prior: float = 1.0

    def __post_init__(self) -> None:
        check_rows("prior", self.prior)
        check_number("step", self.step, 0, _MOST_STEP, above=True)
        check_number("tolerance", self.tolerance, 0, _MOST_STEP, above=True)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        expect_classes(tree, "HGS")
        alpha, steps = self.descend(tree)
        settings = {"step": self.step, "tolerance": self.tolerance, "prior": self.prior}
        return _lend(tree, alpha, self.prior, Step.of("hgs-gradient", steps=steps, **settings))

    def descend(self, tree: Tree) -> tuple[Floats, int]:
        """Find the alpha of every node, and in how many steps."""
        cost_of = LeaveOneOut.of(tree, self.prior)
        alpha, steps = np.ones(tree.n_nodes), 0
        cost, gradient = cost_of(alpha)
        while True:
            next_alpha = np.maximum(alpha - self.step * gradient, _LEAST)
            next_cost, gradient = cost_of(next_alpha)
            steps += 1
            gained = cost - next_cost
            if gained >= 0:
                alpha, cost = next_alpha, next_cost
            if not gained > self.tolerance or steps == _MOST_STEPS:
                return alpha, steps


@dataclass(frozen=True, slots=True)
class LeaveOneOutHGS:
    """HGS with an alpha for each ancestor, at the optimum of the leave-one-out log loss.

    Parameters
    ----------
    prior : float, default 1.0
        Rows of the uniform distribution lent to every node.
    tolerance : float, default 1e-6
        Stop when an iteration lowers the cost by less than this part of it.

    Notes
    -----
    What the paper's descent would reach if it did not stop: L-BFGS-B on log alpha, between log 0.0001 and
    log 10000. **It is optimistic.** The tests were chosen with the left-out row among the others, so leaves
    look purer than they are and the optimum borrows far too little: on noisy data it predicts worse than
    ``HGS()``, nearly as badly as raw frequencies. It is here for those who compare.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6], [7]], [0, 0, 1, 0, 1, 0, 1, 1]
    >>> tree = TreeClassifier(preset="cart", max_depth=1).fit(X, y).tree_
    >>> LeaveOneOutHGS()(tree).belief.round(3).tolist()
    [[0.5, 0.5], [0.833, 0.167], [0.357, 0.643]]
    """

    prior: float = 1.0
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        check_rows("prior", self.prior)
        check_number("tolerance", self.tolerance, 0, 1, above=True)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        expect_classes(tree, "HGS")
        step = Step.of("hgs-loo", prior=self.prior, tolerance=self.tolerance)
        return _lend(tree, self.optimum(tree), self.prior, step)

    def optimum(self, tree: Tree) -> Floats:
        """Find the alpha of every node."""
        cost_of = LeaveOneOut.of(tree, self.prior)
        alpha = np.ones(tree.n_nodes)
        lends = np.flatnonzero(cost_of.lent[:, -1])
        if not len(lends):
            return alpha

        def cost_and_slope(log_alpha: Floats) -> tuple[float, Floats]:
            alpha[lends] = exp(log_alpha)
            cost, gradient = cost_of(alpha)
            return cost, (alpha * gradient)[lends]

        low, high = log([_LEAST, _MOST]).tolist()
        alpha[lends] = exp(
            minimise(cost_and_slope, np.zeros(len(lends)), (low, high), tolerance=self.tolerance)
        )
        return alpha


def _lend(tree: Tree, alpha: Floats, prior: float, step: Step) -> Tree:
    """Add to every node what its ancestors and the prior lend (equation 4)."""
    skeleton, raw = tree.skeleton, raw_belief(tree.skeleton, tree.evidence)
    lent = (alpha[:, None] * raw)[skeleton.parent]
    lent[0] = prior / tree.n_classes
    lent = push_down(skeleton, lent)
    weight = tree.evidence * tree.unit + lent
    total = row_sums(weight)[:, None]
    # Where nobody has or lends a row, raw belief is all there is.
    belief = np.divide(weight, total, out=raw, where=total > 0)
    return with_belief(tree, belief, row_sums(lent), step)
