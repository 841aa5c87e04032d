"""Evidence of a regression tree: weight, sum and sum of squares of the target at each node."""

from __future__ import annotations

import numpy as np

from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Counts, Floats, Indices

__all__ = ["count_numeric", "numeric_evidence_at", "numeric_units"]


def numeric_units(numeric: NumericTarget, unit: float) -> Floats:
    """Return the value of one step of weight, sum and sum of squares."""
    return np.array([unit, numeric.unit, numeric.square_unit])


def count_numeric(
    skeleton: Skeleton, table: Table, numeric: NumericTarget, unit: float, n_jobs: int = 1
) -> tuple[Counts, Counts]:
    """Add up weight, sum and sum of squares over the rows at each node of a skeleton that is not fractional.

    Returns evidence of shape (n_nodes, 3) and rows; `unit` is the table's unit of weight. Sums do not depend on
    `n_jobs`.
    """
    if skeleton.is_fractional:
        raise ParameterError(
            "a split of this tree sends missing values to every child, and the target is numeric; expected splits that "
            "send each row to one child"
        )
    if unit != table.unit:
        raise ParameterError(f"unit is {unit}, expected the table's unit {table.unit}: the target is numeric")
    stop = route(skeleton, table, n_jobs)
    own, rows = numeric_evidence_at(stop, table, numeric, skeleton.n_nodes)
    return pull_up(skeleton, own), pull_up(skeleton, rows)


def numeric_evidence_at(
    stop: Indices, table: Table, numeric: NumericTarget, n_nodes: int
) -> tuple[Counts, Counts]:
    """Add up rows at the node where each stops, not at its ancestors."""
    rows = np.bincount(stop, minlength=n_nodes)
    own = np.zeros((3, n_nodes), np.int64)
    if table.weight is None:
        own[0] = rows
    else:
        np.add.at(own[0], stop, table.weight)
    np.add.at(own[1], stop, numeric.numerators(table.weight, table.unit))
    np.add.at(own[2], stop, numeric.squares(table.weight, table.unit))
    return np.ascontiguousarray(own.T), rows
