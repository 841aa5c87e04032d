"""Hostile training data and parameters: every estimator uses them or refuses them with a `HornbeamError`.

A case names an estimator, parameters, and X, y and weights as plain JSON values in some container. ``{"odd": name}``
stands for a value that JSON cannot hold, such as 10**400 or an object whose hash fails.
"""

from __future__ import annotations

import datetime
import math
import traceback
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from hornbeam.errors import HornbeamError

__all__ = ["IN_CI", "NEEDS", "draw", "is_ours", "judge", "words"]

NEEDS = ("pandas", "polars", "pyarrow")
IN_CI = 1000


class _Failing:
    """All that Python may ask of it fails."""

    def _fail(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("on purpose")

    __array__ = __hash__ = __float__ = __int__ = __eq__ = __lt__ = __len__ = __iter__ = __bool__ = _fail


class _Unhashable(str):
    """A text whose hash fails."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError("on purpose")


ODD: dict[str, Any] = {
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "-0": -0.0,
    "2**53+1": 2**53 + 1,
    "2**63": 2**63,
    "-2**63": -(2**63),
    "2**64": 2**64,
    "2**70": 2**70,
    "10**400": 10**400,
    "-10**5000": -(10**5000),
    "1e308": 1e308,
    "1e300": 1e300,
    "1e150": 1e150,
    "1e-300": 1e-300,
    "5e-324": 5e-324,
    "sNaN": Decimal("sNaN"),
    "decimal": Decimal("1.5"),
    "1/3": Fraction(1, 3),
    "complex": 1j,
    "NA": pd.NA,
    "NaT": pd.NaT,
    "float32": np.float32(1.5),
    "uint8": np.uint8(200),
    "bytes": b"x",
    "date": datetime.date(2020, 1, 1),
    "datetime64": np.datetime64("2020-01-01"),
    "surrogate": "\ud800",
    "nul": "\0",
    "long": "x" * 5_000,
    "list": [],
    "set": set(),
    "dict": {},
    "failing": _Failing(),
    "unhashable": _Unhashable("a"),
    "class": int,
    "array": np.array([1, 2]),
}
POOLS: dict[str, list[Any]] = {
    "numbers": [0.5, -1.25, 3.0, 1e-3, 7.5, 12.0],
    "whole": [0, 1, 2, 3, -4, 100],
    "large": [
        {"odd": name} for name in ("2**53+1", "2**63", "-2**63", "1e308", "-0", "5e-324", "inf", "-inf")
    ],
    "texts": ["a", "b", "", "=1+1", " a", "é", "None", "nan", "a\nb", "1"],
    "booleans": [True, False],
    "missing": [None, {"odd": "nan"}, {"odd": "NA"}, {"odd": "NaT"}],
    "mixed": [1, "1", 1.0, True, None, {"odd": "decimal"}, {"odd": "1/3"}, {"odd": "float32"}],
    "odd": [{"odd": name} for name in ODD],
}
CONTAINERS = (
    "list",
    "tuple",
    "array",
    "object array",
    "pandas",
    "polars",
    "pyarrow",
    "sparse",
    "masked",
    "dicts",
    "dictionary",
)
SERIES = (
    "list",
    "tuple",
    "array",
    "object array",
    "pandas",
    "category",
    "polars",
    "pyarrow",
    "dictionary",
    "column",
)
NAMES = ["a", "b", "c", "d", "", "=x", "a\nb", "\ud800", "x0", "a" * 300, 1, None, True]
WEIGHTS = [0, 1, 2, 0.5, 2.75, 100, -1, "x", None, *({"odd": name} for name in ODD)]
FINE_WEIGHTS = [
    0,
    1,
    2,
    0.5,
    2.75,
    100,
    *({"odd": name} for name in ("1e150", "1e-300", "5e-324", "1e300", "1e308")),
]
CLASSIFIERS = ("tree", "cart", "c4.5", "forest", "boosted", "adaboost", "rules", "smoothed")
SETTINGS: dict[str, dict[str, Any]] = {
    "tree": {},
    "cart": {"preset": "cart"},
    "c4.5": {"preset": "c4.5"},
    "regressor": {},
    "regression cart": {"preset": "cart"},
    "forest": {"n_estimators": 2},
    "forest regressor": {"n_estimators": 2},
    "boosted": {"n_estimators": 2, "min_samples_leaf": 1},
    "boosted regressor": {"n_estimators": 2, "min_samples_leaf": 1},
    "ranker": {"n_estimators": 2, "min_samples_leaf": 1},
    "adaboost": {"n_estimators": 3},
    "rules": {},
    "smoothed": {"estimator": DecisionTreeClassifier(max_depth=2)},
}
CLASSES: dict[str, Any] = {
    "tree": hornbeam.TreeClassifier,
    "cart": hornbeam.TreeClassifier,
    "c4.5": hornbeam.TreeClassifier,
    "regressor": hornbeam.TreeRegressor,
    "regression cart": hornbeam.TreeRegressor,
    "forest": hornbeam.ForestClassifier,
    "forest regressor": hornbeam.ForestRegressor,
    "boosted": hornbeam.BoostedTreesClassifier,
    "boosted regressor": hornbeam.BoostedTreesRegressor,
    "ranker": hornbeam.BoostedTreesRanker,
    "adaboost": hornbeam.AdaBoostClassifier,
    "rules": hornbeam.RuleClassifier,
    "smoothed": hornbeam.SmoothedClassifier,
}
ODD_PARAMETERS = [*POOLS["odd"], 0, 1, -1, 2, 0.5, "x", "auto", True, None, [1, 0], {"a": 1}]
FRAMES = ("list", "object array", "pandas", "polars", "pyarrow")
MOST_ROWS = 40


def draw(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a case: mostly sound data with a few odd values, so that many of them reach the kernels."""
    if rng.random() < 0.6:
        return _one_oddity(rng)
    name = str(rng.choice(list(CLASSES)))
    n_rows = int(rng.integers(1, MOST_ROWS))
    columns = [_column(rng, n_rows, at) for at in range(int(rng.integers(1, 5)))]
    case: dict[str, Any] = {
        "estimator": name,
        "parameters": [],
        "X": {"container": str(rng.choice(CONTAINERS)), "columns": columns},
        "y": _target(rng, n_rows, numeric=name not in CLASSIFIERS),
    }
    if rng.random() < 0.4:
        pool = FINE_WEIGHTS if rng.random() < 0.7 else WEIGHTS
        few = [pool[at] for at in rng.integers(0, len(pool), int(rng.integers(1, 4)))]
        values = [few[at] for at in rng.integers(0, len(few), n_rows)]
        case["weights"] = {"container": str(rng.choice(SERIES)), "values": values}
    if rng.random() < 0.2:
        case["class_weight"] = _class_weight(rng, case["y"]["values"])
    if rng.random() < 0.2:
        pool = POOLS[str(rng.choice(list(POOLS)))]
        few = [pool[at] for at in rng.integers(0, len(pool), int(rng.integers(1, 5)))]
        values = [few[at] for at in rng.integers(0, len(few), n_rows)]
        case["groups"] = {"container": str(rng.choice(SERIES)), "values": values}
    elif rng.random() < 0.1:
        case["groups"] = str(rng.choice(["copies", "a", "", "absent"]))
    known = list(CLASSES[name]().get_params(deep=False))
    for _ in range(int(rng.choice([0, 0, 0, 1, 2]))):
        value = _pick(rng, ODD_PARAMETERS)
        case["parameters"].append([str(rng.choice(known)), value])
    return case


def _one_oddity(rng: np.random.Generator) -> dict[str, Any]:
    """Sound data and parameters with one thing that is odd."""
    name = str(rng.choice(list(CLASSES)))
    n_rows = int(rng.integers(2, MOST_ROWS))
    kinds = rng.choice(["numbers", "whole", "texts", "booleans"], int(rng.integers(1, 4)))
    if name == "smoothed":
        kinds = np.array(["numbers", "whole"])
    columns = [
        {"name": "abcd"[at], "values": [_pick(rng, POOLS[str(kind)]) for _ in range(n_rows)]}
        for at, kind in enumerate(kinds)
    ]
    few = (
        POOLS["numbers"]
        if name not in CLASSIFIERS
        else [["no", "yes"], [0, 1, 2], [False, True]][rng.integers(3)]
    )
    case: dict[str, Any] = {
        "estimator": name,
        "parameters": [],
        "X": {"container": str(rng.choice(FRAMES)), "columns": columns},
        "y": {
            "container": str(rng.choice(["list", "array", "pandas"])),
            "values": [_pick(rng, few) for _ in range(n_rows)],
        },
    }
    target = case["y"]["values"]
    match int(rng.integers(7)):
        case 0:
            for _ in range(int(rng.integers(1, 4))):
                column = _pick(rng, columns)["values"]
                column[int(rng.integers(n_rows))] = _pick(
                    rng, [*POOLS["odd"], *POOLS["missing"], *POOLS["large"]]
                )
        case 1:
            target[int(rng.integers(n_rows))] = _pick(rng, [*POOLS["odd"], *POOLS["large"]])
        case 2:
            few = [_pick(rng, FINE_WEIGHTS) for _ in range(int(rng.integers(1, 4)))]
            weights = [_pick(rng, few) for _ in range(n_rows)]
            case["weights"] = {"container": str(rng.choice(["list", "array"])), "values": weights}
        case 3:
            case["class_weight"] = _class_weight(rng, target)
        case 4:
            known = list(CLASSES[name]().get_params(deep=False))
            case["parameters"].append([str(rng.choice(known)), _pick(rng, ODD_PARAMETERS)])
        case 5:
            _pick(rng, columns)["name"] = _pick(rng, NAMES)
        case 6:
            case["X"]["container"], case["y"]["container"] = (
                str(rng.choice(CONTAINERS)),
                str(rng.choice(SERIES)),
            )
    return case


def _pick(rng: np.random.Generator, values: list[Any]) -> Any:
    return values[int(rng.integers(len(values)))]


def _spoiled(rng: np.random.Generator, values: list[Any]) -> list[Any]:
    """The values with a few odd ones among them, sometimes."""
    if rng.random() < 0.15:
        pool = POOLS[str(rng.choice(["odd", "missing", "mixed", "large"]))]
        for _ in range(int(rng.integers(1, 4))):
            values[int(rng.integers(len(values)))] = _pick(rng, pool)
    return values


def _column(rng: np.random.Generator, n_rows: int, at: int) -> dict[str, Any]:
    pools = ["numbers", "numbers", "whole", "texts", "texts", "booleans", "large", "missing", "mixed"]
    pool = POOLS[str(rng.choice(pools))]
    name = "abcd"[at] if rng.random() < 0.9 else _pick(rng, NAMES)
    return {"name": name, "values": _spoiled(rng, [_pick(rng, pool) for _ in range(n_rows)])}


def _target(rng: np.random.Generator, n_rows: int, *, numeric: bool) -> dict[str, Any]:
    pools = ["numbers", "whole", "large"] if numeric else ["whole", "texts", "booleans", "large", "mixed"]
    pool = POOLS[str(rng.choice(pools))]
    few = [_pick(rng, pool) for _ in range(int(rng.integers(1, 5)))]
    values = _spoiled(rng, [_pick(rng, few) for _ in range(n_rows)])
    return {"container": str(rng.choice(SERIES)), "values": values}


def _class_weight(rng: np.random.Generator, labels: list[Any]) -> Any:
    if rng.random() < 0.3:
        return "balanced"
    pairs = [[label, _pick(rng, WEIGHTS)] for label in labels[:6] if rng.random() < 0.8]
    return {"pairs": pairs}


def judge(case: dict[str, Any]) -> str | None:
    """Fit and predict; return what went wrong, None if the data were used or properly refused."""
    try:
        estimator, X, y, options = _made(case)
    except Exception:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings(
                "error", category=RuntimeWarning, module="hornbeam"
            )  # an overflow of ours
            return _tried(estimator, X, y, options)
    except (HornbeamError, MemoryError):
        return None
    except Exception as error:
        if isinstance(estimator, hornbeam.SmoothedClassifier) and not is_ours(error):
            return None  # what the wrapped estimator raises is its own
        return f"fit raised {words(error)}"


def _tried(estimator: Any, X: Any, y: Any, options: dict[str, Any]) -> str | None:
    estimator.fit(X, y, **options)
    try:
        found = estimator.predict(X)
        if not hasattr(estimator, "predict_proba"):
            return None if np.isfinite(found).all() else "predict gives a number that is not finite"
        belief = estimator.predict_proba(X)
    except Exception as error:
        return f"fit took X, and predict raised {words(error)}"
    if not np.isfinite(belief).all() or belief.min() < 0 or belief.max() > 1:
        return "a probability is not between 0 and 1"
    if np.abs(belief.sum(axis=1) - 1).max() > 1e-9:
        return "probabilities do not add up to 1"
    return None if len(found) == len(belief) else "predict and predict_proba differ in length"


def is_ours(error: BaseException) -> bool:
    """Whether Hornbeam raised an error, and not what it called."""
    frames = traceback.extract_tb(error.__traceback__)
    return "sklearn" not in "".join(frame.filename for frame in frames)


def words(error: BaseException) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "hornbeam" in frame.filename]
    place = ours[-1] if ours else where
    try:
        words = str(error)
    except Exception:
        words = ""
    text = " ".join(words.split())[:120].encode("ascii", "backslashreplace").decode()
    return f"{type(error).__name__} in {place.filename.rpartition('/')[2]}:{place.name}: {text}"


