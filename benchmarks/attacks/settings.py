"""Parameters drawn from their documentation: a new parameter is tried without being named here.

The type of a numpydoc entry says which values there are: ``{"auto", "own"}``, int, float, bool and None; "str" stands
for the names in quotes in its description. What depends on the rows, such as costs, has a maker: by the name of the
parameter, or by the word of its type.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from benchmarks.attacks.tables import Rows
from hornbeam.ensembles import QuantileLoss
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.forced_splits import forced_splits
from hornbeam.growing.grower import Grower
from hornbeam.pruning.registry import PRUNERS
from hornbeam.smoothing.registry import SMOOTHERS

type Maker = Callable[[np.random.Generator, Rows], Any]

PLAIN: dict[str, list[Any]] = {
    "int": [1, *2 * [2, 3, 5, 8], 30],
    "float": [*3 * [0.01, 0.05, 0.2, 0.5], 0.0, 1.0, 3.0],
    "bool": [False, True],
    "None": [None],
    "Criterion": [str(one) for one in Criterion],
    "Nominal": [str(one) for one in Nominal],
    "Missing": [str(one) for one in Missing],
}
BY_NAME: dict[str, list[Any]] = {
    "n_jobs": [1, 2],
    "n_estimators": [1, 3, 10],
    "n_iter_no_change": [1, 3],
    "slopes": [0, 1, 2, 3],
}


# ---- what the documentation says ---------------------------------------------------------------------------


@cache
def parameters(kind: Any) -> dict[str, tuple[str, str]]:
    """Return type and description of each documented parameter of a class or function."""
    part = (inspect.getdoc(kind) or "").partition("Parameters\n----------\n")[2]
    part = re.split(r"\n\n\w[\w ]*\n---", part)[0]
    entries = re.findall(r"^(\w+(?:, \w+)*) : (.*)\n((?: .*\n?|\n)*)", part, re.MULTILINE)
    return {
        name: (re.sub(r",? default[= ].*$|, optional$", "", kind_of), text)
        for names, kind_of, text in entries
        for name in names.split(", ")
    }


@cache
def values(kind: Any, name: str) -> list[Any]:
    """Return the values to draw from, as plain JSON; ``{"made": word}`` is made for the rows of the case."""
    if name in BY_NAME:
        return BY_NAME[name]
    type_, text = parameters(kind)[name]
    found: list[Any] = re.findall(r'"([^"]*)"', type_)
    words = re.split(r",? or |, ", re.sub(r'"[^"]*"|[{(].*[)}]', "", type_))
    if "str" in words:
        found += re.findall(r'"([^"]+)"', text)
    for word in words:
        found += PLAIN.get(word, [])
    named = [key for key in (f"{kind.__name__}.{name}", name) if key in NAMED][:1]
    made = named or [word for word in words if word in WORDS]
    return found + [{"made": word} for word in made for _ in range(3)]


def draw_settings(rng: np.random.Generator, kind: Any, names: list[str], n: int) -> dict[str, Any]:
    """Draw values of `n` of these parameters."""
    found = {}
    for name in rng.permutation(names)[:n]:
        known = values(kind, str(name))
        value = known[int(rng.integers(len(known)))]
        found[str(name)] = value | {"seed": int(rng.integers(2**32))} if isinstance(value, dict) else value
    return found


def made_settings(settings: dict[str, Any], rows: Rows) -> dict[str, Any]:
    """Make what depends on the rows."""
    return {name: _made(value, rows) for name, value in settings.items()}


def _made(value: Any, rows: Rows) -> Any:
    if not isinstance(value, dict):
        return value
    return (NAMED | WORDS)[value["made"]](np.random.default_rng(value.get("seed", 0)), rows)


# ---- what depends on the rows ------------------------------------------------------------------------------


def _step(known: dict[str, Any]) -> Maker:
    """Make a smoother or a pruner with parameters of its own."""

    def make(rng: np.random.Generator, rows: Rows) -> Any:
        kinds = [kind for kind in known.values() if kind.for_regression or not rows.regression]
        kind = kinds[int(rng.integers(len(kinds)))]
        names = [name for name in parameters(kind) if values(kind, name)]
        return kind(**made_settings(draw_settings(rng, kind, names, int(rng.integers(3))), rows))

    return make


def _costs(rng: np.random.Generator, rows: Rows) -> Any:
    classes = list(pd.unique(rows.y))
    if rng.random() < 0.5 or len(classes) < 2:
        matrix = rng.choice([0.1, 1.0, 5.0, 20.0], (len(classes), len(classes)))
        return np.where(np.eye(len(classes)), 0.0, matrix).tolist()
    return {(classes[0], classes[1]): float(rng.choice([0.1, 5.0, 20.0]))}


def _class_weight(rng: np.random.Generator, rows: Rows) -> Any:
    return {label: float(rng.integers(1, 5)) for label in pd.unique(rows.y)}


def _signs(rng: np.random.Generator, rows: Rows) -> list[int]:
    ordered = [kind not in ("categories", "texts", "booleans", "hostile texts") for kind in rows.kinds]
    return [int(rng.integers(-1, 2)) if one else 0 for one in ordered]


def _interactions(rng: np.random.Generator, rows: Rows) -> Any:
    cut = int(rng.integers(0, len(rows.kinds) + 1))
    features = [int(at) for at in rng.permutation(len(rows.kinds))]
    return [group for group in (features[:cut], features[cut:]) if group]


def _forbidden(rng: np.random.Generator, rows: Rows) -> dict[str, list[str]]:
    names = [str(name) for name in rng.permutation(np.array(rows.X.columns, dtype=object))]
    return {names[0]: names[1:2]}


def _prices(rng: np.random.Generator, rows: Rows) -> dict[str, Any]:
    names = [str(name) for name in rng.permutation(np.array(rows.X.columns, dtype=object))]
    prices: dict[str, Any] = {names[0]: float(rng.choice([0.0, 0.5, 3.0, 50.0]))}
    return prices | {"shared": (float(rng.choice([0.1, 2.0])), names[: int(rng.integers(1, 4))])}


def _forced(rng: np.random.Generator, rows: Rows) -> Any:
    """Return a tree, or a dict with the median of a column of numbers."""
    numeric = [
        name for name, kind in zip(rows.X, rows.kinds, strict=True) if kind in ("numbers", "ties", "holes")
    ]
    if not numeric or rng.random() < 0.3:
        return _shallow(rng, rows)
    name = numeric[int(rng.integers(len(numeric)))]
    split = {"feature": name, "threshold": float(np.nanmedian(rows.X[name]))}
    return split if rng.random() < 0.7 else split | {"missing": str(rng.choice(["left", "right"]))}


def _shallow(rng: np.random.Generator, rows: Rows) -> Any:
    kind = hornbeam.TreeRegressor if rows.regression else hornbeam.TreeClassifier
    return kind("cart", max_depth=int(rng.integers(1, 3))).fit(rows.X, rows.y).tree_


def _tree_estimator(rng: np.random.Generator, rows: Rows) -> Any:
    return hornbeam.TreeClassifier(str(rng.choice(["default", "cart", "c4.5"])), max_depth=4)


def _forest(rows: Rows) -> Any:
    return (hornbeam.ForestRegressor if rows.regression else hornbeam.ForestClassifier)(5)


def _grower(rng: np.random.Generator, rows: Rows) -> Any:
    names = [name for name in parameters(Grower) if values(Grower, name)]
    drawn = draw_settings(rng, Grower, names, int(rng.integers(1, 6)))
    if rows.regression and not Criterion(drawn.get("criterion", "entropy")).is_numeric:
        drawn["criterion"] = "squared_error"
    elif not rows.regression and Criterion(drawn.get("criterion", "entropy")).is_numeric:
        drawn["criterion"] = "gini"
    return Grower(**made_settings(drawn, rows))


NAMED: dict[str, Maker] = {
    "costs": _costs,
    "class_weight": _class_weight,
    "monotonic_cst": _signs,
    "Grower.monotonic_cst": lambda rng, rows: tuple(_signs(rng, rows)),
    "interaction_cst": _interactions,
    "Grower.interaction_cst": lambda rng, rows: tuple(map(tuple, _interactions(rng, rows))),
    "forbidden_below": _forbidden,
    "Grower.forbidden_below": lambda rng, rows: ((0, len(rows.kinds) - 1),),
    "feature_costs": _prices,
    "Grower.feature_costs": lambda rng, rows: ((2.5, (0, len(rows.kinds) - 1)), (1.0, (0,))),
    "forced_splits": _forced,
    "Grower.forced_splits": lambda rng, rows: forced_splits(_shallow(rng, rows).skeleton),
    "init": lambda rng, rows: _forest(rows),
    "teacher": lambda rng, rows: _forest(rows),
}
WORDS: dict[str, Maker] = {
    "a smoother": _step(SMOOTHERS),
    "a pruner": _step(PRUNERS),
    "Smoother": _step(SMOOTHERS),
    "Pruner": _step(PRUNERS),
    "Grower": _grower,
    "RandomState instance": lambda rng, rows: np.random.RandomState(int(rng.integers(100))),
    "Loss": lambda rng, rows: QuantileLoss(float(rng.choice([0.1, 0.5, 0.9]))),
    "Tree": _shallow,
    "TreeClassifier": _tree_estimator,
    "FrozenEstimator": lambda rng, rows: FrozenEstimator(_tree_estimator(rng, rows).fit(rows.X, rows.y)),
    "estimator": lambda rng, rows: DecisionTreeClassifier(max_depth=int(rng.integers(1, 5)), random_state=0),
}
