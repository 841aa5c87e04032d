"""Parquet files are read as the same table for any column types and any division into files and row groups."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files import selection, summary, tabular
from hornbeam.data.files.footers import Footer, merge_columns, row_group_partitions
from hornbeam.data.files.parquet import ParquetSource, scan_parquet
from hornbeam.data.files.parquet_writer import write_parquet
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError, HornbeamWarning, ParameterError, SchemaError
from support.examples import examples

engines = st.builds(LocalEngine, st.integers(1, 2), st.integers(1, 5), st.booleans())


def concat_units(source: ParquetSource, features: list[int] | None = None) -> Table:
    """Concatenate all partitions."""
    parts = [source.read(partition, features) for partition in source.partitions()]
    assert [len(part.columns[0]) for part in parts] == [
        partition.end - partition.begin for partition in source.partitions()
    ]

    def concatenated(name: str) -> np.ndarray | None:
        arrays = [getattr(part, name) for part in parts]
        return None if arrays[0] is None else np.concatenate(arrays)

    columns = tuple(np.concatenate(runs) for runs in zip(*[part.columns for part in parts], strict=True))
    first = parts[0]
    return Table(
        first.schema,
        columns,
        concatenated("target"),
        concatenated("weight"),
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


def data_error(call) -> str:
    """Return the message of the DataError that a call raises; empty if it raises none."""
    try:
        call()
    except DataError as error:
        return str(error)
    return ""


def write_files(frame: pa.Table, folder: Path, group: int, n_files: int = 1) -> Path:
    """Write a table as some files of small row groups; return the folder."""
    bounds = [len(frame) * at // n_files for at in range(n_files + 1)]
    for at in range(n_files):
        pq.write_table(frame[bounds[at] : bounds[at + 1]], folder / f"{at:03d}.parquet", row_group_size=group)
    return folder


# ---- files equal tables --------------------------------------------------------------------------------

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


@examples(100)
@given(st.data())
def test_files_are_read_as_the_same_table_as_in_memory(tmp_path_factory, data):
    frame = data.draw(frames())
    group, n_files = data.draw(st.integers(1, 30)), data.draw(st.integers(1, min(3, len(frame))))
    folder = write_files(frame, tmp_path_factory.mktemp("rows"), group, n_files)
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
        return scan_parquet(
            folder,
            target="y",
            sample_weight=weight,
            features=features,
            class_weight=class_weight,
            engine=data.draw(engines),
        )

    if message := data_error(read):
        with pytest.raises(DataError, match=re.escape(message)):
            opened()
        return
    expected, source = read(), opened()
    assert_same(concat_units(source), expected)
    assert source.n_rows == expected.n_rows
    assert source.unit == expected.unit
    again = pickle.loads(pickle.dumps(source))
    assert_same(concat_units(again), expected)
    matching = scan_parquet(
        folder, target="y", sample_weight=weight, class_weight=class_weight, schema=expected.schema
    )
    assert_same(concat_units(matching), read(expected.schema))
    some = data.draw(st.lists(st.integers(0, len(features) - 1), min_size=1, max_size=3, unique=True))
    assert_same(concat_units(source, some), expected.select(some))
    bins = Bins.fit(source, data.draw(engines), max_bins=4)
    assert bins.digest == Bins.fit(MemorySource(expected), LocalEngine(), max_bins=4).digest


def pandas_frame():
    return pd.DataFrame(
        {
            "number": [1.5, None, -2.0, np.inf],
            "whole": pd.array([3, None, 1, 2], dtype="Int64"),
            "flag": pd.Series([True, None, False, True], dtype=object),
            "colour": pd.Categorical(["red", None, "blue", "red"], categories=["white", "red", "blue"]),
            "size": pd.Categorical(["small", None, "large", "small"], categories=SIZES, ordered=True),
            "nothing": pd.Series([None] * 4, dtype=object),
            "y": ["b", "a", "b", "b"],
        },
        index=[3, 3, 1, 2],
    )


def polars_frame():
    return pl.DataFrame(
        {
            "number": [1.5, None, -2.0, float("nan")],
            "flag": [True, None, False, True],
            "colour": pl.Series(["red", None, "blue", "red"], dtype=pl.Categorical),
            "text": ["x", "", None, "x"],
            "nothing": [None] * 4,
            "y": [2, 1, 2, 2],
        }
    )


@pytest.mark.parametrize("group", [1, 3, 100])
def test_files_of_pandas_and_polars_are_read_like_their_frames(tmp_path, group):
    """The index of a pandas frame is not a feature, in files and in memory."""
    frame = pandas_frame()
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=group)
    source = scan_parquet(tmp_path / "a.parquet", target="y")
    assert_same(concat_units(source), Table.read(frame.drop(columns="y"), frame["y"]))
    assert [feature.kind for feature in source.schema.features][2:5] == [
        Kind.NOMINAL,
        Kind.NOMINAL,
        Kind.ORDINAL,
    ]
    frame = polars_frame()
    frame.write_parquet(tmp_path / "b.parquet", row_group_size=group)
    source = scan_parquet(str(tmp_path / "b.parquet"), target="y")
    assert_same(concat_units(source), Table.read(frame.drop("y"), frame["y"]))


def test_without_labels_and_weights_only_footers_are_read(tmp_path):
    """A damaged page raises an error only when its rows are read."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": np.arange(1000.0)}), path, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[4:40] = b"\xff" * 36
    path.write_bytes(content)
    source = scan_parquet(path, target=None)
    assert (source.n_rows, source.schema.classes) == (1000, ())
    with pytest.raises(DataError, match=r"rows\.parquet' cannot be read as Parquet: .*Write it again"):
        source.read(source.partitions()[0])


