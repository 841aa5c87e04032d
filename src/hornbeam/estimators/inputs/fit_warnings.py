"""Warnings of `fit`: doubtful columns, rounded integers, too many classes, pruning without an effect.

They point to the line that called the estimator, however deep inside they are raised.
"""

from collections.abc import Sequence
from typing import Any

from hornbeam.data.column_checks import Check, Finding, check_columns, check_schema
from hornbeam.data.row_order import copied_classes
from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.errors import warn
from hornbeam.logger import bytes_text

_MOST_SHOWN = 5
_NOTES = {
    Check.IDENTIFIER: " (an identifier?)",
    Check.DATE: ", each a category without order (a number, such as days since a date, has one)",
    Check.NUMBER: ", each a category without order (convert them; pandas.read_csv has decimal=',')",
    Check.FEW_TEXTS: ", so each number is a category without order (pandas.to_numeric(..., errors='coerce') reads the "
    "others as missing)",
    Check.UNREPEATED: " (an identifier?)",
    Check.COPY: " (a copy of the target, unknown when predicting?)",
}
_CELL_BYTES = 100  # of a node and class during a fit, measured at 1,000 to 3,000 classes
_FEW_ROWS = 10  # per class


def warn_about_classes(table: Table, fitter: Any = None) -> None:
    """Warn before a fit that needs a gigabyte because of many classes.

    A tree, and each fold tree of `fitter`, has cells per node and class.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> table = Table.read(np.zeros((8000, 1)), np.arange(8000))
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn_about_classes(table)
    >>> print(caught[0].message)
    y has 8,000 classes in 8,000 rows. A tree has numbers for each node and class, so the fit may need up to 12.8 GB.
    If y is a number, use a regressor. Else join rare classes, or limit max_depth or min_samples_leaf.
    """
    from hornbeam.tuning.cross_fitted import CrossFitted  # imported with the first fit

    n_rows, n_classes = table.n_rows, table.schema.n_classes
    cells = (2 * n_rows - 1) * n_classes
    if isinstance(fitter, CrossFitted):
        cells = max(cells, fitter.most_cells(n_rows, n_classes))
    if n_rows <= _FEW_ROWS * n_classes and cells * _CELL_BYTES > 1e9:
        warn(
            f"y has {n_classes:,} classes in {n_rows:,} rows. A tree has numbers for each node and class, so the fit "
            f"may need up to {bytes_text(cells * _CELL_BYTES)}. If y is a number, use a regressor. Else join rare "
            "classes, or limit max_depth or min_samples_leaf."
        )


def warn_about_columns(table: Table) -> None:
    """Warn once about all columns of a training table that fail a check of `hornbeam.data.column_checks`.

    Examples
    --------
    >>> import warnings
    >>> rows = [[f"customer {i}", i % 7] for i in range(30)]
    >>> table = Table.read(rows, [i % 2 for i in range(30)], feature_names=["customer", "weekday"])
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn_about_columns(table)
    >>> print(caught[0].message)
    Column 'customer' has 30 different values in 30 rows (an identifier?). Leave it out of X, in pandas
    X.drop(columns=['customer']), or keep it and ignore hornbeam.errors.HornbeamWarning.
    """
    found = check_columns(table)
    groups = [finding for finding in found if finding.check is Check.GROUP]
    _warn(
        [finding for finding in found if finding.check is not Check.GROUP],
        table.schema.names if table.names is None else None,
    )
    if groups:
        _warn_about_groups(groups[0], table)
    if table.rounded:
        _warn_about_rounded(table.rounded)
    if classes := copied_classes(table):
        _warn_about_copies(len(classes), table.schema.n_outputs)


def warn_about_rows(rows: Table | Source, fitter: Any) -> None:
    """Warn about the columns, and in memory about the classes, that a tree is to be fitted to."""
    if not isinstance(rows, Table):
        warn_about_source(rows)
        return
    if not rows.schema.is_regression:
        warn_about_classes(rows, fitter)
    warn_about_columns(rows)


