"""The gain of candidate splits on rows that the tree was not grown from, from exact sums over these rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ldexp, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.engine import Engine, resolve_engine
from hornbeam.data.rows import open_rows, unpack_rows
from hornbeam.data.schema import Schema
from hornbeam.data.sources import Partition, Source
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.explain.candidates.table import CandidateChild, CandidateSplit
from hornbeam.growing.criterion import Criterion
from hornbeam.kernels import levelwise
from hornbeam.kernels.elementary import log
from hornbeam.kernels.subtree import Rows
from hornbeam.tree.condition import Condition
from hornbeam.tree.evidence.count import evidence_units
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import descendants
from hornbeam.typing import Counts, Floats

_SQUARE = slice(3, 7)  # columns of the sums: rows, weight, target, then sums of squares in four parts
_TARGET_SQUARE, _BOTH_SQUARE = slice(7, 11), slice(11, 15)
_SPARE_BITS = 2  # of the target, so that its sum with the weight fits the kernel


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Rows that a tree was not grown from.

    Parameters
    ----------
    source : Source
        Of the schema of the tree, with a target.
    engine : Engine
        Counts them; the gains do not depend on it.
    """

    source: Source
    engine: Engine

    @classmethod
    def open(cls, schema: Schema, rows: Any, engine: Engine | None = None) -> HeldOut | None:
        """Open rows that a tree was not grown from: a Table, a Source, or a tuple of X, y and possibly weights."""
        if rows is None:
            return None
        engine = resolve_engine(engine)
        X, y, weight = unpack_rows(rows, "held_out")
        source = open_rows(X, y, weight, schema=schema, target_kind=schema.target_kind, engine=engine)
        if not source.n_rows:
            raise DataError("held_out has no rows; expected some with a target.")
        return cls(source, engine)

    def gains(
        self, tree: Tree, node: int, criterion: Criterion, splits: Sequence[CandidateSplit]
    ) -> list[tuple[float, float]]:
        """Return for each split of a node the mean decrease of the loss, and its standard error.

        The loss is that whose decrease on training rows is the gain: log loss in bits, Brier score for Gini impurity,
        squared error or half the deviance for a numeric target. A child predicts its class rates and one more row with
        those of the node, so that no rate is 0. Rows that go to no child, or to every child, keep the prediction of
        the node.

        A row of weight 2 counts twice in the mean; in the error it is one observation.
        """
        tests = tuple(tuple(child.condition for child in split.children) for split in splits)
        shared = _Shared(self.source, tree.skeleton, node, tests)
        [total] = self.engine.reduce(_add_up, self.source.partitions(), shared)
        sums = shared.cut(total)
        evidence = tree.evidence[node] * tree.unit
        if tree.is_regression:
            units, mean = evidence_units(self.source), evidence[1] / evidence[0]
            return [
                _gain_of_means(split, each, float(mean), units, criterion)  # type: ignore[arg-type]
                for split, each in zip(splits, sums, strict=True)
            ]
        rates = (evidence + 1 / len(evidence)) / (evidence.sum() + 1)
        unit = self.source.unit
        return [_gain_of_rates(*pair, rates, criterion, unit) for pair in zip(splits, sums, strict=True)]


