"""Figures of the predicted probabilities of one class: a reliability diagram and a histogram."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, Self

import numpy as np

from hornbeam.checks import check_choice, check_flags, check_whole
from hornbeam.data.engine import Engine
from hornbeam.data.labels import read_labels
from hornbeam.data.weights import read_sample_weight
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.evaluation.calibration import ReliabilityCurve, curve_of_entries
from hornbeam.evaluation.discrimination import read_outcomes
from hornbeam.evaluation.model_scores import Entries, predicted_entries
from hornbeam.plots.canvas import COLORS, GREY, MARKERS, VERBATIM, axes, legend
from hornbeam.tree.unwrap import unwrap
from hornbeam.typing import Floats, Label


class OneClassDisplay(ABC):
    """A figure of the predicted probabilities of one class against all others."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        positive: Label | None = None,
        sample_weight: Any = None,
        engine: Engine | None = None,
        name: str | None = None,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Predict with a fitted classifier, and draw the probabilities.

        Parameters
        ----------
        estimator : classifier or Tree
            Fitted, with ``predict_proba`` and ``classes_``.
        X : array-like, data frame, path, paths, Source or collection
            Rows that are not in the training data. Files, sources and collections need a model of Hornbeam.
        y : array-like or str
            Their classes; of files, the name of the column. None for a Source.
        positive : label, optional
            The class of interest, against all others; the last one if not given.
        sample_weight : array-like or str, optional
            Weight of each row; of files, the name of the column.
        engine : Engine, optional
            Reads and predicts rows in files; default: this thread.
        name : str, optional
            Name in the figure; the estimator's class if not given.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : keywords
            Of a `ReliabilityDisplay`: n_bins, level and interval, as in `reliability_curve`. Of a `ProbabilityDisplay`:
            n_bins, the number of bins of equal width, by default 20; and shares, as in `plot`.

        Returns
        -------
        display
            The drawn display.
        """
        positive, entries = predicted_entries(
            estimator, X, y, positive=positive, sample_weight=sample_weight, engine=engine
        )
        name = type(unwrap(estimator).model).__name__ if name is None else name
        return cls._of_entries(entries, positive, name, ax, **settings)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        positive: Label | None = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Draw given probabilities of one class.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            The true classes.
        y_score : array-like of shape (n_rows,)
            The probability of `positive`.
        positive : label, optional
            The class of interest; the last of the sorted classes of `y_true` if not given.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.
        name : str, optional
            Name in the figure.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : keywords
            As in `from_estimator`.

        Returns
        -------
        display
            The drawn display.
        """
        labels = read_labels(y_true)
        if not len(labels.codes):
            raise DataError("there are no rows; expected at least one.")
        positive = labels.classes[-1].item() if positive is None else positive
        if not isinstance(positive, str | Real | np.generic):
            raise ParameterError(
                f"positive={shown(positive)}: expected a label, such as {labels.classes[-1]!r}."
            )
        observed, p = read_outcomes(labels.classes[labels.codes] == positive, y_score)
        weight = np.ones(len(p)) if sample_weight is None else read_sample_weight(sample_weight, len(p))
        kept = weight > 0
        entries = Entries(p[kept], observed[kept], weight[kept], weight[kept] ** 2)
        return cls._of_entries(entries, positive, name, ax, **settings)

    @classmethod
    @abstractmethod
    def _of_entries(
        cls, entries: Entries, positive: Label, name: str | None, ax: Any, **settings: Any
    ) -> Self:
        """Draw predictions with their outcomes and weights."""


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
    def _of_entries(
        cls, entries: Entries, positive: Label, name: str | None, ax: Any, **settings: Any
    ) -> Self:
        check_settings(settings, ("n_bins", "level", "interval"))
        curve = curve_of_entries(entries.observed, entries.p, entries.weight, entries.squares, **settings)
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
        check_choice("band", band, ("bars", "area"))
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
                curve.predicted, curve.low, curve.high, color=color, alpha=0.18, linewidth=0
            )
        else:
            self.band_ = ax.vlines(
                curve.predicted, curve.low, curve.high, color=color, linewidth=1.2, alpha=0.6
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
    def _of_entries(
        cls, entries: Entries, positive: Label, name: str | None, ax: Any, **settings: Any
    ) -> Self:
        check_settings(settings, ("n_bins", "shares"))
        n_bins = settings.pop("n_bins", 20)
        check_whole("n_bins", n_bins, 1)
        edges = np.linspace(0, 1, n_bins + 1)
        class_counts, other_counts = (
            np.histogram(entries.p[rows], edges, weights=entries.weight[rows])[0]
            for rows in (entries.observed, ~entries.observed)
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
        check_flags(shares=shares)
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


def check_settings(settings: dict[str, Any], known: Sequence[str]) -> None:
    """Raise `ParameterError` for a setting that a display does not have."""
    for name in settings:
        if name not in known:
            raise ParameterError(f"{name} is no setting of this display; expected {', '.join(known)}.")
