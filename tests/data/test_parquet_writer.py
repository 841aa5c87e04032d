"""`write_parquet` writes the rows of any stream, in row groups of one size."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.files.parquet_writer import write_parquet
from hornbeam.errors import DataError, ParameterError

ROWS = pa.table(
    {
        "x": np.arange(25.0),
        "c": pa.array(["red", None, "blue", "green", "red"] * 5).dictionary_encode(),
        "y": [0, 1, 2, 3, 4] * 5,
    }
)


def batches():
    for begin in range(0, 25, 4):
        part = ROWS[begin : begin + 4]
        codes = part["c"].cast(pa.string()).dictionary_encode()  # each with its own dictionary
        yield from part.set_column(1, "c", codes).to_batches()


@pytest.mark.parametrize(
    "rows",
    [
        lambda: ROWS,
        lambda: ROWS.to_reader(4),
        batches,
        lambda: [ROWS[:1], ROWS[1:20], ROWS[20:]],
        lambda: pa.dataset.dataset(ROWS),
        lambda: pa.dataset.dataset(ROWS).scanner(batch_size=3),
    ],
    ids=["table", "reader", "batches", "tables", "dataset", "scanner"],
)
def test_any_stream_is_written_in_full_row_groups(tmp_path, rows):
    path = write_parquet(rows(), tmp_path / "new" / "part-0.parquet", group_rows=10)
    assert [entry.name for entry in (tmp_path / "new").iterdir()] == ["part-0.parquet"]
    metadata = pq.read_metadata(path)
    assert [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)] == [10, 10, 5]
    assert pq.read_table(path).cast(ROWS.schema).to_pylist() == ROWS.to_pylist()
    assert scan_parquet(path, target="y").schema.features[1].categories == ("blue", "green", "red")


def test_a_frame_with_the_arrow_interface_is_written(tmp_path):
    frame = pl.DataFrame({"x": [1.0, None], "y": ["a", "b"]})
    assert pl.read_parquet(write_parquet(frame, tmp_path / "rows.parquet")).equals(frame)


@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        ([], {}, DataError, "no rows to write"),
        (ROWS[:0], {}, DataError, "no rows to write"),
        (7, {}, DataError, "rows is a int; expected a data frame"),
        (ROWS, {"group_rows": 0}, ParameterError, "group_rows=0: expected a whole number, 1 or more"),
    ],
)
def test_rows_that_cannot_be_written_leave_no_file(tmp_path, rows, options, error, message):
    with pytest.raises(error, match=message):
        write_parquet(rows, tmp_path / "rows.parquet", **options)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ParameterError, match=r"a folder; expected a file. Pass .*rows.parquet"):
        write_parquet(ROWS, tmp_path)


def test_batches_with_different_schemas_are_refused(tmp_path):
    with pytest.raises(
        DataError, match=r"(?s)cannot be written as Parquet: .*Give all batches the same schema"
    ):
        write_parquet([ROWS, pa.table({"x": [1.0]})], tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="The stream holds a dict; expected record batches"):
        write_parquet([{"x": 1.0}], tmp_path / "rows.parquet")
    assert not list(tmp_path.iterdir())
