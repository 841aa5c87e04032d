"""The group of all commands, and their exit codes."""

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from io import StringIO
from typing import Any, NoReturn, TextIO

import click

from hornbeam import __version__
from hornbeam.errors import HornbeamError, HornbeamWarning

# In the order of typical use.
_COMMANDS = (
    "fit",
    "score",
    "compare",
    "show",
    "predict",
    "explain",
    "candidates",
    "rules",
    "scorecard",
    "report",
    "model-card",
    "workbench",
    "export",
    "study",
    "stability",
    "diff",
    "drift",
    "update",
    "forget",
)
_INTERRUPTED = 130
_UNREAD = 141
_UNUSABLE = 3


class Commands(click.Group):
    """Command group that imports a command when it is used, and prints errors on one line.

    Exit codes: 0 success; 1 a negative result (differences, drift); 2 a wrong command line; 3 data or a file
    that cannot be used; 130 interrupted.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        """Return the names of all commands, in order."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in _COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"hornbeam.cli.commands.{name}"), name)
        return command

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and exit with its code."""
        kwargs["standalone_mode"] = False
        given = (args[0] if args else kwargs.get("args")) or sys.argv[1:]
        try:
            code = super().main(*args, **kwargs)
        except click.ClickException as error:
            shown = StringIO()
            error.show(shown)
            click.echo(_hide_credentials(shown.getvalue(), given), err=True, nl=False)
            sys.exit(error.exit_code)
        except click.Abort:
            _end("interrupted", _INTERRUPTED)
        except (HornbeamError, OSError, UnicodeError) as error:
            _end(_hide_credentials(_usage_text(error), given), _UNUSABLE)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; exit quietly if the reader closes the pipe, as in ``hornbeam show model | head``."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The interpreter would try again to write to the closed pipe at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(_UNREAD)
        return result


def _hide_credentials(words: str, given: Sequence[str]) -> str:
    """Remove the credentials of arguments, also of those that are no paths or too many."""
    from hornbeam.data.files.addresses import is_remote, without_credentials

    for text in (part for argument in given for part in (argument, argument.partition("=")[2])):
        if is_remote(text):
            words = words.replace(text, without_credentials(text))
    return words


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Write a warning to stderr: of Hornbeam in one line, else as Python does."""
    if issubclass(category, HornbeamWarning):
        from hornbeam.cli.console import warn

        warn(str(message))
    else:
        (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


def _end(words: str, code: int) -> NoReturn:
    click.echo(f"hornbeam: {words}", err=True)
    sys.exit(code)


def _usage_text(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror}"
    return " ".join(str(error).split())


@click.group(
    cls=Commands,
    invoke_without_command=True,  # so that --version needs no command
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 all is well, 1 a negative result, 2 usage, 3 data or a file that cannot be used, "
    "130 interrupted. Results go to stdout (--json for programs), messages to stderr.",
)
@click.option("--version", is_flag=True, help="Print the version.")
@click.option("--verbose", is_flag=True, help="With --version: print the versions of all libraries.")
@click.pass_context
def hornbeam(context: click.Context, *, version: bool, verbose: bool) -> None:
    """One decision tree a person can read, with class probabilities a person can trust.

    \b
    hornbeam fit train.csv --target y -o model.hornbeam
    hornbeam score model.hornbeam test.csv --target y
    hornbeam predict model.hornbeam new.csv -o predictions.csv

    'hornbeam COMMAND --help' shows examples of each. Data are CSV, TSV or Parquet; - is stdin or stdout.
    """
    if version:
        click.echo(f"hornbeam, version {__version__}")
        if verbose:
            from hornbeam.reporting.versions import show_versions

            show_versions()
        context.exit()
    if context.invoked_subcommand is None:
        raise click.UsageError("Missing command.", context)
