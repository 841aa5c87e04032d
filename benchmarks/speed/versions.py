"""Measure versions of Hornbeam in turn on one machine: small fits, large fits, one row and the first use.

    python -m benchmarks.speed.versions 636e8e2=old/bin/python new=new/bin/python --json > versions.jsonl

Each version is installed in an environment of its own. Rounds of all versions alternate, each in a new process, and the
least processor seconds of all rounds count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

TO_THE_END = {"criterion": "entropy", "smoothing": None, "pruning": None}
SIZES = (150, 1_000, 10_000, 100_000)
FIRST_USE = """
import gc, time
import sklearn.tree
X, y = [[float(i), float(i % 7)] for i in range(150)], [i % 2 for i in range(150)]
gc.freeze(); gc.disable()
begin = time.process_time()
from hornbeam import TreeClassifier
TreeClassifier().fit(X, y).predict_proba(X[:1])
print(time.process_time() - begin)
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Alternate rounds of all versions; print a line per number, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.versions", description=__doc__)
    parser.add_argument("versions", nargs="+", metavar="NAME=PYTHON")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=SIZES[-1], help="of the largest fit")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    versions = [version.partition("=")[::2] for version in options.versions]
    least: dict[str, dict[str, float]] = {}
    for _ in range(options.rounds):
        for name, python in versions:
            own = least.setdefault(name, {})
            for number, seconds in measured(python, options.rows).items():
                own[number] = min(seconds, own.get(number, seconds))
    if options.json:
        for name, numbers in least.items():
            print(json.dumps({"version": name, "rounds": options.rounds, "cpu_seconds": numbers}))
        return
    print(f"{'CPU ms':24}", *(f"{name:>12}" for name in least))
    for number in next(iter(least.values())):
        print(f"{number:24}", *(f"{1000 * numbers[number]:12.4f}" for numbers in least.values()))


def measured(python: str, rows: int) -> dict[str, float]:
    """The numbers of one version, from new processes."""
    here = str(Path(__file__).resolve())
    output = subprocess.run([python, here, str(rows)], check=True, capture_output=True, text=True).stdout
    numbers: dict[str, float] = json.loads(output)
    first = [
        float(subprocess.run([python, "-c", FIRST_USE], check=True, capture_output=True, text=True).stdout)
        for _ in range(3)
    ]
    return numbers | {"import and first fit": min(first)}


def this_version(rows: int) -> dict[str, float]:
    """Least processor seconds of calls in this process, beside those of scikit-learn."""
    import numpy as np
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    from hornbeam import TreeClassifier

    def data(n: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 20))
        return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)

    found: dict[str, float] = {}
    for n in [size for size in SIZES if size <= rows]:
        X, y = data(n)
        rounds = max(2, min(12, 100_000 // n))
        fits: dict[str, Callable[[], Any]] = {
            f"scikit-learn, {n:,}": DecisionTreeClassifier(criterion="entropy").fit,
            f"to the end, {n:,}": TreeClassifier(**TO_THE_END).fit,
            f"default fit, {n:,}": TreeClassifier().fit,
        }
        found |= {name: seconds(partial(fit, X, y), rounds) for name, fit in fits.items()}
    X, y = data(20_000)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(20)])
    array, framed = (TreeClassifier(max_leaf_nodes=500).fit(rows, y) for rows in (X, frame))
    theirs = DecisionTreeClassifier(max_leaf_nodes=500).fit(X, y)
    row, one = frame.iloc[:1], X[:1]
    found["scikit-learn, one row"] = seconds(lambda: theirs.predict_proba(one), 7, 400)
    found["one row of NumPy"] = seconds(lambda: array.predict_proba(one), 7, 400)
    found["one row of pandas"] = seconds(lambda: framed.predict_proba(row), 5, 100)
    return found


def seconds(call: Callable[[], object], rounds: int, calls: int = 1) -> float:
    """The least processor seconds of a call."""
    best = float("inf")
    for _ in range(rounds):
        begin = process_time()
        for _ in range(calls):
            call()
        best = min(best, (process_time() - begin) / calls)
    return best


if __name__ == "__main__":
    if Path(sys.argv[0]).name == "versions.py" and len(sys.argv) == 2 and sys.argv[1].isdigit():
        warnings.simplefilter("ignore")
        print(json.dumps(this_version(int(sys.argv[1]))))
    else:
        main()
