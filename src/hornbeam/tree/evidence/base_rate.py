"""Class probabilities for another prior, by Bayes' theorem: prior shift."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, shown
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

_ROUNDING = 1e-6  # tolerance of the sum of rates


def base_rate(tree: Tree) -> Floats:
    """Compute the frequency of each class in the training rows of a tree."""
    total = tree.evidence[0].sum()
    return tree.evidence[0] / total if total else np.full(tree.n_classes, 1 / tree.n_classes)


def prior_factors(tree: Tree, prior: Any) -> Floats:
    """Divide a prior by the base rate of a tree; 0 for a class without evidence.

    The prior is a mapping from label to rate, or the rates in the order of the classes. `ParameterError` if the rates
    are not for the classes of the tree, are below 0, do not add up to 1, or are above 0 for a class without evidence.
    """
    rates = _read_prior(prior, tree.schema)
    base = base_rate(tree)
    untrained = (base == 0) & (rates > 0)
    if untrained.any():
        label = tree.schema.classes[int(untrained.argmax())]
        raise ParameterError(
            f"prior gives the class {label!r} a rate of {rates[untrained][0]:g}, but training saw none of it: "
            "expected 0. Train with rows of this class to use it."
        )
    return np.divide(rates, base, out=np.zeros_like(base), where=base > 0)


def adjust_to_prior(probability: Floats, factors: Floats) -> Floats:
    """Adjust class probabilities to another prior, by Bayes' theorem.

    `probability` has the shape (..., n_classes); `factors` are new rate / old rate of each class (`prior_factors`). The
    result is their product, divided by its sum; where the sum is 0, `probability` unchanged.
    """
    joint = probability * factors
    total = joint.sum(axis=-1, keepdims=True)
    return np.divide(joint, total, out=probability.copy(), where=total > 0)


def adjust_bound_to_prior(bound: Floats, probability: Floats, factors: Floats) -> Floats:
    """Adjust lower or upper bounds of class probabilities, of shape (n, n_classes), to another prior.

    Each class is compared with all others together, which keep their proportions. For two classes this is exact.
    """
    joint, rest = probability * factors, 1 - probability
    others = np.maximum(joint.sum(axis=1, keepdims=True) - joint, 0)
    # If the others have probability 0, assume equal proportions.
    equal = np.broadcast_to((factors.sum() - factors) / max(len(factors) - 1, 1), joint.shape)
    opposed = (1 - bound) * np.divide(others, rest, out=equal.copy(), where=rest > 0)
    total = bound * factors + opposed
    return np.divide(bound * factors, total, out=bound.copy(), where=total > 0)


def _read_prior(prior: Any, schema: Schema) -> Floats:
    """Read one rate per class, in the order of the schema."""
    classes = list(schema.classes)
    if isinstance(prior, Mapping):
        if set(prior) != set(classes):
            odd = [label for label in prior if label not in classes] or [c for c in classes if c not in prior]
            raise ParameterError(
                f"prior names the classes {list(prior)}, expected {classes}: {odd[0]!r} is on one side only. "
                "Give every class a rate, 0 if need be."
            )
        prior = [prior[label] for label in classes]
    try:
        rates = np.array(prior, dtype=np.float64)
    except Exception:  # noqa: BLE001 (conversion may raise anything)
        rates = np.empty(0)
    if rates.shape != (len(classes),):
        raise ParameterError(
            f"prior is {shown(prior)}, expected {len(classes)} numbers, one per class in the order {classes}, "
            "or a mapping from class to number."
        )
    if not ((rates >= 0).all() and abs(rates.sum() - 1) <= _ROUNDING):
        raise ParameterError(
            f"prior has the rates {rates.tolist()}, expected numbers of 0 or more that add up to 1. "
            "Divide them by their sum."
        )
    rates /= rates.sum()
    return rates
