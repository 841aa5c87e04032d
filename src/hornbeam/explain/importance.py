"""How much each feature matters: what its tests gained, by the rows they were put to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.tree import Tree
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.gains import gains
from hornbeam.typing import Counts, Floats

__all__ = ["importance"]


def importance(tree: Tree, impurity: str | None = None) -> Floats:
    """Say how much each feature matters in a tree.

    Parameters
    ----------
    tree : Tree
    impurity : {"gini", "entropy", "squared_error"} or None, default None
        What the tests lowered, computed from the evidence. None: the gains that the tree was grown with, by
        its own criterion; if not all of them are known, "gini", or "squared_error" where the target is numeric.

    Returns
    -------
    float64 array of shape (n_features,)
        For each feature the gain of its tests, each by the weight of the rows that came to it, divided by the
        sum of all. All 0 for a single leaf, or if no test gained anything.

    Notes
    -----
    Breiman and others, "Classification and Regression Trees" (1984), as in scikit-learn. Gains are counted on
    the rows the tests were chosen by, so a feature of many values looks more important than it is; to ask rows
    that had no say, use `sklearn.inspection.permutation_importance`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0, 1], [1, 0], [1, 1], [1, 1]], ["a", "a", "b", "b"]).tree_
    >>> importance(tree).round(3).tolist()
    [0.333, 0.667]
    """
    skeleton = tree.skeleton
    inner = np.flatnonzero(skeleton.n_children)
    if impurity is None and np.isfinite(tree.gain[inner]).all():
        total = gains(tree)
    else:
        lowered = _decrease(tree, _mixed(tree, impurity))
        total = np.bincount(skeleton.feature[inner], lowered, minlength=tree.schema.n_features)
    return total / (total.sum() or 1.0)


def _impurity(name: str) -> Callable[[Floats], Floats]:
    """The impurity of class frequencies, by its name."""
    match name:
        case "gini":
            return lambda f: 1 - (f**2).sum(axis=1)
        case "entropy":
            return lambda f: -(f * np.log2(f, out=np.zeros_like(f), where=f > 0)).sum(axis=1)
    raise ParameterError(f"impurity={name!r}: expected 'gini', 'entropy' or None.")


def _mixed(tree: Tree, name: str | None) -> Callable[[Counts], Floats]:
    """The impurity of evidence, times its weight."""
    if tree.is_regression:
        if name not in (None, "squared_error"):
            raise ParameterError(
                f"impurity={name!r}, and the target is numeric: expected 'squared_error' or None."
            )
        return lambda evidence: evidence[:, 0] * tree.unit[0] * variances(evidence, tree.unit)
    impurity = _impurity(name or "gini")

    def mixed(evidence: Counts) -> Floats:
        weight = evidence * tree.unit
        total = weight.sum(axis=1)
        found: Floats = total * impurity(weight / np.maximum(total, np.finfo(float).tiny)[:, None])
        return found

    return mixed


def _decrease(tree: Tree, mixed: Callable[[Counts], Floats]) -> Floats:
    """How much each test lowers the impurity of the rows that go on from it, times their weight."""
    inner = np.flatnonzero(tree.skeleton.n_children)
    if not len(inner):
        return np.empty(0)
    first = tree.skeleton.first_child[inner]
    # Children of one node after the other: a family ends where the next one begins.
    before = mixed(np.add.reduceat(tree.evidence, first, axis=0))
    after = np.add.reduceat(mixed(tree.evidence), first)
    return np.maximum(before - after, 0.0)
