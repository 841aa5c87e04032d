"""Exit codes, streams, help, and how fast a process starts."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import which

import pytest

from hornbeam.cli.group import hornbeam

COMMANDS = hornbeam.list_commands(None)


def process(*args, **options):
    return subprocess.run(
        [sys.executable, "-m", "hornbeam", *args], check=False, capture_output=True, text=True, **options
    )


@pytest.mark.long
def test_output_to_a_pipe_is_utf_8_whatever_the_encoding_of_the_system(tmp_path, monkeypatch):
    """Python takes the code page of Windows, which may lack letters of the data."""
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    rows = tmp_path / "Łódź rows.csv"
    rows.write_text("x,y\n" + "1,łódź\n2,łódź\n8,zürich\n9,zürich\n" * 9, encoding="utf-8")
    code_page = """
import sys
from hornbeam.cli import main
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(encoding="cp1252")
main()
"""

    def run(*args):
        return subprocess.run(
            [sys.executable, "-c", code_page, *map(str, args)], check=False, capture_output=True
        )

    model = tmp_path / "Łódź.hornbeam"
    assert run("fit", rows, "-t", "y", "-o", model).returncode == 0
    shown = run("show", model)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert {"łódź", "zürich"} <= set(shown.stdout.decode().replace("(", " ").replace(",", " ").split())
    missing = run("show", tmp_path / "Ł")
    assert missing.returncode == 3
    assert "Ł" in missing.stderr.decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"hornbeam {command} " in result.stdout.partition("Options:")[0]
    assert "--json" in result.stdout


@pytest.mark.parametrize(
    ("code", "args"),
    [
        (2, ["fit", "loans.csv"]),
        (2, ["nonsense"]),
        (2, ["export", "loans.hornbeam"]),
        (2, ["rules", "loans.hornbeam", "--simplify", "loans.csv"]),
        (2, ["rules", "loans.hornbeam", "--target", "state"]),
        (2, ["rules", "loans.hornbeam", "--dialect", "sqlite"]),
        (3, ["rules", "loans.hornbeam", "--simplify", "loans.csv", "-t", "stat"]),
        (2, ["export", "loans.hornbeam", "--to", "svg", "--dialect", "sqlite"]),
        (3, ["predict", "nowhere.hornbeam", "loans.csv"]),
        (3, ["predict", "loans.csv", "loans.csv"]),
        (3, ["score", "loans.hornbeam", "nowhere.csv", "-t", "state"]),
        (3, ["fit", "loans.csv", "-t", "stat", "-o", "m.hornbeam"]),
        (3, ["fit", "loans.csv", "-t", "state", "-o", "no/such/folder/m.hornbeam"]),
        (3, ["fit", "loans.csv", "-t", "state", "-o", "m.hornbeam", "--smoothing", "laplac"]),
        (3, ["fit", "loans.csv", "-t", "state", "-o", "m.hornbeam", "--costs", "worse", "good", "5"]),
    ],
)
def test_mistakes_end_with_their_code_and_one_line(run, model, code, args):
    result = run(*args, "-q") if code == 3 else run(*args)
    assert result.exit_code == code
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    if code == 3:
        assert len(result.stderr.splitlines()) == 1
        assert result.stderr.startswith("hornbeam: ")


def test_the_error_of_a_wrong_name_has_the_closest_and_all(run):
    result = run("fit", "loans.csv", "-t", "State", "-o", "m.hornbeam")
    assert (
        "There is no column 'State' in 'loans.csv'; did you mean 'state'? Its columns are 'id', "
        in result.stderr
    )


def test_a_failed_fit_leaves_the_old_model(run, model):
    before = Path(model).read_bytes()
    assert run("fit", "loans.csv", "-t", "nothing", "-o", model).exit_code == 3
    assert run("fit", "loans.csv", "-t", "state", "-o", model, "--max-depth", "-1").exit_code == 3
    assert Path(model).read_bytes() == before


@pytest.mark.parametrize("path", ["./m.hornbeam", "a folder/m.hornbeam"])
def test_a_path_written_in_another_way_is_the_same_file(run, path):
    """Python prints ``./m`` as ``m``, and on Windows ``/`` as another character."""
    Path("a folder").mkdir()
    result = run("fit", "loans.csv", "-t", "state", "-o", path)
    assert result.exit_code == 0
    assert "too large" not in result.stderr
    assert Path(path).is_file()


def test_a_device_stays_a_device(run):
    assert run("fit", "loans.csv", "-t", "state", "-o", os.devnull).exit_code == 0
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(
    "command", ["fit", "score", "predict", "show", "diff", "drift", "export", "study", "stability"]
)
def test_json_is_all_of_stdout(run, model, command):
    args = {
        "fit": ["loans.csv", "-t", "state", "-o", "m.hornbeam"],
        "score": [model, "new-loans.csv", "-t", "state"],
        "predict": [model, "new-loans.csv"],
        "show": [model],
        "diff": [model, model],
        "drift": [model, "new-loans.csv"],
        "export": [model, "-o", "m.c"],
        "study": ["loans.csv", "-t", "state", "--folds", "2"],
        "stability": [model, "loans.csv", "-t", "state", "--refits", "2"],
    }[command]
    assert isinstance(json.loads(run(command, *args, "--json").stdout), dict)


@pytest.mark.long
def test_there_are_no_colours_in_a_pipe(run, model):
    for args in (["--help"], ["score", model, "new-loans.csv", "-t", "state"]):
        done = process(*args, env=os.environ | {"TERM": "xterm-256color"})
        assert done.returncode == 0
        assert "\x1b" not in done.stdout + done.stderr


def test_a_terminal_gets_a_drawn_table_and_a_pipe_a_plain_one(run, model, monkeypatch):
    from hornbeam.cli import console

    plain = console.format_table(["", "a"], [["x", "1.0"]])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    drawn = console.format_table(["", "a"], [["x", "1.0"]])
    assert "─" in drawn
    assert "─" not in plain
    assert drawn.split()[-2:] == plain.split()[-2:] == ["x", "1.0"]


@pytest.mark.long
def test_a_terminal_sees_progress_and_a_pipe_does_not(run):
    pty = pytest.importorskip("pty", exc_type=ImportError)
    ours, theirs = pty.openpty()
    args = [sys.executable, "-m", "hornbeam", "fit", "loans.csv", "-t", "state", "-o", "m.hornbeam", "--json"]
    env = os.environ | {"TERM": "xterm"}
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=theirs, env=env) as fitting:
        os.close(theirs)
        seen = b"".join(written_to(ours))  # a terminal holds little: without a reader the writer waits
        result = fitting.stdout.read()
    assert fitting.returncode == 0
    assert json.loads(result)["rows"] == 600
    assert b"growing" in seen
    assert b"\x1b[" in seen


def written_to(terminal):
    """Read what is written to a terminal until its last writer is gone, which Linux says with an error."""
    with os.fdopen(terminal, "rb", buffering=0) as file, contextlib.suppress(OSError):
        while part := file.read(4096):
            yield part


@pytest.mark.skipif(which("bash") is None, reason="needs bash")
def test_a_closed_pipe_is_no_error(run, model):
    command = f"{sys.executable} -m hornbeam show {model} --all | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], check=False, capture_output=True, text=True)
    assert done.returncode in (0, 141)  # 0 if all was written before head left
    assert done.stderr == ""


def being_read(fifo, reader):
    """Open the other end of what a command reads, as soon as it does; a command that ended is not waited for."""
    while reader.poll() is None:
        with contextlib.suppress(OSError):  # no reader yet
            return os.fdopen(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK), "wb")
        time.sleep(0.01)
    return contextlib.nullcontext()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a named pipe in a folder")
def test_interrupting_ends_with_130_and_no_traceback(run, tmp_path):
    os.mkfifo("rows")  # without a writer the command waits
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{listening}; from hornbeam.cli import main; main()"
    args = [sys.executable, "-c", code, "fit", "rows", "-t", "y", "-o", "m.hornbeam"]
    with subprocess.Popen(args, stderr=subprocess.PIPE, text=True) as waiting:
        with being_read("rows", waiting):
            time.sleep(0.2)
            waiting.send_signal(signal.SIGINT)
            assert waiting.wait(60) == 130
        assert waiting.stderr.read().split() == ["hornbeam:", "interrupted"]


@pytest.mark.long
def test_help_starts_fast_and_reading_a_model_needs_no_scikit_learn(run, model):
    code = """
