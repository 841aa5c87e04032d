"""Columns in folder names, such as ``year=2024``."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from hornbeam import TreeClassifier
from hornbeam.data.files import selection
from hornbeam.data.files.footers import folder_types, folder_values
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.files.tabular import parquet_shape, read_column, read_parts, read_table
from hornbeam.data.table import Table
from hornbeam.errors import DataError

NOTHING = "__HIVE_DEFAULT_PARTITION__"


def write(folder, **rows):
    """A file of 20 rows, and as many more columns as are given."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(len(folder.parts))
    frame = pd.DataFrame({"x": rng.normal(size=20), "y": rng.choice(["a", "b"], 20)} | rows)
    frame.to_parquet(folder / "part.parquet", row_group_size=8)
    return frame


@pytest.fixture
def by_year(tmp_path):
    """Folders of two levels, and all their rows as a frame."""
    places = [(2023, "Bad%20Ems", "Bad Ems"), (2024, "7", "7"), (2024, NOTHING, None)]
    frames = [
        write(tmp_path / f"year={year}" / f"city={folder}").assign(year=year, city=city)
        for year, folder, city in places
    ]
    return tmp_path, pd.concat(frames, ignore_index=True)


def test_the_rows_are_those_of_a_frame_with_these_columns(by_year):
    folder, frame = by_year
    source = scan_parquet(folder, target="y")
    expected = Table.read(frame[["x", "year", "city"]], frame["y"])
    assert source.schema == expected.schema
    parts = [source.read(partition) for partition in source.partitions()]
    for feature, column in enumerate(expected.columns):
        found = np.concatenate([part.columns[feature] for part in parts])
        order = np.argsort(np.concatenate([part.columns[0] for part in parts]))
        np.testing.assert_array_equal(found[order], column[np.argsort(expected.columns[0])])


def test_large_row_groups_are_read_in_parts(by_year, monkeypatch):
    folder, frame = by_year
    whole = TreeClassifier("cart").fit(folder, "y")
    for name in ("MOST_ROWS", "SHORT_ROWS"):
        monkeypatch.setattr(selection, name, 3)
    assert TreeClassifier("cart").fit(folder, "y").tree_.digest == whole.tree_.digest
    source = scan_parquet(folder, target="y", features=["city"])
    assert source.n_rows == len(frame)
    assert [part.n_rows for part in map(source.read, source.partitions())][:3] == [2, 3, 3]


def test_a_model_determines_the_type_of_a_column(by_year, tmp_path):
    """The only city to predict is a number; the model has names of cities."""
    folder, frame = by_year
    classifier = TreeClassifier("cart").fit(folder, "y")
    one = folder / "year=2024" / "city=7"
    np.testing.assert_array_equal(
        classifier.predict_proba(one), classifier.predict_proba(frame[frame["city"] == "7"])
    )
    classifier.predict_to(folder, tmp_path / "to", keep=["city", "year"])
    kept = pd.concat(
        [pq.read_table(file).to_pandas() for file in sorted((tmp_path / "to").glob("*.parquet"))]
    )
    assert kept["year"].value_counts().to_dict() == {2023: 20, 2024: 40}
    assert kept["city"].astype(object).fillna("").value_counts().to_dict() == {
        "Bad Ems": 20,
        "7": 20,
        "": 20,
    }


def test_a_column_may_be_the_target_or_the_weight(by_year):
    folder, _ = by_year
    assert TreeClassifier("cart").fit(folder, "year").classes_.tolist() == [2023, 2024]
    source = scan_parquet(folder, target="y", sample_weight="year")
    assert source.n_rows == 60


def test_a_column_of_the_file_takes_precedence(tmp_path):
    write(tmp_path / "year=1", year=7)
    source = scan_parquet(tmp_path, target="y")
    assert source.schema.names == ("x", "year")
    assert set(source.read(source.partitions()[0]).columns[1]) == {7.0}


def test_a_folder_above_all_files_is_no_feature_unless_it_is_named(tmp_path):
    above = tmp_path / "run=3"
    for year in (2023, 2024):
        write(above / f"year={year}")
    assert scan_parquet(above, target="y").schema.names == ("x", "year")
    assert scan_parquet(above / "year=2024", target="y").schema.names == ("x",)
    assert scan_parquet(above, target="y", features=["run", "x"]).schema.names == ("run", "x")
    assert read_table(str(above)).column_names == ["x", "y", "year"]
    assert parquet_shape([str(file) for file in above.rglob("*.parquet")])[1] == ["x", "y", "year"]
    assert set(read_table(str(above), columns=["run"])["run"].to_pylist()) == {3}
    model = TreeClassifier("cart").fit(above, "y")
    assert model.predict(above / "year=2024").shape == (20,)


def test_a_target_of_text_stays_text_where_all_folders_are_numbers(tmp_path):
    for label in ("7", "a"):
        write(tmp_path / f"k={label}")
    tree = TreeClassifier("cart").fit(tmp_path, "k").tree_
    one = scan_parquet(tmp_path / "k=7", target="k", schema=tree.schema)
    assert set(one.read(one.partitions()[0]).target) == {tree.schema.classes.index("7")}


def test_a_column_must_be_in_the_names_of_all_files(tmp_path):
    write(tmp_path / "a=1")
    write(tmp_path / "b=1")
    with pytest.raises(DataError, match="has no column 'a'"):
        scan_parquet(tmp_path, target="y")


@pytest.mark.parametrize("name", ["0.parquet", "z.parquet"])
def test_a_file_beside_the_folders_is_refused_whatever_its_name(name, tmp_path):
    for year in (2023, 2024):
        write(tmp_path / f"year={year}")
    write(tmp_path / "beside")
    (tmp_path / "beside" / "part.parquet").rename(tmp_path / name)
    with pytest.raises(DataError, match=f"{name}' has no column 'year'"):
        scan_parquet(tmp_path, target="y")
    assert scan_parquet(tmp_path, target="y", features=["x"]).schema.names == ("x",)


def test_the_tables_of_the_command_line_have_them_too(by_year):
    folder, frame = by_year
    files = [str(file) for file in sorted(folder.rglob("*.parquet"))]
    assert parquet_shape(files) == (60, ["x", "y", "year", "city"])
    table = read_table(str(folder), columns=["y", "city"], types={"city": "text"})
    assert sorted(map(str, table["city"].to_pylist())) == sorted(map(str, frame["city"]))
    assert sum(len(part) for part in read_parts(str(folder), columns=["year"])) == 60
    assert set(read_column(files, "year", 100).to_pylist()) == {2023, 2024}


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("s3://bucket/a=1/b=x%2520y/part.parquet", {"a": "1", "b": "x y"}),
        ("/data/=1/a=/b/c=d=e/part=3.parquet", {"a": "", "c": "d=e"}),
        (f"a={NOTHING}/part.parquet", {"a": None}),
    ],
)
def test_names_of_folders(file, values):
    assert folder_values(file) == values


@pytest.mark.parametrize(
    ("values", "held"),
    [
        (["01", "-2"], "numbers"),
        (["1", "1.5"], "text"),
        ([NOTHING], "numbers"),
        (["9" * 19], "text"),
        ([""], "text"),
    ],
)
def test_types_of_folders(values, held):
    assert folder_types([f"a={value}/part.parquet" for value in values]) == {"a": held}
