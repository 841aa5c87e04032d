"""Answers of an export beside the tree's own, counted: rows, other nodes, other classes, probabilities."""

import platform
import sqlite3
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata

import numpy as np

from hornbeam.data import Table
from hornbeam.tree import Tree
from hornbeam.tree.route import predict_rows, route

__all__ = ["Answers", "Tally", "quoted", "table", "tally", "version"]

type Answers = Iterable[tuple[np.ndarray | None, np.ndarray, np.ndarray]]
"""Of each model: nodes, if the target tells them; class codes; probabilities."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What was compared, and what was found to differ."""

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

    def __add__(self, other: "Tally") -> "Tally":
        told = [n for n in (self.other_nodes, other.other_nodes) if n is not None]
        return replace(
            self,
            models=self.models + other.models,
            names=self.names + other.names,
            names_lost=self.names_lost + other.names_lost,
            rows=self.rows + other.rows,
            other_nodes=sum(told) if told else None,
            other_classes=self.other_classes + other.other_classes,
            largest_difference=max(self.largest_difference, other.largest_difference),
            bound=max(self.bound, other.bound),
        )

    @property
    def sound(self) -> bool:
        """Whether nothing differs but probabilities, and these by no more than the bound."""
        lost = self.names_lost or self.other_nodes or self.other_classes
        return not lost and self.largest_difference <= self.bound


def tally(start: Tally, asked: Iterable[tuple[Tree, Table]], answers: Answers, one: int = 1) -> Tally:
    """Count how answers differ from the trees' own; probabilities are in parts of `one`."""
    found = start
    for (tree, rows), (node, best, p) in zip(asked, answers, strict=True):
        expected = predict_rows(tree, rows)
        error = np.abs(p.astype(np.float64) / one - expected).max()
        found += replace(
            start,
            models=1,
            rows=rows.n_rows,
            other_nodes=None if node is None else int((node != route(tree.skeleton, rows)).sum()),
            other_classes=int((best != tree.decision(expected)).sum()),
            largest_difference=np.inf if np.isnan(error) else float(error),
        )
        assert one == 1 or (p.sum(axis=1, dtype=np.int64) == one).all()
        assert p.dtype != np.float32 or (p == expected.astype(np.float32)).all()  # the nearest there are
    return found


@cache
def version(runtime: str) -> str:
    """The runtime with its version, as it is installed here."""
    asked = {"gcc": "-dumpfullversion", "node": "--version"}
    if runtime in asked:
        told = subprocess.run([runtime, asked[runtime]], capture_output=True, text=True, check=True).stdout
        return f"{runtime} {told.strip().removeprefix('v')}"
    known = {"Python": platform.python_version, "SQLite": lambda: sqlite3.sqlite_version}
    return f"{runtime} {known[runtime]() if runtime in known else metadata.version(runtime)}"


def table(tallies: list[Tally]) -> Iterator[str]:
    """Lines of a table for people: of names that came back, or of answers."""
    if tallies[0].names:
        yield f"{'target':<34} {'read by':<24} {'names':>7} {'lost':>5}"
        yield from (f"{t.target:<34} {t.runtime:<24} {t.names:>7,} {t.names_lost:>5}" for t in tallies)
    else:
        yield f"{'target':<34} {'runtime':<24} {'models':>7} {'rows':>9} {'other classes':>14} {'difference':>11}"
        for t in tallies:
            counts = f"{t.models:>7} {t.rows:>9,} {t.other_classes:>14} {t.largest_difference:>11.2g}"
            yield f"{t.target:<34} {t.runtime:<24} {counts}"


def quoted(tally: Tally) -> str:
    """A line of the table as the guide has it."""
    cells = [
        f"{tally.models}",
        f"{tally.rows:,}",
        f"{tally.other_classes}",
        f"{tally.largest_difference:.2g}",
    ]
    return f"| {' | '.join([tally.target, tally.runtime, *cells])} |"
