"""Class weights of held-out rows at every node."""

from collections.abc import Callable

import numpy as np

from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.tree.edit import count_evidence, fractional_unit
from hornbeam.tree.evidence.numeric import numeric_units
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats, Indices

__all__ = ["PruningRows", "held_out", "predictions"]

_ROUNDING = 1e-9  # fractional rows are rounded to whole steps, so equal classes may differ by less than this


type PruningRows = Table | Callable[[Tree], Floats]
"""Held-out rows: a table, or a function from a tree to their class weights at every node."""


def held_out(tree: Tree, table: PruningRows) -> Floats:
    """Sum the weights of held-out rows by node and class; in a regression tree weight, sum and sum of squares.

    A row with a missing value that goes to every child is split in proportion to the evidence of the tree, as in
    prediction. Rows that are not in memory are passed as a function: `hornbeam.out_of_core.HeldOutSource`. `DataError`
    if the table was not read with the tree's schema, or has no target.
    """
    if not isinstance(table, Table):
        return table(tree)
    if table.schema != tree.schema:
        raise DataError(
            "the table's schema is not the tree's, expected columns and classes with the same codes: "
            "read it with Table.read(X, y, schema=tree.schema)"
        )
    unit = fractional_unit(tree.skeleton, table)
    evidence, _ = count_evidence(tree.skeleton, table, unit, shares=tree.weight)
    return evidence.astype(np.float64) * (
        unit if table.numeric_target is None else numeric_units(table.numeric_target, unit)
    )


def predictions(belief: Floats) -> Indices:
    """Return the most probable class of every node, the first of equals."""
    near = belief >= belief.max(axis=1, keepdims=True) - _ROUNDING
    return near.argmax(axis=1).astype(np.int32)
