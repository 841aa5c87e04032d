"""Reads the rows of a row group, or of a part of one, with little memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from hornbeam.data.files.addresses import is_remote
from hornbeam.data.files.folder_columns import folder_array
from hornbeam.data.files.stores import open_parquet, read_file
from hornbeam.data.sources import Partition

__all__ = ["part_rows", "read_rows"]

MOST_ROWS = 1 << 20  # of a part
MOST_VALUES = 1 << 26  # of a part, of 8 bytes once decoded, unless it has only `SHORT_ROWS` rows
SHORT_ROWS = 1 << 16
BATCH_ROWS = 1 << 16  # decoded at a time while rows before a part are skipped
BUFFER_BYTES = 1 << 20  # read at a time from each column


def part_rows(n_columns: int) -> int:
    """Return the number of rows to read at once, given the number of columns."""
    return min(MOST_ROWS, max(SHORT_ROWS, MOST_VALUES // max(1, n_columns)))


def read_rows(
    partition: Partition,
    names: Sequence[str],
    text: Sequence[str],
    most_rows: int,
    folders: Mapping[str, str],
) -> Any:
    """Read some columns of a partition as a pyarrow table, in the order of `names`.

    To read a part of a row group with more than `most_rows` rows, all rows before it are decoded and dropped,
    a batch at a time: this takes little memory, but files with small groups are read faster. Each distinct
    value of the columns of `text` is decoded once. `folders` has the columns that the file may lack, and
    their types: those in folder names, see `folder_types`, and those that are read as nulls.
    """
    file = partition.file
    assert file is not None

    def read(opened: Any) -> Any:
        import pyarrow as pa

        metadata, of_file = None, set(text)
        if not folders.keys().isdisjoint(text):
            footer = open_parquet(opened)
            metadata, of_file = footer.metadata, set(footer.schema_arrow.names)
        # Reading ahead is faster over a network; on a disk it would only keep whole column chunks in memory.
        parquet = open_parquet(
            opened,
            metadata=metadata,
            read_dictionary=[name for name in text if name in of_file],
            pre_buffer=is_remote(file),
            buffer_size=BUFFER_BYTES,
        )
        of_file = set(parquet.schema_arrow.names)
        stored = [name for name in names if name in of_file or name not in folders]
        n_rows = parquet.metadata.row_group(partition.group).num_rows
        n_parts = -(-n_rows // most_rows)
        begin, end = (n_rows * part // n_parts for part in (partition.part, partition.part + 1))
        others = {
            name: folder_array(file, name, folders[name], end - begin) for name in names if name not in stored
        }
        if not stored:
            return pa.table(others)
        if n_parts == 1:
            table = parquet.read_row_group(partition.group, columns=stored, use_threads=False)
        else:
            table = _read_part(parquet, partition.group, stored, begin, end)
        for name, column in others.items():
            table = table.append_column(name, column)
        return table.select(names)  # because pyarrow also reads "a.b" if column "a" is requested

    return read_file(file, read)


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
