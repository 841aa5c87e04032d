"""Tables of Delta Lake and Iceberg are fitted from their Parquet files, or from a copy."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hornbeam import TreeClassifier
from hornbeam.data import write_parquet

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
    assert digest(write_parquet(table.to_pyarrow_dataset(), tmp_path / "copy")) == EXPECTED


def test_iceberg(tmp_path):
    pytest.importorskip("pyiceberg")
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = sql.SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=tmp_path.as_uri())
    catalog.create_namespace("n")
    table = catalog.create_table("n.rows", schema=TABLE.schema)
    table.append(TABLE)
    assert digest([task.file.file_path for task in table.scan().plan_files()]) == EXPECTED
    assert digest(write_parquet(table.scan().to_arrow_batch_reader(), tmp_path / "copy")) == EXPECTED
    catalog.engine.dispose()
