"""Two files of loans, and a way to run commands in this process."""

from collections.abc import Callable
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = ["test_*.py"] if find_spec("click") is None else []
LOANS = Path(__file__).parents[2] / "docs/guide/data"


@pytest.fixture
def run(tmp_path, monkeypatch) -> Callable[..., Any]:
    """Run a command in a folder with the loans; the result has exit_code, stdout and stderr."""
    from click.testing import CliRunner

    from hornbeam.cli.group import hornbeam

    monkeypatch.chdir(tmp_path)
    for file in LOANS.glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())

    separate = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}  # click < 8.2
    runner = CliRunner(**separate)

    def command(*args: str, stdin: bytes | None = None) -> Any:
        return runner.invoke(hornbeam, list(args), input=stdin, catch_exceptions=False)

    return command


@pytest.fixture
def model(run) -> str:
    """A model of the loans."""
    assert run("fit", "loans.csv", "-t", "state", "-o", "loans.hornbeam", "--nominal", "zip").exit_code == 0
    return "loans.hornbeam"
