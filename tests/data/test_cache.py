"""The cache returns the rows that were encoded, and detects damaged files."""

import os
import pickle
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodingSource
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.cache import EncodedCache
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.growing.grower import Grower
from support.examples import examples
from support.strategies_growing import bins_of, random_table, training_tables


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the files of a folder, with inode and time of change."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


def small(n_rows=10, block=4):
    source = MemorySource(random_table(0, n_rows=n_rows, weights="whole"), block=block)
    return source, bins_of(source.table)


@examples(40)
@given(st.data())
def test_the_cache_returns_the_encoded_rows(tmp_path_factory, data):
    table = data.draw(training_tables(max_rows=40))
    source, bins = MemorySource(table, block=data.draw(st.integers(1, 50))), bins_of(table)
    engine = LocalEngine(data.draw(st.integers(1, 2)), data.draw(st.integers(1, 3)), data.draw(st.booleans()))
    cache = EncodedCache.write(source, bins, tmp_path_factory.mktemp("cache"), engine)
    encoded = EncodingSource(source, bins)
    assert list(cache.partitions()) == list(encoded.partitions())
    assert (cache.n_rows, cache.unit) == (encoded.n_rows, encoded.unit) == (table.n_rows, table.unit)
    codes = bins.encode(table)
    for partition in cache.partitions():
        for rows in (cache.read(partition), encoded.read(partition)):
            assert rows.codes.flags.c_contiguous
            assert (rows.codes.dtype, rows.label.dtype) == (codes.dtype, np.uint16)
            np.testing.assert_array_equal(rows.codes, codes[partition.begin : partition.end])
            np.testing.assert_array_equal(rows.label, table.target[partition.begin : partition.end])
            assert (rows.weight is None) == (table.weight is None)
            if rows.weight is not None:
                np.testing.assert_array_equal(rows.weight, table.weight[partition.begin : partition.end])


@pytest.mark.parametrize("max_bins", [255, 1000])
def test_a_tree_grown_from_files_equals_that_of_the_table(tmp_path, max_bins):
    """Parquet, bins and cache, with codes of one or two bytes, give the digest of the tree grown in memory."""
    rng = np.random.default_rng(0)
    n = 3000
    frame = pa.table(
        {
            "x": rng.normal(size=n),
            "c": rng.choice(["red", "green", "blue", None], n),
            "y": rng.choice(["no", "yes", "perhaps"], n),
            "w": rng.exponential(size=n).round(2),
        }
    )
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=700)
    engine = LocalEngine(n_tasks=3)
    source = scan_parquet(tmp_path / "rows.parquet", target="y", sample_weight="w")
    bins = Bins.fit(source, engine, max_bins=max_bins)
    cache = EncodedCache.write(source, bins, tmp_path / "cache", engine)
    table = Table.read(frame.select(["x", "c"]), frame["y"], sample_weight=frame["w"].to_numpy())
    grower = Grower(max_depth=6)
    expected = grower.grow(table, Bins.fit(MemorySource(table), LocalEngine(), max_bins=max_bins))
    assert expected.n_leaves > 20
    for encoded in (cache, pickle.loads(pickle.dumps(cache)), EncodingSource(source, bins)):
        grown = grower.grow_by_level(encoded, bins, source.schema, engine, unit=source.unit, gather_rows=200)
        assert grown.digest == expected.digest


def test_changing_rows_does_not_change_the_file(tmp_path):
    """Kernels reorder the rows they read."""
    source, bins = small()
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    unit = cache.partitions()[0]
    rows = cache.read(unit)
    before = rows.codes.copy()
    rows.codes[:] = 0
    rows.label[:] = 0
    np.testing.assert_array_equal(cache.read(unit).codes, before)
    cache.remove()
    assert not rows.codes.any()


