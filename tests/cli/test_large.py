"""Folders of Parquet files: the same models and predictions as of one file in memory, and no fit is lost."""

import json
import logging
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import hornbeam
from hornbeam.cli.console import common_options
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.files.tabular import read_table

FIT = ("-t", "state", "--drop", "id", "--drop", "opened", "--drop", "currency")
LARGE = (
    "--memory",
    "200kB",
)  # the 600 rows take 48 kB: too many to be read at once, and few enough to come home

LOG_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ")


@pytest.fixture
def folder(run) -> str:
    """The loans in three Parquet files, and a text file that is none of them."""
    table = read_table("loans.csv", types={"zip": "text"})
    Path("loans").mkdir()
    for at in range(3):
        pa.parquet.write_table(table[at * 200 : at * 200 + 200], f"loans/{at}.parquet", row_group_size=70)
    Path("loans/notes.txt").write_text("no rows", encoding="utf-8")
    pa.parquet.write_table(table, "whole.parquet")
    return "loans"


def fitted(run, data: str, *options: str) -> bytes:
    result = run("fit", data, *FIT, "-o", "m.hornbeam", *options)
    assert result.exit_code == 0, result.stderr
    return Path("m.hornbeam").read_bytes()


@pytest.mark.parametrize(
    "options", [[], ["--class-weight", "balanced"], ["--costs", "bad", "good", "5"], ["--seed", "3"]]
)
def test_a_folder_that_streams_gives_the_model_of_one_file(run, folder, options):
    assert fitted(run, folder, *LARGE, *options) == fitted(run, "whole.parquet", *options)
    assert fitted(run, "loans/*.parquet", *LARGE, *options) == fitted(run, folder, *options)


@pytest.mark.parametrize("holes", [False, True])
def test_a_number_of_a_folder_is_estimated_as_of_one_file(run, folder, holes):
    if holes:
        table = read_table("whole.parquet")
        amount = [None if at % 50 == 7 else value for at, value in enumerate(table["amount"].to_pylist())]
        pa.parquet.write_table(table.set_column(2, "amount", pa.array(amount)), "whole.parquet")
        pa.parquet.write_table(read_table("whole.parquet"), "loans/0.parquet")
        for name in ("1", "2"):
            Path(f"loans/{name}.parquet").unlink()
    models = []
    for data, memory in ((folder, LARGE), ("whole.parquet", ())):
        command = ("fit", data, "-t", "amount", "--kind", "regression", "--drop", "id", "-o", "n.hornbeam")
        assert run(*command, *memory).exit_code == 0
        models.append(Path("n.hornbeam").read_bytes())
    assert models[0] == models[1]


@pytest.mark.parametrize("target", [(), ("-t", "amount", "--kind", "regression")])
def test_rows_that_do_not_fit_memory_give_the_same_tree(run, folder, target):
    options = (*target, "--preset", "cart", "-q", "--json")
    digests = {
        json.loads(run("fit", folder, *FIT, "-o", "m.hornbeam", "--memory", memory, *options).stdout)[
            "digest"
        ]
        for memory in ("1kB", "1GB")
    }
    assert len(digests) == 1


def test_what_is_said_of_a_folder_is_what_is_said_of_a_file(run, folder):
    said = [
        run("fit", data, "-t", "state", "-o", "m.hornbeam", *memory).stderr.splitlines()[1:]
        for data, memory in ((folder, LARGE), ("whole.parquet", ()))
    ]
    assert [line for line in said[0] if not LOG_LINE.match(line)] == said[1]


def test_log_lines_are_written_without_a_terminal(run, folder):
    command = ("fit", folder, *FIT, "-o", "m.hornbeam", "--memory", "1kB")
    lines = [LOG_LINE.sub("", line) for line in run(*command).stderr.splitlines() if LOG_LINE.match(line)]
    # A level is logged only if it takes seconds.
    steps = [line for line in lines if not line.startswith("level ")]
    assert steps == [
        "3 files, 9 partitions: reading categories and target",
        (
            "plan: grow level by level on all rows; 600 rows of 6 features; "
            "rows up to 1 MB in memory, the process about 200 MB"
        ),
        "choosing bins",
        "writing the codes of all rows to the cache",
        "choosing strengths and size on a sample",
        "fitted: 31 leaves, depth 7",
    ]
    assert run(*command, "-q").stderr == ""
    assert [type(one) for one in logging.getLogger("hornbeam").handlers] == [logging.NullHandler]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_a_terminal_shows_the_plan_and_no_other_log_line(folder):
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "hornbeam", "fit", folder, *FIT, "-o", "m.hornbeam"]
    command += ["--memory", "1kB"]
    process = subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 4096):
            shown += data
    except OSError:  # Linux: the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    assert b"plan: grow level by level on all rows" in shown
    assert b"choosing bins" not in shown


