"""Test rows with their predictions, targets and end nodes, counted in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.engine import Engine, LocalEngine, resolve_engine
from hornbeam.data.reading.frame import select_columns
from hornbeam.data.rows import is_source, is_source_like, open_rows
from hornbeam.data.schema import Schema
from hornbeam.data.sources import MemorySource, Partition, Source, read_features
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.estimators.methods.column_names import required_columns
from hornbeam.evaluation.row_counts import MOST_CELLS, Cells, ValueCounts
from hornbeam.explain.drift import Drift, drift_of_sums
from hornbeam.explain.leaf_sums import LeafCounter
from hornbeam.reporting.group_column import GroupColumn, Groups, row_values
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.tree.route import decide_rows, predict_rows, route
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import pluralise
from hornbeam.typing import Bools, Counts, Floats, Indices

_EXACT = 53  # bits of a float64


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows with labels and the predictions of a tree; equal ones are one entry with their number.

    Arrays have one element for each entry: `target`, the class or number that was observed; `predicted`, probabilities
    or the mean, of shape (n_entries, n_outputs); `decided`, the class the model decided for, empty for a numeric
    target; `count`, its rows; `stop`, the node where they end. `drift` has the rows leaf by leaf, `values` those of the
    features; `source` has the rows themselves, of which a report writes only counts and ranges. `n_bits`: to how many
    bits predictions, or errors, are rounded; 53 is not at all. `today` has the decisions in use, if they are known.
    """

    target: Indices | Floats
    predicted: Floats
    decided: NDArray[np.intp]
    count: Counts
    stop: NDArray[np.intp]
    drift: Drift
    values: ValueCounts
    source: Source
    engine: Engine = field(default_factory=LocalEngine)
    n_bits: int = _EXACT
    groups: Groups | None = None
    earlier: Earlier | None = None
    today: NDArray[np.intp] | None = None

    @classmethod
    def of(
        cls,
        reported: ReportedModel,
        X: Any,
        y: Any,
        groups: Any = None,
        earlier: Any = None,
        engine: Engine | None = None,
        today: Any = None,
    ) -> Self:
        """Predict rows with known labels, in memory or in files, in one pass."""
        if X is None or (y is None and not is_source(X) and not isinstance(X, Table)):
            lacking = "y" if y is None else "X"
            raise DataError(f"{lacking} is None, expected both rows and labels to test with, or neither.")
        engine = resolve_engine(engine)
        source = _open(reported, X, y, engine, reported.tree.schema.names)
        before = None if earlier is None else _before(earlier, reported)
        tasks = [_Task(reported.tree, source, reported.tree.schema.names)]
        if before is not None:
            used = required_columns(before.tree)
            rows = X
            if not _has_target(X) and not before.prepares:
                rows = select_columns(X, before.tree.schema.names, used)
            tasks.append(
                _Task(before.tree, _open(before, rows, y, engine, sorted(used)), tuple(sorted(used)))
            )
        n_rows = source.n_rows if isinstance(source, MemorySource) else None
        column = None if groups is None else GroupColumn.of(groups, reported.tree.schema, n_rows)
        counter = LeafCounter.of(reported.tree, source, engine)
        in_use = None if today is None else _decisions(today, reported.tree.schema, n_rows)
        shared = _Shared(counter, tuple(tasks), column, n_rows, in_use)
        sums, cells, values = engine.reduce(_count, source.partitions(), shared, blocks=3)
        return cls._of_cells(shared, cells, before, drift_of_sums(counter, sums, source), values, engine)

    @classmethod
    def _of_cells(
        cls,
        shared: _Shared,
        cells: Cells,
        before: ReportedModel | None,
        drift: Drift,
        values: ValueCounts,
        engine: Engine,
    ) -> Self:
        """Take the columns of the cells apart, in the order in which `_cells` has them."""
        codes, numbers = iter(cells.codes.T), iter(cells.numbers.T)
        regression = shared.tasks[0].tree.is_regression
        first = next(numbers) if regression else next(codes)
        group = None if shared.groups is None else next(codes)
        today = None if shared.today is None else next(codes).astype(np.intp)
        rounded = cells.n_bits < _EXACT
        found = [task.take(codes, numbers, rounded) for task in shared.tasks]
        predicted = found[0][0]
        target = predicted[:, 0] + first if regression else first.astype(np.int32)
        schema, source = shared.tasks[0].tree.schema, shared.tasks[0].source
        facts = (drift, values, source, engine, cells.n_bits)
        own, *others = (
            cls(target, predicted, decided, cells.count, stop, *facts) for predicted, decided, stop in found
        )
        groups = None if shared.groups is None or group is None else shared.groups.named(group, schema)
        earlier = None if before is None else Earlier(before, others[0])
        return replace(own, groups=groups, earlier=earlier, today=today)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.count.sum())

    @property
    def table(self) -> Table | None:
        """The rows, if they are in memory."""
        return self.source.table if isinstance(self.source, MemorySource) else None

    @property
    def note(self) -> str | None:
        """What the page says about rounding; None if nothing was rounded."""
        if self.n_bits == _EXACT:
            return None
        return (
            f"The test rows have more than {MOST_CELLS:,} different predictions or errors. For the figures of this "
            f"page these are rounded to {self.n_bits} binary digits."
        )

    def observed(self, code: int) -> Bools:
        """Return whether each entry has this class."""
        observed: Bools = self.target == code
        return observed

    @property
    def confusion(self) -> Counts:
        """Rows by observed class and decided class."""
        k = self.predicted.shape[1]
        cell = self.target * k + self.decided
        return np.bincount(cell, self.count, minlength=k * k).astype(np.int64).reshape(k, k)


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """An earlier model with its predictions for the test rows of the report."""

    reported: ReportedModel
    scored: ScoredRows