def child_of_row(tests: Sequence[Condition], columns: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    """Return the position of the child that each row goes to; -1 for a row that stops, or goes to every child."""
    column = columns[tests[0].column]
    child = np.full(len(column), -1)
    for at, test in enumerate(tests):
        child[test.holds_in(column)] = at
    return child


@dataclass(frozen=True, slots=True)
class _Shared:
    """What every task needs."""

    source: Source
    skeleton: Skeleton
    node: int
    tests: tuple[tuple[Condition, ...], ...]

    @property
    def n_classes(self) -> int:
        """Number of classes; 1 for a numeric target."""
        return max(1, self.source.schema.n_classes)

    def cut(self, total: Counts) -> list[Counts]:
        """Return views of the sums of each split: a row for each child and class, those of no child last."""
        ends = np.cumsum([(len(tests) + 1) * self.n_classes for tests in self.tests])
        return np.split(total, ends)[:-1]

    def empty(self) -> Counts:
        """Return the sums of no rows."""
        n = sum(len(tests) + 1 for tests in self.tests) * self.n_classes
        return np.zeros((n, 15 if self.source.schema.is_regression else 7), np.int64)


def _add_up(partitions: Sequence[Partition], shared: _Shared) -> list[Counts]:
    """Task: the sums over the rows of each split, child and class."""
    whole, n_classes = shared.empty(), shared.n_classes
    totals = shared.cut(whole)
    below = descendants(shared.skeleton, shared.node)
    for partition in partitions:
        table = shared.source.read(partition)
        if table.target is None and table.numeric_target is None:
            raise DataError("held_out has no target; expected one. Open the source with the target's name.")
        table = table.take(np.flatnonzero(np.isin(route(shared.skeleton, table), below)))
        for tests, total in zip(shared.tests, totals, strict=True):
            child = child_of_row(tests, table.columns)
            child[child < 0] = len(tests)
            _add_rows(total, table, child * n_classes + (0 if table.target is None else table.target))
    return [whole]


def _add_rows(total: Counts, table: Table, slot: NDArray[np.intp]) -> None:
    """Add rows to the sums of their slots."""
    if table.weight is None and table.numeric_target is None:
        total[:, [0, 1, _SQUARE.start]] += np.bincount(slot, minlength=len(total))[:, None]
        return
    node, all_slots = slot.astype(np.int32), np.arange(len(total), dtype=np.int32)

    def add_squares(columns: slice, numbers: Counts) -> None:
        parts = np.zeros(len(total) * levelwise.SQUARE_PARTS, np.int64)
        rows = Rows(np.empty((len(numbers), 0), np.uint8), np.empty(0, np.uint16), None, numbers)
        levelwise.add_squares(rows, node, all_slots, parts)
        total[:, columns] += parts.reshape(len(total), -1)

    weight = np.ones(table.n_rows, np.int64) if table.weight is None else table.weight
    np.add.at(total[:, 0], slot, 1)
    np.add.at(total[:, 1], slot, weight)
    add_squares(_SQUARE, weight)
    if table.numeric_target is not None:
        numerator = table.numeric_target.numerators(table.weight, table.unit) >> _SPARE_BITS
        np.add.at(total[:, 2], slot, numerator)
        add_squares(_TARGET_SQUARE, numerator)
        add_squares(_BOTH_SQUARE, weight + numerator)


def _whole(parts: Counts) -> list[int]:
    """Return the sums of squares of each slot, from their parts of 32 bits."""
    return [sum(part << (32 * i) for i, part in enumerate(row)) for row in parts.tolist()]


def _gain_of_rates(
    split: CandidateSplit, sums: Counts, rates: Floats, criterion: Criterion, unit: float
) -> tuple[float, float]:
    children = [_child_rates(child, rates) for child in split.children]
    predicted = np.vstack([*children, rates])
    if criterion is Criterion.GINI:
        loss = (predicted**2).sum(axis=1, keepdims=True) - 2 * predicted + 1
    else:
        loss = -np.log2(predicted)
    decrease = (loss[-1] - loss).ravel()
    weight, squares = sums[:, 1] * unit, np.array(_whole(sums[:, _SQUARE]), np.float64) * unit**2
    n, total = sums[:, 0].sum().item(), weight.sum().item()
    if not n:
        return nan, nan
    mean = (weight * decrease).sum().item() / total
    deviations = (squares * (decrease - mean) ** 2).sum().item()
    return mean, _error(Fraction(deviations), n, Fraction(total))


def _child_rates(child: CandidateChild, rates: Floats) -> Floats:
    return (np.array(child.counts) + rates) / (child.weight + 1)


def _gain_of_means(
    split: CandidateSplit, sums: Counts, mean: float, units: Floats, criterion: Criterion
) -> tuple[float, float]:
    """Compute the gain in fractions: squares of targets far from 0 cancel.

    With ``z`` the target minus the mean of the node, the loss of a row falls by a line in ``z`` (`_fall`).
    """
    unit, step = Fraction(units.item(0)), Fraction(units.item(1)) * 2**_SPARE_BITS
    centre = Fraction(mean)
    lines = [_fall(Fraction(child.mean or 0.0), centre, criterion) for child in split.children]
    rows = zip(
        [*lines, (Fraction(0), Fraction(0))],
        sums[:, 1:3].tolist(), *map(_whole, (sums[:, _SQUARE], sums[:, _TARGET_SQUARE], sums[:, _BOTH_SQUARE])),
        strict=True,
    )  # fmt: skip
    n, total, fall, parts = sums[:, 0].sum().item(), Fraction(0), Fraction(0), []
    for (level, slope), (weight, target), w_w, y_y, both in rows:
        w, z = weight * unit, target * step - weight * unit * centre
        ww, wy, yy = w_w * unit**2, (both - w_w - y_y) * unit * step / 2, y_y * step**2
        wz, zz = wy - centre * ww, yy - 2 * centre * wy + centre**2 * ww
        total += w
        fall += slope * z + level * w
        parts.append((level, slope, ww, wz, zz))
    if not n:
        return nan, nan
    gain = fall / total
    squares = sum(
        (
            slope**2 * zz + 2 * slope * (level - gain) * wz + (level - gain) ** 2 * ww
            for level, slope, ww, wz, zz in parts
        ),
        Fraction(0),
    )
    return float(gain), _error(max(Fraction(0), squares), n, total)


def _fall(mean: Fraction, centre: Fraction, criterion: Criterion) -> tuple[Fraction, Fraction]:
    """Return a and b, where ``a + b * z`` is the fall of a row's loss if the mean of a child is predicted for it."""
    if not criterion.is_deviance:
        move = mean - centre
        return -(move**2), 2 * move
    if mean <= 0 or centre <= 0:  # no split of the training rows has such a child
        return Fraction(0), Fraction(0)
    logarithm = Fraction(log([float(mean / centre)]).item())
    if criterion is Criterion.POISSON:
        return centre - mean + centre * logarithm, logarithm
    slope = 1 / centre - 1 / mean
    return centre * slope - logarithm, slope


def _error(squares: Fraction, n: int, total: Fraction) -> float:
    """Standard error of a weighted mean, from the sum of squared weighted deviations."""
    return _square_root(squares * n / ((n - 1) * total**2)) if n > 1 else nan


def _square_root(value: Fraction) -> float:
    """Compute a square root that fits a float, where the square need not fit one.

    Examples
    --------
    >>> _square_root(Fraction(10) ** 400), _square_root(Fraction(1, 4)), _square_root(Fraction(0))
    (1e+200, 0.5, 0.0)
    """
    half = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    return ldexp(sqrt(value / Fraction(4) ** half), half)
