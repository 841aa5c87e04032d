"""What a run prints: JSON lines for machines, a table for people."""

from __future__ import annotations

import csv
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.timing import Lap, Result

OURS = "hornbeam"
LIBRARIES = (
    "hornbeam", "numpy", "scikit-learn", "lightgbm", "xgboost", "xgboost-cpu", "ydf", "treelite",
    "onnxruntime", "skl2onnx", "m2cgen", "tl2cgen", "emlearn", "duckdb", "joblib",
)  # fmt: skip


@dataclass(slots=True)
class Report:
    """The records of one run, one for each peer (and case), and the closing summary.

    `measure` names the field of the records that peers are compared by, usually "cpu" or "wall"; `unit` is
    what it is counted in.
    """

    bench: str
    measure: str
    unit: str
    as_json: bool
    records: list[dict[str, Any]] = field(default_factory=list)

    def add(self, peer: str, case: str | None = None, **facts: Any) -> None:
        """Add a record."""
        which = {"bench": self.bench, **({"case": case} if case else {}), "peer": peer}
        self.records.append({**which, **facts})

    def add_error(self, peer: str, error: str) -> None:
        """Add why a peer has no figures, once."""
        if not any(record["peer"] == peer and "error" in record for record in self.records):
            self.add(peer, error=error)

    def add_result(self, peer: str, result: Result, case: str | None = None) -> None:
        """Add what a race found out about a peer."""
        if result.error:
            self.add_error(peer, result.error)
            return
        parts = {part: _lap(lap) for part, lap in result.parts.items()}
        self.add(peer, case, **_lap(result.best()), parts=parts, rounds=len(result.rounds), **result.facts)

    def figures(self, case: str | None = None) -> dict[str, float]:
        """The compared figure of every peer that has one."""
        records = [record for record in self.records if record.get("case") == case]
        return {record["peer"]: record[self.measure] for record in records if self.measure in record}

    def part_figures(self, part: str) -> dict[str, float]:
        """The same of one part of the work."""
        return {r["peer"]: r["parts"][part][self.measure] for r in self.records if part in r.get("parts", {})}

    def close(self, **facts: Any) -> bool:
        """Print everything; True if anything was measured."""
        cases = list(dict.fromkeys(record["case"] for record in self.records if "case" in record))
        if cases:
            figures: Any = {case: self.figures(case) for case in cases}
            against: Any = {case: ratios(found) for case, found in figures.items()}
        else:
            figures = self.figures()
            against = ratios(figures)
            parts = dict.fromkeys(part for record in self.records for part in record.get("parts", {}))
            if parts:
                facts = {"part_ratios": {part: ratios(self.part_figures(part)) for part in parts}, **facts}
        summary = {
            "ratios": against,
            self.unit: figures,
            "measure": self.measure,
            **facts,
            "machine": machine(),
        }
        if self.as_json:
            for record in [*self.records, summary]:
                print(json.dumps(_rounded(record)))
        else:
            self._print_table(against if cases else {None: against}, facts)
        return any(figures.values())

    def _print_table(self, against: dict[str | None, dict[str, float]], facts: dict[str, Any]) -> None:
        lines = []
        for record in self.records:
            if "error" not in record:
                ratio = against.get(record.get("case"), {}).get(record["peer"])
                lines.append(_line(record) | ({f"{self.measure} / ours": ratio} if ratio else {}))
        columns = list(dict.fromkeys(column for line in lines for column in line))
        cells = [columns, *([_cell(line.get(column)) for column in columns] for line in lines)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        for record in self.records:
            if "error" in record:
                print(f"{record['peer']}: {record['error']}")
        for name, value in facts.items():
            if name != "part_ratios":
                print(f"{name}: {json.dumps(_rounded(value))}")
        print("machine:", ", ".join(f"{name} {value}" for name, value in _flat(machine())))


def ratios(figures: dict[str, float]) -> dict[str, float]:
    """How many times our figure every peer's is; empty if we did not run."""
    ours = figures.get(OURS)
    return {peer: figure / ours for peer, figure in figures.items() if peer != OURS} if ours else {}


def machine() -> dict[str, Any]:
    """Date, machine and library versions of the run."""
    versions = {}
    for library in LIBRARIES:
        try:
            versions[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "system": platform.platform(terse=True),
        "cpu": _cpu(),
        "cpus": os.cpu_count(),
        "load": load,
        "python": platform.python_version(),
        "versions": versions,
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _line(record: dict[str, Any]) -> dict[str, Any]:
    """A record as cells by column; a lone part is the total once more and left out."""
    parts = record.get("parts", {})
    laps = parts.items() if len(parts) > 1 else ()
    cells = {name: value for name, value in record.items() if name not in ("bench", "rounds", "parts")}
    return cells | {f"{part} {clock}": seconds for part, lap in laps for clock, seconds in lap.items()}


def _lap(lap: Lap) -> dict[str, float]:
    return {"cpu": lap.cpu, "wall": lap.wall}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value * 1e6:.4g}e-6" if 0 < abs(value) < 1e-3 else f"{value:.4g}"
    return "" if value is None else str(value)


def _flat(facts: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in facts.items():
        yield from _flat(value) if isinstance(value, dict) else [(name, value)]


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, by the names of its columns."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
