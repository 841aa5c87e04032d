"""Output: results to stdout, messages to stderr, colours only on terminals."""

import json
import logging
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from math import isfinite
from os.path import realpath
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import strftime
from typing import Any

import click

from hornbeam.errors import StorageError
from hornbeam.logger import log_progress, logger


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command has; write log lines to stderr while it runs."""
    command = click.option(
        "--json", "as_json", is_flag=True, help="Write the result to stdout as one JSON object."
    )(command)
    command = click.option("-q", "--quiet", is_flag=True, help="No messages but errors.")(command)

    @wraps(command)
    def with_log(*args: Any, **kwargs: Any) -> Any:
        _check_inputs_are_kept(kwargs)
        if kwargs["quiet"]:
            return command(*args, **kwargs)
        handler, level = _Stderr(), logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            return command(*args, **kwargs)
        finally:
            logger.setLevel(level)
            logger.removeHandler(handler)

    return with_log


def _check_inputs_are_kept(given: dict[str, Any]) -> None:
    """Raise if the output is an input, other than a model that a command changes."""
    context, output = click.get_current_context(silent=True), given.get("output")
    if context is None or not isinstance(output, str) or output == "-":
        return
    for param in context.command.params:
        if not isinstance(param.type, click.Path) or param.name in (None, "output"):
            continue
        changed = param.name == "model" and context.command.name in ("update", "forget")
        value = given.get(param.name)
        paths = [path for path in (value if isinstance(value, tuple) else (value,)) if isinstance(path, str)]
        if not changed and any(realpath(path) == realpath(output) for path in paths):
            raise click.UsageError(
                f"--output {output} is an input, which would be overwritten: name another file."
            )


class _Stderr(logging.Handler):
    """Writes log lines to stderr; on a terminal, which has progress bars, only the plan of a fit and errors."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        words = record.getMessage()
        if not sys.stderr.isatty():
            click.echo(f"{strftime('%Y-%m-%d %H:%M:%S')} {words}", err=True)
        elif words.startswith("plan: ") or record.levelno >= logging.WARNING:
            click.echo(words, err=True)


def message(words: str) -> None:
    """Write a message to stderr."""
    if not click.get_current_context().params.get("quiet"):
        click.echo(words, err=True)


def warn(words: str) -> None:
    """Write a warning to stderr."""
    message(f"{click.style('warning:', fg='yellow', bold=True)} {words}")


def emit(result: dict[str, Any], words: str = "", *, aside: bool = False) -> None:
    """Write a result as text or JSON; to stderr if stdout is in use."""
    if click.get_current_context().params.get("as_json"):
        words = json_text(result)
    if words:
        click.echo(words, err=aside)


def write_output(data: bytes, output: str) -> None:
    """Write the output of a command to stdout, or to a file that is replaced atomically."""
    if output == "-":
        click.echo(data, nl=False)
        return
    from hornbeam.data.files.atomic_write import write_atomic

    write_atomic(output, [data])


# Endings of files that are no model.
_OTHER_FILES = re.compile(
    r"\.(csv|tsv|parquet|xlsx|html|md|pdf|png|svg|onnx|pmml|sql|py|js|c|h)", re.IGNORECASE
)


def check_output(output: str, *, model: bool = False) -> None:
    """Raise, before the fit, if the path cannot be written to, or has an ending that is not one of a model."""
    from hornbeam.storage.file import check_writable, refuse_pickle_name

    if model and _OTHER_FILES.fullmatch((path := Path(output)).suffix):
        raise click.UsageError(
            f"--output {output} is the model, and {path.suffix} is the ending of another kind of file: name it "
            f"{path.with_suffix('.hornbeam')}, say."
        )
    if output != "-":
        refuse_pickle_name(output)
        check_writable(output)


def save_model(model: Any, output: str) -> None:
    """Write a model to a file or to stdout.

    If writing a file fails, for example on a full disk, the model goes to the temporary folder, and the error names the
    file.
    """
    from hornbeam.storage.file import encode, write

    if output == "-":
        click.echo(encode(model), nl=False)
        return
    try:
        write(model, output)
    except OSError as error:
        raise _rescued(model, output, error) from error


def _rescued(model: Any, output: str, error: OSError) -> StorageError:
    """Write the model to the temporary folder, and return an error that names the file."""
    from hornbeam.storage.file import encode

    with NamedTemporaryFile(prefix="hornbeam-", suffix=".safetensors", delete=False) as file:
        file.write(encode(model, as_tensors=True))
    return StorageError(
        f"{output!r} cannot be written: {error.strerror or error}. The model is not lost: it is saved as {file.name!r}."
    )


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table: the first column left-aligned, the others right-aligned.

    Examples
    --------
    >>> print(format_table(["", "model", "base rate"], [["RMSE", "0.311", "0.427"], ["0-1 loss", "0.139", "0.239"]]))
              model  base rate
    RMSE      0.311      0.427
    0-1 loss  0.139      0.239
    """
    if sys.stdout.isatty():
        return _drawn(head, rows)
    from hornbeam.grid import Grid  # needs NumPy

    return Grid("", head, rows).text()


def _drawn(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format the table with rich for a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for at, name in enumerate(head):
        table.add_column(name, justify="right" if at else "left")
    for cells in rows:
        table.add_row(*cells)
    console = Console()
    with console.capture() as capture:
        console.print(table, markup=False)
    return capture.get().strip("\n")


@contextmanager
def progress(words: str, total: int, *, logged: bool = False) -> Iterator[Callable[[int], None] | None]:
    """Show progress on a terminal; without one, log it, unless what is called logs it itself (`logged`)."""
    if not sys.stderr.isatty() or click.get_current_context().params.get("quiet"):
        log = log_progress()
        yield None if logged else lambda done: log("%s: %s of %s", words, f"{done:,}", f"{total:,}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(words, total=total)
        yield lambda rows_done: shown.update(task, completed=rows_done)


def json_text(result: dict[str, Any]) -> str:
    """Return a result as JSON; numbers that are not finite are null."""
    return json.dumps(_plain(result), indent=2, allow_nan=False, default=str)


def _plain(value: Any) -> Any:
    """Convert to values that JSON has; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not isfinite(value) else value