def damaged_page(folder):
    """Write a file with page checksums, and change bytes in the middle of the values of a column."""
    path = folder / "rows.parquet"
    x = np.random.default_rng(0).normal(size=20_000)
    table = pa.table({"x": x, "y": np.where(x > 0, "p", "n")})
    pq.write_table(table, path, row_group_size=7000, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return path


def test_pages_with_a_wrong_checksum_are_refused_by_every_reader(tmp_path):
    path = str(damaged_page(tmp_path))
    model = TreeClassifier("cart").fit(pa.table({"x": [0.0, 1.0]}), [0, 1])
    readers = [
        lambda: TreeClassifier("cart").fit(path, "y"),
        lambda: TreeClassifier("cart").fit(path, "y", memory=20_000),
        lambda: model.predict_proba(path),
        lambda: tabular.read_table(path),
        lambda: list(tabular.read_parts(path)),
        lambda: tabular.read_column([path], "x", 20_000),
    ]
    for read in readers:
        with pytest.raises(DataError, match=r"rows\.parquet' cannot be read as Parquet: .*page integrity"):
            read()


def test_files_that_are_written_have_page_checksums(tmp_path):
    table = pa.table({"x": np.random.default_rng(0).normal(size=1000)})
    with (tmp_path / "parts").open("wb") as sink:
        tabular.write_parts([{"x": table["x"]}], sink, as_parquet=True)
    for path in (Path(write_parquet(table, tmp_path / "rows")), tmp_path / "parts"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        with pytest.raises(OSError, match="page integrity"):
            pq.read_table(path, page_checksum_verification=True)


# ---- partitions ---------------------------------------------------------------------------------------------


def test_units_count_only_rows_that_are_kept(tmp_path):
    frame = pa.table({"x": np.arange(9.0), "w": [0.0, 1, 1, 0, 0, 0, 2, 0, 1]})
    source = scan_parquet(write_files(frame, tmp_path, 3), target=None, sample_weight="w")
    file = str(tmp_path / "000.parquet")
    assert [(u.begin, u.end, u.file, u.group) for u in source.partitions()] == [
        (0, 2, file, 0),
        (2, 4, file, 2),
    ]
    assert [source.read(partition).columns[0].tolist() for partition in source.partitions()] == [
        [1.0, 2.0],
        [6.0, 8.0],
    ]
    assert [source.read(partition).weight.tolist() for partition in source.partitions()] == [[1, 1], [2, 1]]


def test_large_row_groups_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(selection, "MOST_VALUES", 30)
    monkeypatch.setattr(selection, "SHORT_ROWS", 4)
    monkeypatch.setattr(selection, "BATCH_ROWS", 3)
    frame = pa.table({"x": np.arange(23.0), "c": list("abcabdabeabfabgabhabiab"), "y": [0, 1] * 11 + [0]})
    source = scan_parquet(write_files(frame, tmp_path, 23), target="y")
    assert [(partition.n_rows, partition.group, partition.part) for partition in source.partitions()] == [
        (7, 0, 0),
        (8, 0, 1),
        (8, 0, 2),
    ]
    assert_same(concat_units(source), Table.read(frame.select(["x", "c"]), frame["y"]))


def test_a_file_that_changed_after_opening_is_refused(tmp_path):
    frame = pa.table({"x": np.arange(9.0), "y": [0, 1, 2] * 3})
    source = scan_parquet(write_files(frame, tmp_path, 3), target="y")
    write_files(frame, tmp_path, 4)
    with pytest.raises(
        DataError, match=r"Row group 0 of .* has 4 rows with a weight above zero; there were 3 .* Open them"
    ):
        source.read(source.partitions()[0])


def test_the_fingerprint_depends_on_files_columns_and_schema(tmp_path):
    frame = pa.table({"x": np.arange(9.0), "z": np.arange(9.0), "y": [0, 1, 2] * 3})
    folder = write_files(frame, tmp_path, 3)

    def fingerprint(**options):
        return scan_parquet(folder, **({"target": "y"} | options)).fingerprint

    first = fingerprint()
    assert fingerprint(engine=LocalEngine(2, 3, True)) == first
    options = [
        {"target": None},
        {"features": ["x"]},
        {"features": ["z", "x"]},
        {"sample_weight": "z"},
        {"class_weight": {0: 0}},
    ]
    assert len({first, *[fingerprint(**some) for some in options]}) == 6
    os.utime(folder / "000.parquet", ns=(0, 0))
    assert fingerprint() != first


# ---- which files ---------------------------------------------------------------------------------------


def test_files_folders_patterns_and_addresses_are_listed_in_order(tmp_path):
    frame = pa.table({"x": [1.0, 2.0], "y": ["a", "b"]})
    for name in ("b one%20#.parquet", "a.parquet", "_temporary/c.parquet", ".d.parquet", "deep/e.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(frame, tmp_path / name)
    (tmp_path / "_SUCCESS").touch()

    def names(paths):
        files = [partition.file for partition in scan_parquet(paths, target="y").partitions()]
        return [Path(file).relative_to(tmp_path).as_posix() for file in files]

    visible = ["a.parquet", "b one%20#.parquet", "deep/e.parquet"]
    assert names(tmp_path) == names(str(tmp_path)) == visible
    assert names(tmp_path / "*.parquet") == visible[:2]
    assert names(str(tmp_path / "**" / "[ae].parquet")) == ["a.parquet", "deep/e.parquet"]
    assert names([tmp_path / "deep", tmp_path / "a.parquet"]) == ["deep/e.parquet", "a.parquet"]
    assert names(f"{tmp_path.as_uri()}/deep") == ["deep/e.parquet"]
    assert names((tmp_path / visible[1]).as_uri()) == visible[1:2]


def test_paths_without_files_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"There are no Parquet files at .*none\.parquet"):
        scan_parquet(tmp_path / "none.parquet", target="y")
    with pytest.raises(DataError, match=r"There are no Parquet files at .*a folder is searched for"):
        scan_parquet(tmp_path, target="y")
    with pytest.raises(DataError, match=r"There are no Parquet files at .*none\.parquet"):
        scan_parquet(f"{tmp_path.as_uri()}/none.parquet", target="y")
    with pytest.raises(DataError, match="No files were named"):
        scan_parquet([], target="y")
    (tmp_path / "text.parquet").write_text("no Parquet at all")
    with pytest.raises(DataError, match=r"text\.parquet' cannot be read as Parquet"):
        scan_parquet(tmp_path, target="y")


# ---- files that differ ---------------------------------------------------------------------------------


def two_files(folder: Path, one: dict, other: dict) -> Path:
    pq.write_table(pa.table(one), folder / "one.parquet")
    pq.write_table(pa.table(other), folder / "other.parquet")
    return folder


def test_files_with_different_column_types_are_refused(tmp_path):
    two_files(tmp_path, {"x": [1.0], "y": [0]}, {"x": ["a"], "y": [1]})
    match = r"Column 'x' holds numbers in '.*one\.parquet', but text in '.*other\.parquet'"
    with pytest.raises(DataError, match=match):
        scan_parquet(tmp_path, target="y")
    two_files(tmp_path, {"x": [1.0], "y": [0]}, {"z": [1.0], "y": [1]})
    with pytest.raises(DataError, match=r"other\.parquet' has no column 'x', which '.*one\.parquet' has"):
        scan_parquet(tmp_path, target="y")


def test_widths_orders_and_columns_without_values_may_differ(tmp_path):
    nothing = pa.nulls(1)
    one = {"x": pa.array([1], pa.int8()), "c": ["a"], "n": nothing, "t": nothing, "y": [1]}
    other = {"t": [True], "c": pa.array(["b"], pa.large_string()), "x": [0.5], "n": [2.0], "y": [2.0]}
    table = concat_units(scan_parquet(two_files(tmp_path, one, other), target="y"))
    expected = Table.read(
        pa.table({"x": [1.0, 0.5], "c": ["a", "b"], "n": [None, 2.0], "t": [None, True]}), [1.0, 2.0]
    )
    assert_same(table, expected)


def test_ordered_categories_keep_their_order(tmp_path):
    def ordered(values, categories):
        return {
            "x": pa.array(pd.Categorical(values, categories=categories, ordered=True)),
            "y": [0] * len(values),
        }

    two_files(tmp_path, ordered(["small"], SIZES[:2]), ordered(["large", "medium"], SIZES[1:]))
    source = scan_parquet(tmp_path, target="y", engine=LocalEngine(n_tasks=2, reverse=True))
    assert source.schema.features[0].categories == tuple(SIZES)
    assert concat_units(source).columns[0].tolist() == [0.0, 2.0, 1.0]
    two_files(tmp_path, ordered(["small"], SIZES), ordered(["large"], SIZES[::-1]))
    with pytest.raises(
        DataError, match=r"Column 'x' has ordered categories, but their order differs: \['small'"
    ):
        scan_parquet(tmp_path, target="y")


# ---- files with different columns -----------------------------------------------------------------------


ONE = {"x": [1.0, 2.0], "c": ["a", "b"], "old": ["p", "q"], "y": [0, 1]}
OTHER = {"x": [3.0, 4.0], "c": ["b", "c"], "new": [5, 6], "y": [1, 0]}


def in_both_orders(folder, one, other):
    two_files(folder, one, other)
    files = [folder / "one.parquet", folder / "other.parquet"]
    return files, files[::-1]


def test_columns_of_some_files_are_refused_in_every_order(tmp_path):
    messages = set()
    for files in in_both_orders(tmp_path, ONE, OTHER):
        with pytest.raises(
            DataError, match=r"one\.parquet' has no column 'new'.*\['new', 'old'\].*exclude="
        ) as caught:
            TreeClassifier().fit(files, "y")
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_columns_of_some_files_are_read_as_missing_values(tmp_path):
    for files in in_both_orders(tmp_path, ONE, OTHER):
        source = scan_parquet(files, target="y", missing_columns="null")
        expected = {
            "x": [1.0, 2.0, 3.0, 4.0],
            "c": ["a", "b", "b", "c"],
            "new": [None, None, 5.0, 6.0],
            "old": ["p", "q", None, None],
        }
        table, y = pa.table(expected), np.array([0, 1, 1, 0])
        rows = [0, 1, 2, 3] if files[0].name == "one.parquet" else [2, 3, 0, 1]
        assert_same(concat_units(source), Table.read(table.take(rows), y[rows]))


def test_a_model_reads_files_that_lack_its_columns(tmp_path):
    schema = Table.read(pa.table({"x": [1.0, 2.0], "old": ["p", "q"]}), [0, 1]).schema
    two_files(tmp_path, ONE, OTHER)
    source = scan_parquet(tmp_path / "other.parquet", target=None, schema=schema, missing_columns="null")
    assert [column.tolist() for column in concat_units(source).columns] == [[3.0, 4.0], [-1, -1]]
    with pytest.raises(DataError, match="has no column 'old'"):
        scan_parquet(tmp_path / "other.parquet", target=None, schema=schema)


def test_excluded_columns_are_no_features(tmp_path):
    for files in in_both_orders(tmp_path, ONE, OTHER):
        assert scan_parquet(files, target="y", exclude=["new", "old"]).schema.names == ("x", "c")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"exclude": "new"}, r"expected a sequence of names, such as \['new'\]"),
        ({"exclude": ["new"], "features": ["x"]}, "expected one of them"),
        ({"exclude": ["knew"]}, "has no column 'knew'"),
        ({"features": ["knew"], "missing_columns": "null"}, "has no column 'knew'"),
        ({"missing_columns": "ignore"}, "expected one of 'error', 'null'"),
        ({"missing_columns": "null", "target": "old"}, r"other\.parquet' has no column 'old'"),
    ],
)
def test_wrong_names_of_columns_are_refused(tmp_path, options, match):
    with pytest.raises((ParameterError, DataError), match=match):
        scan_parquet(two_files(tmp_path, ONE, OTHER), **({"target": "y"} | options))


