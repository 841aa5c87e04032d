"""Held-out loss along the path of cost-complexity pruning."""

from typing import Any, Literal, Self

from hornbeam.checks import check_choice, check_number
from hornbeam.data.rows import read_rows
from hornbeam.errors import ParameterError
from hornbeam.plots.canvas import COLORS, GREY, axes, fitted_tree, legend
from hornbeam.pruning.cost_complexity import cost_complexity_path, cut_alphas
from hornbeam.tree.decision import Costs
from hornbeam.tuning.candidate_losses import CandidateLosses, Score, evaluate_alphas, losses
from hornbeam.tuning.folds import route_held_out
from hornbeam.typing import Floats

_MEASURES = {"brier": "squared loss (Brier)", "log": "log loss", "error": "share of wrong predictions"}


class PruningPathDisplay:
    """Mean loss of held-out rows against the size of the pruned tree, with one standard error.

    Make one with `from_estimator`, which needs held-out rows.

    Parameters
    ----------
    alphas : float64 array of shape (n,)
        Cost of a leaf (`hornbeam.pruning.CostComplexity`), increasing.
    candidate_losses : CandidateLosses
        Losses of the tree of each alpha.
    chosen : int
        Position of the chosen alpha.
    measure : str
        Name of the loss.

    Attributes
    ----------
    n_leaves, loss, error : float64 arrays of shape (n,)
        Leaves (their mean, of several trees), mean loss and its standard error.
    ax_, figure_ : matplotlib axes and figure
        The axes and figure of `plot`.
    line_, band_, mark_, note_ : matplotlib artists
        Losses, standard errors, the chosen size, and its label.

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

    def __init__(self, alphas: Floats, candidate_losses: CandidateLosses, chosen: int, measure: str) -> None:
        self.alphas = alphas
        self.n_leaves = candidate_losses.n_leaves / candidate_losses.n_trees
        self.loss = candidate_losses.mean
        self.error = candidate_losses.error
        self.chosen = chosen
        self.measure = measure

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        score: Score = "brier",
        impurity: str = "gini",
        simplicity: float = 0.0,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Draw the loss of held-out rows for every subtree on the path of a fitted tree, without new smoothing.

        Parameters
        ----------
        estimator : TreeClassifier or Tree
            Fitted.
        X : array-like, data frame, path, paths or Source
            Rows that are not in the training data; files are read into memory.
        y : array-like or str
            Their classes; of files, the name of the column. None for a Source.
        score : {"brier", "log", "error"} or Costs, default "brier"
            Loss of a row: squared error of the probabilities, log loss, wrong predictions, or their costs.
        impurity : {"gini", "entropy", "error"}, default "gini"
            As in `hornbeam.pruning.CostComplexity`.
        simplicity : float, default 0.0
            Number of standard errors by which the chosen tree may be worse than the best: 0, the best; 1, CART's rule.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : by, and keywords of matplotlib's ``plot``
            As in `plot`.

        Returns
        -------
        PruningPathDisplay
        """
        tree = fitted_tree(estimator)
        if tree.is_regression:
            raise ParameterError("the target of the tree is numeric; expected a tree of classes.")
        if not isinstance(score, Costs):
            check_choice("score", score, _MEASURES)
        check_number("simplicity", simplicity, 0)
        alphas = cost_complexity_path(tree, impurity).alphas
        _, held = route_held_out(
            tree, read_rows(X, y, schema=tree.schema, target_kind=tree.schema.target_kind)
        )
        cut = cut_alphas(tree, impurity)
        candidate_losses = evaluate_alphas(alphas, tree, cut, held, losses(tree.belief, score))
        return cls(alphas, candidate_losses, candidate_losses.winner(simplicity), _measure_name(score)).plot(
            ax, **settings
        )

    def plot(self, ax: Any = None, *, by: Literal["leaves", "alpha"] = "leaves", **line: Any) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        by : {"leaves", "alpha"}, default "leaves"
            The x axis.
        **line : keywords of matplotlib's ``plot``
            Style of the line.

        Returns
        -------
        PruningPathDisplay
            Itself.
        """
        check_choice("by", by, ("leaves", "alpha"))
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
        style = {"ha": "center", "textcoords": "offset points", "color": COLORS[1]}
        self.note_ = ax.annotate(f"{self.n_leaves[self.chosen]:.3g} leaves", (at, least), (0, 16), **style)
        if by == "leaves":
            from matplotlib.ticker import LogLocator, NullLocator

            ax.set(xscale="log", xlabel="leaves of the pruned tree")
            ax.xaxis.set(major_locator=LogLocator(subs=(1, 2, 5)), minor_locator=NullLocator())
            ax.xaxis.set_major_formatter("{x:,g}")
        else:
            ax.set_xscale("symlog", linthresh=float(self.alphas[self.alphas > 0].min(initial=1.0)))
            ax.set(xlim=(0, None), xlabel="alpha, the cost of a leaf")
        ax.set_ylabel(self.measure)
        legend(ax, loc="best", fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _measure_name(score: Score) -> str:
    return "mean cost" if isinstance(score, Costs) else _MEASURES[score]
