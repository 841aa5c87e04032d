"""A checkpoint continues an interrupted tree; a wrong, damaged or forged one is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import hornbeam
from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedRows, EncodingSource
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.cache import EncodedCache
from hornbeam.data.sources import MemorySource
from hornbeam.errors import DataError, ParameterError, StorageError
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.growing.levelwise.checkpoint import _ARRAYS
from hornbeam.kernels.subtree import Rows
from support.strategies_growing import bins_of, random_table

MONOTONE = Grower(monotonic_cst=(1, 0, 0))


@pytest.fixture
def table():
    return random_table(0, n_rows=200, noise=0.8, n_nominal=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tree.checkpoint"


def grow(table, path, grower=MONOTONE, engine=None, max_bins=None, block=20, **options):
    bins = bins_of(table, max_bins)
    rows = Rows(bins.encode(table), table.target.astype(np.uint16), table.weight)
    options = {"gather_rows": 20, "unit": table.unit, "checkpoint": path} | options
    engine = LocalEngine() if engine is None else engine
    return grower.grow_by_level(EncodedRows(rows, block), bins, table.schema, engine, **options)


def stop_after(n):
    """A callback that interrupts after ``n`` passes."""
    passes = []

    def count(done):
        passes.append(done)
        if len(passes) == n:
            raise KeyboardInterrupt

    return count


@pytest.mark.parametrize("weights", ["none", "real"])
@pytest.mark.parametrize("budget", [2**28, 1500])
@pytest.mark.parametrize("grower", [MONOTONE, Grower(Criterion.GAIN_RATIO)], ids=["monotone", "gain ratio"])
def test_growing_continues_after_an_interrupt_at_any_pass(path, weights, budget, grower):
    table = random_table(0, n_rows=120, noise=0.8, weights=weights)
    passes = []
    whole = grow(table, None, grower, budget=budget, on_progress=passes.append)
    assert whole.digest == grower.grow(table, bins_of(table)).digest
    for n in range(1, len(passes) + 1, 1 + len(passes) // 8):
        with pytest.raises(KeyboardInterrupt):
            grow(table, path, grower, budget=budget, on_progress=stop_after(n))
        assert path.exists() == (n > 1)
        rest = []
        grown = grow(table, path, grower, budget=budget, on_progress=rest.append)
        assert grown.digest == whole.digest
        np.testing.assert_array_equal(grown.gain, whole.gain)
        assert len(rest) <= 1 + len(passes) - n + (budget < 2**20)
        assert rest[0].rows_done == passes[n - 1].rows_done
        assert list(path.parent.iterdir()) == []


def test_growing_continues_with_other_engines_and_memory_limits(table, path):
    """Neither the engine nor the memory limits change the tree."""
    whole = grow(table, None)
    engines = [LocalEngine(), LocalEngine(2), LocalEngine(n_tasks=7, reverse=True)]
    for n in range(40):
        try:
            options = {"budget": [2**28, 1000, 5000][n % 3], "gather_rows": [0, 20, None][n % 2]}
            grown = grow(table, path, engine=engines[n % 3], on_progress=stop_after(2), **options)
            break
        except KeyboardInterrupt:
            assert path.exists()
    assert grown.digest == whole.digest
    assert n > 3


def test_growing_continues_without_the_cache_it_began_with(table, path):
    pytest.importorskip("pyarrow")
    source, engine = MemorySource(table, block=30), LocalEngine()
    bins = Bins.fit(source, engine)
    cache = EncodedCache.write(source, bins, path.parent / "cache", engine)
    options = {"bins": bins, "schema": table.schema, "engine": engine, "checkpoint": path, "gather_rows": 0}
    with pytest.raises(KeyboardInterrupt):
        MONOTONE.grow_by_level(cache, on_progress=stop_after(3), **options)
    cache.remove()
    grown = MONOTONE.grow_by_level(EncodingSource(source, bins), **options)
    assert grown.digest == MONOTONE.grow(table, bins).digest


@pytest.mark.long
def test_growing_continues_after_the_process_is_killed(tmp_path):
    """A real process, killed several times by SIGKILL."""
    path, rng = tmp_path / "tree.checkpoint", np.random.default_rng()
    places = [Path(hornbeam.__file__).parents[1], Path(__file__).parents[1]]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places))}

    def start(checkpoint):
        command = [sys.executable, str(Path(__file__).with_name("checkpoint_process.py")), str(checkpoint)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    alone, _ = start(tmp_path / "other.checkpoint").communicate()
    kills = 0
    while True:
        process = start(path)
        assert process.stdout is not None
        process.stdout.readline()
        if kills < 4:
            time.sleep(rng.uniform(0.0, 0.3))
            process.kill()
            kills += 1
        rest, _ = process.communicate()
        if process.returncode == 0:
            break
        assert process.returncode == (1 if sys.platform == "win32" else -signal.SIGKILL)
    assert rest == alone.removeprefix("growing\n")
    assert len(rest.strip()) == 64
    assert not path.exists()


# ---- checkpoints of other trees


@pytest.fixture
def written(table, path):
    with pytest.raises(KeyboardInterrupt):
        grow(table, path, on_progress=stop_after(3))
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": random_table(1, n_rows=200, noise=0.8)}, "the rows"),
        ({"max_bins": 3}, "the rows, their bins and schema"),
        ({"grower": Grower(max_depth=3, monotonic_cst=(1, 0, 0))}, "max_depth differ"),
        ({"grower": Grower(Criterion.GINI)}, "criterion, monotonic_cst differ"),
        ({"class_weight": np.array([1.0, 2.0])}, "weights differ"),
    ],
    ids=["rows", "bins", "depth", "criterion", "weights"],
)
def test_the_checkpoint_of_another_tree_is_refused(table, written, options, message):
    before = written.read_bytes()
    with pytest.raises(ParameterError, match=rf"belongs to another tree: .*{message}"):
        grow(**{"table": table, "path": written} | options)
    assert written.read_bytes() == before


# ---- damaged and forged files


def assert_refused(table, path, message="Expected a checkpoint"):
    with pytest.raises(StorageError, match=message) as caught:
        grow(table, path)
    assert "delete the file to begin anew" in str(caught.value)


def test_a_truncated_or_changed_file_is_refused(table, written):
    whole = written.read_bytes()
    for end in (0, 5, 22, 100, len(whole) // 2, len(whole) - 1):
        written.write_bytes(whole[:end])
        assert_refused(table, written)
    header = whole.index(b"\n", 22)
    for at in range(header + 1, len(whole), len(whole) // 20):
        written.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert_refused(table, written, "the file is damaged or not whole")
    written.write_bytes(whole + b"\0")
    assert_refused(table, written, "damaged or not whole")
    written.write_bytes(b"hornbeam checkpoint 2\n" + whole[22:])
    assert_refused(table, written, "does not begin as a checkpoint does")


def test_a_folder_is_refused(table, path):
    path.mkdir()
    assert_refused(table, path, "this is a folder; expected a regular file")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
def test_a_pipe_is_refused(table, path):
    os.mkfifo(path)
    assert_refused(table, path, "this is a pipe; expected a regular file")


def test_arrays_of_another_size_are_refused_before_they_are_read(table, written):
    os.truncate(written, 2**40)  # a sparse file takes no disk space
    assert_refused(table, written, "bytes of arrays; expected .*: the file is damaged or not whole")


def forged(whole, **changed):
    """A checkpoint with changed arrays and the right checksum."""
    start = 22
    end = whole.index(b"\n", start)
    header, body = json.loads(whole[start:end]), whole[end + 1 :]
    parts, begin = [], 0
    for name, dtype in _ARRAYS.items():
        shape = header["shapes"][name]
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        array = np.frombuffer(body[begin : begin + size], dtype).reshape(shape).copy()
        begin += size
        if name in changed:
            array = changed[name](array)
            header["shapes"][name] = list(array.shape)
        parts.append(array.astype(dtype).tobytes())
    header["sha256"] = sha256(b"".join(parts)).hexdigest()
    return whole[:start] + json.dumps(header).encode() + b"\n" + b"".join(parts)


def put(at, value):
    def change(array):
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    "changed",
    [
        {"parent": put(2, 9)},
        {"parent": put(0, 0)},
        {"parent": put(1, -1)},
        {"slot": put(1, 1)},
        {"slot": put(2, 0)},
        {"feature": put(0, 77)},
        {"feature": put(0, -1)},
        {"feature": put(-1, 0)},
        {"left": put(slice(None), 99)},
        {"left": put(-1, 0)},
        {"right": put(slice(None), 99)},
        {"missing_slot": put(0, 5)},
        {"missing_slot": put(0, -2)},
        {"gain": put(0, np.nan)},
        {"rows": put(0, 7)},
        {"rows": put(1, -3)},
        {"rows": put(1, 2**62)},
        {"evidence": put((1, 0), 10_000)},
        {"evidence": lambda a: a[:, :1]},
        {"parent": lambda a: a[:-1]},
        {"opened_node": put(0, 10_000)},
        {"opened_node": put(0, -1)},
        {"opened_node": put(0, 0)},
        {"opened_node": lambda a: np.append(a, a[:1])},
        {"opened_lower": put(0, 2.0)},
        {"opened_upper": put(0, np.nan)},
        {"small_node": lambda a: np.array([1, 1])},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_forged_nodes_are_refused(table, written, changed):
    whole = written.read_bytes()
    assert forged(whole) == whole
    written.write_bytes(forged(whole, **changed))
    assert_refused(table, written, "its nodes do not form a tree of these rows")


def test_a_forged_slot_map_is_refused(path):
    table = random_table(3, n_rows=200, noise=0.3, n_numeric=0, n_nominal=2)
    with pytest.raises(KeyboardInterrupt):
        grow(table, path, Grower(), on_progress=stop_after(3))
    whole = path.read_bytes()
    for changed in (
        {"map": put(0, 9)},
        {"map": lambda a: a[:-1]},
        {"map_start": put(0, -1)},
        {"map_start": put(-1, 0)},
    ):
        path.write_bytes(forged(whole, **changed))
        with pytest.raises(StorageError, match="its nodes do not form a tree of these rows"):
            grow(table, path, Grower())


def test_a_checkpoint_with_other_counts_than_the_rows_is_refused(path):
    """Arrays are allocated for the number of rows in the file."""
    table = random_table(3, n_rows=200, noise=0.3, n_numeric=0, n_nominal=2)
    with pytest.raises(KeyboardInterrupt):
        grow(table, path, Grower(), on_progress=stop_after(3))
    whole = path.read_bytes()
    for change in (put(0, -1), lambda a: 1 - a.clip(0, 1)):
        path.write_bytes(forged(whole, map=change))
        with pytest.raises(DataError, match="a node has other rows than were counted before"):
            grow(table, path, Grower())


@pytest.mark.parametrize(
    "header",
    [
        b"no JSON",
        b"[1]",
        b"{}",
        b"[" * 100_000,
        b'{"about": {}, "shapes": {}, "sha256": ""}',
        b'{"about": [], "shapes": {}, "sha256": ""}',
    ],
    ids=["words", "list", "empty", "deep", "no arrays", "no owner"],
)
def test_a_forged_header_is_refused(table, written, header):
    written.write_bytes(b"hornbeam checkpoint 1\n" + header + b"\n")
    assert_refused(table, written, "its header")


@pytest.mark.parametrize("shape", [[-1], [2**60], ["3"], [True], 3, [1, 1]])
def test_a_forged_shape_is_refused(table, written, shape):
    start = 22
    whole = written.read_bytes()
    end = whole.index(b"\n", start)
    header = json.loads(whole[start:end])
    header["shapes"]["parent"] = shape
    written.write_bytes(whole[:start] + json.dumps(header).encode() + whole[end:])
    assert_refused(table, written)
