"""Forests beside scikit-learn's: how fast they are, how good, and what smoothing does to them.

    python -m benchmarks.quality.forest speed --rows 100000 --trees 100 --threads 2
    python -m benchmarks.quality.forest study --data DIR
    python -m benchmarks.quality.forest figure4

`study` scores every size of forest on a third of the sets of 150 to 7,000 rows by fivefold cross-validation;
`figure4` draws the figure of the HGS paper from it: the mean RMSE by the number of trees, raw and smoothed.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier

from benchmarks.output import read_csv
from benchmarks.quality.studies import forests
from benchmarks.quality.studies.sets import Entry, Fold, index, load
from benchmarks.synthetic import make
from benchmarks.timing import Runner, Stopwatch, race
from hornbeam import ForestClassifier
from hornbeam.evaluation import Comparison, log_loss, probability_rmse, zero_one_loss

OUT = Path(__file__).parents[1] / "results" / "forest"
N_FOLDS = 5
MEASURES = {"rmse": probability_rmse, "log_loss": log_loss, "zero_one_loss": zero_one_loss}


def speed(options: argparse.Namespace) -> None:
    """Fit and ask both, taking turns; CPU seconds of the process, all threads together."""
    X, y = make(options.rows, options.classes, options.features)
    asked, _ = make(options.rows, options.classes, options.features, seed=1)

    def runner(make_forest: type) -> Runner:
        def run(watch: Stopwatch) -> dict[str, object]:
            forest = make_forest(options.trees, random_state=0, n_jobs=options.threads)
            with watch("fit"):
                forest.fit(X, y)
            with watch("predict", extra=True):
                forest.predict_proba(asked)
            return {}

        return run

    peers = {"hornbeam": ForestClassifier, "scikit-learn": RandomForestClassifier}
    results = race({name: runner(peer) for name, peer in peers.items()}, repeats=options.repeats)
    lines = []
    for name, result in results.items():
        parts = {part: {"cpu": lap.cpu, "wall": lap.wall} for part, lap in result.parts.items()}
        lines.append({"peer": name, **parts, "cpu_per_tree": parts["fit"]["cpu"] / options.trees})
    ours, theirs = lines
    ratios = {part: theirs[part]["cpu"] / ours[part]["cpu"] for part in ("fit", "predict")}
    asked_for = {name: getattr(options, name) for name in ("rows", "classes", "features", "trees", "threads")}
    about = {"python": platform.python_version(), "scikit-learn": sklearn.__version__}
    lines.append({"ratios": ratios, **asked_for, **about})
    _write_lines(OUT / "speed.jsonl", lines)


def study(options: argparse.Namespace) -> None:
    """Score every method and size on every set; what is there already is not done again."""
    entries = [one for one in index(options.data) if 150 <= one.n_instances <= 7000 and one.n_classes <= 30]
    path = OUT / "scores.csv"
    done = {row["set"] for row in _scores()} if path.exists() else set()
    OUT.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(["set", "rows", "classes", "method", "size", *MEASURES])
        for entry in entries[:: options.every]:
            if entry.name not in done:
                writer.writerows(_score(entry))
                file.flush()
                print(entry.name, file=sys.stderr)


def _score(entry: Entry) -> list[list[object]]:
    data = replace(load(entry), n_folds=N_FOLDS)
    said: dict[tuple[str, int], np.ndarray] = {}
    for number in range(N_FOLDS):
        fold = Fold(data, number)
        for method, size, probabilities in forests.answers(fold):
            whole = said.setdefault((method, size), np.zeros((len(data.y), len(data.classes))))
            whole[fold.test] = fold.spread(probabilities)
    labels = range(len(data.classes))
    return [
        [entry.name, entry.n_rows, entry.n_classes, method, size]
        + [f"{measure(data.y, p, labels=labels):.5f}" for measure in MEASURES.values()]
        for (method, size), p in said.items()
    ]


def figure4(options: argparse.Namespace) -> None:
    """Draw the figure, and write the means and the comparisons."""
    from benchmarks.quality.studies.figures import plot_forest_sizes

    names = [name for name in dict.fromkeys(row["method"] for row in _scores()) if name != "one default tree"]
    shown = {name: [_losses(name, size).mean() for size in forests.SIZES] for name in names}
    single = _losses("one default tree", 1)
    ax = plot_forest_sizes(forests.SIZES, shown, {"one default tree": single.mean()})
    ax.figure.savefig(OUT / "figure4.png", dpi=150, bbox_inches="tight")
    text = [f"Mean RMSE on {len(single)} sets, {N_FOLDS}-fold cross-validation, by the number of trees:", ""]
    text += ["| trees | " + " | ".join(names) + " |", "|--:|" + "--:|" * len(names)]
    for at, size in enumerate(forests.SIZES):
        text.append(f"| {size} | " + " | ".join(f"{shown[name][at]:.4f}" for name in names) + " |")
    text += ["", f"One default tree: {single.mean():.4f}.", ""]
    for measure in MEASURES:
        losses = np.column_stack([_losses(name, max(forests.SIZES), measure) for name in names])
        text += [f"A hundred trees, {measure}:", "", str(Comparison(names, _sets(), losses, measure)), ""]
    (OUT / "summary.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


def _scores() -> list[dict[str, str]]:
    return read_csv(OUT / "scores.csv")


def _sets() -> tuple[str, ...]:
    return tuple(dict.fromkeys(row["set"] for row in _scores()))


def _losses(method: str, size: int, measure: str = "rmse") -> np.ndarray:
    found = {
        row["set"]: float(row[measure])
        for row in _scores()
        if (row["method"], row["size"]) == (method, str(size))
    }
    return np.array([found[name] for name in _sets()])


def _write_lines(path: Path, lines: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    print(text, end="")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the three."""
    top = argparse.ArgumentParser(prog="forest.py", description=__doc__.splitlines()[0] if __doc__ else None)
    commands = top.add_subparsers(required=True)
    command = commands.add_parser("speed", help=speed.__doc__)
    numbers = {"rows": 100_000, "classes": 2, "features": 20, "trees": 100, "threads": 2, "repeats": 1}
    for name, default in numbers.items():
        command.add_argument(f"--{name}", type=int, default=default)
    command.set_defaults(run=speed)
    command = commands.add_parser("study", help=study.__doc__)
    command.add_argument(
        "--data", type=Path, required=True, help="folder with index.csv and its Parquet files"
    )
    command.add_argument("--every", type=int, default=3, help="take every so-manieth set, smallest first")
    command.set_defaults(run=study)
    commands.add_parser("figure4", help=figure4.__doc__).set_defaults(run=figure4)
    options = top.parse_args(arguments)
    options.run(options)


if __name__ == "__main__":
    main()
