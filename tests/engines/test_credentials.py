"""Credentials of an address are in no error, warning, log, output or file, whatever the call and the form."""

import logging
import traceback
import warnings
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("moto.server")
pytest.importorskip("click")
import click
from benchmarks.faults.object_store import s3_server
from click.testing import CliRunner

import hornbeam
from hornbeam import ForestClassifier, TreeClassifier
from hornbeam.cli.group import hornbeam as command
from hornbeam.cli.rows import FilePath
from hornbeam.data.files import stores
from hornbeam.data.files.addresses import Address, without_credentials
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.files.parquet_writer import write_parquet
from hornbeam.errors import HornbeamError
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import PRESETS
from hornbeam.tree import Table

# Each part of a user name, a password or a token begins with LEAK.
FORMS = [
    *(
        f"{scheme}://LEAKkey:LEAKsecret@b/r.parquet"
        for scheme in ("s3", "S3", "s3a", "s3n", "gs", "gcs", "az", "http", "https", "ftp", "file", "nosuch")
    ),
    "hdfs://LEAKkey:LEAKsecret@127.0.0.1:9/r.parquet",
    "abfs://c:LEAKsecret@account.dfs.core.windows.net/r.parquet",
    "abfss://c@account.dfs.core.windows.net/r.parquet?sas_token=LEAKsecret",
    "jdbc:pg://LEAKkey:LEAKsecret@b/x",
    "s3://LEAKkey@b/r.parquet",
    "s3://:LEAKsecret@b/r.parquet",
    "s3://LEAKkey:LEAKsecret@b",
    "s3://LEAKkey:LEAKsecret@b/",
    "s3://LEAKkey:LEAKsecret@/r.parquet",
    "s3://LEAKkey:LEAKsecret@",
    "s3://LEAKkey:LEAKsecret@b:99999999/r.parquet",
    "s3://LEAKkey:LEAKsecret@b/*.parquet",
    "s3://LEAKkey:LEAKsecret@b/[ab]/**/r*.parquet?region=eu-west-1",
    "s3://LEAKkey:LEAKsecret@b/r.parquet?region=eu-west-1",
    "s3://LEAKkey:LEAKsecret@b/r.parquet?nosuch=LEAKtoken",
    "s3://LEAKkey:LEAKsecret@b/r.parquet?secret_key=LEAKtoken&endpoint_override=LEAKuser:LEAKother@h",
    "s3://b/r.parquet?access_key=LEAKkey&secret_key=LEAKsecret",
    "s3://b/r.parquet#LEAKsecret",
    "s3://LEAKkey:LEAKa?LEAKb@b/r.parquet",
    "s3://LEAKkey:LEAKa#LEAKb@b/r.parquet",
    "s3://LEAKkey:LEAKa@LEAKb@b/r.parquet",
    "s3://LEAKkey:LEAKa/LEAKb@b/r.parquet",
    "s3://LEAKkey:LEAKa@LEAKb/LEAKc@b/r.parquet",
    "s3://LEAKkey:LEAKa?LEAKb/LEAKc@LEAKd@b/r.parquet",
    "s3://LEAKkey:LEAKa:LEAKb@b/r.parquet",
    "s3://LEAKkey:LEAKa LEAKb@b/r.parquet",
    "s3://LEAKkey:LEAKa\nLEAKb@b/r.parquet",
    "s3://LEAKkey:LEAKa%2FLEAKb@b/r.parquet",
    "s3://LEAKkey:%zzLEAKsecret@b/r.parquet",
    "s3://LEAKkey:123/LEAKsecret@b/r.parquet",
    "s3://LEAKkey:[LEAKsecret@b/r.parquet",
    " s3://LEAKkey:LEAKsecret@b/r.parquet",
    "s3://LEAKkey:LEAKsecret@b/r\n.parquet",
    "s3:/LEAKkey:LEAKsecret@b/r.parquet",
    "s3:LEAKkey:LEAKsecret@b/r.parquet",
]
ROWS = pd.DataFrame({"x": [0.0, 1.0] * 50, "y": ["a", "b"] * 50})
X, Y = ROWS[["x"]], ROWS["y"]


