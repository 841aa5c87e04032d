"""A small tree of lending with slopes, made by hand: every number can be checked on paper."""

import numpy as np

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.tree import Skeleton, Slopes, with_slopes
from hornbeam.tree.tree import Tree

__all__ = ["everybody", "income", "lending", "sizes", "three_levels"]

nan = np.nan
_FEATURES = (
    Feature("late"),
    Feature("age"),
    Feature("job", Kind.NOMINAL, ("clerk", "manager", "other")),
    Feature("grade", Kind.ORDINAL, ("A", "B", "C")),
)
_STUMP = Skeleton.of([2, 0, 0], [1, -1, -1], [30.0, nan, nan])


def lending() -> Tree:
    """Leaf 1: 20 % bad, two terms. Leaf 2: 50 % bad, a term of a category and one of an ordinal feature."""
    tree = Tree.raw(Schema(_FEATURES, ("good", "bad")), _STUMP, np.array([[130, 70], [80, 20], [50, 50]]))
    log2 = np.log(2.0)
    return with_slopes(
        tree,
        Slopes.of(
            node=[1, 1, 2, 2],
            feature=[0, 1, 2, 3],
            category=[-1, -1, 1, -1],
            low=[0, 18, 0, 0],
            high=[4, 30, 1, 2],
            centre=[1, 25, 0.5, 1],
            slope=[[0, log2], [0.1, -0.1], [0, 2 * log2], [-log2, 0]],
        ),
    )


def everybody() -> Tree:
    """The stump of `lending` with terms for all rows, one of which its first leaf strengthens from 2 on."""
    log2 = np.log(2.0)
    return with_slopes(
        lending(),
        Slopes.of(
            node=[0, 0, 1, 2],
            feature=[0, 2, 0, 3],
            category=[-1, 1, -1, -1],
            low=[0, 0, 2, 0],
            high=[4, 1, 4, 2],
            centre=[1, 0.5, 2, 1],
            slope=[[0, log2], [0, 2 * log2], [0, log2], [-log2, 0]],
        ),
    )


def three_levels() -> Tree:
    """Three leaves: a term for all rows, one for ages up to 30, and one of the leaf of good grades there."""
    skeleton = Skeleton.of([2, 2, 0, 0, 0], [1, 3, -1, -1, -1], [30.0, 0.5, nan, nan, nan])
    evidence = np.array([[130, 70], [80, 20], [50, 50], [60, 15], [20, 5]])
    tree = Tree.raw(Schema(_FEATURES, ("good", "bad")), skeleton, evidence)
    log2 = np.log(2.0)
    return with_slopes(
        tree,
        Slopes.of(
            node=[0, 1, 3],
            feature=[0, 2, 1],
            category=[-1, 1, -1],
            low=[0, 0, 20],
            high=[4, 1, 30],
            centre=[1, 0.5, 25],
            slope=[[0, log2], [0, 2 * log2], [0.1, -0.1]],
        ),
    )


def sizes() -> Tree:
    """One leaf of three classes with a term of a numeric feature and two of a nominal one."""
    schema = Schema(_FEATURES, ("small", "medium", "large"))
    leaf = Tree.raw(schema, Skeleton.leaf(), np.array([[2, 1, 1]]))
    log2 = np.log(2.0)
    return with_slopes(
        leaf,
        Slopes.of(
            node=[0, 0, 0],
            feature=[0, 2, 2],
            category=[-1, 0, 1],
            low=[0, 0, 0],
            high=[4, 1, 1],
            centre=[1, 0, 0],
            slope=[[-log2, 0, log2], [0, log2, -log2], [3 * log2, 0, 0]],
        ),
    )


def income() -> Tree:
    """A regression: leaf 1 with a mean of 100 and two terms."""
    evidence = np.array([[10, 2000, 520_000], [5, 500, 60_000], [5, 1500, 460_000]])
    tree = Tree.raw(Schema(_FEATURES, target_kind=Kind.NUMERIC), _STUMP, evidence)
    return with_slopes(
        tree,
        Slopes.of(
            node=[1, 1],
            feature=[0, 2],
            category=[-1, 1],
            low=[0, 0],
            high=[4, 1],
            centre=[2, 0.25],
            slope=[[-12.5], [40.0]],
        ),
    )
