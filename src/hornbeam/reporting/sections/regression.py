"""Section on test rows in regression: predicted against observed means."""

from __future__ import annotations

import numpy as np

from hornbeam.evaluation.score_intervals import mean_curve
from hornbeam.reporting.markup import Markup, element
from hornbeam.reporting.pictures import reliability
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.tree import ABSENT, section

__all__ = ["regression_calibration_section", "round_scale"]


def round_scale(low: float, high: float) -> tuple[float, float]:
    """Choose the ends of an axis with five round ticks that covers some numbers."""
    largest = max(abs(low), abs(high))
    if high - low <= 1e-9 * largest:  # too little for ticks that differ
        low, high = low - max(1.0, 1e-9 * largest), high + max(1.0, 1e-9 * largest)
    power = 10.0 ** np.floor(np.log10((high - low) / 4))
    steps = [power * times for times in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 20)]
    step = next(step for step in steps if np.floor(low / step) * step + 4 * step >= high)
    begin = float(np.floor(low / step) * step)
    return begin, begin + 4 * float(step)


def regression_calibration_section(scored: ScoredRows | None) -> Markup:
    """Predicted against observed means, and the drift of rows between leaves."""
    title = "Predicted and seen"
    if scored is None:
        return section("calibration", title, element("p", ABSENT, class_="absent"))
    curve = mean_curve(scored)
    ends = np.concatenate([curve.predicted, curve.lower, curve.upper])
    scale = round_scale(float(ends.min()), float(ends.max()))
    picture = reliability(curve, title, scale, ("predicted mean", "mean of the rows seen"))
    text = (
        "Test rows are grouped by the predicted mean. On the dotted line, the mean of the rows equals the prediction. "
        "The band is a 95 % interval of the mean: for an exact tree about one point in twenty lies off the line by "
        "chance. The bars below count the rows of each group."
    )
    chance = f"{scored.drift.psi_p_value:.2f}" if scored.drift.psi_p_value >= 0.01 else "less than 0.01"
    moved = (
        "The population stability index compares how the test rows and the training rows spread over the leaves. It is "
        f"{scored.drift.stability_index:.3f}; by chance alone it would be as large with probability {chance}."
    )
    beside = element("div", element("p", moved), class_="note")
    figure = element("figure", picture, element("figcaption", "Means of groups of test rows"))
    return section(
        "calibration", title, element("p", text), element("div", figure, beside, class_="figures one")
    )
