"""Damaged model files and killed savers: what a loader and a saver must survive.

    python benchmarks/hostile.py                         # both, as many as below
    python benchmarks/hostile.py mutants --n 100000      # 0 crashes, 0 hangs, only StorageError
    python benchmarks/hostile.py kills --n 300           # the old file or the new one, never a broken one

``--only SEED`` makes one mutant again. Exit status 1 if anything but a sound model or a `StorageError` was seen, or if
a worker outgrew its memory.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from hostility.files import files
from hostility.kills import kills
from hostility.mutants import judge, mutants
from hostility.mutations import FILES, mutant
from report import machine

MANY = {"mutants": 100_000, "kills": 300}


def tell(record: dict[str, Any]) -> None:
    """The record for people."""
    if record["bench"] == "kills":
        print(
            f"{record['n']} kills in {record['seconds']:.1f} s: {record['found']}, {record['stray_files']} stray files "
            "for 2 paths"
        )
        return
    for name, count in record["ways"].items():
        print(f"  {name:<28}{count:>8,}")
    print(*record["bad"][:20], sep="\n")
    print(
        f"{record['n']:,} mutants in {record['seconds']:.1f} s ({record['processor_seconds']:.0f} of the processor): "
        f"{record['refused']:,} refused, {record['sound']:,} sound, {record['undeclared']} undeclared errors, "
        f"{record['crash']} crashes, {record['hang']} hangs; slowest {record['slowest_ms']:.0f} ms, largest process "
        f"{record['peak_mb']:.0f} MB"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["mutants", "kills"], help="both, unless told")
    parser.add_argument("--n", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--memory", type=float, default=256, help="MB a worker may grow to")
    parser.add_argument("--only", type=int, help="judge the mutant of this seed, here")
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of forking, of column names: not what is asked here
    records = []
    if options.what != "kills":
        FILES.extend(files())
        if options.only is not None:
            name, data = mutant(options.only)
            print(name, data[:2000], judge(data))
            return 0
        n = options.n or MANY["mutants"]
        records.append(mutants(n, options.seed, options.workers, options.memory))
        tell(records[-1])
    if options.what != "mutants":
        records.append(kills(options.n or MANY["kills"], options.seed))
        tell(records[-1])
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        lines = [*records, {"bench": "about", **machine()}]
        options.json.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return not all(record["passed"] for record in records)


if __name__ == "__main__":
    sys.exit(main())
