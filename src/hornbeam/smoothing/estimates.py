"""Estimates that look at one node alone: raw frequencies, Laplace's and the m-estimate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.smoothing.smoother import check_rows
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.tree import Step, Tree, raw_belief, unsmoothed
from hornbeam.typing import Floats

__all__ = ["Laplace", "MEstimate", "Raw"]


@dataclass(frozen=True, slots=True)
class Raw:
    """Believe the frequencies alone: n_k / n.

    A node without rows believes what its parent does; a root without, that all classes are alike. Of a numeric
    target, the means.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart", smoothing="laplace").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> Raw()(tree).belief.round(4).tolist()
    [[0.3333, 0.6667], [1.0, 0.0], [0.0, 1.0]]
    """

    def __call__(self, tree: Tree) -> Tree:
        """Return the tree with its raw frequencies; they may come from a smoothed one."""
        return with_belief(tree, unsmoothed(tree), np.zeros(tree.n_nodes), Step.of("raw"))


@dataclass(frozen=True, slots=True)
class Laplace:
    """Add one row of each class to every node: (n_k + 1) / (n + K).

    Notes
    -----
    The m-estimate with m = K and the uniform base rate. Provost and Domingos ("Tree induction for
    probability-based ranking", Machine Learning 52, 2003) made it the smoothing of C4.4.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> Laplace()(tree).belief.round(4).tolist()
    [[0.4, 0.6], [0.6667, 0.3333], [0.25, 0.75]]
    """

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        expect_classes(tree, "Laplace's estimate")
        weight = tree.evidence * tree.unit + 1.0
        belief = weight / weight.sum(axis=1, keepdims=True)
        borrowed = np.full(tree.n_nodes, float(tree.n_classes))
        return with_belief(tree, belief, borrowed, Step.of("laplace"))


@dataclass(frozen=True, slots=True)
class MEstimate:
    """Add `m` rows of a base rate b to every node: (n_k + m b_k) / (n + m).

    Parameters
    ----------
    m : float, default 1.0
        Rows to add; 0 leaves the raw frequencies.
    base : {"uniform", "root"} or sequence of float, default "uniform"
        The base rate: every class alike, the frequencies of the whole training set, or one probability for
        each class in the order of the schema.

    Notes
    -----
    Cestnik ("Estimating probabilities: a crucial task in machine learning", ECAI 1990). With rare classes
    take the root's frequencies: the uniform base rate pulls every leaf towards 1/K.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> MEstimate()(tree).belief.round(4).tolist()
    [[0.375, 0.625], [0.75, 0.25], [0.1667, 0.8333]]
    >>> MEstimate(m=2.0, base="root")(tree).belief[1].round(4).tolist()
    [0.5556, 0.4444]
    >>> MEstimate(m=2.0, base=[0.1, 0.9])(tree).belief[1].round(4).tolist()
    [0.4, 0.6]
    """

    m: float = 1.0
    base: Literal["uniform", "root"] | Sequence[float] = "uniform"

    def __post_init__(self) -> None:
        check_rows("m", self.m)
        if isinstance(self.base, str):
            if self.base not in ("uniform", "root"):
                raise ParameterError(
                    f"base={self.base!r}: expected 'uniform', 'root' or a probability a class."
                )
            return
        base = tuple(map(float, self.base))
        if not (min(base, default=-1.0) >= 0 and abs(sum(base) - 1) <= 1e-9):
            raise ParameterError(f"base={base}: expected probabilities that add up to 1.")
        object.__setattr__(self, "base", base)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        expect_classes(tree, "The m-estimate")
        raw = raw_belief(tree.skeleton, tree.evidence)
        if self.m == 0:  # a node without rows would be 0 / 0
            belief = raw
        else:
            weight = tree.evidence * tree.unit + self.m * self._base_rate(raw[0])
            belief = weight / weight.sum(axis=1, keepdims=True)
        step = Step.of("m-estimate", m=self.m, base=self.base)
        return with_belief(tree, belief, np.full(tree.n_nodes, float(self.m)), step)

    def check_fits(self, n_classes: int) -> None:
        """Raise `ParameterError` if there is a base rate for each class, but not for so many."""
        if not isinstance(self.base, str) and len(self.base) != n_classes:
            raise ParameterError(
                f"base has {len(self.base)} probabilities: expected {n_classes}, one a class."
            )

    def _base_rate(self, root: Floats) -> Floats:
        if isinstance(self.base, str):
            return root if self.base == "root" else np.full(len(root), 1 / len(root))
        self.check_fits(len(root))
        return np.array(self.base)
