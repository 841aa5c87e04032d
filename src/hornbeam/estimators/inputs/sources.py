"""Rows that are elsewhere: an estimator is given their address instead of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.labels import read_labels
from hornbeam.data.numeric_target import NumericTarget, read_numeric_target
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.data.weights import read_weights
from hornbeam.errors import DataError, ParameterError
from hornbeam.estimators.inputs.column_warnings import warn_of_source
from hornbeam.estimators.parameters.recipes import classification_fitter
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.tree.decision.rule import DecisionRule
from hornbeam.tree.edit import with_decision
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = [
    "Fitted",
    "accepts_source",
    "check_names",
    "fit_source",
    "in_memory",
    "is_source_like",
    "open_source",
    "read_regression",
]


class Fitted(NamedTuple):
    """What an estimator remembers of a fit."""

    tree: Tree
    classes: NDArray[Any]
    names: tuple[str, ...] | None
    class_weight: Floats | None


def is_source_like(X: Any) -> bool:
    """Whether X says where rows are, and not what they are.

    Examples
    --------
    >>> is_source_like("rows.parquet"), is_source_like(["a.parquet", "b.parquet"]), is_source_like([[1.0], [2.0]])
    (True, True, False)
    """
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(one, (str, PathLike)) for one in X)
    return isinstance(X, (str, PathLike)) or _is_source(X)


def in_memory(estimator: Any, X: Any) -> None:
    """Refuse the address of rows, for estimators that are fitted to rows in memory alone.

    Examples
    --------
    >>> from hornbeam import ForestClassifier
    >>> in_memory(ForestClassifier(), "rows.parquet")
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: X says where rows are, and ForestClassifier takes rows in memory alone; ...
    """
    if is_source_like(X):
        raise ParameterError(
            f"X says where rows are, and {type(estimator).__name__} takes rows in memory alone; expected an array or a "
            "data frame. Read the files first (pandas.read_parquet, say), all of them or a sample."
        )


def _open(paths: Any, **columns: Any) -> Source:
    from hornbeam.data.files.parquet import ParquetSource  # only those who ask for files wait for it

    return ParquetSource.open(paths, **columns)


def _is_source(X: Any) -> bool:
    return all(hasattr(X, name) for name in ("schema", "units", "read"))


def open_source(X: Any, y: Any, sample_weight: Any, class_weight: Any, engine: Any) -> Source:
    """Open the rows at an address, with the columns that hold their labels and weights."""
    if _is_source(X):
        if sample_weight is not None or not (y is None or isinstance(y, str)):
            raise ParameterError(
                "X is a source, which knows its labels and weights; expected neither y nor sample_weight. "
                "Open it with target= and weight=."
            )
        return X  # type: ignore[no-any-return]
    check_names(y, sample_weight)
    return _open(X, target=y, weight=sample_weight, class_weight=class_weight, engine=engine)


def check_names(y: Any, sample_weight: Any) -> None:
    """Refuse a target or weights that are not named as columns of files are.

    Examples
    --------
    >>> check_names([0, 1], None)
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: X says where rows are, and y is a list; expected the name of their column...
    """
    for name, column, needed in (("y", y, True), ("sample_weight", sample_weight, False)):
        if not isinstance(column, str) and (needed or column is not None):
            raise ParameterError(
                f"X says where rows are, and {name} is a {type(column).__name__}; expected the name of their column. "
                f"Pass {name}='{name}', say."
            )


def read_regression(
    X: Any,
    y: Any,
    sample_weight: Any,
    memory: int | None,
    n_jobs: int,
    features: Sequence[str] | None = None,
) -> Table:
    """Read all rows of Parquet files into memory, with a column of numbers as their target.

    Rows that take more than `memory` bytes (2**29 by default) are refused before they are read. Without `features` all
    other columns are.
    """
    if _is_source(X):
        raise ParameterError(
            "X is a source, and a numeric target is read from files; expected their paths. Pass these, and the name of "
            "the target's column as y."
        )
    check_names(y, sample_weight)
    from hornbeam.data.engine import LocalEngine  # only those who ask for files wait for it
    from hornbeam.data.files.footers import read_footers
    from hornbeam.data.files.paths import files_of, need_arrow
    from hornbeam.data.files.tabular import read_column
    from hornbeam.out_of_core.plan import MEMORY, bytes_per_row
    from hornbeam.out_of_core.sample import draw_sample

    need_arrow()
    files, engine = files_of(X), LocalEngine(n_jobs)
    if features is None:
        first = read_footers(files[:1], engine)[0]
        features = [name for name in first.sorts if name not in (y, sample_weight, *first.index)]
    source = _open(files, target=None, features=features, engine=engine)
    memory, needed = MEMORY if memory is None else memory, bytes_per_row(source) * source.n_rows
    if needed > memory:
        raise DataError(
            f"A numeric target needs all rows in memory: {source.n_rows:,} rows take {needed:,} bytes; expected "
            f"at most {memory:,}. Pass memory={needed}, or files with fewer rows or columns."
        )
    values = read_numeric_target(read_column(files, y, source.n_rows).to_numpy())
    weights = None if sample_weight is None else read_column(files, sample_weight, source.n_rows).to_numpy()
    table = draw_sample(source, engine, source.n_rows)
    weight, unit, kept, _ = read_weights(weights, len(values), class_weight=None, labels=None)
    if kept is not None:
        table, values = table.take(np.flatnonzero(kept)), values[kept]
    return replace(
        table,
        schema=replace(table.schema, target=Kind.NUMERIC),
        weight=weight,
        unit=unit,
        numeric_target=NumericTarget.of(values, weight, unit),
    )


def fit_source(
    estimator: Any,
    source: Source,
    engine: Any = None,
    grow_rows: int | None = None,
    cache: Any = None,
    memory: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Fitted:
    """Fit an estimator's tree to a source."""
    fitter = classification_fitter(estimator, source)
    warn_of_source(source)
    from hornbeam.out_of_core import Plan, fit  # as above

    plan = Plan.of(source, fitter, grow_rows, memory)
    if plan.rows < source.n_rows:  # parameters that are shares of all rows are shares of the sample
        fitter = classification_fitter(estimator, source, plan.rows)
    tree = fit(
        source,
        fitter,
        engine,
        plan=plan,
        cache=cache,
        on_progress=on_progress,
        n_jobs=n_threads(estimator.n_jobs),
    )
    classes = read_labels(np.array(source.schema.classes)).classes
    names = source.table.names if isinstance(source, MemorySource) else source.schema.names
    rule = DecisionRule.of(estimator.costs, source.class_weight, classes.tolist())
    return Fitted(with_decision(tree, rule), classes, names, source.class_weight)


def accepts_source[Method: Callable[..., Any]](method: Method) -> Method:
    """Let a method that answers rows take their address, and read them unit by unit."""

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_source_like(X):
            return method(self, X, *args, **kwargs)
        schema = self._schema
        source = X if _is_source(X) else _open(X, target=None, schema=schema)
        whole: Any = None
        for unit in source.units():
            part = method(self, source.read(unit), *args, **kwargs)
            whole = _allocate(part, source.n_rows) if whole is None else whole
            _assign(part, whole, unit.begin)
        return whole

    return answer  # type: ignore[return-value]


def _allocate(part: Any, n_rows: int) -> Any:
    """An array, or a pair of them, like those of some rows, for all."""
    if isinstance(part, tuple):
        return tuple([_allocate(each, n_rows) for each in part])
    return np.empty((n_rows, *part.shape[1:]), part.dtype)


def _assign(part: Any, whole: Any, begin: int) -> None:
    if isinstance(part, tuple):
        for each, all_of_it in zip(part, whole, strict=True):
            _assign(each, all_of_it, begin)
    else:
        whole[begin : begin + len(part)] = part
