"""Kill workers, drivers and memory in mid-training, and see whether the tree is still the same.

    python -m benchmarks.faults.kills --rows 200000 --out benchmarks/results/engines
    python -m benchmarks.faults.kills --once 5 --again 2 --driver 1 --memory 1 --peers "" --rows 50000

Each run is a whole fit on a Dask cluster of two worker processes, from Parquet files to the finished tree, its cache
of codes included. ``once``: a busy worker is killed (SIGKILL) at a random moment of a random pass. ``again``: from
there on another one whenever about a fifth of an undisturbed fit's time has passed, up to five. ``driver``: the
process that called `fit` is killed and a new one goes on from its checkpoint; in every other run the scheduler dies
with it. ``memory``: a task takes all memory at its first try, and the nanny ends its worker. The digest must be that
of the undisturbed fit, and no pass may take more than `patience` seconds. The peers train through their own Dask
interfaces, with one worker killed on the way.

``--model regression`` is a tree of a numeric target, and ``--model forest`` a forest of a quarter of the rows, with all
rows counted; neither has runs of drivers or peers (``--driver 0 --peers ""``).

Every run is a line of JSON in ``kills.jsonl`` (``kills-forest.jsonl`` and so on) under ``--out``; the last line sums
up. It may be stopped at any moment: the same command goes on with the runs that are not there yet. Exit status 1 if a
tree of ours differed or did not come.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.faults.disturbed_fit import (
    Disturbance,
    Watched,
    cluster,
    eating,
    grow,
    new_folder,
    warm,
    write_rows,
)
from benchmarks.output import machine
from benchmarks.pages import read_lines
from hornbeam.engines import DaskEngine

KINDS = {"once": 50, "again": 20, "driver": 10, "memory": 5}
type Run = dict[str, Any]


class Bench:
    """The rows, and what an undisturbed fit makes of them."""

    def __init__(self, rows: Path, patience: float, seed: int, model: str = "tree") -> None:
        self.rows, self.patience, self.seed, self.model = rows, patience, seed, model
        self.digest, self.seconds = "", 0.0
        self.passes: list[tuple[str, float]] = []
        self.done: set[tuple[str, int]] = set()

    def recall(self, runs: list[Run]) -> None:
        """Know what an earlier call found out."""
        peace = runs[0]
        self.digest, self.seconds, self.passes = peace["digest"], peace["seconds"], peace["passes"]
        self.done = {(run["kind"], run["run"]) for run in runs[1:]}

    def left(self, kind: str, n: int) -> list[int]:
        """The runs of a kind that are still to be made."""
        return [run for run in range(n) if (kind, run) not in self.done]

    def measure(self) -> Run:
        """Fit in peace, a few times: of each pass the quickest, so that a moment in it is never too late."""
        times, passes = [], []
        with cluster() as client, new_folder() as folder:
            warm(client)
            for turn in range(4):
                engine = Watched(DaskEngine(client))
                begin = time.perf_counter()
                self.digest = grow(self.rows, engine, folder / str(turn), model=self.model)
                times.append(time.perf_counter() - begin)
                passes.append(engine.passes)
        self.seconds = statistics.median(times[1:])
        self.passes = [min(one, key=lambda took: took[1]) for one in zip(*passes, strict=True)]
        return {
            "kind": "undisturbed",
            "seconds": round(self.seconds, 2),
            "digest": self.digest,
            "passes": [(name, round(seconds, 3)) for name, seconds in self.passes],
        }

    def moment(self, rng: random.Random, share: float = 1.0) -> tuple[int, float]:
        """A moment in one of the passes, or in one of the first `share` of them."""
        at = rng.randrange(int(len(self.passes) * share))
        return at, rng.uniform(0, self.passes[at][1])

    def judged(self, kind: str, run: int, begin: float, digest: str, **facts: Any) -> Run:
        """What a run gave; a pass that takes longer than `patience` gives an error in place of a digest."""
        seconds, same = time.perf_counter() - begin, digest == self.digest
        told = {"kind": kind, "run": run, "same": same, "seconds": round(seconds, 2)}
        told |= {"extra": round(seconds - self.seconds, 2)} | facts
        return told if same else told | {"instead": digest}

    def once(self, runs: list[int], kind: str = "once") -> Iterator[Run]:
        with cluster() as client:
            for run in runs:
                warm(client)
                rng = random.Random(f"{self.seed} {kind} {run}")
                most, share = (5, 0.3) if kind == "again" else (1, 1.0)
                disturbance = Disturbance(client, rng, *self.moment(rng, share), most, pause=self.seconds / 5)
                engine = Watched(DaskEngine(client, deadline=self.patience), disturbance.on_pass)
                begin = time.perf_counter()
                with new_folder() as folder:
                    digest = _answer(grow, self.rows, engine, folder, None, self.model)
                disturbance.end()
                longest = round(max(seconds for _, seconds in engine.passes), 2)
                yield self.judged(
                    kind,
                    run,
                    begin,
                    digest,
                    phase=disturbance.phase,
                    kills=disturbance.kills,
                    longest=longest,
                )

    def again(self, runs: list[int]) -> Iterator[Run]:
        yield from self.once(runs, "again")

    def memory(self, runs: list[int]) -> Iterator[Run]:
        with cluster(memory="700MB") as client:
            for run in runs:
                warm(client)
                at, _ = self.moment(random.Random(f"{self.seed} memory {run}"))
                begin = time.perf_counter()
                with new_folder() as folder:
                    engine = Watched(DaskEngine(client, deadline=self.patience))
                    engine.change = eating(folder / "eaten", at)
                    digest = _answer(grow, self.rows, engine, folder / "cache", None, self.model)
                    eaten = (folder / "eaten").exists()
                yield self.judged("memory", run, begin, digest, phase=self.passes[at][0], kills=int(eaten))

    def driver(self, runs: list[int]) -> Iterator[Run]:
        """Half of the runs on a cluster that outlives the driver, half on one that dies with it."""
        with cluster() as client:
            for run in runs:
                address = client.scheduler.address if run % 2 == 0 else None
                rng = random.Random(f"{self.seed} driver {run}")
                at, delay = self.moment(rng)
                with new_folder() as folder:
                    command = [
                        sys.executable,
                        "-m",
                        "benchmarks.faults.kills",
                        "--drive",
                        str(self.rows),
                        str(folder),
                        address or "own",
                    ]
                    first = _driven(command, at, delay)
                    kept = (folder / "checkpoint").exists()
                    begin = time.perf_counter()
                    digest = first or _driven(command)
                yield self.judged(
                    "driver", run, begin, digest, phase=self.passes[at][0], kills=int(not first),
                    from_checkpoint=kept, own_cluster=address is None,
                )  # fmt: skip

    def peer(self, name: str, runs: list[int]) -> Iterator[Run]:
        """Each run in a new process with a new cluster: what hangs is ended with it."""
        for run in runs:
            command = [
                sys.executable,
                "-m",
                "benchmarks.faults.kill_peers",
                name,
                self.rows,
                str(self.patience),
                str(self.seed + run),
            ]
            try:
                done = subprocess.run(
                    command, check=False, capture_output=True, text=True, timeout=self.patience + 240
                )
                told = json.loads(done.stdout.splitlines()[-1])
            except (subprocess.TimeoutExpired, IndexError, ValueError) as error:
                told = {"outcome": f"no report: {type(error).__name__}"}
            yield {"kind": name, "run": run} | told


def _answer(call: Callable[..., str], *arguments: Any) -> str:
    try:
        return call(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _driven(command: list[str], at: int = -1, delay: float = 0.0) -> str:
    """Run a driver, kill it in a pass; its digest, or nothing if it was killed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            word, said = line.split()
            if word == "pass" and int(said) == at:
                threading.Timer(delay, child.send_signal, (signal.SIGKILL,)).start()
            if word == "digest":
                return said
    return ""


