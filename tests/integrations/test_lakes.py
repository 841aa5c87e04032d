"""Tables of Delta Lake and Iceberg are fitted from their Parquet files, or from a copy."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hornbeam import TreeClassifier
from hornbeam.data.files.parquet_writer import write_parquet

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"x": RNG.normal(size=600), "year": np.repeat([2022, 2023, 2024], 200)})
ROWS["y"] = np.where((ROWS["x"] > 0) ^ (ROWS["year"] == 2023), "a", "b")
TABLE = pa.Table.from_pandas(ROWS, preserve_index=False)


def digest(X, y="y"):
    return TreeClassifier("cart").fit(X, y).tree_.digest


EXPECTED = digest(ROWS[["x", "year"]], ROWS["y"])


def test_delta(tmp_path):
    """The column of the partitions is only in the names of the folders; files of old versions are not read."""
    deltalake = pytest.importorskip("deltalake")
    place = str(tmp_path / "table")
    for rows in (TABLE.slice(0, 50), TABLE):
        deltalake.write_deltalake(place, rows, partition_by=["year"], mode="overwrite")
    table = deltalake.DeltaTable(place)
    assert digest(table.file_uris()) == EXPECTED
    assert digest(write_parquet(table.to_pyarrow_dataset(), tmp_path / "copy.parquet")) == EXPECTED


def test_iceberg(tmp_path):
    pytest.importorskip("pyiceberg")
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = sql.SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=tmp_path.as_uri())
    catalog.create_namespace("n")
    table = catalog.create_table("n.rows", schema=TABLE.schema)
    table.append(TABLE)
    assert digest([task.file.file_path for task in table.scan().plan_files()]) == EXPECTED
    assert digest(write_parquet(table.scan().to_arrow_batch_reader(), tmp_path / "copy.parquet")) == EXPECTED
    catalog.engine.dispose()


CITIES = ["Bad Ems", "Köln/Süd", "a=b%20c"]
BY_CITY = ROWS.assign(city=np.repeat(CITIES, 200)).drop(columns="year")
BY_CITY_TABLE = pa.Table.from_pandas(BY_CITY, preserve_index=False)


def cities(files):
    return TreeClassifier("cart").fit(files, "y").tree_.schema.features[-1].categories


def test_values_with_special_characters_in_folders_of_delta(tmp_path):
    deltalake = pytest.importorskip("deltalake")
    place = str(tmp_path / "table")
    deltalake.write_deltalake(place, BY_CITY_TABLE, partition_by=["city"])
    assert cities(deltalake.DeltaTable(place).file_uris()) == tuple(sorted(CITIES))


def test_values_with_special_characters_in_folders_of_iceberg(tmp_path):
    pytest.importorskip("pyiceberg")
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = sql.SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=tmp_path.as_uri())
    catalog.create_namespace("n")
    table = catalog.create_table("n.rows", schema=BY_CITY_TABLE.schema)
    with table.update_spec() as update:
        update.add_identity("city")
    table.append(BY_CITY_TABLE)
    assert cities([task.file.file_path for task in table.scan().plan_files()]) == tuple(sorted(CITIES))
    catalog.engine.dispose()
