"""CPU seconds of readable trees and of distillation beside its teacher, one thread.

    python -m benchmarks.speed.readable --data DIR --json FILE

Fits the preset "readable" to 10,000 and to a million synthetic rows of 20 numbers, predicts single rows with the
compiled path, and distills forests of the set adult (with `--data`): each figure is the least of some rounds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.output import machine
from benchmarks.synthetic import make
from benchmarks.timing import Stopwatch, race
from hornbeam import ForestClassifier, TreeClassifier

N_PREDICTIONS = 20_000
SMALL = {"max_leaf_nodes": 16, "max_depth": 7, "slopes": 2}


def fits(rows: int, rounds: int) -> dict[str, Any]:
    """Seconds of a fit to synthetic rows, and of one prediction of its tree."""
    X, y = make(rows)
    model = TreeClassifier("readable", n_jobs=1)
    seconds = least(lambda: model.fit(X, y), rounds)
    predict, row = model.row_predictor(), X[0].tolist()

    def predict_rows() -> None:
        for _ in range(N_PREDICTIONS):
            predict(row)

    return {"rows": rows, "fit": seconds, "one row": least(predict_rows, 5) / N_PREDICTIONS}


def distillation(folder: Path, rounds: int) -> dict[str, Any]:
    """Seconds of a forest with out-of-bag probabilities, and of distilling it."""
    X = pd.read_parquet(folder / "adult.parquet")
    y = X.pop("target")
    teacher = ForestClassifier(n_jobs=1, oob_score=True)

    def teach(watch: Stopwatch) -> dict[str, object]:
        with watch("teacher"):
            teacher.fit(X, y)
        with watch("16 leaves"):
            TreeClassifier(teacher=teacher, n_jobs=1, **SMALL).fit(X, y)
        with watch("any size"):
            tree = TreeClassifier(teacher=teacher, n_jobs=1).fit(X, y)
        return {"leaves": tree.tree_.n_leaves}

    result = race({"hornbeam": teach}, repeats=rounds)["hornbeam"]
    parts = {part: lap.cpu for part, lap in result.parts.items()}
    return {"set": "adult", "rows": len(y), **parts, **result.facts}


def least(work: Callable[[], Any], rounds: int) -> float:
    """The least CPU seconds of some rounds."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    options = parser.parse_args()
    records = [fits(10_000, options.rounds), fits(1_000_000, 1)]
    if options.data:
        records.append(distillation(options.data, options.rounds))
    records.append({"command": "python -m benchmarks.speed.readable --data DIR", **machine()})
    lines = "".join(json.dumps(record) + "\n" for record in records)
    print(lines, end="")
    if options.json:
        options.json.write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
