"""Measure Hornbeam against other libraries, on the same data, in the same run.

    python -m benchmarks.speed grow --rows 100000 --depth 8
    python -m benchmarks.speed predict --single --json
    python -m benchmarks.speed memory --rows 20000000

What each benchmark measures and how to read it: README.md beside this file.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.output import Report
from benchmarks.speed import frontiers, in_process, new_process, pruning, smoothing


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A subcommand: what it runs, what it compares, and where its defaults differ."""

    run: Callable[[argparse.Namespace, Report], None]
    measure: str
    unit: str
    defaults: dict[str, Any]


BENCHMARKS = {
    "grow": Benchmark(in_process.grow, "cpu", "seconds", {}),
    "bin": Benchmark(in_process.bin_, "cpu", "seconds", {}),
    "predict": Benchmark(in_process.predict, "cpu", "seconds", {"rows": 1_000_000}),
    "small": Benchmark(in_process.small, "cpu", "seconds", {}),
    "threads": Benchmark(
        in_process.threads, "wall", "seconds", {"rows": 1_000_000, "threads": 2, "depth": 8}
    ),
    "prune": Benchmark(pruning.prune, "wall", "seconds", {"threads": 2, "patience": 2.0}),
    "frontiers": Benchmark(
        frontiers.frontiers,
        "wall",
        "seconds",
        {"threads": 2, "repeats": 25, "patience": 0.5, "nodes": 1_000_000},
    ),
    "smooth": Benchmark(smoothing.smooth, "cpu", "seconds", {"classes": 5}),
    "default": Benchmark(smoothing.default, "cpu", "seconds", {"repeats": 5}),
    "start": Benchmark(new_process.start, "import_cpu", "seconds", {"rows": 1000, "repeats": 5}),
    "memory": Benchmark(new_process.memory, "growth_gb", "gigabytes", {"rows": 20_000_000, "depth": 8}),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark and print it; 1 if no peer could be measured."""
    options = parser().parse_args(arguments)
    benchmark = BENCHMARKS[options.benchmark]
    os.environ["OMP_NUM_THREADS"] = str(
        options.threads
    )  # for libraries not yet loaded and for child processes
    # Threads add up in CPU seconds: with more than one, only the wall clock shows what they are for.
    measure = "wall" if benchmark.measure == "cpu" and options.threads > 1 else benchmark.measure
    report = Report(options.benchmark, measure, benchmark.unit, options.json)
    benchmark.run(options, report)
    wheel = getattr(options, "wheel", None)
    measured = report.close(**({"wheel_mb": wheel.stat().st_size / 1e6} if wheel else {}))
    return 0 if measured else 1


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="speed.py", description=__doc__.splitlines()[0] if __doc__ else None)
    commands = top.add_subparsers(dest="benchmark", required=True)
    for name, benchmark in BENCHMARKS.items():
        what = (benchmark.run.__doc__ or "").strip()
        command = commands.add_parser(
            name, help=what, description=what, formatter_class=argparse.ArgumentDefaultsHelpFormatter
        )
        add = command.add_argument
        add("--rows", type=int, default=100_000, metavar="N")
        add("--classes", type=int, default=2, metavar="K")
        add("--features", type=int, default=20, metavar="F")
        add("--depth", type=depth, default=None, metavar="D|full", help="depth limit, or full: until pure")
        add("--threads", type=int, default=1, metavar="T")
        add("--repeats", type=int, default=3, metavar="R", help="rounds; the best counts")
        add("--patience", type=float, default=math.inf, metavar="S", help="no round after one of S seconds")
        add("--peers", type=names, default=None, metavar="A,B", help="only these; a name's start will do")
        add("--json", action="store_true", help="a JSON line per peer and a last one with the ratios")
        if name == "predict":
            add("--leaves", type=int, default=5000, help="leaves of the tree")
            add("--train-rows", type=int, default=100_000, help="rows it is grown on")
            add("--single", action="store_true", help="latency of one row instead")
        if name in ("prune", "frontiers", "smooth"):
            add("--nodes", type=int, default=100_000, metavar="N", help="nodes of the (largest) tree, about")
        if name == "start":
            add("--wheel", type=Path, default=None, help="a wheel whose size to report")
        command.set_defaults(**benchmark.defaults)
    return top


def depth(text: str) -> int | None:
    """A depth limit, or None for "full"."""
    return None if text == "full" else int(text)


def names(text: str) -> list[str]:
    """Peers from their comma separated names."""
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    known = dict.fromkeys(
        [peer.name for peer in in_process.GROWERS + in_process.PREDICTORS] + [*pruning.PEERS]
    )
    for name in wanted:
        if not any(peer.startswith(name) for peer in known):
            raise argparse.ArgumentTypeError(f"no peer is called {name!r}; there are {', '.join(known)}")
    return wanted


if __name__ == "__main__":
    sys.exit(main())
