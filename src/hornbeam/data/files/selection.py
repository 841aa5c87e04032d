"""A selection: which columns of files are features, target and weights, and which rows are kept; reads these rows."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hornbeam.data.files.addresses import is_remote
from hornbeam.data.files.footers import (
    KINDS,
    NOTHING,
    TEXT,
    Footer,
    common_types,
    feature_kind,
    folder_array,
    merge_columns,
)
from hornbeam.data.files.stores import open_parquet, read_file
from hornbeam.data.groups import hash_groups
from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.numeric_target import read_numeric_target
from hornbeam.data.reading.frame import read_features
from hornbeam.data.reading.raw_columns import RawColumns
from hornbeam.data.schema import Kind
from hornbeam.data.sources import Partition
from hornbeam.data.weights import read_sample_weight
from hornbeam.errors import DataError, HornbeamError, ParameterError, warn
from hornbeam.typing import Bools, Counts, Floats, Label

MOST_ROWS = 1 << 20  # of a part
MOST_VALUES = 1 << 26  # of a part, of 8 bytes once decoded, unless it has only `SHORT_ROWS` rows
SHORT_ROWS = 1 << 16
BATCH_ROWS = 1 << 16  # decoded at a time while rows before a part are skipped
BUFFER_BYTES = 1 << 20  # read at a time from each column


@dataclass(frozen=True, slots=True, eq=False)
class Extract:
    """Raw columns, labels or numeric target, weights and groups of the rows that are kept.

    `raw` is None when no columns were requested.
    """

    n_rows: int
    raw: RawColumns | None
    labels: Labels | None
    weight: Floats | None
    values: Floats | None = None
    group: Counts | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which columns of the files are features, labels and weights, and which rows are kept.

    Rows of weight zero are dropped, rows of the classes in `dropped`, and, if `labelled`, rows without a
    label, which are an error otherwise. `text` are the columns of text, `kept` other columns, which
    `read_kept` reads, `folders` those that some files lack, with their types: see `read_rows`. `numeric`: the
    target is numeric, not class labels.
    """

    features: tuple[str, ...]
    target: str | None = None
    weight: str | None = None
    text: tuple[str, ...] = ()
    dropped: frozenset[Label] = frozenset()
    labelled: bool = False
    numeric: bool = False
    kept: tuple[str, ...] = ()
    folders: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        return *self.features, *_not_none(self.target, self.weight, self.group), *self.kept

    @property
    def most_rows(self) -> int:
        """Largest number of rows that are read at once."""
        return part_rows(len(self.names))

    def extract(self, partition: Partition, features: Sequence[str], rows: Counts | None = None) -> Extract:
        """Read some features, and the target, weights and groups, of the rows of a partition that are kept.

        `rows`, in ascending order, selects some of these; `n_rows` of the result counts all.
        """
        with _unit_in_errors(partition):
            names = [*features, *_not_none(self.target, self.weight, self.group)]
            table = read_rows(partition, names, self.text, self.most_rows, self.folders)
            if self.labelled and self.target is not None and table[self.target].null_count:
                table = table.filter(table[self.target].is_valid())
            n_rows = len(table)
            if rows is not None and self.weight is None and not self.dropped:
                # No row is dropped, so the selected ones are known before anything is converted.
                table, rows = table.take(rows), None
            raw = read_features(table.select(list(features)), None) if features else None
            labels, values = self._target(table)
            weight = None if self.weight is None else self._weights(table[self.weight])
            group = None if self.group is None else hash_groups(table[self.group])
        kept = self._kept(labels, weight)
        if kept is not None:
            n_rows = int(np.count_nonzero(kept))
        if rows is not None:
            kept = np.ones(n_rows, np.bool_) if kept is None else kept
            chosen = np.flatnonzero(kept)[rows]
            kept = np.zeros(len(kept), np.bool_)
            kept[chosen] = True
        if kept is None:
            return Extract(n_rows, raw, labels, weight, values, group)
        return Extract(
            n_rows,
            None if raw is None else raw.take(kept),
            None if labels is None else labels.take(kept),
            None if weight is None else weight[kept],
            None if values is None else values[kept],
            None if group is None else group[kept],
        )

    def _target(self, table: Any) -> tuple[Labels | None, Floats | None]:
        """Return the labels, or the values of a numeric target."""
        if self.target is None:
            return None, None
        column = table[self.target]
        return (None, read_numeric_target(column.to_numpy())) if self.numeric else (read_labels(column), None)

    def read_kept(self, partition: Partition) -> Any:
        """Read the columns `kept` of all rows of a partition as a pyarrow table."""
        with _unit_in_errors(partition):
            return read_rows(partition, self.kept, (), self.most_rows, self.folders)

    def _weights(self, column: Any) -> Floats:
        return read_sample_weight(column.to_numpy(), len(column))

    def _kept(self, labels: Labels | None, weight: Floats | None) -> Bools | None:
        """Return which rows are kept; None for all."""
        kept = None if weight is None else weight > 0
        if self.dropped and labels is not None:
            class_kept = np.array([label not in self.dropped for label in labels.classes.tolist()])
            kept = class_kept[labels.codes] if kept is None else kept & class_kept[labels.codes]
        return None if kept is None or kept.all() else kept