def _made(case: dict[str, Any]) -> tuple[Any, Any, Any, dict[str, Any]]:
    """The estimator, X, y and the other arguments of `fit`."""
    name = case["estimator"]
    settings = {**SETTINGS[name], **{key: _value(one) for key, one in case.get("parameters", [])}}
    if "class_weight" in case and "class_weight" in CLASSES[name]().get_params(deep=False):
        settings["class_weight"] = _weighting(case["class_weight"])
    estimator = CLASSES[name]()
    for key, value in settings.items():
        setattr(estimator, key, value)
    options: dict[str, Any] = {}
    if name != "ranker" and case.get("weights") is not None:
        options["sample_weight"] = _series(case["weights"])
    if name not in ("ranker", "smoothed") and "groups" in case:
        groups = case["groups"]
        options["groups"] = groups if isinstance(groups, str) else _series(groups)
    return estimator, _table(case["X"]), _series(case["y"]), options


def _value(spec: Any) -> Any:
    return ODD[spec["odd"]] if isinstance(spec, dict) and "odd" in spec else spec


def _weighting(spec: Any) -> Any:
    if not isinstance(spec, dict) or "pairs" not in spec:
        return spec
    return {_value(label): _value(weight) for label, weight in spec["pairs"]}


def _series(spec: dict[str, Any]) -> Any:
    """Values in a container of one dimension."""
    values = [_value(one) for one in spec["values"]]
    match spec["container"]:
        case "list":
            return values
        case "tuple":
            return tuple(values)
        case "array":
            return np.array(values)
        case "pandas":
            return pd.Series(values)
        case "category":
            return pd.Series(values, dtype="category")
        case "polars":
            return _polars("", values)
        case "pyarrow":
            return pa.chunked_array([_arrow(values)])
        case "dictionary":
            return _dictionary(values)
        case "column":
            return _boxed(values)[:, None]
    return _boxed(values)


