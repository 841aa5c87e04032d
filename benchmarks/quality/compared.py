"""How often the 90 % intervals of `hornbeam.evaluation.compare` hold the truth, where the truth is known.

python -m benchmarks.quality.compared run --json benchmarks/results/coverage/compared.jsonl
python -m benchmarks.quality.compared show benchmarks/results/coverage/compared.jsonl

Two fixed models predict rows of a known world. The truth is what they score on half a million rows. A line of the file
is a world: of `sets` data sets, how many have an interval of a value or a difference (`given`), and the share of these
that hold the truth (`held`); beside it the share for rows taken as independent (`rows_alone`), and for the log loss
that of the percentiles of 300 bootstrap samples of rows or groups.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.pages import read_lines
from hornbeam.evaluation import compare

LEVEL, POPULATION, SAMPLES = 0.9, 500_000, 300


class Rows(NamedTuple):
    """Classes, the probabilities of two models, and groups."""

    y: np.ndarray
    first: np.ndarray
    second: np.ndarray
    groups: np.ndarray | None = None


def logistic(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def happened(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(len(p)) < p).astype(int)


def usual(n: int, rng: np.random.Generator) -> Rows:
    """One model is better than the other."""
    x = rng.normal(size=(n, 3))
    y = happened(logistic(-1 + x[:, 0] + x[:, 1]), rng)
    return Rows(y, logistic(-1 + x[:, 0] + 0.8 * x[:, 1]), logistic(-1 + 0.7 * x[:, 0] + 0.3 * x[:, 2]))


def equal(n: int, rng: np.random.Generator) -> Rows:
    """Different predictions of the same worth."""
    x = rng.normal(size=(n, 4))
    y = happened(logistic(-1 + x[:, 0] + x[:, 1]), rng)
    return Rows(y, logistic(-0.9 + x[:, 0] + 0.2 * x[:, 2]), logistic(-0.9 + x[:, 1] + 0.2 * x[:, 3]))


def nearly_copies(n: int, rng: np.random.Generator) -> Rows:
    """The second model differs on one row in eighteen."""
    x = rng.normal(size=(n, 3))
    y = happened(logistic(-1 + x[:, 0] + x[:, 1]), rng)
    return Rows(y, logistic(-1 + x[:, 0]), logistic(-1 + x[:, 0] + (x[:, 2] > 1.6)))


def rare(n: int, rng: np.random.Generator) -> Rows:
    """The class of two rows in a hundred."""
    x = rng.normal(size=(n, 3))
    y = happened(logistic(-4.75 + x[:, 0] + x[:, 1]), rng)
    return Rows(y, logistic(-4.55 + x[:, 0] + 0.8 * x[:, 1]), logistic(-4.35 + 0.7 * x[:, 0] + 0.3 * x[:, 2]))


def leaves(n: int, rng: np.random.Generator) -> Rows:
    """Trees of four leaves."""
    x = rng.normal(size=(n, 3))
    y = happened(logistic(-1 + x[:, 0] + x[:, 1]), rng)
    shares = np.array([0.08, 0.2, 0.4, 0.65])
    first, second = (
        shares[np.digitize(z, [-1, 0, 1])] for z in (x[:, 0] + 0.5 * x[:, 1], 0.6 * x[:, 0] + 0.8 * x[:, 2])
    )
    return Rows(y, first, second)


def three(n: int, rng: np.random.Generator) -> Rows:
    """Three classes."""
    x = rng.normal(size=(n, 2))
    truth = shares_of(np.column_stack([np.zeros(n), 1.5 * x[:, 0], x[:, 1] - 0.5]))
    y = (rng.random(n)[:, None] > truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
    first = shares_of(np.column_stack([np.zeros(n), 1.2 * x[:, 0], 0.5 * x[:, 1]]))
    return Rows(y, first, shares_of(np.column_stack([np.zeros(n), 0.5 * x[:, 0], x[:, 1]])))


def shares_of(z: np.ndarray) -> np.ndarray:
    return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)


def grouped(n: int, rng: np.random.Generator) -> Rows:
    """Groups of ten rows, with correlated features and an effect of their own."""
    return of_groups(np.arange(n) // 10, rng)


def unequal(n: int, rng: np.random.Generator) -> Rows:
    """The same, with one to sixty rows in a group."""
    sizes = rng.geometric(0.1, n // 10)
    return of_groups(np.repeat(np.arange(len(sizes)), sizes), rng)


def of_groups(group: np.ndarray, rng: np.random.Generator) -> Rows:
    n, n_groups = len(group), group[-1] + 1
    x = 0.8 * rng.normal(size=(n_groups, 3))[group] + 0.6 * rng.normal(size=(n, 3))
    y = happened(logistic(-1 + x[:, 0] + x[:, 1] + rng.normal(size=n_groups)[group]), rng)
    first, second = logistic(-1 + x[:, 0] + 0.6 * x[:, 1]), logistic(-0.8 + 0.8 * x[:, 0] + 0.3 * x[:, 2])
    return Rows(y, first, second, group)


class World(NamedTuple):
    """How rows are drawn, their number, what a missed row of the class costs, and a threshold."""

    draw: Callable[[int, np.random.Generator], Rows]
    n: int
    cost: float = 5.0
    threshold: float = 0.2


WORLDS = {
    f"{world.draw.__name__} {world.n}": world
    for world in (
        World(usual, 60),
        World(usual, 500),
        World(equal, 60),
        World(equal, 500),
        World(nearly_copies, 300),
        World(rare, 500, 30.0, 0.05),
        World(rare, 2000, 30.0, 0.05),
        World(leaves, 60),
        World(leaves, 500),
        World(three, 60),
        World(three, 300),
        World(grouped, 100),
        World(grouped, 400),
        World(unequal, 400),
    )
}


def compared(world: World, rows: Rows, *, with_groups: bool = True) -> Any:
    """Compare the two models; None if the rows have one class only."""
    if len(np.unique(rows.y)) < (2 if rows.first.ndim == 1 else 3):
        return None
    two = {"costs": [[0, 1], [world.cost, 0]], "thresholds": world.threshold} if rows.first.ndim == 1 else {}
    models = {"first": rows.first, "second": rows.second}
    return compare(rows.y, models, groups=rows.groups if with_groups else None, level=LEVEL, **two)


def entries(found: Any) -> Iterator[tuple[tuple[str, str], float, float, float]]:
    """The values of the first model and the differences of the second, with their intervals."""
    for one in found:
        if one.score in ("Gini", "KS"):  # Gini is that of the area, and KS has no interval
            continue
        if one.model == "first":
            yield (one.score, "value"), one.value, one.low, one.high
        elif one.model == "second":
            yield (one.score, "difference"), one.difference, one.difference_low, one.difference_high


def judge(name: str, sets: int, seed: int, *, population: int = POPULATION) -> dict[str, Any]:
    """Count intervals of many data sets that hold the truth."""
    world = WORLDS[name]
    everybody = world.draw(population, np.random.default_rng(seed))
    truth = {key: value for key, value, _, _ in entries(compared(world, everybody))}
    given, held, naive = Counter(), Counter(), Counter()
    resampled = 0
    for number in range(sets):
        rng = np.random.default_rng([seed, 1, number])
        rows = world.draw(world.n, rng)
        found = compared(world, rows)
        if found is None:
            continue
        alone = found if rows.groups is None else compared(world, rows, with_groups=False)
        for (key, _, low, high), (_, _, least, most) in zip(entries(found), entries(alone), strict=True):
            if low == low:
                given[key] += 1
                held[key] += low <= truth[key] <= high
                naive[key] += least <= truth[key] <= most
        resampled += bootstrap_holds(rows, truth["log loss", "difference"], rng)
    lines = {}
    for key in truth:
        shares = {"given": given[key], "held": round(held[key] / max(given[key], 1), 4)}
        if everybody.groups is not None:
            shares["rows_alone"] = round(naive[key] / max(given[key], 1), 4)
        lines[" ".join(key)] = shares
    lines["log loss difference"]["bootstrap"] = round(resampled / sets, 4)
    return {"world": name, "sets": sets, "seed": seed, "intervals": lines}


def bootstrap_holds(rows: Rows, truth: float, rng: np.random.Generator) -> bool:
    """Whether the percentiles of the difference of log losses in bootstrap samples hold the truth."""
    at = np.arange(len(rows.y))
    first, second = (p[at, rows.y] if p.ndim == 2 else np.where(rows.y, p, 1 - p) for p in rows[1:3])
    change = np.log(first) - np.log(second)
    group = at if rows.groups is None else rows.groups
    sums, sizes = np.bincount(group, change), np.bincount(group)
    drawn = rng.integers(0, len(sums), (SAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return bool(low <= truth <= high)


def run(options: argparse.Namespace) -> None:
    done = {line["world"] for line in read(options.json)}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    with options.json.open("a") as file:
        for name in options.worlds.split(",") if options.worlds else WORLDS:
            if name not in done:
                file.write(json.dumps(judge(name, options.sets, options.seed)) + "\n")
                file.flush()


def read(path: Path) -> list[dict[str, Any]]:
    return read_lines(path) if path.exists() else []


def table(lines: list[dict[str, Any]]) -> str:
    """A line per score and a column per world: the share of intervals of values, and of differences, that hold."""
    names = list(dict.fromkeys(key.rsplit(" ", 1)[0] for line in lines for key in line["intervals"]))
    head = ["score", *(line["world"] for line in lines)]
    written = [head, ["---", *["--:"] * len(lines)]]
    for name in names:
        cells = []
        for line in lines:
            shares = [
                line["intervals"].get(f"{name} {kind}", {"given": 0}) for kind in ("value", "difference")
            ]
            cells.append(" / ".join(f"{100 * one['held']:.1f}" for one in shares if one["given"]))
        written.append([name, *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in written)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="draw data sets, and add a line for each world to a file")
    running.add_argument("--json", type=Path, required=True)
    running.add_argument("--worlds", help="names with commas between; default: all")
    running.add_argument("--sets", type=int, default=2000, help="of each world")
    running.add_argument("--seed", type=int, default=700)
    running.set_defaults(go=run)
    showing = commands.add_parser("show", help="print a file as a table")
    showing.add_argument("file", type=Path)
    showing.set_defaults(go=lambda options: print(table(read(options.file))))
    options = parser.parse_args()
    options.go(options)


if __name__ == "__main__":
    main()
