"""Counting rows at the nodes of trees: a table at once, a source by one reduce; all sums are of integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.engine import Engine, resolve_engine
from hornbeam.data.sources import Partition, Source
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.tree.evidence.fractional import count_fractional
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import EVERY_CHILD, Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import depths, evidence_stopping, pull_up
from hornbeam.typing import Counts, Floats, Indices

_FRACTIONAL_BITS = 48  # bits of the total weight, enough to split rows at many nodes
_MAX_WEIGHT = 2**50  # sums and products of smaller weights are exact in float64 and int64


class Counted(NamedTuple):
    """The rows counted at each node of a tree.

    `evidence` is of shape (n_nodes, n_classes), or (n_nodes, 3) for a numeric target; `unit` is the value of one of its
    steps, or an array of three.
    """

    evidence: Counts
    rows: Counts
    unit: float | Floats


def count_at_nodes(
    skeletons: Sequence[Skeleton],
    rows: Table | Source,
    engine: Engine | None = None,
    *,
    unit: float | None = None,
    shares: Sequence[Counts] | None = None,
) -> list[Counted]:
    """Count rows at every node that they pass, for each skeleton; the features of the rows are in their order.

    `unit` is the value of one step of weight: that of the rows divided by a whole number. Default: `fractional_unit`.
    Where missing values go to every child, rows are split by `shares`, weights of the nodes of each skeleton; default:
    the rows with a known value.

    Of a source, the columns of the splits are read once. Without `shares`, the known values must be counted before rows
    are split by them: one more pass for each level at which a value is missing.
    """
    kinds = {one.is_fractional: one for one in skeletons}
    units = {
        kind: fractional_unit(one, rows, engine) if unit is None else unit for kind, one in kinds.items()
    }
    counters = [
        NodeCounter(one, units[one.is_fractional], None if shares is None else shares[at])
        for at, one in enumerate(skeletons)
    ]
    if isinstance(rows, Table):
        ended = [counter.count(rows) for counter in counters]
    else:
        ended = _count_source(counters, rows, resolve_engine(engine))
    numeric = evidence_units(rows) if rows.schema.is_regression else None
    counted = []
    for counter, sums in zip(counters, ended, strict=True):
        total = sums if counter.skeleton.is_fractional else pull_up(counter.skeleton, sums)
        counted.append(Counted(total[:, :-1], total[:, -1], counter.unit if numeric is None else numeric))
    return counted


def count_rows(
    skeleton: Skeleton,
    table: Table,
    *,
    unit: float | None = None,
    gain: Floats | None = None,
    history: tuple[Step, ...] = (),
) -> Tree:
    """Count the rows of a table at each node of a skeleton; belief is raw.

    The features of the table are in the order of the skeleton's. `unit` is the value of one step of evidence: the
    table's unit (the default) divided by a whole number. Where missing values go to every child a smaller unit splits
    rows more exactly: a row of one step cannot be split, and goes to the last child as a whole.
    """
    [counted] = count_at_nodes([skeleton], table, unit=table.unit if unit is None else unit)
    return Tree.raw(
        table.schema,
        skeleton,
        counted.evidence,
        unit=counted.unit,
        rows=counted.rows,
        gain=gain,
        history=history,
    )


def recount(tree: Tree, table: Table, step: Step | None = None) -> Tree:
    """Count the rows of a table on the skeleton of a tree.

    The result has the splits, gains, slopes and decision rule of `tree`, the evidence of `table`, and raw belief.
    """
    [counted] = count_at_nodes([tree.skeleton], table)
    return with_counts(tree, counted, step)


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
        With the splits and gains of `tree` and raw frequencies as belief: the result of `recount` with all
        rows in memory, before smoothing.

    Notes
    -----
    One pass over the columns that the tree uses, if each row takes one path. Where missing values go to every child in
    proportion to the known ones, the known ones must be counted first: one more pass for each level at which a value
    is missing.

    Examples
    --------
    >>> from hornbeam.data.sources import MemorySource
    >>> from hornbeam.engines import LocalEngine
    >>> from hornbeam.tree import Table
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
    for tree in trees:
        check_schema(tree, source)
    counted = count_at_nodes([tree.skeleton for tree in trees], source, engine)
    return [
        with_counts(tree, counts, Step.of("count-on-all", rows=int(counts.rows[0])))
        for tree, counts in zip(trees, counted, strict=True)
    ]


def with_counts(tree: Tree, counted: Counted, step: Step | None) -> Tree:
    """Replace the evidence of a tree; belief becomes raw, and `step` is added to the history."""
    return Tree.raw(
        tree.schema,
        tree.skeleton,
        counted.evidence,
        unit=counted.unit,
        rows=counted.rows,
        gain=tree.gain,
        history=tree.history if step is None else (*tree.history, step),
        decision=tree.decision,
        slopes=tree.slopes,
    )


def check_schema(tree: Tree, rows: Table | Source) -> None:
    """Raise `DataError` if the schema of rows is not that of a tree."""
    if rows.schema != tree.schema:
        raise DataError(
            "the rows' schema is not the tree's, expected columns and classes with the same codes: read a table "
            "with Table.read(X, y, schema=tree.schema), and open a source with schema=tree.schema"
        )


def evidence_units(rows: Table | Source) -> float | Floats:
    """Return the value of one step of evidence; of a numeric target those of weight, sum and sum of squares."""
    if not rows.schema.is_regression:
        return rows.unit
    if not isinstance(rows, Table):  # the units are the same in every partition
        rows = rows.read(rows.partitions()[0], features=(), rows=np.zeros(1, np.int64))
    assert rows.numeric_target is not None  # it was counted
    return np.array([rows.unit, rows.numeric_target.unit, rows.numeric_target.square_unit])


def fractional_unit(skeleton: Skeleton, rows: Table | Source, engine: Engine | None = None) -> float:
    """Choose the unit to count rows in: their own, or a smaller one if missing values go to every child.

    A source of whole weights is read once to choose the smaller one.
    """
    if not skeleton.is_fractional or rows.unit != 1.0:
        return rows.unit
    if isinstance(rows, Table):
        return finer_unit(rows.unit, _steps(rows))
    partitions = rows.partitions()
    first = rows.read(partitions[0], features=(0,), rows=np.zeros(1, np.int64))
    if first.weight is None:
        return finer_unit(rows.unit, rows.n_rows)
    [steps] = resolve_engine(engine).reduce(_weigh, partitions, rows)
    return finer_unit(rows.unit, steps)


def finer_unit(unit: float, total: int) -> float:
    """Choose a unit small enough to split rows that weigh `total` steps of `unit` together."""
    if unit != 1.0:
        # Weights like 0.3 have a small unit already (`fixed_point`), and `remove_rows` needs the same unit again.
        return unit
    return 1.0 / (1 << max(0, _FRACTIONAL_BITS - total.bit_length()))


def _steps(table: Table) -> int:
    """Add up the weights of rows, in steps."""
    return table.n_rows if table.weight is None else int(table.weight.sum())


def _weigh(partitions: Sequence[Partition], source: Source) -> list[int]:
    """Task: the steps of all rows."""
    return [sum(_steps(source.read(partition, features=(0,))) for partition in partitions)]


def integer_weights(table: Table, unit: float) -> Counts | None:
    """Return the weights of the rows in steps of `unit`; None if each row is one step."""
    factor = table.unit / unit
    if not (factor >= 1 and factor.is_integer()):
        raise ParameterError(
            f"unit is {unit}, expected the table's unit {table.unit} divided by a whole number"
        )
    total = int(factor) * _steps(table)
    if total >= _MAX_WEIGHT:
        raise DataError(f"the rows weigh {total} steps, expected below 2**50: choose a larger unit")
    if factor == 1:
        return table.weight
    return np.full(table.n_rows, int(factor)) if table.weight is None else table.weight * int(factor)


@dataclass(slots=True)
class NodeCounter:
    """A skeleton, and how rows are counted at its nodes: the value of one step of their weight, and `shares`.

    Rows with missing values are split by `shares` where they go to every child; None: by the known values of a table.
    """

    skeleton: Skeleton
    unit: float
    shares: Counts | None = None
    depth_learnt: int = -1

    def count(self, table: Table) -> Counts:
        """Add up a table by node: the sums of `table_sums`.

        A row counts at the node where it stops; where missing values go to every child, at all nodes that it passes.
        """
        skeleton, shares = self.skeleton, self.shares
        if not skeleton.is_fractional:
            return table_sums(route(skeleton, table), table, self.unit, skeleton.n_nodes)
        if table.numeric_target is not None:
            raise ParameterError(
                "a split of this tree sends missing values to every child, and the target is numeric; expected splits "
                "that send each row to one child"
            )
        if shares is not None:  # only their proportions matter, and their products must be exact
            shares = shares >> max(0, int(shares.max()).bit_length() - _MAX_WEIGHT.bit_length() + 1)
        return count_fractional(skeleton, table, _target(table), integer_weights(table, self.unit), shares)

    def learn(self, total: Counts) -> bool:
        """Set the shares of one more level by the known values; return whether any row was left to split.

        Where shares are 0 a missing value stops. So the children of the highest level where any stops have
        exactly the known weight, and rows are split by that in the next passes.
        """
        assert self.shares is not None
        depth, weight = depths(self.skeleton), total[:, :-1].sum(axis=1)
        waiting = (self.skeleton.missing_slot == EVERY_CHILD) & (depth > self.depth_learnt)
        waiting &= evidence_stopping(self.skeleton, weight) > 0
        if not waiting.any():
            return False
        self.depth_learnt = int(depth[waiting].min())
        known = (depth <= self.depth_learnt + 1) & (self.shares == 0)
        self.shares[known] = weight[known]
        return True


def table_sums(node: Indices, table: Table, unit: float, n_nodes: int) -> Counts:
    """Add up rows at a node each: class weights, or weight, sum and sum of squares, then the number of rows."""
    numeric = table.numeric_target
    if numeric is None:
        weight = integer_weights(table, unit)
        return sum_at_nodes(node, n_nodes, weight, label=_target(table), n_classes=table.schema.n_classes)
    if unit != table.unit:
        raise ParameterError(f"unit is {unit}, expected the table's unit {table.unit}: the target is numeric")
    numbers = numeric.numerators(table.weight, unit), numeric.squares(table.weight, unit)
    return sum_at_nodes(node, n_nodes, table.weight, numbers)


def sum_at_nodes(
    node: Indices,
    n_nodes: int,
    weight: Counts | None,
    numbers: Sequence[Counts] = (),
    *,
    label: NDArray[np.int32] | NDArray[np.uint16] | None = None,
    n_classes: int = 1,
) -> Counts:
    """Add up rows at a node each: the weight of each class, the `numbers`, and the number of rows."""
    width = n_classes + len(numbers) + 1
    cell = node.astype(np.intp) * width
    if label is not None:
        cell += label
    total = np.bincount(cell, minlength=n_nodes * width).reshape(n_nodes, width)
    rows = total.sum(axis=1)
    if weight is not None:
        total = np.zeros_like(total)
        np.add.at(total.reshape(-1), cell, weight)
    for column, values in enumerate(numbers, n_classes):
        np.add.at(total[:, column], node, values)
    total[:, -1] = rows
    return total


def _target(table: Table) -> NDArray[np.int32]:
    if table.target is None:
        raise DataError(
            "the rows have no target, expected one to count: read a table with y, and open a source with the target's "
            "name"
        )
    return table.target


def _count_source(counters: Sequence[NodeCounter], source: Source, engine: Engine) -> list[Counts]:
    """Count all trees in one pass, and those that have rows left to split in further ones."""
    used, skeletons = _narrowed([counter.skeleton for counter in counters])
    narrow = [
        NodeCounter(skeleton, counter.unit, counter.shares)
        for skeleton, counter in zip(skeletons, counters, strict=True)
    ]
    learning = [one.skeleton.is_fractional and one.shares is None for one in narrow]
    for one, learns in zip(narrow, learning, strict=True):
        if learns:
            one.shares = np.zeros(one.skeleton.n_nodes, np.int64)
    totals: dict[int, Counts] = {}
    left = list(range(len(narrow)))
    while left:
        some = [narrow[number] for number in left]
        [joined] = engine.reduce(_count, source.partitions(), (source, used, some))
        ends = np.cumsum([one.skeleton.n_nodes for one in some])
        totals.update(zip(left, np.split(joined, ends[:-1]), strict=True))
        left = [number for number in left if learning[number] and narrow[number].learn(totals[number])]
    return [totals[number] for number in range(len(narrow))]


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


def _count(
    partitions: Sequence[Partition], shared: tuple[Source, tuple[int, ...], Sequence[NodeCounter]]
) -> list[Counts]:
    """Task: the sums of rows at the nodes of the trees, one tree after the other."""
    source, used, counters = shared
    n_nodes = [counter.skeleton.n_nodes for counter in counters]
    total = np.zeros((sum(n_nodes), source.schema.n_channels + 1), np.int64)
    parts = np.split(total, np.cumsum(n_nodes)[:-1])
    for partition in partitions:
        table = source.read(partition, features=used)
        for counter, part in zip(counters, parts, strict=True):
            part += counter.count(table)
    return [total]
