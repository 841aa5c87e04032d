"""Random models and rows for tests of exports.

`random_model(seed)` is grown by `Grower`. Seeds cycle through the treatments of missing values and nominal features and
K = 2 to 20 classes, so any twenty consecutive seeds cover most of them. `random_rows` has the critical values: every
threshold and its neighbours at the node that tests them; NaN, infinities, zeros of both signs, missing and unseen
categories everywhere.
"""

import os
from collections.abc import Iterator
from functools import cache
from itertools import count, islice, pairwise
from math import floor, isfinite, nextafter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.smoothing import HGS, Laplace
from hornbeam.tree import Costs, DecisionRule, Skeleton, with_slopes
from hornbeam.tree.edit import with_decision
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path, slots
from hornbeam.typing import Indices
from support.strategies import slopes_of
from support.strategies_growing import OF_CLASSES

__all__ = [
    "MODELS",
    "UNSEEN",
    "batches",
    "models",
    "models_with_slopes",
    "random_model",
    "random_rows",
    "random_rule",
    "row_to",
    "values",
]

MODELS = int(os.environ.get("HORNBEAM_EXPORT_MODELS", "20"))  # `nox -s exports` tries more
_BATCH = 20  # models in one translation unit
batches = pytest.mark.parametrize("first", range(0, MODELS, _BATCH))
UNSEEN = "never seen in training"  # the value of an unseen category in `values`
_SPECIAL = (0.0, -0.0, 1.0, 5e-324, -5e-324, 1e308, np.inf, -np.inf, np.nan, np.nan)


def models(first: int, dtype: Any = np.float64, *, shared: bool = True) -> list[tuple[Tree, Table]]:
    """A batch of random models with rows; with `shared=False` none that send missing values to every child."""
    seeds = _seeds(shared)[first : first + _BATCH]
    trees = [random_model(seed) for seed in seeds]
    return [(tree, random_rows(tree, seed, dtype=dtype)) for tree, seed in zip(trees, seeds, strict=True)]


@cache
def _seeds(shared: bool) -> list[int]:
    """The first seeds whose models are allowed."""
    fit = (seed for seed in count() if shared or not random_model(seed).skeleton.is_fractional)
    return list(islice(fit, MODELS))


