"""From an estimator's parameters to a recipe: the one place where strings become objects."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.growing import Criterion, Missing, Nominal
from hornbeam.pruning import BayesRisk, Collapse, ErrorBased, MinimumError, Pruner
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.smoothing import HGS, Laplace, Smoother

__all__ = ["recipe_of"]

_PRUNERS: dict[str, Pruner] = {
    "bayes-risk": BayesRisk(),
    "collapse": Collapse(),
    "error-based": ErrorBased(),
    "minimum-error": MinimumError(),
}
_SMOOTHERS: dict[str, Smoother] = {"hgs": HGS(), "laplace": Laplace()}


def recipe_of(estimator: Any, feature_names: tuple[str, ...]) -> Recipe:
    """Translate the parameters of a `TreeClassifier`; "auto" is what the preset says."""
    if estimator.preset not in PRESETS:
        raise ParameterError(f"preset={estimator.preset!r}: expected one of {_listed(PRESETS)}.")
    recipe = PRESETS[estimator.preset]
    grower = replace(
        recipe.grower,
        criterion=_choice("criterion", estimator.criterion, Criterion, recipe.grower.criterion),
        nominal=_choice("nominal", estimator.nominal, Nominal, recipe.grower.nominal),
        missing=_choice("missing", estimator.missing, Missing, recipe.grower.missing),
        max_depth=_whole("max_depth", estimator.max_depth),
        min_samples_split=_whole("min_samples_split", estimator.min_samples_split),
        min_samples_leaf=_whole("min_samples_leaf", estimator.min_samples_leaf),
        min_impurity_decrease=estimator.min_impurity_decrease,
        max_leaf_nodes=_whole("max_leaf_nodes", estimator.max_leaf_nodes),
        monotone=_monotone(estimator.monotonic_cst, feature_names),
    )
    return Recipe(
        max_bins=_bins(estimator.max_bins, recipe),
        grower=grower,
        pruner=_step("pruning", estimator.pruning, _PRUNERS, recipe.pruner),
        smoother=_step("smoothing", estimator.smoothing, _SMOOTHERS, recipe.smoother),
    )


def _listed(names: Any) -> str:
    return ", ".join(repr(str(name)) for name in names)


def _choice[E: StrEnum](name: str, value: Any, choices: type[E], default: E) -> E:
    if isinstance(value, str) and value == "auto":
        return default
    try:
        return choices(value)
    except ValueError:
        raise ParameterError(f"{name}={value!r}: expected 'auto' or one of {_listed(choices)}.") from None


def _whole(name: str, value: Any) -> Any:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | np.integer)):
        raise ParameterError(f"{name}={value!r}: expected a whole number.")
    return value


def _bins(value: Any, recipe: Recipe) -> Any:
    if isinstance(value, str) and value == "auto":
        return recipe.max_bins
    if value is None or (isinstance(value, int | np.integer) and 2 <= value <= 65_535):
        return value
    raise ParameterError(f"max_bins={value!r}: expected 'auto', None for every value, or a number from 2 to 65,535.")


def _step(name: str, value: Any, named: Mapping[str, Any], default: Any) -> Any:
    if isinstance(value, str):
        if value == "auto":
            return default
        if value not in named:
            raise ParameterError(f"{name}={value!r}: expected 'auto', None, one of {_listed(named)}, or a step.")
        return named[value]
    if value is not None and not callable(value):
        raise ParameterError(f"{name}={value!r}: expected 'auto', None, one of {_listed(named)}, or a step.")
    return value


def _monotone(value: Any, names: tuple[str, ...]) -> tuple[int, ...] | None:
    if value is None:
        return None
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            raise ParameterError(f"monotonic_cst names {unknown[0]!r}, which is not a feature: expected names of X.")
        return tuple(int(value.get(name, 0)) for name in names)
    return tuple(int(sign) for sign in value)
