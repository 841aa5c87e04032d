"""Least number of rows of a branch of missing values: log loss of the default tree on sets with missing values.

    python -m benchmarks.quality.missing_branch --data DIR
    python -m benchmarks.quality.missing_branch

Sets of 150 to 4,000 rows with missing values, up to 10 classes and 60 columns, three folds. Without --data only the
report is written.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.output import read_csv
from benchmarks.quality.studies.sets import Entry, Fold, index, load
from hornbeam.evaluation import Comparison, log_loss
from hornbeam.recipe import PRESETS
from hornbeam.tree.route import route
from hornbeam.tuning.cross_fitted import CrossFitted

OUT = Path(__file__).parents[1] / "results" / "missing"
ROWS, MOST_CLASSES, MOST_COLUMNS, N_FOLDS = (150, 4_000), 10, 60, 3
LIMITS = (0, 3, 5, 10, 20)


def scores(entry: Entry) -> list[list[object]]:
    """Mean log loss and leaves at every limit."""
    data = replace(load(entry), n_folds=N_FOLDS)
    recipe, rows = PRESETS["default"], []
    for limit in LIMITS:
        grower = replace(recipe.grower, min_samples_missing=limit)
        losses, leaves = [], []
        for number in range(N_FOLDS):
            fold = Fold(data, number)
            tree = CrossFitted(replace(recipe, grower=grower)).fit(fold.table(fold.train))
            predicted = fold.spread(tree.belief[route(tree.skeleton, fold.table(fold.test))])
            losses.append(log_loss(fold.y_test, predicted, labels=np.arange(len(data.classes))))
            leaves.append(tree.n_leaves)
        rows.append([entry.name, limit, f"{np.mean(losses):.5f}", f"{np.mean(leaves):.1f}"])
    return rows


def sets_with_missing_values(folder: Path) -> Iterator[Entry]:
    """Yield the sets of the study."""
    least, most = ROWS
    for entry in index(folder):
        if least <= entry.n_instances <= most and entry.n_classes <= MOST_CLASSES:
            X = load(entry).X
            if X.shape[1] <= MOST_COLUMNS and bool(X.isna().to_numpy().any()):
                yield entry


def run(path: Path, folder: Path) -> None:
    """Write the scores of every set with missing values."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["set", "limit", "log_loss", "leaves"])
        for entry in sets_with_missing_values(folder):
            writer.writerows(scores(entry))


def report(path: Path) -> str:
    """Compute means, wins, draws and losses, and sign tests."""
    found = {(row["set"], int(row["limit"])): float(row["log_loss"]) for row in read_csv(path)}
    names = tuple(dict.fromkeys(name for name, _ in found))
    losses = np.array([[found[name, limit] for limit in LIMITS] for name in names])
    methods = tuple(f"{limit} rows" for limit in LIMITS)
    return f"# {len(names)} sets\n\n{Comparison(methods, names, losses, 'log_loss')}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and write its report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with index.csv and its Parquet files")
    options, path = parser.parse_args(arguments), OUT / "missing_branch.csv"
    warnings.simplefilter("ignore")
    OUT.mkdir(parents=True, exist_ok=True)
    if options.data is not None:
        run(path, options.data)
    (OUT / "missing_branch.md").write_text(report(path), encoding="utf-8")


if __name__ == "__main__":
    main()