def random_model(seed: int, max_rows: int = 250) -> Tree:
    """A tree grown on random rows; the same for the same seed."""
    rng = np.random.default_rng([seed, 1])
    table = _training(rng, n_rows=int(rng.integers(60, max_rows)), n_classes=2 + seed % 19)
    grower = Grower(
        criterion=OF_CLASSES[rng.integers(len(OF_CLASSES))],
        nominal_split=list(Nominal)[seed // 3 % 2],
        missing=list(Missing)[seed % 3],
        min_samples_leaf=int(rng.choice([1, 1, 2, 5])),
        max_depth=[None, None, 3, 9][rng.integers(4)],
    )
    bins = Bins.fit(MemorySource(table), LocalEngine(), max_bins=[None, 7, 255][rng.integers(3)])
    tree = grower.grow(table, bins)
    smoother = [None, HGS(), Laplace()][seed // 2 % 3]
    return with_decision(tree if smoother is None else smoother(tree), random_rule(seed, tree.n_classes))


def random_rule(seed: int, n_classes: int) -> DecisionRule:
    """A decision rule; one in four takes the most probable class, the others have costs, class weights or both."""
    rng = np.random.default_rng([seed, 3])
    costs = rng.choice([0.5, 1.0, 1.0, 3.0, 20.0, 1 / 3], (n_classes, n_classes))
    np.fill_diagonal(costs, rng.choice([0.0, 0.0, -0.7], n_classes))
    weight = rng.choice([0.1, 1.0, 2.5, 12.0], n_classes)
    return DecisionRule(Costs(costs) if seed % 4 in (1, 3) else None, weight if seed % 4 in (2, 3) else None)


def random_rows(tree: Tree, seed: int, n_rows: int = 1000, dtype: Any = np.float64) -> Table:
    """Rows for a tree, `n_rows` or as many as its thresholds need; numbers are exact in `dtype`."""
    rng = np.random.default_rng([seed, 2])
    aimed = list(_aimed(tree, rng, dtype))
    n_random = max(n_rows - len(aimed), n_rows // 5)
    columns: list[NDArray[Any]] = []
    for f, feature in enumerate(tree.schema.features):
        column = np.concatenate(([row[f] for row in aimed], _cells(tree, f, rng, n_random, dtype)))
        if feature.kind is Kind.NOMINAL:
            columns.append(column.astype(np.int32))
        else:
            with np.errstate(over="ignore", under="ignore"):
                columns.append(column.astype(dtype).astype(np.float64))
    return Table(tree.schema, tuple(columns))


def values(table: Table) -> list[tuple[Any, ...]]:
    """The values of the rows: categories by value, None where missing, `UNSEEN` where unseen."""
    columns: list[list[Any]] = []
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        if feature.kind is Kind.NUMERIC:
            columns.append([None if np.isnan(x) else x for x in column.tolist()])
        elif feature.kind is Kind.ORDINAL:
            columns.append([None if np.isnan(x) else feature.categories[int(x)] for x in column.tolist()])
        else:
            categories = [*feature.categories, UNSEEN, None]
            columns.append([categories[code] for code in column.tolist()])
    return list(zip(*columns, strict=True))


def _training(rng: np.random.Generator, n_rows: int, n_classes: int) -> Table:
    features, columns = [], []
    for f in range(rng.integers(1, 7)):
        feature, column = _column(rng, f, n_rows)
        if rng.random() < 0.7:
            hole = rng.random(n_rows) < rng.choice([0.02, 0.2, 0.6])
            column[hole] = np.nan if column.dtype == np.float64 else -1
        features.append(feature)
        columns.append(column)
    with np.errstate(invalid="ignore"):
        lean = sum(
            (np.argsort(np.argsort(column)) * 3 // n_rows for column in columns), start=np.zeros(n_rows, int)
        )
    blurred = rng.random(n_rows) < rng.choice([0.1, 0.4])
    target = np.where(blurred, rng.integers(0, n_classes, n_rows), lean % n_classes)
    return Table(
        Schema(tuple(features), tuple(_labels(rng, n_classes))), tuple(columns), target.astype(np.int32)
    )


def _column(rng: np.random.Generator, f: int, n_rows: int) -> tuple[Feature, NDArray[Any]]:
    kind = rng.choice(["real", "wide", "whole", "constant", "nominal", "nominal", "ordinal"])
    if kind == "real":
        return Feature(f"x{f}"), rng.normal(size=n_rows)
    if kind == "wide":
        return Feature(f"x{f}"), rng.choice([-1, 1], n_rows) * 10.0 ** rng.uniform(-30, 30, n_rows)
    if kind == "whole":
        return Feature(f"x{f}"), rng.integers(-5, 6, n_rows).astype(np.float64)
    if kind == "constant":  # only missing or known: a threshold of +inf
        return Feature(f"x{f}"), np.where(rng.random(n_rows) < 0.3, np.nan, 1.0)
    size = int(rng.choice([2, 3, 5, 12, 40]))
    code = np.minimum(rng.geometric(2 / size, n_rows) - 1, size - 1)
    if kind == "ordinal":
        return Feature(f"o{f}", Kind.ORDINAL, tuple(f"grade {i}" for i in range(size))), code.astype(
            np.float64
        )
    categories: tuple[Any, ...] = (
        tuple(range(10, 10 + size)) if rng.random() < 0.3 else tuple(f"c{i:02}" for i in range(size))
    )
    return Feature(f"c{f}", Kind.NOMINAL, categories), code.astype(np.int32)


def _labels(rng: np.random.Generator, n: int) -> list[Any]:
    return list(range(n)) if rng.random() < 0.5 else [f"class {k}" for k in range(n)]


def _cells(tree: Tree, f: int, rng: np.random.Generator, n: int, dtype: Any) -> NDArray[Any]:
    """Random values of one feature."""
    feature = tree.schema.features[f]
    size = len(feature.categories)
    if feature.kind is Kind.NOMINAL:
        return rng.integers(-2, size, n)
    if feature.kind is Kind.ORDINAL:
        return rng.choice([*np.arange(size), np.nan], n)
    cuts = tree.skeleton.threshold[tree.skeleton.feature == f]
    pool = np.concatenate([*(_beside(cut, dtype) for cut in cuts), _SPECIAL])
    return np.where(rng.random(n) < 0.6, rng.choice(pool, n), rng.normal(size=n))


def _beside(cut: float, dtype: Any) -> NDArray[Any]:
    """A threshold, rounded to `dtype`, and the numbers next to it."""
    with np.errstate(over="ignore", under="ignore"):
        near = dtype(cut)
        return np.array(
            [np.nextafter(near, dtype(-np.inf)), near, np.nextafter(near, dtype(np.inf))], np.float64
        )


def _aimed(tree: Tree, rng: np.random.Generator, dtype: Any) -> Iterator[list[float]]:
    """Rows that reach each inner node with values around its threshold, and one with a missing value."""
    skeleton = tree.skeleton
    slot = slots(skeleton)
    filler = np.stack([_cells(tree, f, rng, skeleton.n_nodes, dtype) for f in range(tree.schema.n_features)])
    for node in np.flatnonzero(skeleton.n_children).tolist():
        row = row_to(tree, node, slot, filler[:, node].tolist())
        f = skeleton.feature.item(node)
        feature = tree.schema.features[f]
        if feature.kind is Kind.NUMERIC:
            tried = [*_beside(skeleton.threshold.item(node), dtype), np.nan]
        elif feature.kind is Kind.ORDINAL:
            tried = [np.floor(min(skeleton.threshold.item(node), len(feature.categories) - 1)), np.nan]
        else:
            tried = [int(rng.integers(len(feature.categories))), -1, -2]
        for value in tried:
            yield [*row[:f], value, *row[f + 1 :]]


def row_to(tree: Tree, node: int, slot: Indices, row: list[float]) -> list[float]:
    """The row, changed so that it reaches a node: between the thresholds and in the categories of its path."""
    skeleton = tree.skeleton
    low, high = [-np.inf] * len(row), [np.inf] * len(row)
    codes: dict[int, set[int]] = {}
    nodes = path(skeleton, node)
    for at, child in pairwise(nodes):
        f, taken = skeleton.feature.item(at), slot.item(child)
        if tree.schema.features[f].kind is Kind.NOMINAL:
            codes[f] = codes.get(f, _codes_to(skeleton, at, taken)) & _codes_to(skeleton, at, taken)
            row[f] = min(codes[f], default=-2)
        elif taken == 2 or (taken == 1 and skeleton.threshold[at] == np.inf):
            row[f] = np.nan
        else:
            cut = skeleton.threshold.item(at)
            low[f], high[f] = (low[f], min(high[f], cut)) if taken == 0 else (max(low[f], cut), high[f])
            row[f] = _between(low[f], high[f], tree.schema.features[f].kind is Kind.ORDINAL)
    return row


def _codes_to(skeleton: Skeleton, node: int, slot: int) -> set[int]:
    run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
    missing = {-1} if skeleton.missing_slot[node] == slot else set()
    return missing.union(np.flatnonzero(run == slot).tolist())


def _between(low: float, high: float, whole: bool) -> float:
    """A number above `low` and at most `high`; with `whole` an integer, which then exists."""
    if whole:
        return floor(low) + 1.0 if isfinite(low) else 0.0
    if isfinite(low) and isfinite(high):
        middle = low / 2 + high / 2
        return middle if low < middle else high
    return nextafter(low, np.inf) if isfinite(low) else high if isfinite(high) else 0.0


def models_with_slopes(first: int, dtype: Any = np.float64) -> list[tuple[Tree, Table]]:
    """A batch of random models with slopes, half with inner terms, and rows; no value goes to every child."""
    return [
        (_with_slopes(tree, first + i), rows)
        for i, (tree, rows) in enumerate(models(first, dtype, shared=False))
    ]


def _with_slopes(tree: Tree, seed: int) -> Tree:
    rng = np.random.default_rng([seed, 4])
    share, scale = [1.0, 0.6][seed % 2], [1.0, 0.1, 30.0, 1.0][seed % 4]
    drawn = (slopes_of(tree, rng, share, scale) for _ in count())
    return with_slopes(tree, next(slopes for slopes in drawn if len(slopes)))