def drive(rows: str, folder: str, address: str) -> None:
    """Be the driver: tell every pass, and in the end the digest."""
    from distributed import Client

    with cluster() if address == "own" else Client(address) as client:
        engine = Watched(DaskEngine(client, deadline=60), lambda number, _: print("pass", number, flush=True))
        print(
            "digest", grow(Path(rows), engine, Path(folder, "cache"), Path(folder, "checkpoint")), flush=True
        )


def summary(runs: list[Run]) -> Run:
    told: Run = {"kind": "summary"}
    for kind in dict.fromkeys(run["kind"] for run in runs if run["kind"] != "undisturbed"):
        mine = [run for run in runs if run["kind"] == kind]
        if kind in KINDS:
            extra = [run["extra"] for run in mine]
            told[kind] = {
                "runs": len(mine),
                "kills": sum(run["kills"] for run in mine),
                "same": sum(run["same"] for run in mine),
                "extra_median": statistics.median(extra),
                "extra_most": max(extra),
            }
        else:
            outcomes = [run["outcome"].split(":")[0] for run in mine]
            told[kind] = {
                "runs": len(mine),
                **{name: outcomes.count(name) for name in dict.fromkeys(outcomes)},
            }
    return told | {"machine": machine()}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--model", choices=["tree", "regression", "forest"], default="tree")
    for kind, n in KINDS.items():
        parser.add_argument(f"--{kind}", type=int, default=n, help="runs of this kind")
    parser.add_argument("--peers", default="lightgbm,xgboost")
    parser.add_argument("--peer-runs", type=int, default=5)
    parser.add_argument(
        "--patience", type=float, default=60.0, help="seconds a pass may take, and a peer's fit"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--drive", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.drive:
        drive(*chosen.drive)
        return 0
    names = [name for name in chosen.peers.split(",") if name]
    name = "kills.jsonl" if chosen.model == "tree" else f"kills-{chosen.model}.jsonl"
    file = None if chosen.out is None else chosen.out / name
    runs = _earlier(file, chosen.rows)

    def add(run: Run) -> None:
        runs.append(run)
        print(json.dumps(run), flush=True)
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(json.dumps(run) + "\n" for run in runs))

    with new_folder() as rows:
        write_rows(rows, chosen.rows)
        bench = Bench(rows, chosen.patience, chosen.seed, chosen.model)
        if not runs:
            add(bench.measure() | {"rows": chosen.rows})
        bench.recall(runs)
        for kind in [*KINDS, *names]:
            left = bench.left(kind, getattr(chosen, kind) if kind in KINDS else chosen.peer_runs)
            if left:
                for run in getattr(bench, kind)(left) if kind in KINDS else bench.peer(kind, left):
                    add(run)
    add(summary(runs))
    return not all(run["same"] for run in runs if run["kind"] in KINDS)


def _earlier(file: Path | None, rows: int) -> list[Run]:
    """The runs that an earlier call with as many rows has left, without its summary."""
    if file is None or not file.exists():
        return []
    runs = read_lines(file)
    if runs[0]["rows"] != rows:
        raise SystemExit(
            f"{file} is about {runs[0]['rows']} rows, not {rows}: move it away, or ask for as many"
        )
    return [run for run in runs if run["kind"] != "summary"]


if __name__ == "__main__":
    sys.exit(main())
