"""Rows as a user passes them, opened as a source: the only module that asks what X is."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from os import PathLike
from os.path import exists
from typing import Any

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.data.weights import class_factors
from hornbeam.errors import DataError, ParameterError, SchemaError, shown
from hornbeam.typing import Floats


def open_rows(
    X: Any,
    y: Any = None,
    weight: Any = None,
    *,
    groups: Any = None,
    schema: Schema | None = None,
    needed: Collection[str] | None = None,
    class_weight: Any = None,
    target_kind: Kind | None = None,
    engine: Engine | None = None,
    labelled: bool = False,
    keep: Sequence[str] = (),
) -> Source:
    """Open rows in any form as a source: one in memory is a view of its table.

    Parameters
    ----------
    X : array-like, data frame, dict or list of dicts, Table, path, paths, Source or dask collection
        A new form of rows is one more branch here.
    y, weight, groups : array-like or str, optional
        Names of columns if X is files; names or collections if X is a collection. None if X is a Table or a Source,
        which has its own; the name of its target is accepted with `target_kind`.
    schema : Schema, optional
        The schema to match; inferred by default.
    needed : collection of str, optional
        The features that are used: files are read for these alone, and a Source or dicts may lack the others.
    class_weight : mapping, "balanced" or float64 array, optional
        As `Table.read` takes it; an array has the factor of each class of the schema, and a Source must have the same.
    target_kind : Kind, optional
        The kind of target that the rows must have. None: a target is read if there is one.
    engine : Engine, optional
        Reads files; this thread by default. One with `_write_rows`, as `DaskEngine`, writes a collection as files.
    labelled : bool, default False
        Leave out the rows of files without a target, which are an error otherwise.
    keep : sequence of str, default ()
        Other columns of files to read.

    Raises
    ------
    ParameterError
        If the arguments do not belong to this form of rows, or a Source lacks features in `needed`.
    SchemaError
        If a Table or a Source has other features, classes or class weights.
    DataError
        If the rows cannot be read, or lack a target.

    Examples
    --------
    >>> open_rows([[1.0], [2.0]], ["no", "yes"]).schema.classes
    ('no', 'yes')
    """
    if isinstance(keep, str):
        raise ParameterError(f"keep is {keep!r}; expected a sequence of names, such as [{keep!r}].")
    if is_collection(X) and hasattr(engine, "_write_rows"):
        _check_target(y, target_kind)
        return _open_collection(
            X,
            (y, weight, groups),
            engine,
            schema=schema,
            needed=needed,
            class_weight=class_weight,
            target_kind=target_kind,
            labelled=labelled,
            keep=keep,
        )
    factors = class_weight if schema is not None and isinstance(class_weight, np.ndarray) else None
    if are_paths(X):
        _check_names(X, y, weight, groups, needs_target=target_kind is not None)
        return _open_files(
            X,
            target=y,
            sample_weight=weight,
            class_weight=class_weight if factors is None else _named_factors(factors, schema),
            groups=groups,
            schema=_needed_features(schema, needed),
            engine=engine,
            labelled=labelled,
            target_kind=target_kind,
            keep=tuple(keep),
        )
    if keep:
        raise ParameterError(
            "keep names columns to copy, but X is not files; expected their paths. Pass these, or leave keep out."
        )
    if isinstance(X, Table) or is_source(X):
        _check_own(X, (y, weight, groups), target_kind)
        if factors is None and class_weight is not None and not isinstance(class_weight, str):
            factors = class_factors(class_weight, X.schema.classes, lambda: np.empty(0, np.int64))
        elif factors is None and class_weight is not None and X.class_weight is None:
            raise ParameterError(
                f"class_weight={shown(class_weight)}: {_described(X)}, which has no class weights; expected one that "
                "was opened with them (class_weight=). Open it so, or pass the paths of its files."
            )
        if schema is not None:
            _check_schema(X, schema, needed, target_kind is not None)
        return _weighted_source(X, factors)
    _check_target(y, target_kind)
    table = Table.read(
        X,
        y,
        sample_weight=weight,
        class_weight=class_weight if factors is None else None,
        groups=groups,
        schema=schema,
        target_kind=target_kind,
        needed=needed,
    )
    return _weighted_source(table, factors)


def read_rows(X: Any, y: Any = None, weight: Any = None, **options: Any) -> Table:
    """Read rows in any form into one table; parameters as in `open_rows`.

    Examples
    --------
    >>> schema = Table.read([[1], [2]], ["no", "yes"]).schema
    >>> read_rows([[3]], schema=schema).columns[0]
    array([3.])
    """
    source = open_rows(X, y, weight, **options)
    if isinstance(source, MemorySource):
        return source.table
    return _join([source.read(partition) for partition in source.partitions()])


def unpack_rows(rows: Any, name: str) -> tuple[Any, Any, Any]:
    """Return X, y and weights of an argument that is a Table, a Source, or a tuple of X, y and possibly weights."""
    if isinstance(rows, Table) or is_source(rows):
        return rows, None, None
    if not isinstance(rows, tuple) or len(rows) not in (2, 3):
        raise ParameterError(
            f"{name}={shown(rows)}: expected a tuple of X and y, or of X, y and weights, or a Table or Source."
        )
    return rows[0], rows[1], rows[2] if len(rows) == 3 else None


def are_paths(X: Any) -> bool:
    """Whether X is a path or a list of paths."""
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(item, (str, PathLike)) for item in X)
    return isinstance(X, (str, PathLike))


def is_source(X: Any) -> bool:
    """Whether X is a `Source`."""
    return hasattr(X, "partitions") and hasattr(X, "schema") and hasattr(X, "read")


def is_collection(X: Any) -> bool:
    """Whether X is a data frame, series or array of Dask; those of xarray have no partitions.

    Examples
    --------
    >>> is_collection([[1.0], [2.0]])
    False
    """
    kind = type(X)  # a frame in memory takes long to say that it has no such attribute
    return hasattr(kind, "__dask_graph__") and hasattr(kind, "npartitions")


def is_source_like(X: Any) -> bool:
    """Whether X is a path, a list of paths or a Source, and not rows in memory.

    Examples
    --------
    >>> is_source_like("rows.parquet"), is_source_like(["a.parquet", "b.parquet"]), is_source_like([[1.0], [2.0]])
    (True, True, False)
    """
    return are_paths(X) or is_source(X)


def require_in_memory(X: Any, name: str) -> None:
    """Raise `ParameterError` for paths and sources; for what computes with rows in memory alone.

    Examples
    --------
    >>> require_in_memory("rows.parquet", "BoostedTreesClassifier")
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: X is a path of files, and BoostedTreesClassifier takes rows in memory alone; ...
    """
    if is_source_like(X):
        raise ParameterError(
            f"{_described(X)}, and {name} takes rows in memory alone; expected an array or a data frame. Read the "
            f"files first (pandas.read_parquet, say), all of them or a sample.{_if_values(X)}"
        )


def _described(X: Any) -> str:
    """Say what X is, for an error."""
    if isinstance(X, (list, tuple)):
        return f"X is a {type(X).__name__} of strings, which are read as paths of files"
    return (
        "X is a path of files" if are_paths(X) else f"X is a {'Table' if isinstance(X, Table) else 'Source'}"
    )


def _if_values(X: Any) -> str:
    """Advice for a list of strings that was meant as values."""
    return (
        " If they are values, pass one list per row: [['a'], ['b']]." if isinstance(X, (list, tuple)) else ""
    )


def _open_files(paths: Any, **columns: Any) -> Source:
    """Open Parquet files; the error of a list of names, none of which exists, says that they may be values."""
    from hornbeam.data.files.parquet import scan_parquet  # imported only for files: it is slow to import

    try:
        return scan_parquet(paths, **columns)
    except DataError as error:
        if isinstance(paths, (list, tuple)) and not any(map(exists, paths)):
            raise DataError(f"{_described(paths)}. {error}{_if_values(paths)}") from error
        raise


def _open_collection(X: Any, columns: tuple[Any, Any, Any], engine: Any, **options: Any) -> Source:
    """Let the engine write a collection as files, and open them; they are deleted with the source."""
    written = engine._write_rows(X, *columns)
    try:
        source: Any = open_rows(
            written.path, written.target, written.weight, groups=written.groups, engine=engine, **options
        )
    except BaseException:
        written.close()
        raise
    return replace(source, written=written)  # type: ignore[no-any-return]


def _check_target(y: Any, target_kind: Kind | None) -> None:
    """Require a target, if there must be one."""
    if target_kind is not None and y is None:
        raise DataError(
            "y is None; expected the class, or the number, of each row. Pass y, or a Table that was read with it."
        )


def _needed_features(schema: Schema | None, needed: Collection[str] | None) -> Schema | None:
    """Select the features that are read from files; one at least."""
    if schema is None or needed is None:
        return schema
    return schema.select([at for at, name in enumerate(schema.names) if name in needed] or [0])


def _named_factors(factors: Floats, schema: Schema | None) -> dict[Any, float] | None:
    """Name the factors of classes, as files are opened with them; None if all are 1."""
    if schema is None or (factors == 1).all():
        return None
    return dict(zip(schema.classes, factors.tolist(), strict=True))


def _check_names(X: Any, y: Any, weight: Any, groups: Any, needs_target: bool) -> None:
    """Require the names of columns as the target, weights and groups of files."""
    for name, column in {"y": y, "sample_weight": weight, "groups": groups}.items():
        if not isinstance(column, str) and (column is not None or (needs_target and name == "y")):
            raise ParameterError(
                f"{_described(X)}, and {name} is a {type(column).__name__}; expected the name of their column. "
                f"Pass {name}='{name}', say.{_if_values(X)}"
            )


def _check_own(X: Any, given: tuple[Any, Any, Any], kind: Kind | None) -> None:
    """Require that a Table or a Source has its own target, weights and groups, and no others are given."""
    y, *others = given
    named = kind is not None and isinstance(y, str)
    if (y is not None and not named) or any(other is not None for other in others):
        raise ParameterError(
            f"{_described(X)}, which has its labels, weights and groups; expected no y, no sample_weight and no "
            "groups. Pass y=None, and open or read it with its target, weights and groups."
        )
    if kind is None:
        return
    if X.schema.target_kind is not kind:
        raise ParameterError(
            f"{_described(X)} with a {X.schema.target_kind} target; expected a {kind} one. Open it with "
            f"target_kind='{kind}', or use a "
            f"{'regressor' if X.schema.target_kind is Kind.NUMERIC else 'classifier'}."
        )
    if is_source(X) and not X.schema.is_regression and not X.schema.classes:
        raise DataError(
            "X is a Source without a target; expected one. Open it with target=: scan_parquet(paths, target='y')."
        )
    if isinstance(X, Table) and X.target is None and X.numeric_target is None:
        raise DataError("X is a Table without a target; expected one. Read it with y: Table.read(X, y).")


def _check_schema(X: Any, schema: Schema, needed: Collection[str] | None, needs_target: bool) -> None:
    """Require that a Table or a Source encodes features and classes as a model does; a Source those in `needed`."""
    some = None if isinstance(X, Table) else needed
    if some is not None:
        known = {feature.name: feature for feature in X.schema.features}
        for feature in schema.features:  # in order: the first is reported
            if feature.name in some and known.get(feature.name) != feature:
                what = "has other categories" if feature.name in known else "is absent"
                raise ParameterError(
                    f"In the rows of X the feature {feature.name!r} {what}; expected the schema of the model. Open a "
                    "Source with schema=model.tree_.schema, or pass the paths of its files."
                )
    classes = (schema.classes,) if needs_target else (schema.classes, ())
    if X.schema.classes not in classes or (some is None and X.schema.features != schema.features):
        raise SchemaError(
            f"{_described(X)} with other columns, categories or classes than the tree; expected the same. Open it, or "
            "read it, with schema=tree.schema, or pass the rows themselves."
        )


def _weighted_source(X: Any, factors: Floats | None) -> Source:
    """Weigh the classes of a table for the search for splits, without rows of weight 0; a Source must be so already."""
    if isinstance(X, Table):
        if factors is not None and (factors != 1).any():
            X = replace(X.take(np.flatnonzero(factors[X.target] > 0)), class_weight=factors)
        return MemorySource(X)
    if factors is not None and not np.array_equal(
        np.ones(len(factors)) if X.class_weight is None else X.class_weight, factors
    ):
        raise SchemaError(
            "X is a Source with other class weights than those of the fit; expected the same. Open it with them "
            "(class_weight=), or pass the paths of its files."
        )
    return X  # type: ignore[no-any-return]


def _join(parts: Sequence[Table]) -> Table:
    """Make one table of the rows of several."""
    if not parts:
        raise DataError("there are no rows; expected at least one.")

    def joined(name: str) -> Any:
        arrays = [getattr(part, name) for part in parts]
        return None if arrays[0] is None else np.concatenate(arrays)

    values = [part.numeric_target.values for part in parts if part.numeric_target is not None]
    target = parts[0].numeric_target
    return replace(
        parts[0],
        columns=tuple(
            [np.concatenate(columns) for columns in zip(*[part.columns for part in parts], strict=True)]
        ),
        target=joined("target"),
        weight=joined("weight"),
        group=joined("group"),
        matrix=None,
        numeric_target=None if target is None else replace(target, values=np.concatenate(values)),
    )
