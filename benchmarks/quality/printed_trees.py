"""Three readable trees in print, with the losses of larger models beside them.

    python -m benchmarks.quality.printed_trees --data DIR      # adult: one of ten folds; the others: all ten
    python -m benchmarks.quality.printed_trees --data DIR heart-statlog
    python -m benchmarks.quality.printed_trees --write         # the tables and trees of docs/guide/three-trees.md

A printed tree is fitted to the training rows of the first fold, and the row below it is a test row of that fold.
Needs lightgbm and interpret-core.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import markdown, page, read_lines
from benchmarks.quality.studies.sets import Entry, Fold, index, load
from benchmarks.quality.studies.size_peers import ceiling, sized
from hornbeam import TreeClassifier
from hornbeam.evaluation import log_loss, probability_rmse, zero_one_loss
from hornbeam.export import to_text

OUT = Path(__file__).parents[1] / "results" / "printed_trees" / "sets.jsonl"
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "three-trees.md"
SETS = {"adult": 1, "credit-g": 10, "heart-statlog": 10}  # and the number of folds
CLASSES = {"heart-statlog": ("absent", "present")}  # of the disease; in the file they are 1 and 2
PRINTED = "readable, 6 leaves"
TREES = {
    PRINTED: {"preset": "readable", "max_leaf_nodes": 6},
    "readable, 16 leaves": {"preset": "readable"},
    "default tree": {},
}
LOSSES = {"RMSE": probability_rmse, "log loss": log_loss, "0-1 loss": zero_one_loss}
NUMERIC = ("forest-100", "lightgbm")  # get categories as a column each; EBM gets the frame
PEERS = {
    "forest-100": "forest of 100 trees (scikit-learn)",
    "lightgbm": "LightGBM",
    "ebm": "EBM (InterpretML)",
}


def measure(entry: Entry) -> dict[str, Any]:
    """The losses of all models on a set, and the printed tree of its first fold."""
    data = load(entry)
    classes, labels = np.array(CLASSES.get(entry.name, data.classes)), np.arange(len(data.classes))
    found: dict[str, list[dict[str, float | None]]] = {}
    printed: dict[str, str] = {}
    for number in range(SETS[entry.name]):
        fold = Fold(data, number)
        (X, X_test), y = fold.frames(), classes[fold.y_train]
        answers: dict[str, tuple[Any, int | None]] = {}
        for name, parameters in TREES.items():
            model = TreeClassifier(**parameters).fit(X, y)
            answers[name] = model.predict_proba(X_test), model.tree_.n_leaves
            if name == PRINTED and number == 0:
                printed = {"tree": to_text(model), "row": str(model.explain(X_test[:1]))}
        for outcome in sized(ceiling, NUMERIC)(fold, frozenset(NUMERIC)):
            answers[PEERS[outcome.method]] = outcome.probabilities, None
        answers[PEERS["ebm"]] = ceiling("ebm").fit(X, fold.y_train).predict_proba(X_test), None
        for name, (p, leaves) in answers.items():
            losses = {key: score(fold.y_test, p, labels=labels) for key, score in LOSSES.items()}
            found.setdefault(name, []).append({"leaves": leaves, **losses})
    means = {
        name: {key: _mean([one[key] for one in folds]) for key in folds[0]} for name, folds in found.items()
    }
    return {"set": entry.name, "rows": entry.n_rows, "folds": SETS[entry.name], "models": means, **printed}


def _mean(values: list[Any]) -> float | None:
    """The mean over folds; None for a size that a model does not have."""
    return None if values[0] is None else round(float(np.mean(values)), 4)


def parts(record: dict[str, Any]) -> dict[str, str]:
    """The parts of the page about a set: the printed tree, the explained row, the table of losses."""
    name = record["set"]
    rows = [
        [model, f"{one['leaves']:.0f}" if one["leaves"] else "", *(f"{one[key]:.4f}" for key in LOSSES)]
        for model, one in record["models"].items()
    ]
    return {
        f"{name}-tree": f"```text\n{record['tree'].rstrip()}\n```",
        f"{name}-row": f"```text\n{record['row'].rstrip()}\n```",
        f"{name}-losses": markdown(["model", "leaves", *LOSSES], rows, 1),
    }


def read() -> list[dict[str, Any]]:
    """The committed results."""
    return read_lines(OUT)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with index.csv and its Parquet files")
    parser.add_argument("--write", action="store_true", help="write trees and tables into the guide")
    parser.add_argument("names", nargs="*", help="only these sets; the others keep their results")
    options = parser.parse_args()
    if options.data:
        records = {record["set"]: record for record in read()} if OUT.exists() else {}
        OUT.parent.mkdir(exist_ok=True)
        for entry in index(options.data, options.names or list(SETS)):
            records[entry.name] = measure(entry)
            lines = [json.dumps(records[name]) + "\n" for name in SETS if name in records]
            OUT.write_text("".join(lines), encoding="utf-8")
    if options.write:
        text = PAGE.read_text(encoding="utf-8")
        for record in read():
            text = page(text, **parts(record))
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
