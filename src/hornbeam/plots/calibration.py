"""The reliability diagram, in the manner of scikit-learn's displays."""

from typing import Any, Literal, Self

import numpy as np

from hornbeam.evaluation.calibration import ReliabilityCurve, reliability_curve
from hornbeam.plots.canvas import AS_IT_IS, COLORS, GREY, MARKERS, axes, legend
from hornbeam.plots.one_class import OneClassDisplay
from hornbeam.typing import Label

__all__ = ["ReliabilityDisplay"]


class ReliabilityDisplay(OneClassDisplay):
    """How often a class came against how often it was said to come; on the diagonal, probabilities are true.

    Make one with `from_estimator` or `from_predictions`; draw several on the same axes to compare.

    Parameters
    ----------
    curve : ReliabilityCurve
        The numbers.
    name : str, optional
        What to call it in the legend.
    positive : str, optional
        The class of interest, for the axes.

    Attributes
    ----------
    ax_, figure_, line_, band_ : matplotlib artists
        What `plot` drew.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = TreeClassifier(smoothing="hgs").fit(X[::2], y[::2])
    >>> display = ReliabilityDisplay.from_estimator(clf, X[1::2], y[1::2], n_bins=5)
    >>> display.curve.predicted.round(2).tolist()
    [0.01, 0.29, 0.89, 0.99]
    """

    def __init__(
        self, curve: ReliabilityCurve, *, name: str | None = None, positive: str | None = None
    ) -> None:
        self.curve = curve
        self.name = name
        self.positive = positive

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        predicted: Any,
        *,
        positive: Label | None = None,
        name: str | None = None,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Draw probabilities of one class that are already there.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The classes that came.
        predicted : array-like of shape (n_rows,)
            The probability of `positive`.
        positive : label, optional
            The class of interest; the last of the sorted classes of `y` if not given.
        name : str, optional
            For the legend.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : n_bins, level, interval, sample_weight
            As of `reliability_curve`.

        Returns
        -------
        ReliabilityDisplay
        """
        y = np.asarray(y)
        positive = np.unique(y)[-1] if positive is None else positive
        curve = reliability_curve(y == positive, predicted, **settings)
        return cls(curve, name=name, positive=str(positive)).plot(ax)

    def plot(
        self, ax: Any = None, *, name: str | None = None, band: Literal["bars", "area"] = "bars", **line: Any
    ) -> Self:
        """Draw the curve with its confidence bands.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        name : str, optional
            Instead of the display's own name.
        band : {"bars", "area"}, default "bars"
            How to draw the intervals.
        **line : keywords of matplotlib's ``plot``
            Colour and the like.

        Returns
        -------
        ReliabilityDisplay
            Itself.
        """
        ax = axes(ax, size=(5.0, 5.0))
        turn = sum(drawn.get_gid() == "reliability" for drawn in ax.lines)
        if turn == 0:
            ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
        style = {"color": COLORS[turn % len(COLORS)], "marker": MARKERS[turn % len(MARKERS)], "markersize": 5}
        curve, name = self.curve, name or self.name
        (self.line_,) = ax.plot(
            curve.predicted, curve.observed, label=name, gid="reliability", **style | line
        )
        color = self.line_.get_color()
        if band == "area":
            self.band_ = ax.fill_between(
                curve.predicted, curve.lower, curve.upper, color=color, alpha=0.18, linewidth=0
            )
        else:
            self.band_ = ax.vlines(
                curve.predicted, curve.lower, curve.upper, color=color, linewidth=1.2, alpha=0.6
            )
        of = f" of {self.positive}" if self.positive else ""
        ax.set_xlabel(f"predicted probability{of}", **AS_IT_IS)
        ax.set_ylabel(f"observed share{of}", **AS_IT_IS)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        if name:
            legend(ax, loc="upper left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
