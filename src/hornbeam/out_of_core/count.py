"""Counting the rows of a source at the nodes of one or several trees, without keeping them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition, Source
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.tree.edit import count_evidence, count_stopping_rows, finer_unit, integer_weights
from hornbeam.tree.evidence.numeric import numeric_evidence_at, numeric_units
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import EVERY_CHILD, Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import depths, evidence_stopping, pull_up
from hornbeam.typing import Counts, Floats

__all__ = [
    "Counted",
    "HeldOutSource",
    "count_on_all",
    "count_source",
    "count_trees_on_all",
    "evidence_units",
    "unit_to_split",
]


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
    return count_trees_on_all([tree], source, engine)[0]


def count_trees_on_all(trees: Sequence[Tree], source: Source, engine: Engine) -> list[Tree]:
    """Replace the evidence of several trees, as `count_on_all` does for one; each row is read once for all trees."""
    return [
        Tree.raw(
            tree.schema,
            tree.skeleton,
            counted.evidence,
            unit=counted.unit,
            rows=counted.rows,
            gain=tree.gain,
            history=(*tree.history, Step.of("count-on-all", rows=int(counted.rows[0]))),
            decision=tree.decision,
            slopes=tree.slopes,
        )
        for tree, counted in zip(trees, count_source(trees, source, engine), strict=True)
    ]


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
        """Sum the weights of the rows by node and class, as `hornbeam.pruning.reduced_error.held_out` does."""
        [counted] = count_source([tree], self.source, self.engine, held_out=True)
        return counted.evidence.astype(np.float64) * counted.unit


class Counted(NamedTuple):
    """The rows counted at each node of a tree.

    `evidence` is of shape (n_nodes, n_classes), or (n_nodes, 3) for a numeric target; `unit` is the value of one of its
    steps, or an array of three.
    """

    evidence: Counts
    rows: Counts
    unit: float | Floats


def count_source(
    trees: Sequence[Tree], source: Source, engine: Engine, *, held_out: bool = False
) -> list[Counted]:
    """Count the rows of a source at every node they pass, for each tree.

    If `held_out`, rows whose missing value goes to every child are split by the evidence of the tree, as in prediction,
    not by the known values of these rows.
    """
    if any(source.schema != tree.schema for tree in trees):
        raise DataError(
            "the source's schema is not the tree's, expected columns and classes with the same codes: "
            "open it with schema=tree.schema"
        )
    used, skeletons = _narrowed([tree.skeleton for tree in trees])
    one_path = [not (skeleton.missing_slot == EVERY_CHILD).any() for skeleton in skeletons]
    unit = source.unit
    if not all(one_path):
        unit = unit_to_split(source, engine)
    routes = []
    for tree, skeleton, simple in zip(trees, skeletons, one_path, strict=True):
        if simple:
            routes.append(_Route(skeleton, source.unit))
        elif held_out:
            routes.append(_Route(skeleton, unit, tree.evidence.sum(axis=1)))
        else:
            routes.append(_Route(skeleton, unit, np.zeros(tree.n_nodes, np.int64), learns=True))
    totals = _count_routes(engine, source, used, routes)
    units = evidence_units(source)
    return [
        Counted(total[:, :-1], total[:, -1], units if one.shares is None else one.unit)
        for one, total in zip(routes, totals, strict=True)
    ]


def evidence_units(source: Source) -> float | Floats:
    """Return the value of one step of evidence; that of a numeric target is the same in every partition of a source."""
    if not source.schema.is_regression:
        return source.unit
    target = source.read(source.partitions()[0], features=(), rows=np.zeros(1, np.int64)).numeric_target
    assert target is not None  # it was counted
    return numeric_units(target, source.unit)


def unit_to_split(source: Source, engine: Engine) -> float:
    """Choose the unit in which the rows of a source are split over several children.

    This takes a pass over the weights, if they are whole numbers.
    """
    if source.unit != 1.0:
        return source.unit
    partitions = source.partitions()
    first = source.read(partitions[0], features=(0,), rows=np.zeros(1, np.int64))
    if first.weight is None:
        return finer_unit(1.0, source.n_rows)
    [weight] = engine.reduce(_weigh, partitions, source)
    return finer_unit(1.0, weight)


def _narrowed(skeletons: Sequence[Skeleton]) -> tuple[tuple[int, ...], list[Skeleton]]:
    """Return the features that the splits use, and the skeletons over these alone."""
    used = np.unique(np.concatenate([skeleton.feature[skeleton.feature >= 0] for skeleton in skeletons]))
    if not len(used):
        used = np.zeros(1, np.int32)
    narrowed = [
        Skeleton.of(
            skeleton.n_children,
            np.where(skeleton.feature >= 0, np.searchsorted(used, skeleton.feature), -1),
            skeleton.threshold,
            missing_slot=skeleton.missing_slot,
            slot_start=skeleton.slot_start,
            slot_of=skeleton.slot_of,
        )
        for skeleton in skeletons
    ]
    return tuple(used.tolist()), narrowed


@dataclass(slots=True)
class _Route:
    """The paths of rows through a tree, and the value of one step of their weight.

    Rows with missing values are split by `shares`; None if they take one path. If it `learns`, shares are 0 at first,
    and set from one pass to the next.
    """

    skeleton: Skeleton
    unit: float
    shares: Counts | None = None
    learns: bool = False
    depth_done: int = -1

    def learn(self, total: Counts) -> bool:
        """Set the shares of one more level by the known values; return whether any row was left to split.

        Where shares are 0 a missing value stops. So the children of the highest level where any stops have
        exactly the known weight, and rows are split by that in the next passes.
        """
        if not self.learns:
            return False
        assert self.shares is not None
        depth, weight = depths(self.skeleton), total[:, :-1].sum(axis=1)
        waiting = (self.skeleton.missing_slot == EVERY_CHILD) & (depth > self.depth_done)
        waiting &= evidence_stopping(self.skeleton, weight) > 0
        if not waiting.any():
            return False
        self.depth_done = int(depth[waiting].min())
        known = (depth <= self.depth_done + 1) & (self.shares == 0)
        self.shares[known] = weight[known]
        return True


class _Pass(NamedTuple):
    """Arguments of a counting task."""

    source: Source
    used: tuple[int, ...]
    routes: Sequence[_Route]


def _count_routes(
    engine: Engine, source: Source, used: tuple[int, ...], routes: Sequence[_Route]
) -> list[Counts]:
    """Count all trees in one pass, and those that have rows left to split in further ones."""
    totals: dict[int, Counts] = {}
    left = list(range(len(routes)))
    while left:
        some = [routes[number] for number in left]
        [joined] = engine.reduce(_count, source.partitions(), _Pass(source, used, some))
        parts = np.split(joined, np.cumsum([one.skeleton.n_nodes for one in some])[:-1])
        for number, one, part in zip(left, some, parts, strict=True):
            totals[number] = pull_up(one.skeleton, part) if one.shares is None else part
        left = [number for number in left if routes[number].learn(totals[number])]
    return [totals[number] for number in range(len(routes))]


def _weigh(partitions: Sequence[Partition], source: Source) -> list[int]:
    """Sum the weights of rows, in steps of the source: a task of the engine."""
    tables = (source.read(partition, features=(0,)) for partition in partitions)
    return [sum(table.n_rows if table.weight is None else int(table.weight.sum()) for table in tables)]


def _count(partitions: Sequence[Partition], shared: _Pass) -> list[Counts]:
    """Sum class weights, or powers of the target, and rows per node, one tree after the other: a task of the engine.

    Rows that take one path count at the node where they stop, others at every node they pass.
    """
    n_nodes = sum(one.skeleton.n_nodes for one in shared.routes)
    total = np.zeros((n_nodes, shared.source.schema.n_channels + 1), np.int64)
    for partition in partitions:
        table, begin = shared.source.read(partition, features=shared.used), 0
        for one in shared.routes:
            end = begin + one.skeleton.n_nodes
            evidence, rows = _evidence(one, table)
            total[begin:end, :-1] += evidence
            total[begin:end, -1] += rows
            begin = end
    return [total]


def _evidence(one: _Route, table: Table) -> tuple[Counts, Counts]:
    """Count the rows of a table in a tree."""
    skeleton = one.skeleton
    if table.numeric_target is not None:
        return numeric_evidence_at(route(skeleton, table), table, table.numeric_target, skeleton.n_nodes)
    if table.target is None:
        raise DataError("the source has no target, expected one to count: open it with the target's name")
    if one.shares is None:
        return count_stopping_rows(skeleton, table, table.target, integer_weights(table, one.unit))
    return count_evidence(skeleton, table, one.unit, one.shares)
