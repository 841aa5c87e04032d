"""A discount (Pitman-Yor, Kneser-Ney) in the smoothing of C4.4 trees, beside HGS.

python -m benchmarks.quality.discount --data FOLDER --csv benchmarks/results/discount/scores.csv

FOLDER has UCI sets as Parquet files; those of up to 3,000 rows are used, the first of ten folds for the test. A node
of n rows, of which c are of a class and k classes occur, has the probability
``(c - d + (a + d * k) * above) / (n + a)`` of a class that occurs, where `above` is that of its parent, and
``(a + d * k) * above / (n + a)`` of any other: a Pitman-Yor process with the discount d and the concentration a, in
which each class of a node has one table. `tables` counts at an inner node how many children have the class, as the
tables of that process and Kneser-Ney do; `rows` counts its rows. The root borrows from the uniform distribution. Beside
them Hornbeam's smoothers of the same trees. RMSE is the root of the Brier score divided by the number of classes; a
probability counts as 1e-6 at least in the log loss. The settings of the summary are the best ones on these test rows:
they are flattered.
"""

from __future__ import annotations

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from benchmarks.quality.studies.sets import StudySet, index, load
from hornbeam import TreeClassifier
from hornbeam.data.table import Table
from hornbeam.smoothing import HDP, HGS, GradientHGS, Laplace, Smoother
from hornbeam.tree.edit import with_belief
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree

MOST_ROWS = 3_000
LEAST = 1e-6
COUNTS = ("rows", "tables")
CONCENTRATIONS, DISCOUNTS = (0.0, 1.0, 2.0), (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)
SMOOTHERS: dict[str, Smoother] = {
    "hgs-published": GradientHGS(prior=0.0),
    "hgs": HGS(),
    "laplace": Laplace(),
    "hdp": HDP(),
}
SETTINGS = [one for one in product(COUNTS, CONCENTRATIONS, DISCOUNTS) if one[1] + one[2] > 0]
type Setting = tuple[str, float, float]


def counts_of(tree: Tree, kind: str) -> np.ndarray:
    """The counts of each node: rows of each class, or at inner nodes the children that have it."""
    counts = tree.evidence * tree.unit
    if kind == "tables":
        skeleton, ended = tree.skeleton, counts.copy()
        children = np.arange(1, tree.n_nodes)
        np.subtract.at(ended, skeleton.parent[children], counts[children])  # rows that stop at inner nodes
        tables = np.zeros_like(counts)
        np.add.at(tables, skeleton.parent[children], counts[children] > 0)
        counts = np.where(skeleton.is_leaf[:, None], counts, ended + tables)
    return counts


def smoothed(tree: Tree, setting: Setting) -> np.ndarray:
    """The probabilities of each node."""
    kind, concentration, discount = setting
    counts = counts_of(tree, kind)
    belief = np.full(counts.shape, 1 / counts.shape[1])
    for node, own in enumerate(counts):
        above = belief[max(tree.skeleton.parent[node], 0)]
        least = np.minimum(own, discount)  # a class has at least a part of a row
        total = own.sum() + concentration
        belief[node] = above if total == 0 else (own - least + (concentration + least.sum()) * above) / total
    return belief


def set_losses(data: StudySet) -> np.ndarray:
    """RMSE and log loss of each setting on the first fold."""
    train, test = data.folds[0]
    model = TreeClassifier("c4.4", smoothing=None, missing="own").fit(data.X.iloc[train], data.y[train])
    tree, codes = model.tree_, np.searchsorted(model.classes_, data.y[test])
    table = Table.read(data.X.iloc[test], schema=tree.schema)
    seen = np.isin(data.y[test], model.classes_)
    beliefs = [smoothed(tree, one) for one in SETTINGS] + [one(tree).belief for one in SMOOTHERS.values()]
    losses = []
    for belief in beliefs:
        found = predict_rows(with_belief(tree, belief, np.zeros(tree.n_nodes)), table)[seen]
        truth = np.eye(len(model.classes_))[codes[seen]]
        came = np.maximum((found * truth).sum(axis=1), LEAST)
        losses.append([np.sqrt(np.square(found - truth).mean()), -np.log(came).mean()])
    return np.array(losses)


def main() -> None:
    """Score all sets, print the best discounts beside HGS, and write the losses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    entries = [entry for entry in index(options.data) if entry.n_instances <= MOST_ROWS]
    found = np.stack([set_losses(load(entry)) for entry in entries]).round(4)
    names = [*SETTINGS, *SMOOTHERS]
    for at, measure in enumerate(("RMSE", "log loss")):
        means = found[:, :, at].mean(axis=0)
        print(f"{measure}, {len(entries)} sets")
        for place in [*np.argsort(means[: len(SETTINGS)])[:3], *range(len(SETTINGS), len(names))]:
            print(f"  {names[place]}: {means[place]:.4f}", end="")
            for other in ("hgs-published", "hgs"):
                its = found[:, names.index(other), at]
                better, worse = (found[:, place, at] < its).sum(), (found[:, place, at] > its).sum()
                p = binomtest(better, max(better + worse, 1)).pvalue
                print(f", {better}-{worse} against {other} (p = {p:.2g})", end="")
            print()
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        with options.csv.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["set", "method", "rmse", "log loss"])
            labels = [*(" ".join(map(str, one)) for one in SETTINGS), *SMOOTHERS]
            for entry, losses in zip(entries, found.tolist(), strict=True):
                writer.writerows([entry.name, one, *loss] for one, loss in zip(labels, losses, strict=True))


if __name__ == "__main__":
    main()
