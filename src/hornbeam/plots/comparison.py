"""The figure of a comparison: average ranks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hornbeam.plots.canvas import COLORS, axes
from hornbeam.typing import Floats


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
