"""From the cache to tables: pooled scores of every method on every set, and their comparisons."""

from __future__ import annotations

import csv
import datetime
import functools
import operator
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from zipfile import ZipFile

import numpy as np

import hornbeam
from benchmarks.output import read_csv
from benchmarks.quality.studies.cache import Cache, Result
from benchmarks.quality.studies.j48 import ARCHIVE
from benchmarks.quality.studies.methods import Group
from benchmarks.quality.studies.sets import N_FOLDS, Entry
from hornbeam.evaluation import Comparison
from hornbeam.evaluation.scores import ScoreSums

MEASURES = {
    "RMSE": operator.attrgetter("rmse"),
    "log loss": operator.attrgetter("log_loss"),
    "Brier score": operator.attrgetter("brier_score"),
    "0-1 loss": operator.attrgetter("zero_one_loss"),
    "calibration error": operator.attrgetter("calibration_error"),
}
COLUMNS = {measure: measure.replace(" ", "_").replace("-", "_").lower() for measure in MEASURES}
SIZES = ("leaves", "depth", "steps", "numbers")
_ABOUT = ("set", "rows", "classes", "method")
_USUAL = frozenset((*_ABOUT, *COLUMNS.values(), "seconds", "nodes", *SIZES, "reason"))
NOT_RUN = "not run yet"
NOTHING: Mapping[str, Callable[[Line], float]] = MappingProxyType({})
LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "pandas", "ydf", "JPype1", "lightgbm", "imodels", "interpret-core"),
    *("licketysplit", "linear-tree", "pycontree", "pystreed"),
)


class Known(NamedTuple):
    """The measures of a tally, read from an earlier table."""

    rmse: float
    log_loss: float
    brier_score: float
    zero_one_loss: float
    calibration_error: float


@dataclass(frozen=True, slots=True)
class Line:
    """A method on a set, all folds together; without a tally, the reason."""

    entry: Entry
    method: str
    tally: ScoreSums | Known | None
    seconds: float
    size: float
    reason: str
    leaves: float = np.nan
    depth: float = np.nan
    steps: float = np.nan
    numbers: float = np.nan
    costs: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, entry: Entry, method: str, folds: Sequence[Result], n_folds: int = N_FOLDS) -> Line:
        reasons = [result.reason for result in folds if result.reason]
        if reasons or len(folds) < n_folds:
            return cls(entry, method, None, np.nan, np.nan, reasons[0] if reasons else NOT_RUN)
        tally = functools.reduce(operator.add, [result.tally for result in folds])
        seconds, *sizes = (
            float(
                np.mean([np.nan if (value := getattr(result, name)) is None else value for result in folds])
            )
            for name in ("seconds", "size", *SIZES)
        )
        known = set.intersection(*(set(result.costs) for result in folds))
        costs = {name: sum(result.costs[name] for result in folds) / tally.weight for name in known}
        return cls(entry, method, tally, seconds, sizes[0], "", *sizes[1:], costs)

    @classmethod
    def known(cls, entry: Entry, row: Mapping[str, str]) -> Line:
        """Read a line of `Scores.write_csv`; further columns that are no sizes are costs."""
        tally = Known(*(float(row[name]) for name in COLUMNS.values())) if not row["reason"] else None
        number = {name: float(row.get(name) or "nan") for name in ("seconds", "nodes", *SIZES)}
        sizes = {name: number[name] for name in SIZES}
        costs = {name: float(text) for name, text in row.items() if name not in _USUAL and text}
        return cls(
            entry,
            row["method"],
            tally,
            number["seconds"],
            number["nodes"],
            row["reason"],
            **sizes,
            costs=costs,
        )


