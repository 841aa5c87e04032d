"""Classes with an order: trees of classes beside the distribution of a regression tree of their numbers.

python -m benchmarks.quality.ordered --data FOLDER --csv benchmarks/results/ordered/scores.csv

FOLDER has UCI sets as Parquet files. Five folds, the training rows of a fold at most 5,000. `classes` is
`TreeClassifier()`; `numbers` the classes numbered from 0 as the target of `TreeRegressor(distribution=True)`, whose
splits and borrowing know the order. `rps` is the ranked probability score, the sum over the classes but the last of the
squared error of the probability up to it; the log loss counts a probability as 1e-6 at least. `distance` is the mean
distance between the class that came and the one of least expected distance, `error` that between it and the most
probable one being 1. Losses equal to four decimals are a draw of the sign test.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.stats import binomtest
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality.studies.sets import StudySet, index, load
from hornbeam import TreeClassifier, TreeRegressor

ORDERS = {
    "autos": "-2 -1 0 1 2 3",
    "balance-scale": "L B R",
    "car": "unacc acc good vgood",
    "contact-lenses": "none soft hard",
    "heart-switzerland": "0 1 2 3 4",
    "heart-va": "0 1 2 3 4",
    "krkopt": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " draw",
    "maternal-risk": "low mid high",
    "nursery": "not_recom recommend very_recom priority spec_prior",
    "obesity": "Insufficient_Weight Normal_Weight Overweight_Level_I Overweight_Level_II Obesity_Type_I"
    " Obesity_Type_II Obesity_Type_III",
    "room-occupancy": "0 1 2 3",
    "solar-flare": "0 1 2 3 4 5 6 8",
    "tae": "1 2 3",
    "user-knowledge": "very_low low middle high",
    "website-phishing": "-1 0 1",
    "wine-quality-red": "3 4 5 6 7 8",
    "wine-quality-white": "3 4 5 6 7 8 9",
}
MOST_TRAINED, FOLDS = 5_000, 5
LEAST = 1e-6
SCORES = ("rps", "log loss", "distance", "error")


def scores(probability: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute the four losses of one fold, of probabilities in the order of the classes."""
    n_classes = probability.shape[1]
    up_to = probability.cumsum(axis=1)[:, :-1]
    came = y[:, None] <= np.arange(n_classes - 1)
    classes = np.arange(n_classes)
    nearest = (probability @ np.abs(classes[:, None] - classes)).argmin(axis=1)
    return np.array(
        [
            np.square(up_to - came).sum(axis=1).mean(),
            -np.log(np.maximum(probability[np.arange(len(y)), y], LEAST)).mean(),
            np.abs(nearest - y).mean(),
            (probability.argmax(axis=1) != y).mean(),
        ]
    )


def of_classes(data: StudySet, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Probabilities of a tree of classes."""
    model = TreeClassifier().fit(data.X.iloc[train], y[train])
    found = np.zeros((len(test), y.max() + 1))
    found[:, model.classes_] = model.predict_proba(data.X.iloc[test])
    return found


def of_numbers(data: StudySet, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Probabilities of the numbers of the classes, of the distribution of a regression tree."""
    model = TreeRegressor(distribution=True).fit(data.X.iloc[train], y[train].astype(float))
    distribution, node = model._distribution, model.apply(data.X.iloc[test])
    up_to = [
        distribution.probabilities(node, np.full(len(node), float(k)))[1] if k in y[train] else None
        for k in range(y.max() + 1)
    ]
    cumulated = [np.zeros(len(node))]
    for one in up_to:
        cumulated.append(cumulated[-1] if one is None else one)
    return np.diff(np.column_stack(cumulated), axis=1)


METHODS = {"classes": of_classes, "numbers": of_numbers}


def set_scores(data: StudySet) -> dict[str, np.ndarray]:
    """Mean losses of each method over the folds of a set."""
    rank = [ORDERS[data.name].split().index(name) for name in data.classes]
    y = np.unique(np.array(rank)[data.y], return_inverse=True)[1]
    found = {name: [] for name in METHODS}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(y, y):
        train = np.random.default_rng(0).permutation(train)[:MOST_TRAINED]
        for name, method in METHODS.items():
            found[name].append(scores(method(data, y, train, test), y[test]))
    return {name: np.mean(losses, axis=0) for name, losses in found.items()}


def main() -> None:
    """Score all sets, print the comparison, and write the losses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    found = {}
    for entry in index(options.data, list(ORDERS)):
        data = load(entry)
        found[data.name] = set_scores(data)
        print(f"{data.name:20}", *(np.round(found[data.name][name], 4) for name in METHODS), flush=True)
    for at, score in enumerate(SCORES):
        both = np.array([[of_set[name][at] for name in METHODS] for of_set in found.values()]).round(4)
        wins, losses = (both[:, 1] < both[:, 0]).sum(), (both[:, 1] > both[:, 0]).sum()
        p = binomtest(wins, max(wins + losses, 1)).pvalue
        means = " and ".join(f"{mean:.4f}" for mean in both.mean(axis=0))
        print(f"{score}: classes and numbers {means}, numbers win {wins}-{losses}, p = {p:.2g}")
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        with options.csv.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["set", "method", *SCORES])
            for name, of_set in found.items():
                writer.writerows([name, method, *of_set[method].round(6)] for method in METHODS)


if __name__ == "__main__":
    main()
