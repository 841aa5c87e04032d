"""Runs an area's cases in several processes, shrinks what fails, and keeps it as a test."""

from __future__ import annotations

import hashlib
import json
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.attacks.areas import Area, Case
from benchmarks.attacks.child import Child
from benchmarks.attacks.shrink import kind_of, shrink

KEPT = Path(__file__).parents[2] / "tests" / "attacks" / "kept"
ASKED = 1000  # cases sent at once; a child may send results earlier
RECYCLE = 20_000  # cases after which a child is replaced by a new one
ENOUGH = 200  # failures after which an area is given up


@dataclass(slots=True)
class Result:
    """What an attack on one area gave."""

    area: str
    seed: int
    n: int = 0
    seconds: float = 0.0
    peak: float = 0.0
    failures: list[dict[str, Any]] = field(default_factory=list)

    def by_kind(self) -> dict[str, list[dict[str, Any]]]:
        """Failures by what they have in common."""
        found: dict[str, list[dict[str, Any]]] = {}
        for failure in self.failures:
            found.setdefault(kind_of(failure["verdict"]), []).append(failure)
        return found

    def record(self) -> dict[str, Any]:
        """As a line of JSON."""
        verdicts = [failure["verdict"] for failure in self.failures]
        return {
            "area": self.area,
            "seed": self.seed,
            "n": self.n,
            "crashes": sum(verdict.startswith("crash") for verdict in verdicts),
            "hangs": sum(verdict.startswith("hang") for verdict in verdicts),
            "failures": len(verdicts),
            "kinds": {kind: len(some) for kind, some in self.by_kind().items()},
            "seconds": round(self.seconds, 1),
            "peak_mb": round(self.peak),
        }


def attack(
    area: Area,
    n: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    workers: int = 2,
    on_result: Callable[[Result], None] = lambda result: None,
) -> Result:
    """Judge `n` cases, or as many as `seconds` allow; the cases of a seed are always the same.

    `on_result` is called whenever a child has sent results.
    """
    area.prepare()
    run = _Run(area, n, seconds, workers, Result(area.name, seed), on_result)
    try:
        run.go()
    finally:
        for child in run.judged:
            child.close()
    return run.result


@dataclass(slots=True)
class _Run:
    """Children at work, and the cases that are left."""

    area: Area
    n: int | None
    seconds: float | None
    workers: int
    result: Result
    on_result: Callable[[Result], None]
    begin: float = field(default_factory=time.monotonic)
    following: int = 0
    left_over: list[range] = field(default_factory=list)
    judged: dict[Child, int] = field(default_factory=dict)

    def go(self) -> None:
        for _ in range(self.workers):
            self.start()
        while self.judged:
            ready, _, _ = select.select(list(self.judged), [], [], 0.5)
            for child in self.judged:
                child.watch()
            for child in ready:
                self.take_answer(child)

    def start(self) -> None:
        some = self.next_range()
        if some:
            child = Child(self.area, self.result.seed)
            self.judged[child] = 0
            child.ask(some)

    def next_range(self) -> range:
        late = self.seconds is not None and time.monotonic() - self.begin > self.seconds
        if late or len(self.result.failures) >= ENOUGH:
            return range(0)
        if self.left_over:
            return self.left_over.pop()
        begin, size = self.following, 1 if self.area.heavy else ASKED
        if self.n is not None:
            size = min(size, self.n - begin, max(1, (self.n - begin) // self.workers))
        self.following += size
        return range(begin, begin + size)

    def take_answer(self, child: Child) -> None:
        told, asked = child.answer(), child.asked
        assert isinstance(asked, range)
        self.note(told)
        self.judged[child] += told["done"]
        rest = range(asked.start + told["done"], asked.stop)
        if rest:
            self.left_over.append(rest)
        over = told.get("dead") or self.judged[child] >= RECYCLE
        some = range(0) if over else self.next_range()
        if some:
            child.ask(some)
            return
        del self.judged[child]
        child.close()
        if over:
            self.start()

    def note(self, told: dict[str, Any]) -> None:
        self.result.n += told["done"]
        self.result.peak = max(self.result.peak, told.get("peak", 0.0))
        if told["verdict"] is not None:
            self.result.failures.append({key: told[key] for key in ("index", "verdict", "case")})
        self.result.seconds = time.monotonic() - self.begin
        self.on_result(self.result)


class SingleRunner:
    """Judges single cases of an area in a child, and starts a new one when it has ended."""

    def __init__(self, area: Area) -> None:
        self.area = area
        self.child: Child | None = None

    def judge(self, case: Case) -> str | None:
        """What went wrong, or None."""
        if self.child is None:
            self.child = Child(self.area, 0)
        self.child.ask(case)
        while not select.select([self.child], [], [], 0.2)[0]:
            self.child.watch()
        told = self.child.answer()
        if told.get("dead"):
            self.close()
        return told["verdict"]  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the child."""
        if self.child is not None:
            self.child.close()
            self.child = None


def keep(area: Area, result: Result, folder: Path = KEPT, seconds: float = 60.0) -> list[Path]:
    """Shrink one failure of each kind and write it to a file, which `tests/attacks` tries from then on."""
    files, runner = [], SingleRunner(area)
    try:
        for kind, failures in result.by_kind().items():
            case, verdict = failures[0]["case"], failures[0]["verdict"]
            small = shrink(case, lambda tried, kind=kind: kind_of(runner.judge(tried) or "") == kind, seconds)
            text = json.dumps(
                {"area": area.name, "verdict": runner.judge(small) or verdict, "case": small}, indent=1
            )
            name = hashlib.sha256(json.dumps(small, sort_keys=True).encode()).hexdigest()[:8]
            folder.mkdir(parents=True, exist_ok=True)
            files.append(folder / f"{area.name}-{name}.json")
            files[-1].write_text(text + "\n")
    finally:
        runner.close()
    return files
