"""Random tables of many kinds of column, from a description of plain JSON values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.attacks.names import tests

ROWS = (1, 2, 3, 5, 8, 13, 21, 40, 80, 150, 300, 450)
ROW_SHARES = (0.02, 0.02, 0.02, 0.04, 0.07, 0.1, 0.15, 0.22, 0.2, 0.1, 0.04, 0.02)
LEVELS = ["very low", "low", "rather low", "middle", "high", "very high", "highest"]


def _holed(rng: np.random.Generator, values: list[Any], share: float = 0.15) -> list[Any]:
    return [None if rng.random() < share else value for value in values]


def _codes(rng: np.random.Generator, base: Any) -> Any:
    return np.where(rng.random(len(base)) < 0.1, -1, np.clip((base * 2).astype(int) + 3, 0, 6))


def _with_infinities(rng: np.random.Generator, base: Any) -> Any:
    values = np.where(rng.random(len(base)) < 0.2, np.inf, base)
    return np.where(rng.random(len(base)) < 0.1, -np.inf, values)


def _texts(rng: np.random.Generator, base: Any, texts: tuple[str, ...]) -> Any:
    at = np.clip(np.abs(base * len(texts) / 3).astype(int), 0, len(texts) - 1)
    return np.array([texts[place] for place in at], dtype=object)


PLAIN: dict[str, Callable[[np.random.Generator, Any], Any]] = {
    "numbers": lambda rng, base: base,
    "ties": lambda rng, base: np.round(base),
    "holes": lambda rng, base: np.where(rng.random(len(base)) < rng.choice([0.05, 0.5]), np.nan, base),
    "whole": lambda rng, base: np.round(base * 2).astype(int),
    "booleans": lambda rng, base: base > 0,
    "categories": lambda rng, base: pd.Categorical.from_codes(_codes(rng, base), [f"c{i}" for i in range(7)]),
    "ordered": lambda rng, base: pd.Categorical.from_codes(_codes(rng, base), LEVELS, ordered=True),
    "texts": lambda rng, base: np.array(_holed(rng, ["u" if x < 0 else "v" for x in base]), dtype=object),
}
KINDS = PLAIN | {
    "huge": lambda rng, base: base * 10.0 ** int(rng.integers(100, 307)),
    "tiny": lambda rng, base: base * 10.0 ** -float(rng.integers(100, 320)),
    "all magnitudes": lambda rng, base: base * 10.0 ** rng.integers(-300, 300, len(base)).astype(float),
    "infinities": _with_infinities,
    "large whole": lambda rng, base: rng.integers(2**60, 2**62, len(base)),
    "unsigned": lambda rng, base: rng.integers(0, 2**64 - 1, len(base), dtype=np.uint64),
    "hostile texts": lambda rng, base: _texts(rng, base, tests().HOSTILE[:60]),
    "dates": lambda rng, base: (
        pd.Timestamp("2020-01-01") + pd.to_timedelta((base * 100).astype(int), unit="D")
    ),
    "durations": lambda rng, base: pd.to_timedelta((base * 100).astype(int), unit="h"),
    "decimals": lambda rng, base: np.array(
        _holed(rng, [Decimal(repr(round(float(x), 3))) for x in base]), dtype=object
    ),
    "constant": lambda rng, base: np.full(len(base), 7.5),
    "no number": lambda rng, base: np.full(len(base), np.nan),
    "nothing": lambda rng, base: np.full(len(base), None, dtype=object),
    "identifiers": lambda rng, base: np.array([f"id{i}" for i in range(len(base))], dtype=object),
    "nullable booleans": lambda rng, base: pd.array(_holed(rng, (base > 0).tolist()), dtype="boolean"),
    "nullable whole": lambda rng, base: pd.array(_holed(rng, (base * 3).astype(int).tolist()), dtype="Int64"),
    "float32": lambda rng, base: base.astype(np.float32),
    "float16": lambda rng, base: base.astype(np.float16),
    "whole categories": lambda rng, base: pd.Categorical((base * 2).astype(int)),
}
NOT_IN_PARQUET = {"whole categories", "float16"}  # Parquet has no dictionaries of whole numbers
LABELS: dict[str, Callable[[Any], Any]] = {
    "text": lambda codes: np.array([f"k{code}" for code in codes], dtype=object),
    "whole": lambda codes: codes,
    "booleans": lambda codes: codes > 0,
    "floats": lambda codes: codes.astype(float),
    "hostile": lambda codes: np.array(
        [f"{tests().HOSTILE[code % 60]}{code}" for code in codes], dtype=object
    ),
}
WEIGHTS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "whole": lambda rng, n: np.append(1.0, rng.integers(0, 4, n - 1)),
    "real": lambda rng, n: rng.random(n) * 10.0 ** int(rng.integers(-8, 9)),
    "all magnitudes": lambda rng, n: 10.0 ** rng.integers(-5, 6, n),
}


@dataclass(frozen=True, slots=True)
class Rows:
    """A table with its target and the other arguments of `fit`."""

    X: Any
    y: Any
    kinds: tuple[str, ...]
    regression: bool
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    def take(self, order: Any) -> Rows:
        """Return some rows, in this order."""
        options = {name: values[order] for name, values in self.options.items()}
        return replace(self, X=self.X.iloc[order].reset_index(drop=True), y=self.y[order], options=options)


def draw_rows(
    rng: np.random.Generator, *, regression: bool, kinds: list[str] | None = None
) -> dict[str, Any]:
    """Draw the description of a table; `regression`: with a numeric target."""
    n_columns = int(rng.integers(1, 7))
    kinds = kinds or [*PLAIN, *PLAIN, *(KINDS if rng.random() < 0.5 else ())]
    names = [f"x{at}" for at in range(n_columns)]
    if rng.random() < 0.25:
        names = [str(name) for name in rng.permutation(np.array(tests().HOSTILE, dtype=object))[:n_columns]]
    case: dict[str, Any] = {
        "rows": int(rng.choice(ROWS, p=ROW_SHARES)),
        "seed": int(rng.integers(2**32)),
        "columns": [
            {"name": name, "kind": str(rng.choice(kinds)), "seed": int(rng.integers(2**32))} for name in names
        ],
        "classes": int(rng.choice([1, 2, 3, 5, 50], p=[0.03, 0.62, 0.2, 0.1, 0.05])),
        "target": str(rng.choice(list(LABELS))),
    }
    if regression:
        case["target"] = {
            "noise": float(rng.choice([0, 0.1, 1])),
            "exponent": int(rng.choice([0, 0, 0, -200, 100, 8])),
            "offset": float(rng.choice([0, 0, 1e6])),
        }
    if rng.random() < 0.3:
        case["weights"] = str(rng.choice(list(WEIGHTS)))
    if rng.random() < 0.15:
        case["groups"] = int(rng.choice([1, 2, 5, 30]))
    return case


def made_rows(case: dict[str, Any]) -> Rows:
    """Make the table of a description; each column has a seed of its own, so that one fewer changes no other."""
    rng, n = np.random.default_rng(case["seed"]), int(case["rows"])
    codes = rng.integers(0, max(1, case["classes"]), n)
    lean = codes / max(1, codes.max(initial=0))
    columns = {}
    for column in case["columns"]:
        own = np.random.default_rng(column["seed"])
        base = own.normal(size=n) + lean * own.choice([0, 1, 3])
        columns[column["name"]] = KINDS[column["kind"]](own, base)
    target = case["target"]
    if isinstance(target, dict):
        y = codes + rng.normal(size=n) * target.get("noise", 0)
        y = y * 10.0 ** target.get("exponent", 0) + target.get("offset", 0)
    else:
        y = LABELS[target](codes)
    options: dict[str, Any] = {}
    if "weights" in case:
        options["sample_weight"] = WEIGHTS[case["weights"]](rng, n)
    if case.get("groups"):
        options["groups"] = rng.integers(0, case["groups"], n)
    kinds = tuple(column["kind"] for column in case["columns"])
    return Rows(pd.DataFrame(columns), y, kinds, isinstance(target, dict), options)
