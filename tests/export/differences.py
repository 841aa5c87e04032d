"""Comparison of predictions of an export with those of the tree: rows, other nodes, other classes, probabilities."""

import os
import platform
import sqlite3
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata

import numpy as np

from hornbeam.data.table import Table
from hornbeam.tree.route import decide_rows, predict_rows, route
from hornbeam.tree.tree import Tree

__all__ = ["ParityCount", "Predictions", "count_differences", "quoted", "table", "version"]

type Predictions = Iterable[tuple[np.ndarray | None, np.ndarray, np.ndarray]]
"""For each model: nodes, or None if the target has none; class codes; probabilities."""


@dataclass(frozen=True, slots=True)
class ParityCount:
    """The size of a comparison, and its differences."""

    trial: str
    target: str
    runtime: str
    models: int = 0
    names: int = 0
    names_lost: int = 0
    rows: int = 0
    other_nodes: int | None = None
    other_classes: int = 0
    largest_difference: float = 0.0
    bound: float = 0.0

    def __add__(self, other: "ParityCount") -> "ParityCount":
        known = [n for n in (self.other_nodes, other.other_nodes) if n is not None]
        return replace(
            self,
            models=self.models + other.models,
            names=self.names + other.names,
            names_lost=self.names_lost + other.names_lost,
            rows=self.rows + other.rows,
            other_nodes=sum(known) if known else None,
            other_classes=self.other_classes + other.other_classes,
            largest_difference=max(self.largest_difference, other.largest_difference),
            bound=max(self.bound, other.bound),
        )

    @property
    def sound(self) -> bool:
        """Whether only probabilities differ, and by no more than the bound."""
        lost = self.names_lost or self.other_nodes or self.other_classes
        return not lost and self.largest_difference <= self.bound


def count_differences(
    start: ParityCount, cases: Iterable[tuple[Tree, Table]], predictions: Predictions, one: int = 1
) -> ParityCount:
    """Count the differences between predictions and the trees' own; probabilities are in parts of `one`."""
    found = start
    for (tree, rows), (node, best, p) in zip(cases, predictions, strict=True):
        expected = predict_rows(tree, rows)
        error = np.abs(p.astype(np.float64) / one - expected).max()
        found += replace(
            start,
            models=1,
            rows=rows.n_rows,
            other_nodes=None if node is None else int((node != route(tree.skeleton, rows)).sum()),
            other_classes=int((best != decide_rows(tree, rows)).sum()),
            largest_difference=np.inf if np.isnan(error) else float(error),
        )
        assert one == 1 or (p.sum(axis=1, dtype=np.int64) == one).all()
        assert p.dtype != np.float32 or (p == expected.astype(np.float32)).all()  # the nearest float32
    return found


@cache
def version(runtime: str) -> str:
    """The name and the installed version of a runtime."""
    version_flags = {"gcc": "-dumpfullversion", "node": "--version"}
    if runtime in version_flags:
        output = subprocess.run(
            [runtime, version_flags[runtime]], capture_output=True, text=True, check=True
        ).stdout
        return f"{runtime} {output.strip().removeprefix('v')}"
    known = {
        "Python": platform.python_version,
        "SQLite": lambda: sqlite3.sqlite_version,
        "PostgreSQL": _postgres_version,
        "MariaDB": _mariadb_version,
    }
    return f"{runtime} {known[runtime]() if runtime in known else metadata.version(runtime)}"


def _postgres_version() -> str:
    import psycopg

    with psycopg.connect(os.environ["HORNBEAM_POSTGRES"]) as server:
        return server.info.parameter_status("server_version").split()[0]


def _mariadb_version() -> str:
    from databases import connect_mysql

    with connect_mysql() as server:
        return server.get_server_info().partition("-")[0]


def table(counts: list[ParityCount]) -> Iterator[str]:
    """Lines of a table: of names that were read back, or of predictions."""
    if counts[0].names:
        yield f"{'target':<34} {'read by':<24} {'names':>7} {'lost':>5}"
        yield from (f"{t.target:<34} {t.runtime:<24} {t.names:>7,} {t.names_lost:>5}" for t in counts)
    else:
        yield f"{'target':<34} {'runtime':<24} {'models':>7} {'rows':>9} {'other classes':>14} {'difference':>11}"
        for t in counts:
            cells = f"{t.models:>7} {t.rows:>9,} {t.other_classes:>14} {t.largest_difference:>11.2g}"
            yield f"{t.target:<34} {t.runtime:<24} {cells}"


def quoted(count: ParityCount) -> str:
    """A line of the table in the guide."""
    cells = [
        f"{count.models}",
        f"{count.rows:,}",
        f"{count.other_classes}",
        f"{count.largest_difference:.2g}",
    ]
    return f"| {' | '.join([count.target, count.runtime, *cells])} |"