def warn_about_pruning(fitter: Any) -> None:
    """Warn if the tree is pruned by a Bayes risk that removes nothing, or only splits without an effect.

    Examples
    --------
    >>> import warnings
    >>> from hornbeam import TreeClassifier
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     _ = TreeClassifier("cart", pruning="bayes-risk").fit([[0], [1]], [0, 1])
    >>> print(caught[0].message)
    Bayes-risk pruning compares training frequencies here. The risk of a node is then never less than the sum of the
    risks of its leaves (a theorem), so only splits that change no prediction are removed. ...
    """
    pruner: Any = getattr(fitter.limits.recipe, "pruner", None)
    if not getattr(pruner, "compares_frequencies", False):
        return
    removed = "no split is removed" if pruner.strict else "only splits that change no prediction are removed"
    warn(
        "Bayes-risk pruning compares training frequencies here. The risk of a node is then never less than the sum of "
        f"the risks of its leaves (a theorem), so {removed}. Smooth the probabilities, smoothing='laplace' say (of a "
        "BayesRisk object, estimate=Laplace()), or ignore hornbeam.errors.HornbeamWarning."
    )


def warn_about_source(source: Source) -> None:
    """Warn about columns of a source: all checks in memory, else only those that need nothing but the schema."""
    if isinstance(source, MemorySource):
        warn_about_columns(source.table)
    else:
        _warn(check_schema(source.schema, source.n_rows))


def _warn_about_groups(found: Finding, table: Table) -> None:
    at = table.schema.names.index(found.column)
    column = f"X[:, {at}]" if table.names is None else repr(found.column)
    warn(
        f"Column {found.column!r} {found.what}: rows with equal values seem to belong together, like visits of a "
        "patient. Held-out rows are then not new, and probabilities are too sure. Pass what rows belong to as groups: "
        f"fit(X, y, groups={column}), or ignore hornbeam.errors.HornbeamWarning."
    )


def _warn_about_copies(n_copied: int, n_classes: int) -> None:
    if n_copied == n_classes:
        warn(
            "Every row occurs several times, always a multiple of the same number: is the table repeated? Copies are "
            "held out together. Pass each row once, or ignore hornbeam.errors.HornbeamWarning."
        )
        return
    what = "a class repeat" if n_copied == 1 else f"{n_copied} classes repeat"
    warn(
        f"Rows of {what}, those of other classes do not: copies made by oversampling? They are held out together. "
        "Probabilities refer to the rates of classes among the copies. Pass the rows without copies, with class_weight "
        "or costs to change decisions, or with sample_weight; or ignore hornbeam.errors.HornbeamWarning."
    )


def _warn_about_rounded(names: Sequence[str]) -> None:
    shown = ", ".join(map(repr, names[:_MOST_SHOWN])) + (", ..." if len(names) > _MOST_SHOWN else "")
    warn(
        "Whole numbers beyond 2**53 are rounded to the nearest float64, so that different ones may be the same: in "
        f"{shown}. If they are names, pass them as text, in pandas X[column].astype(str); else subtract a common "
        "offset, or ignore hornbeam.errors.HornbeamWarning."
    )


def _warn(found: Sequence[Finding], positions: Sequence[str] | None = None) -> None:
    """Warn about findings; `positions` are the generated names of an array without column names."""
    if not found:
        return
    shown = found[:_MOST_SHOWN]
    findings = "; ".join(
        f"{finding.column!r} {finding.what}{_NOTES.get(finding.check, '')}" for finding in shown
    )
    columns = [finding.column if positions is None else positions.index(finding.column) for finding in shown]
    listed = ", ".join(map(repr, columns))
    if len(found) > len(shown):
        findings, listed = f"{findings}; and {len(found) - len(shown)} more", f"{listed}, ..."
    head, it = ("Column ", "it") if len(found) == 1 else (f"{len(found)} columns are doubtful: ", "them")
    remedy = (
        f"in pandas X.drop(columns=[{listed}])" if positions is None else f"np.delete(X, [{listed}], axis=1)"
    )
    warn(
        f"{head}{findings}. Leave {it} out of X, {remedy}, or keep {it} and ignore hornbeam.errors.HornbeamWarning."
    )
