"""Temperature scaling of class probabilities."""

from typing import Final

import numpy as np

from hornbeam.kernels.elementary import dot, exp, log, minimise, row_dots, row_sums
from hornbeam.typing import Counts, Floats, Indices

_BOUNDS: Final = (-1.3862943611198906, 1.3862943611198906)  # logarithms of 1/4 and 4
_DECIMALS = 3
_TOLERANCE = 1e-11  # of the mean squared error: changes less than the third decimal of the temperature


def apply_temperature(probabilities: Floats, temperature: float) -> Floats:
    """Raise probabilities to the power 1 / temperature and scale each row to a sum of 1.

    Below 1, probabilities move away from the uniform distribution; above 1, towards it. At 1 they are returned as they
    are. A probability of 0 stays 0, and the order of the classes stays the same.
    """
    if temperature == 1.0:
        return probabilities
    return _scaled(_log_ratios(probabilities), temperature)


def choose_temperature(held_out: Floats, target: Indices, weight: Floats | Counts | None = None) -> float:
    """Find the temperature at which probabilities of held-out rows have the least squared error.

    It is from 0.25 to 4, rounded to three decimals; 1 if that is no worse, or if there are no rows. The mean of many
    trees is under-confident where the trees differ, a boosted model is often over-confident. One temperature for all
    rows corrects either (Guo et al., 2017, with log loss). The squared error is bounded, so no single row can decide.
    """
    if not len(held_out):
        return 1.0
    truth = np.eye(held_out.shape[1])[target]
    weight = np.ones(len(held_out)) if weight is None else weight.astype(np.float64)
    weight = weight / weight.sum()
    logarithm = _log_ratios(held_out)
    # A probability of 0 stays 0 at every temperature, so any finite logarithm will do.
    finite = np.where(held_out > 0, logarithm, 0.0)

    def loss_and_slope(at: Floats) -> tuple[float, Floats]:
        """Compute the squared error and its derivative with respect to the logarithm of the temperature."""
        temperature = float(exp(at[0]))
        scaled = held_out if temperature == 1.0 else _scaled(logarithm, temperature)
        error = scaled - truth
        slope = scaled * (row_dots(scaled, finite)[:, None] - finite) / temperature
        return dot(weight, row_dots(error, error)), np.array([2 * dot(weight, row_dots(error, slope))])

    found = minimise(loss_and_slope, np.zeros(1), _BOUNDS, tolerance=_TOLERANCE)
    temperature = round(float(exp(found[0])), _DECIMALS)
    losses = [loss_and_slope(log([at]))[0] for at in (temperature, 1.0)]
    return temperature if losses[0] < losses[1] else 1.0


def _log_ratios(probabilities: Floats) -> Floats:
    """Compute the logarithm of each probability divided by the largest of its row, so that no power overflows."""
    return log(probabilities / probabilities.max(axis=1, keepdims=True))


def _scaled(logarithm: Floats, temperature: float) -> Floats:
    raised = exp(logarithm / temperature)
    scaled: Floats = raised / row_sums(raised)[:, None]
    return scaled