def test_a_folder_column_may_be_absent_too(tmp_path):
    (tmp_path / "year=2024").mkdir()
    pq.write_table(pa.table(ONE), tmp_path / "a.parquet")
    pq.write_table(pa.table(ONE), tmp_path / "year=2024" / "b.parquet")
    with pytest.raises(DataError, match=r"a\.parquet' has no column 'year'"):
        scan_parquet(tmp_path, target="y")
    source = scan_parquet(tmp_path, target="y", missing_columns="null")
    at = source.schema.names.index("year")
    np.testing.assert_array_equal(concat_units(source).columns[at], [np.nan, np.nan, 2024, 2024])


def test_columns_of_dates_are_left_out_with_a_warning(tmp_path):
    """The command line does the same; a column that is named as a feature is refused."""
    days = {"when": pa.array([1, 2], pa.timestamp("s")), "parts": [[1], [2]]}
    path = two_files(tmp_path, ONE | days, ONE | days)
    with pytest.warns(HornbeamWarning, match=r"left out: 'when' \(timestamp\[.*'parts' \(list<") as caught:
        model = TreeClassifier("cart").fit(path, "y")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.feature_names_in_.tolist() == ["x", "c", "old"]
    assert scan_parquet(path, target="y", exclude=["when", "parts"]).schema.names == ("x", "c", "old")
    with pytest.raises(DataError, match="Column 'when' holds dates or times"):
        scan_parquet(path, target="y", features=["x", "when"])


