"""Predictions of a source as Parquet files, one per partition, written exactly once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from hornbeam.data.engine import Engine
from hornbeam.data.files.parquet_writer import parquet_bytes
from hornbeam.data.files.target_folder import TargetFolder
from hornbeam.data.schema import Schema
from hornbeam.data.sources import Partition, Source, blank_columns, read_features
from hornbeam.data.table import Table
from hornbeam.errors import EngineError, ParameterError, StorageError
from hornbeam.logger import log_progress, logger

JOB, MANIFEST = "_job.json", "_manifest.json"

type Columns = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Predictions:
    """A folder of predictions that is complete.

    Parameters
    ----------
    path : str
        Path or address of the folder.
    files : tuple of str
        Names of the Parquet files; together they have the rows of the source in its order.
    columns : tuple of str
        Names of the columns.
    n_rows : int
        Number of rows of all files.
    n_written : int
        Number of rows that this call predicted; the others were there before.

    Examples
    --------
    >>> Predictions("/data/predictions", ("part-00000000.parquet",), ("prediction",), 1000, 0).n_rows
    1000
    """

    path: str
    files: tuple[str, ...]
    columns: tuple[str, ...]
    n_rows: int
    n_written: int


def write_predictions(
    source: Source,
    schema: Schema,
    used: Sequence[str],
    predict: Callable[[Table], Columns],
    path: str | PathLike[str],
    *,
    identity: Mapping[str, Any],
    engine: Engine,
    keep: Sequence[str] = (),
) -> Predictions:
    """Predict all rows of a source and write them to a folder, one Parquet file per partition.

    The schema of the source has at least the features `used`, each as in `schema`, that of the model; only these are
    read, and other features of the table have missing values. `predict` is pure and picklable. `path` is a folder, or
    its address in a store. `identity` is what the predictions depend on beside the source, in plain values: the digest
    of the model, and options. The source was opened with the columns to `keep`.

    ``_job.json`` is written first, and says what the files belong to. A partition has a fixed file name, and its file
    appears when it is complete. ``_manifest.json`` is written last. A call that was interrupted is continued by the
    same call: files whose footers have the right columns and number of rows are not written again.

    `StorageError` if the folder has files of another model, source or selection of columns, or something other than a
    regular file under the name of one of the files; `EngineError` if files are missing at the end.
    """
    names = (*keep, *predict(empty_table(schema)))
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise ParameterError(f"The result would have two columns {twice!r}. Rename the column to keep.")
    units = {f"part-{at:08d}.parquet": unit for at, unit in enumerate(source.partitions())}
    folder = TargetFolder.of(path)
    job = {"format": "hornbeam predictions", "version": 1, **identity}
    job |= {"source": source.fingerprint, "columns": list(names)}
    found = _claim(folder, job, units)
    shared = _Shared(source, schema, tuple(used), predict, folder, bool(keep), names)
    earlier = [(name, unit) for name, unit in units.items() if name in found]
    complete = set(engine.reduce(_find_complete, earlier, shared)[0] if earlier else ())
    missing = [(name, unit) for name, unit in units.items() if name not in complete]
    n_written = 0
    logger.info(
        "predictions of %s rows: %d of %d files are complete", f"{source.n_rows:,}", len(complete), len(units)
    )
    if missing:
        [n_written] = engine.reduce(_write_units, missing, shared)
        found = folder.sizes()
        if lacking := [name for name in units if name not in found]:
            raise EngineError(
                f"{len(lacking)} of {len(units)} files, {lacking[0]!r} first, are not in "
                f"{folder.address!r}; expected all. Name a folder that this process and all "
                "workers see under the same name, and call again."
            )
    parts = [_part(name, unit, found[name]) for name, unit in units.items()]
    manifest = json.dumps({**job, "rows": source.n_rows, "parts": parts}, indent=1).encode()
    if MANIFEST not in found or folder.read(MANIFEST) != manifest:
        folder.put(MANIFEST, manifest, last=True)
    return Predictions(folder.address, tuple(units), names, source.n_rows, n_written)


def empty_table(schema: Schema) -> Table:
    """Make a table of no rows."""
    return Table(schema, blank_columns(schema, 0))


def _claim(folder: TargetFolder, job: dict[str, Any], units: Mapping[str, Partition]) -> dict[str, int]:
    """Check that the files of a folder belong to this job, or make it the job of an empty one; return its files."""
    found = folder.sizes()
    place = folder.address
    own = (JOB, MANIFEST)
    if irregular := [one for one in folder.irregular() if one in own or one.endswith(".parquet")]:
        raise StorageError(
            f"{irregular[0]!r} in {place!r} is not a regular file, but a folder, link, pipe or device; expected "
            "a new folder, or one that earlier predictions were written to. Name another folder."
        )
    if JOB in found:
        data = folder.read(JOB)
        try:
            earlier = json.loads(data or b"")
            differences = [name for name in job | earlier if job.get(name) != earlier.get(name)]
        except (ValueError, TypeError, RecursionError) as error:
            raise StorageError(
                f"{JOB} in {place!r} is damaged; expected the description of earlier predictions. Name another folder."
            ) from error
        if differences:
            raise StorageError(
                f"{place!r} has predictions of another job: {', '.join(differences)} differ; expected a "
                "new folder, or one of the same model, the same unchanged files and the same columns. Name another one."
            )
    others = [name for name in found if name.endswith(".parquet") and (JOB not in found or name not in units)]
    if others:
        raise StorageError(
            f"{place!r} has {len(others)} other Parquet files, {others[0]!r} first; expected none, because "
            "predictions would be read together with them. Name a new folder."
        )
    if JOB not in found:
        folder.put(JOB, json.dumps(job, indent=1).encode(), last=True)
    return found


def _part(name: str, unit: Partition, size: int) -> dict[str, Any]:
    """One file in the manifest."""
    part: dict[str, Any] = {"file": name, "rows": unit.n_rows, "bytes": size}
    if unit.file is not None:
        part["of"] = {"file": unit.file, "group": unit.group, "part": unit.part}
    return part


@dataclass(frozen=True, slots=True)
class _Shared:
    """What every task needs."""

    source: Source
    schema: Schema
    used: tuple[str, ...]
    predict: Callable[[Table], Columns]
    folder: TargetFolder
    keeps: bool
    columns: tuple[str, ...]

    def has(self, name: str, unit: Partition) -> bool:
        """Whether the folder has a file of this name with the columns and the number of rows of a partition."""
        return self.folder.content(name) == (unit.n_rows, self.columns)


def _find_complete(units: Sequence[tuple[str, Partition]], shared: _Shared) -> list[list[str]]:
    """Task: return the names of the files that are complete."""
    return [[name for name, unit in units if shared.has(name, unit)]]


def _write_units(units: Sequence[tuple[str, Partition]], shared: _Shared) -> list[int]:
    """Task: predict some partitions and write their files; return the number of rows."""
    n_rows, log = 0, log_progress()
    for at, (name, unit) in enumerate(units):
        log("predictions: %d of %d files of one task are complete", at, len(units))
        if shared.has(name, unit):  # written by a task that was lost before it returned
            continue
        columns: dict[str, Any] = {}
        if shared.keeps:
            kept = shared.source.read_kept(unit)  # type: ignore[attr-defined]
            columns = dict(zip(kept.column_names, kept.columns, strict=True))
        columns |= shared.predict(read_features(shared.source, unit, shared.schema, shared.used))
        shared.folder.put(name, parquet_bytes(columns))
        n_rows += unit.n_rows
    return [n_rows]
