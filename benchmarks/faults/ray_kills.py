"""Kill a worker of Ray in the midst of fits, and see whether the tree is the same.

    python -m benchmarks.faults.ray_kills --out benchmarks/results/engines

Each run is a whole fit on two workers, from Parquet files to the finished tree. A worker that folds rows is killed
(SIGKILL) in a random pass. The digest must be that of a fit by threads of this process. Every run is a line of JSON in
``ray_kills.jsonl``; the last line sums up. Exit status 1 if a tree differed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import ray

from benchmarks.faults.disturbed_fit import Watched, write_rows
from benchmarks.output import machine
from benchmarks.scale.same_tree import ray_processes
from hornbeam import TreeClassifier
from hornbeam.data.engine import LocalEngine
from hornbeam.engines import RayEngine


class Killer:
    """Kills the first worker that is seen folding after a pass has begun."""

    def __init__(self, at: int) -> None:
        self.at, self.killed_in = at, ""
        self._over = threading.Event()

    def on_pass(self, number: int, name: str) -> None:
        if number == self.at:
            threading.Thread(target=self._run, args=(name,), daemon=True).start()

    def _run(self, name: str) -> None:
        while not self._over.is_set():
            for process in psutil.Process().children(recursive=True):
                if process.name().startswith("ray::_fold"):
                    os.kill(process.pid, signal.SIGKILL)
                    self.killed_in = name
                    return
            time.sleep(0.01)

    def close(self) -> None:
        self._over.set()


def grow(rows: Path, engine: Watched) -> str:
    """A fit from files, level by level; the files are read in every pass. Its digest."""
    classifier = TreeClassifier("cart", max_depth=4)
    return classifier.fit(str(rows), "y", engine=engine, cache=False, memory=400_000).tree_.digest


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=8_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rng, runs = random.Random(options.seed), []
    with ray_processes(), tempfile.TemporaryDirectory() as folder:
        rows = Path(folder)
        write_rows(rows, options.rows)
        digest = grow(rows, Watched(LocalEngine(2)))
        undisturbed = Watched(RayEngine())
        same = grow(rows, undisturbed) == digest
        print(len(undisturbed.passes), "passes of an undisturbed fit, same digest:", same, flush=True)
        while sum(bool(run["killed_in"]) for run in runs) < options.kills:
            killer, begin = Killer(rng.randrange(len(undisturbed.passes))), time.perf_counter()
            found = grow(rows, Watched(RayEngine(), killer.on_pass))
            killer.close()
            run: dict[str, Any] = {"run": len(runs), "pass": killer.at, "killed_in": killer.killed_in}
            run |= {"same_digest": found == digest, "seconds": round(time.perf_counter() - begin, 1)}
            runs.append(run)
            print(json.dumps(run), flush=True)
            same = same and run["same_digest"]
            command = " ".join(["python -m benchmarks.faults.ray_kills", *sys.argv[1:]])
            about = {"command": command, "rows": options.rows, "ray": ray.__version__, "digest": digest}
            about |= {"kills": sum(bool(one["killed_in"]) for one in runs), "all_same": same, **machine()}
            if options.out:
                lines = [json.dumps(line) + "\n" for line in [*runs, about]]
                (options.out / "ray_kills.jsonl").write_text("".join(lines))
    return not same


if __name__ == "__main__":
    sys.exit(main())
