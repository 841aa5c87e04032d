"""Decision rules in model files."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any

import numpy as np

from hornbeam.errors import ParameterError, StorageError
from hornbeam.storage.model import Model
from hornbeam.storage.values import show
from hornbeam.tree import Costs, DecisionRule
from hornbeam.typing import Floats, Label

__all__ = ["decode_decision", "encode_decision"]


def encode_decision(model: Model) -> dict[str, Any] | None:
    """Encode the decision rule of a model as plain lists; None for the default rule."""
    decision = model.tree.decision
    if decision.is_default and model.settings.get("costs") is None and not model.learned.get("class_weight"):
        return None
    costs, weight = decision.costs, decision.class_weight
    return {
        "costs": None if costs is None else costs.matrix.tolist(),
        "class_weight": None if weight is None else weight.tolist(),
    }


def decode_decision(
    content: object,
    classes: tuple[Label, ...],
    estimator: str | None,
    settings: Mapping[str, Any],
    learned: Mapping[str, Any],
) -> DecisionRule:
    """Decode the decision rule of a tree; before version 1.3 it is in the estimator's settings."""
    k = len(classes)
    match content:
        case {"costs": costs, "class_weight": weight, **rest} if not rest:
            if costs is not None:
                if type(costs) is not list or len(costs) != k:
                    raise StorageError(f"costs are {show(costs)}; expected {k} lists")
                costs = Costs(np.array([_numbers(row, k, "a row of costs", "finite") for row in costs]))
            return DecisionRule(costs, _weights(weight, k))
        case None if estimator == "TreeClassifier":
            try:
                costs = settings.get("costs")
                costs = None if costs is None else Costs.of(costs, classes)
            except ParameterError as error:
                raise StorageError(str(error)) from error
            return DecisionRule(costs, _weights(learned.get("class_weight"), k))
        case None:
            return DecisionRule()
    raise StorageError(f"decision is {show(content)}; expected costs and class_weight, each null or a list")


def _weights(content: object, k: int) -> Floats | None:
    return (
        None if content is None else _numbers(content, k, "class_weight", "0 or more and finite", least=0.0)
    )


def _numbers(content: object, k: int, name: str, expected_range: str, least: float = -inf) -> Floats:
    """Read a list of finite numbers, each at least `least`."""

    def sound(one: object) -> bool:
        return isinstance(one, int | float) and not isinstance(one, bool) and isfinite(one) and one >= least

    match content:
        case [*numbers] if len(numbers) == k and all(map(sound, numbers)):
            return np.array(numbers, np.float64)
    raise StorageError(f"{name} is {show(content)}; expected {k} numbers, {expected_range}")
