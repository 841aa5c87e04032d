"""Output: results to stdout, messages to stderr, colours only on terminals."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any

import click

__all__ = ["common_options", "emit", "format_table", "message", "progress", "warn", "write_output"]


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command has."""
    command = click.option(
        "--json", "as_json", is_flag=True, help="Write the result to stdout as one JSON object."
    )(command)
    return click.option("-q", "--quiet", is_flag=True, help="No messages but errors.")(command)


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
        words = json.dumps(_plain(result), indent=2, allow_nan=False, default=str)
    if words:
        click.echo(words, err=aside)


def write_output(data: bytes, output: str) -> None:
    """Write the output of a command to stdout, or to a file that is replaced atomically."""
    if output == "-":
        click.echo(data, nl=False)
        return
    from hornbeam.data.files.atomic_write import write_atomic

    write_atomic(output, [data])


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
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for cells in (head, *rows):
        first, *others = zip(cells, widths, strict=True)
        line = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        lines.append("  ".join(line).rstrip())
    return "\n".join(lines)


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
def progress(words: str, n_rows: int) -> Iterator[Callable[[int], None] | None]:
    """Show progress in rows on a terminal; None without a terminal."""
    if not sys.stderr.isatty() or click.get_current_context().params.get("quiet"):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(words, total=n_rows)
        yield lambda rows_done: shown.update(task, completed=rows_done)


def _plain(value: Any) -> Any:
    """Convert to values that JSON has; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not isfinite(value) else value
