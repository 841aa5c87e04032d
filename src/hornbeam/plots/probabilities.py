"""Figures of the predicted probabilities of one class: a reliability diagram and a histogram."""

from abc import ABC, abstractmethod
from typing import Any, Literal, Self

import numpy as np

from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import ReliabilityCurve, reliability_curve
from hornbeam.plots.canvas import COLORS, GREY, MARKERS, VERBATIM, axes, class_number, legend
from hornbeam.typing import Floats, Label


class OneClassDisplay(ABC):
    """A figure of the predicted probabilities of one class against all others."""

    @classmethod
    @abstractmethod
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
        """Draw given probabilities of one class."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Label | None = None,
        name: str | None = None,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Predict with a fitted classifier, and draw the probabilities.

        Parameters
        ----------
        estimator : classifier
            Fitted, with ``predict_proba`` and ``classes_``.
        X : array-like or data frame
            Rows that are not in the training data.
        y : array-like of shape (n_rows,)
            Their classes.
        positive : label, optional
            The class of interest, against all others; the last one if not given.
        name : str, optional
            Name in the figure; the estimator's class if not given.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : keywords of `from_predictions`
            Bins, weights and other settings.

        Returns
        -------
        display
            The drawn display.
        """
        if not hasattr(estimator, "predict_proba") or not hasattr(estimator, "classes_"):
            raise ParameterError(
                f"This is a {type(estimator).__name__}; expected a fitted classifier, with predict_proba and classes_. "
                "Pass probabilities of other models to from_predictions."
            )
        classes = np.asarray(estimator.classes_).tolist()
        number = class_number(classes, positive)
        predicted = estimator.predict_proba(X)[:, number]
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, predicted, positive=classes[number], name=name, ax=ax, **settings)


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


class ProbabilityDisplay(OneClassDisplay):
    """A histogram of predicted probabilities: rows of the class upwards, all others downwards.

    Parameters
    ----------
    edges : float64 array of shape (n_bins + 1,)
        Edges of the bins.
    class_counts, other_counts : float64 arrays of shape (n_bins,)
        Number, or weight, of the rows of the class and of all others.
    positive : label, optional
        The class of interest, for the axes.
    name : str, optional
        Name of the model, for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The axes and figure of `plot`.
    class_bars_, other_bars_ : matplotlib containers of bars
        The drawn bars.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = TreeClassifier().fit(X[::2], y[::2])
    >>> display = ProbabilityDisplay.from_estimator(clf, X[1::2], y[1::2], n_bins=4)
    >>> display.class_counts.tolist(), display.other_counts.tolist()
    ([9.0, 3.0, 4.0, 158.0], [86.0, 12.0, 2.0, 10.0])
    """

    def __init__(
        self,
        edges: Floats,
        class_counts: Floats,
        other_counts: Floats,
        *,
        positive: Label | None = None,
        name: str | None = None,
    ) -> None:
        self.edges = edges
        self.class_counts = class_counts
        self.other_counts = other_counts
        self.positive = positive
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        predicted: Any,
        *,
        positive: Label | None = None,
        name: str | None = None,
        n_bins: int = 20,
        sample_weight: Any = None,
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
            Name in the title.
        n_bins : int, default 20
            Number of bins of equal width.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : shares
            As in `plot`.

        Returns
        -------
        ProbabilityDisplay
        """
        y, p = np.asarray(y), np.asarray(predicted, float)
        if y.shape != p.shape or p.ndim != 1 or not len(p):
            raise DataError(
                f"Labels of shape {y.shape} beside predictions of shape {p.shape}; expected one of each per row. "
                "Pass the probabilities of one class: predict_proba(X)[:, 1], say."
            )
        if n_bins < 1:
            raise ParameterError(f"n_bins={n_bins}: expected 1 or more.")
        positive = np.unique(y)[-1] if positive is None else positive
        weight = np.ones(len(p)) if sample_weight is None else np.asarray(sample_weight, float)
        edges = np.linspace(0, 1, n_bins + 1)
        class_counts, other_counts = (
            np.histogram(p[rows], edges, weights=weight[rows])[0] for rows in (y == positive, y != positive)
        )
        return cls(edges, class_counts, other_counts, positive=positive, name=name).plot(ax, **settings)

    def plot(self, ax: Any = None, *, shares: bool = True) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        shares : bool, default True
            Draw shares of the rows above the line, and of those below it, so that a rare class is visible; otherwise
            numbers of rows.

        Returns
        -------
        ProbabilityDisplay
            Itself.
        """
        ax = axes(ax, size=(6.0, 3.6))
        left, width = self.edges[:-1], np.diff(self.edges)
        style = {"align": "edge", "edgecolor": "white", "linewidth": 0.5}
        which = "the class" if self.positive is None else str(self.positive)
        class_label, others_label = (
            f"rows of {which}: {self.class_counts.sum():,.10g}",
            f"all others: {self.other_counts.sum():,.10g}",
        )
        up, down = (
            part / (max(part.sum(), 1e-300) if shares else 1.0)
            for part in (self.class_counts, self.other_counts)
        )
        self.class_bars_ = ax.bar(left, up, width, color=COLORS[1], label=class_label, **style)
        self.other_bars_ = ax.bar(left, -down, width, color=COLORS[0], label=others_label, **style)
        ax.axhline(0, color=GREY, linewidth=0.8)
        ax.set_xlabel(f"predicted probability of {which}", **VERBATIM)
        ax.set(xlim=(0, 1), ylabel="share of the rows" if shares else "rows")
        ax.yaxis.set_major_formatter(lambda y, _: f"{abs(y):.0%}" if shares else f"{abs(y):,.10g}")
        if self.name:
            ax.set_title(self.name, loc="left", **VERBATIM)
        legend(ax, loc="best", fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