# ---- unusable data --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "error", "match"),
    [
        ({"x": [1.0, 2.0], "y": [0, None]}, {}, DataError, r"Input y contains NaN.*row group 0 of '.*000\.parquet"),
        ({"x": [1.0, 2.0], "y": ["a", None]}, {}, DataError, "Input y contains NaN"),
        ({"x": [1.0, 2.0], "y": [0.5, 1.5]}, {}, DataError, "Unknown label type: continuous"),
        ({"x": pa.array([1, 2], pa.date32()), "y": [0, 1]}, {}, DataError, r"Column 'x' holds dates or times \(date32"),
        ({"x": [b"a", b"b"], "y": [0, 1]}, {}, DataError, "Column 'x' holds values of type binary"),
        ({"x": [[1], [2]], "y": [0, 1]}, {}, DataError, "Column 'x' holds values of type list"),
        ({"x": [1.0, 2.0], "y": [0, 1], "w": [1, -1.0]}, {"sample_weight": "w"}, DataError, r"sample_weight has -1\.0"),
        ({"x": [1.0, 2.0], "y": [0, 1], "w": [1.0, None]}, {"sample_weight": "w"}, DataError, "sample_weight has nan"),
        ({"x": [1.0, 2.0], "y": [0, 1], "w": ["1", "a"]}, {"sample_weight": "w"}, DataError, "must hold numbers"),
        ({"x": [1.0, 2.0], "y": [0, 1], "w": [0, 0]}, {"sample_weight": "w"}, DataError, "Every row has weight 0"),
        ({"x": [1.0, 2.0]}, {}, DataError, "has no column 'y'"),
        ({"y": [0, 1]}, {}, DataError, "No column is left to learn from"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"features": "x"}, ParameterError, "expected a sequence of names"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"features": ["x", "y"]}, ParameterError, "'y' has two roles"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"target": 3}, ParameterError, "target is a int; expected the name"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"groups": [1, 2]}, ParameterError, "groups is a list; expected the name"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"features": "x"}, ParameterError, "features is 'x'; expected a sequence"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"exclude": 3}, ParameterError, "exclude is 3; expected a sequence"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"schema": "x"}, SchemaError, "schema is a str; expected a Schema"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"target_kind": "ordinal"}, SchemaError, "expected 'nominal' or 'numeric'"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"sample_weight": "y"}, ParameterError, "'y' has two roles"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, {"features": ["x", "x"]}, ParameterError, "'x' has two roles"),
        ({"x": [1.0], "y": [0]}, {"target": None, "class_weight": "balanced"}, ParameterError, "without a target"),
        ({"x": [1.0], "y": [0]}, {"class_weight": {7: 2, 0: 1}}, None, ""),
        ({"x": [1.0], "y": [0]}, {"class_weight": {7: 2}}, ParameterError, "names classes that are not in y"),
        ({"x": pa.array([], pa.int8()), "y": pa.array([], pa.int8())}, {}, DataError, "have 0 rows while"),
    ],
)  # fmt: skip
def test_unusable_columns_and_options_are_refused(tmp_path, columns, options, error, match):
    folder = write_files(pa.table(columns), tmp_path, 10)
    if error is None:
        assert scan_parquet(folder, **({"target": "y"} | options)).n_rows == 1
        return
    with pytest.raises(error, match=match):
        scan_parquet(folder, **({"target": "y"} | options))


