"""Exact sums over new rows at the nodes of a tree: what drift is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.engine import Engine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.sources import Partition, Source, read_features
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.kernels.elementary import exact_sums
from hornbeam.tree.evidence.count import NodeCounter, evidence_units, fractional_unit
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Counts, Floats


@dataclass(slots=True, eq=False)
class LeafSums:
    """Sums of some rows; those of other rows can be added, in any order, with the same result.

    `evidence` is that of the rows that stop at each node; of those that pass it, if missing values go to every child.
    `predicted`, of shape (n_nodes, 1 + n_outputs), has weight, and weight times prediction, of the rows that stop at
    each node (`exact_sums`); None without slopes. `labelled`: all rows have a target.
    """

    evidence: Counts
    predicted: NDArray[np.object_] | None
    n_rows: int = 0
    labelled: bool = True

    def __iadd__(self, other: Self) -> Self:
        self.evidence += other.evidence
        if self.predicted is not None:
            self.predicted += other.predicted
        self.n_rows += other.n_rows
        self.labelled &= other.labelled
        return self


@dataclass(frozen=True, slots=True, eq=False)
class LeafCounter:
    """A tree, and how the rows of a source are counted at its nodes."""

    tree: Tree
    nodes: NodeCounter

    @classmethod
    def of(cls, tree: Tree, source: Source, engine: Engine) -> Self:
        """Choose the unit to count a source in; a `DataError` if it has no rows.

        If missing values go to every child and weights are whole numbers above 1, this takes a pass over the weights.
        """
        if not source.n_rows:
            raise DataError("there are no rows; expected at least one.")
        unit = fractional_unit(tree.skeleton, source, engine)
        return cls(tree, NodeCounter(tree.skeleton, unit, tree.weight))

    def empty(self) -> LeafSums:
        """Return the sums of no rows."""
        n, tree = self.tree.n_nodes, self.tree
        predicted = np.zeros((n, 1 + tree.belief.shape[1]), object) if len(tree.slopes) else None
        return LeafSums(np.zeros((n, tree.schema.n_channels), np.int64), predicted)

    def count(self, table: Table) -> LeafSums:
        """Add up the rows of a table; without a target, as if they were of one class."""
        predicted = self._predicted(table) if len(self.tree.slopes) else None
        wrong = table.target if self.tree.is_regression else table.numeric_target
        if wrong is not None:
            kinds = ("numbers", "classes") if self.tree.is_regression else ("classes", "numbers")
            raise DataError(
                f"the tree predicts {kinds[0]}, and the target of the rows is {kinds[1]}; expected rows like "
                "those of the fit. Pass their target, or rows without one."
            )
        labelled = table.target is not None or table.numeric_target is not None
        if not labelled and self.tree.is_regression:
            table = replace(table, numeric_target=NumericTarget(np.zeros(table.n_rows), 1.0, 1.0))
        elif not labelled:
            table = replace(table, target=np.zeros(table.n_rows, np.int32))
        return LeafSums(self.nodes.count(table)[:, :-1], predicted, table.n_rows, labelled)

    def _predicted(self, table: Table) -> NDArray[np.object_]:
        tree, stop = self.tree, route(self.tree.skeleton, table)
        weight = np.ones(table.n_rows) if table.weight is None else table.weight.astype(np.float64)
        columns = [weight, *(weight * column for column in predict_rows(tree, table).T)]
        return np.stack([exact_sums(stop, column, tree.n_nodes) for column in columns], axis=1)

    def evidence_at_end(self, sums: LeafSums, source: Source) -> Floats:
        """Return the evidence of the rows that stop at each node."""
        skeleton, unit = self.tree.skeleton, self.nodes.unit
        if skeleton.is_fractional:
            return np.multiply(evidence_stopping(skeleton, sums.evidence), unit)
        if self.tree.is_regression:
            return np.multiply(sums.evidence, evidence_units(source) if sums.labelled else [unit, 0.0, 0.0])
        return np.multiply(sums.evidence, unit)

    def mean_predictions(self, sums: LeafSums) -> Floats:
        """Return the prediction of each node: its belief; with terms on its path, the mean prediction of its rows."""
        if sums.predicted is None:
            return self.tree.belief
        found = self.tree.belief.copy()
        for node in self.tree.path_slopes.nodes.tolist():
            weight, *values = sums.predicted[node].tolist()
            if weight:
                found[node] = [float(Fraction(value, weight)) for value in values]
        return found


def count_leaves(partitions: Sequence[Partition], shared: tuple[Source, LeafCounter]) -> list[LeafSums]:
    """Task: the sums of some partitions; only the features that the tree uses are read."""
    source, counter = shared
    tree, total = counter.tree, counter.empty()
    for partition in partitions:
        total += counter.count(read_features(source, partition, tree.schema, used_features(tree)))
    return [total]


def used_features(tree: Tree) -> list[str]:
    """Return the names of the features that a tree uses."""
    return [tree.schema.names[at] for at in tree.features_used]
