"""Probabilities on another base rate: what Bayes' theorem says when the classes are more or less common."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, shown
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["base_rate", "prior_factors", "shift", "shift_bound"]

_ROUNDING = 1e-6  # by which rates may miss a sum of 1


def base_rate(tree: Tree) -> Floats:
    """Give the rate of every class in the evidence of a tree.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> base_rate(TreeClassifier().fit([[0], [1], [2], [3]], ["a", "b", "b", "b"]).tree_).tolist()
    [0.25, 0.75]
    """
    total = tree.evidence[0].sum()
    return tree.evidence[0] / total if total else np.full(tree.n_classes, 1 / tree.n_classes)


def prior_factors(tree: Tree, prior: Any) -> Floats:
    """Compare a prior with the base rate of a tree: the factor by which each class is now more common.

    Parameters
    ----------
    tree : Tree
    prior : mapping from label to rate, or array-like of shape (n_classes,)
        The rates where the tree is to be used, in the order of the classes; they add up to 1.

    Returns
    -------
    float64 array of shape (n_classes,)
        ``prior / base_rate``; 0 for a class without evidence.

    Raises
    ------
    ParameterError
        If the rates are not those of the tree's classes, are below 0, do not add up to 1, or give a class
        without evidence a share.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier().fit([[0], [1], [2], [3]], ["a", "b", "b", "b"]).tree_
    >>> prior_factors(tree, {"a": 0.5, "b": 0.5}).round(3).tolist()
    [2.0, 0.667]
    """
    rates = _read(prior, tree.schema)
    base = base_rate(tree)
    unheard = (base == 0) & (rates > 0)
    if unheard.any():
        label = tree.schema.classes[int(unheard.argmax())]
        raise ParameterError(
            f"prior gives the class {label!r} a rate of {rates[unheard][0]:g}, but training saw none of it: "
            "expected 0. Nothing is known of its rows; train with some."
        )
    return np.divide(rates, base, out=np.zeros_like(base), where=base > 0)


def shift(probability: Floats, factors: Floats) -> Floats:
    """Move class probabilities to another base rate, by Bayes' theorem.

    Parameters
    ----------
    probability : float64 array of shape (..., n_classes)
    factors : float64 array of shape (n_classes,)
        How much more common each class is there: new rate / old rate (`prior_factors`).

    Returns
    -------
    float64 array of shape (..., n_classes)
        ``probability * factors``, divided by its sum. Where every class that is possible has the factor 0, so
        that Bayes' theorem is silent, the probabilities as they were.

    Examples
    --------
    A test trained on as many ill as well people says 0.9; where one in ten is ill that means 0.5:

    >>> import numpy as np
    >>> shift(np.array([0.9, 0.1]), np.array([0.1, 0.9]) / 0.5).round(6).tolist()
    [0.5, 0.5]
    """
    joint = probability * factors
    total = joint.sum(axis=-1, keepdims=True)
    return np.divide(joint, total, out=probability.copy(), where=total > 0)


def shift_bound(bound: Floats, probability: Floats, factors: Floats) -> Floats:
    """Move bounds of class probabilities to another base rate.

    Each class against all others together, which keep the proportions they have among themselves. For two
    classes that is exact.

    Parameters
    ----------
    bound : float64 array of shape (n, n_classes)
        A lower or an upper bound for each probability.
    probability : float64 array of shape (n, n_classes)
    factors : float64 array of shape (n_classes,)

    Returns
    -------
    float64 array of shape (n, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> shift_bound(np.array([[0.8, 0.0]]), np.array([[0.9, 0.1]]), np.array([0.2, 1.8])).round(3).tolist()
    [[0.308, 0.0]]
    """
    joint, rest = probability * factors, 1 - probability
    others = np.maximum(joint.sum(axis=1, keepdims=True) - joint, 0)
    # Of others that are impossible the proportions are unknown: take them to be alike.
    alike = np.broadcast_to((factors.sum() - factors) / max(len(factors) - 1, 1), joint.shape)
    against = (1 - bound) * np.divide(others, rest, out=alike.copy(), where=rest > 0)
    total = bound * factors + against
    return np.divide(bound * factors, total, out=bound.copy(), where=total > 0)


def _read(prior: Any, schema: Schema) -> Floats:
    """One rate a class, in the order of the schema."""
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
    except Exception:  # noqa: BLE001 (whatever the code of a value raises)
        rates = np.empty(0)
    if rates.shape != (len(classes),):
        raise ParameterError(
            f"prior is {shown(prior)}, expected {len(classes)} numbers, one a class in the order {classes}, "
            "or a mapping from class to number."
        )
    if not ((rates >= 0).all() and abs(rates.sum() - 1) <= _ROUNDING):
        raise ParameterError(
            f"prior has the rates {rates.tolist()}, expected numbers of 0 or more that add up to 1. "
            "Divide them by their sum."
        )
    rates /= rates.sum()
    return rates
