"""What a pass costs the scheduler of Dask: processor time a task, for passes of our shape with nothing to count.

    python -m benchmarks.scale.scheduler --workers 16 --threads 8

The scheduler is a process of its own. The workers share two processes, so that a small machine can have many. A pass is
`DaskEngine.reduce` of a task that returns sums of zeros at once: as many tasks as asked for, then those that combine.
Measured is the processor time of the scheduler and of the driver, the least of the rounds, in turn for each number of
tasks; the clock would show the workers, which share this machine. Results are JSON lines.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
from distributed import Client, Scheduler, Worker

from benchmarks.output import machine
from hornbeam.engines import DaskEngine

RESULTS = Path(__file__).parents[1] / "results" / "scale" / "scheduler.jsonl"
HOSTS = 2  # processes that the workers share
FAN_IN, CELLS = 8, 1000


def _empty(partitions: Sequence[Any], shared: Any) -> list[Any]:
    """Return the sums of no rows: a task."""
    return [np.zeros(CELLS, np.int32)]


async def run_scheduler(file: Path) -> None:
    async with Scheduler(port=0, dashboard=False, scheduler_file=str(file)) as scheduler:
        await scheduler.finished()


async def run_workers(file: Path, n_workers: int, n_threads: int) -> None:
    address = json.loads(file.read_text())["address"]
    workers = [Worker(address, nthreads=n_threads, dashboard=False) for _ in range(n_workers)]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))


def measure(client: Client, scheduler: psutil.Process, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Passes of three tasks a thread, of one, and of one a worker, in turn."""
    threads, driver = options.workers * options.threads, psutil.Process()
    records: dict[int, dict[str, Any]] = {}
    for _ in range(options.rounds):
        for groups in (3 * threads, threads, options.workers):
            engine = DaskEngine(client, n_tasks=groups, fan_in=FAN_IN)
            before, wall = (_cpu(scheduler), _cpu(driver)), time.perf_counter()
            engine.reduce(_empty, range(groups), None)
            spent = _cpu(scheduler) - before[0], _cpu(driver) - before[1], time.perf_counter() - wall
            one = {"threads": threads, "workers": options.workers, "folds": groups, "tasks": _tasks(groups)}
            one |= dict(zip(("scheduler", "driver", "wall"), spent, strict=True))
            least = records.setdefault(groups, one)
            for key in ("scheduler", "driver", "wall"):
                least[key] = min(least[key], one[key])
    return [one | {"ms_per_task": 1e3 * one["scheduler"] / one["tasks"]} for one in records.values()]


def _tasks(groups: int) -> int:
    """Tasks of a pass: folds, those that combine, and the last."""
    n_tasks, parts = groups + 1, groups
    while parts > FAN_IN:
        parts = -(-parts // FAN_IN)
        n_tasks += parts
    return n_tasks


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--role", choices=["scheduler", "workers"], help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role == "scheduler":
        return asyncio.run(run_scheduler(options.file))
    if options.role == "workers":
        return asyncio.run(run_workers(options.file, options.workers, options.threads))
    with TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder, "scheduler.json")

        def start(role: str, n_workers: int = 0) -> int:
            command = [
                sys.executable,
                "-m",
                "benchmarks.scale.scheduler",
                "--role",
                role,
                "--file",
                str(file),
            ]
            command += ["--workers", str(n_workers), "--threads", str(options.threads)]
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process.pid

        scheduler = start("scheduler")
        while not file.exists():
            time.sleep(0.1)
        for host in range(HOSTS):
            start("workers", options.workers * (host + 1) // HOSTS - options.workers * host // HOSTS)
        client = stack.enter_context(Client(scheduler_file=str(file)))
        client.wait_for_workers(options.workers)
        records = measure(client, psutil.Process(scheduler), options)
    lines = [*records, {"machine": machine(), "command": " ".join(sys.argv[1:])}]
    options.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(*map(json.dumps, records), sep="\n")
    return None


if __name__ == "__main__":
    main()
