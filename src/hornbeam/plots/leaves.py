"""The leaves of a tree by probability, with intervals."""

from typing import Any, Self

import numpy as np

from hornbeam.checks import check_flags
from hornbeam.errors import ParameterError
from hornbeam.explain.leaves import Leaves, leaves
from hornbeam.plots.canvas import COLORS, GREY, VERBATIM, axes, fitted_tree, legend
from hornbeam.tree.decision import class_number
from hornbeam.typing import Label

_MAX_LABELLED = 30  # leaves; of more, the number of rows is not written


class LeafDisplay:
    """The leaves in the order of their probability, with intervals; the size of a dot is the number of rows.

    Parameters
    ----------
    leaves : Leaves
        The leaves to draw.
    base_rate : float, optional
        Share of the class in all rows, drawn as a line.
    positive : label, optional
        The class of interest; the last one if not given.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The axes and figure of `plot`.
    dots_, bands_, rings_, base_ : matplotlib artists
        Probabilities, intervals, raw rates and the line of the base rate; None if not drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier().fit(*load_breast_cancer(return_X_y=True))
    >>> display = LeafDisplay.from_estimator(clf)
    >>> display.ax_.get_xlabel()
    'probability of 1'
    """

    def __init__(
        self, leaves: Leaves, *, base_rate: float | None = None, positive: Label | None = None
    ) -> None:
        self.leaves = leaves
        self.base_rate = base_rate
        self.positive = leaves.classes[class_number(leaves.classes, positive)]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        positive: Label | None = None,
        level: float = 0.9,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Draw the leaves of a fitted estimator.

        Parameters
        ----------
        estimator : TreeClassifier or Tree
            Fitted.
        positive : label, optional
            The class of interest; the last one if not given.
        level : float, default 0.9
            Level of the intervals.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : raw, and keywords of matplotlib's ``scatter``
            As in `plot`.

        Returns
        -------
        LeafDisplay
        """
        tree = fitted_tree(estimator)
        if tree.is_regression:
            raise ParameterError(
                "the target of the tree is numeric, and the leaves are drawn with the rates of a class; expected a "
                "tree of classes. Draw a regression tree with TreeDisplay."
            )
        counts = tree.evidence[0]
        rate = float(counts[class_number(tree.schema.classes, positive)] / max(1, counts.sum()))
        return cls(leaves(tree, level), base_rate=rate, positive=positive).plot(ax, **settings)

    def plot(self, ax: Any = None, *, raw: bool = False, **dots: Any) -> Self:
        """Draw a line for each leaf.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        raw : bool, default False
            Draw a ring at the class frequency in the leaf, before smoothing.
        **dots : keywords of matplotlib's ``scatter``
            Style of the dots.

        Returns
        -------
        LeafDisplay
            Itself.
        """
        check_flags(raw=raw)
        n, k = len(self.leaves), list(self.leaves.classes).index(self.positive)
        ax = axes(ax, size=(6.4, max(2.6, 1.2 + 0.22 * n) if n <= _MAX_LABELLED else 6.0))
        order = np.argsort(self.leaves.probability[:, k], kind="stable")
        smoothed, low, high = (
            values[order, k] for values in (self.leaves.probability, self.leaves.low, self.leaves.high)
        )
        rows, place = self.leaves.rows[order], np.arange(n)
        band = {"alpha": 0.35, "linewidth": 4.0} if n <= _MAX_LABELLED else {"alpha": 0.2, "linewidth": 1.0}
        self.bands_ = ax.hlines(place, low, high, color=COLORS[0], zorder=2, **band)
        self.rings_ = None
        if raw:
            rates = self.leaves.raw[order, k]
            ring = {"s": 24, "facecolors": "none", "edgecolors": COLORS[1], "linewidths": 1.0}
            self.rings_ = ax.scatter(rates, place, zorder=3, label="raw rate of the leaf", **ring)
        area = 10 + 150 * rows / max(1, int(rows.max()))
        style = {
            "color": COLORS[0],
            "linewidths": 0.4 if n <= _MAX_LABELLED else 0.0,
            "edgecolors": "white",
            "zorder": 4,
        }
        label = f"smoothed probability, {100 * self.leaves.level:g} % interval; size: rows"
        self.dots_ = ax.scatter(smoothed, place, s=area, label=label, **style | dots)
        self.base_ = None
        if self.base_rate is not None:
            line = {"color": GREY, "linestyle": ":", "linewidth": 1.2, "zorder": 1}
            self.base_ = ax.axvline(self.base_rate, label=f"base rate {self.base_rate:.2f}", **line)
        ax.set_xlabel(f"probability of {self.positive}", **VERBATIM)
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.8, n - 0.2))
        if n <= _MAX_LABELLED:
            ax.set_yticks(place, [f"{count:,}" for count in rows])
            ax.set_ylabel("rows of the leaf")
        else:
            ax.set_yticks([])
            ax.set_ylabel(f"{n:,} leaves")
        legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize="small", markerscale=0.5)
        self.ax_, self.figure_ = ax, ax.figure
        return self
