"""Text files with delimiters, such as CSV, read as Arrow tables of numbers, booleans and texts."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from hornbeam.data.files.stores import one_line
from hornbeam.errors import DataError, import_extra

# Texts that stand for a missing value; a cell is compared without the blanks around it.
MISSING_MARKS = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")
_HEAD_BYTES = 1 << 20  # that may have the names of the columns
_FEW_VALUES = 10_000
_CODE_DIGITS = 3  # of the shortest code that begins with a zero; 08 may be a month
_DELIMITERS = (",", ";", "\t", "|")


def read_delimited(
    data: Any,
    name: str,
    *,
    types: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    missing: Sequence[str] = MISSING_MARKS,
    encoding: str = "utf-8",
) -> Any:
    """Read a text file whose first row names its columns as a pyarrow table, a block at a time.

    `data` is the content, or a function that opens a binary stream, which may be called several times; `name`
    is the name of the file in messages. `types` maps columns to "number", "text" or "boolean", those of the
    others are inferred; codes such as ``007``, whole numbers of three digits or more of which some begin with a zero,
    are text. The default delimiter is the most frequent of ``, ;
    | `` and tab in the first row. The table has no blanks around names and texts, and texts as dictionaries.

    Raises a `DataError` if the file is empty, ragged or of another encoding, if two columns have the same
    name, or if a column has another type than `types`.
    """
    import_extra("pyarrow", "cli", "Reading text files")
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        data = _transcoded(data().read() if callable(data) else data, name, encoding)
    opened = data if callable(data) else lambda: pa.BufferReader(data)
    with opened() as stream:
        names, n_lines, delimiter, codes = _header(stream.read(_HEAD_BYTES), name, delimiter, missing)
    types, arrow_type = dict.fromkeys(codes, "text") | dict(types or {}), arrow_types()
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    convert = arrow_csv.ConvertOptions(
        column_types={column: arrow_type[kind] for column, kind in types.items() if column in names},
        # Texts of few distinct values are dictionaries from the first block on, which takes less memory.
        auto_dict_encode=True,
        auto_dict_max_cardinality=_FEW_VALUES,
        # With a blank before it too, or a numeric column would be read as text.
        null_values=[text for mark in missing for text in (mark, f" {mark}")],
        strings_can_be_null=True,
        decimal_point=decimal,
    )
    for threads in (True, False):  # only a single thread reports which row is wrong
        read = arrow_csv.ReadOptions(use_threads=threads, column_names=names, skip_rows=n_lines)
        try:
            with opened() as stream:
                table = arrow_csv.read_csv(
                    stream, read_options=read, parse_options=parse, convert_options=convert
                )
            break
        except pa.ArrowInvalid as error:
            if not threads:
                raise DataError(f"{name!r} cannot be read: {_explain(error, names, n_lines)}") from None
    if not table.num_rows:
        raise DataError(f"{name!r} has column names, but no rows. Expected at least one row below the names.")
    return pa.table([_trim(table[column], column, name, missing) for column in names], names=names)


def arrow_types() -> dict[str, Any]:
    """Return the Arrow type of each type name."""
    import pyarrow as pa

    return {"number": pa.float64(), "text": pa.string(), "boolean": pa.bool_()}


def _transcoded(data: Any, name: str, encoding: str) -> bytes:
    try:
        return bytes(data).decode(encoding).encode()
    except (LookupError, UnicodeDecodeError) as error:
        raise DataError(f"{name!r} is not in the encoding {encoding!r}: {error}.") from error


def _header(
    head: bytes, name: str, delimiter: str | None, missing: Sequence[str]
) -> tuple[list[str], int, str, list[str]]:
    """Return the names of the columns, the number of lines they take, the delimiter, and the columns of codes."""
    if len(head) == _HEAD_BYTES:  # its last line may be cut
        head = head[: head.rfind(b"\n") + 1 or None]
    lines = io.StringIO(head.decode("utf-8-sig", errors="replace"), newline=None)
    first, n_blank = lines.readline(), 0
    while first and not first.strip():
        first, n_blank = lines.readline(), n_blank + 1
    if not first:
        raise DataError(f"{name!r} is empty. Expected a row of names, and rows of values below.")
    if "\0" in first:
        raise DataError(f"{name!r} is not a text file; expected CSV, TSV or Parquet.")
    bare = "".join(first.split('"')[::2])  # outside quotes
    delimiter = delimiter or max(_DELIMITERS, key=bare.count)
    rows = csv.reader(chain([first], lines), delimiter=delimiter)
    # A column of row numbers often has no name.
    try:
        names = [column.strip() or f"column {at}" for at, column in enumerate(next(rows), 1)]
    except csv.Error as error:
        raise DataError(
            f"The first row of {name!r} cannot be read: {error}. Expected the names of the columns, each of at most "
            f"{csv.field_size_limit():,} characters. Shorten them, or close an open quote."
        ) from None
    for column, n_times in Counter(names).items():
        if n_times > 1:
            raise DataError(f"{name!r} has two columns named {column!r}. Rename one of them.")
    n_lines = n_blank + rows.line_num
    return names, n_lines, delimiter, _code_columns(rows, names, missing)


def _code_columns(rows: Iterator[list[str]], names: Sequence[str], missing: Sequence[str]) -> list[str]:
    """Return the columns whose first values are whole numbers of three digits or more, some with a zero in front."""
    digits, padded = set(names), set[str]()
    with suppress(csv.Error):  # the reader of all rows reports it
        for row in islice(rows, _FEW_VALUES):
            for column, text in zip(names, row, strict=False):
                value = text.strip()
                if column not in digits or value in missing:
                    continue
                if len(value) < _CODE_DIGITS or not (value.isascii() and value.isdigit()):
                    digits.discard(column)
                elif value[0] == "0":
                    padded.add(column)
    return [column for column in names if column in digits & padded]


def _explain(error: Exception, names: list[str], n_lines: int) -> str:
    """Describe an error of pyarrow: the row, counted below the names, and the name of the column, but no values."""
    message = one_line(error)
    row = re.search(r"Row #(\d+): ", message)
    where = f"row {int(row[1]) - n_lines}" if row else "a row"
    if ragged := re.search(r"Expected (\d+) columns, got (\d+): ", message):
        expected, found = ragged.groups()
        return f"{where} has {found} values, expected {expected}, one for each name."
    if wrong := re.search(r"column #(\d+): .*conversion error to (\w+): invalid value ", message):
        kind = {"double": "number", "bool": "boolean"}.get(wrong[2], wrong[2])
        return f"column {names[int(wrong[1])]!r}, {where}: the value is not a {kind}."
    if "straddling" in message:
        return (
            f"{where} is longer than 1 MB, or a quote is opened and never closed; expected shorter rows. Leave out the "
            "column of long texts, or close the quote."
        )
    return f"{message.partition(': ')[0]}, in {where}."


def _trim(column: Any, label: str, name: str, missing: Sequence[str]) -> Any:
    """Convert texts to dictionaries without blanks around the values; return other columns unchanged."""
    import pyarrow as pa
    from pyarrow import compute

    held = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_binary(held):
        raise DataError(
            f"Column {label!r} of {name!r} is not UTF-8. Name the encoding of the file, such as latin-1, or convert it."
        )
    if not pa.types.is_string(held):
        return column
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    trimmed = compute.utf8_trim_whitespace(encoded.dictionary)
    if trimmed.equals(encoded.dictionary):
        return encoded
    is_missing = compute.is_in(trimmed, value_set=pa.array(missing, pa.string()))
    return compute.if_else(is_missing, None, trimmed).take(encoded.indices).dictionary_encode()
