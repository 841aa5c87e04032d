"""``hornbeam diff``: differences between two models."""

from dataclasses import asdict
from typing import Any

import click

from hornbeam.cli.console import common_options, emit
from hornbeam.cli.rows import FilePath


@click.command(short_help="Say what changed between two models.")
@click.argument("old", type=FilePath())
@click.argument("new", type=FilePath())
@click.option(
    "--atol", default=1e-9, show_default=True, help="Probabilities that differ by no more are equal."
)
@common_options
def diff(old: str, new: str, atol: float, **_: Any) -> int:
    """Show what changed from the model OLD to NEW: columns, settings, splits, counts, probabilities.

    The exit code is 1 if anything changed, else 0.

    \b
    hornbeam diff january.hornbeam february.hornbeam
    """
    from hornbeam.storage.difference import compare
    from hornbeam.storage.file import read_any

    found = compare(read_any(old), read_any(new), atol)
    emit({"differ": bool(found)} | asdict(found), str(found))
    return int(bool(found))
