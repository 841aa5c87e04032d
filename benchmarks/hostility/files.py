"""Sound model files, to be damaged: small ones with every kind of test, label and setting."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

import hornbeam
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.estimators.shelf import pack
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.storage import Grove, Model
from hornbeam.storage.file import encode


def models() -> list[Model | Grove]:
    """Small models with every kind of test, label and setting."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (120, 4)) / 4
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] + X[:, 1] > 5).astype(int)
    nominal = tuple(f"category {c}" for c in range(6))
    features = (
        Feature("x"),
        Feature("colour", Kind.NOMINAL, nominal),
        Feature("size", Kind.ORDINAL, (1, 2.5, True + 3)),
    )
    columns = (
        rng.choice([0.0, 1.5, 2.0, np.inf, np.nan], 200),
        rng.integers(-1, 6, 200, dtype=np.int32),
        rng.choice([0.0, 1.0, 2.0, np.nan], 200),
    )
    target = rng.integers(0, 3, 200, dtype=np.int32)
    mixed = Table(Schema(features, ("a", "b", "ü")), columns, target, None, 1.0, None)
    few = {"max_depth": 4}
    return [
        pack(hornbeam.TreeClassifier(**few).fit(X, y)),
        pack(
            hornbeam.TreeClassifier("c4.5", smoothing=hornbeam.smoothing.HGS(2.0), **few).fit(
                X, y.astype(str)
            )
        ),
        pack(hornbeam.TreeClassifier("cart", class_weight={0: 1.0, 1: 2.5}, **few).fit(X, y)),
        *(Model(small(PRESETS[name]).fit(mixed)) for name in ("pet", "c4.5", "cart")),
        Model(PRESETS["pet"].fit(Table.read([[0.0]], ["only"]))),
        pack(hornbeam.RuleClassifier(hornbeam.TreeClassifier("cart", **few)).fit(X, y)),
        pack(hornbeam.ForestClassifier(3, class_weight={0: 1.0, 1: 2.5}, **few).fit(X, y)),
        pack(hornbeam.ForestRegressor(2, **few).fit(X, y)),
        pack(hornbeam.BoostedTreesClassifier(n_estimators=2, **few).fit(X, y + (X[:, 2] > 3))),
        pack(hornbeam.BoostedTreesRegressor("poisson", n_estimators=2, **few).fit(X, y)),
    ]


def small(recipe: Recipe) -> Recipe:
    return replace(recipe, grower=replace(recipe.grower, max_depth=3))


def files() -> list[bytes]:
    """Each model as text and as tensors, with its fingerprint and, so that damage gets further, without."""
    sound = [encode(model, as_tensors=tensors) for model in models() for tensors in (False, True)]
    return sound + [unsigned(data) for data in sound]


def unsigned(data: bytes) -> bytes:
    if data[:1] == b"{":
        return re.sub(rb' *"sha256": "[0-9a-f]+",\n', b"", data)
    length = int.from_bytes(data[:8], "little")
    head = re.sub(rb'\\"sha256\\": \\"[0-9a-f]+\\", ', b"", data[8 : 8 + length])
    return len(head).to_bytes(8, "little") + head + data[8 + length :]
