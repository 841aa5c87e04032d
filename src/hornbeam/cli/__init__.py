"""The command line: ``hornbeam fit data.csv --target y``.

Reading order: `group` (the commands and exit codes), `console` (output), `rows`, `roles` and `training` (reading
files), `memory` and `large_files` (Parquet files larger than memory), `scoring`, `saving`, `study_methods`; then
`commands/`, one file per command.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        import click  # noqa: F401
    except ImportError:
        sys.stderr.write("hornbeam: the command line needs click. Install it: pip install 'hornbeam[cli]'.\n")
        sys.exit(3)
    from hornbeam.cli.group import hornbeam

    hornbeam()
