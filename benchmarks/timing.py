"""Measuring: CPU and wall seconds, rounds that take turns, the minimum.

The machine is never quite idle and its speed drifts, so runners take turns: round one of all, then
round two. What is reported is each runner's best round, because noise only ever adds. CPU seconds are those
of the whole process, all its threads together.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Lap:
    """Seconds of one piece of work."""

    cpu: float
    wall: float

    def __add__(self, other: Lap) -> Lap:
        return Lap(self.cpu + other.cpu, self.wall + other.wall)


@dataclass(slots=True)
class Stopwatch:
    """The laps of one round, by the name of the part: ``with watch("bin"): ...``.

    A part outside the sum (``extra=True``) is measured and reported, and is not added to the round's total.
    """

    parts: dict[str, Lap] = field(default_factory=dict)
    total: Lap = Lap(0.0, 0.0)

    @contextmanager
    def __call__(self, part: str, *, extra: bool = False) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.record(part, Lap(time.process_time() - cpu, time.perf_counter() - wall), extra=extra)

    def record(self, part: str, lap: Lap, *, extra: bool = False) -> None:
        """Note a lap that was measured elsewhere."""
        self.parts[part] = lap
        if not extra:
            self.total += lap


@dataclass(slots=True)
class Result:
    """What a runner achieved: its rounds and the facts the last of them returned, or why there is nothing."""

    rounds: list[Stopwatch] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)
    error: str | None = None

    def best(self, part: str | None = None) -> Lap:
        """The least CPU and the least wall seconds of any round, in all or of one part."""
        laps = [watch.parts[part] if part else watch.total for watch in self.rounds]
        return Lap(min(lap.cpu for lap in laps), min(lap.wall for lap in laps))

    @property
    def parts(self) -> dict[str, Lap]:
        """The best lap of every part."""
        return {part: self.best(part) for part in self.rounds[0].parts}


Runner = Callable[[Stopwatch], dict[str, object]]


def race[Name](
    runners: Mapping[Name, Runner], *, repeats: int, patience: float = float("inf")
) -> dict[Name, Result]:
    """Let the runners take turns for `repeats` rounds.

    A runner that raises is out and its error is its result. One whose round took more than `patience` wall
    seconds is not asked again: its figure is large enough to be clear of the noise.
    """
    results = {name: Result() for name in runners}
    for _ in range(repeats):
        for name, runner in runners.items():
            result = results[name]
            if result.error or (result.rounds and result.rounds[-1].total.wall > patience):
                continue
            watch = Stopwatch()
            try:
                with _quiet_memory():
                    result.facts = runner(watch)
            except Exception as error:
                result.error = describe(error)
            else:
                result.rounds.append(watch)
    return results


def latency(call: Callable[[], object], *, repeats: int = 20, seconds: float = 0.02) -> Lap:
    """Seconds of one short call: the best of `repeats` batches, each long enough for the clock to see."""
    calls = 1
    while (batch := _batch(call, calls)).wall < seconds:
        calls = max(2 * calls, int(calls * seconds / max(batch.wall, 1e-9)))
    batches = [batch, *(_batch(call, calls) for _ in range(repeats))]
    return Lap(min(b.cpu for b in batches) / calls, min(b.wall for b in batches) / calls)


def describe(error: Exception) -> str:
    """One line that says what went wrong."""
    text = str(error).strip().splitlines()
    first = text[0] if text else "no message"
    return first if isinstance(error, ImportError) else f"{type(error).__name__}: {first}"


def _batch(call: Callable[[], object], calls: int) -> Lap:
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(calls):
        call()
    return Lap(time.process_time() - cpu, time.perf_counter() - wall)


@contextmanager
def _quiet_memory() -> Iterator[None]:
    """Collect garbage before the round, not in it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
