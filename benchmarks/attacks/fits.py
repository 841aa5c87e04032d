"""Random fits: an estimator, parameters and a table, judged by the oracles that the case lists."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import hornbeam
from benchmarks.attacks.inputs import is_ours, words
from benchmarks.attacks.oracles import ORACLES, Fit, WrongError, timed
from benchmarks.attacks.settings import draw_settings, made_settings, parameters, values
from benchmarks.attacks.tables import Rows, draw_rows, made_rows
from hornbeam.data.schema import Kind
from hornbeam.errors import HornbeamError
from hornbeam.recipe import Recipe
from hornbeam.tree import Table

NEEDS = ("duckdb", "hypothesis", "onnxruntime", "pandas", "polars", "pyarrow", "sqlglot")
#: What a case can fit: the public estimators, and a `Recipe` with its parts.
KINDS: dict[str, Any] = {
    name: getattr(hornbeam, name)
    for name in hornbeam.__all__
    if hasattr(getattr(hornbeam, name), "get_params")
} | {"Recipe": Recipe}
SMALL = {"n_estimators": 5}  # unless drawn: the defaults are for more rows


def drawable(kind: Any) -> list[str]:
    """The parameters that have values to draw from."""
    return [name for name in parameters(kind) if values(kind, name)]


def draw_fit(
    rng: np.random.Generator, name: str, always: dict[str, Any], names: list[str] | None = None
) -> dict[str, Any]:
    """Draw a case for one kind of estimator; `always` are settings that every case has."""
    kind = KINDS[name]
    names = [one for one in names or drawable(kind) if one not in always]
    small = {one: value for one, value in SMALL.items() if one in parameters(kind)}
    settings = small | draw_settings(rng, kind, names, int(rng.choice([0, 1, 2, 3, 5]))) | always
    regression = "Regressor" in name or name == "BoostedTreesRanker"
    regression = regression or (name == "Recipe" and rng.random() < 0.3)
    kinds = ["numbers", "ties", "whole", "float32"] if name == "SmoothedClassifier" else None
    return {
        "estimator": name,
        "settings": settings,
        "table": draw_rows(rng, regression=regression, kinds=kinds),
        "oracles": [oracle for oracle, (share, _) in ORACLES.items() if rng.random() < share],
        "seed": int(rng.integers(2**32)),
    }


def judge_fit(case: dict[str, Any]) -> str | None:
    """Fit, and return what the first oracle found that is wrong; None if all hold or the fit is refused."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        try:
            rows, settings, fitted = _made(case)
        except Exception:  # a case that was shrunk to nonsense, or parameters that are refused
            return None
        warnings.filterwarnings("error", category=RuntimeWarning, module="hornbeam")  # an overflow of ours
        at = "fit"
        try:
            with timed():
                model = fitted(rows)
            for at in case.get("oracles", []):
                rng = np.random.default_rng(case.get("seed", 0))
                fit = Fit(case["estimator"], model, rows, fitted, settings, rng, Path(folder))
                try:
                    ORACLES[at][1](fit)
                except (HornbeamError, MemoryError):
                    continue
        except (HornbeamError, MemoryError):
            return None
        except WrongError as wrong:
            return f"{case['estimator']}, {at}: {wrong}"
        except Exception as error:
            if case["estimator"] == "SmoothedClassifier" and not is_ours(error):
                return None  # what the wrapped estimator raises is its own
            return f"{at}: {words(error)}"
    return None


def _made(case: dict[str, Any]) -> tuple[Rows, dict[str, Any], Any]:
    """The rows, the settings, and a function that fits an estimator to rows or to a file."""
    name, rows = case["estimator"], made_rows(case["table"])
    settings = made_settings(case["settings"], rows)
    if "grower" in settings:  # the limits of a recipe are those of its grower
        limits = ("max_depth", "max_leaf_nodes", "once_per_path")
        settings |= {limit: getattr(settings["grower"], limit) for limit in limits}
    criterion = getattr(settings.get("grower"), "criterion", settings.get("criterion"))
    if name == "BoostedTreesRanker":
        rows.y[:] = np.clip(np.round(np.abs(rows.y)), 0, 4)
    elif settings.get("loss") == "poisson" or criterion in ("poisson", "gamma"):
        rows.y[:] = np.abs(rows.y)

    def fitted(source: Any, n_jobs: int | None = None, **options: Any) -> Any:
        asked = made_settings(case["settings"], rows)  # a new random state for each fit
        if n_jobs is not None:
            asked["n_jobs"] = n_jobs
        if isinstance(source, Rows):
            options = {**source.options, **options}
        if name == "Recipe":
            return _tree(asked, source, options)
        estimator = KINDS[name](**asked)
        if source is None:
            return estimator
        if not isinstance(source, Rows):
            return estimator.fit(source, "the target", **options)
        if name == "BoostedTreesRanker":
            return estimator.fit(source.X, source.y.astype(int), query=np.arange(source.n) // 7)
        return estimator.fit(source.X, source.y, **options)

    return rows, settings, fitted


def _tree(settings: dict[str, Any], rows: Rows, options: dict[str, Any]) -> Any:
    n_jobs, weight = settings.pop("n_jobs", 1), options.get("sample_weight")
    table = Table.read(
        rows.X, rows.y, sample_weight=weight, target_kind=Kind.NUMERIC if rows.regression else None
    )
    return Recipe(**settings).fit(table, n_jobs=n_jobs)
