"""Class probabilities for other base rates, by Bayes' theorem: prior shift."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hornbeam.errors import ParameterError, shown
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats, Label

_ROUNDING = 1e-6  # tolerance of the sum of rates


def base_rate(*trees: Tree) -> Floats:
    """Compute the frequency of each class in the training rows of a tree; of several trees, the mean."""
    rates = []
    for tree in trees:
        total = tree.evidence[0].sum()
        rates.append(tree.evidence[0] / total if total else np.full(tree.n_classes, 1 / tree.n_classes))
    return rates[0] if len(rates) == 1 else np.mean(rates, axis=0)


def rate_factors(base_rates: Any, trained: Floats, classes: Sequence[Label]) -> Floats:
    """Divide new base rates by those of the training rows; 0 for a class without training rows.

    The new rates are a mapping from label to rate, or the rates in the order of the classes. `ParameterError` if they
    are not for these classes, are below 0, do not add up to 1, or are above 0 for a class without training rows.
    """
    rates = _read_rates(base_rates, list(classes))
    untrained = (trained == 0) & (rates > 0)
    if untrained.any():
        label = classes[int(untrained.argmax())]
        raise ParameterError(
            f"base_rates gives the class {label!r} a rate of {rates[untrained][0]:g}, but training saw none of it: "
            "expected 0. Train with rows of this class to use it."
        )
    return np.divide(rates, trained, out=np.zeros_like(trained), where=trained > 0)


def adjust_to_rates(probability: Floats, factors: Floats) -> Floats:
    """Adjust class probabilities to other base rates, by Bayes' theorem.

    `probability` has the shape (..., n_classes); `factors` are new rate / old rate of each class (`rate_factors`). The
    result is their product, divided by its sum; where the sum is 0, `probability` unchanged.
    """
    joint = probability * factors
    total = joint.sum(axis=-1, keepdims=True)
    return np.divide(joint, total, out=probability.copy(), where=total > 0)


def adjust_bound_to_rates(bound: Floats, probability: Floats, factors: Floats) -> Floats:
    """Adjust lower or upper bounds of class probabilities, of shape (n, n_classes), to other base rates.

    Each class is compared with all others together, which keep their proportions. For two classes this is exact.
    """
    joint, rest = probability * factors, 1 - probability
    others = np.maximum(joint.sum(axis=1, keepdims=True) - joint, 0)
    # If the others have probability 0, assume equal proportions.
    equal = np.broadcast_to((factors.sum() - factors) / max(len(factors) - 1, 1), joint.shape)
    opposed = (1 - bound) * np.divide(others, rest, out=equal.copy(), where=rest > 0)
    total = bound * factors + opposed
    return np.divide(bound * factors, total, out=bound.copy(), where=total > 0)


def _read_rates(base_rates: Any, classes: list[Label]) -> Floats:
    """Read one rate per class, in the order of the classes."""
    if isinstance(base_rates, Mapping):
        if set(base_rates) != set(classes):
            odd = [label for label in base_rates if label not in classes] or [
                c for c in classes if c not in base_rates
            ]
            raise ParameterError(
                f"base_rates names the classes {list(base_rates)}, expected {classes}: {odd[0]!r} is on one side only. "
                "Give every class a rate, 0 if need be."
            )
        base_rates = [base_rates[label] for label in classes]
    try:
        rates = np.array(base_rates, dtype=np.float64)
    except Exception:  # noqa: BLE001 (conversion may raise anything)
        rates = np.empty(0)
    if rates.shape != (len(classes),):
        raise ParameterError(
            f"base_rates is {shown(base_rates)}, expected {len(classes)} numbers, one per class in the order "
            f"{classes}, or a mapping from class to number."
        )
    if not ((rates >= 0).all() and abs(rates.sum() - 1) <= _ROUNDING):
        raise ParameterError(
            f"base_rates has the rates {rates.tolist()}, expected numbers of 0 or more that add up to 1. "
            "Divide them by their sum."
        )
    rates /= rates.sum()
    return rates