import sys
from time import process_time
begin = process_time()
sys.argv[1:] = {args}
from hornbeam.cli import main
try:
    main()
except SystemExit:
    pass
print(process_time() - begin, *(name in sys.modules for name in ("numpy", "sklearn", "rich")), file=sys.stderr)
"""

    def start(*args):
        done = subprocess.run(
            [sys.executable, "-c", code.format(args=list(args))], capture_output=True, text=True, check=True
        )
        return done.stderr.split()[-4:]

    starts = [start("--help") for _ in range(3)]
    assert starts[0][1:] == ["False"] * 3
    if not sys.dont_write_bytecode and sys.platform != "win32":  # whose processor time has steps of 16 ms
        assert min(float(seconds) for seconds, *_ in starts) < 0.3
    for args in (
        ["show", model],
        ["rules", model, "--simplify", "loans.csv", "-t", "state"],
        ["predict", model, "new-loans.csv"],
        ["fit", "loans.csv", "-t", "state", "-o", "m.hornbeam"],
        ["score", model, "new-loans.csv", "-t", "state"],
    ):
        assert start(*args)[2] == "False", args


def test_without_click_the_extra_is_named(tmp_path):
    (tmp_path / "click.py").write_text("raise ImportError('no click')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = process("--help", env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == 3
    assert done.stderr == "hornbeam: the command line needs click. Install it: pip install 'hornbeam[cli]'.\n"


def test_the_shell_completes_commands():
    code = "import sys; sys.argv[0] = 'hornbeam'; from hornbeam.cli import main; main()"
    told = {"_HORNBEAM_COMPLETE": "bash_complete", "COMP_WORDS": "hornbeam ex", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | told, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["plain,explain", "plain,export"]
