"""Section on ranges of single rows: the share that they hold, losses of quantiles, and where rows fall."""

from __future__ import annotations

import numpy as np

from hornbeam.evaluation.calibration import wilson
from hornbeam.evaluation.score_intervals import LEVEL
from hornbeam.grid import Grid
from hornbeam.reporting.markup import Markup, element, framed
from hornbeam.reporting.pictures import histogram
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.tree import section
from hornbeam.smoothing.distribution import Distribution
from hornbeam.tree.words import mean_text
from hornbeam.typing import Floats, Indices

_SHARES, _LEVELS, _PARTS = (0.5, 0.8, 0.9), np.array([0.05, 0.1, 0.5, 0.9, 0.95]), 10


def range_section(reported: ReportedModel, scored: ScoredRows | None) -> Markup | None:
    """The shares that ranges hold, and the histogram; None without a distribution or test rows."""
    if scored is None or reported.distribution is None:
        return None
    label = "Test rows by the probability that the model gave to smaller values"
    picture = histogram(position_shares(reported, scored), label)
    figure = element("figure", picture, element("figcaption", label))
    return section(
        "ranges",
        "Ranges of single rows",
        *(element("p", words) for words in range_text()),
        *map(framed, range_grids(reported, scored)),
        element("div", figure, class_="figures one"),
    )


def range_text() -> list[str]:
    """Describe the tables and the histogram."""
    tables = (
        f"A range of 80 % is to hold 80 % of the rows; in brackets are {100 * LEVEL:g} % intervals of the share. The "
        "pinball loss of a quantile is its mean distance from the rows, which counts by the level above it and by the "
        "rest below it; smaller is better."
    )
    picture = (
        "With the right distribution each tenth of the probability has a tenth of the rows. More rows at both ends: "
        "the distributions are too narrow; more in the middle: too wide; a slope: too low or too high."
    )
    return [tables, picture]


def range_grids(reported: ReportedModel, scored: ScoredRows) -> list[Grid]:
    """Tabulate the share of test rows in ranges, and the pinball losses of quantiles."""
    distribution, node, target = _parts(reported, scored)
    count = scored.count
    held = []
    for level in _SHARES:
        low, high = distribution.interval(node, level)
        inside = (low <= target) & (target <= high)
        share = np.average(inside, weights=count)
        least, most = wilson(share, float(count.sum()), LEVEL)
        width = (
            "infinite" if np.isinf(low).any() else mean_text(float(np.average(high - low, weights=count)), 2)
        )
        held.append(
            [f"{100 * level:g} %", f"{100 * share:.1f} % ({100 * least:.1f} to {100 * most:.1f})", width]
        )
    apart = target[:, None] - distribution.quantiles(node, _LEVELS)
    losses = np.average(np.maximum(_LEVELS * apart, (_LEVELS - 1) * apart), axis=0, weights=count)
    quantiles = [
        [f"{100 * level:g} %", mean_text(loss, 2)]
        for level, loss in zip(_LEVELS.tolist(), losses.tolist(), strict=True)
    ]
    return [
        Grid("Test rows in ranges", ["Range", "Test rows inside", "Mean width"], held),
        Grid("Losses of quantiles", ["Quantile", "Pinball loss"], quantiles),
    ]


def position_shares(reported: ReportedModel, scored: ScoredRows) -> Floats:
    """Compute the share of test rows in each tenth of the predicted probability (the PIT histogram).

    A row whose value has a probability of its own is spread over it evenly.
    """
    distribution, node, target = _parts(reported, scored)
    below, up_to = distribution.probabilities(node, target)
    ends, mass = np.arange(_PARTS + 1) / _PARTS, up_to - below
    part = np.divide(
        ends - below[:, None], mass[:, None], out=np.zeros((len(mass), len(ends))), where=mass[:, None] > 0
    )
    cumulated = np.where(mass[:, None] > 0, part.clip(0.0, 1.0), ends >= up_to[:, None])
    cumulated[:, 0] = 0.0
    shares: Floats = np.diff(np.average(cumulated, axis=0, weights=scored.count))
    return shares


def _parts(reported: ReportedModel, scored: ScoredRows) -> tuple[Distribution, Indices, Floats]:
    """Return the distribution, the end nodes, and the target without the terms of the row, as a node has it."""
    assert reported.distribution is not None
    terms = scored.predicted[:, 0] - reported.tree.belief[scored.stop, 0]
    return reported.distribution, scored.stop.astype(np.int32), scored.target.astype(np.float64) - terms
