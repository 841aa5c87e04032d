"""The leaves of a tree by probability or mean, with intervals and densities."""

from typing import Any, Self

import numpy as np

from hornbeam.checks import check_flags
from hornbeam.errors import ParameterError, shown
from hornbeam.explain.leaves import Leaves, leaves
from hornbeam.plots.canvas import COLORS, GREY, VERBATIM, axes, fitted_tree, legend
from hornbeam.plots.leaf_table import Densities
from hornbeam.tree.decision import class_number
from hornbeam.tree.unwrap import distribution_of
from hornbeam.typing import Floats, Label

_MAX_LABELLED = 30  # leaves; of more, the number of rows is not written
_STEPS, _PARTS = 400, 40  # quantiles of a density, and parts of the axis


class LeafDisplay:
    """The leaves in the order of their probability, with intervals; the size of a dot is the number of rows.

    Those of a numeric target are in the order of their mean, each with the density of its rows: the model must be
    fitted with ``distribution=True``.

    Parameters
    ----------
    leaves : Leaves
        The leaves to draw.
    base_rate : float, optional
        Share of the class in all rows, drawn as a line.
    positive : label, optional
        The class of interest; the last one if not given.
    quantiles : ndarray of float64 of shape (n_leaves, m), optional
        Of a numeric target: the values that parts of the rows of each leaf do not exceed, for m even steps from 0 to 1.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The axes and figure of `plot`.
    dots_, bands_, rings_, base_ : matplotlib artists
        Probabilities, intervals, raw rates and the line of the base rate; None if not drawn.
    densities_ : list of matplotlib artists
        The densities of the leaves; empty for classes.

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
        self,
        leaves: Leaves,
        *,
        base_rate: float | None = None,
        positive: Label | None = None,
        quantiles: Floats | None = None,
    ) -> None:
        self.leaves = leaves
        self.base_rate = base_rate
        self.quantiles = quantiles
        self.positive = (
            None if quantiles is not None else leaves.classes[class_number(leaves.classes, positive)]
        )

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
        estimator : TreeClassifier, Tree, or TreeRegressor with ``distribution=True``
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
            if positive is not None:
                raise ParameterError(
                    f"positive={shown(positive)}: the target of the tree is numeric; expected a tree of classes. Leave "
                    "it out."
                )
            distribution = distribution_of(estimator, "a plot of leaves with a number")
            found = leaves(tree, level)
            quantiles = distribution.quantiles(
                found.node.astype(np.int32), (np.arange(_STEPS) + 0.5) / _STEPS
            )
            return cls(found, quantiles=quantiles).plot(ax, **settings)
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
        n = len(self.leaves)
        k = list(self.leaves.classes).index(self.positive) if self.quantiles is None else 0
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
        self.densities_ = [] if self.quantiles is None else _draw_densities(ax, self.quantiles[order])
        area = 10 + 150 * rows / max(1, int(rows.max()))
        style = {
            "color": COLORS[0],
            "linewidths": 0.4 if n <= _MAX_LABELLED else 0.0,
            "edgecolors": "white",
            "zorder": 4,
        }
        what = "mean" if self.quantiles is not None else "probability"
        label = f"smoothed {what}, {100 * self.leaves.level:g} % interval; size: rows"
        self.dots_ = ax.scatter(smoothed, place, s=area, label=label, **style | dots)
        self.base_ = None
        if self.base_rate is not None:
            line = {"color": GREY, "linestyle": ":", "linewidth": 1.2, "zorder": 1}
            self.base_ = ax.axvline(self.base_rate, label=f"base rate {self.base_rate:.2f}", **line)
        if self.quantiles is None:
            ax.set_xlabel(f"probability of {self.positive}", **VERBATIM)
            ax.set(xlim=(-0.03, 1.03))
        else:
            ax.set_xlabel("target: mean of the leaf, and density of its rows")
        ax.set(ylim=(-0.8, n - 0.2))
        if n <= _MAX_LABELLED:
            ax.set_yticks(place, [f"{count:,}" for count in rows])
            ax.set_ylabel("rows of the leaf")
        else:
            ax.set_yticks([])
            ax.set_ylabel(f"{n:,} leaves")
        legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize="small", markerscale=0.5)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _draw_densities(ax: Any, quantiles: Floats) -> list[Any]:
    """Draw the density of each leaf above its line, all on one scale of the height of a line."""
    found = Densities.of(quantiles, _PARTS)
    style = {"color": GREY, "alpha": 0.25, "linewidth": 0.0, "step": "mid", "zorder": 1}
    middle = found.low + (found.high - found.low) * found.middles
    heights = enumerate(0.8 * found.heights)
    return [ax.fill_between(middle, place, place + height, **style) for place, height in heights]
