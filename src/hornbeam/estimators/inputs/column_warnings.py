"""The warning of `fit` about columns that should probably not be features."""

from collections.abc import Sequence

from hornbeam.data.column_checks import Check, Finding, check_columns, check_schema
from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.estimators.inputs.warning import warn

__all__ = ["warn_of_columns", "warn_of_source"]

_MOST_SHOWN = 5
_ASIDE = {
    Check.IDENTIFIER: " (an identifier?)",
    Check.UNREPEATED: " (an identifier?)",
    Check.COPY: " (a copy of the target, unknown when predicting?)",
}


def warn_of_columns(table: Table) -> None:
    """Warn once of all columns of a training table that fail a check of `hornbeam.data.column_checks`.

    Examples
    --------
    >>> import warnings
    >>> rows = [[f"customer {i}", i % 7] for i in range(30)]
    >>> table = Table.read(rows, [i % 2 for i in range(30)], feature_names=["customer", "weekday"])
    >>> with warnings.catch_warnings(record=True, action="always") as heard:
    ...     warn_of_columns(table)
    >>> print(heard[0].message)
    Column 'customer' has 30 different values in 30 rows (an identifier?). Leave it out of X, in pandas
    X.drop(columns=['customer']), or keep it and ignore hornbeam.errors.HornbeamWarning.
    """
    _warn(check_columns(table), table.schema.names if table.names is None else None)
    if table.rounded:
        _warn_of_rounded(table.rounded)


def warn_of_source(source: Source) -> None:
    """Warn of the columns of a source: all checks if it is in memory, else those its schema is enough for."""
    if isinstance(source, MemorySource):
        warn_of_columns(source.table)
    else:
        _warn(check_schema(source.schema, source.n_rows))


def _warn_of_rounded(names: Sequence[str]) -> None:
    shown = ", ".join(map(repr, names[:_MOST_SHOWN])) + (", ..." if len(names) > _MOST_SHOWN else "")
    warn(
        f"Whole numbers beyond 2**53 are rounded to the nearest float64, so that different ones may be the same: in "
        f"{shown}. If they are names, pass them as text, in pandas X[column].astype(str); else subtract a common "
        "offset, or ignore hornbeam.errors.HornbeamWarning."
    )


def _warn(found: Sequence[Finding], positions: Sequence[str] | None = None) -> None:
    """Warn of what was found; `positions` are the generated names of an array without any."""
    if not found:
        return
    shown = found[:_MOST_SHOWN]
    each = "; ".join(f"{one.column!r} {one.what}{_ASIDE.get(one.check, '')}" for one in shown)
    columns = [one.column if positions is None else positions.index(one.column) for one in shown]
    listed = ", ".join(map(repr, columns))
    if len(found) > len(shown):
        each, listed = f"{each}; and {len(found) - len(shown)} more", f"{listed}, ..."
    head, it = ("Column ", "it") if len(found) == 1 else (f"{len(found)} columns are doubtful: ", "them")
    remedy = (
        f"in pandas X.drop(columns=[{listed}])" if positions is None else f"np.delete(X, [{listed}], axis=1)"
    )
    warn(
        f"{head}{each}. Leave {it} out of X, {remedy}, or keep {it} and ignore hornbeam.errors.HornbeamWarning."
    )
