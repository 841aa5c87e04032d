"""What a forced first split costs: the second-best feature at the root of the default tree, and growing on below.

    python -m benchmarks.quality.forced_split --data DIR      # 20 sets, five of ten folds
    python -m benchmarks.quality.forced_split --write         # the table of docs/guide/edit.md, from the results

Candidates are those of the training rows; the losses are means over the test rows of a fold, then over folds.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.pages import markdown, read_lines, write_tables
from benchmarks.quality.studies.sets import Entry, Fold, index, load
from hornbeam import TreeClassifier
from hornbeam.evaluation import log_loss, probability_rmse
from hornbeam.evaluation.comparison import WinDrawLoss

OUT = Path(__file__).parents[1] / "results" / "forced_split" / "sets.jsonl"
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "edit.md"
# fmt: off
SETS = [
    "banknote", "blood-transfusion", "breast-w", "car", "cmc", "credit-a", "credit-g", "heart-statlog", "hepatitis",
    "ilpd", "ionosphere", "mammographic", "messidor", "pima-diabetes", "qsar-biodeg", "sick", "tic-tac-toe", "vote",
    "wdbc", "website-phishing",
]
# fmt: on
N_FOLDS = 5


def measure(entry: Entry) -> dict[str, Any]:
    """Mean log loss, RMSE and leaves of a set: as grown, and with the forced first split."""
    data = load(entry)
    labels = np.arange(len(data.classes))
    found, features = np.zeros((N_FOLDS, 2, 3)), []
    for number in range(N_FOLDS):
        fold = Fold(data, number)
        (X, test), y = fold.frames(), fold.y_train
        grown = TreeClassifier().fit(X, y)
        editor = grown.edit(X, y)
        best, *others = (one for one in editor.candidates(0) if one.rejected is None)
        second = next(one for one in others if one.column != best.column)
        editor.split(0, second)
        forced = TreeClassifier(forced_splits=editor.tree).fit(X, y)
        features.append((best.feature, second.feature))
        for at, model in enumerate((grown, forced)):
            p = fold.spread(model.predict_proba(test))
            loss = log_loss(fold.y_test, p, labels=labels), probability_rmse(fold.y_test, p)
            found[number, at] = *loss, model.tree_.n_leaves
    means = found.mean(axis=0).round(5).tolist()
    return {
        "set": entry.name,
        "rows": entry.n_rows,
        "grown": means[0],
        "forced": means[1],
        "root": features[0],
    }


def table(records: list[dict[str, Any]]) -> str:
    """One row per set, then the median increase and the sign test."""
    head = ["set", "rows", "first split, and forced", "log loss", "forced", "leaves", "forced"]
    rows = [
        [one["set"], f"{one['rows']:,}", " / ".join(one["root"])]
        + [f"{one[kind][0]:.4f}" for kind in ("grown", "forced")]
        + [f"{one[kind][2]:.0f}" for kind in ("grown", "forced")]
        for one in records
    ]
    return markdown(head, rows, 3)


def summary(records: list[dict[str, Any]]) -> str:
    """The increase of the losses in one sentence."""
    grown, forced = (np.array([one[kind] for one in records]) for kind in ("grown", "forced"))
    increase = forced[:, 0] / grown[:, 0] - 1
    worse, better = int((increase > 0).sum()), int((increase < 0).sum())
    return (
        f"On {len(records)} sets the log loss of new rows rises by {median(increase):.1%} in the median and by at most "
        f"{increase.max():.1%}; it is higher on {worse} sets and lower on {better} "
        f"(sign test: p = {WinDrawLoss(worse, 0, better).p:.3f})."
    ).replace("%", " %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with index.csv and its Parquet files")
    parser.add_argument("--write", action="store_true", help="write the table into the guide")
    options = parser.parse_args()
    if options.data:
        entries = index(options.data, SETS)
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text("".join(json.dumps(measure(entry)) + "\n" for entry in entries), encoding="utf-8")
    if options.write:
        records = read_lines(OUT)
        parts = {"forced": f"{summary(records)}\n\n{table(records)}"}
        write_tables(PAGE, **parts)


if __name__ == "__main__":
    main()