@dataclass(frozen=True, slots=True)
class Scores:
    """Lines of all sets and methods."""

    entries: tuple[Entry, ...]
    methods: tuple[str, ...]
    lines: tuple[Line, ...]

    @classmethod
    def gather(
        cls, cache: Cache, entries: Iterable[Entry], groups: Sequence[Group], n_folds: int = N_FOLDS
    ) -> Scores:
        """Sets of which anything has been run, by the first folds of ten."""
        kept, lines = [], []
        for entry in entries:
            files = {
                (group.name, fold): cache.read(entry.key, group.name, fold)
                for group in groups
                for fold in range(n_folds)
            }
            if not any(files.values()):
                continue
            kept.append(entry)
            for group in groups:
                for method in group.methods:
                    folds = [
                        found for fold in range(n_folds) if (found := files[group.name, fold].get(method))
                    ]
                    lines.append(Line.of(entry, f"{group.name}/{method}", folds, n_folds))
        return cls(tuple(kept), tuple(name for group in groups for name in group.names), tuple(lines))

    @classmethod
    def read_csv(cls, path: Path) -> Scores:
        """Read what `write_csv` wrote."""
        rows = read_csv(path)
        entries = {
            row["set"]: Entry(row["set"], Path(), int(row["rows"]), int(row["classes"])) for row in rows
        }
        methods = tuple(dict.fromkeys(row["method"] for row in rows))
        lines = tuple(Line.known(entries[row["set"]], row) for row in rows)
        return cls(tuple(entries.values()), methods, lines)

    def keep(self, path: Path, methods: Sequence[str]) -> Scores:
        """Take what has not been run, sets or methods, and some methods more, from the table of an earlier report."""
        earlier = {(row["set"], row["method"]): row for row in read_csv(path)}
        names = (*self.methods, *methods)
        known = {entry.name: entry for entry in (*Scores.read_csv(path).entries, *self.entries)}
        entries = tuple(sorted(known.values(), key=lambda entry: (entry.n_rows, entry.name)))
        measured = {(line.entry.name, line.method): line for line in self.lines if line.reason != NOT_RUN}
        lines = []
        for entry in entries:
            for method in names:
                line, row = measured.get((entry.name, method)), earlier.get((entry.name, method))
                lines.append(line or (Line.known(entry, row) if row else Line.of(entry, method, [])))
        return Scores(entries, names, tuple(lines))

    @property
    def n_rows(self) -> list[int]:
        return [entry.n_rows for entry in self.entries]

    def comparison(self, measure: str) -> Comparison:
        """Every method on every set; NaN where there is no result."""
        value = MEASURES[measure]
        return self.table(measure, lambda line: np.nan if line.tally is None else value(line.tally))

    def seconds(self) -> Comparison:
        return self.table("CPU seconds", lambda line: line.seconds)

    def table(self, measure: str, value: Callable[[Line], float]) -> Comparison:
        """Any number of every method on every set."""
        numbers = np.array([value(line) for line in self.lines]).reshape(len(self.entries), len(self.methods))
        return Comparison(self.methods, tuple(entry.name for entry in self.entries), numbers, measure)

    def write_csv(self, path: Path, more: Mapping[str, Callable[[Line], float]] = NOTHING) -> None:
        """All of it, a line for each set and method; further columns by their names."""
        with path.open("w", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow([*_ABOUT, *COLUMNS.values(), "seconds", "nodes", *more, "reason"])
            for line in self.lines:
                values = (
                    [f"{value(line.tally):.6f}" for value in MEASURES.values()]
                    if line.tally
                    else [""] * len(MEASURES)
                )
                sizes = [
                    _cell(line.seconds, 6),
                    _cell(line.size, 1),
                    *(_cell(of(line), 6) for of in more.values()),
                ]
                about = [line.entry.name, line.entry.n_rows, line.entry.n_classes, line.method]
                out.writerow([*about, *values, *sizes, line.reason])


def _cell(value: float, decimals: int) -> str:
    return "" if np.isnan(value) else f"{value:.{decimals}f}"


def means_table(scores: Scores, methods: Sequence[str], hero: str) -> str:
    """Means over the sets where all these methods have results, and the record of one of them against each.

    Of the methods that have been run; without that one there are no records.
    """
    everywhere = scores.comparison("RMSE")
    methods = [name for name in methods if len(everywhere.among([name]).complete().sets)]
    if not methods:
        return "None of these methods has been run."
    tables = {measure: scores.comparison(measure).among(methods) for measure in MEASURES}
    rmse, logs, errors = tables["RMSE"], tables["log loss"], tables["0-1 loss"]
    common = len(rmse.complete().sets)
    columns = [table.means() for table in tables.values()]
    medians = np.nanmedian(scores.seconds().among(methods).losses, axis=0)
    answered = (~np.isnan(rmse.losses)).sum(axis=0)
    head = [
        f"Means over the {common} sets where all of these answered; records of {hero} over the sets where both did.",
        "",
        "| method | "
        + " | ".join(MEASURES)
        + f" | median seconds | sets | RMSE: {hero} against it | log loss | 0-1 loss |",
        "|---|" + "--:|" * (len(MEASURES) + 2) + "---|---|---|",
    ]
    rows = []
    for i in np.argsort(columns[0], kind="stable"):
        name = methods[i]
        means = " | ".join(f"{column[i]:.4f}" for column in columns)
        records = " | ".join(
            "" if name == hero or hero not in methods else str(t.record(hero, name))
            for t in (rmse, logs, errors)
        )
        rows.append(f"| {name} | {means} | {medians[i]:.4f} | {answered[i]} | {records} |")
    return "\n".join([*head, *rows])


def gaps_table(scores: Scores) -> str:
    """Where a method has no result, and why."""
    missing: dict[tuple[str, str], list[str]] = {}
    for line in scores.lines:
        if line.reason:
            missing.setdefault((line.method, line.reason.split(":")[0]), []).append(line.entry.name)
    if not missing:
        return "Every method answered on every set."
    rows = [
        f"| {method} | {reason} | {len(sets)} | {', '.join(sets[:8])}{', ...' if len(sets) > 8 else ''} |"
        for (method, reason), sets in missing.items()
    ]
    return "\n".join(["| method | reason | sets | |", "|---|---|--:|---|", *rows])


def provenance(scores: Scores, commands: Sequence[str]) -> str:
    """What was run, when, and with what."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    if ARCHIVE.exists():
        found.append(
            "Weka " + ZipFile(ARCHIVE).read("weka/core/version.txt").decode().strip().replace("-", ".")
        )
    python = f"Python {platform.python_version()}"
    return (
        f"{today}; Hornbeam {hornbeam.__version__}, {python}, {', '.join(found)}. {len(scores.entries)} sets, "
        f"{sum(scores.n_rows):,} rows. Commands: {', '.join(f'`{command}`' for command in commands)}."
    )