def test_valid_files_are_not_written_again(tmp_path):
    source, bins = small()
    EncodedCache.write(source, bins, tmp_path, LocalEngine())
    first = files(tmp_path)
    assert len(first) == 3
    EncodedCache.write(source, bins, tmp_path, LocalEngine(n_tasks=2, reverse=True))
    assert files(tmp_path) == first


def empty(path):
    path.write_bytes(b"")


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


def halve(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def copy_other_unit(path):
    path.write_bytes(next(p for p in sorted(path.parent.iterdir(), reverse=True) if p != path).read_bytes())


def write_text(path):
    path.write_text("not an Arrow file" * 100)


def write_other_columns(path):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("x", pa.int8())])) as writer:
        writer.write_batch(pa.record_batch({"x": pa.array([1, 2, 3, 4], pa.int8())}))


@pytest.mark.parametrize(
    "damage", [Path.unlink, empty, truncate, halve, copy_other_unit, write_text, write_other_columns]
)
def test_damaged_files_are_refused_and_written_again(tmp_path, damage):
    source, bins = small()
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    unit, first = cache.partitions()[0], files(tmp_path)
    good, path = cache.read(unit).codes.copy(), cache.file(unit).path
    damage(path)
    with pytest.raises(DataError, match=r"is not a valid file of the cache: .*Write the cache again"):
        cache.read(unit)
    EncodedCache.write(source, bins, tmp_path, LocalEngine())
    np.testing.assert_array_equal(cache.read(unit).codes, good)
    changed = {name for name, was in files(tmp_path).items() if was != first[name]}
    assert changed <= {path.name}


def test_a_single_changed_bit_is_detected(tmp_path):
    source, bins = small()
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    unit = cache.partitions()[1]
    good, file = cache.read(unit).codes.copy(), cache.file(unit)
    content = bytearray(file.path.read_bytes())
    content[content.index(good.tobytes())] ^= 1
    file.path.write_bytes(content)
    assert not file.is_valid(cache.n_features)
    EncodedCache.write(source, bins, tmp_path, LocalEngine())
    np.testing.assert_array_equal(cache.read(unit).codes, good)


def test_different_rows_and_bins_have_separate_caches(tmp_path):
    source, bins = small()
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    n_files = len(files(tmp_path))
    other_bins = Bins.fit(source, LocalEngine(), max_bins=2)
    other_rows = MemorySource(random_table(1, n_rows=10, weights="whole"), block=4)
    others = [
        EncodedCache.write(source, other_bins, tmp_path, LocalEngine()),
        EncodedCache.write(other_rows, bins_of(other_rows.table), tmp_path, LocalEngine()),
    ]
    assert len({cache.key, *[other.key for other in others]}) == 3
    assert len(files(tmp_path)) == 3 * n_files
    for other in others:
        other.remove()
    assert len(files(tmp_path)) == n_files
    (tmp_path / f".{cache.file(cache.partitions()[0]).path.name}.left-by-the-dead").touch()
    cache.remove()
    cache.remove()
    assert not files(tmp_path)


