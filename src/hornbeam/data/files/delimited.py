"""Text files with delimiters, CSV above all: bytes become an Arrow table of numbers, booleans and texts."""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from hornbeam.errors import DataError, MissingExtraError

__all__ = ["MISSING_MARKS", "read_delimited"]

# What people write where they have no value; a cell is compared without the blanks around it.
MISSING_MARKS = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")
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
    r"""Read the bytes of a text file whose first row names its columns.

    Parameters
    ----------
    data : bytes or buffer
    name : str
        What the file is called in messages.
    types : mapping from column to {"number", "text", "boolean"}, optional
        What some columns hold; of the others it is found out. Texts keep the zeros of ``007``.
    delimiter : str, optional
        What stands between values; by default the most frequent of ``, ; | `` and tab in the first row.
    decimal : str, default "."
        The decimal point.
    missing : sequence of str
        What stands for a missing value.
    encoding : str, default "utf-8"

    Returns
    -------
    pyarrow.Table
        Blanks around names and texts are gone, and texts are dictionaries.

    Raises
    ------
    DataError
        If the file is empty, ragged, of another encoding, names two columns alike, or if a column does not
        hold what `types` says.

    Examples
    --------
    >>> table = read_delimited(b"age, smokes\n30, no\n41, ?\n", "people.csv")
    >>> table["age"].to_pylist(), table["smokes"].to_pylist()
    ([30, 41], ['no', None])
    """
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ImportError as error:
        raise MissingExtraError(
            "Text files need pyarrow. Install it: pip install 'hornbeam[cli]'."
        ) from error
    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        data = _transcoded(data, name, encoding)
    names, n_lines, delimiter = _header(data, name, delimiter)
    wanted = {"number": pa.float64(), "text": pa.string(), "boolean": pa.bool_()}
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    convert = arrow_csv.ConvertOptions(
        column_types={column: wanted[word] for column, word in (types or {}).items() if column in names},
        # A mark after a blank would make texts of a column of numbers.
        null_values=[mark for one in missing for mark in (one, f" {one}")],
        strings_can_be_null=True,
        decimal_point=decimal,
    )
    for threads in (True, False):  # one thread alone can say which row is wrong
        read = arrow_csv.ReadOptions(use_threads=threads, column_names=names, skip_rows=n_lines)
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(data), read_options=read, parse_options=parse, convert_options=convert
            )
            break
        except pa.ArrowInvalid as error:
            if not threads:
                raise DataError(f"{name!r} cannot be read: {_cause(error, names, n_lines)}") from None
    if not table.num_rows:
        raise DataError(f"{name!r} names columns and has no rows. Expected a row at least below the names.")
    return pa.table([_tidy(table[column], column, name, missing) for column in names], names=names)


def _transcoded(data: Any, name: str, encoding: str) -> bytes:
    try:
        return bytes(data).decode(encoding).encode()
    except (LookupError, UnicodeDecodeError) as error:
        raise DataError(f"{name!r} is not in the encoding {encoding!r}: {error}.") from error


def _header(data: Any, name: str, delimiter: str | None) -> tuple[list[str], int, str]:
    """The names of the columns, how many lines they take, and what stands between them."""
    head = bytes(memoryview(data)[: 1 << 20])
    lines = io.StringIO(head.decode("utf-8-sig", errors="replace"), newline=None)
    first, n_blank = lines.readline(), 0
    while first and not first.strip():
        first, n_blank = lines.readline(), n_blank + 1
    if not first:
        raise DataError(f"{name!r} is empty. Expected a row of names, and rows of values below.")
    if "\0" in first:
        raise DataError(f"{name!r} is no text: expected CSV, TSV or Parquet.")
    bare = "".join(first.split('"')[::2])  # outside quotes
    delimiter = delimiter or max(_DELIMITERS, key=bare.count)
    rows = csv.reader(chain([first], lines), delimiter=delimiter)
    # Row numbers are often written without a name.
    names = [column.strip() or f"column {at}" for at, column in enumerate(next(rows), 1)]
    for column, n_times in Counter(names).items():
        if n_times > 1:
            raise DataError(f"{name!r} has two columns named {column!r}. Rename one of them.")
    return names, n_blank + rows.line_num, delimiter


def _cause(error: Exception, names: list[str], n_lines: int) -> str:
    """What is wrong with a file: the row counted below the names, and the column by its name, but no values."""
    said = " ".join(str(error).split())
    row = re.search(r"Row #(\d+): ", said)
    where = f"row {int(row[1]) - n_lines}" if row else "a row"
    if ragged := re.search(r"Expected (\d+) columns, got (\d+): ", said):
        expected, found = ragged.groups()
        return f"{where} has {found} values, expected {expected}, one for each name."
    if wrong := re.search(r"column #(\d+): .*conversion error to (\w+): invalid value ", said):
        kind = {"double": "number", "bool": "boolean"}.get(wrong[2], wrong[2])
        return f"column {names[int(wrong[1])]!r}, {where}: the value is no {kind}."
    if "straddling" in said:
        return (
            f"{where} is longer than 1 MB, or a quote is opened and never closed; expected shorter rows. Leave out the "
            "column of long texts, or close the quote."
        )
    return f"{said.partition(': ')[0]}, in {where}."


def _tidy(column: Any, label: str, name: str, missing: Sequence[str]) -> Any:
    """Texts as dictionaries without blanks around them; other columns as they are."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_binary(column.type):
        raise DataError(
            f"Column {label!r} of {name!r} is not UTF-8. Name the encoding of the file, latin-1 say, or convert it."
        )
    if not pa.types.is_string(column.type):
        return column
    coded = column.combine_chunks().dictionary_encode()
    trimmed = compute.utf8_trim_whitespace(coded.dictionary)
    if trimmed.equals(coded.dictionary):
        return coded
    marks = compute.is_in(trimmed, value_set=pa.array(missing, pa.string()))
    return compute.if_else(marks, None, trimmed).take(coded.indices).dictionary_encode()
