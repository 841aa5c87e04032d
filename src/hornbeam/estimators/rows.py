"""Rows that are elsewhere: an estimator is given their address instead of them."""

from collections.abc import Callable
from functools import wraps
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.labels import read_labels
from hornbeam.data.units import MemorySource, Source
from hornbeam.errors import ParameterError
from hornbeam.estimators.column_warnings import warn_of_source
from hornbeam.estimators.settings import recipe_of
from hornbeam.estimators.threads import n_threads
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["Fitted", "by_unit", "fit_source", "in_memory", "is_address", "opened"]


class Fitted(NamedTuple):
    """What an estimator remembers of a fit."""

    tree: Tree
    classes: NDArray[Any]
    names: tuple[str, ...] | None
    class_weight: Floats | None


def is_address(X: Any) -> bool:
    """Whether X says where rows are, and not what they are.

    Examples
    --------
    >>> is_address("rows.parquet"), is_address(["a.parquet", "b.parquet"]), is_address([[1.0], [2.0]])
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
    if is_address(X):
        raise ParameterError(
            f"X says where rows are, and {type(estimator).__name__} takes rows in memory alone; expected an array or a "
            "data frame. Read the files first (pandas.read_parquet, say), all of them or a sample."
        )


def _open(paths: Any, **columns: Any) -> Source:
    from hornbeam.data.parquet import ParquetSource  # only those who ask for files wait for it

    return ParquetSource.open(paths, **columns)


def _is_source(X: Any) -> bool:
    return all(hasattr(X, name) for name in ("schema", "units", "read"))


def opened(X: Any, y: Any, sample_weight: Any, class_weight: Any, engine: Any) -> Source:
    """Open the rows at an address, with the columns that hold their labels and weights."""
    if _is_source(X):
        if sample_weight is not None or not (y is None or isinstance(y, str)):
            raise ParameterError(
                "X is a source, which knows its labels and weights; expected neither y nor sample_weight. "
                "Open it with target= and weight=."
            )
        return X  # type: ignore[no-any-return]
    for name, column, needed in (("y", y, True), ("sample_weight", sample_weight, False)):
        if not isinstance(column, str) and (needed or column is not None):
            raise ParameterError(
                f"X says where rows are, and {name} is a {type(column).__name__}; expected the name of their column. "
                f"Pass {name}='{name}', say."
            )
    return _open(X, target=y, weight=sample_weight, class_weight=class_weight, engine=engine)


def fit_source(
    estimator: Any,
    source: Source,
    engine: Any = None,
    grow_rows: int | None = None,
    cache: Any = None,
    memory: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Fitted:
    """Fit an estimator's tree to a source; a share of all rows is a share of those that are grown on."""
    recipe = recipe_of(estimator, source)
    warn_of_source(source)
    from hornbeam.scale import Plan, fit  # as above

    rows = Plan.of(source, recipe, grow_rows, memory).rows
    tree = fit(
        source,
        recipe_of(estimator, source, rows),
        engine,
        grow_rows=grow_rows,
        memory=memory,
        cache=cache,
        on_progress=on_progress,
        n_jobs=n_threads(estimator.n_jobs),
    )
    classes = read_labels(np.array(source.schema.classes)).classes
    names = source.table.names if isinstance(source, MemorySource) else source.schema.names
    return Fitted(tree, classes, names, source.class_weight)


def by_unit[Method: Callable[..., Any]](method: Method) -> Method:
    """Let a method that answers rows take their address, and read them unit by unit."""

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_address(X):
            return method(self, X, *args, **kwargs)
        schema = self._schema
        source = X if _is_source(X) else _open(X, target=None, schema=schema)
        whole: Any = None
        for unit in source.units():
            part = method(self, source.read(unit), *args, **kwargs)
            whole = _room(part, source.n_rows) if whole is None else whole
            _put(part, whole, unit.begin)
        return whole

    return answer  # type: ignore[return-value]


def _room(part: Any, n_rows: int) -> Any:
    """An array, or a pair of them, like those of some rows, for all."""
    if isinstance(part, tuple):
        return tuple([_room(each, n_rows) for each in part])
    return np.empty((n_rows, *part.shape[1:]), part.dtype)


def _put(part: Any, whole: Any, begin: int) -> None:
    if isinstance(part, tuple):
        for each, all_of_it in zip(part, whole, strict=True):
            _put(each, all_of_it, begin)
    else:
        whole[begin : begin + len(part)] = part
