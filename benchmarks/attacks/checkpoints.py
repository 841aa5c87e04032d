"""Checkpoints with changed content: growing on from one is refused with a HornbeamError, or makes a tree.

A checksum that is right shows no more than that the file was not damaged: a tree that could have been grown is taken
for the one that was.
"""

from __future__ import annotations

import copy
import json
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attacks.edits import apply, change_bytes, draw_bytes, draw_edit, draw_number, numbers
from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import HornbeamError
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.growing.levelwise.checkpoint import _ARRAYS, _FORMAT
from hornbeam.kernels.subtree import Rows
from hornbeam.tree.tree import Tree

IN_CI = 1200
LIMIT, WARM_UP = 1.0, 60.0
GROWERS = {
    "entropy": (Grower(), 2),
    "gain ratio": (Grower(Criterion.GAIN_RATIO), 3),
    "monotone": (Grower(monotonic_cst=(1, 0, 0)), 2),
}
STOPS = (1, 2, 4)  # passes after which the checkpoint is taken


@dataclass(slots=True)
class Kept:
    """A checkpoint: its header and its arrays as flat lists."""

    header: dict[str, Any]
    arrays: dict[str, list[Any]]


@cache
def _table(n_classes: int) -> Table:
    import pandas as pd

    rng = np.random.default_rng(n_classes)
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 30, 150) / 4,
            "b": rng.choice([0.0, 1.0, np.nan], 150),
            "c": pd.Categorical(rng.choice(list("pqrs"), 150)),
        }
    )
    y = (X["a"] > 3.5) + (X["c"] == "q") + (rng.random(150) < 0.3)
    return Table.read(X, np.minimum(y, n_classes - 1))


@cache
def _bins(n_classes: int) -> Bins:
    return Bins.fit(MemorySource(_table(n_classes)), LocalEngine())


def _grow(grower: str, path: Path, stop: int | None = None) -> Tree:
    made, n_classes = GROWERS[grower]
    table, bins = _table(n_classes), _bins(n_classes)
    assert table.target is not None
    passes: list[Any] = []

    def listen(done: Any) -> None:
        passes.append(done)
        if len(passes) == stop:
            raise KeyboardInterrupt

    rows = Rows(bins.encode(table), table.target.astype(np.uint16), None)
    return made.grow_by_level(
        EncodedRows(rows, 40),
        bins,
        table.schema,
        LocalEngine(),
        gather_rows=25,
        budget=3000,
        checkpoint=path,
        on_progress=listen,
    )


@cache
def _sound(grower: str, stop: int) -> Kept | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tree.checkpoint")
        try:
            _grow(grower, path, 1 + stop)
        except KeyboardInterrupt:
            data = path.read_bytes()
        else:
            return None
    head, _, body = data[len(_FORMAT) :].partition(b"\n")
    header, arrays, begin = json.loads(head), {}, 0
    for name, dtype in _ARRAYS.items():
        size = int(np.prod(header["shapes"][name])) * np.dtype(dtype).itemsize
        arrays[name] = np.frombuffer(body[begin : begin + size], dtype).tolist()
        begin += size
    return Kept(header, arrays)


def prepare() -> None:
    """Grow the trees once, before processes are forked."""
    warnings.simplefilter("ignore")
    for grower in GROWERS:
        for stop in STOPS:
            _sound(grower, stop)


def draw(rng: np.random.Generator) -> dict[str, Any]:
    grower = list(GROWERS)[rng.integers(len(GROWERS))]
    stop = int(rng.choice(STOPS))
    kept = _sound(grower, stop)
    case: dict[str, Any] = {"grower": grower, "stop": stop, "right": bool(rng.random() < 0.75)}
    case |= {"header": [], "arrays": [], "bytes": []}
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        kind = rng.choice(["header", "arrays", "bytes"], p=[0.15, 0.75, 0.1])
        if kind == "bytes" or kept is None:
            case["bytes"].append(draw_bytes(rng))
        elif kind == "header":
            case["header"].append(draw_edit(rng, kept.header))
        else:
            case["arrays"].append(draw_number(rng, kept.arrays))
    return case


def judge(case: dict[str, Any]) -> str | None:
    kept = _sound(case["grower"], case["stop"]) if _is_known(case) else None
    data = None if kept is None else _file(copy.deepcopy(kept), case)
    if data is None:
        return None
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "tree.checkpoint")
        path.write_bytes(data)
        try:
            tree = _grow(case["grower"], path)
            Tree(*(getattr(tree, name) for name in _FIELDS), history=tree.history)  # checks everything
        except HornbeamError:
            return None
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]
    return None


_FIELDS = ("schema", "skeleton", "evidence", "unit", "rows", "gain", "belief", "borrowed")


def _is_known(case: dict[str, Any]) -> bool:
    return case.get("grower") in GROWERS and type(case.get("stop")) is int and 0 < case["stop"] < 20


def _file(kept: Kept, case: dict[str, Any]) -> bytes | None:
    lists = {
        name: case[name] if isinstance(case.get(name), list) else [] for name in ("header", "arrays", "bytes")
    }
    for edit in lists["arrays"]:
        apply(edit, kept.arrays)
    try:
        parts = [np.array(numbers(kept.arrays[name]), dtype) for name, dtype in _ARRAYS.items()]
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    for (name, shape), part in zip(kept.header["shapes"].items(), parts, strict=True):
        if len(shape) == 1:
            kept.header["shapes"][name] = [part.size]
        else:
            kept.header["shapes"][name] = [part.size // max(1, shape[1]), shape[1]]
    body = b"".join(part.tobytes() for part in parts)
    if case.get("right"):
        kept.header["sha256"] = sha256(body).hexdigest()
    for edit in lists["header"]:
        apply(edit, kept.header)
    data = bytearray(_FORMAT + json.dumps(kept.header).encode() + b"\n" + body)
    for edit in lists["bytes"]:
        change_bytes(edit, data)
    return bytes(data)
