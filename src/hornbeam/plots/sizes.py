"""Scores of methods, and held-out loss of a fit, against the size of a tree."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from hornbeam.errors import DataError
from hornbeam.export.wording import pluralise
from hornbeam.plots.canvas import COLORS, GREY, MARKERS, axes, fitted_tree
from hornbeam.tuning import SizePath, size_path

__all__ = ["SizePathDisplay", "plot_sizes"]

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


class SizePathDisplay:
    """Increase of the held-out loss as a tree gets smaller, with the size of the fitted tree.

    Make one with `from_estimator`.

    Parameters
    ----------
    path : SizePath
        Sizes and losses.
    n_leaves : int
        Size of the fitted tree.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The axes and figure of `plot`.
    line_, mark_, note_ : matplotlib artists
        Increases of the loss, the fitted tree, and its label.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier(tolerance=0.1).fit(*load_breast_cancer(return_X_y=True))
    >>> SizePathDisplay.from_estimator(clf).note_.get_text()
    '6 leaves'
    """

    def __init__(self, path: SizePath, n_leaves: int) -> None:
        self.path = path
        self.n_leaves = n_leaves

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line: Any) -> Self:
        """Draw the sizes that were compared when a tree was fitted.

        Parameters
        ----------
        estimator : TreeClassifier, TreeRegressor or Tree
            Fitted with cross-fitted smoothing, the default.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **line : keywords of matplotlib's ``plot``
            Style of the line.

        Returns
        -------
        SizePathDisplay
        """
        tree = fitted_tree(estimator)
        path = size_path(tree)
        if path is None:
            raise DataError(
                "This tree was fitted without a comparison of sizes; expected smoothing='cross-fitted' and "
                "pruning='auto', the defaults."
            )
        return cls(path, tree.n_leaves).plot(ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **line : keywords of matplotlib's ``plot``
            Style of the line.

        Returns
        -------
        SizePathDisplay
            Itself.
        """
        from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter

        ax = axes(ax, size=(6.4, 4.0))
        increase, sizes = self.path.increase, self.path.n_leaves
        style = {"color": COLORS[0], "marker": "o", "markersize": 3, "linewidth": 1.2}
        (self.line_,) = ax.plot(sizes, increase, **style | line)
        at = abs(sizes - self.n_leaves).argmin()
        (self.mark_,) = ax.plot(sizes[at], increase[at], "o", color=COLORS[1], markersize=8, zorder=4)
        ax.axvline(sizes[at], color=GREY, linestyle=":", linewidth=1, zorder=0)
        place = {"ha": "center", "textcoords": "offset points", "color": COLORS[1]}
        note = pluralise(self.n_leaves, "leaf", "leaves")
        self.note_ = ax.annotate(note, (sizes[at], increase[at]), (0, 16), **place)
        ax.set(xscale="log", xlabel="leaves", ylabel=f"increase of the {self.path.measure} on held-out rows")
        ax.xaxis.set(major_locator=LogLocator(subs=(1, 2, 5)), minor_locator=NullLocator())
        ax.xaxis.set_major_formatter("{x:,g}")
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        self.ax_, self.figure_ = ax, ax.figure
        return self
