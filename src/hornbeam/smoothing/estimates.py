"""Estimates from the counts of one node: raw frequencies, Laplace's estimate and the m-estimate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hornbeam.checks import is_number
from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, shown
from hornbeam.smoothing.smoother import NamedSmoother, all_from_one, check_rows
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.tree import Step, Tree, raw_belief, unsmoothed
from hornbeam.tree.unwrap import single_tree
from hornbeam.typing import Floats


@dataclass(frozen=True, slots=True)
class Raw(NamedSmoother):
    """Predict the frequencies: n_k / n; in a regression tree, the means.

    A node without rows has the prediction of its parent; a root without rows, the uniform distribution.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart", smoothing="laplace").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> Raw()(tree).belief.round(4).tolist()
    [[0.3333, 0.6667], [1.0, 0.0], [0.0, 1.0]]
    """

    name: ClassVar[str] = "raw"
    for_regression: ClassVar[bool] = True
    needs_only_ancestors: ClassVar[bool] = True

    def __call__(self, tree: Tree) -> Tree:
        """Return the tree with its raw frequencies, whatever smoothed it before."""
        tree = single_tree(tree)
        return with_belief(tree, unsmoothed(tree), np.zeros(tree.n_nodes), Step.of(self.name))


@dataclass(frozen=True, slots=True)
class Laplace(NamedSmoother):
    """Add one row of each class to every node: (n_k + 1) / (n + K).

    Notes
    -----
    The m-estimate with m = K and the uniform base rate. Provost and Domingos ("Tree induction for
    probability-based ranking", Machine Learning 52, 2003) made it the smoothing of C4.4.

    References
    ----------
    Provost and Domingos (2003) :cite:p:`provost2003`, for trees.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> Laplace()(tree).belief.round(4).tolist()
    [[0.4, 0.6], [0.6667, 0.3333], [0.25, 0.75]]
    """

    name: ClassVar[str] = "laplace"
    needs_only_ancestors: ClassVar[bool] = True

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        tree = single_tree(tree)
        expect_classes(tree, "Laplace's estimate")
        weight = tree.evidence * tree.unit + 1.0
        belief = weight / weight.sum(axis=1, keepdims=True)
        borrowed = np.full(tree.n_nodes, float(tree.n_classes))
        return with_belief(tree, belief, borrowed, Step.of(self.name))

    def pseudo_counts(self, tree: Tree, path: Sequence[int]) -> Floats:
        """All pseudo-counts are from the prior."""
        return all_from_one(tree, path, 0)


@dataclass(frozen=True, slots=True)
class MEstimate(NamedSmoother):
    """Add `m` rows of a base rate b to every node: (n_k + m b_k) / (n + m).

    Parameters
    ----------
    m : float, default 1.0
        Rows to add; 0 leaves the raw frequencies.
    base : {"uniform", "root"} or sequence of float, default "uniform"
        The base rate: the same probability for every class, the frequencies of the whole training set, or a
        probability per class in the order of the schema.

    Notes
    -----
    Cestnik ("Estimating probabilities: a crucial task in machine learning", ECAI 1990). With rare classes
    use the root's frequencies: the uniform base rate moves every leaf towards 1/K.

    References
    ----------
    Cestnik (1990) :cite:p:`cestnik1990`.

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

    name: ClassVar[str] = "m-estimate"
    needs_only_ancestors: ClassVar[bool] = True

    m: float = 1.0
    base: Literal["uniform", "root"] | Sequence[float] = "uniform"

    def __post_init__(self) -> None:
        check_rows("m", self.m)
        if isinstance(self.base, str) and self.base in ("uniform", "root"):
            return
        numbers = (
            () if isinstance(self.base, str) or not isinstance(self.base, Iterable) else tuple(self.base)
        )
        if not numbers or not all(map(is_number, numbers)):
            raise ParameterError(
                f"base={shown(self.base)}: expected 'uniform', 'root' or a probability per class."
            )
        base = tuple(map(float, numbers))
        if not (min(base, default=-1.0) >= 0 and abs(sum(base) - 1) <= 1e-9):
            raise ParameterError(f"base={base}: expected probabilities that add up to 1.")
        object.__setattr__(self, "base", base)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        tree = single_tree(tree)
        expect_classes(tree, "The m-estimate")
        raw = raw_belief(tree.skeleton, tree.evidence)
        if self.m == 0:  # a node without rows would be 0 / 0
            belief = raw
        else:
            self.check_schema(tree.schema)
            weight = tree.evidence * tree.unit + self.m * self._base_rate(raw[0])
            belief = weight / weight.sum(axis=1, keepdims=True)
        step = Step.of(self.name, m=self.m, base=self.base)
        return with_belief(tree, belief, np.full(tree.n_nodes, float(self.m)), step)

    def pseudo_counts(self, tree: Tree, path: Sequence[int]) -> Floats:
        """All pseudo-counts are from the prior, or from the root."""
        return all_from_one(tree, path, int(self.base == "root" and len(path) > 1))

    def check_schema(self, schema: Schema) -> None:
        """Raise `ParameterError` if the base rate has another number of classes."""
        if not isinstance(self.base, str) and len(self.base) != schema.n_classes:
            raise ParameterError(
                f"base has {len(self.base)} probabilities: expected {schema.n_classes}, one per class."
            )

    @property
    def prior_name(self) -> str:
        """Name of the base rate, for explanations."""
        return "the uniform prior" if isinstance(self.base, str) else "the given base rate"

    def _base_rate(self, root: Floats) -> Floats:
        if isinstance(self.base, str):
            return root if self.base == "root" else np.full(len(root), 1 / len(root))
        return np.array(self.base)