@pytest.fixture(scope="module")
def server():
    """A server without a bucket of the name b."""
    with pytest.MonkeyPatch.context() as patch, s3_server() as port:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("AWS_REGION", "eu-west-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setattr(stores, "WAITS", ())
        yield


@pytest.fixture
def files(tmp_path, monkeypatch, server):
    """The current folder, with rows and a model."""
    monkeypatch.chdir(tmp_path)
    ROWS.to_parquet("rows.parquet", row_group_size=50)
    hornbeam.save(TreeClassifier("cart").fit(X, Y), "model.hornbeam")
    return tmp_path


def texts(error):
    """All texts of an error and of those it came from, as collectors of errors read them."""
    found = traceback.format_exception(error)
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        found += [str(error), repr(error), repr(error.args), repr(vars(error))]
        error = error.__cause__ or error.__context__
    return found


def contents(folder):
    paths = list(folder.rglob("*"))
    return [str(path.relative_to(folder)) for path in paths] + [
        path.read_bytes().decode("latin-1") for path in paths if path.is_file()
    ]


def calls(at):
    """Each documented call that takes a path, with the address `at`."""
    model = hornbeam.load("model.hornbeam")
    source = scan_parquet("rows.parquet", target="y")
    plan = Plan.of(source, PRESETS["cart"], memory=100)
    return {
        "address": lambda: (Address(at), repr(Address(at)), f"{Address(at)}"),
        "fit": lambda: TreeClassifier("cart").fit(at, "y"),
        "fit, files": lambda: TreeClassifier("cart").fit([at, at], "y"),
        "fit, path": lambda: TreeClassifier("cart").fit(Path(at), "y"),
        "fit, forest": lambda: ForestClassifier(2).fit(at, "y"),
        "fit, cache": lambda: TreeClassifier("cart").fit("rows.parquet", "y", cache=at, memory=100),
        "fit, checkpoint": lambda: fit(source, PRESETS["cart"], plan=plan, checkpoint=at),
        "open": lambda: scan_parquet(at, target="y"),
        "write": lambda: write_parquet(ROWS, at),
        "predict": lambda: model.predict(at),
        "predict, path": lambda: model.predict(Path(at)),
        "predict_proba": lambda: model.predict_proba(at),
        "explain": lambda: model.explain(at),
        "predict_to, rows": lambda: model.predict_to(at, "predicted"),
        "predict_to, folder": lambda: model.predict_to(X, at),
        "predict_to, path": lambda: model.predict_to(X, Path(at)),
        "score": lambda: model.score(at, "y"),
        "update": lambda: model.update(at, "y"),
        "drift": lambda: model.drift(at),
        "candidates": lambda: model.candidate_splits(at, "y"),
        "candidates, held out": lambda: model.candidate_splits(X, Y, held_out=(at, "y")),
        "teacher": lambda: hornbeam.TreeClassifier(teacher=model).fit(at, "y"),
        "table": lambda: Table.read(at, Y),
        "load": lambda: hornbeam.load(at),
        "load, path": lambda: hornbeam.load(Path(at)),
        "save": lambda: hornbeam.save(model, at),
        "save, path": lambda: hornbeam.save(model, Path(at)),
        "report": lambda: hornbeam.report(model, at, "y"),
        "report, file": lambda: hornbeam.report(model, X, Y).save(at),
        "card": lambda: hornbeam.model_card(model, at, "y"),
        "workbench": lambda: hornbeam.workbench(model, at, "y", show=False),
        "workbench, file": lambda: hornbeam.workbench(model, X, Y, path=at, show=False),
    }


@pytest.mark.parametrize("at", FORMS)
def test_no_call_shows_credentials(at, files, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    assert "LEAK" not in without_credentials(at)
    shown, foreign = {}, {}
    for name, call in calls(at).items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = call()
                found = [repr(result), str(result)]
            except Exception as error:  # noqa: BLE001
                found = texts(error)
                foreign |= {} if isinstance(error, HornbeamError) else {name: found[-3]}
        found += [str(warning.message) for warning in caught]
        shown[name] = [text for text in found if "LEAK" in text]
    assert not any(shown.values()), shown
    assert not foreign
    assert not [text for text in (*contents(files), caplog.text, *capfd.readouterr()) if "LEAK" in text]


ORDINARY = {
    "model": "model.hornbeam",
    "models": "model.hornbeam",
    "old": "model.hornbeam",
    "new": "model.hornbeam",
    "data": "rows.parquet",
}


def command_lines(at):
    """Each command, with the address instead of each of its paths, and as one argument too many."""
    for name in command.list_commands(None):
        one = command.get_command(None, name)
        paths = [param for param in one.params if isinstance(param.type, click.Path)]
        assert all(isinstance(param.type, FilePath) for param in paths), f"a path of {name} shows credentials"
        for path in [*paths, None]:
            words = [name]
            for param in one.params:
                value = at if param is path else ORDINARY.get(param.name)
                if isinstance(param, click.Argument):
                    words.append(value)
                elif param is path:
                    words.append(f"{param.opts[-1]}={value}")
                elif param.name in ("output", "to"):
                    words += [param.opts[-1], {"output": "output.html", "to": "json"}[param.name]]
                elif param.name == "target" and (
                    param.required or (path is not None and path.name == "data")
                ):
                    words += ["-t", "y"]
            yield [*words, at] if path is None else words


@pytest.mark.parametrize("at", FORMS)
def test_no_command_shows_credentials(at, files, caplog):
    caplog.set_level(logging.DEBUG)
    for words in command_lines(at):
        done = CliRunner().invoke(command, words)
        assert done.exit_code in (2, 3), (words, done.output)
        assert isinstance(done.exception, SystemExit), words
        assert "LEAK" not in done.output + done.stderr, words
    assert not [text for text in (*contents(files), caplog.text) if "LEAK" in text]
