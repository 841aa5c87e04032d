"""The path of cost-complexity pruning: what rows that no tree has seen say about its size."""

from typing import Any, Literal, Self

import numpy as np

from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.plots.canvas import COLORS, GREY, axes, legend
from hornbeam.plots.estimator_access import fitted_tree
from hornbeam.pruning import CostComplexity, cost_complexity_path
from hornbeam.tree.decision.costs import Costs
from hornbeam.tuning import CrossValidated
from hornbeam.tuning.candidate_losses import CandidateLosses, Score, evaluate_alphas, losses
from hornbeam.tuning.folds import route_held_out
from hornbeam.typing import Floats

__all__ = ["PruningPathDisplay"]

_MEASURES = {"brier": "squared loss (Brier)", "log": "log loss", "error": "share of wrong answers"}


class PruningPathDisplay:
    """What held-out rows lose on average, against the size of the pruned tree, with one standard error around it.

    Make one with `from_estimator`, from rows held back, or `from_cross_validation`.

    Parameters
    ----------
    alphas : float64 array of shape (n,)
        What a leaf must save (`hornbeam.pruning.CostComplexity`), increasing.
    trial : CandidateLosses
        What each of these trees lost.
    chosen : int
        Which of them is taken.
    measure : str
        What the loss is.

    Attributes
    ----------
    n_leaves, loss, error : float64 arrays of shape (n,)
        The numbers: leaves (their mean, of several trees), mean loss and its standard error.
    ax_, figure_ : matplotlib axes and figure
        Where `plot` drew.
    line_, band_, mark_, note_ : matplotlib artists
        The losses, their standard errors, the chosen size, and its words.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = TreeClassifier("cart").fit(X[::2], y[::2])
    >>> display = PruningPathDisplay.from_estimator(clf, X[1::2], y[1::2], simplicity=1.0)
    >>> display.n_leaves.astype(int).tolist(), display.note_.get_text()
    ([12, 8, 6, 5, 3, 2, 1], '3 leaves')
    """

    def __init__(self, alphas: Floats, trial: CandidateLosses, chosen: int, measure: str) -> None:
        self.alphas = alphas
        self.n_leaves = trial.n_leaves / trial.n_trees
        self.loss = trial.mean
        self.error = trial.error
        self.chosen = chosen
        self.measure = measure

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        score: Score = "brier",
        impurity: str = "gini",
        simplicity: float = 0.0,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Ask held-out rows about every subtree on the path of a fitted tree; probabilities stay as they are.

        Parameters
        ----------
        estimator : TreeClassifier or Tree
            Fitted.
        X : array-like or data frame
            Rows it has not seen.
        y : array-like of shape (n_rows,)
            Their classes.
        score : {"brier", "log", "error"} or Costs, default "brier"
            What a row loses, as of `hornbeam.tuning.CrossValidated`.
        impurity : {"gini", "entropy", "error"}, default "gini"
            As of `hornbeam.pruning.CostComplexity`.
        simplicity : float, default 0.0
            How many standard errors above the best the chosen tree may be: 0, the best; 1, CART's rule.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : by, and keywords of matplotlib's ``plot``
            As of `plot`.

        Returns
        -------
        PruningPathDisplay
        """
        tree = fitted_tree(estimator)
        alphas = cost_complexity_path(tree, impurity).alphas
        _, held = route_held_out(tree, Table.read(X, y, schema=tree.schema))
        trial = evaluate_alphas(alphas, tree, held, losses(tree.belief, score), impurity)
        return cls(alphas, trial, trial.winner(simplicity), _named(score)).plot(ax, **settings)

    @classmethod
    def from_cross_validation(
        cls, method: CrossValidated, X: Any, y: Any, *, n_jobs: int = 1, ax: Any = None, **settings: Any
    ) -> Self:
        """Draw what trees regrown without some rows lose on them, and what is chosen by it.

        Parameters
        ----------
        method : CrossValidated
            Whose candidates are those of cost-complexity pruning, as they are by default.
        X : array-like or data frame
            The rows to fit.
        y : array-like of shape (n_rows,)
            Their classes.
        n_jobs : int, default 1
            Threads.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : by, and keywords of matplotlib's ``plot``
            As of `plot`.

        Returns
        -------
        PruningPathDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from hornbeam.recipe import PRESETS
        >>> method = CrossValidated(PRESETS["cart"], simplicity=1.0)
        >>> display = PruningPathDisplay.from_cross_validation(method, *load_breast_cancer(return_X_y=True))
        >>> display.note_.get_text()
        '4.4 leaves'
        """
        candidates, trial = method.evaluate(Table.read(X, y), n_jobs=n_jobs)
        alphas = [each.alpha for each in candidates if isinstance(each, CostComplexity)]
        if len(alphas) < len(candidates):
            raise ParameterError(
                "candidates are not all CostComplexity; expected a path. Leave CrossValidated's candidates out."
            )
        if trial is None:
            raise DataError("A single row has nobody to ask; expected 2 rows or more.")
        return cls(np.array(alphas), trial, trial.winner(method.simplicity), _named(method.score)).plot(
            ax, **settings
        )

    def plot(self, ax: Any = None, *, by: Literal["leaves", "alpha"] = "leaves", **line: Any) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        by : {"leaves", "alpha"}, default "leaves"
            What to set the loss against.
        **line : keywords of matplotlib's ``plot``
            Colour and the like.

        Returns
        -------
        PruningPathDisplay
            Itself.
        """
        if by not in ("leaves", "alpha"):
            raise ParameterError(f"by={by!r}: expected 'leaves' or 'alpha'.")
        ax = axes(ax, size=(6.4, 4.0))
        x = self.n_leaves if by == "leaves" else self.alphas
        style = {
            "color": COLORS[0],
            "marker": "o",
            "markersize": 3,
            "linewidth": 1.2,
            "label": "held-out rows",
        }
        steps = {} if by == "leaves" else {"drawstyle": "steps-post"}
        (self.line_,) = ax.plot(x, self.loss, **style | steps | line)
        low, high = self.loss - self.error, self.loss + self.error
        self.band_ = ax.fill_between(
            x,
            low,
            high,
            step=None if by == "leaves" else "post",
            color=self.line_.get_color(),
            alpha=0.15,
            linewidth=0,
            label="one standard error",
        )
        at, least = x[self.chosen], self.loss[self.chosen]
        (self.mark_,) = ax.plot(at, least, "o", color=COLORS[1], markersize=8, zorder=4)
        ax.axvline(at, color=GREY, linestyle=":", linewidth=1, zorder=0)
        said = {"ha": "center", "textcoords": "offset points", "color": COLORS[1]}
        self.note_ = ax.annotate(f"{self.n_leaves[self.chosen]:.3g} leaves", (at, least), (0, 16), **said)
        if by == "leaves":
            from matplotlib.ticker import LogLocator, NullLocator

            ax.set(xscale="log", xlabel="leaves of the pruned tree")
            ax.xaxis.set(major_locator=LogLocator(subs=(1, 2, 5)), minor_locator=NullLocator())
            ax.xaxis.set_major_formatter("{x:,g}")
        else:
            ax.set_xscale("symlog", linthresh=float(self.alphas[self.alphas > 0].min(initial=1.0)))
            ax.set(xlim=(0, None), xlabel="alpha: what a leaf must save")
        ax.set_ylabel(self.measure)
        legend(ax, loc="best", fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _named(score: Score) -> str:
    return "mean cost" if isinstance(score, Costs) else _MEASURES[score]