def select(
    footers: Sequence[Footer],
    target: str | None,
    weight: str | None,
    features: Sequence[str] | None,
    class_weight: Any,
    kept: Sequence[str] = (),
    *,
    group: str | None = None,
    labelled: bool = False,
    numeric: bool = False,
    folders: Mapping[str, str] | None = None,
    exclude: Collection[str] = (),
    fill: bool = False,
) -> tuple[Selection, dict[str, Kind]]:
    """Choose columns that all files have, or with `fill` some, and return the kind of each feature.

    Without `features`, columns that hold neither numbers nor categories are left out with a warning.
    """
    dropped: frozenset[Label] = frozenset()
    if class_weight is not None and target is None:
        raise ParameterError(
            "class_weight was given without a target. Name the column of labels, or leave class_weight out."
        )
    if class_weight is not None and numeric:
        raise ParameterError("class_weight was given, and the target is numeric. Leave class_weight out.")
    if isinstance(features, str):
        raise ParameterError(
            f"features is {features!r}; expected a sequence of names, such as [{features!r}]."
        )
    if isinstance(class_weight, Mapping):
        dropped = frozenset(label for label, factor in class_weight.items() if factor == 0)
    others = _not_none(target, weight, group)
    common_types(footers, [*others, *kept])
    names = _other_columns(footers, {*others, *exclude}, fill) if features is None else features
    types = common_types(footers, [*names, *others], names if fill else ())
    if features is None:
        names = _usable(names, types)
    names = _checked(footers[0], others, names)
    filled = {name: NOTHING for name in names if any(name not in footer.sorts for footer in footers)}
    text = tuple([name for name, held in types.items() if held == TEXT])
    selection = Selection(
        names,
        target,
        weight,
        text,
        dropped,
        labelled,
        numeric,
        tuple(kept),
        filled | dict(folders or {}),
        group,
    )
    return selection, {name: feature_kind(name, types[name]) for name in names}


def _not_none(*names: str | None) -> list[str]:
    return [name for name in names if name is not None]


def _other_columns(footers: Sequence[Footer], taken: set[str], fill: bool) -> list[str]:
    """Return the columns of the files without another role, and without the index of a pandas frame."""
    taken = taken.union(*[footer.index for footer in footers])
    columns = {footer.file: [name for name in footer.sorts if name not in taken] for footer in footers}
    return merge_columns(columns, None if fill else ())


def _usable(names: Sequence[str], types: Mapping[str, str]) -> list[str]:
    """Leave out, with a warning, the columns that hold neither numbers nor categories."""
    usable = [name for name in names if types[name] in KINDS]
    if not usable or len(usable) == len(names):
        return list(names)  # without a usable one, the first raises an error
    unusable = [f"{name!r} ({types[name]})" for name in names if types[name] not in KINDS]
    warn(
        f"Columns that hold neither numbers nor categories are left out: {', '.join(unusable)}. Convert them, dates to "
        "days since a fixed date, say, or leave them out with exclude= of scan_parquet."
    )
    return usable


def _checked(footer: Footer, others: list[str], features: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the features; raise if there are none, or if one has two roles."""
    if not features:
        raise DataError(
            f"No column is left to learn from: {footer.file!r} has the columns {list(footer.sorts)}. "
            "Name at least one feature."
        )
    roles = [*features, *others]
    if len(set(roles)) < len(roles):
        twice = next(name for at, name in enumerate(roles) if name in roles[:at])
        raise ParameterError(
            f"The column {twice!r} has two roles; expected it once among features, target, weight and groups."
        )
    return tuple(features)


@contextmanager
def _unit_in_errors(partition: Partition) -> Iterator[None]:
    """Add the file and row group to the messages of errors."""
    try:
        yield
    except HornbeamError as error:
        raise type(error)(f"{error} (In row group {partition.group} of {partition.file!r}.)") from error


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
