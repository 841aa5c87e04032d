"""Scores of methods against the size of their trees."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hornbeam.plots.canvas import COLORS, MARKERS, axes

__all__ = ["plot_sizes"]

# Candidate offsets of a label from its point, across and up in points, the nearest first.
_OFFSETS = [
    (float(np.cos(angle) * distance), float(np.sin(angle) * distance))
    for distance in (7, 14, 22, 32, 44, 58, 74, 92)
    for angle in np.deg2rad([0, 180, 30, -30, 150, -150, 60, -60, 120, -120, 90, -90])
]


def plot_sizes(
    series: Mapping[str, Mapping[str, tuple[float, float]]],
    *,
    size: str = "leaves, as a part of those of the unpruned tree",
    measure: str = "mean RMSE",
    ax: Any = None,
) -> Any:
    """Draw each method as a labelled point of size and score; small and low is best.

    Parameters
    ----------
    series : mapping from name to mapping from method to (size, score)
        Methods of one series have the same colour.
    size, measure : str
        Labels of the axes.
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> raw = {"unpruned": (1.0, 0.31), "reduced error": (0.1, 0.28)}
    >>> ax = plot_sizes({"raw frequencies": raw, "smoothed": {"default": (0.3, 0.25)}})
    """
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
