"""The figure of the held-out loss against the size of a tree."""

from typing import Any, Self

from hornbeam.errors import DataError
from hornbeam.plots.canvas import COLORS, GREY, axes, fitted_tree
from hornbeam.tree.words import pluralise
from hornbeam.tuning.size_path import SizePath, size_path


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