def score_rows(
    reported: ReportedModel,
    X: Any,
    y: Any,
    groups: Any,
    earlier: Any,
    engine: Engine | None,
    today: Any = None,
) -> ScoredRows | None:
    """Score the test rows of a report; None if there are none."""
    if X is not None or y is not None:
        return ScoredRows.of(reported, X, y, groups, earlier, engine, today)
    for name, given in (("groups", groups), ("earlier", earlier), ("today", today)):
        if given is not None:
            raise DataError(f"{name} without test rows; expected both. Pass X and y too.")
    return None


def _decisions(today: Any, schema: Schema, n_rows: int | None) -> Counts:
    """Return the class codes of the decisions in use, one for each test row in memory."""
    if schema.is_regression:
        raise ParameterError(
            "today is decisions, and the model predicts a number; expected a model of classes."
        )
    decided = row_values(today, "today", n_rows, "rows in memory")
    codes = {label: code for code, label in enumerate(schema.classes)}
    labels = decided.tolist()
    if n_unknown := sum(label not in codes for label in labels):
        rows = pluralise(n_unknown, "row")
        raise DataError(f"today has no class in {rows}; expected one of {[*codes]} in each row.")
    return np.array([codes[label] for label in labels], np.int64)


def _has_target(X: Any) -> bool:
    """Whether X is rows with their target: files, a Source or a Table."""
    return is_source_like(X) or isinstance(X, Table)


def _open(reported: ReportedModel, X: Any, y: Any, engine: Engine, used: Sequence[str]) -> Source:
    """Read rows in memory as the model does, and open files."""
    if not _has_target(X):
        return MemorySource(reported.read(X, y))
    if reported.prepares or reported.reading is not None:
        raise ParameterError(
            "X is files, a Source or a Table, and the model changes its rows before the tree reads them (a "
            "pipeline, or a tree of another library); expected rows in memory. Pass a sample of them."
        )
    schema = reported.tree.schema
    source = open_rows(X, y, schema=schema, needed=used, target_kind=schema.target_kind, engine=engine)
    if (
        source.unit != 1.0
        or source.read(source.partitions()[0], (0,), np.zeros(1, np.int64)).weight is not None
    ):
        raise ParameterError("X has weights; expected rows that count 1 each. Open or read it without them.")
    return source


def _before(model: Any, reported: ReportedModel) -> ReportedModel:
    """Take an earlier model of the same target."""
    found = ReportedModel.of(model)
    ours, theirs = reported.tree.schema, found.tree.schema
    if ours.classes != theirs.classes or ours.is_regression != theirs.is_regression:
        raise DataError(
            f"the earlier model has {_target(found)}, this one {_target(reported)}; expected the same target."
        )
    return found


