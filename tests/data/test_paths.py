"""Addresses: those of the disk are paths, those that cannot be reached or used are refused."""

import pandas as pd
import pytest

from hornbeam import TreeClassifier, save
from hornbeam.data.files.addresses import Address, as_path, needs_escapes, without_credentials
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.files.parquet_writer import write_parquet
from hornbeam.data.files.paths import list_files
from hornbeam.data.files.target_folder import TargetFolder
from hornbeam.errors import DataError, ParameterError
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import PRESETS


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nosuch://bucket/rows", "'nosuch://bucket/rows' cannot be reached: .*Check the address"),
        ("file:///no/such/folder/rows.parquet", "There are no Parquet files at '.*rows.parquet'"),
    ],
)
def test_an_address_that_cannot_be_reached_raises_a_data_error(address, message):
    with pytest.raises(DataError, match=message):
        list_files(address)


def test_credentials_of_an_address_are_in_no_message():
    """Neither in ours nor in that of pyarrow, which repeats the address."""
    with pytest.raises(DataError) as caught:
        list_files("nosuch://key:secret@host/rows?token=secret")
    assert str(caught.value).startswith("'nosuch://host/rows' cannot be reached")
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_cache_or_a_copy_in_a_store_is_refused(tmp_path):
    """A folder called ``s3:`` would be made on each machine."""
    import pyarrow as pa

    rows = pa.table({"x": [0.0, 1.0] * 50, "y": ["a", "b"] * 50})
    with pytest.raises(ParameterError, match="path is 's3://bucket/rows', an address of a store"):
        write_parquet(rows, "s3://key:secret@bucket/rows")
    files = write_parquet(rows, tmp_path / "rows.parquet")
    with pytest.raises(ParameterError, match="cache is 's3://bucket/codes', an address of a store"):
        TreeClassifier("cart").fit(files, "y", cache="s3://key:secret@bucket/codes", memory=100)


def test_a_checkpoint_or_a_model_in_a_store_is_refused(tmp_path):
    rows = pd.DataFrame({"x": [0.0, 1.0] * 50, "y": ["a", "b"] * 50})
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=20)
    model = TreeClassifier("cart").fit(rows[["x"]], rows["y"])
    with pytest.raises(
        ParameterError, match=r"path is 's3://bucket/m\.hornbeam', .*expected a file on a disk\. Copy it"
    ):
        save(model, "s3://key:secret@bucket/m.hornbeam")
    source = scan_parquet(tmp_path, target="y")
    plan = Plan.of(source, PRESETS["cart"], memory=100)
    with pytest.raises(
        ParameterError, match=r"checkpoint is 's3://bucket/c', .*expected a file on a disk, which"
    ):
        fit(source, PRESETS["cart"], plan=plan, checkpoint="s3://key:secret@bucket/c")


def test_an_address_of_the_disk_is_a_path(tmp_path):
    """Of the rows and of the predictions; with and without escapes in the name."""
    rows = pd.DataFrame({"x": [0.0, 1.0] * 50, "y": ["a", "b"] * 50})
    model = TreeClassifier("cart").fit(rows[["x"]], rows["y"])
    for name in ("the rows", "more%20rows"):
        folder = tmp_path / name
        folder.mkdir()
        rows.to_parquet(folder / "0.parquet")
        written = model.predict_to(f"file://{folder}", (tmp_path / f"{name}, predicted").as_uri())
        assert written.n_rows == 100
        assert len(pd.read_parquet(tmp_path / f"{name}, predicted")) == 100
        assert list_files(f"file://{folder}") == [str(folder / "0.parquet")]
        assert list_files(folder.as_uri()) == [str(folder / "0.parquet")]
    assert TargetFolder.of((tmp_path / "new").as_uri()).address == str(tmp_path / "new")
    assert as_path(tmp_path) == tmp_path


def test_one_key_of_two_stores_is_two_files(monkeypatch):
    monkeypatch.setattr("hornbeam.data.files.paths._remote_files", lambda address: [address])
    hosts = [f"s3://bucket/rows.parquet?endpoint_override={host}" for host in ("one:1", "two:2", "one:1")]
    assert [file.full for file in list_files(hosts)] == hosts[:2]


def test_credentials_and_options_are_not_in_the_text_of_an_address():
    folder = Address("s3://key:secret@bucket/rows?region=eu-west-1")
    assert folder.below("year=2024/part 0.parquet") == "s3://bucket/rows/year=2024/part%200.parquet"
    assert folder.below("a.parquet").full == "s3://key:secret@bucket/rows/a.parquet?region=eu-west-1"


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("s3://key:secret@bucket/rows?endpoint_override=localhost", "s3://bucket/rows"),
        ("abfs://box:key@account.dfs.core.windows.net/rows", "abfs://box@account.dfs.core.windows.net/rows"),
        ("s3://key:sec/ret@bucket/rows", "s3://bucket/rows"),
        ("s3://key:12/se?cr@et@bucket/rows", "s3://bucket/rows"),
        ("/data/rows@home.parquet", "/data/rows@home.parquet"),
    ],
)
def test_an_address_without_credentials(address, text):
    assert without_credentials(address) == text


def test_a_slash_in_a_password_must_be_escaped():
    assert needs_escapes("s3://key:sec/ret@bucket/rows")
    assert not needs_escapes("s3://key:sec%2Fret@bucket/rows")


@pytest.mark.parametrize("paths", [3, None, [3]])
def test_paths_that_are_none_are_refused(paths):
    with pytest.raises(DataError, match="expected a path, or a list of paths"):
        scan_parquet(paths, target="y")


def test_a_source_without_a_target_cannot_be_fitted(tmp_path):
    pd.DataFrame({"x": [0.0, 1.0]}).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="a Source without a target"):
        TreeClassifier().fit(scan_parquet(tmp_path, target=None))
