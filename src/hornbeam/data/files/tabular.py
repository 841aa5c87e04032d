"""CSV, TSV and Parquet files of the command line: read whole or in parts, and written."""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.addresses import is_remote
from hornbeam.data.files.delimited import arrow_types, read_delimited
from hornbeam.data.files.footers import (
    add_folder_types,
    common_types,
    folder_array,
    folder_types,
    folder_values,
    merge_columns,
    read_footers,
)
from hornbeam.data.files.paths import list_files, need_arrow
from hornbeam.data.files.stores import file_errors, one_line, open_parquet, read_file, read_in_turn
from hornbeam.data.reading.columns import decimals_as_floats
from hornbeam.data.schema import Feature
from hornbeam.errors import DataError, SchemaError

_PARQUET = b"PAR1"  # the first bytes of a Parquet file
_TEXT = re.compile("(large_|fixed_size_)?(string|binary)")  # Arrow's names of types
_PART_ROWS = 1 << 17
_MOST_TIMES = 100  # its size, which a compressed text file may unpack to
_ANY_BYTES = 1 << 27  # which it may unpack to in any case
_BUFFER_BYTES = 1 << 20
_FORMULA = r"^[=+\-@\t\r]"  # the beginning of a text that a spreadsheet takes for a formula
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def read_table(
    path: str,
    *,
    types: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    optional: Collection[str] | None = (),
    **text: Any,
) -> Any:
    """Read all rows of a file as a pyarrow table.

    `path` is a text file with delimiters, plain or compressed, a Parquet file, a folder or a pattern of such,
    or the address of either in a store; ``-`` is the standard input. The first bytes of a file, not its name,
    determine its format. `types` are those of `read_delimited`, and so are the parameters of `text`.
    `columns` are those to read from Parquet files; absent ones are ignored. Some of several Parquet files may
    lack `optional` columns, or any if None, where they are read as missing.
    """
    need_arrow()
    import pyarrow as pa

    files = parquet_files(path)
    if files is not None:
        return _typed(_read_parquet(files, columns, types, optional), types or {})
    if Path(path).is_file():
        try:
            _check_unpacked_size(path)
        except (pa.ArrowException, OSError) as error:
            why = one_line(error).rstrip(".")
            raise DataError(f"{path!r} cannot be read: {why}. Copy or write it again.") from error
        return read_delimited(lambda: pa.input_stream(path, compression="detect"), path, types=types, **text)
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()  # a pipe can be read only once
    if data[: len(_PARQUET)] == _PARQUET:
        with file_errors(path):
            return _typed(open_parquet(pa.BufferReader(data)).read(), types or {})
    return read_delimited(data, path, types=types, **text)


def read_parts(
    path: str, *, types: Mapping[str, str] | None = None, columns: Sequence[str] | None = None, **text: Any
) -> Iterator[Any]:
    """Read the rows of Parquet files in parts of at most 131,072, one in memory at a time; a text file is one part."""
    need_arrow()
    files = parquet_files(path)
    if files is None:
        yield read_table(path, types=types, **text)
        return
    import pyarrow as pa

    folders = _folder_types(files, types, columns)
    for file in files:

        def batches(opened: Any, file: str = file) -> Iterator[Any]:
            parquet = open_parquet(opened, pre_buffer=is_remote(file), buffer_size=_BUFFER_BYTES)
            return parquet.iter_batches(_PART_ROWS, columns=_present(columns, parquet))  # type: ignore[no-any-return]

        for batch in read_in_turn(file, batches):
            if len(batch):
                table = _with_folders(pa.Table.from_batches([batch]), file, columns, folders)
                yield _typed(table, types or {})


def read_column(
    files: Sequence[str], name: str, most_rows: int, optional: Collection[str] | None = ()
) -> Any:
    """Read one column of the first `most_rows` rows of Parquet files; texts as dictionaries.

    Files may lack `optional` columns, or any if None: their rows are missing values.
    """
    import pyarrow as pa

    tables, n_rows = [], 0
    folders = folder_types(files)
    for file in files:
        if n_rows >= most_rows:
            break

        def read(opened: Any, file: str = file) -> Any:
            parquet = open_parquet(opened, pre_buffer=False)
            if name in parquet.schema_arrow.names:
                parquet = open_parquet(
                    opened, metadata=parquet.metadata, read_dictionary=[name], pre_buffer=False
                )
            table = parquet.read(columns=_present([name], parquet))
            table = _with_folders(table, file, [name], folders)
            if name not in table.column_names:
                if optional is None or name in optional:
                    return pa.table({name: pa.nulls(parquet.metadata.num_rows)})
                raise DataError(f"{file!r} has no column {name!r}. Name columns that every file has.")
            return table.select([name])

        tables.append(read_file(file, read)[: most_rows - n_rows])
        n_rows += len(tables[-1])
    return concat_tables(tables).unify_dictionaries()[name] if tables else pa.chunked_array([], pa.null())


