"""The command line: ``hornbeam fit data.csv --target y``, one file a command."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    try:
        import click  # noqa: F401
    except ImportError:
        sys.stderr.write("hornbeam: the command line needs click. Install it: pip install 'hornbeam[cli]'.\n")
        sys.exit(3)
    from hornbeam.cli.group import hornbeam

    hornbeam()
