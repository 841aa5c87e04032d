"""Data sets by the index, from a server on this machine."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pandas as pd
import pytest
from benchmarks.data import fetch
from benchmarks.output import read_csv
from benchmarks.quality.studies.sets import index, load

pytest.importorskip("pyarrow", reason="data sets are Parquet files")

TABLE = b"id,sepal,colour,class\n1,5.1,red,a\n2,?,blue,b\n3,4.0,?,a\n4,4.5,red,b\n"
VARIABLES = [
    {"name": "id", "role": "ID", "type": "Integer"},
    {"name": "sepal", "role": "Feature", "type": "Continuous"},
    {"name": "colour", "role": "Feature", "type": "Categorical"},
    {"name": "class", "role": "Target", "type": "Categorical"},
]
COLUMNS = list(read_csv(fetch.INDEX)[0])


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, bytes]]]:
    """An address, and what the server has there."""
    files: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", files
        http.shutdown()
        thread.join()


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """An index of one set."""
    row = dict.fromkeys(COLUMNS, "") | {
        "name": "toy",
        "n_instances": "4",
        "n_numeric": "1",
        "n_nominal": "1",
        "n_classes": "2",
        "url": "https://archive.ics.uci.edu/dataset/7",
        "file": "toy.parquet",
        "sha256": hashlib.sha256(b"as it is").hexdigest(),
        "notes": "ids dropped",
    }
    rows = [row]
    monkeypatch.setattr(fetch, "INDEX", tmp_path / "known.csv")
    pd.DataFrame(rows).to_csv(tmp_path / "known.csv", index=False)
    return rows


def answer(url: str, variables: list[dict[str, str]] = VARIABLES) -> bytes:
    about = {"data_url": f"{url}/static/public/7/data.csv", "variables": variables}
    return json.dumps({"status": 200, "data": about}).encode()


def test_a_table_of_the_archive_becomes_a_set_of_the_study(server, known, tmp_path: Path) -> None:
    url, files = server
    files["/api/dataset?id=7"] = answer(url)
    files["/static/public/7/data.csv"] = TABLE
    assert fetch.fetch(tmp_path / "data", archive=url) == []
    (entry,) = index(tmp_path / "data")
    data = load(entry)
    assert list(data.X) == ["sepal", "colour"]
    assert data.X["sepal"].tolist()[::2] == [5.1, 4.0]
    assert data.X.isna().sum().tolist() == [1, 1]
    assert isinstance(data.X["colour"].dtype, pd.CategoricalDtype)
    assert (data.classes, data.y.tolist()) == (("a", "b"), [0, 1, 0, 1])
    files.clear()
    assert fetch.fetch(tmp_path / "data", archive=url) == [], "what is there is not fetched again"


def test_another_number_of_rows_or_no_table_is_refused(server, known, tmp_path: Path, capsys) -> None:
    url, files = server
    files["/api/dataset?id=7"] = answer(url)
    files["/static/public/7/data.csv"] = TABLE[: TABLE.rindex(b"4,")]
    assert fetch.fetch(tmp_path / "data", archive=url) == ["toy"]
    assert "3 rows, 2 attributes and 2 classes, expected 4, 2 and 2; ids dropped" in capsys.readouterr().err
    files["/api/dataset?id=7"] = b'{"status": 404, "message": "not available"}'
    assert fetch.fetch(tmp_path / "data", archive=url) == ["toy"]
    assert "not available (https://archive.ics.uci.edu/dataset/7)" in capsys.readouterr().err
    assert not (tmp_path / "data" / "index.csv").exists()


def test_two_targets_are_refused(server, known, tmp_path: Path, capsys) -> None:
    url, files = server
    files["/api/dataset?id=7"] = answer(url, [v | {"role": "Target"} for v in VARIABLES[2:]])
    files["/static/public/7/data.csv"] = TABLE
    assert fetch.fetch(tmp_path / "data", archive=url) == ["toy"]
    assert "2 columns are targets (colour, class), expected one" in capsys.readouterr().err


def test_a_mirror_has_the_files_of_the_index(server, known, tmp_path: Path, capsys) -> None:
    url, files = server
    files["/copies/toy.parquet"] = b"another"
    arguments = [str(tmp_path / "data"), "--mirror", f"{url}/copies/"]
    assert fetch.main(arguments) == 1
    assert f"expected {known[0]['sha256']}" in capsys.readouterr().err
    files["/copies/toy.parquet"] = b"as it is"
    assert fetch.main(arguments) == 0
    assert (tmp_path / "data" / "toy.parquet").read_bytes() == b"as it is"
    assert read_csv(tmp_path / "data" / "index.csv") == known


@pytest.mark.parametrize("broken", [b"<html>", b"[]", b'{"data": {"data_url": "https://a"}}'])
def test_an_answer_of_another_form_is_refused(server, known, tmp_path: Path, capsys, broken: bytes) -> None:
    url, files = server
    files["/api/dataset?id=7"] = broken.replace(b"https://a", f"{url}/table".encode())
    files["/table"] = TABLE
    assert fetch.fetch(tmp_path / "data", archive=url) == ["toy"]
    assert "the answer cannot be read" in capsys.readouterr().err


def test_text_in_a_numeric_column_is_refused(server, known, tmp_path: Path, capsys) -> None:
    url, files = server
    files["/api/dataset?id=7"] = answer(url)
    files["/static/public/7/data.csv"] = TABLE.replace(b"4.5", b"long")
    assert fetch.fetch(tmp_path / "data", archive=url) == ["toy"]
    assert "the answer cannot be read" in capsys.readouterr().err


def test_the_archive_cannot_name_a_file_of_this_machine(server, known, tmp_path: Path, capsys) -> None:
    url, files = server
    (tmp_path / "table.csv").write_bytes(TABLE)
    about = {"data_url": (tmp_path / "table.csv").as_uri(), "variables": VARIABLES}
    files["/api/dataset?id=7"] = json.dumps({"data": about}).encode()
    assert fetch.fetch(tmp_path / "data", archive=url) == ["toy"]
    assert "the address is not of the web: file:" in capsys.readouterr().err


def test_without_a_network_nothing_more_is_tried(known, tmp_path: Path, capsys) -> None:
    closed = "http://127.0.0.1:1"
    pd.DataFrame([known[0] | {"name": name} for name in ("one", "two")]).to_csv(fetch.INDEX, index=False)
    with pytest.raises(fetch.NoNetworkError, match=r"127\.0\.0\.1:1 cannot be reached"):
        fetch.fetch(tmp_path / "data", archive=closed)
    assert fetch.main([str(tmp_path / "data"), "--archive", closed]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("the same command goes on")


def test_the_committed_index() -> None:
    rows = read_csv(Path(fetch.__file__).parent / "index.csv")
    assert len(rows) == len({row["name"] for row in rows}) == len({row["sha256"] for row in rows}) == 157
    assert sum(int(row["n_instances"]) <= 28_056 for row in rows) == 144
    assert all(0 < float(row["rarest_class"]) <= 1 / int(row["n_classes"]) + 1e-6 for row in rows)
    assert all(row["url"] or row["name"] in ("low-res-spectrometer", "pima-diabetes") for row in rows)
    assert all(row["file"] == Path(row["file"]).name == f"{row['name']}.parquet" for row in rows)
