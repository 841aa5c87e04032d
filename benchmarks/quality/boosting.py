"""Boosted trees at their defaults on few rows, beside the default tree and LightGBM with early stopping.

    python -m benchmarks.quality.boosting --data DIR
    python -m benchmarks.quality.boosting

Sets of 150 to 2,000 rows with up to 10 classes, and at most 100,000 rows times columns times trees per round; two
random splits of 70 to 30. LightGBM: rate 0.05, up
to 2,000 rounds, 15 % of the training rows held out, 40 rounds of patience; it is told which columns are nominal. The
defaults were chosen on the sets of `CHOSEN_ON` by another split; the others were not looked at before.
Two larger sets, 10,000 rows for training, check that nothing changes there. A run that was stopped continues with the
sets that are missing; without --data only the report is written.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.output import read_csv
from benchmarks.quality.studies.sets import Entry, StudySet, index, load
from hornbeam import BoostedTreesClassifier, TreeClassifier
from hornbeam.evaluation import Comparison, log_loss

OUT = Path(__file__).parents[1] / "results" / "boosting"
ROWS, MOST_CLASSES, MOST_CELLS = (150, 2_000), 10, 100_000
CHOSEN_ON = frozenset(
    [
        "autos",
        "blood-transfusion",
        "breast-cancer",
        "chronic-kidney",
        "climate-crashes",
        "credit-a",
        "flags",
        "hcv",
        "heart-c",
        "hepatitis",
        "ilpd",
        "iris",
        "liver-disorders",
        "mammographic",
        "maternal-risk",
        "messidor",
        "monks-1",
        "monks-3",
        "new-thyroid",
        "seeds",
        "spectf",
        "thoracic-surgery",
        "vertebral-3c",
        "website-phishing",
        "wine",
        "wpbc",
    ]
)
LARGE, TRAINING_ROWS = ("adult", "magic"), 10_000
N_SPLITS = 2
METHODS = ("boosted", "boosted, 100 rounds", "tree", "LightGBM, stopped early")
Labels = NDArray[np.intp]
Predicted = NDArray[np.float64]


def predict(method: str, train: pd.DataFrame, y: Labels, test: pd.DataFrame) -> Predicted:
    """Fit one method, and predict the test rows."""
    if method == METHODS[3]:
        return _lightgbm(train, y, test)
    model = {
        METHODS[0]: BoostedTreesClassifier(),
        METHODS[1]: BoostedTreesClassifier(early_stopping=False),
        METHODS[2]: TreeClassifier(),
    }[method]
    return np.asarray(model.fit(train, y).predict_proba(test))


def _lightgbm(train: pd.DataFrame, y: Labels, test: pd.DataFrame) -> Predicted:
    import lightgbm

    single = np.bincount(y)[y] < 2  # stays with the training rows
    rows = np.flatnonzero(~single)
    fit, held = train_test_split(rows, test_size=0.15, random_state=0, stratify=y[rows])
    fit = np.append(fit, np.flatnonzero(single))
    model = lightgbm.LGBMClassifier(n_estimators=2_000, learning_rate=0.05, n_jobs=1, verbose=-1)
    stop = lightgbm.early_stopping(40, verbose=False)
    model.fit(
        train.iloc[fit],
        y[fit],
        eval_set=[(train.iloc[held], y[held])],
        eval_metric="logloss",
        callbacks=[stop],
    )
    return np.asarray(model.predict_proba(test))


def scores(data: StudySet, n_train: int | float) -> list[list[object]]:
    """Mean log loss and CPU seconds of every method on one set."""
    losses, seconds = np.zeros((2, N_SPLITS, len(METHODS)))
    common = np.bincount(data.y)[data.y] > 2
    rows = np.flatnonzero(common)  # classes of one or two rows cannot be split
    for split in range(N_SPLITS):
        train, test = train_test_split(rows, train_size=n_train, random_state=split, stratify=data.y[rows])
        labels = np.unique(data.y[train])
        y, y_test = (np.searchsorted(labels, data.y[part]) for part in (train, test))
        for at, method in enumerate(METHODS):
            began = time.process_time()
            p = predict(method, data.X.iloc[train], y, data.X.iloc[test])
            seconds[split, at] = time.process_time() - began
            losses[split, at] = log_loss(y_test, p, labels=np.arange(len(labels)))
    return [
        [data.name, len(data.y), method, f"{loss:.5f}", f"{cpu:.2f}"]
        for method, loss, cpu in zip(METHODS, losses.mean(axis=0), seconds.mean(axis=0), strict=True)
    ]


def small(folder: Path) -> list[Entry]:
    """The sets of the study, smallest first."""
    least, most = ROWS
    entries = [one for one in index(folder) if least <= one.n_instances <= most]
    return [one for one in entries if one.n_classes <= MOST_CLASSES and _cells(one) <= MOST_CELLS]


def _cells(entry: Entry) -> int:
    trees = entry.n_classes if entry.n_classes > 2 else 1
    return int(load(entry).X.size) * trees


def run(path: Path, folder: Path) -> None:
    """Append the scores of every set that is not in the file yet."""
    done = {row["set"] for row in read_csv(path)} if path.exists() else set()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(["set", "rows", "method", "log_loss", "seconds"])
        for entry in [*small(folder), *index(folder, list(LARGE))]:
            if entry.name not in done:
                writer.writerows(scores(load(entry), TRAINING_ROWS if entry.name in LARGE else 0.7))
                file.flush()
                print(entry.name, file=sys.stderr)


def report(path: Path) -> str:
    """Compute means, wins, draws and losses, and sign tests."""
    found = {(row["set"], row["method"]): row for row in read_csv(path)}
    names = [name for name in dict.fromkeys(name for name, _ in found) if name not in LARGE]
    text = []
    blind = [name for name in names if name not in CHOSEN_ON]
    for title, part in (("all", names), ("sets that no choice was made on", blind)):
        losses = np.array([[float(found[name, method]["log_loss"]) for method in METHODS] for name in part])
        text += [f"# Boosting on few rows, {title}: {len(part)} sets", ""]
        text += [str(Comparison(METHODS, tuple(part), losses, "log_loss")), ""]
    text += [
        f"# {TRAINING_ROWS:,} training rows",
        "",
        "| set | method | log loss | CPU seconds |",
        "|---|---|--:|--:|",
    ]
    text += [
        f"| {name} | {method} | {row['log_loss']} | {row['seconds']} |"
        for (name, method), row in found.items()
        if name in LARGE
    ]
    seconds = {
        method: np.mean([float(found[name, method]["seconds"]) for name in names]) for method in METHODS
    }
    text += [
        "",
        "Mean CPU seconds, small sets: " + ", ".join(f"{m} {s:.2f}" for m, s in seconds.items()) + ".",
        "",
    ]
    return "\n".join(text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and write its report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with index.csv and its Parquet files")
    options, path = parser.parse_args(arguments), OUT / "few_rows.csv"
    warnings.simplefilter("ignore")
    if options.data is not None:
        run(path, options.data)
    (OUT / "few_rows.md").write_text(report(path), encoding="utf-8")


if __name__ == "__main__":
    main()
