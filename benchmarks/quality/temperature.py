"""One temperature for the probabilities of a forest, chosen out of bag, and for those of boosted trees.

    python -m benchmarks.quality.temperature forest --data DIR
    python -m benchmarks.quality.temperature boosting --data DIR
    python -m benchmarks.quality.temperature report

`forest` takes every set of up to 10,000 rows, by five folds: a forest of 100 trees at temperature 1 and at the chosen
one, which are the same trees, and scikit-learn's forest of 100. `boosting` takes every fourth set of 300 to 5,000 rows
and up to 10 classes, by two folds: default settings at temperature 1 and at one chosen by five folds of the training
rows (six fits instead of one), and with early stopping at temperature 1 and at one chosen by the rows held out for it.
A run that was stopped continues with the sets that are missing.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from benchmarks.output import read_csv
from benchmarks.quality.studies.sets import SEED, Entry, Fold, index, load
from hornbeam import BoostedTreesClassifier, ForestClassifier
from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.trainer import RowSampler
from hornbeam.ensembles.temperature import apply_temperature, choose_temperature
from hornbeam.evaluation import Comparison, log_loss, probability_rmse, zero_one_loss

OUT = Path(__file__).parents[1] / "results" / "forest"
MEASURES = {"rmse": probability_rmse, "log_loss": log_loss, "zero_one_loss": zero_one_loss}
N_TREES = 100
FOREST_METHODS = ("forest, temperature 1", "forest, temperature chosen", "scikit-learn's forest")
BOOSTING_METHODS = ("boosted", "boosted, five folds", "stopped early", "stopped early, rows held out")
CHOSEN_ON = 2_000  # rows at most of the sets on which distillation's own choice was settled (record 16)
Predicted = tuple[str, NDArray[np.float64], float]


def forest(options: argparse.Namespace) -> None:
    """Score forests at both temperatures, and scikit-learn's."""
    entries = [one for one in index(options.data) if one.n_instances <= 10_000]
    _run(OUT / "temperature.csv", entries, 5, _forests)


def boosting(options: argparse.Namespace) -> None:
    """Score boosted trees at temperature 1 and at temperatures chosen in two ways."""
    entries = [one for one in index(options.data) if 300 <= one.n_instances <= 5_000 and one.n_classes <= 10]
    _run(OUT / "temperature-boosting.csv", entries[::4], 2, _boosted)


def _forests(fold: Fold) -> Iterator[Predicted]:
    train, test = fold.frames()
    ours = ForestClassifier(N_TREES).fit(train, fold.y_train)
    yield FOREST_METHODS[1], ours.predict_proba(test), ours.temperature_
    ours.forest_ = replace(ours.forest_, temperature=1.0)
    yield FOREST_METHODS[0], ours.predict_proba(test), 1.0
    train, test = fold.matrices()
    theirs = RandomForestClassifier(N_TREES, random_state=SEED).fit(train, fold.y_train)
    yield FOREST_METHODS[2], theirs.predict_proba(test), 1.0