def _target(reported: ReportedModel) -> str:
    schema = reported.tree.schema
    return "a numeric target" if schema.is_regression else f"the classes {list(schema.classes)}"


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """A tree, and where its features are read."""

    tree: Tree
    source: Source
    used: tuple[str, ...]

    def read(self, partition: Partition) -> Table:
        """Read the features that are used; the others have missing values."""
        if self.source.schema == self.tree.schema:
            return self.source.read(partition)
        return read_features(self.source, partition, self.tree.schema, self.used)

    def columns(self, table: Table) -> tuple[list[NDArray[Any]], list[Floats]]:
        """Return codes and numbers of rows, from which `take` gets their predictions."""
        codes: list[NDArray[Any]] = [route(self.tree.skeleton, table)]
        if not self.tree.is_regression:
            codes.append(decide_rows(self.tree, table))
        return codes, [] if self.tree.predicts_by_node else list(predict_rows(self.tree, table).T)

    def take(
        self, codes: Any, numbers: Any, rounded: bool
    ) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
        """Return predictions, decisions and end nodes of cells; rounded probabilities are divided by their sum."""
        stop = next(codes).astype(np.intp)
        decided = np.empty(0, np.intp) if self.tree.is_regression else next(codes).astype(np.intp)
        if self.tree.predicts_by_node:
            return self.tree.belief[stop], decided, stop
        predicted = np.stack([next(numbers) for _ in range(self.tree.belief.shape[1])], axis=1)
        if rounded and not self.tree.is_regression:
            predicted /= predicted.sum(axis=1, keepdims=True)
        return predicted, decided, stop


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """What every task of the engine needs."""

    counter: LeafCounter
    tasks: tuple[_Task, ...]
    groups: GroupColumn | None
    most_cells: int | None  # of rows in memory as many as there are rows, so that none are rounded
    today: Counts | None = None  # class codes of the decisions in use

    def empty_cells(self) -> Cells:
        """Return the cells of no rows."""
        n_coded = 1 - self.counter.tree.is_regression  # a class, and decisions
        n_codes = n_coded + (self.groups is not None) + (self.today is not None)
        n_codes += len(self.tasks) * (1 + n_coded)
        n_numbers = 1 - n_coded
        n_numbers += sum(task.tree.belief.shape[1] for task in self.tasks if not task.tree.predicts_by_node)
        return Cells(
            np.zeros((0, n_codes + n_numbers), np.int64),
            np.zeros(0, np.int64),
            n_numbers,
            most=self.most_cells,
        )

    def cells(self, tables: Sequence[Table], begin: int) -> Cells:
        """Count equal rows of a partition, which begins at a row of all, read for each tree.

        The columns are the class, the group, the decision in use, the end node and the decision of each tree; and the
        error of the first tree for a numeric target, and the predictions of each tree whose nodes do not have one each.
        """
        table = tables[0]
        codes: list[NDArray[Any]] = []
        numbers: list[Floats] = []
        if table.numeric_target is not None:
            tree = self.tasks[0].tree
            numbers.append(table.numeric_target.values - predict_rows(tree, table)[:, 0])
        elif table.target is not None:
            codes.append(table.target)
        else:
            raise DataError("the test rows have no labels; expected them. Open the Source with target=.")
        if self.groups is not None:
            codes.append(self.groups.keys(table, begin))
        if self.today is not None:
            codes.append(self.today[begin : begin + table.n_rows])
        for task, own in zip(self.tasks, tables, strict=True):
            more, others = task.columns(own)
            codes, numbers = codes + more, numbers + others
        return Cells.of(codes, numbers, self.most_cells)


def _count(partitions: Sequence[Partition], shared: _Shared) -> list[Any]:
    """Task: sums for drift, cells for scores and curves, and values of the features, of some partitions."""
    sums, cells = shared.counter.empty(), shared.empty_cells()
    values = ValueCounts.empty(shared.tasks[0].tree.schema)
    for partition in partitions:
        table, *others = (task.read(partition) for task in shared.tasks)
        cells += shared.cells([table, *others], partition.begin)
        sums += shared.counter.count(table)
        values += ValueCounts.of(table)
    return [sums, cells, values]
