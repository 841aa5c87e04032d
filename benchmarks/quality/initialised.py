"""Boosting that starts from a forest (`init`), beside boosting and the forest alone.

    python -m benchmarks.quality.initialised --data DIR
    python -m benchmarks.quality.initialised

Every fourth set of 300 to 5,000 rows and up to 10 classes, by two folds: 20 rounds, 20 rounds after a forest of 100
trees, and that forest. A run that was stopped continues with the sets that are missing; without --data only the report
is written.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.output import read_csv
from benchmarks.quality.studies.sets import Entry, Fold, index, load
from hornbeam import BoostedTreesClassifier, ForestClassifier
from hornbeam.evaluation import Comparison, log_loss, probability_rmse

OUT = Path(__file__).parents[1] / "results" / "forest"
MEASURES = {"rmse": probability_rmse, "log_loss": log_loss}
METHODS = {
    "20 rounds after a forest": BoostedTreesClassifier(n_estimators=20, init=ForestClassifier()),
    "20 rounds": BoostedTreesClassifier(n_estimators=20),
    "forest": ForestClassifier(),
}


def scores(entry: Entry) -> list[list[object]]:
    """Score every method on one set."""
    data, rows = replace(load(entry), n_folds=2), []
    for name, method in METHODS.items():
        predicted = np.zeros((len(data.y), len(data.classes)))
        for number in range(2):
            fold = Fold(data, number)
            train, test = fold.frames()
            predicted[fold.test] = fold.spread(method.fit(train, fold.y_train).predict_proba(test))
        labels = range(len(data.classes))
        losses = [f"{measure(data.y, predicted, labels=labels):.5f}" for measure in MEASURES.values()]
        rows.append([entry.name, entry.n_rows, name, *losses])
    return rows


def run(path: Path, folder: Path) -> None:
    """Append the scores of every set that is not in the file yet."""
    done = {row["set"] for row in read_csv(path)} if path.exists() else set()
    entries = [one for one in index(folder) if 300 <= one.n_instances <= 5_000 and one.n_classes <= 10]
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(["set", "rows", "method", *MEASURES])
        for entry in entries[::4]:
            if entry.name not in done:
                writer.writerows(scores(entry))
                file.flush()
                print(entry.name, file=sys.stderr)


def report(path: Path) -> str:
    """Compute means, wins, draws and losses, and sign tests."""
    found = {(row["set"], row["method"]): row for row in read_csv(path)}
    names = tuple(dict.fromkeys(name for name, _ in found))
    text = [f"# Boosting from a forest: {len(names)} sets, two folds", ""]
    for measure in MEASURES:
        losses = np.array([[float(found[name, method][measure]) for method in METHODS] for name in names])
        text += [str(Comparison(tuple(METHODS), names, losses, measure)), ""]
    return "\n".join(text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and write its report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with index.csv and its Parquet files")
    options, path = parser.parse_args(arguments), OUT / "initialised.csv"
    if options.data is not None:
        run(path, options.data)
    (OUT / "initialised.md").write_text(report(path), encoding="utf-8")


if __name__ == "__main__":
    main()
