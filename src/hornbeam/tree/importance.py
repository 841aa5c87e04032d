"""Feature importance: the share of the gain due to the splits of each feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.typing import Counts, Floats


def importance(trees: Tree | HasTree | Sequence[Tree | HasTree], impurity: str | None = None) -> Floats:
    """Compute the importance of each feature in a tree, or its mean over several trees.

    Parameters
    ----------
    trees : Tree, fitted estimator of one tree, or list or tuple of these
        One tree, or trees of one schema. Trees without a split do not count in the mean.
    impurity : {"gini", "entropy", "squared_error"} or None, default None
        The impurity that the splits decrease, computed from the evidence. None: the gains stored when the tree was
        grown, by its own criterion; if some are unknown, "gini", or "squared_error" for a numeric target.

    Returns
    -------
    float64 array of shape (n_features,)
        Per feature, the gain of its splits, each times the weight of the rows at the node, divided by the sum over
        all features. All 0 if no split has a gain.

    Notes
    -----
    Breiman and others, "Classification and Regression Trees" (1984), as in scikit-learn. Gains are computed on the
    training rows, so a feature with many values looks more important than it is;
    `sklearn.inspection.permutation_importance` works on other rows.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0, 1], [1, 0], [1, 1], [1, 1]], ["a", "a", "b", "b"]).tree_
    >>> importance(tree).round(3).tolist(), importance([tree, tree]).round(3).tolist()
    ([0.333, 0.667], [0.333, 0.667])
    """
    if not isinstance(trees, (list, tuple)):
        total = _gains(single_tree(trees), impurity)
        return total / (total.sum() or 1.0)
    if not trees:
        raise ParameterError("there are no trees; expected a Tree, or a sequence of one or more.")
    shares = np.array([importance(tree, impurity) for tree in trees])
    mean: Floats = shares[shares.any(axis=1)].sum(axis=0)
    return mean / (mean.sum() or 1.0)


def _gains(tree: Tree, impurity: str | None) -> Floats:
    """Sum the gains of the splits of each feature, each times the weight of the rows at the node."""
    inner = np.flatnonzero(tree.skeleton.n_children)
    if impurity is None and np.isfinite(tree.gain[inner]).all():
        gained = tree.gain[inner] * tree.weight[inner]
    else:
        gained = _decrease(tree, _total_impurity(tree, impurity))
    return np.bincount(tree.skeleton.feature[inner], gained, minlength=tree.schema.n_features)


def _class_impurity(name: str) -> Callable[[Floats], Floats]:
    """Look up the impurity of class frequencies by its name."""
    match name:
        case "gini":
            return lambda f: 1 - (f**2).sum(axis=1)
        case "entropy":
            return lambda f: -(f * np.log2(f, out=np.zeros_like(f), where=f > 0)).sum(axis=1)
    raise ParameterError(f"impurity={name!r}: expected 'gini', 'entropy' or None.")


def _total_impurity(tree: Tree, name: str | None) -> Callable[[Counts], Floats]:
    """Return the function from evidence to its impurity times its weight."""
    if tree.is_regression:
        if name not in (None, "squared_error"):
            raise ParameterError(
                f"impurity={name!r}, and the target is numeric: expected 'squared_error' or None."
            )
        return lambda evidence: evidence[:, 0] * tree.unit[0] * variances(evidence, tree.unit)
    impurity = _class_impurity(name or "gini")

    def total_impurity(evidence: Counts) -> Floats:
        weight = evidence * tree.unit
        total = weight.sum(axis=1)
        found: Floats = total * impurity(weight / np.maximum(total, np.finfo(float).tiny)[:, None])
        return found

    return total_impurity


def _decrease(tree: Tree, total_impurity: Callable[[Counts], Floats]) -> Floats:
    """Compute by how much each split decreases the total impurity of the rows in its children."""
    inner = np.flatnonzero(tree.skeleton.n_children)
    if not len(inner):
        return np.empty(0)
    # The children of one node are followed by those of the next, so each block ends where the next begins.
    first = tree.skeleton.first_child[inner]
    before = total_impurity(np.add.reduceat(tree.evidence, first, axis=0))
    after = np.add.reduceat(total_impurity(tree.evidence), first)
    return np.maximum(before - after, 0.0)
