"""Size of the default tree and its loss on new rows, for several values of `tolerance`.

    python -m benchmarks.quality.tolerance --data DIR      # sets of 500 to 1,999 rows, five of ten folds
    python -m benchmarks.quality.tolerance --write         # the table of docs/guide/smoothing.md, from the results

The increase is that of the mean log loss of the test rows over that of `tolerance=0`.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.pages import markdown, read_lines, write_tables
from benchmarks.quality.studies.sets import Entry, index, load
from hornbeam import TreeClassifier
from hornbeam.evaluation import log_loss

OUT = Path(__file__).parents[1] / "results" / "tolerance" / "sets.jsonl"
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "smoothing.md"
TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
ROWS, N_FOLDS = (500, 1_999), 5


def measure(entry: Entry) -> dict[str, Any]:
    """Mean leaves and log loss of a set at every tolerance."""
    data = load(entry)
    leaves, loss = np.zeros((2, N_FOLDS, len(TOLERANCES)))
    for fold, (train, test) in enumerate(data.folds[:N_FOLDS]):
        for at, tolerance in enumerate(TOLERANCES):
            model = TreeClassifier(tolerance=tolerance).fit(data.X.iloc[train], data.y[train])
            # A class may be missing in the training rows.
            probabilities = np.zeros((len(test), len(data.classes)))
            probabilities[:, model.classes_] = model.predict_proba(data.X.iloc[test])
            leaves[fold, at] = model.tree_.n_leaves
            loss[fold, at] = log_loss(data.y[test], probabilities, labels=np.arange(len(data.classes)))
    means = {"leaves": leaves.mean(axis=0).round(1), "log loss": loss.mean(axis=0).round(5)}
    return {
        "set": entry.name,
        "rows": entry.n_rows,
        **{name: values.tolist() for name, values in means.items()},
    }


def table(records: list[dict[str, Any]]) -> str:
    """One row per tolerance: sizes, and increases of the loss on test rows."""
    leaves, loss = (np.array([record[name] for record in records]) for name in ("leaves", "log loss"))
    increase = loss / loss[:, :1] - 1
    rows = [
        [
            f"{tolerance:.0%}".replace("%", " %"),
            f"{median(leaves[:, at]):.0f}",
            f"{median(leaves[:, at] / leaves[:, 0]):.2f}",
            f"{100 * median(increase[:, at]):.1f} %",
            f"{100 * increase[:, at].mean():.1f} %",
            f"{(increase[:, at] <= tolerance).sum()}",
        ]
        for at, tolerance in enumerate(TOLERANCES)
    ]
    head = ["`tolerance`", "leaves, median", "share of the default's", "increase on new rows, median", "mean"]
    return markdown([*head, f"sets within it, of {len(records)}"], rows)


def read() -> list[dict[str, Any]]:
    """Read the committed results."""
    return read_lines(OUT)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--write", action="store_true", help="put the table into the guide")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.data is not None:
        OUT.parent.mkdir(parents=True, exist_ok=True)
        entries = [entry for entry in index(options.data) if ROWS[0] <= entry.n_rows <= ROWS[1]]
        with OUT.open("w", encoding="utf-8") as file:
            for entry in entries:
                file.write(json.dumps(measure(entry)) + "\n")
                file.flush()
    print(table(read()))
    if options.write:
        write_tables(PAGE, tolerances=table(read()))


if __name__ == "__main__":
    main()
