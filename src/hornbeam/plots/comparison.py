"""Figures of a comparison: average ranks, differences and times against rows, scores against forest size."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hornbeam.evaluation.comparison import Comparison
from hornbeam.plots.canvas import COLORS, GREY, MARKERS, axes
from hornbeam.typing import Floats

__all__ = ["plot_critical_difference", "plot_difference", "plot_forest_sizes", "plot_times"]


def plot_critical_difference(comparison: Comparison, *, level: float = 0.05, ax: Any = None) -> Any:
    """Draw average ranks on a line, best at the left, with a bar over methods that do not differ significantly.

    Parameters
    ----------
    comparison : Comparison
        Methods are ranked on the data sets for which every method has a loss.
    level : float, default 0.05
        Level of Nemenyi's test.
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib axes

    Notes
    -----
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, figure 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> comparison = Comparison(("a", "b", "c"), range(30), rng.random((30, 3)) + [0, 0.1, 1.0])
    >>> ax = plot_critical_difference(comparison)
    """
    ranks, distance = comparison.ranks(), comparison.critical_difference(level)
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
        text = (
            f"{comparison.methods[i]}  {ranks[i]:.2f}" if left else f"{ranks[i]:.2f}  {comparison.methods[i]}"
        )
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
    margin = _margin(ax, max(map(len, comparison.methods)) + 6) * (n - 1)
    ax.set(xlim=(lowest - margin, highest + margin), ylim=(below - 0.75 * half, 2.1))
    ax.set_axis_off()
    return ax


def plot_difference(
    comparison: Comparison, method: str, other: str, n_rows: ArrayLike, *, ax: Any = None
) -> Any:
    """Draw the loss of `other` minus that of `method` on every data set, against the number of rows.

    Parameters
    ----------
    comparison : Comparison
    method, other : str
        Two of its methods. Above the line `method` is better.
    n_rows : array-like
        Rows of each data set.
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> comparison = Comparison(("hgs", "raw"), ("a", "b"), [[0.2, 0.3], [0.3, 0.29]], "RMSE")
    >>> ax = plot_difference(comparison, "hgs", "raw", [100, 5000])
    """
    ax = axes(ax)
    rows = np.asarray(n_rows, float)
    more = comparison.of(other) - comparison.of(method)
    for sign, color, marker, text in (
        (1, COLORS[0], MARKERS[0], f"{method} better"),
        (-1, COLORS[1], MARKERS[1], f"{other} better"),
    ):
        shown = np.sign(np.round(more, comparison.decimals)) == sign
        label = f"{text}: {int(shown.sum())}"
        ax.scatter(
            rows[shown], more[shown], s=22, color=color, marker=marker, alpha=0.75, label=label, linewidth=0
        )
    ax.axhline(0, color=GREY, linewidth=1)
    ax.set(xscale="log", xlabel="rows", ylabel=f"{comparison.measure}, {other} minus {method}")
    ax.legend(frameon=False)
    return ax


def plot_times(times: Comparison, n_rows: ArrayLike, *, ax: Any = None) -> Any:
    """Draw the training time of every method against the number of rows.

    Parameters
    ----------
    times : Comparison
        Seconds instead of losses.
    n_rows : array-like
        Rows of each data set.
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> ax = plot_times(Comparison(("hgs", "hdp"), ("a", "b"), [[0.01, 0.1], [0.1, 2.0]]), [100, 5000])
    """
    ax = axes(ax)
    rows = np.asarray(n_rows, float)
    for i, method in enumerate(times.methods):
        if np.isnan(times.of(method)).all():
            continue
        style = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)]}
        seconds = np.maximum(times.of(method), 1e-4)  # a short time may be 0 on a coarse clock
        ax.scatter(rows, seconds, s=14, alpha=0.4, linewidth=0, **style)
        ax.plot(*_running_median(rows, seconds), color=style["color"], linewidth=2, label=method)
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="CPU seconds of training a fold")
    ax.legend(frameon=False)
    return ax


def plot_forest_sizes(
    sizes: Sequence[int],
    curves: Mapping[str, ArrayLike],
    lines: Mapping[str, float] | None = None,
    *,
    measure: str = "mean RMSE",
    ax: Any = None,
) -> Any:
    """Draw a mean score against the number of trees, and single trees as level lines.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of trees.
    curves : mapping from name to scores
        A score for each size.
    lines : mapping from name to score, optional
        Methods of one tree.
    measure : str, default "mean RMSE"
        Name of the score.
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> ax = plot_forest_sizes([1, 10, 100], {"forest": [0.3, 0.24, 0.23]}, {"one smoothed tree": 0.24})
    """
    ax = axes(ax)
    for i, (name, scores) in enumerate(curves.items()):
        ax.plot(sizes, np.asarray(scores, float), color=COLORS[i], marker=MARKERS[i], label=name)
    for i, (name, score) in enumerate((lines or {}).items(), start=len(curves)):
        dash = ("--", "-.", ":")[(i - len(curves)) % 3]
        ax.axhline(score, color=COLORS[i % len(COLORS)], linestyle=dash, label=name)
    ax.set(xscale="log", xlabel="trees", ylabel=measure)
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ax.legend(frameon=False)
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


def _running_median(x: Floats, y: Floats, n_parts: int = 8) -> tuple[Floats, Floats]:
    """Compute the medians of x and y in parts of equal size, in the order of x."""
    known = ~np.isnan(y)
    x, y = x[known], y[known]
    parts = np.array_split(np.argsort(x, kind="stable"), min(n_parts, max(1, len(x) // 2)))
    return np.array([np.median(x[part]) for part in parts]), np.array([np.median(y[part]) for part in parts])
