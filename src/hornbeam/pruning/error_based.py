"""Error-based pruning, and the collapse of useless subtrees (Quinlan, C4.5, 1993, chapter 4)."""

from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, ClassVar, Self

import numpy as np

from hornbeam.checks import check_choice, check_flags, check_share
from hornbeam.data.rows import read_rows, unpack_rows
from hornbeam.data.table import Table
from hornbeam.kernels.elementary import row_sums
from hornbeam.pruning.bottom_up import bottom_up, stopping_at_inner
from hornbeam.pruning.pruner import NamedPruner
from hornbeam.pruning.raising import raise_branches
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.statistics import pessimistic_errors
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Floats

_SLACK = 0.1  # errors that a simpler tree may have more, in both programs
_TOLERANCE = 1e-6  # for rounding, in both programs
_USELESS = 1e-3  # errors that a subtree must save at least, in both programs


@dataclass(frozen=True, slots=True)
class Collapse(NamedPruner):
    """Replace a subtree by a leaf where it makes no fewer training errors.

    C4.5 and J48 always do this after growing, even with pruning switched off; C4.4 does not.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import TreeClassifier
    >>> X, y = np.array([[0], [1], [2], [3], [4], [5]]), [0, 0, 1, 0, 0, 0]
    >>> tree = TreeClassifier(preset="id3", max_depth=1).fit(X, y).tree_
    >>> tree.n_leaves, Collapse()(tree).n_leaves
    (2, 1)
    """

    name: ClassVar[str] = "collapse"

    def __call__(self, tree: Tree) -> Tree:
        """Return the collapsed tree."""
        tree = single_tree(tree)
        expect_classes(tree, "Collapsing")
        weight = tree.evidence * tree.unit
        errors = weight.sum(axis=1) - weight.max(axis=1)
        below = pull_up(tree.skeleton, np.where(tree.skeleton.is_leaf, errors, 0.0))
        useless = ~tree.skeleton.is_leaf & (below >= errors - _USELESS)
        return collapse(tree, useless, Step.of(self.name))


@dataclass(frozen=True, slots=True)
class ErrorBased(NamedPruner):
    """Replace a subtree by a leaf, or by its largest branch, where the expected number of errors is no higher.

    The expected error rate of a leaf is the upper confidence limit of its error rate on the training rows. The tree is
    collapsed first (`Collapse`).

    Parameters
    ----------
    confidence : float, default 0.25
        The smaller, the more is pruned; above 0.5 the error rates on the training rows are used.
    raising : bool, default True
        Also try to replace a node by its largest branch: subtree raising.
    constants : {"j48", "c4.5"}, default "j48"
        ``j48``: the exact normal deviate, and all rows wrong where nearly all are; ``c4.5``: the deviate from
        the program's small table, and two thirds of the rest wrong.
    rows : tuple of X and y, or of X, y and weights, optional
        The rows the tree was grown from, in any form that `fit` takes, for a call on an existing tree; a fit in memory
        passes them itself. A raised branch gets the rows of its siblings too, so nothing is raised without them.

    Notes
    -----
    This is the pruner of the preset ``c4.5``, whose tree is J48's default tree, raised branches included. As in J48, a
    category that is new to a raised split gets a leaf of its own if rows of the parent have it.

    A tree whose rows are not in memory is pruned without raising (`hornbeam.out_of_core`).

    References
    ----------
    Quinlan (1993), chapter 4 :cite:p:`quinlan1993`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = TreeClassifier("c4.5", pruning=None).fit(X, y).tree_
    >>> tree.n_leaves, ErrorBased()(tree).n_leaves, ErrorBased(rows=(X, y))(tree).n_leaves
    (17, 13, 13)
    >>> TreeClassifier("c4.5", pruning=ErrorBased(0.01)).fit(X, y).tree_.n_leaves
    7
    """

    name: ClassVar[str] = "error-based"

    confidence: float = 0.25
    raising: bool = True
    constants: str = "j48"
    rows: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_share("confidence", self.confidence)
        check_flags(raising=self.raising)
        check_choice("constants", self.constants, ("j48", "c4.5"))

    @property
    def uses_rows(self) -> bool:
        """Whether it needs the training rows, to raise branches, and does not have them yet."""
        return self.raising and self.rows is None

    def with_rows(self, table: Table) -> Self:
        """Return the pruner for a tree grown from these rows."""
        return replace(self, rows=table)

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        tree = single_tree(tree)
        expect_classes(tree, "Error-based pruning")
        tree = Collapse()(tree)
        estimate = partial(expected_errors, confidence=self.confidence, constants=self.constants)
        raising = self.raising and self.rows is not None
        step = Step.of(self.name, confidence=self.confidence, constants=self.constants, raising=raising)
        if raising:
            schema = tree.schema
            table = read_rows(*unpack_rows(self.rows, "rows"), schema=schema, target_kind=schema.target_kind)
            one = partial(errors_of_one_leaf, confidence=self.confidence, constants=self.constants)
            return raise_branches(tree, table, estimate, one, _SLACK + _TOLERANCE, step)
        weight = tree.evidence * tree.unit
        staying = estimate(stopping_at_inner(tree.skeleton, weight))
        cut = bottom_up(tree.skeleton, estimate(weight), staying, slack=_SLACK + _TOLERANCE)
        return collapse(tree, cut, step)


def expected_errors(weight: Floats, confidence: float = 0.25, constants: str = "j48") -> Floats:
    """Estimate the errors of each leaf on as many new rows as it has; a leaf without rows makes none."""
    n = row_sums(weight)
    return pessimistic_errors(n, n - weight.max(axis=1), confidence, constants)


@lru_cache(maxsize=1 << 16)
def errors_of_one_leaf(n: float, e: float, confidence: float = 0.25, constants: str = "j48") -> float:
    """Estimate the errors of one leaf, kept for the next leaf of the same size."""
    return float(pessimistic_errors(np.array([n]), np.array([e]), confidence, constants)[0])
