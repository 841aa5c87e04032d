"""The reliability diagram, with the interface of scikit-learn's displays."""

from typing import Any, Literal, Self

import numpy as np

from hornbeam.evaluation.calibration import ReliabilityCurve, reliability_curve
from hornbeam.plots.canvas import COLORS, GREY, MARKERS, VERBATIM, axes, legend
from hornbeam.plots.one_class import OneClassDisplay
from hornbeam.typing import Label

__all__ = ["ReliabilityDisplay"]


class ReliabilityDisplay(OneClassDisplay):
    """Observed frequency of a class against its predicted probability; calibrated probabilities lie on the diagonal.

    Make one with `from_estimator` or `from_predictions`; draw several on the same axes to compare.

    Parameters
    ----------
    curve : ReliabilityCurve
        The points of the diagram.
    name : str, optional
        Name in the legend.
    positive : str, optional
        The class of interest, for the axes.

    Attributes
    ----------
    ax_, figure_, line_, band_ : matplotlib artists
        The artists of `plot`.

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
        """Draw given probabilities of one class.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The true classes.
        predicted : array-like of shape (n_rows,)
            The probability of `positive`.
        positive : label, optional
            The class of interest; the last of the sorted classes of `y` if not given.
        name : str, optional
            For the legend.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : n_bins, level, interval, sample_weight
            As in `reliability_curve`.

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
            Name in the legend instead of that of the display.
        band : {"bars", "area"}, default "bars"
            Style of the intervals.
        **line : keywords of matplotlib's ``plot``
            Style of the line.

        Returns
        -------
        ReliabilityDisplay
            Itself.
        """
        ax = axes(ax, size=(5.0, 5.0))
        n_drawn = sum(line.get_gid() == "reliability" for line in ax.lines)
        if n_drawn == 0:
            ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
        style = {
            "color": COLORS[n_drawn % len(COLORS)],
            "marker": MARKERS[n_drawn % len(MARKERS)],
            "markersize": 5,
        }
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
        of_class = f" of {self.positive}" if self.positive else ""
        ax.set_xlabel(f"predicted probability{of_class}", **VERBATIM)
        ax.set_ylabel(f"observed share{of_class}", **VERBATIM)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        if name:
            legend(ax, loc="upper left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
