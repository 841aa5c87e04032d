"""The option --memory: limit on the bytes that rows may take."""

import re
from typing import Any

import click

__all__ = ["memory_option"]

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


class _Bytes(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions alone
    """A number of bytes, such as 512MB, 2GB or 1.5GiB."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Read the number."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([kmgt]?i?)b?", str(value).strip().lower())
        if found is None or found[2] not in _UNITS or float(found[1]) <= 0:
            self.fail(
                f"{value!r} is no size; expected a number of bytes such as 512MB, 2GB or 1.5GiB.", param, ctx
            )
        return int(float(found[1]) * _UNITS[found[2]])


memory_option = click.option(
    "--memory",
    type=_Bytes(),
    default="512MB",
    show_default=True,
    metavar="SIZE",
    help="What rows of Parquet files may take in memory; more stay in their files. The process needs more.",
)