def test_two_writers_at_once_leave_valid_files(tmp_path):
    """An engine may run a task twice."""
    source, bins = small(200, 20)
    writers = [
        threading.Thread(
            target=EncodedCache.write, args=(source, bins, tmp_path, LocalEngine(reverse=reverse))
        )
        for reverse in (False, True)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(files(tmp_path)) == 10
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    assert all(cache.file(partition).is_valid(cache.n_features) for partition in cache.partitions())


def test_an_error_leaves_no_draft(tmp_path, monkeypatch):
    source, bins = small()

    def refuse(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(pa.ipc, "new_file", refuse)
    with pytest.raises(OSError, match="No space left"):
        EncodedCache.write(source, bins, tmp_path, LocalEngine())
    assert not files(tmp_path)


def test_rows_without_labels_are_refused(tmp_path):
    source = MemorySource(Table.read([[1.0], [2.0]]))
    with pytest.raises(DataError, match=r"The source has no target\. Open it with a target"):
        EncodedCache.write(source, Bins.fit(source, LocalEngine()), tmp_path, LocalEngine())


# ------------------------------------------------------------------------------------- files changed by another program


def grow(cache, source, bins):
    return Grower().grow_by_level(cache, bins, source.schema, LocalEngine(), unit=source.unit)


def change_rows(cache, change):
    """Change the rows of the first file, and write them again with a right checksum."""
    file = cache.file(cache.partitions()[0])
    rows = cache.read(cache.partitions()[0])
    change(rows)
    file.write(rows)
    assert file.is_valid(cache.n_features)


def set_codes(rows):
    rows.codes[0, 0] = np.iinfo(rows.codes.dtype).max


def set_label(rows):
    rows.label[0] = 60_000


def set_weight(rows):
    rows.weight[0] = -1


def set_huge_weight(rows):
    rows.weight[0] = 2**62


@pytest.mark.parametrize("change", [set_codes, set_label, set_weight, set_huge_weight])
def test_rows_out_of_range_are_refused_even_with_a_right_checksum(tmp_path, change):
    source, bins = small()
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    grow(cache, source, bins)
    change_rows(cache, change)
    with pytest.raises(DataError, match=r"If (they come|it comes) from a cache, delete"):
        grow(cache, source, bins)


def test_rows_that_change_after_the_first_pass_are_refused(tmp_path):
    source, bins = small(n_rows=200, block=200)
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())

    class Changing:
        """The cache, with fewer columns from the second pass on."""

        passes = 0

        def partitions(self):
            return cache.partitions()

        def read(self, unit):
            self.passes += 1
            rows = cache.read(unit)
            return rows if self.passes == 1 else rows._replace(codes=np.ascontiguousarray(rows.codes[:, 1:]))

    with pytest.raises(DataError, match="the coded rows do not fit the bins: one code per feature expected"):
        Grower().grow_by_level(
            Changing(), bins, source.schema, LocalEngine(), unit=source.unit, gather_rows=5
        )


def test_rows_stay_valid_when_their_file_is_truncated(tmp_path):
    """Truncating a memory-mapped file would kill the process."""
    source, bins = small(n_rows=50_000, block=50_000)
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    [unit] = cache.partitions()
    rows = cache.read(unit)
    os.truncate(cache.file(unit).path, 4096)
    np.testing.assert_array_equal(rows.codes, bins.encode(source.table))
    with pytest.raises(DataError, match="is not a valid file of the cache"):
        cache.read(unit)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
def test_a_pipe_or_device_instead_of_a_file_is_refused(tmp_path):
    source, bins = small()
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    path = cache.file(cache.partitions()[0]).path
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(DataError, match="this is a pipe"):
        cache.read(cache.partitions()[0])
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(DataError, match="this is a device"):
        cache.read(cache.partitions()[0])
    EncodedCache.write(source, bins, tmp_path, LocalEngine())  # writes it again
    assert cache.read(cache.partitions()[0]).n_rows == 4


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    source, bins = small()
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    os.truncate(cache.file(cache.partitions()[0]).path, 2**40)
    with pytest.raises(DataError, match="it has 1,099,511,627,776 bytes; expected at most"):
        cache.read(cache.partitions()[0])


@pytest.mark.parametrize("name", ["codes", "label", "weight"])
def test_columns_of_another_type_are_refused(tmp_path, name):
    source, bins = small()
    cache = EncodedCache.write(source, bins, tmp_path, LocalEngine())
    path = cache.file(cache.partitions()[0]).path
    with pa.OSFile(str(path)) as file:
        batch = pa.ipc.open_file(file).get_batch(0)
    changed = batch.set_column(batch.schema.names.index(name), name, pa.array(["x"] * len(batch)))
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, changed.schema) as writer:
        writer.write_batch(changed)
    with pytest.raises(DataError, match=f"the column {name} has the type string"):
        cache.read(cache.partitions()[0])
