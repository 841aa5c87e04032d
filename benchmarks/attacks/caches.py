"""Caches of coded rows with changed content, also while a tree is grown from them: a tree, or a DataError.

Poisoned codes, labels and weights have a right checksum. A file may also be cut short, or be replaced by a folder, a
pipe or a link to a device, before or during the fit.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import warnings
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.attacks.edits import NUMBERS, SPELLED, change_bytes, draw_bytes
from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.cache import CHECKSUM, KEY, EncodedCache
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.growing.grower import Grower

NEEDS = ("pyarrow",)
IN_CI = 600
LIMIT, WARM_UP = 2.0, 60.0
COLUMNS = ("codes", "label", "weight")
TYPES = ("uint8", "uint16", "int64", "float64", "string", "int32")
THINGS = ("folder", "pipe", "device", "nothing", "empty", "link")


@cache
def _source(weighted: bool) -> tuple[MemorySource, Bins]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (400, 4)) / 4
    y = (X[:, 0] + X[:, 1] > 10).astype(int)
    weight = rng.integers(1, 4, 400) if weighted else None
    source = MemorySource(Table.read(X, y, sample_weight=weight), block=50)
    return source, Bins.fit(source, LocalEngine())


@cache
def _sound(weighted: bool) -> tuple[EncodedCache, Path]:
    source, bins = _source(weighted)
    folder = Path(tempfile.mkdtemp(prefix="attack-cache-"))
    return EncodedCache.write(source, bins, folder, LocalEngine()), folder


def prepare() -> None:
    """Write the caches once, before processes are forked."""
    warnings.simplefilter("ignore")
    for weighted in (False, True):
        _sound(weighted)


def draw(rng: np.random.Generator) -> dict[str, Any]:
    case: dict[str, Any] = {
        "weighted": bool(rng.random() < 0.5),
        "file": int(rng.integers(8)),
        "right": bool(rng.random() < 0.7),
        "edits": [],
        "bytes": [],
        "during": None,
        "again": bool(rng.random() < 0.3),
    }
    match rng.integers(6):
        case 0:
            case["bytes"] = [draw_bytes(rng) for _ in range(rng.integers(1, 4))]
        case 1:
            case["thing"] = str(rng.choice(THINGS))
        case 2:
            case["during"] = [float(rng.random() * 0.02), float(rng.random())]
        case _:
            case["edits"] = [_edit(rng) for _ in range(rng.integers(1, 3))]
    return case


def _edit(rng: np.random.Generator) -> list[Any]:
    name = str(rng.choice(COLUMNS))
    match rng.integers(6):
        case 0:
            return ["drop", name]
        case 1:
            return ["type", name, str(rng.choice(TYPES))]
        case 2:
            return ["rows", int(rng.choice([0, 1, 49, 51, 100]))]
    values = [0, 1, 2, 40, 41, 255, 256, 65_535, -1, *NUMBERS]
    return ["set", name, int(rng.integers(250)), values[rng.integers(len(values))]]


def judge(case: dict[str, Any]) -> str | None:
    weighted = bool(case.get("weighted"))
    sound, home = _sound(weighted)
    source, bins = _source(weighted)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shutil.copytree(home, folder, dirs_exist_ok=True)
        cache_ = EncodedCache(folder, sound.key, sound.n_features, sound.unit, sound.addresses)
        path = cache_.file(cache_.partitions()[_number(case.get("file")) % len(cache_.partitions())]).path
        _damage(case, path)
        cutter = _cutter(case, path)
        try:
            if case.get("again"):
                cache_ = EncodedCache.write(source, bins, folder, LocalEngine())
            Grower(max_depth=4).grow_by_level(
                cache_, bins, source.schema, LocalEngine(), unit=source.unit, gather_rows=60
            )
        except DataError:
            return None
        except OSError as error:
            # A folder in the place of a file cannot be replaced by one.
            return (
                None
                if case.get("thing") == "folder" and case.get("again")
                else f"{type(error).__name__}: {error}"
            )
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]
        finally:
            if cutter is not None:
                cutter.join()
    return None


def _number(value: Any) -> int:
    return value if type(value) is int and value >= 0 else 0


def _cutter(case: dict[str, Any], path: Path) -> threading.Thread | None:
    """Truncates the file while the tree grows."""
    match case.get("during"):
        case [int() | float() as delay, int() | float() as part] if 0 <= delay < 1 and 0 <= part <= 1:
            size = path.stat().st_size if path.is_file() else 0

            def cut() -> None:
                time.sleep(delay)
                if path.is_file():
                    os.truncate(path, int(size * part))

            cutter = threading.Thread(target=cut)
            cutter.start()
            return cutter
    return None


def _damage(case: dict[str, Any], path: Path) -> None:
    if case.get("edits"):
        _rewrite(path, case["edits"], right=bool(case.get("right")))
    if case.get("bytes"):
        data = bytearray(path.read_bytes())
        for edit in case["bytes"] if isinstance(case["bytes"], list) else []:
            change_bytes(edit, data)
        path.write_bytes(data)
    if case.get("thing") in THINGS:
        path.unlink()
    match case.get("thing"):
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "empty":
            path.touch()
        case "link":
            path.symlink_to(path)


def _rewrite(path: Path, edits: Any, *, right: bool) -> None:
    """Write the file again with other columns, and with their checksum if it is to be right."""
    with pa.OSFile(str(path)) as file:
        batch = pa.ipc.open_file(file).get_batch(0)
    metadata = dict(batch.schema.metadata)
    columns = {name: np.array(batch.column(name).to_pylist()) for name in batch.schema.names}
    columns["codes"] = columns["codes"].astype(np.uint8)
    types = {"codes": "uint8", "label": "uint16", "weight": "int64"}
    for edit in edits if isinstance(edits, list) else []:
        match edit:
            case ["drop", str(name)]:
                columns.pop(name, None)
            case ["type", str(name), str(kind)] if kind in TYPES:
                types[name] = kind
            case ["rows", int(rows)] if 0 <= rows <= 200:
                columns = {
                    name: np.resize(values, (rows, *values.shape[1:])) for name, values in columns.items()
                }
            case ["set", str(name), int(at), value] if name in columns and columns[name].size:
                value = SPELLED.get(value, value) if isinstance(value, str) else value
                if isinstance(value, int | float):
                    values = columns[name].astype(object).reshape(-1)
                    values[at % len(values)] = value
                    columns[name] = values.reshape(columns[name].shape)
    try:
        arrays, checksum = {}, 0
        for name, values in columns.items():
            kind = np.dtype(types[name]) if types[name] != "string" else np.dtype(object)
            flat = values.reshape(-1)
            typed = flat.astype(str).astype(object) if types[name] == "string" else flat.astype(kind)
            checksum = zlib.crc32(typed.tobytes(), checksum)
            array = pa.array(typed)
            wide = values.shape[1] if values.ndim > 1 else 0
            arrays[name] = pa.FixedSizeListArray.from_arrays(array, wide) if wide else array
        if right:
            metadata[CHECKSUM] = str(checksum).encode()
        made = pa.record_batch(arrays, metadata={KEY: metadata[KEY], CHECKSUM: metadata[CHECKSUM]})
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, made.schema) as writer:
        writer.write_batch(made)
