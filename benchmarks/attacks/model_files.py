"""Sound model files of every estimator: a header and arrays as plain values, to be changed and written again."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from hornbeam import smoothing
from hornbeam.estimators.persistence.files import pack
from hornbeam.storage.layout import arrays_for, fingerprint
from hornbeam.storage.tensors import _TYPES
from hornbeam.tree import Slopes, with_slopes

FEW = {"max_depth": 3}


@dataclass(slots=True)
class File:
    """A model file: the values of its header, and its arrays."""

    header: dict[str, Any]
    arrays: dict[str, list[Any]]

    def copy(self) -> File:
        return File(copy.deepcopy(self.header), {name: list(values) for name, values in self.arrays.items()})


@cache
def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (90, 3)) / 4
    X[rng.random(X.shape) < 0.08] = np.nan
    return X, (np.nan_to_num(X[:, 0] + X[:, 1]) > 2.5 + rng.random(90)).astype(int)


@cache
def frame() -> tuple[Any, Any]:
    """Numbers, categories with and without an order, truth values; three classes with names."""
    rng = np.random.default_rng(1)
    colour = pd.Categorical(rng.choice(["blue", "red", "grün"], 90))
    size = pd.Categorical(rng.choice([1, 2, 5], 90), categories=[1, 2, 5], ordered=True)
    number = rng.choice([0.0, 1.5, np.inf, np.nan], 90)
    table = pd.DataFrame({"colour": colour, "size": size, "x": number, "flag": rng.random(90) < 0.5})
    label = np.array(["a", "b", "ü"])[(table["flag"] + 2 * (colour == "red") + (rng.random(90) < 0.1)) % 3]
    return table, label


def _tree(*given: Any, on: Callable[[], tuple[Any, Any]] = rows, **settings: Any) -> Any:
    return hornbeam.TreeClassifier(*given, **FEW | settings).fit(*on())


def _number() -> tuple[Any, Any]:
    X, y = rows()
    return X, y + np.nan_to_num(X[:, 2])


def _three() -> tuple[Any, Any]:
    X, y = rows()
    return X, y + (np.nan_to_num(X[:, 2]) > 1.5)


def _ranked() -> Any:
    X, y = rows()
    return hornbeam.BoostedTreesRanker(n_estimators=2, **FEW).fit(X, y, query=np.repeat(np.arange(9), 10))


def _distilled() -> Any:
    X, y = rows()
    forest = hornbeam.ForestClassifier(3, **FEW).fit(X, y)
    return hornbeam.TreeClassifier(teacher=forest).fit(X, y)


def _foreign() -> Any:
    X, y = np.nan_to_num(rows()[0]), rows()[1]
    return (
        hornbeam.SmoothedClassifier(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y).trees_[0]
    )


def _frozen_rules() -> Any:
    X, y = rows()
    return hornbeam.RuleClassifier(FrozenEstimator(_tree("cart"))).fit(X, y)


def _with_slopes(model: Any) -> Any:
    """The model with a term on every feature at every node, two of categories."""
    tree, terms = model.tree_, []
    for node in range(tree.n_nodes):
        for f, feature in enumerate(tree.schema.features):
            codes = range(2) if feature.kind == "nominal" else [-1]
            terms += [(node, f, code, 0.0, 1.0, 0.25) for code in codes]
    at, feature, category, low, high, centre = zip(*terms, strict=True)
    slope = np.linspace(-1, 1, len(terms) * tree.schema.n_outputs).reshape(len(terms), -1)
    model.tree_ = with_slopes(tree, Slopes.of(at, feature, low, high, centre, slope, category))
    return model


MODELS: dict[str, Callable[[], Any]] = {
    "tree": _tree,
    "tree of a frame": lambda: _tree(on=frame),
    "tree by c4.5": lambda: _tree("c4.5", smoothing=smoothing.HGS(2.0)),
    "tree by cart": lambda: _tree("cart", class_weight={0: 1.0, 1: 2.5}),
    "tree with costs": lambda: _tree(costs=[[0, 5], [1, 0]]),
    "tree, monotone": lambda: _tree(monotonic_cst=[1, 0, 0]),
    "tree, hdp": lambda: _tree(smoothing=smoothing.HDP(sweeps=50, burn_in=10)),
    "tree, gradient-hgs": lambda: _tree(smoothing="gradient-hgs"),
    "tree, leave-one-out-hgs": lambda: _tree(smoothing="leave-one-out-hgs"),
    "tree, m-branch": lambda: _tree(smoothing="m-branch"),
    "tree, m-estimate": lambda: _tree(smoothing=smoothing.MEstimate(2.0, (0.25, 0.75))),
    "tree, laplace": lambda: _tree(smoothing="laplace"),
    "tree, shrinkage": lambda: _tree(smoothing="hierarchical-shrinkage", on=frame),
    "tree, raw": lambda: _tree(smoothing=None),
    "tree of one leaf": lambda: hornbeam.TreeClassifier().fit([[0.0]], ["only"]),
    "bare tree": lambda: _tree(on=frame).tree_,
    "foreign tree": _foreign,
    "distilled tree": _distilled,
    "regressor": lambda: hornbeam.TreeRegressor(**FEW).fit(*_number()),
    "regressor, m-branch": lambda: hornbeam.TreeRegressor(smoothing="m-branch", **FEW).fit(*_number()),
    "regressor, shrinkage": lambda: hornbeam.TreeRegressor(smoothing="hierarchical-shrinkage", **FEW).fit(
        *_number()
    ),
    "rules": lambda: hornbeam.RuleClassifier(hornbeam.TreeClassifier("cart", **FEW)).fit(*rows()),
    "rules of a frozen tree": _frozen_rules,
    "forest": lambda: hornbeam.ForestClassifier(3, class_weight={0: 1.0, 1: 2.5}, **FEW).fit(*rows()),
    "forest of a frame": lambda: hornbeam.ForestClassifier(2, **FEW).fit(*frame()),
    "forest of means": lambda: hornbeam.ForestRegressor(2, **FEW).fit(*_number()),
    "adaboost of three": lambda: hornbeam.AdaBoostClassifier(3).fit(*_three()),
    "forest that votes": lambda: hornbeam.ForestClassifier(2, voting="hard", **FEW).fit(*rows()),
    "tree, hgs-published": lambda: _tree(smoothing="hgs-published"),
    "boosting": lambda: hornbeam.BoostedTreesClassifier(n_estimators=2, **FEW).fit(*rows()),
    "boosting of three": lambda: hornbeam.BoostedTreesClassifier(n_estimators=2, **FEW).fit(*_three()),
    "boosting of means": lambda: hornbeam.BoostedTreesRegressor(n_estimators=2, **FEW).fit(*_number()),
    "boosting of counts": lambda: hornbeam.BoostedTreesRegressor(loss="poisson", n_estimators=2, **FEW).fit(
        *rows()
    ),
    "ranker": _ranked,
    "slopes": lambda: _with_slopes(_tree("cart")),
    "slopes of a frame": lambda: _with_slopes(_tree("cart", on=frame)),
    "slopes of means": lambda: _with_slopes(hornbeam.TreeRegressor(**FEW).fit(*_number())),
    "bare slopes": lambda: _with_slopes(_tree("cart", on=frame)).tree_,
}


@cache
def sound(name: str) -> File:
    """The file of a model."""
    from hornbeam.storage.layout import arrays_of, header_of

    model = pack(MODELS[name]())
    arrays = arrays_of(model)
    header = json.loads(json.dumps(header_of(model, arrays)))
    return File(header, {key: array.ravel().tolist() for key, array in arrays.items()})


def write(file: File, form: str, checksum: str) -> bytes | None:
    """The bytes of a file; None if there is no way to say this in that form.

    The checksum is "right" for the content of the file now, "old" or "none".
    """
    header = dict(file.header)
    if checksum == "none":
        header.pop("sha256", None)
    if checksum == "right":
        try:
            header["sha256"] = fingerprint(header, _numpy(file))
        except Exception:  # it says things of which there is no checksum: that is for the reader to refuse
            header.pop("sha256", None)
    try:
        return _text(header, file.arrays) if form == "text" else _tensors(header, _numpy(file))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _numpy(file: File) -> dict[str, Any]:
    kinds = arrays_for(file.header.get("kind", "tree"))
    return {name: np.array(values, kinds[name].dtype) for name, values in file.arrays.items()}


def _text(header: dict[str, Any], arrays: dict[str, list[Any]]) -> bytes:
    spelled = {
        name: [None if one != one else repr(one) if one in (np.inf, -np.inf) else one for one in values]
        for name, values in arrays.items()
    }
    return json.dumps(header | {"tree": spelled}).encode()


def _tensors(header: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    """As `write_tensors`, whatever the header says."""
    kinds = arrays_for(header.get("kind", "tree"))
    entries: dict[str, Any] = {"__metadata__": {"hornbeam": json.dumps(header)}}
    begin, body = 0, b""
    for name, array in arrays.items():
        shape = [array.size]
        if len(kinds[name].per) == 2:
            runs_over = {"n_nodes": "n_children", "n_terms": "slope_node", "n_trees": "tree_nodes"}
            outer = len(arrays[runs_over[kinds[name].per[0]]])
            shape = [outer, array.size // max(outer, 1)]
        end = begin + array.nbytes
        entries[name] = {"dtype": _TYPES[kinds[name].dtype], "shape": shape, "data_offsets": [begin, end]}
        body, begin = body + array.tobytes(), end
    head = json.dumps(entries).encode()
    return len(head).to_bytes(8, "little") + head + body
