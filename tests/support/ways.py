"""Size of the sources, and what five ways through the library enter: files, functions, depth of the stack.

python tests/support/ways.py    # of the installed hornbeam
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import hornbeam
from hornbeam import TreeClassifier

ROOT = Path(hornbeam.__file__).parent
# `is_source(X)`, `isinstance(rows, Source)`, `isinstance(rows, Table)`: places that ask where rows are.
_CHECK = re.compile(r"\bis_source(?:_like)?\(|isinstance\([^()]*,\s*\(?[^()]*\b(?:\w*Source|Table)\b")
_OPENER = re.compile(r"\bdef _?open_?(?:rows|source|training|table|files|frame|with|\b)\w*\(")


class Trace:
    """Files and functions of the package that a call enters, and the most of its functions on the stack at once."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.functions: set[Any] = set()
        self.depth = self.deepest = 0

    def run(self, call: Callable[[], Any]) -> Trace:
        """Call once for what is imported and cached on first use, then once more with the trace."""
        call()
        sys.setprofile(self._event)
        try:
            call()
        finally:
            sys.setprofile(None)
        return self

    def _event(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(str(ROOT)) or code.co_name.startswith("<"):
            return
        if event == "call":
            self.files.add(code.co_filename)
            self.functions.add(code)
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
        elif event == "return":
            self.depth -= 1


def sizes() -> Iterator[tuple[str, int]]:
    """Count the lines, docstrings, files, checks and openers of the sources."""
    sources = [path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")]
    lines, docs = sum(text.count("\n") for text in sources), sum(map(_docstring_lines, sources))
    yield "files", len(sources)
    yield "lines", lines
    yield "lines without docstrings", lines - docs
    yield "checks where rows are", sum(len(_CHECK.findall(text)) for text in sources)
    yield "functions that open rows", sum(len(_OPENER.findall(text)) for text in sources)


def _docstring_lines(source: str) -> int:
    total = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                total += (first.end_lineno or first.lineno) - first.lineno + 1
    return total


def ways(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Make the five calls, on 2,000 rows of 4 columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=2000) > 0).astype(int)
    fitted, file = TreeClassifier().fit(X, y), folder / "rows.parquet"
    columns = {f"x{number}": column for number, column in enumerate(X.T)}
    pq.write_table(pa.table({**columns, "y": y.astype(str)}), file, row_group_size=500)
    yield "fit", lambda: TreeClassifier().fit(X, y)
    yield "predict_proba", lambda: fitted.predict_proba(X)
    yield "fit, preset='readable'", lambda: TreeClassifier(preset="readable").fit(X, y)
    yield "fit, files that fit memory", lambda: TreeClassifier().fit(file, "y")
    yield "fit, files level by level", lambda: TreeClassifier().fit(file, "y", memory=40_000)


def main() -> None:
    """Print both tables."""
    for name, number in sizes():
        print(f"| {name} | {number:,} |")
    print("\n| way | files | functions | deepest stack |\n|---|--:|--:|--:|")
    with warnings.catch_warnings(action="ignore"), tempfile.TemporaryDirectory() as folder:
        for name, call in ways(Path(folder)):
            found = Trace().run(call)
            print(f"| {name} | {len(found.files)} | {len(found.functions)} | {found.deepest} |", flush=True)


if __name__ == "__main__":
    main()
