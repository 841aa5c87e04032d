"""What a fit would cost on how many rows, features and workers: arithmetic from measured rates.

    python -m benchmarks.scale.cost_model                  print the tables
    python -m benchmarks.scale.cost_model --write          put them into docs/scale.md

Rates are those of `scale.py rates`, in results/scale/rates.jsonl: CPU seconds of one core. What was not measured
here stands in `ASSUMED`. Beside it, what a sample costs in accuracy: `scale.py loss`.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from math import ceil, log
from pathlib import Path

import numpy as np

from benchmarks.pages import read_lines, write_tables

RESULTS = Path(__file__).parents[1] / "results" / "scale"
RATES, LOSSES, SCHEDULER = (RESULTS / f"{name}.jsonl" for name in ("rates", "loss", "scheduler"))
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"

ASSUMED = {
    "network": 1.25e9,  # bytes a second and worker: 10 Gbit
    "disk": 1.0e9,  # bytes a second and worker from the cache, where it is not in memory
    "fan_in": 8,  # parts that one task adds up
    "threads": 16,  # cores of a worker, which share one task of a pass and add up there
    "engine": 1.2,  # times the bare kernel's CPU
}
CLASSES, BINS, DEPTH = 2, 257, 10
MEMORY, MOST_SAMPLED = 2**29, 5_000_000  # as hornbeam.out_of_core.plan has them
USED = 20  # columns that a tree tests, of any number
ROWS, FEATURES, WORKERS = (10**8, 10**9, 10**10, 10**11), (20, 100, 1000), (1, 10, 100, 1000)


@dataclass(frozen=True)
class Rates:
    """Measured: work a second and core; values a second by the number of open nodes."""

    per_second: dict[str, float]
    nodes: tuple[int, ...]
    level: tuple[float, ...]
    pass_seconds: float  # of the scheduler and the driver, for each pass
    task_seconds: float  # and for each of its tasks

    @classmethod
    def read(cls, path: Path = RATES, scheduler: Path = SCHEDULER) -> Rates:
        lines = read_lines(path)
        levels = [line for line in lines if line.get("work") == "level"]
        single = {
            line["work"]: line["per_second"] for line in lines if line.get("work") not in (None, "level")
        }
        passes = [line for line in map(json.loads, scheduler.read_text().splitlines()) if "tasks" in line]
        task, fixed = np.polyfit(
            [line["tasks"] for line in passes], [line["scheduler"] + line["driver"] for line in passes], 1
        )
        return cls(
            single,
            tuple(line["n_nodes"] for line in levels),
            tuple(line["per_second"] for line in levels),
            float(fixed),
            float(task),
        )

    def scheduling(self, n_passes: int, cores: int) -> float:
        """Seconds of the scheduler and the driver, which all cores wait for."""
        if cores == 1:
            return 0.0
        parts = ceil(cores / ASSUMED["threads"])
        n_tasks = parts + 1
        while parts > ASSUMED["fan_in"]:
            parts = ceil(parts / ASSUMED["fan_in"])
            n_tasks += parts
        return n_passes * (self.pass_seconds + n_tasks * self.task_seconds)

    def at(self, n_nodes: int) -> float:
        """Values a second with this many open nodes; beyond the measured ones as with the most."""
        return float(np.interp(log(n_nodes), np.log(self.nodes), self.level))


@dataclass(frozen=True)
class Cost:
    """Wall seconds by what they are spent on; work is shared by the workers, the rest is not."""

    parts: dict[str, float]

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())

    @property
    def largest(self) -> str:
        return max(self.parts, key=lambda name: self.parts[name])


def on_all(rates: Rates, rows: int, features: int, workers: int) -> Cost:
    """Grow ten levels on all rows."""
    values, speed = rows * features, rates.per_second
    share = ASSUMED["engine"] / workers if workers > 1 else 1.0
    levels = [2**level for level in range(DEPTH)]
    passes = [_passes(nodes, features) for nodes in levels]
    parts = [nodes * features * BINS * CLASSES * 4 for nodes in levels]  # bytes that each task hands on
    n_machines = ceil(workers / ASSUMED["threads"])
    rounds = max(1, ceil(log(n_machines, ASSUMED["fan_in"]))) if workers > 1 else 0
    counted = sum(share * values / rates.at(nodes) for nodes in levels)
    read = sum(n_passes * values / ASSUMED["disk"] / workers for n_passes in passes)
    return Cost(
        {
            "survey": share * rows / speed["survey"],
            "cuts": share * values / speed["cuts"],
            "cache": share * values / speed["cache"],
            "counting": counted,
            "reading the cache": max(0.0, read - counted),
            "network": sum(rounds * part / ASSUMED["network"] for part in parts),
            "scheduler": rates.scheduling(3 + sum(passes), workers),
            "driver": sum(levels) / speed["driver"],
        }
    )


def on_sample(rates: Rates, rows: int, features: int, workers: int) -> Cost:
    """Grow on a sample on the driver, and count all rows."""
    speed = rates.per_second
    share = ASSUMED["engine"] / workers if workers > 1 else 1.0
    n = min(MEMORY // (8 * features + 12), MOST_SAMPLED, rows)
    return Cost(
        {
            "survey": share * rows / speed["survey"],
            "drawing": share * rows * features / speed["sample"],
            "growing on the driver": n * features / speed["grow"],
            "counting": share * rows / speed["count"] * min(USED, features) / 20,
            "scheduler": rates.scheduling(3, workers),
        }
    )


def _passes(n_nodes: int, features: int) -> int:
    """How often a level reads all rows: as often as its sums exceed what a task may hold."""
    return ceil(
        n_nodes * features * BINS * CLASSES * 4 / 2**28 / 2
    )  # half the nodes: the others by subtraction


def table(rates: Rates) -> str:
    """The page's table: a line for rows and features, a column for workers, both ways, and what takes longest."""
    head = (
        "| rows | features | "
        + " | ".join(f"{w:,} core{'s' * (w > 1)}" for w in WORKERS)
        + " | most of it, on 100 |"
    )
    lines = [head, "|---|---|" + "---|" * (len(WORKERS) + 1)]
    for rows in ROWS:
        for features in FEATURES:
            costs = [(on_all(rates, rows, features, w), on_sample(rates, rows, features, w)) for w in WORKERS]
            cells = [f"{_time(one.seconds)} / {_time(other.seconds)}" for one, other in costs]
            most = " / ".join(cost.largest for cost in costs[2])
            power = len(str(rows)) - 1
            lines.append(f"| 10^{power} | {features:,} | {' | '.join(cells)} | {most} |")
    return "\n".join(lines)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} d"


def losses(path: Path = LOSSES) -> str:
    """A line for each set: RMSE if all rows are grown on, and how much more with a share of them."""
    lines = [line for line in map(json.loads, path.read_text().splitlines()) if "set" in line]
    shares = sorted({line["share"] for line in lines}, reverse=True)
    head = "| set | rows | grown on all | " + " | ".join(f"{100 * share:g} %" for share in shares[1:]) + " |"
    table = [head, "|---|---|" + "---|" * len(shares)]
    for name in dict.fromkeys(line["set"] for line in lines):
        mine = {line["share"]: line for line in lines if line["set"] == name}
        cells = [f"+{mine[share]['difference']:.4f}" for share in shares[1:]]
        table.append(f"| {name} | {mine[1.0]['rows']:,} | {mine[1.0]['rmse']:.4f} | {' | '.join(cells)} |")
    return "\n".join(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scale.md")
    computed = {"costs": table(Rates.read()), "losses": losses()}
    if parser.parse_args().write:
        write_tables(PAGE, **computed)
    else:
        print("\n\n".join(computed.values()))


if __name__ == "__main__":
    main()
