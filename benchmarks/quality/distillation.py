"""One tree distilled from a forest, beside the default tree and the forests of the smoothing study.

    python -m benchmarks.quality.distillation run --data DIR --fidelity 0.98
    python -m benchmarks.quality.distillation report

Every set of up to 10,000 rows, by the ten folds of `study.py smoothing`, whose default tree and whose forests of
scikit-learn stand beside ours in the report. A run that was stopped goes on where it was; `--part 0/2` takes every
other set. The teacher is the default, a forest of 200 trees. Tests are what a row is asked on its way to the leaf.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.output import read_csv
from benchmarks.quality.studies.sets import N_FOLDS, Entry, Fold, index, load
from hornbeam import ForestClassifier, TreeClassifier
from hornbeam.evaluation import Comparison, log_loss, probability_rmse, zero_one_loss
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import depths

RESULTS = Path(__file__).parents[1] / "results"
OUT = RESULTS / "distillation"
MEASURES = {"rmse": probability_rmse, "log_loss": log_loss, "zero_one_loss": zero_one_loss}
HEADS = ("RMSE", "log loss", "0-1 loss")
SIZES = ("leaves", "depth", "tests", "seconds")
BESIDE = {
    "hornbeam/default": "default tree",
    "sklearn-forest/rf-10": "forest of 10",
    "sklearn-forest/rf-100": "forest of 100",
}
MOST_ROWS = 10_000


def run(options: argparse.Namespace) -> None:
    """Score the distilled tree, its teacher, and the size of the default tree, set by set."""
    part, parts = map(int, options.part.split("/"))
    path = OUT / f"scores-{part}.csv"
    OUT.mkdir(parents=True, exist_ok=True)
    done = {row["set"] for row in read_csv(path)} if path.exists() else set()
    entries = [one for one in index(options.data) if one.n_instances <= MOST_ROWS][part::parts]
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(["set", "rows", "classes", "method", *MEASURES, *SIZES])
        for entry in entries:
            if entry.name not in done:
                writer.writerows(_score(entry, options.fidelity))
                file.flush()
                print(entry.name, file=sys.stderr)


def _score(entry: Entry, fidelities: Sequence[float]) -> list[list[object]]:
    data = load(entry)
    said: dict[str, np.ndarray] = {}
    sizes: dict[str, list[tuple[float, ...]]] = {}
    for number in range(N_FOLDS):
        fold = Fold(data, number)
        for method, probabilities, size in _answers(fold, fidelities):
            whole = said.setdefault(method, np.zeros((len(data.y), len(data.classes))))
            whole[fold.test] = fold.spread(probabilities)
            sizes.setdefault(method, []).append(size)
    labels = range(len(data.classes))
    return [
        [entry.name, entry.n_rows, entry.n_classes, method]
        + [f"{measure(data.y, p, labels=labels):.5f}" for measure in MEASURES.values()]
        + [f"{value:.3f}" for value in np.mean(sizes[method], axis=0)]
        for method, p in said.items()
    ]


def _answers(fold: Fold, fidelities: Sequence[float]) -> Iterator[tuple[str, np.ndarray, tuple[float, ...]]]:
    """Every method, with what it says of the test rows, and its size."""
    train, test = fold.frames()
    begin = time.process_time()
    teacher = ForestClassifier(200, oob_score=True).fit(train, fold.y_train)
    taught = time.process_time() - begin
    yield "teacher", teacher.predict_proba(test), (np.nan, np.nan, np.nan, taught)
    for fidelity in fidelities:
        begin = time.process_time()
        # Without terms and a limit of leaves: fidelity alone decides.
        model = TreeClassifier(teacher=teacher, slopes=0, max_leaf_nodes=100_000, fidelity=fidelity)
        model.fit(train, fold.y_train)
        seconds = taught + time.process_time() - begin
        yield f"distilled {fidelity}", model.predict_proba(test), (*_size(model.tree_), seconds)
    begin = time.process_time()
    model = TreeClassifier().fit(train, fold.y_train)
    yield "default tree", model.predict_proba(test), (*_size(model.tree_), time.process_time() - begin)


def _size(tree: Tree) -> tuple[float, float, float]:
    """Leaves, depth, and the mean number of tests that a real row is asked."""
    leaf = tree.skeleton.n_children == 0
    tests = np.average(depths(tree.skeleton)[leaf], weights=np.maximum(tree.rows[leaf], 1e-9))
    return tree.n_leaves, tree.depth, float(tests)


def report(options: argparse.Namespace) -> None:
    """Put the parts together in scores.csv, and write the tables."""
    parts = sorted(OUT.glob("scores-*.csv"))
    rows = [row for path in parts for row in read_csv(path)] or read_csv(OUT / "scores.csv")
    with (OUT / "scores.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (int(row["rows"]), row["set"])))
    for path in parts:
        path.unlink()
    rows = read_csv(OUT / "scores.csv")
    names = list(dict.fromkeys(row["set"] for row in rows))
    ours = {(row["set"], row["method"]): row for row in rows}
    theirs = {
        (row["set"], BESIDE.get(row["method"])): row for row in read_csv(RESULTS / "smoothing" / "scores.csv")
    }
    own = list(dict.fromkeys(row["method"] for row in rows if row["method"] != "default tree"))
    methods = [*own, *BESIDE.values()]

    def values(measure: str, method: str) -> np.ndarray:
        kept = ours if method in own else theirs
        name = "0_1_loss" if kept is theirs and measure == "zero_one_loss" else measure
        return np.array([float(kept[one, method][name]) for one in names])

    text = [
        f"{len(names)} sets of up to {MOST_ROWS} rows, {N_FOLDS} folds; CPU seconds of a fold, one thread.",
        "",
    ]
    text += ["| | " + " | ".join([*HEADS, *SIZES]) + " |", "|--|" + "--:|" * (len(MEASURES) + len(SIZES))]
    for method in methods:
        cells = [f"{values(measure, method).mean():.4f}" for measure in MEASURES]
        cells += [_mean([ours.get((one, method), {}).get(size, "nan") for one in names]) for size in SIZES]
        text.append(f"| {method} | " + " | ".join(cells) + " |")
    for measure in MEASURES:
        losses = np.column_stack([values(measure, method) for method in methods])
        text += ["", f"By {measure}:", "", str(Comparison(tuple(methods), tuple(names), losses, measure))]
    (OUT / "summary.md").write_text("\n".join([*text, ""]), encoding="utf-8")
    print("\n".join(text))


def _mean(values: Sequence[str]) -> str:
    mean = np.mean(np.array(values, float))
    return "" if np.isnan(mean) else f"{mean:.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, or report it."""
    top = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = top.add_subparsers(required=True)
    command = commands.add_parser("run", help=run.__doc__)
    command.add_argument(
        "--data", type=Path, required=True, help="folder with index.csv and its Parquet files"
    )
    command.add_argument("--fidelity", type=float, nargs="+", default=[0.98])
    command.add_argument("--part", default="0/1", help="this part of so many, 0/2 and 1/2 say")
    command.set_defaults(run=run)
    commands.add_parser("report", help=report.__doc__).set_defaults(run=report)
    options = top.parse_args(arguments)
    options.run(options)


if __name__ == "__main__":
    main()
