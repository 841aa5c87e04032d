"""Checks of monotone constraints, and their form for the kernels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Kind, Schema
from hornbeam.errors import ParameterError, shown

__all__ = ["check_monotone", "monotone_array", "refuse_fractional"]


def check_monotone(monotone: Any) -> None:
    """Refuse constraints other than 1, -1 and 0."""
    signs = () if monotone is None else monotone
    if not isinstance(signs, tuple) or any(type(sign) is not int or abs(sign) > 1 for sign in signs):
        raise ParameterError(
            f"monotone={shown(monotone)}: expected for each feature 1 (rises), -1 (falls) or 0 (free). "
            "Pass None for no constraints."
        )


def monotone_array(monotone: tuple[int, ...] | None, schema: Schema) -> NDArray[np.int8] | None:
    """Return the constraint of each feature as the kernels expect them; None without constraints."""
    if monotone is None or not any(monotone):
        return None
    if schema.n_classes != 2 and not schema.is_regression:
        raise ParameterError(
            f"monotonic_cst is about the probability of the second of two classes; found "
            f"{schema.n_classes} classes. Leave it out, or train a tree for each class against the rest."
        )
    if len(monotone) != schema.n_features:
        raise ParameterError(
            f"monotonic_cst has {len(monotone)} entries for {schema.n_features} features; expected "
            "one each. Pass a dict from feature names to leave out those that are free."
        )
    for sign, feature in zip(monotone, schema.features, strict=True):
        if sign and feature.kind is Kind.NOMINAL:
            raise ParameterError(
                f"monotonic_cst constrains {feature.name!r}, which is nominal; expected features with an "
                "order. Make it an ordered category, or leave it free (0)."
            )
    return np.array(monotone, dtype=np.int8)


def refuse_fractional(monotone: tuple[int, ...] | None) -> None:
    """Refuse constraints where rows are divided among children: the bounds of a constraint would not hold."""
    if monotone is not None and any(monotone):
        raise ParameterError(
            "Monotone constraints do not hold for missing='fractional' where values are missing: "
            "expected missing='own' or 'learned', or no constraints."
        )
