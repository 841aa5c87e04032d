"""Parquet writer: a stream of rows as one file, with row groups of a size that is fast to read; columns of codes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_whole
from hornbeam.data.files.addresses import require_disk
from hornbeam.data.files.paths import need_arrow
from hornbeam.data.files.scratch import open_draft, remove_drafts
from hornbeam.errors import DataError, ParameterError

GROUP_ROWS = 1 << 18


def write_parquet(rows: Any, path: str | os.PathLike[str], *, group_rows: int = GROUP_ROWS) -> str:
    """Write rows, or a stream of them, to a Parquet file that is read fast in parts.

    Parameters
    ----------
    rows : data frame, pyarrow Dataset, Scanner or RecordBatchReader, or iterable of record batches or tables
        Anything with the Arrow interface and one schema. Only one row group of a stream is in memory at a time.
    path : str or path
        The file; its folder is created if it does not exist.
    group_rows : int, default 262144
        Rows per row group, which is read at once.

    Returns
    -------
    str
        The absolute path of the file, which exists only when it is complete.

    Raises
    ------
    DataError
        If there are no rows, or they cannot be written as Parquet.

    Examples
    --------
    >>> import tempfile, pyarrow as pa
    >>> from hornbeam import TreeClassifier, write_parquet
    >>> batch = pa.record_batch({"age": [30, 41], "smokes": ["no", "yes"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_parquet([batch, batch], f"{folder}/rows.parquet")
    ...     TreeClassifier("cart").fit(path, "smokes").tree_.rows[0]
    np.int64(4)
    """
    need_arrow()
    import pyarrow as pa

    require_disk("path", path, "a file on a disk")
    check_whole("group_rows", group_rows, 1)
    place = Path(path).expanduser().absolute()
    if place.is_dir():
        raise ParameterError(
            f"path is {str(path)!r}, a folder; expected a file. Pass {str(place / 'rows.parquet')!r}, say."
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    remove_drafts(place.parent, place.name)
    tables = _regrouped(_tables(rows), group_rows)
    try:
        first = next(tables, None)
        if first is None:
            raise DataError(
                "there are no rows to write; expected at least one. Pass a frame or a stream with rows."
            )
        with open_draft(place) as file:
            _write(first, tables, file, group_rows)
    except pa.ArrowException as error:
        raise DataError(
            f"The rows cannot be written as Parquet: {error}. Give all batches the same schema."
        ) from error
    return str(place)


def _write(first: Any, tables: Iterator[Any], file: Any, group_rows: int) -> None:
    """Write tables to one file."""
    from pyarrow import types
    from pyarrow.parquet import ParquetWriter

    # Numbers are decoded three times as fast without a dictionary.
    with_dictionary = [column.name for column in first.schema if not types.is_primitive(column.type)]
    options = {"use_dictionary": with_dictionary or False, "write_page_checksum": True}
    with ParquetWriter(file, first.schema, **options) as writer:
        writer.write_table(first, group_rows)
        for table in tables:
            writer.write_table(table, group_rows)


def _tables(rows: Any) -> Iterator[Any]:
    """Convert any stream of rows to tables."""
    import pyarrow as pa

    if hasattr(rows, "scanner"):
        rows = rows.scanner()
    if hasattr(rows, "to_reader"):
        rows = rows.to_reader()
    elif hasattr(rows, "__arrow_c_stream__"):
        rows = pa.RecordBatchReader.from_stream(rows)
        plain = {pa.string_view(): pa.large_string()}  # pyarrow before 21 cannot write a string view
        rows = rows.cast(
            pa.schema([field.with_type(plain.get(field.type, field.type)) for field in rows.schema])
        )
    elif not isinstance(rows, Iterable):
        raise DataError(
            f"rows is a {type(rows).__name__}; expected a data frame, or a stream of record batches of pyarrow. "
            "Convert it to a frame: pandas.DataFrame(rows)."
        )
    for batch in rows:
        if not isinstance(batch, (pa.RecordBatch, pa.Table)):
            raise DataError(
                f"The stream holds a {type(batch).__name__}; expected record batches or tables of pyarrow. "
                "Pass a frame with the Arrow interface, or convert the batches."
            )
        yield pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch


def _regrouped(tables: Iterator[Any], group_rows: int) -> Iterator[Any]:
    """Concatenate and cut tables, so that each but the last consists of full row groups."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_waiting = 0
    for table in tables:
        waiting.append(table)
        n_waiting += len(table)
        if n_waiting >= group_rows:
            whole = n_waiting // group_rows * group_rows
            joined = pa.concat_tables(waiting).unify_dictionaries()
            yield joined[:whole]
            waiting, n_waiting = [joined[whole:]], n_waiting - whole
    if n_waiting:
        yield pa.concat_tables(waiting).unify_dictionaries()


def parquet_bytes(columns: Mapping[str, Any]) -> Any:
    """Encode columns as the bytes of one Parquet file."""
    need_arrow()
    import pyarrow as pa

    table = pa.table(dict(columns))
    sink = pa.BufferOutputStream()
    _write(table, iter(()), sink, max(1, len(table)))
    return sink.getvalue()


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column of few distinct values: a code per row, and the value of each code, None if missing.

    Values of several types are written as text.
    """

    codes: NDArray[Any]
    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def tolist(self) -> list[Any]:
        """Return the value of each row."""
        return [self.values[code] for code in self.codes.tolist()]

    def __arrow_array__(self, type: Any = None) -> Any:  # noqa: A002, the name of the protocol
        """Return a dictionary of texts, or the values themselves if they are no texts; pyarrow calls it."""
        import pyarrow as pa

        known = [value for value in self.values if value is not None]
        try:
            values = pa.array(known, pa.string() if not known else None)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            values = pa.array([str(value) for value in known])
        # Parquet has no dictionaries with a missing value, so the code is missing instead.
        places = np.cumsum([value is not None for value in self.values]) - 1
        absent = np.array([value is None for value in self.values], np.bool_)
        codes = pa.array(places.astype(np.int32).take(self.codes), mask=absent.take(self.codes))
        if not pa.types.is_string(values.type):
            return values.take(codes)
        return pa.DictionaryArray.from_arrays(codes, values)
