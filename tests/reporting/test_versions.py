"""What a bug report needs."""

import getpass
import platform
import sys
from importlib.metadata import version

import pytest

import hornbeam
from hornbeam.reporting.versions import versions


def test_installed_libraries_have_their_version():
    found = versions()
    assert found["numpy"] == version("numpy")
    assert found["python"].startswith(platform.python_version())
    assert sys.byteorder in found["system"]


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr("hornbeam.reporting.versions._OPTIONAL", ("no-such-library",))
    assert versions()["no-such-library"] == "not installed"


def test_nothing_private_is_printed(capsys):
    hornbeam.show_versions()
    printed = capsys.readouterr().out
    assert platform.node() not in printed
    assert f"/{getpass.getuser()}" not in printed
    assert len(printed.splitlines()) == len(versions())


@pytest.mark.parametrize(("arguments", "lines"), [(["--version"], 1), (["--version", "--verbose"], 10)])
def test_the_command_line_prints_them(arguments, lines):
    runner = pytest.importorskip("click.testing", reason="the command line needs click").CliRunner()
    from hornbeam.cli.group import hornbeam as command

    result = runner.invoke(command, arguments)
    assert result.exit_code == 0
    assert result.output.startswith(f"hornbeam, version {hornbeam.__version__}")
    assert len(result.output.splitlines()) >= lines


def test_verbose_alone_is_a_usage_error():
    runner = pytest.importorskip("click.testing", reason="the command line needs click").CliRunner()
    from hornbeam.cli.group import hornbeam as command

    result = runner.invoke(command, ["--verbose"])
    assert result.exit_code == 2
    assert "Missing command" in result.output