def check_columns(files: Sequence[str], names: Collection[str]) -> None:
    """Raise a `DataError` if a Parquet file lacks one of the named columns; only footers are read."""
    footers = add_folder_types(read_footers(files, LocalEngine()), folder_types(files, needed=names))
    common_types(footers, names)


def parquet_files(path: str) -> list[str] | None:
    """List the Parquet files at a path; None for a file of another format, or a pipe."""
    if path == "-":
        return None
    if is_remote(path) or Path(path).is_dir():
        return list_files(path)
    if not Path(path).exists() and any(mark in path for mark in "*?["):
        return list_files(path)
    if not Path(path).is_file():  # a pipe can be read only once
        return None
    with Path(path).open("rb") as file:
        return list_files(path) if file.read(len(_PARQUET)) == _PARQUET else None


def parquet_shape(files: Sequence[str], needed: Collection[str | None] = ()) -> tuple[int, list[str]]:
    """Return the number of rows of Parquet files, and the columns of all; only footers are read.

    Columns in folder names are among them if they are `needed` or have several values.
    """
    need_arrow()
    n_rows = 0
    columns = {}
    folders = folder_types(files, needed=needed)
    for file in files:
        parquet = read_file(file, open_parquet)
        n_rows += parquet.metadata.num_rows
        columns[file] = [*parquet.schema_arrow.names, *folders]
    return n_rows, merge_columns(columns, None)


def write_parts(parts: Iterable[Mapping[str, Any]], sink: BinaryIO, *, as_parquet: bool) -> int:
    """Write parts, each a mapping from names to columns, as one Parquet or CSV file; return the number of rows."""
    import pyarrow as pa

    n_rows, schema, write, close = 0, None, None, None
    try:
        for part in parts:
            table = pa.table(dict(part))
            if schema is None:
                schema = table.schema
                write, close = _parquet_sink(sink, schema) if as_parquet else _csv_sink(sink)
            assert write is not None
            write(_cast(table, schema))
            n_rows += len(table)
    finally:
        if close is not None:
            close()
    return n_rows


def _parquet_sink(sink: BinaryIO, schema: Any) -> tuple[Callable[[Any], None], Callable[[], None]]:
    from pyarrow.parquet import ParquetWriter

    writer = ParquetWriter(sink, schema, write_page_checksum=True)
    return writer.write_table, writer.close


def _csv_sink(sink: BinaryIO) -> tuple[Callable[[Any], None], Callable[[], None]]:
    import pyarrow as pa
    from pyarrow import csv

    header_written = False

    def write(table: Any) -> None:
        nonlocal header_written
        table = _without_formulas(table)
        buffer = pa.BufferOutputStream()
        try:
            csv.write_csv(table, buffer, csv.WriteOptions(include_header=not header_written))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(
                f"CSV cannot hold the type of a column: {one_line(error)}. Write Parquet or JSON."
            ) from error
        sink.write(buffer.getvalue().to_pybytes())
        header_written = True

    return write, lambda: None


def _without_formulas(table: Any) -> Any:
    """Put an apostrophe before names and texts that a spreadsheet would take for a formula, except numbers."""
    import pyarrow as pa
    from pyarrow import compute

    for at, name in enumerate(table.column_names):
        column = _as_text(name, table[name])
        if pa.types.is_large_string(column.type):
            risky = compute.and_not(
                compute.match_substring_regex(column, _FORMULA),
                compute.match_substring_regex(column, _NUMBER),
            )
            quote, end = (pa.scalar(text, column.type) for text in ("'", ""))
            column = compute.if_else(risky, compute.binary_join_element_wise(quote, column, end), column)
        table = table.set_column(at, name, column)
    names = [
        f"'{name}" if re.match(_FORMULA, name) and not re.match(_NUMBER, name) else name
        for name in table.column_names
    ]
    return table.rename_columns(names)


