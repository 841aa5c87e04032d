"""Parquet files are a table: whatever they hold, and however it is dealt over files and row groups."""

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.data import Bins, LocalEngine, MemorySource, ParquetSource, Table
from hornbeam.data.parquet import ParquetSource
from hornbeam.errors import DataError

engines = st.builds(LocalEngine, st.integers(1, 2), st.integers(1, 5), st.booleans())


def joined(source: ParquetSource, features: list[int] | None = None) -> Table:
    """All units as one table."""
    parts = [source.read(unit, features) for unit in source.units()]
    assert [len(part.columns[0]) for part in parts] == [unit.end - unit.begin for unit in source.units()]

    def together(name: str) -> np.ndarray | None:
        arrays = [getattr(part, name) for part in parts]
        return None if arrays[0] is None else np.concatenate(arrays)

    columns = tuple(np.concatenate(runs) for runs in zip(*[part.columns for part in parts], strict=True))
    first = parts[0]
    return Table(
        first.schema,
        columns,
        together("target"),
        together("weight"),
        first.unit,
        None,
        first.names,
        first.class_weight,
    )


def assert_same(found: Table, expected: Table) -> None:
    assert found.schema == expected.schema
    assert repr(found.schema) == repr(expected.schema)  # 1, 1.0 and True are equal, but not the same
    assert (found.unit, found.names) == (expected.unit, expected.names)
    for one, other in zip(found.columns, expected.columns, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    for name in ("target", "weight", "class_weight"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def written(frame: pa.Table, folder: Path, group: int, n_files: int = 1) -> Path:
    """A table dealt over some files of small row groups."""
    bounds = [len(frame) * at // n_files for at in range(n_files + 1)]
    for at in range(n_files):
        pq.write_table(frame[bounds[at] : bounds[at + 1]], folder / f"{at:03d}.parquet", row_group_size=group)
    return folder


# ---- the law -------------------------------------------------------------------------------------------

SIZES = ["small", "medium", "large"]
numbers = st.one_of(
    st.none(), st.sampled_from([0.0, -0.0, 1.0, 0.5, 1e300, float("inf"), float("nan"), -7.0])
)
COLUMNS = {
    "double": (pa.float64(), numbers),
    "float": (pa.float32(), st.one_of(st.none(), st.sampled_from([0.5, -1.0, float("nan")]))),
    "half": (pa.float16(), st.sampled_from([np.float16(0.5), np.float16(2), None])),
    "whole": (pa.int64(), st.one_of(st.none(), st.integers(-(2**60), 2**60))),
    "small": (pa.uint8(), st.one_of(st.none(), st.integers(0, 255))),
    "decimal": (pa.decimal128(5, 2), st.one_of(st.none(), st.decimals(0, 9, places=2))),
    "flag": (pa.bool_(), st.sampled_from([True, False, None])),
    "text": (pa.string(), st.sampled_from(["b", "a", "ä", "", "10", "9", None])),
    "long text": (pa.large_string(), st.sampled_from(["x", "y", None])),
    "category": (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["q", "p", None])),
    "nothing": (pa.null(), st.none()),
}
LABELS = {
    "strings": (pa.string(), st.sampled_from(["no", "yes", "perhaps"])),
    "integers": (pa.int32(), st.integers(-3, 3)),
    "booleans": (pa.bool_(), st.booleans()),
    "floats": (pa.float64(), st.sampled_from([0.0, -0.0, 1.0, 7.0])),
    "categories": (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(["no", "yes"])),
}
WEIGHTS = st.sampled_from(
    [
        st.integers(0, 3).map(float),
        st.sampled_from([0.0, 0.5, 0.1, 3.0]),
        st.just(1.0),
        st.just(0.001),
        st.sampled_from([1e-9, 1e-3]),
        st.sampled_from([2.0**45, 1.0]),
    ]
)


@st.composite
def frames(draw):
    n = draw(st.integers(1, 25))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4, unique=True))

    def column(dtype, values):
        return pa.array(draw(st.lists(values, min_size=n, max_size=n)), dtype)

    columns = {name: column(*COLUMNS[name]) for name in kinds}
    if draw(st.booleans()):
        codes = pa.array(draw(st.lists(st.sampled_from([0, 1, 2, None]), min_size=n, max_size=n)), pa.int8())
        columns["ordered"] = pa.DictionaryArray.from_arrays(codes, pa.array(SIZES), ordered=True)
    columns["y"] = column(*LABELS[draw(st.sampled_from(sorted(LABELS)))])
    columns["w"] = column(pa.float64(), draw(WEIGHTS))
    return pa.table(columns)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_files_are_the_table(tmp_path_factory, data):
    frame = data.draw(frames())
    group, n_files = data.draw(st.integers(1, 30)), data.draw(st.integers(1, min(3, len(frame))))
    folder = written(frame, tmp_path_factory.mktemp("rows"), group, n_files)
    weight = data.draw(st.sampled_from([None, "w"]))
    labels = list(dict.fromkeys(frame["y"].to_pylist()))
    class_weight = data.draw(st.sampled_from([None, "balanced", {labels[0]: 0}, {labels[-1]: 2.5}]))
    features = [name for name in frame.column_names if name not in ("y", "w")]

    def read(schema=None):
        return Table.read(
            frame.select(features),
            frame["y"],
            sample_weight=None if weight is None else frame["w"].to_numpy(),
            class_weight=class_weight,
            schema=schema,
        )

    def opened():
        return ParquetSource.open(
            folder,
            target="y",
            weight=weight,
            features=features,
            class_weight=class_weight,
            engine=data.draw(engines),
        )

    try:
        expected = read()
    except DataError as error:
        with pytest.raises(DataError) as told:
            opened()
        assert str(error) in str(told.value)
        return
    source = opened()
    assert_same(joined(source), expected)
    assert source.n_rows == expected.n_rows
    assert source.unit == expected.unit
    again = pickle.loads(pickle.dumps(source))
    assert_same(joined(again), expected)
    matching = ParquetSource.open(
        folder, target="y", weight=weight, class_weight=class_weight, schema=expected.schema
    )
    assert_same(joined(matching), read(expected.schema))
    some = data.draw(st.lists(st.integers(0, len(features) - 1), min_size=1, max_size=3, unique=True))
    assert_same(joined(source, some), expected.select(some))
    bins = Bins.fit(source, data.draw(engines), max_bins=4)
    assert bins.digest == Bins.fit(MemorySource(expected), LocalEngine(), max_bins=4).digest