def _boosted(fold: Fold) -> Iterator[Predicted]:
    train, test = fold.frames()
    y = np.searchsorted(fold.seen, fold.y_train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may have fewer rows than there are folds
        held_out = cross_val_predict(BoostedTreesClassifier(), train, y, cv=5, method="predict_proba")
    predicted = BoostedTreesClassifier().fit(train, y).predict_proba(test)
    yield from _at_both(BOOSTING_METHODS[:2], predicted, choose_temperature(held_out, y))
    stopped = BoostedTreesClassifier(early_stopping=True).fit(train, y)
    rows = _rows_held_out(Table.read(train, y))
    temperature = choose_temperature(stopped.predict_proba(train.iloc[rows]), y[rows])
    yield from _at_both(BOOSTING_METHODS[2:], stopped.predict_proba(test), temperature)


def _at_both(names: Sequence[str], predicted: NDArray[np.float64], temperature: float) -> Iterator[Predicted]:
    yield names[0], predicted, 1.0
    yield names[1], apply_temperature(predicted, temperature), temperature


def _rows_held_out(table: Table) -> NDArray[np.intp]:
    """The rows that early stopping holds out of a table."""
    bins = Bins.fit(MemorySource(table), LocalEngine(1), max_bins=255)
    drawing = RowSampler.of(table, bins.encode(table, 1), SEED)
    return np.flatnonzero(drawing.held_out(0.1, table.target))


def _run(
    path: Path, entries: list[Entry], n_folds: int, predict: Callable[[Fold], Iterable[Predicted]]
) -> None:
    """Append the scores of every set that is not in the file yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {row["set"] for row in read_csv(path)} if path.exists() else set()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(["set", "rows", "classes", "method", *MEASURES, "temperature"])
        for entry in entries:
            if entry.name not in done:
                writer.writerows(_scores(entry, n_folds, predict))
                file.flush()
                print(entry.name, file=sys.stderr)


def _scores(
    entry: Entry, n_folds: int, predict: Callable[[Fold], Iterable[Predicted]]
) -> Iterator[list[object]]:
    data = replace(load(entry), n_folds=n_folds)
    whole: dict[str, NDArray[np.float64]] = {}
    temperatures: dict[str, list[float]] = {}
    for number in range(n_folds):
        fold = Fold(data, number)
        for method, probabilities, temperature in predict(fold):
            filled = whole.setdefault(method, np.zeros((len(data.y), len(data.classes))))
            filled[fold.test] = fold.spread(probabilities)
            temperatures.setdefault(method, []).append(temperature)
    labels = range(len(data.classes))
    for method, p in whole.items():
        losses = [f"{measure(data.y, p, labels=labels):.5f}" for measure in MEASURES.values()]
        mean = f"{np.mean(temperatures[method]):.3f}"
        yield [entry.name, entry.n_rows, entry.n_classes, method, *losses, mean]


def report(options: argparse.Namespace) -> None:
    """Write the means, and wins, draws and losses with sign tests, from the scores."""
    seen = {row["set"] for row in read_csv(OUT / "scores.csv")}
    rows = read_csv(OUT / "temperature.csv")
    blind = [row for row in rows if int(row["rows"]) > CHOSEN_ON and row["set"] not in seen]
    text = _tables("Forests, sets of up to 10,000 rows, five folds", rows, FOREST_METHODS)
    text += _tables(
        f"Of these, sets of more than {CHOSEN_ON:,} rows that no choice was made on", blind, FOREST_METHODS
    )
    rows = read_csv(OUT / "temperature-boosting.csv")
    text += _tables("Boosted trees, two folds", rows, BOOSTING_METHODS)
    (OUT / "temperature.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


def _tables(title: str, rows: list[dict[str, str]], methods: Sequence[str]) -> list[str]:
    names = tuple(dict.fromkeys(row["set"] for row in rows))
    found = {(row["set"], row["method"]): row for row in rows}
    text = [f"# {title}: {len(names)} sets", ""]
    chosen = [
        method for method in methods if any(found[name, method]["temperature"] != "1.000" for name in names)
    ]
    for method in chosen:
        values = [float(found[name, method]["temperature"]) for name in names]
        quartiles = ", ".join(f"{value:.2f}" for value in np.percentile(values, [0, 25, 50, 75, 100]))
        text += [f"Temperature of {method!r}, mean of the folds: least, quartiles, most {quartiles}.", ""]
    for measure in MEASURES:
        losses = np.array([[float(found[name, method][measure]) for method in methods] for name in names])
        text += [str(Comparison(tuple(methods), names, losses, measure)), ""]
    return text


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a study, or report both."""
    top = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = top.add_subparsers(required=True)
    for run in (forest, boosting):
        command = commands.add_parser(run.__name__, help=run.__doc__)
        command.add_argument(
            "--data", type=Path, required=True, help="folder with index.csv and its Parquet files"
        )
        command.set_defaults(run=run)
    commands.add_parser("report", help=report.__doc__).set_defaults(run=report)
    options = top.parse_args(arguments)
    options.run(options)


if __name__ == "__main__":
    main()