def test_repeated_column_names_are_refused(tmp_path):
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="has two columns of the same name"):
        scan_parquet(tmp_path, target=None)


def test_too_many_categories_and_classes_are_refused(tmp_path, monkeypatch):
    """The limits apply to all partitions together."""
    monkeypatch.setattr(summary, "MAX_CATEGORIES", 5)
    monkeypatch.setattr(summary, "MAX_CLASSES", 5)
    frame = pa.table({"x": list("abcdef"), "n": np.arange(6.0), "y": np.arange(6)})
    folder = write_files(frame, tmp_path, 2)
    with pytest.raises(DataError, match=r"Feature 'x' has more than 5 categories.*drop the column"):
        scan_parquet(folder, target=None)
    with pytest.raises(DataError, match="The target has more than 5 classes"):
        scan_parquet(folder, target="y", features=["n"])
    assert scan_parquet(folder, target=None, features=["n"]).n_rows == 6


def test_labels_outside_the_given_schema_are_refused(tmp_path):
    schema = Table.read(pa.table({"x": [1.0, 2.0]}), ["a", "b"]).schema
    folder = write_files(pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", "c", "b"]}), tmp_path, 1)
    with pytest.raises(SchemaError, match="y has the label 'c'"):
        scan_parquet(folder, target="y", schema=schema)
    assert scan_parquet(folder, target=None, schema=schema).schema == schema
    with pytest.raises(ParameterError, match="Both features and schema were given"):
        scan_parquet(folder, target=None, schema=schema, features=["x"])


def test_without_pyarrow_the_extra_is_named():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from hornbeam import scan_parquet\n"
        "try:\n    scan_parquet('rows.parquet', target='y')\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("Install it: pip install 'hornbeam[parquet]'.")


def test_a_large_row_group_is_several_partitions():
    partitions = row_group_partitions([Footer("a.parquet", 0, 0, (3, 0, 5), {})], 3)
    assert [(one.begin, one.end, one.group, one.part) for one in partitions] == [
        (0, 3, 0, 0),
        (3, 5, 2, 0),
        (5, 8, 2, 1),
    ]
    assert [selection.part_rows(n) for n in (20, 200, 20_000)] == [1_048_576, 335_544, 65_536]


def test_columns_of_some_files_come_last():
    assert merge_columns({"a": ["z", "age"], "b": ["age", "dose"]}, None) == ["age", "dose", "z"]
