"""Pruning to a maximum number of leaves."""

from dataclasses import dataclass

from hornbeam.errors import ParameterError
from hornbeam.tree.edit import keep_best_leaves
from hornbeam.tree.tree import Tree

__all__ = ["LeafBudget"]


@dataclass(frozen=True, slots=True)
class LeafBudget:
    """Keep the splits that a best-first grower would have made with this many leaves.

    Parameters
    ----------
    n : int
        Maximum number of leaves.

    Notes
    -----
    A split depends on its own rows alone, so best-first growth makes the splits of the full tree, from the root on in
    the order of gain times weight (Friedman, Hastie and Tibshirani, Annals of Statistics 28, 2000). Splits
    of unknown gain come last.

    References
    ----------
    Friedman, Hastie and Tibshirani (2000) :cite:p:`friedman2000`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TreeClassifier("cart").fit(X, y).tree_
    >>> small = LeafBudget(3)(tree)
    >>> tree.n_leaves, small.n_leaves
    (9, 3)
    >>> small.digest == TreeClassifier("cart", max_leaf_nodes=3).fit(X, y).tree_.digest
    True
    """

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ParameterError(f"n={self.n}: expected at least 1 leaf.")

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        return keep_best_leaves(tree, self.n)
