"""The default tree with the same whole weight for every row: as it is, and with the copies of a row as a group.

python -m benchmarks.quality.weights --data FOLDER --csv benchmarks/results/weights/scores.csv

FOLDER has UCI sets as Parquet files; those of 150 to 1,100 rows are used, the first of ten folds for the test. The log
loss is that of `TreeClassifier()` without weights, with `sample_weight=5` of every row, and with ``groups="copies"``
beside these weights. The last two are equal since a row is held out with its whole weight (before: 1.689 and .537).
Losses equal to four decimals are a draw of the sign test.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from benchmarks.quality.studies.sets import StudySet, index, load
from hornbeam import TreeClassifier

LEAST_ROWS, MOST_ROWS = 150, 1_100
WEIGHT = 5.0
LEAST = 1e-9  # of a probability
FIELDS = ["set", "rows", "without weights", "weights", "weights and groups"]


def log_loss(data: StudySet, weight: float | None, groups: str | None = None) -> float:
    """Log loss on the first fold of a tree fitted to the others."""
    train, test = data.folds[0]
    weights = None if weight is None else np.full(len(train), weight)
    model = TreeClassifier().fit(data.X.iloc[train], data.y[train], sample_weight=weights, groups=groups)
    found = np.full((len(test), len(data.classes)), LEAST)
    found[:, model.classes_] = model.predict_proba(data.X.iloc[test])
    return float(-np.log(np.maximum(found[np.arange(len(test)), data.y[test]], LEAST)).mean())


def main() -> None:
    """Score all sets, print means and the record, and write the losses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    entries = [entry for entry in index(options.data) if LEAST_ROWS <= entry.n_instances <= MOST_ROWS]
    fits: list[tuple[float | None, str | None]] = [(None, None), (WEIGHT, None), (WEIGHT, "copies")]
    found = np.array([[log_loss(load(entry), *fit) for fit in fits] for entry in entries]).round(4)
    print(dict(zip(FIELDS[2:], found.mean(axis=0).round(4).tolist(), strict=True)))
    better, worse = (found[:, 2] < found[:, 1]).sum(), (found[:, 2] > found[:, 1]).sum()
    p = binomtest(better, better + worse).pvalue
    print(f"{len(entries)} sets: with groups {better}-{worse} against without, p = {p:.2g}")
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        with options.csv.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(FIELDS)
            rows = zip(entries, found.tolist(), strict=True)
            writer.writerows([entry.name, entry.n_instances, *losses] for entry, losses in rows)


if __name__ == "__main__":
    main()