def json_values(name: str, column: Any) -> list[Any]:
    """Return the values of an Arrow column as JSON has them: decimals, dates and times as texts."""
    import pyarrow as pa

    column = _as_text(name, column)
    if pa.types.is_temporal(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.large_string())
    return column.to_pylist()  # type: ignore[no-any-return]


def _as_text(name: str, column: Any) -> Any:
    """Cast each of Arrow's types of text and bytes to one, large_string; dictionaries to their values."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    try:
        return column.cast(pa.large_string() if _TEXT.match(str(kind)) else kind)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"Column {name!r} has bytes that are not UTF-8 text; only Parquet can hold them."
        ) from error


def _cast(table: Any, schema: Any) -> Any:
    """Cast the columns of a part to the types of the first part."""
    import pyarrow as pa

    if table.schema.equals(schema):
        return table
    try:
        return table.cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise DataError(f"The files differ in their columns: {one_line(error)}") from error


def column_type(feature: Feature) -> str:
    """Return the type of column that a feature is read from."""
    if feature.is_numeric:
        return "number"
    if all(isinstance(category, bool) for category in feature.categories):
        return "boolean"
    return "text" if any(isinstance(category, str) for category in feature.categories) else "number"


def _check_unpacked_size(path: str) -> None:
    """Raise a `DataError` if a compressed text file unpacks to far more than its size; nothing is kept in memory."""
    import pyarrow as pa

    size, n_read = Path(path).stat().st_size, 0
    most = max(_ANY_BYTES, _MOST_TIMES * size)
    with pa.input_stream(path, compression="detect") as stream:
        if isinstance(stream, pa.OSFile):  # not compressed
            return
        while n_bytes := len(stream.read(_BUFFER_BYTES)):
            n_read += n_bytes
            if n_read > most:
                raise DataError(
                    f"{path!r} has {size:,} bytes and unpacks to more than {most:,}; expected at most {_ANY_BYTES:,}, "
                    f"or {_MOST_TIMES} times its size. If the file is right, unpack it and name the unpacked file, or "
                    "pipe the rows to the standard input (-)."
                )


def _read_parquet(
    files: Sequence[str],
    columns: Sequence[str] | None,
    types: Mapping[str, str] | None,
    optional: Collection[str] | None,
) -> Any:
    def read(opened: Any) -> Any:
        parquet = open_parquet(opened)
        return parquet.read(columns=_present(columns, parquet))

    folders = _folder_types(files, types, columns)
    tables = {file: _with_folders(read_file(file, read), file, columns, folders) for file in files}
    names = merge_columns({file: table.column_names for file, table in tables.items()}, optional)
    return concat_tables(list(tables.values())).select(names)


def _folder_types(
    files: Sequence[str], types: Mapping[str, str] | None, columns: Sequence[str] | None
) -> dict[str, str]:
    """Return the types of columns in folder names; without `columns`, of those in `types` or with several values."""
    text = [name for name, kind in (types or {}).items() if kind == "text"]
    return folder_types(files, text, tuple(types or ()) if columns is None else None)


def _with_folders(table: Any, file: str, columns: Sequence[str] | None, folders: Mapping[str, str]) -> Any:
    """Add the requested columns in folder names that the file itself does not have; None for all of `folders`."""
    for name in folder_values(file):
        if name not in table.column_names and name in (folders if columns is None else columns):
            table = table.append_column(name, folder_array(file, name, folders[name], len(table)))
    return table


def _present(columns: Sequence[str] | None, parquet: Any) -> list[str] | None:
    """Return the requested columns that a file has; None for all."""
    if columns is None:
        return None
    names = set(parquet.schema_arrow.names)
    return [name for name in dict.fromkeys(columns) if name in names]


def _typed(table: Any, types: Mapping[str, str]) -> Any:
    """Cast columns to the given types."""
    import pyarrow as pa

    for name, kind in types.items():
        if name not in table.column_names:
            continue
        column = table[name]
        try:
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if pa.types.is_decimal(column.type) and kind == "number":
                column = pa.array(decimals_as_floats(column), from_pandas=True)
            column = column.cast(arrow_types()[kind])
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise SchemaError(
                f"Column {name!r} holds {column.type}, expected {kind}s: {one_line(error)}"
            ) from error
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def concat_tables(tables: Sequence[Any]) -> Any:
    """Concatenate Arrow tables; columns that some lack are null there."""
    import pyarrow as pa

    try:
        return pa.concat_tables(tables, promote_options="default")
    except pa.ArrowInvalid as error:
        raise DataError(f"The files differ in their columns: {one_line(error)}") from error
