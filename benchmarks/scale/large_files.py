"""The command line on files that are larger than the memory it may use: seconds and peak memory of each command.

    large_files.py --rows 5e6 --scratch DIR

Makes a folder of Parquet files with 20 numeric columns, a column of 2,000 categories, a target of two classes and a
numeric one, runs `hornbeam fit`, `predict`, `score` and `report` on it, each in a process of its own, and deletes the
folder. Peak memory is the VmHWM of that process, read from /proc while it runs. Results are JSON lines in
results/large_files.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.output import machine

RESULTS = Path(__file__).parents[1] / "results" / "large_files"
N_FILES = 10
N_NUMBERS = 20
N_MERCHANTS = 2_000


def write(folder: Path, rows: int, group_rows: int = 1 << 20) -> None:
    """Write the rows, a file at a time, in row groups of at most `group_rows`."""
    folder.mkdir(parents=True)
    effect = np.random.default_rng(0).normal(0, 1, N_MERCHANTS)
    for at in range(N_FILES):
        rng = np.random.default_rng([1, at])
        n_rows = rows * (at + 1) // N_FILES - rows * at // N_FILES
        numbers = rng.normal(0, 1, (N_NUMBERS, n_rows)).round(2)
        # A few categories are frequent and most are rare, as in practice.
        merchant = np.minimum(rng.zipf(1.3, n_rows) - 1, N_MERCHANTS - 1 - rng.integers(0, 1_000, n_rows))
        signal = numbers[0] + (numbers[1] > 0) * numbers[2] + 0.5 * effect[merchant]
        target = signal + rng.logistic(0, 1, n_rows) > 1
        names = pa.array([f"merchant {code:04d}" for code in range(N_MERCHANTS)])
        columns = {f"x{column}": pa.array(values) for column, values in enumerate(numbers)}
        columns["merchant"] = pa.DictionaryArray.from_arrays(merchant.astype(np.int32), names).cast(
            pa.string()
        )
        columns["amount"] = pa.array((signal + rng.normal(0, 0.5, n_rows)).round(2))
        columns["target"] = pa.array(np.where(target, "bad", "good"))
        pq.write_table(pa.table(columns), folder / f"part-{at:02d}.parquet", row_group_size=group_rows)


def run(*command: str) -> dict[str, Any]:
    """Run a command of hornbeam in a process of its own: its exit code, wall seconds and peak memory in MB."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "hornbeam", *command], stderr=subprocess.PIPE, text=True
    )
    peak = 0
    while process.poll() is None:
        peak = max(peak, peak_of(process.pid))
        time.sleep(0.05)
    assert process.stderr is not None
    seconds, said = time.perf_counter() - begin, process.stderr.read().strip().splitlines()
    return {
        "exit": process.returncode,
        "seconds": round(seconds, 1),
        "peak_mb": peak * 1024 // 10**6,
        "said": said[-1:],
    }


def peak_of(process: int) -> int:
    """The largest resident memory that a process has had, in kB; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def commands(folder: Path, made: Path, memory: str) -> dict[str, list[str]]:
    """The commands that are measured, by name."""
    model, limit = str(made / "model.hornbeam"), ["--memory", memory]
    data, target = str(folder), ["--target", "target"]
    fit = ["fit", data, *target, "--drop", "amount", *limit, "-o", model]
    return {
        "fit": fit,
        "fit to depth 6": [*fit[:-1], str(made / "small.hornbeam"), "--max-depth", "6"],
        "fit a number": [
            *("fit", data, "--target", "amount", "--drop", "target", *limit, "--max-depth", "8"),
            *("-o", str(made / "number.hornbeam")),
        ],
        "predict": [
            "predict",
            str(made / "small.hornbeam"),
            data,
            "-o",
            str(made / "answers.parquet"),
        ],
        "score": ["score", str(made / "small.hornbeam"), data, *target],
        "report": [
            "report",
            str(made / "small.hornbeam"),
            data,
            *target,
            "-o",
            str(made / "report.html"),
        ],
    }


def main() -> None:
    """Measure every command, or those named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=5_000_000)
    parser.add_argument("--memory", default="512MB")
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--only", help="Commands, with commas between them.")
    parser.add_argument("--keep", action="store_true", help="Leave the folder of rows where it is.")
    parser.add_argument("--json", type=Path, help="Where to add the results.")
    options = parser.parse_args()
    folder, made = options.scratch / f"rows-{options.rows}", options.scratch / "made"
    if not folder.exists():
        write(folder, options.rows)
    made.mkdir(parents=True, exist_ok=True)
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{options.rows:,} rows, {size / 1e6:.0f} MB of Parquet, --memory {options.memory}")
    for name, command in commands(folder, made, options.memory).items():
        if options.only and name not in options.only.split(","):
            continue
        result = run(*command)
        print(
            f"{name:16} {result['seconds']:8.1f} s {result['peak_mb']:8,} MB  exit {result['exit']}  {result['said']}"
        )
        if options.json is not None:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            line = {"command": name, "rows": options.rows, "bytes": size, "memory": options.memory, **result}
            del line["said"]  # it names folders of this machine
            with options.json.open("a") as file:
                file.write(json.dumps(line | {"machine": machine()}) + "\n")
    print(
        "made:",
        ", ".join(f"{file.name} {file.stat().st_size / 1e6:.1f} MB" for file in sorted(made.iterdir())),
    )
    if not options.keep:
        shutil.rmtree(folder)
        shutil.rmtree(made)


if __name__ == "__main__":
    main()
