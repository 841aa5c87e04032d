"""Small trees with numbers worked out by hand."""

import numpy as np

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Counts

__all__ = [
    "A1",
    "A2",
    "ROOT",
    "T0",
    "TWO_LEAVES",
    "A",
    "B",
    "binary",
    "over_leaves",
    "rows_at",
    "star",
    "tree_of",
    "worked_tree",
]


def binary(n_children: list[int]) -> Skeleton:
    """A skeleton of numeric tests of one feature, x <= 0 throughout."""
    inner = np.array(n_children) > 0
    return Skeleton.of(n_children, np.where(inner, 0, -1), np.where(inner, 0.0, np.nan))


def over_leaves(skeleton: Skeleton, leaves: list[list[int]]) -> Tree:
    """A raw tree from the class counts of its leaves, in level order."""
    evidence: Counts = np.zeros((skeleton.n_nodes, len(leaves[0])), np.int64)
    evidence[skeleton.is_leaf] = leaves
    schema = Schema((Feature("x"),), tuple(range(len(leaves[0]))))
    return Tree.raw(schema, skeleton, pull_up(skeleton, evidence))


def star(leaves: Counts) -> Tree:
    """A raw tree of one multiway test, from the class counts of its leaves."""
    n, k = leaves.shape
    skeleton = Skeleton.of(
        [n, *[0] * n],
        [0, *[-1] * n],
        np.full(n + 1, np.nan),
        slot_start=[0, *[n] * (n + 1)],
        slot_of=np.arange(n, dtype=np.int32),
    )
    feature = Feature("x", Kind.NOMINAL, tuple(map(str, range(n))))
    return Tree.raw(Schema((feature,), tuple(range(k))), skeleton, np.vstack([leaves.sum(axis=0), leaves]))


def worked_tree() -> Tree:
    """root (6,4) -> A (5,1), B (1,3); A -> A1 (3,0), A2 (2,1), where x is 0 in A1, 1 in A2, 2 in B."""
    skeleton = Skeleton.of([2, 2, 0, 0, 0], [0, 0, -1, -1, -1], [1.5, 0.5, np.nan, np.nan, np.nan])
    return over_leaves(skeleton, [[1, 3], [3, 0], [2, 1]])


def rows_at(tree: Tree, counts: dict[float, list[int]]) -> Table:
    """A table of one feature with this many rows of each class at each value."""
    pairs = [(x, k) for x, n in counts.items() for k, rows in enumerate(n) for _ in range(rows)]
    x, y = zip(*pairs, strict=True)
    return Table(tree.schema, (np.array(x, float),), np.array(y, np.int32))


def tree_of(n_children, evidence, **given):
    """A tree of numeric tests from its numbers of children (0 or 2) and its evidence, in level order."""
    inner, evidence = np.array(n_children) > 0, np.array(evidence)
    skeleton = Skeleton.of(n_children, np.where(inner, 0, -1), np.where(inner, 0.5, np.nan))
    return Tree.raw(Schema((Feature("x"),), tuple(range(evidence.shape[1]))), skeleton, evidence, **given)


ROOT, A, B, A1, A2 = range(5)
T0 = tree_of([2, 2, 0, 0, 0], [[7, 3], [6, 1], [1, 2], [4, 0], [2, 1]])
TWO_LEAVES = tree_of([2, 0, 0], [[4, 2], [3, 0], [1, 2]])