def test_rows_without_a_label_are_left_out(run, folder):
    table = read_table("whole.parquet")
    state = table["state"].cast(pa.string()).to_pylist()
    state[5] = state[500] = None
    table = table.set_column(table.column_names.index("state"), "state", pa.array(state))
    pa.parquet.write_table(table, "whole.parquet", row_group_size=100)
    at_once = fitted(run, "whole.parquet")
    result = run("fit", "whole.parquet", *FIT, "-o", "m.hornbeam", *LARGE)
    assert "2 rows without a label in 'state' are left out" in result.stderr
    assert "598 rows" in result.stderr
    assert Path("m.hornbeam").read_bytes() == at_once


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--test-share", "0.2"],
            "--test-share needs all rows in memory: the 600 rows of 'loans' take about",
        ),
        (["--nominal", "age"], "--nominal age needs all rows in memory"),
    ],
)
def test_what_needs_all_rows_in_memory_says_so_or_reads_them(run, folder, options, words):
    command = ("fit", folder, *FIT, "-o", "m.hornbeam", *options)
    result = run(*command, "--memory", "10kB")
    assert result.exit_code == 3
    assert words in result.stderr
    assert "Pass a larger --memory" in result.stderr
    assert run(*command, *LARGE).exit_code == 0


def test_a_size_that_is_none(run, folder):
    result = run("fit", folder, *FIT, "-o", "m.hornbeam", "--memory", "much")
    assert result.exit_code == 2
    assert "expected a number of bytes such as 512MB" in result.stderr


@pytest.mark.parametrize("output", ["answers.csv", "answers.parquet"])
def test_predict_of_a_folder_is_predict_of_a_file(run, folder, output):
    fitted(run, folder)
    options = ("-o", output, "--keep", "id", "--level", ".9", "--leaf")
    assert run("predict", "m.hornbeam", "whole.parquet", *options).exit_code == 0
    whole = read_table(output)
    assert run("predict", "m.hornbeam", folder, *options).exit_code == 0
    assert read_table(output).equals(whole)
    assert [file.name for file in Path().glob(".*")] == []


def test_predict_streams_to_stdout_and_as_json(run, folder):
    fitted(run, folder)
    whole = run("predict", "m.hornbeam", "whole.parquet").stdout
    assert run("predict", "m.hornbeam", folder).stdout == whole
    said = [
        json.loads(run("predict", "m.hornbeam", data, "--json").stdout) for data in (folder, "whole.parquet")
    ]
    assert said[0] == said[1]
    assert said[0]["rows"] == 600


def test_an_error_half_way_leaves_the_old_answers(run, folder):
    fitted(run, folder)
    Path("answers.csv").write_text("old", encoding="utf-8")
    table = read_table("loans/2.parquet")
    pa.parquet.write_table(table.drop_columns("age"), "loans/2.parquet")
    result = run("predict", "m.hornbeam", folder, "-o", "answers.csv")
    assert result.exit_code == 3
    assert "There is no column 'age' in 'loans'" in result.stderr
    assert Path("answers.csv").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_scores_of_a_folder_are_those_of_a_file(run, folder, kind):
    target = "state" if kind == "classification" else "amount"
    options = ("-t", target, "--kind", kind, "-o", "s.hornbeam")
    assert (
        run(
            "fit",
            folder,
            *options,
            "--drop",
            "id",
            *(["--costs", "bad", "good", "5"] if target == "state" else []),
        ).exit_code
        == 0
    )
    whole, parts = (
        json.loads(run("score", "s.hornbeam", data, "-t", target, "--json").stdout)
        for data in ("whole.parquet", folder)
    )
    assert whole["rows"] == parts["rows"] == 600
    for name in whole.keys() - {"rows"}:
        assert parts[name] == pytest.approx(whole[name], rel=1e-12)


def test_many_rows_are_reported_and_compared_from_their_files(run, folder, monkeypatch):
    """The page has no medians; one thread opens the files if it is asked for one."""
    import hornbeam.cli.rows
    from hornbeam.data import threads

    fitted(run, folder)
    report, drift = ("report", "m.hornbeam", folder, "-t", "state"), ("drift", "m.hornbeam", folder, "--json")
    assert run(*report, "-o", "memory.html").exit_code == 0
    in_memory = run(*drift, "-t", "state").stdout, run(*drift).stdout
    monkeypatch.setattr(hornbeam.cli.rows, "_MANY_ROWS", 100)
    assert run(*report, "-o", "files.html", "--groups", "purpose").exit_code == 0
    assert "no medians" in Path("files.html").read_text("utf-8")
    asked, n_threads = [], threads.n_threads
    monkeypatch.setattr(threads, "n_threads", lambda n_jobs: asked.append(n_jobs) or n_threads(n_jobs))
    assert (run(*drift, "-t", "state", "--jobs", "1").stdout, run(*drift, "--jobs", "1").stdout) == in_memory
    assert set(asked) == {1}


