"""Held-out rows as a user passes them: arrays, a table, files or a source."""

from typing import Any

from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.schema import Schema
from hornbeam.data.source_like import is_source, is_source_like
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.explain.candidates.held_out_gain import HeldOut
from hornbeam.explain.candidates.source_rows import open_rows
from hornbeam.explain.candidates.training_rows import read_table

__all__ = ["read_held_out", "read_held_out_table"]


def read_held_out(schema: Schema, held_out: Any, engine: Engine | None = None) -> HeldOut | None:
    """Read rows that a tree was not grown from; those of files and sources stay where they are.

    `held_out` is None, a table, a source, or a tuple of X, y and possibly weights. If X is files, y and weights are the
    names of columns.
    """
    rows: Any = (held_out, None) if is_source(held_out) else held_out
    if isinstance(rows, tuple) and len(rows) in (2, 3) and is_source_like(rows[0]):
        engine = LocalEngine() if engine is None else engine
        X, y, weight = (*rows, None)[:3]
        factors = X.class_weight if is_source(X) else None  # no gain depends on them
        return HeldOut(open_rows(schema, X, y, weight, factors, engine), engine)
    table = read_held_out_table(schema, held_out)
    return None if table is None else HeldOut.of(table)


def read_held_out_table(schema: Schema, held_out: Any) -> Table | None:
    """Read rows in memory that a tree was not grown from: None, a table, or a tuple of X, y and possibly weights."""
    if held_out is None or isinstance(held_out, Table):
        return None if held_out is None else read_table(schema, held_out, None, None)
    if not isinstance(held_out, tuple) or len(held_out) not in (2, 3):
        raise ParameterError(
            f"held_out={shown(held_out)}: expected a tuple of X and y, or of X, y and weights, or a Table."
        )
    table = read_table(schema, *held_out, *[None] * (3 - len(held_out)))
    if not table.n_rows:
        raise DataError("held_out has no rows; expected some with a target.")
    return table
