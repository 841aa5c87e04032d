"""Figures of studies: differences and times against rows, scores against the size of a forest or of a tree."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hornbeam.evaluation import Comparison
from hornbeam.plots.canvas import COLORS, GREY, MARKERS, axes
from hornbeam.typing import Floats

# Candidate offsets of a label from its point, across and up in points, the nearest first.
_OFFSETS = [
    (float(np.cos(angle) * distance), float(np.sin(angle) * distance))
    for distance in (7, 14, 22, 32, 44, 58, 74, 92)
    for angle in np.deg2rad([0, 180, 30, -30, 150, -150, 60, -60, 120, -120, 90, -90])
]


def plot_difference(
    comparison: Comparison, method: str, other: str, n_rows: ArrayLike, *, ax: Any = None
) -> Any:
    """Draw the loss of `other` minus that of `method` on every data set, against the number of rows."""
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
    """Draw the training time of every method against the number of rows."""
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
    """Draw a mean score against the number of trees, and single trees as level lines."""
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


def plot_sizes(
    series: Mapping[str, Mapping[str, tuple[float, float]]],
    *,
    size: str = "leaves, as a part of those of the unpruned tree",
    measure: str = "mean RMSE",
    ax: Any = None,
) -> Any:
    """Draw each method as a labelled point of size and score; small and low is best."""
    ax = axes(ax, size=(11.0, 8.0))
    ax.set(xscale="log", xlabel=size, ylabel=measure)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("{x:g}")
    for i, (name, points) in enumerate(series.items()):
        style = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)]}
        ax.plot(*zip(*points.values(), strict=True), linestyle="", label=name, **style)
    ax.margins(0.12, 0.08)
    ax.legend(frameon=False, loc="upper left")
    labels = [
        (text, at, COLORS[i % len(COLORS)])
        for i, some in enumerate(series.values())
        for text, at in some.items()
    ]
    _label(ax, labels)
    return ax


def _running_median(x: Floats, y: Floats, n_parts: int = 8) -> tuple[Floats, Floats]:
    """Compute the medians of x and y in parts of equal size, in the order of x."""
    known = ~np.isnan(y)
    x, y = x[known], y[known]
    parts = np.array_split(np.argsort(x, kind="stable"), min(n_parts, max(1, len(x) // 2)))
    return np.array([np.median(x[part]) for part in parts]), np.array([np.median(y[part]) for part in parts])


def _label(ax: Any, points: list[tuple[str, tuple[float, float], str]]) -> None:
    """Write a label near each point without overlap; a label that is far away gets a line."""
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    ax.figure.canvas.draw()  # positions are known only after drawing
    marks = ax.transData.transform([at for _, at, _ in points])
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in marks]
    taken.append(ax.get_legend().get_window_extent())
    inside, pixels = ax.get_window_extent(), ax.figure.dpi / 72
    for (text, at, color), (x, y) in zip(points, marks, strict=True):
        line = {"arrowstyle": "-", "color": color, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3}
        label = ax.annotate(
            text,
            at,
            (0, 0),
            textcoords="offset points",
            fontsize=8,
            color=color,
            va="center",
            arrowprops=line,
        )
        label.set_in_layout(False)  # otherwise the layout would move the axes
        extent = Text.get_window_extent(label)  # the extent of an annotation contains its line
        for across, up in _OFFSETS:
            side, part = (
                ("center", 0.5) if abs(across) < 1 else ("left", 0.0) if across > 0 else ("right", 1.0)
            )
            left, middle = x + across * pixels - part * extent.width, y + up * pixels
            box = Bbox.from_bounds(left, middle - extent.height / 2, extent.width, extent.height)
            if all(inside.contains(*corner) for corner in box.get_points()) and not box.count_overlaps(taken):
                break
        label.set(position=(across, up), horizontalalignment=side)
        label.arrow_patch.set_visible(bool(np.hypot(across, up) > 10))
        taken.append(box)
