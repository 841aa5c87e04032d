"""AdaBoost beside scikit-learn's: the same votes over the same trees, errors over its own trees, and CPU seconds.

    python -m benchmarks.quality.adaboost --data DIR
    python -m benchmarks.quality.adaboost

Forty sets of 100 to 5,000 rows, up to 10 classes and no missing number, which scikit-learn's AdaBoost refuses; the
first of ten folds, 50 stumps, columns as numbers. A run that was stopped continues with the sets that are missing;
without --data only the report is written.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

from benchmarks.output import read_csv
from benchmarks.pages import markdown
from benchmarks.quality.studies.sets import Entry, Fold, index, load
from hornbeam import AdaBoostClassifier, TreeClassifier
from hornbeam.evaluation import Comparison

OUT = Path(__file__).parents[1] / "results" / "adaboost"
N_SETS, N_TREES = 40, 50
OURS, SAME_TREES, THEIRS = "hornbeam", "scikit-learn, trees of Hornbeam", "scikit-learn"
METHODS = {
    OURS: AdaBoostClassifier(N_TREES),
    SAME_TREES: SklearnAdaBoost(TreeClassifier("cart", max_depth=1), n_estimators=N_TREES),
    THEIRS: SklearnAdaBoost(
        DecisionTreeClassifier(max_depth=1, random_state=0), n_estimators=N_TREES, random_state=0
    ),
}
HEAD = ["set", "rows", "classes", "method", "error", "fit_cpu", "predict_cpu", "trees", "as_ours"]


def scores(entry: Entry, turns: int) -> list[list[object]]:
    """Fit every method in turns; the error on the test rows, the least CPU seconds, and predictions as ours."""
    fold = Fold(load(entry), 0)
    train, test = (rows.astype(float) for rows in fold.matrices())
    seconds = {name: np.full(2, np.inf) for name in METHODS}
    predicted: dict[str, Any] = {}
    for _ in range(turns):
        for name, method in METHODS.items():
            start = process_time()
            method.fit(train, fold.y_train)
            fitted = process_time()
            predicted[name] = method.predict(test)
            seconds[name] = np.minimum(seconds[name], [fitted - start, process_time() - fitted])
    return [
        [
            entry.name,
            len(load(entry).y),
            len(fold.seen),
            name,
            f"{(predicted[name] != fold.y_test).mean():.6f}",
            *(f"{second:.5f}" for second in seconds[name]),
            len(METHODS[name].estimator_weights_.nonzero()[0]),
            int((predicted[name] == predicted[OURS]).all()),
        ]
        for name in METHODS
    ]


def run(path: Path, folder: Path, turns: int) -> None:
    """Append the scores of every set that is not in the file yet."""
    done = {row["set"] for row in read_csv(path)} if path.exists() else set()
    entries = [
        one
        for one in index(folder)
        if 100 <= one.n_instances <= 5_000 and one.n_classes <= 10 and not np.isnan(load(one).matrix).any()
    ]
    chosen = [entries[at] for at in np.linspace(0, len(entries) - 1, N_SETS).astype(int)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(HEAD)
        for entry in chosen:
            if entry.name not in done:
                writer.writerows(scores(entry, turns))
                file.flush()


def report(path: Path) -> str:
    """The table, and how often the predictions are the same."""
    rows = read_csv(path)
    sets = tuple(dict.fromkeys(row["set"] for row in rows))

    def column(name: str) -> np.ndarray[Any, Any]:
        return np.array([float(row[name]) for row in rows]).reshape(len(sets), len(METHODS))

    errors = Comparison(tuple(METHODS), sets, column("error"), "error")
    fit, predict, same = (column(name) for name in ("fit_cpu", "predict_cpu", "as_ours"))
    lines = []
    for at, name in enumerate(METHODS):
        record = "" if name == OURS else str(errors.record(OURS, name))
        ratio = "" if name == OURS else f"{np.median(fit[:, at] / fit[:, 0]):.1f}"
        lines.append(
            [
                name,
                f"{errors.of(name).mean():.4f}",
                record,
                f"{int(same[:, at].sum())}",
                f"{1e3 * np.median(fit[:, at]):.0f}",
                ratio,
                f"{1e3 * np.median(predict[:, at]):.1f}",
            ]
        )
    head = ["method", "error, mean", "ours against it", "sets with our predictions", "fit, CPU ms: median"]
    table = markdown([*head, "times ours: median", "predict, CPU ms: median"], lines)
    return (
        f"# AdaBoost\n\n{len(sets)} sets, the first of ten folds, {N_TREES} stumps; "
        "`python -m benchmarks.quality.adaboost --data DIR`. Wins, draws and losses are those of Hornbeam in errors on "
        f"the test rows.\n\n{table}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with index.csv and its Parquet files")
    parser.add_argument(
        "--turns", type=int, default=3, help="fits of each method, of which the fastest counts"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the results")
    options = parser.parse_args(arguments)
    path = options.out / "scores.csv"
    if options.data is not None:
        run(path, options.data, options.turns)
    text = report(path)
    (options.out / "summary.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
