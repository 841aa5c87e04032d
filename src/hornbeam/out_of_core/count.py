"""Counting the rows of a source at the nodes of a tree, without keeping them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition, Source
from hornbeam.errors import DataError
from hornbeam.tree.edit import count_evidence, count_stopping_rows, finer_unit, integer_weights
from hornbeam.tree.evidence.numeric import numeric_evidence_at, numeric_units
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import EVERY_CHILD, Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import depths, evidence_stopping, pull_up
from hornbeam.typing import Counts, Floats

__all__ = ["HeldOutSource", "count_on_all", "count_source", "evidence_units"]


def count_on_all(tree: Tree, source: Source, engine: Engine) -> Tree:
    """Replace the evidence of a tree by that of every row of a source.

    Parameters
    ----------
    tree : Tree
        Grown from a sample of the rows.
    source : Source
        Rows of the tree's schema, with their target.
    engine : Engine
        Counts the rows; the evidence does not depend on it.

    Returns
    -------
    Tree
        With the splits and gains of `tree` and raw frequencies as belief: the result of `hornbeam.tree.edit.recount`
        with all rows in memory.

    Notes
    -----
    One pass over the columns that the tree uses, if each row takes one path. Where missing values go to every child in
    proportion to the known ones, the known ones must be counted first: one more pass for each level at which a value
    is missing.

    Examples
    --------
    >>> from hornbeam.data import LocalEngine, MemorySource, Table
    >>> from hornbeam.recipe import PRESETS
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"]
    >>> tree = PRESETS["cart"].fit(Table.read(X, y))
    >>> twice = MemorySource(Table.read(2 * X, 2 * y), block=3)
    >>> count_on_all(tree, twice, LocalEngine()).evidence.tolist()
    [[4, 4], [4, 0], [0, 4]]
    """
    evidence, rows, unit = count_source(tree, source, engine)
    return Tree.raw(
        tree.schema,
        tree.skeleton,
        evidence,
        unit=unit,
        rows=rows,
        gain=tree.gain,
        history=(*tree.history, Step.of("count-on-all", rows=int(rows[0]))),
        decision=tree.decision,
        slopes=tree.slopes,
    )


@dataclass(frozen=True, slots=True)
class HeldOutSource:
    """Held-out rows of a source, for `ReducedError` and `BayesRisk` in place of a table.

    Parameters
    ----------
    source : Source
        Held-out rows, of the tree's schema.
    engine : Engine
        Counts them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import Table, TreeClassifier
    >>> from hornbeam.data import LocalEngine, MemorySource
    >>> from hornbeam.pruning import ReducedError
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = TreeClassifier("cart").fit(X[::2], y[::2]).tree_
    >>> rest = MemorySource(Table.read(X[1::2], y[1::2], schema=tree.schema), block=100)
    >>> ReducedError(HeldOutSource(rest, LocalEngine()))(tree).n_leaves
    5
    """

    source: Source
    engine: Engine

    def __call__(self, tree: Tree) -> Floats:
        """Sum the weights of the rows by node and class, as `hornbeam.pruning.held_out` does."""
        evidence, _, unit = count_source(tree, self.source, self.engine, held_out=True)
        return evidence.astype(np.float64) * unit


def count_source(
    tree: Tree, source: Source, engine: Engine, *, held_out: bool = False
) -> tuple[Counts, Counts, float | Floats]:
    """Count the rows of a source at every node they pass.

    Parameters
    ----------
    tree : Tree
    source : Source
    engine : Engine
    held_out : bool, default False
        Split rows whose missing value goes to every child by the evidence of the tree, as in prediction, not by the
        known values of these rows.

    Returns
    -------
    evidence : int64 array of shape (n_nodes, n_classes), or of (n_nodes, 3)
    rows : int64 array of shape (n_nodes,)
    unit : float, or float64 array of shape (3,)
        The value of one step of evidence.
    """
    if source.schema != tree.schema:
        raise DataError(
            "the source's schema is not the tree's, expected columns and classes with the same codes: "
            "open it with schema=tree.schema"
        )
    used, skeleton = _narrowed(tree.skeleton)
    fractional = skeleton.missing_slot == EVERY_CHILD
    if not fractional.any():
        total = _reduce(engine, _Pass(source, used, skeleton, source.unit, None))
        total = pull_up(skeleton, total)
        return total[:, :-1], total[:, -1], evidence_units(source)
    [weight] = engine.reduce(_weigh, source.partitions(), (source, used[:1]))
    unit = finer_unit(source.unit, weight)
    if held_out:
        total = _reduce(engine, _Pass(source, used, skeleton, unit, tree.evidence.sum(axis=1)))
    else:
        total = _count_by_level(engine, _Pass(source, used, skeleton, unit, np.zeros(tree.n_nodes, np.int64)))
    return total[:, :-1], total[:, -1], unit


def evidence_units(source: Source) -> float | Floats:
    """Return the value of one step of evidence; that of a numeric target is the same in every partition of a source."""
    if not source.schema.is_regression:
        return source.unit
    target = source.read(source.partitions()[0], features=(0,), rows=np.zeros(1, np.int64)).numeric_target
    assert target is not None  # it was counted
    return numeric_units(target, source.unit)


def _narrowed(skeleton: Skeleton) -> tuple[tuple[int, ...], Skeleton]:
    """Return the features that the splits use, and the skeleton over these alone."""
    inner = skeleton.feature >= 0
    used = np.unique(skeleton.feature[inner]) if inner.any() else np.zeros(1, np.int32)
    narrowed = Skeleton.of(
        skeleton.n_children,
        np.where(inner, np.searchsorted(used, skeleton.feature), -1),
        skeleton.threshold,
        missing_slot=skeleton.missing_slot,
        slot_start=skeleton.slot_start,
        slot_of=skeleton.slot_of,
    )
    return tuple(used.tolist()), narrowed


@dataclass(frozen=True, slots=True)
class _Pass:
    """Arguments of a counting task. Rows with missing values are split by `shares`; None if they take one path."""

    source: Source
    used: tuple[int, ...]
    skeleton: Skeleton
    unit: float
    shares: Counts | None


def _reduce(engine: Engine, shared: _Pass) -> Counts:
    [total] = engine.reduce(_count, shared.source.partitions(), shared)
    return total  # type: ignore[no-any-return]


def _count_by_level(engine: Engine, shared: _Pass) -> Counts:
    """Count the known values of each level with the shares above it, until no row is left to split.

    Where shares are 0 a missing value stops. So the children of the highest level where any stops have
    exactly the known weight, and rows are split by that in the next passes.
    """
    skeleton, shares = shared.skeleton, shared.shares
    assert shares is not None
    depth, fractional, done = depths(skeleton), skeleton.missing_slot == EVERY_CHILD, -1
    while True:
        total = _reduce(engine, shared)
        weight = total[:, :-1].sum(axis=1)
        waiting = fractional & (depth > done) & (evidence_stopping(skeleton, weight) > 0)
        if not waiting.any():
            return total
        done = int(depth[waiting].min())
        known = (depth <= done + 1) & (shares == 0)
        shares[known] = weight[known]


def _weigh(partitions: Sequence[Partition], shared: tuple[Source, tuple[int, ...]]) -> list[int]:
    """Sum the weights of rows, in steps of the source: a task of the engine."""
    source, features = shared
    tables = (source.read(partition, features=features) for partition in partitions)
    return [sum(table.n_rows if table.weight is None else int(table.weight.sum()) for table in tables)]


def _count(partitions: Sequence[Partition], shared: _Pass) -> list[Counts]:
    """Sum class weights, or powers of the target, and rows per node: a task of the engine.

    Rows that take one path count at the node where they stop, others at every node they pass.
    """
    skeleton, n_channels = shared.skeleton, shared.source.schema.n_channels
    total = np.zeros((skeleton.n_nodes, n_channels + 1), np.int64)
    for partition in partitions:
        table = shared.source.read(partition, features=shared.used)
        if table.numeric_target is not None:
            evidence, rows = numeric_evidence_at(
                route(skeleton, table), table, table.numeric_target, skeleton.n_nodes
            )
        elif table.target is None:
            raise DataError("the source has no target, expected one to count: open it with the target's name")
        elif shared.shares is None:
            evidence, rows = count_stopping_rows(
                skeleton, table, table.target, integer_weights(table, shared.unit)
            )
        else:
            evidence, rows = count_evidence(skeleton, table, shared.unit, shared.shares)
        total[:, :-1] += evidence
        total[:, -1] += rows
    return [total]