def test_many_rows_without_a_label_are_refused(run, folder, monkeypatch):
    import hornbeam.cli.rows

    fitted(run, folder)
    rows = pa.concat_tables([pa.parquet.read_table(file) for file in Path(folder).rglob("*.parquet")])
    place = rows.column_names.index("state")
    rows = rows.set_column(place, "state", pa.nulls(len(rows), pa.string()))
    pa.parquet.write_table(rows, "unlabelled.parquet")
    monkeypatch.setattr(hornbeam.cli.rows, "_MANY_ROWS", 100)
    result = run("drift", "m.hornbeam", "unlabelled.parquet", "-t", "state")
    assert result.exit_code == 3
    assert "No row has a label in the column 'state'" in result.stderr


def test_groups_of_another_column_are_those_of_a_sample(run, folder, monkeypatch):
    import hornbeam.cli.commands.report

    fitted(run, folder)
    monkeypatch.setattr(hornbeam.cli.commands.report, "_MOST_ROWS", 100)
    result = run("report", "m.hornbeam", folder, "-t", "state", "-o", "report.html", "--groups", "currency")
    assert result.exit_code == 0
    [told] = [line for line in result.stderr.splitlines() if "sample" in line]
    n_rows = int(told.split()[3])
    assert told == f"a sample of {n_rows} of 600 rows is scored"
    assert 60 < n_rows < 140
    assert Path("report.html").stat().st_size > 10_000


# ---- no fit is lost


def test_a_terminal_shows_errors_of_the_log(monkeypatch, capsys):
    """The workbench logs the stack of an unexpected error, which its page asks the user to report."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    log = logging.getLogger("hornbeam")
    common_options(lambda **_: [log.info("choosing bins"), log.error("workbench: KeyError")])(quiet=False)
    assert capsys.readouterr().err == "workbench: KeyError\n"


def test_a_model_too_large_for_text_is_saved_in_binary_form_under_the_same_name(run, monkeypatch):
    import hornbeam.storage.text

    fitted(run, "loans.csv")
    digest = hornbeam.load("m.hornbeam").tree_.digest
    monkeypatch.setattr(hornbeam.storage.text, "MOST_VALUES", 400)
    result = run("fit", "loans.csv", *FIT, "-o", "m.hornbeam", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["model"] == "m.hornbeam"
    assert hornbeam.load("m.hornbeam").tree_.digest == digest
    assert run("update", "m.hornbeam", "loans.csv", "-t", "state", "-o", "n.hornbeam").exit_code == 0
    for name in ("m.hornbeam", "n.hornbeam"):
        assert not Path(name).read_bytes().startswith(b"{")
        assert run("show", name).exit_code == 0
    assert {path.name for path in Path().glob("*.safetensors")} == set()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("fit", "none.csv", "-t", "y", "-o", "no/such/m.hornbeam"), "No such file or directory"),
        (("fit", "none.csv", "-t", "y", "-o", "."), "Is a directory"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_rows_are_read(run, command, words):
    result = run(*command)
    assert result.exit_code == 3
    assert f"cannot be written: {words}" in result.stderr


@pytest.mark.skipif(
    sys.platform == "win32" or not Path("/dev/full").exists(), reason="needs a device that is always full"
)
def test_a_disk_that_fills_up_does_not_lose_the_model(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    result = run("fit", "loans.csv", *FIT, "-o", "/dev/full")
    assert result.exit_code == 3
    assert "No space left on device. The model is not lost: it is saved as" in result.stderr
    saved = result.stderr.split("'")[-2]
    assert hornbeam.load(saved).tree_.n_leaves > 1


SAVE_FOR_EVER = """
import sys
from hornbeam.storage.file import read
from hornbeam.storage.file import write
models = [read(path) for path in sys.argv[1:3]]
print("ready", flush=True)
while True:
    for model in models:
        write(model, sys.argv[3])
