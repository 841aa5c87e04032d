"""Attacks: cases that are drawn at random, run in processes that may die, and kept as tests where they fail.

    python benchmarks/attack.py                            # every light area, a minute each
    python benchmarks/attack.py models --n 100000          # an area, a number of cases
    python benchmarks/attack.py interrupts limits --seconds 600
    python benchmarks/attack.py --ci                       # two minutes, the same cases each time
    python benchmarks/attack.py --replay tests/attacks/kept/models-0123abcd.json

A failure is shrunk and written to ``tests/attacks/kept``; the tests judge what is there. Exit status 1 if anything
failed. `attacks/areas.py` says what an area is.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # processes are forked, and each has its own work

from attacks.areas import Area, load, names
from attacks.runner import KEPT, Court, Result, attack, keep
from report import machine

IN_CI = 75.0  # seconds for all light areas together; the heavy ones take about as long again
CI_SEED = 16


def chosen(areas: list[str], *, ci: bool) -> list[Area]:
    """The areas that were asked for, or all light ones; those of CI include the heavy."""
    found = [load(name) for name in areas or names()]
    for area in found:
        if area.missing():
            print(f"{area.name}: left out, needs {', '.join(area.missing())}")
    found = [area for area in found if not area.missing()]
    return [area for area in found if areas or ci or not area.heavy]


def plan(areas: list[Area], options: argparse.Namespace) -> list[tuple[Area, int | None, float | None]]:
    """For each area how many cases, and how many seconds."""
    light = [area for area in areas if not area.heavy]
    if options.ci:
        share = IN_CI / max(1, len(light))
        return [(area, area.in_ci, None) if area.heavy else (area, None, share) for area in areas]
    share = None if options.seconds is None else options.seconds / max(1, len(areas))
    if share is None and options.n is None:
        share = 60.0
    return [(area, options.n, share) for area in areas]


def tell(result: Result) -> None:
    """One line for people, and one for each way of failing."""
    print(
        f"{result.area:<14}{result.n:>9,} cases in {result.seconds:.0f} s, {len(result.failures)} failures, "
        f"largest process {result.peak:.0f} MB",
        flush=True,
    )
    for failures in result.ways().values():
        print(f"  {len(failures)}: case {failures[0]['index']}: {failures[0]['verdict']}", flush=True)


def write_records(results: list[Result], file: Path) -> None:
    """A line of JSON for each area, and one with the command and the machine."""
    file.parent.mkdir(parents=True, exist_ok=True)
    about = {
        "command": " ".join(["python", *sys.argv]),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        **machine(),
    }
    lines = [*(result.record() for result in results), about]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def replay(file: Path) -> bool:
    """Judge a kept case in a process of its own; whether it failed."""
    said = json.loads(file.read_text())
    court = Court(load(said["area"]))
    verdict = court.judge(said["case"])
    court.close()
    print(f"{file.name}: {verdict or 'passed'}")
    return verdict is not None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("areas", nargs="*", help=f"of {', '.join(names())}; all light ones, unless told")
    parser.add_argument("--seconds", type=float, help="for all areas together")
    parser.add_argument("--n", type=int, help="cases of each area")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--ci", action="store_true", help="about two minutes, with a fixed seed")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the folder for shrunk failures")
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    parser.add_argument("--replay", type=Path, nargs="+", help="judge kept cases, and nothing else")
    options = parser.parse_args()
    unknown = set(options.areas) - set(names())
    if unknown:
        parser.error(f"no area is called {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    warnings.simplefilter("ignore")  # of forking
    if options.replay:
        return max(replay(file) for file in options.replay)
    seed = CI_SEED if options.ci else options.seed
    results: list[Result] = []

    def write(*unfinished: Result) -> None:
        if options.json:
            write_records([*results, *unfinished], options.json)

    for area, n, seconds in plan(chosen(options.areas, ci=options.ci), options):
        hear = write if area.heavy else lambda result: None
        results.append(attack(area, n, seconds, seed, options.workers, hear))
        write()
        tell(results[-1])
        for file in keep(area, results[-1], options.kept):
            print(f"  kept {file}:\n{file.read_text()}", flush=True)
    return any(result.failures for result in results)


if __name__ == "__main__":
    sys.exit(main())
