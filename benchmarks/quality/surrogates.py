"""Surrogate splits: log loss and size of a plain tree that sends rows without a value in three ways.

    python -m benchmarks.quality.surrogates --data DIR
    python -m benchmarks.quality.surrogates

The sets and folds of `missing_branch`. A plain tree of up to 16 leaves with at least ten rows each, by entropy, with
predictions smoothed towards the parent, grows in the same way for each treatment: missing values have a child of their
own where ten rows of the node lack the value; or they go to the larger child; or to the child that the best of five
surrogate splits chooses (those that agree with the split for more rows than "the larger child" does), and to the larger
child where all surrogates lack their value too. Without --data only the report is written.
"""

from __future__ import annotations

import argparse
import csv
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.output import read_csv
from benchmarks.quality.missing_branch import N_FOLDS, OUT, sets_with_missing_values
from benchmarks.quality.studies.sets import Entry, Fold, load
from hornbeam.evaluation import Comparison, log_loss

TREATMENTS = ("own", "majority", "surrogate")
MOST_LEAVES, LEAST_ROWS, MOST_SURROGATES, PRIOR = 16, 10, 5, 3.0
Array = np.ndarray[Any, Any]


@dataclass
class Test:
    """A split in two: of a number, or of a category by its place in an order; `flipped` exchanges the sides."""

    column: int
    place: dict[float, float] | None
    cut: float
    flipped: bool = False

    def left(self, X: Array) -> Array:
        """Return 1.0 where a row goes left, 0.0 where right, NaN where the value is missing or new."""
        value = X[:, self.column]
        if self.place is not None:
            value = np.array([self.place.get(code, np.nan) for code in value.tolist()])
        left = np.where(np.isnan(value), np.nan, value <= self.cut)
        return 1.0 - left if self.flipped else left


@dataclass
class Node:
    """Rows with their class counts and prediction, a split, surrogates, and children: left, right, missing."""

    rows: Array
    p: Array
    tests: list[Test] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)
    larger: int = 0


def cuts(value: Array, nominal: bool, Y: Array) -> tuple[dict[float, float] | None, Array, Array]:
    """Return the order of categories, each cut point, and the class counts on its left."""
    place = None
    if nominal:
        codes, at = np.unique(value, return_inverse=True)
        of_class = np.bincount(at, Y[:, Y.sum(axis=0).argmax()]) / np.bincount(at)
        rank = np.argsort(np.argsort(of_class, kind="stable"), kind="stable").astype(float)
        place, value = dict(zip(codes.tolist(), rank.tolist(), strict=True)), rank[at]
    order = np.argsort(value, kind="stable")
    value, counts = value[order], Y[order].cumsum(axis=0)
    ends = np.flatnonzero(np.diff(value) > 0)
    return place, (value[ends] + value[ends + 1]) / 2, counts[ends]


def entropy(counts: Array) -> Array:
    """Return the entropy of class counts times their number, in bits."""
    n = counts.sum(axis=-1, keepdims=True)
    p = np.divide(counts, n, out=np.zeros_like(counts), where=n > 0)
    return -(counts * np.log2(p, out=np.zeros_like(p), where=p > 0)).sum(axis=-1)


def best_split(X: Array, nominal: list[bool], Y: Array, own: bool) -> tuple[float, Test | None]:
    """Find the split of largest gain; with `own` the missing rows are a third child, else they do not count."""
    found: tuple[float, Test | None] = (1e-9, None)
    for column in range(X.shape[1]):
        missing = np.isnan(X[:, column])
        known, lost = Y[~missing], Y[missing].sum(axis=0)
        place, points, left = cuts(X[~missing, column], nominal[column], known)
        if not len(points):
            continue
        right = known.sum(axis=0) - left
        gain = entropy(known.sum(axis=0)) - entropy(left) - entropy(right)
        if own and missing.sum() >= LEAST_ROWS:
            gain = gain + entropy(Y.sum(axis=0)) - entropy(known.sum(axis=0)) - entropy(lost)
        gain[(left.sum(axis=1) < LEAST_ROWS) | (right.sum(axis=1) < LEAST_ROWS)] = -1.0
        best = int(gain.argmax())
        if gain[best] > found[0]:
            found = float(gain[best]), Test(column, place, float(points[best]))
    return found


def surrogates(X: Array, nominal: list[bool], test: Test) -> list[Test]:
    """List the splits of other features that agree best with a split, if better than the larger child."""
    side, found = test.left(X), []
    for column in range(X.shape[1]):
        both = ~np.isnan(side) & ~np.isnan(X[:, column])
        if column == test.column or both.sum() < 2 * LEAST_ROWS:
            continue
        Y = np.column_stack([side[both], 1.0 - side[both]])
        place, points, left = cuts(X[both, column], nominal[column], Y)
        if not len(points):
            continue
        agreed = left[:, 0] + Y[:, 1].sum() - left[:, 1]
        agreed, flipped = np.maximum(agreed, len(Y) - agreed), agreed < len(Y) / 2
        best, least = int(agreed.argmax()), Y.sum(axis=0).max()
        if agreed[best] > least:
            one = Test(column, place, float(points[best]), bool(flipped[best]))
            found.append(((agreed[best] - least) / (len(Y) - least + 1e-9), -column, one))
    return [one for _, _, one in sorted(found, key=lambda each: each[:2], reverse=True)[:MOST_SURROGATES]]