"""


@pytest.mark.long
def test_a_kill_at_any_moment_leaves_the_old_or_the_new_file(run):
    digests = set()
    for name, depth in (("a", "2"), ("b", "6")):
        run("fit", "loans.csv", *FIT, "-o", f"{name}.safetensors", "--max-depth", depth)
        digests.add(hornbeam.load(f"{name}.safetensors").tree_.digest)
    Path("m.hornbeam").write_bytes(Path("a.safetensors").read_bytes())
    rng, env = np.random.default_rng(0), os.environ | {"PYTHONPATH": str(Path(hornbeam.__file__).parents[1])}
    for _ in range(5):
        command = [sys.executable, "-c", SAVE_FOR_EVER, "a.safetensors", "b.safetensors", "m.hornbeam"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as process:
            began = process.stdout.readline()
            time.sleep(rng.uniform(0, 0.05))
            process.kill()
        assert began.split() == [b"ready"]
        assert hornbeam.load("m.hornbeam").tree_.digest in digests
    assert {path.name for path in Path().glob(".m.hornbeam*")} <= {
        ".m.hornbeam.saving",
        ".m.hornbeam.saving.lock",
    }


@pytest.mark.parametrize("options", [[], ["--class-weight", "balanced"]])
def test_candidates_of_a_folder_are_those_of_one_file_in_memory(run, folder, monkeypatch, options):
    """Also where labels are missing: those rows are left out."""
    table = read_table("whole.parquet")
    labels = [None if at % 60 == 7 else value for at, value in enumerate(table["state"].to_pylist())]
    table = table.set_column(table.column_names.index("state"), "state", pa.array(labels))
    pa.parquet.write_table(table, "whole.parquet")
    for at in range(3):
        pa.parquet.write_table(table[at * 200 : at * 200 + 200], f"loans/{at}.parquet", row_group_size=70)
    fitted(run, "whole.parquet", *options)
    command = ("-t", "state", "--node", "1")
    in_memory = run("candidates", "m.hornbeam", "whole.parquet", *command, "--held-out", "whole.parquet")
    monkeypatch.setattr("hornbeam.cli.rows._MANY_ROWS", 100)
    counted = run("candidates", "m.hornbeam", folder, *command, "--held-out", folder)
    assert counted.exit_code == 0, counted.stderr
    assert counted.stdout == in_memory.stdout
    if not options:
        assert "10 rows without a label" in counted.stderr
    done = run(
        "report", "m.hornbeam", "whole.parquet", "-t", "state", "--training", folder, "-o", "page.html"
    )
    assert done.exit_code == 0, done.stderr
    assert Path("page.html").read_text(encoding="utf-8").count('<details class="competitors">') > 1


@pytest.mark.parametrize("lacking", ["0", "2"])
def test_columns_that_a_file_lacks_are_refused_filled_or_dropped(run, folder, lacking):
    file = f"loans/{lacking}.parquet"
    pa.parquet.write_table(read_table(file).drop_columns("age"), file)
    for options in ((), LARGE):
        result = run("fit", folder, *FIT, "-o", "m.hornbeam", *options)
        assert result.exit_code == 3
        assert f"{lacking}.parquet' has no column 'age'" in " ".join(result.stderr.split())
    filled = {fitted(run, folder, "--missing-columns", "null", *options) for options in ((), LARGE)}
    assert len(filled) == 1
    schema = hornbeam.load("m.hornbeam").tree_.schema
    assert schema.names[-1] == "age"
    dropped = {fitted(run, folder, "--drop", "age", *options) for options in ((), LARGE)}
    assert len(dropped) == 1


@pytest.mark.parametrize(
    ("lacked", "role"), [("state", ()), ("income", ("--weight", "income")), ("zip", ("--groups", "zip"))]
)
def test_target_weights_and_groups_must_be_in_every_file(run, folder, lacked, role):
    pa.parquet.write_table(read_table("loans/1.parquet").drop_columns(lacked), "loans/1.parquet")
    for options in ((), LARGE):
        result = run("fit", folder, *FIT, *role, "-o", "m.hornbeam", "--missing-columns", "null", *options)
        assert result.exit_code == 3
        assert f"1.parquet' has no column '{lacked}'" in " ".join(result.stderr.split())


def test_dates_are_left_out_by_python_too(run, folder):
    result = run("fit", folder, "-t", "state", "--drop", "id", "-o", "m.hornbeam", *LARGE)
    assert "'opened' holds dates or times: left out" in result.stderr
    with pytest.warns(hornbeam.errors.HornbeamWarning, match=r"left out: 'opened' \(date32"):
        source = scan_parquet(folder, target="state", exclude=["id", "currency"])
    assert source.schema.names == hornbeam.load("m.hornbeam").tree_.schema.names
