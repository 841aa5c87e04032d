"""Reads the rows of a row group, or of a part of one, with little memory."""

from collections.abc import Sequence
from typing import Any

from hornbeam.data.files.paths import is_remote, open_file
from hornbeam.data.sources import Partition

__all__ = ["part_rows", "read_rows"]

MOST_ROWS = 1 << 20  # of a part
MOST_VALUES = 1 << 26  # of a part, of 8 bytes once decoded, unless it has only `SHORT_ROWS` rows
SHORT_ROWS = 1 << 16
BATCH_ROWS = 1 << 16  # decoded at a time while rows before a part are skipped
BUFFER_BYTES = 1 << 20  # read at a time from each column


def part_rows(n_columns: int) -> int:
    """Return the number of rows to read at once, given the number of columns.

    Examples
    --------
    >>> part_rows(20), part_rows(200), part_rows(20_000)
    (1048576, 335544, 65536)
    """
    return min(MOST_ROWS, max(SHORT_ROWS, MOST_VALUES // max(1, n_columns)))


def read_rows(partition: Partition, names: Sequence[str], text: Sequence[str], most_rows: int) -> Any:
    """Read some columns of a partition as a pyarrow table.

    Parameters
    ----------
    partition : Partition
        A row group of a file, or one of the parts of a group with more than `most_rows` rows.
    names : sequence of str
        The columns to read, in this order.
    text : sequence of str
        The columns of text: each distinct value is decoded once.
    most_rows : int
        Rows of a part. To read a part of a group, all rows before it are decoded and dropped, a batch at
        a time: this takes little memory, but files with small groups are read faster.

    Returns
    -------
    pyarrow.Table
    """
    from pyarrow.parquet import ParquetFile

    assert partition.file is not None
    with open_file(partition.file) as opened:
        # Reading ahead is faster over a network; on a disk it would only keep whole column chunks in memory.
        parquet = ParquetFile(
            opened, read_dictionary=text, pre_buffer=is_remote(partition.file), buffer_size=BUFFER_BYTES
        )
        n_rows = parquet.metadata.row_group(partition.group).num_rows
        if n_rows <= most_rows:
            table = parquet.read_row_group(partition.group, columns=names, use_threads=False)
        else:
            n_parts = -(-n_rows // most_rows)
            begin, end = (n_rows * part // n_parts for part in (partition.part, partition.part + 1))
            table = _read_part(parquet, partition.group, names, begin, end)
        return table.select(names)  # because pyarrow also reads "a.b" if column "a" is requested


def _read_part(parquet: Any, group: int, names: Sequence[str], begin: int, end: int) -> Any:
    import pyarrow as pa

    batches, at = [], 0
    for batch in parquet.iter_batches(BATCH_ROWS, row_groups=[group], columns=names, use_threads=False):
        if at + len(batch) > begin:
            batches.append(batch[max(begin - at, 0) : end - at])
        at += len(batch)
        if at >= end:
            break
    return pa.Table.from_batches(batches)
