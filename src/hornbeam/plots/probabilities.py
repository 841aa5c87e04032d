"""A histogram of predicted probabilities, for rows of the class and for all others."""

from typing import Any, Self

import numpy as np

from hornbeam.errors import DataError, ParameterError
from hornbeam.plots.canvas import COLORS, GREY, VERBATIM, axes, legend
from hornbeam.plots.one_class import OneClassDisplay
from hornbeam.typing import Floats, Label

__all__ = ["ProbabilityDisplay"]


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
