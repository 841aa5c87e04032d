"""The command line: ``hornbeam fit data.csv --target y``.

Reading order: `group` (the commands and exit codes), `console` (output), `rows` (files with the columns of a model),
`roles` and `training` (files to fit to); then `commands/`, one file per command.
"""

import os
import sys
import threading
from contextlib import suppress
from io import TextIOWrapper

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        import click  # noqa: F401
    except ImportError:
        sys.stderr.write("hornbeam: the command line needs click. Install it: pip install 'hornbeam[cli]'.\n")
        sys.exit(3)
    from hornbeam.cli.group import hornbeam

    for stream in (sys.stdout, sys.stderr):
        _write_utf8(stream)
    try:
        hornbeam()
    except SystemExit as end:
        if isinstance(end.code, int) and any(thread.daemon for thread in threading.enumerate()):
            _end_with_threads(end.code)
        raise


def _end_with_threads(code: int) -> None:
    """End the process at once, because threads that an error or an interrupt left behind still run.

    If the interpreter ended first, such a thread would be ended inside a kernel, which aborts the process (code 134).
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _write_utf8(stream: object) -> None:
    """Set the encoding of a file or pipe to UTF-8: on Windows it may be one that lacks letters of the data.

    Terminals can write all letters, and ``PYTHONIOENCODING`` is the choice of the user.
    """
    if isinstance(stream, TextIOWrapper) and not stream.isatty() and "PYTHONIOENCODING" not in os.environ:
        stream.reconfigure(encoding="utf-8", errors=stream.errors)
