"""Attacks: cases that are drawn at random, run in processes that may crash, and kept as tests where they fail.

    python -m benchmarks.attacks                            # every light area, a minute each
    python -m benchmarks.attacks models --n 100000          # an area, a number of cases
    python -m benchmarks.attacks trees readable ensembles --n 5000     # random fits, judged by all oracles
    python -m benchmarks.attacks interrupts limits --seconds 600
    python -m benchmarks.attacks --ci                       # about two minutes, the same cases each time
    python -m benchmarks.attacks --replay tests/attacks/kept/models-0123abcd.json

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

from benchmarks.attacks.areas import Area, load, names
from benchmarks.attacks.runner import KEPT, Result, SingleRunner, attack, keep
from benchmarks.output import machine

CI_SEED = 16


def chosen(areas: list[str], *, ci: bool) -> list[Area]:
    """The areas that were asked for, or all light ones; those of CI include the heavy."""
    found = []
    for area in [load(name) for name in areas or names()]:
        if area.missing():
            print(f"{area.name}: left out, needs {', '.join(area.missing())}")
        elif ci and not area.in_ci:
            print(f"{area.name}: left out of CI")
        elif areas or ci or not area.heavy:
            found.append(area)
    return found


def plan(areas: list[Area], options: argparse.Namespace) -> list[tuple[Area, int | None, float | None]]:
    """For each area how many cases, and how many seconds."""
    if options.ci:  # numbers of cases, never seconds: the same cases on every machine
        return [(area, area.in_ci if options.n is None else options.n, None) for area in areas]
    share = None if options.seconds is None else options.seconds / max(1, len(areas))
    if share is None and options.n is None:
        share = 60.0
    return [(area, options.n, share) for area in areas]


def print_result(result: Result) -> None:
    """One line for people, and one for each kind of failure."""
    print(
        f"{result.area:<14}{result.n:>9,} cases in {result.seconds:.0f} s, {len(result.failures)} failures, "
        f"largest process {result.peak:.0f} MB",
        flush=True,
    )
    for failures in result.by_kind().values():
        print(f"  {len(failures)}: case {failures[0]['index']}: {failures[0]['verdict']}", flush=True)


def write_records(results: list[Result], file: Path) -> None:
    """A line of JSON for each area, and one with the command and the machine."""
    file.parent.mkdir(parents=True, exist_ok=True)
    about = {
        "command": " ".join(["python -m benchmarks.attacks", *sys.argv[1:]]),
        "sanitizers": "libasan" in os.environ.get("LD_PRELOAD", ""),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        **machine(),
    }
    lines = [*(result.record() for result in results), about]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def replay(file: Path) -> bool:
    """Judge a kept case in a process of its own; whether it failed."""
    said = json.loads(file.read_text())
    runner = SingleRunner(load(said["area"]))
    verdict = runner.judge(said["case"])
    runner.close()
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
    parser.add_argument(
        "--ci", action="store_true", help="the cases that CI tries: fixed numbers, a fixed seed"
    )
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
        on_result = write if area.heavy else lambda result: None
        results.append(attack(area, n, seconds, seed, options.workers, on_result))
        write()
        print_result(results[-1])
        for file in keep(area, results[-1], options.kept):
            print(f"  kept {file}:\n{file.read_text()}", flush=True)
    return any(result.failures for result in results)


if __name__ == "__main__":
    sys.exit(main())
