"""Probabilities made bolder or more careful, all by the same measure."""

from typing import Final

import numpy as np

from hornbeam.data.table import Table
from hornbeam.typing import Floats

__all__ = ["sharpen", "sharpness"]

_BOUNDS: Final = (np.log(0.3), np.log(4.0))
_LEAST = 1e-9  # what is impossible to a power below 1 is still next to impossible


def sharpen(probabilities: Floats, power: float) -> Floats:
    """Raise probabilities to a power and let them sum to 1 again.

    Parameters
    ----------
    probabilities : float64 array of shape (n_rows, n_classes)
    power : float
        Above 1, bolder: what is likely becomes more likely; below 1, more careful.

    Examples
    --------
    >>> sharpen(np.array([[0.75, 0.25], [0.5, 0.5]]), 2.0).tolist()
    [[0.9, 0.1], [0.5, 0.5]]
    """
    if power == 1.0:
        return probabilities
    raised = np.maximum(probabilities, _LEAST) ** power
    sharpened: Floats = raised / raised.sum(axis=1, keepdims=True)
    return sharpened


def sharpness(held_out: Floats, table: Table) -> float:
    """Find the power that brings probabilities nearest to what came.

    A forest is too careful where its trees differ, a boosted model too bold: rows that it has not seen tell how much.

    Parameters
    ----------
    held_out : float64 array of shape (n_rows, n_classes)
        Probabilities of these rows by somebody who has not seen them.
    table : Table
        The rows with their classes.

    Returns
    -------
    float
        Between 0.3 and 4, of the least squared error.

    Examples
    --------
    >>> table = Table.read([[0.0]] * 10, ["no"] * 9 + ["yes"])
    >>> round(sharpness(np.full((10, 2), [0.75, 0.25]), table), 2)
    2.0
    """
    from scipy.optimize import minimize_scalar  # costs a moment to load: only for those who ask

    assert table.target is not None
    truth = np.eye(table.schema.n_classes)[table.target]
    weight = np.ones(table.n_rows) if table.weight is None else table.weight.astype(float)

    def loss(logarithm: float) -> float:
        error = sharpen(held_out, float(np.exp(logarithm))) - truth
        return float(np.einsum("i,ij,ij->", weight, error, error))

    found = minimize_scalar(loss, bounds=_BOUNDS, method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x))
