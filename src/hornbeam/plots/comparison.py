"""Figures of comparisons: average ranks over many sets, and scores and curves of models on the same rows."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np

from hornbeam.evaluation.model_comparison import BEST
from hornbeam.plots.canvas import COLORS, DASHES, GREY, VERBATIM, axes, legend, new_figure
from hornbeam.plots.probabilities import ReliabilityDisplay
from hornbeam.typing import Floats

_WIDTH = 18  # letters of a line of a name beside the axes


def draw_ranks(methods: Sequence[str], ranks: Floats, distance: float, ax: Any = None) -> Any:
    """Draw average ranks with the critical difference, and return the axes."""
    order = np.argsort(ranks, kind="stable")
    sorted_ranks = ranks[order]
    bars = _equal_runs(sorted_ranks, distance)
    n, half = len(order), (len(order) + 1) // 2
    ax = axes(ax, size=(9.0, 1.4 + 0.12 * len(bars) + 0.26 * half))
    lowest, highest = 1.0, float(n)
    below = -0.6 - 0.35 * len(bars)
    for place, i in enumerate(order):
        left = place < half
        height = below - 0.75 * (place if left else n - 1 - place)
        edge = lowest - 0.1 if left else highest + 0.1
        ax.plot([ranks[i], ranks[i], edge], [0, height, height], color="black", linewidth=0.8)
        shift, side = (-0.05, "right") if left else (0.05, "left")
        text = f"{methods[i]}  {ranks[i]:.2f}" if left else f"{ranks[i]:.2f}  {methods[i]}"
        ax.text(edge + shift * n / 10, height, text, ha=side, va="center", fontsize=9)
    for row, (first, last) in enumerate(bars):
        y = -0.35 - 0.35 * row
        ends = sorted_ranks[first] - 0.04, sorted_ranks[last] + 0.04
        ax.plot(ends, [y, y], color=COLORS[0], linewidth=3.5, solid_capstyle="butt")
    ax.plot([lowest, highest], [0, 0], color="black", linewidth=1)
    for tick in range(1, n + 1):
        ax.plot([tick, tick], [0, 0.15], color="black", linewidth=1)
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom", fontsize=8)
    ax.plot([lowest, lowest + distance], [1.6, 1.6], color=COLORS[1], linewidth=2)
    ax.text(lowest + distance + 0.1, 1.6, f"critical difference {distance:.2f}", va="center", fontsize=8)
    margin = _margin(ax, max(map(len, methods)) + 6) * (n - 1)
    ax.set(xlim=(lowest - margin, highest + margin), ylim=(below - 0.75 * half, 2.1))
    ax.set_axis_off()
    return ax


def _margin(ax: Any, n_letters: int) -> float:
    """Compute the margin for a text, as a share of the axis between; a letter of 9 points is 0.075 inches wide."""
    width = float(ax.get_window_extent().width / ax.figure.dpi)
    share = min(0.4, n_letters * 0.075 / width + 0.03)
    return share / (1 - 2 * share)


def _equal_runs(ranks: Floats, distance: float) -> list[tuple[int, int]]:
    """Find the maximal runs of sorted ranks whose ends differ by at most `distance`."""
    runs: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + distance, side="right")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def draw_models(found: Any, panels: Sequence[str], figure: Any = None) -> Any:
    """Draw panels of a `ModelComparison`: differences of scores, calibration, net benefit. Returns the figure."""
    curves = [panel for panel in panels if panel in _DRAWN]
    scores = [panel for panel in panels if panel not in _DRAWN]
    heights = [1.0 + 0.26 * len(found.models)] * bool(scores) + [4.2] * bool(curves)
    figure = new_figure(figure, size=(8.4, sum(heights)))
    across = len(scores) * len(curves) or len(panels)  # both rows have the same width
    grid = figure.add_gridspec(len(heights), across, height_ratios=heights)
    for row, drawn in enumerate(part for part in (scores, curves) if part):
        each = across // len(drawn)
        for place, panel in enumerate(drawn):
            ax = axes(figure.add_subplot(grid[row, place * each : (place + 1) * each]))
            if panel in _DRAWN:
                _DRAWN[panel](found, ax)
            else:
                _draw_differences(found, panel, ax, named=place == 0)
    return figure


def _draw_differences(found: Any, score: str, ax: Any, *, named: bool) -> None:
    """Draw the difference of each model from the reference, which lies at 0; of one model alone its value."""
    alone = len(found.models) == 1
    drawn = [one for one in found if one.name == score and one.subgroup == found[0].subgroup][::-1]
    for place, one in enumerate(drawn):
        value, low, high = (one.difference, one.difference_low, one.difference_high)
        if alone:
            value, low, high = one.value, one.low, one.high
        elif one.model == found.reference:
            ax.axvline(0, color=GREY, linestyle=":", linewidth=1)
            value = 0.0
        ax.plot([low, high], [place, place], color=COLORS[0], linewidth=1.8)
        filled = COLORS[0] if low == low else "white"
        ax.plot(value, place, marker="o", markersize=5.5, color=COLORS[0], markerfacecolor=filled)
    ax.set(ylim=(-0.6, len(drawn) - 0.4), yticks=range(len(drawn)))
    ax.set_yticklabels([fill(one.model, _WIDTH) for one in drawn] if named else [], **VERBATIM)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=3)
    ax.set_title(score, loc="left", fontsize="small")
    ax.set_xlabel({"less": "← better", "more": "better →"}.get(BEST.get(drawn[0].score, ""), ""))


def _draw_calibration(found: Any, ax: Any) -> None:
    """Draw the reliability curve of each model."""
    for number, (name, curve) in enumerate(found._curves()):
        display = ReliabilityDisplay(curve, name=name, positive=found.positive)
        display.plot(ax, markersize=4, linestyle=DASHES[number % len(DASHES)])
    _legend_below(ax)


def _draw_net_benefit(found: Any, ax: Any) -> None:
    """Draw the net benefit of each model, and of alerts for all rows and for none, against the threshold."""
    thresholds, benefits = found._net_benefits()
    for number, (name, values) in enumerate(benefits.items()):
        style: dict[str, Any] = {"color": GREY, "linestyle": "-", "linewidth": 1.0}
        if name in found.models:
            place = number % len(COLORS)
            style = {"color": COLORS[place], "linestyle": DASHES[place]}
        ax.plot(thresholds, values, label=name, **style)
    ax.axhline(0, color=GREY, linestyle=":", linewidth=1, label="no alert")
    highest = max(values.max() for values in benefits.values())
    ax.set(xlim=(0, 1), ylim=(-0.15 * highest, 1.05 * highest))
    ax.set_xlabel(f"threshold of the probability of {found.positive}", **VERBATIM)
    ax.set_ylabel("net benefit per row")
    _legend_below(ax)


def _legend_below(ax: Any) -> None:
    legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize="small")


_DRAWN = {"calibration": _draw_calibration, "decision curve": _draw_net_benefit}