def sides(node: Node, X: Array) -> Array:
    """Return the child of each row: 0, 1, or 2 for a missing value with a child of its own."""
    side = 1.0 - node.tests[0].left(X)
    if len(node.children) == 3:
        return np.where(np.isnan(side), 2, side).astype(int)
    for test in node.tests[1:]:
        side = np.where(np.isnan(side), 1.0 - test.left(X), side)
    return np.where(np.isnan(side), node.larger, side).astype(int)


def grow(X: Array, nominal: list[bool], Y: Array, treatment: str) -> Node:
    """Grow the leaf of largest gain first."""

    def smoothed(rows: Array, above: Array) -> Node:
        counts = Y[rows].sum(axis=0)
        return Node(rows, (counts + PRIOR * above) / (counts.sum() + PRIOR))

    root = smoothed(np.arange(len(X)), np.full(Y.shape[1], 1 / Y.shape[1]))
    queue: list[tuple[float, int, Node, Test]] = []
    number = iter(range(10**9))

    def offer(node: Node) -> None:
        gain, test = best_split(X[node.rows], nominal, Y[node.rows], treatment == "own")
        if test is not None:
            heapq.heappush(queue, (-gain, next(number), node, test))

    offer(root)
    n_leaves = 1
    while queue and n_leaves < MOST_LEAVES:
        _, _, node, test = heapq.heappop(queue)
        here = X[node.rows]
        side = test.left(here)
        node.tests = [test, *(surrogates(here, nominal, test) if treatment == "surrogate" else [])]
        node.larger = int(np.nansum(side) < np.nansum(1.0 - side))
        three = treatment == "own" and np.isnan(side).sum() >= LEAST_ROWS
        node.children = [node] * (3 if three else 2)
        goes = sides(node, here)
        node.children = [smoothed(node.rows[goes == at], node.p) for at in range(len(node.children))]
        n_leaves += len(node.children) - 1
        for child in node.children:
            offer(child)
    return root


def predict(node: Node, X: Array) -> Array:
    """Return the probabilities of rows."""
    if not node.children or not len(X):
        return np.tile(node.p, (len(X), 1))
    found, goes = np.empty((len(X), len(node.p))), sides(node, X)
    for at, child in enumerate(node.children):
        found[goes == at] = predict(child, X[goes == at])
    return found


def inner(node: Node) -> Iterator[Node]:
    """Yield all nodes with a split."""
    if node.children:
        yield node
        for child in node.children:
            yield from inner(child)


def scores(entry: Entry) -> list[list[object]]:
    """Mean log loss, leaves, leaves of missing values and surrogates that a reader needs, for each treatment."""
    data = replace(load(entry), n_folds=N_FOLDS)
    nominal = [not _is_number(data.X[name]) for name in data.X]
    values = np.column_stack(
        [_numbers(data.X[name], kind) for name, kind in zip(data.X, nominal, strict=True)]
    )
    rows = []
    for treatment in TREATMENTS:
        figures = []
        for number in range(N_FOLDS):
            fold = Fold(data, number)
            Y = np.eye(len(data.classes))[fold.y_train]
            tree = grow(values[fold.train], nominal, Y, treatment)
            p = predict(tree, values[fold.test])
            loss = log_loss(fold.y_test, p, labels=np.arange(len(data.classes)))
            splits = [*inner(tree)]
            children = sum(len(node.children) for node in splits)
            own = sum(len(node.children) == 3 for node in splits)
            figures.append(
                (loss, children - len(splits) + 1, own, sum(len(node.tests) - 1 for node in splits))
            )
        loss, *sizes = np.mean(figures, axis=0)
        rows.append([entry.name, treatment, f"{loss:.5f}", *(f"{size:.1f}" for size in sizes)])
    return rows


def _is_number(column: Any) -> bool:
    return column.dtype.kind in "iufb" if hasattr(column.dtype, "kind") else False


def _numbers(column: Any, nominal: bool) -> Array:
    """Return a column as numbers: codes of categories, NaN for a missing value."""
    if not nominal:
        return column.to_numpy(dtype=float, na_value=np.nan)
    codes = column.astype("category").cat.codes.to_numpy(float)
    return np.where(codes < 0, np.nan, codes)


def report(path: Path) -> str:
    """Compute means, wins, draws and losses, and sign tests."""
    found = {(row["set"], row["treatment"]): row for row in read_csv(path)}
    names = tuple(dict.fromkeys(name for name, _ in found))
    losses = np.array([[float(found[name, one]["log_loss"]) for one in TREATMENTS] for name in names])
    lines = [f"# {len(names)} sets\n", str(Comparison(TREATMENTS, names, losses, "log_loss")), ""]
    for column in ("leaves", "missing_branches", "surrogates"):
        means = {one: np.mean([float(found[name, one][column]) for name in names]) for one in TREATMENTS}
        lines.append(f"{column}: " + ", ".join(f"{one} {mean:.1f}" for one, mean in means.items()))
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and write its report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with index.csv and its Parquet files")
    options, path = parser.parse_args(arguments), OUT / "surrogates.csv"
    if options.data is not None:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["set", "treatment", "log_loss", "leaves", "missing_branches", "surrogates"])
            for entry in sets_with_missing_values(options.data):
                writer.writerows(scores(entry))
                file.flush()
    (OUT / "surrogates.md").write_text(report(path), encoding="utf-8")


if __name__ == "__main__":
    main()