def _boxed(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _polars(name: str, values: list[Any]) -> Any:
    if any(isinstance(value, Decimal) and value.is_snan() for value in values):
        raise ValueError("polars panics")
    return pl.Series(name, values, strict=False)


def _arrow(values: list[Any]) -> Any:
    if any(isinstance(value, np.generic) for value in values):
        raise ValueError("pyarrow crashes on np.datetime64 among numbers")
    return pa.array(values)


def _dictionary(values: list[Any]) -> Any:
    """An Arrow dictionary; with a number beyond 2 among the values its indices are these, and may be wrong."""
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return pa.DictionaryArray.from_arrays(pa.array(values, pa.int8()), ["no", "yes", "maybe"], safe=False)
    return _arrow(values).dictionary_encode()


def _table(spec: dict[str, Any]) -> Any:
    """Columns in a container of two dimensions."""
    names = [column["name"] for column in spec["columns"]]
    columns = [[_value(one) for one in column["values"]] for column in spec["columns"]]
    rows = [list(row) for row in zip(*columns, strict=True)]
    match spec["container"]:
        case "tuple":
            return tuple(map(tuple, rows))
        case "array":
            return np.array(rows)
        case "object array":
            return np.column_stack([_boxed(column) for column in columns])
        case "pandas":
            frame = pd.DataFrame({at: pd.Series(column) for at, column in enumerate(columns)})
            frame.columns = names
            return frame
        case "polars":
            return pl.DataFrame([_polars(str(n), c) for n, c in zip(names, columns, strict=True)])
        case "pyarrow":
            return pa.table([_series({"container": "pyarrow", "values": c}) for c in columns], names=names)
        case "dictionary":
            return pa.table([_dictionary(column) for column in columns], names=names)
        case "sparse":
            return scipy.sparse.csr_array(np.array(rows, dtype=np.float64))
        case "masked":
            return np.ma.masked_array(np.array(rows), mask=np.eye(len(rows), len(names)))
        case "dicts":
            return [dict(zip(names, row, strict=True)) for row in rows]
    return rows
