"""Lines of results, tables of them, and the places between marks of a page that hold the tables.

No library is needed: `nox -s platforms` runs without Hornbeam.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], text: int = 1) -> str:
    """A table whose first columns are text and whose others are numbers."""
    marks = ["---"] * text + ["--:"] * (len(head) - text)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, marks, *rows])


def page(text: str, **computed: str) -> str:
    """Replace what is between the marks of each table in the text of a page."""
    for name, lines in computed.items():
        begin, end = (f"<!-- {name}: {which} -->" for which in ("begin", "end"))
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{lines}\n\n{end}{rest.partition(end)[2]}"
    return text


def write_tables(path: Path, **computed: str) -> None:
    """Put tables between their marks in a page."""
    path.write_text(page(path.read_text(encoding="utf-8"), **computed), encoding="utf-8")
