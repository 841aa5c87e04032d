"""Peak memory of each way to use files, each in a process of its own, beside what docs/scale.md says.

    python -m benchmarks.scale.memory --rows 2e6,8e6 --scratch DIR           measure, by ``/usr/bin/time -v``
    python -m benchmarks.scale.memory --write                                put the table into docs/scale.md

The rows are those of `large_files`: 20 numbers, a column of 2,000 categories, two classes and a number, in row groups
of 262,144 rows. One thread and ``memory=2**28``, so that rows of both sizes do not fit. Results are JSON lines.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Any

from benchmarks.output import machine
from benchmarks.pages import write_tables
from benchmarks.scale.cost_model import PAGE
from benchmarks.scale.large_files import N_NUMBERS, write

RESULTS = Path(__file__).parents[1] / "results" / "scale" / "memory.jsonl"
MEMORY, GROUP_ROWS, DEPTH, TREES = 2**28, 2**18, 8, 8
FEATURES = N_NUMBERS + 1
ROW_BYTES = 8 * N_NUMBERS + 4 + 12  # of a row in memory, as `hornbeam.out_of_core.plan.bytes_per_row` has it
CLASSES, NUMBERS = "target", "amount"


# ---- the ways ------------------------------------------------------------------------------------------


def nothing(folder: Path) -> None:
    """Imports, opening the files, and a small model."""
    small(folder)


def tree(folder: Path) -> None:
    from hornbeam import TreeClassifier

    TreeClassifier(max_depth=DEPTH).fit(opened(folder), memory=MEMORY)


def tree_of_sample(folder: Path) -> None:
    from hornbeam import TreeClassifier

    rows = opened(folder)
    TreeClassifier(max_depth=DEPTH).fit(rows, grow_rows=MEMORY // ROW_BYTES, memory=MEMORY)


def regression_tree(folder: Path) -> None:
    from hornbeam import TreeRegressor

    TreeRegressor(max_depth=DEPTH).fit(opened(folder, numeric=True), memory=MEMORY)


def forest(folder: Path) -> None:
    from hornbeam import ForestClassifier

    ForestClassifier(TREES, max_depth=DEPTH).fit(opened(folder), memory=MEMORY)


def readable(folder: Path) -> None:
    from hornbeam import TreeClassifier

    TreeClassifier("readable").fit(opened(folder), memory=MEMORY)


def predict_to(folder: Path) -> None:
    target = folder.parent / "predictions"
    small(folder).predict_to(str(folder), str(target))
    rmtree(target)


def score(folder: Path) -> None:
    from hornbeam.evaluation import scores

    model = small(folder)
    scores(model, opened(folder))


def candidates(folder: Path) -> None:
    from hornbeam.explain.candidates.list_splits import candidate_splits

    candidate_splits(small(folder), opened(folder), None)


def opened(folder: Path, *, numeric: bool = False) -> Any:
    """The files as a source of all features."""
    from hornbeam.data.files.parquet import scan_parquet
    from hornbeam.data.schema import Kind

    features = [*(f"x{number}" for number in range(N_NUMBERS)), "merchant"]
    target, kind = (NUMBERS, Kind.NUMERIC) if numeric else (CLASSES, Kind.NOMINAL)
    return scan_parquet(folder, target=target, target_kind=kind, features=features)


def small(folder: Path) -> Any:
    """A tree of 20,000 rows, with all rows counted."""
    from hornbeam import TreeClassifier

    return TreeClassifier(max_depth=DEPTH).fit(opened(folder), grow_rows=20_000, memory=MEMORY)


WAYS: dict[str, Callable[[Path], None]] = {
    "imports, 20,000 rows grown on, all counted": nothing,
    "tree, all rows": tree,
    "tree, sample": tree_of_sample,
    "regression tree, all rows": regression_tree,
    "forest": forest,
    "preset readable": readable,
    "predict_to": predict_to,
    "score": score,
    "candidate_splits": candidates,
}
COMMAND = "hornbeam fit"


# ---- measuring -----------------------------------------------------------------------------------------


def measure(name: str, folder: Path) -> dict[str, Any]:
    """Run one way; its peak memory and processor seconds."""
    if name == COMMAND:
        model = folder.parent / "model.hornbeam"
        run = ["-m", "hornbeam", "fit", str(folder), "--target", CLASSES, "--drop", NUMBERS]
        run += ["--memory", f"{MEMORY // 2**20}MiB", "--max-depth", str(DEPTH), "-o", str(model)]
    else:
        run = ["-m", "benchmarks.scale.memory", "--way", name, "--scratch", str(folder)]
    timed = subprocess.run(
        ["/usr/bin/time", "-v", sys.executable, *run], check=False, capture_output=True, text=True
    )
    if timed.returncode:
        raise SystemExit(f"{name}: {timed.stderr}")
    figures = {
        key: float(re.search(rf"{text}: ([\d.]+)", timed.stderr)[1])  # type: ignore[index]
        for key, text in {
            "peak_kb": r"Maximum resident set size \(kbytes\)",
            "user": r"User time \(seconds\)",
            "system": r"System time \(seconds\)",
        }.items()
    }
    return {
        "way": name,
        "peak_gb": figures["peak_kb"] * 1024 / 1e9,
        "cpu": figures["user"] + figures["system"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--rows", type=lambda text: [int(float(n)) for n in text.split(",")], default=[2_000_000]
    )
    parser.add_argument("--scratch", type=Path, default=Path(".scale"))
    parser.add_argument("--way", help="run one way in this process, on the files of --scratch")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[*WAYS, COMMAND])
    parser.add_argument("--write", action="store_true", help="put the table into docs/scale.md")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.way:
        WAYS[options.way](options.scratch)
        return
    if options.write:
        write_tables(PAGE, memory=table(options.out))
        return
    records = []
    for rows in options.rows:
        folder = options.scratch.absolute() / f"memory-{rows}"
        if not folder.exists():
            write(folder, rows, GROUP_ROWS)
        for name in options.only:
            records.append({"rows": rows, **measure(name, folder)})
            print(json.dumps(records[-1]), flush=True)
    lines = [*records, {"memory": MEMORY, "machine": machine(), "command": " ".join(sys.argv[1:])}]
    options.out.write_text("".join(json.dumps(line) + "\n" for line in lines))


def documented(way: str, rows: int) -> float:
    """Bytes by the formulas of the section "Memory" of docs/scale.md."""
    open_files = 0.2e9 + 4.5 * 8 * FEATURES * GROUP_ROWS
    by_level = open_files + MEMORY / 2 + min(4 * rows, MEMORY / 2)
    more = {
        "tree, all rows": by_level,
        "regression tree, all rows": by_level,
        COMMAND: by_level,
        "tree, sample": open_files + 2.5 * MEMORY,
        "forest": open_files + 4.5 * MEMORY,
        "preset readable": open_files + 0.15e9,
    }
    return more.get(way, open_files)


def table(path: Path) -> str:
    """A line for each way: measured beside documented."""
    lines = [line for line in map(json.loads, path.read_text().splitlines()) if "way" in line]
    sizes = sorted({line["rows"] for line in lines})
    peaks = {(line["way"], line["rows"]): line["peak_gb"] for line in lines}
    head = " | ".join(f"{n // 10**6}M rows: measured | documented" for n in sizes)
    found = [f"| way | {head} |", "|---|" + "--:|--:|" * len(sizes)]
    for way in dict.fromkeys(line["way"] for line in lines):
        cells = [f"{peaks[way, n]:.2f} | {documented(way, n) / 1e9:.2f}" for n in sizes]
        found.append(f"| {way} | {' | '.join(cells)} |")
    return "\n".join(found)


if __name__ == "__main__":
    main()
