"""Trees small enough to work out by hand."""

import numpy as np

from hornbeam import Feature, Schema, Skeleton, Tree

__all__ = ["A1", "A2", "ROOT", "T0", "TWO_LEAVES", "A", "B", "tree_of"]


def tree_of(n_children, evidence, **given):
    """A tree of numeric tests from its numbers of children (0 or 2) and its evidence, in level order."""
    inner, evidence = np.array(n_children) > 0, np.array(evidence)
    skeleton = Skeleton.of(n_children, np.where(inner, 0, -1), np.where(inner, 0.5, np.nan))
    return Tree.raw(Schema((Feature("x"),), tuple(range(evidence.shape[1]))), skeleton, evidence, **given)


ROOT, A, B, A1, A2 = range(5)
T0 = tree_of([2, 2, 0, 0, 0], [[7, 3], [6, 1], [1, 2], [4, 0], [2, 1]])
TWO_LEAVES = tree_of([2, 0, 0], [[4, 2], [3, 0], [1, 2]])
