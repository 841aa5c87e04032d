"""Rows as people keep them, in one file: CSV, TSV or Parquet, read whole, and written."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hornbeam.data.delimited import read_delimited
from hornbeam.data.files import files_of, is_remote, need_arrow, open_file
from hornbeam.data.schema import Feature, Kind
from hornbeam.errors import DataError, SchemaError

__all__ = ["encode_rows", "read_rows", "type_of"]

_PARQUET = b"PAR1"  # the first bytes of such a file


def read_rows(path: str, *, types: Mapping[str, str] | None = None, **text: Any) -> Any:
    r"""Read all rows of a file.

    Parameters
    ----------
    path : str
        A text file with delimiters, plain or compressed, a Parquet file, a folder of such, or the address of
        either in a store; ``-`` is the standard input. What is in a file is seen from its first bytes, not
        from its name.
    types : mapping from column to {"number", "text", "boolean"}, optional
        What some columns hold, whatever it looks like.
    **text
        How to read text: the other parameters of `read_delimited`.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    DataError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "rows.csv").write_text("zip;age\n01067;30\n")
    ...     read_rows(f"{folder}/rows.csv", types={"zip": "text"}).to_pylist()
    [{'zip': '01067', 'age': 30}]
    """
    need_arrow()
    data = None if path != "-" and _is_parquet(path) else _contents(path)
    if data is None or data[: len(_PARQUET)] == _PARQUET:
        return _typed(_read_parquet(files_of(path) if data is None else [data]), types or {})
    return read_delimited(data, path, types=types, **text)


def encode_rows(columns: Mapping[str, Any], *, as_parquet: bool) -> bytes:
    """Write columns as the bytes of a Parquet file, or of a CSV file.

    Examples
    --------
    >>> print(encode_rows({"label": ["no"], "p": [0.25]}, as_parquet=False).decode())
    "label","p"
    "no",0.25
    <BLANKLINE>
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    table, sink = pa.table(dict(columns)), pa.BufferOutputStream()
    (parquet.write_table if as_parquet else csv.write_csv)(table, sink)
    return bytes(sink.getvalue())


def type_of(feature: Feature) -> str:
    """What a column must hold to be this feature.

    Examples
    --------
    >>> type_of(Feature("age")), type_of(Feature("zip", Kind.NOMINAL, ("01067", "79098")))
    ('number', 'text')
    """
    if feature.kind is Kind.NUMERIC:
        return "number"
    if all(isinstance(category, bool) for category in feature.categories):
        return "boolean"
    return "text" if any(isinstance(category, str) for category in feature.categories) else "number"


def _is_parquet(path: str) -> bool:
    if is_remote(path) or Path(path).is_dir():
        return True
    if not Path(path).is_file():  # a pipe can be read once only
        return False
    with Path(path).open("rb") as file:
        return file.read(len(_PARQUET)) == _PARQUET


def _contents(path: str) -> Any:
    """All bytes of a text file, unpacked if it is compressed, or of the standard input."""
    import pyarrow as pa

    if path == "-":
        return sys.stdin.buffer.read()
    if not Path(path).is_file():
        return Path(path).read_bytes()  # a pipe; or the error that tells what is wrong
    try:
        with pa.input_stream(path, compression="detect") as stream:
            return stream.read()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path!r} cannot be read: {' '.join(str(error).split())}") from error


def _read_parquet(files: list[Any]) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    tables = []
    for file in files:
        if isinstance(file, str):
            with open_file(file) as opened:
                tables.append(parquet.read_table(opened))
        else:
            tables.append(parquet.read_table(pa.BufferReader(file)))
    try:
        return pa.concat_tables(tables)
    except pa.ArrowInvalid as error:
        raise DataError(f"The files differ in their columns: {' '.join(str(error).split())}") from error


def _typed(table: Any, types: Mapping[str, str]) -> Any:
    """The columns cast to what they are said to hold."""
    import pyarrow as pa

    arrow = {"number": pa.float64(), "text": pa.string(), "boolean": pa.bool_()}
    for name, word in types.items():
        if name not in table.column_names:
            continue
        column = table[name]
        try:
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            column = column.cast(arrow[word])
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            cause = " ".join(str(error).split())
            raise SchemaError(f"Column {name!r} holds {column.type}, expected {word}s: {cause}") from error
        table = table.set_column(table.column_names.index(name), name, column)
    return table
