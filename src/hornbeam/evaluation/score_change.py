"""How much a change of a tree costs: its scores on held-out rows before and after, with standard errors.

Both trees predict the same rows, so the standard error is that of the mean difference per row: it is smaller than what
two separate standard errors suggest. That of the AUC is DeLong's :cite:p:`delong1988`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.evaluation.scores import LEAST_PROBABILITY
from hornbeam.explain.mean_and_error import mean_and_error
from hornbeam.tree.route import decide_rows, predict_rows
from hornbeam.tree.tree import Tree
from hornbeam.typing import Bools, Floats

__all__ = ["ScoreChange", "ScoreChanges", "score_changes"]


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score before and after a change.

    Parameters
    ----------
    name : str
        For example "log loss".
    before, after : float
    error : float
        Standard error of the difference; NaN for fewer than two rows.

    Examples
    --------
    >>> ScoreChange("log loss", 0.5, 0.625, 0.1)
    log loss: 0.5000 before, 0.6250 after, +0.1250 ± 0.1000
    """

    name: str
    before: float
    after: float
    error: float

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before

    def __repr__(self) -> str:
        values = f"{self.before:.4f} before, {self.after:.4f} after"
        return f"{self.name}: {values}, {self.difference:+.4f} ± {self.error:.4f}"


class ScoreChanges(tuple[ScoreChange, ...]):
    """All scores before and after a change; prints a line for each.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    >>> before, after = (TreeClassifier("cart", max_depth=d).fit(X, y).tree_ for d in (1, None))
    >>> score_changes(before, after, Table.read([[30], [60]], ["no", "yes"], schema=before.schema))
    log loss: 0.0000 before, 0.0000 after, +0.0000 ± 0.0000
    Brier score: 0.0000 before, 0.0000 after, +0.0000 ± 0.0000
    AUC: 1.0000 before, 1.0000 after, +0.0000 ± nan
    error rate: 0.0000 before, 0.0000 after, +0.0000 ± 0.0000
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


def score_changes(before: Tree, after: Tree, table: Table) -> ScoreChanges:
    """Compare the scores of two trees on the same rows.

    Parameters
    ----------
    before, after : Tree
    table : Table
        Rows with targets, read with the schema of both trees; neither tree should be grown from them.

    Returns
    -------
    ScoreChanges
        For classes: log loss, Brier score, AUC (two classes, both among the rows), and the mean cost of the decisions,
        which without costs is the error rate. For a numeric target: the mean squared error.

    Examples
    --------
    >>> from hornbeam import Table, TreeRegressor
    >>> X, y = [[1], [2], [3], [4]], [1.0, 2.0, 6.0, 7.0]
    >>> before, after = (TreeRegressor("cart", max_depth=depth).fit(X, y).tree_ for depth in (1, 2))
    >>> score_changes(before, after, Table.read([[1], [4]], [1.0, 7.0], schema=before.schema))
    mean squared error: 0.2500 before, 0.0000 after, -0.2500 ± 0.0000
    """
    if not table.n_rows:
        raise DataError("there are no rows; expected some with a target.")
    changes = _of_numbers if before.is_regression else _of_classes
    return ScoreChanges(changes(before, after, table))


def _of_numbers(before: Tree, after: Tree, table: Table) -> Iterator[ScoreChange]:
    if table.numeric_target is None:
        raise DataError("the rows have no target; expected a number for each row.")
    y = table.numeric_target.values
    first, second = ((predict_rows(tree, table)[:, 0] - y) ** 2 for tree in (before, after))
    yield _change("mean squared error", _weight(table), first, second)


def _of_classes(before: Tree, after: Tree, table: Table) -> Iterator[ScoreChange]:
    y, weight, rows = table.target, _weight(table), np.arange(table.n_rows)
    if y is None:
        raise DataError("the rows have no target; expected a class for each row.")
    p = [predict_rows(tree, table) for tree in (before, after)]
    yield _change("log loss", weight, *(-np.log(np.maximum(q[rows, y], LEAST_PROBABILITY)) for q in p))
    yield _change("Brier score", weight, *(((q - np.eye(q.shape[1])[y]) ** 2).sum(axis=1) for q in p))
    if before.n_classes == 2 and len(np.unique(y)) == 2:
        yield _auc_change(y == 1, p[0][:, 1], p[1][:, 1], weight)
    costs = before.decision.costs
    name, matrix = (
        ("error rate", 1 - np.eye(before.n_classes)) if costs is None else ("mean cost", costs.matrix)
    )
    yield _change(name, weight, *(matrix[y, decide_rows(tree, table)] for tree in (before, after)))


def _auc_change(positive: Bools, before: Floats, after: Floats, weight: Floats) -> ScoreChange:
    """Compare areas under ROC curves: means, over the rows of a class, of the share of the other class they exceed."""
    w, v = weight[positive], weight[~positive]
    of_positive = [_share_below(score[positive], score[~positive], v) for score in (before, after)]
    of_negative = [_share_below(-score[~positive], -score[positive], w) for score in (before, after)]
    change = _change("AUC", w, *of_positive)
    error = np.hypot(change.error, _change("", v, *of_negative).error)
    return ScoreChange("AUC", change.before, change.after, float(error))


def _share_below(score: Floats, others: Floats, weight: Floats) -> Floats:
    """Weight of the other rows with a lower score, and half of that with the same, by their total weight."""
    order = np.argsort(others)
    ranked, below = others[order], np.append(0.0, np.cumsum(weight[order]))
    lower, not_higher = (below[np.searchsorted(ranked, score, side)] for side in ("left", "right"))
    share: Floats = (lower + not_higher) / (2 * below[-1])
    return share


def _change(name: str, weight: Floats, before: Floats, after: Floats) -> ScoreChange:
    """Compare weighted means of values of the same rows."""
    _, error = mean_and_error(after - before, weight)
    total = weight.sum()
    return ScoreChange(name, float(weight @ before / total), float(weight @ after / total), error)


def _weight(table: Table) -> Floats:
    return np.ones(table.n_rows) if table.weight is None else table.weight.astype(np.float64)
