"""The benchmarks that need a new process each: start and memory.

Run as a script, this module is that new process: ``python fresh.py peak '{...}'`` prints a JSON result.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.output import Report
from benchmarks.speed.in_process import GROWERS, chosen
from benchmarks.speed.peers import YDF, Hornbeam, Job, LightGBM, Peer, Sklearn, XGBoost
from benchmarks.synthetic import make
from benchmarks.timing import Stopwatch

STARTERS = (Hornbeam, Sklearn, LightGBM, XGBoost, YDF)

IMPORT = """
import json, time
{before}
begin = time.process_time()
{statement}
print(json.dumps(time.process_time() - begin))
"""


def start(options: Namespace, report: Report) -> None:
    """CPU seconds in a new process: the import, alone and on top of scikit-learn's, and the first fits."""
    for peer in chosen(STARTERS, options.peers):
        scripts = {
            "import_cpu": ("-c", IMPORT.format(before="", statement=peer.entry)),
            "import_over_sklearn": ("-c", IMPORT.format(before="import sklearn", statement=peer.entry)),
            "fits": _self("first_fits", peer, options),
        }
        try:
            _python(*scripts["fits"])  # not timed: compiles modules and fills the disk cache
            found = {
                name: [_python(*script) for _ in range(options.repeats)] for name, script in scripts.items()
            }
        except RuntimeError as error:
            report.add_error(peer.name, str(error))
            continue
        fits = found.pop("fits")
        report.add(
            peer.name,
            **{name: min(seconds) for name, seconds in found.items()},
            first_fit=min(first for first, _ in fits),
            second_fit=min(second for _, second in fits),
            first_minus_second=min(first - second for first, second in fits),
        )


def memory(options: Namespace, report: Report) -> None:
    """Peak memory that a fit adds to the data it is given, against 1.25 times the binned size + 0.5 GB."""
    limit = options.rows * options.features * 1.25 / 1e9 + 0.5
    for peer in chosen(GROWERS, options.peers or [Hornbeam.name]):
        try:
            found = _python(*_self("peak", peer, options))
        except RuntimeError as error:
            report.add_error(peer.name, str(error))
        else:
            report.add(peer.name, **found, limit_gb=limit, within=found["growth_gb"] <= limit)


def first_fits(peer: str, shape: list[int], job: dict[str, Any]) -> list[float]:
    """CPU seconds of the first and of the second fit of this process."""
    runner = chosen(GROWERS, [peer])[0](Job(**job))
    X, y = make(*shape)
    watch = Stopwatch()
    for fit in ("first", "second"):
        with watch(fit):
            runner.fit(X, y)
    return [watch.parts["first"].cpu, watch.parts["second"].cpu]


def peak(peer: str, shape: list[int], job: dict[str, Any]) -> dict[str, Any]:
    """Memory before a fit and how far above it the fit went."""
    runner = chosen(GROWERS, [peer])[0](Job(**job))
    runner.fit(*make(500, shape[1], shape[2]))
    X, y = make(*shape)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the data
    before = _status("VmRSS")
    watch = Stopwatch()
    with watch("fit"):
        model = runner.fit(X, y)
    growth = _status("VmHWM") - before
    return {
        "growth_gb": growth,
        "data_gb": X.nbytes / 1e9,
        "cpu": watch.total.cpu,
        "wall": watch.total.wall,
        "leaves": runner.n_leaves(model),
    }


def _status(name: str) -> float:
    """Gigabytes from this process's page of the kernel (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024 / 1e9


def _self(task: str, peer: type[Peer], options: Namespace) -> tuple[str, str, str]:
    """Arguments that make a new process run one of the functions above."""
    shape = (options.rows, options.classes, options.features)
    job = asdict(Job(options.classes, options.depth, threads=options.threads))
    return (
        "-m",
        "benchmarks.speed.new_process",
        task,
        json.dumps({"peer": peer.name, "shape": shape, "job": job}),
    )


def _python(*arguments: str) -> Any:
    # A user's modules are compiled once, so ours must not be compiled in every process that we time.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        complaint = done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"]
        remedy = ": pip install hornbeam[bench]" if "No module named" in complaint[-1] else ""
        raise RuntimeError(complaint[-1] + remedy)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    print(json.dumps({"first_fits": first_fits, "peak": peak}[sys.argv[1]](**json.loads(sys.argv[2]))))
