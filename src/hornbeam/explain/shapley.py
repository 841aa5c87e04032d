"""SHAP values of a tree: the contribution of each feature to a prediction, averaged over all orders of features.

A row reaches a leaf if all splits on the path lead there. At a split on a known feature the row follows its value; at
any other split it is distributed over the children by the weights of the training rows. So the prediction is a
polynomial in the indicators "feature is known", and Shapley values are integrals of its derivatives along the diagonal
(Owen, 1972), which Gauss-Legendre quadrature computes exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.grid import Grid, Result, by_class
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.skeleton import EVERY_CHILD, STOP
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.tree.words import feature_name, label_text, pluralise
from hornbeam.typing import Floats, Label

_CELLS = 1 << 20  # rows times quadrature nodes times features in one batch


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShapValues(Result[dict[str, float]]):
    """SHAP values of rows, and the base prediction; printed, the mean absolute value of each feature.

    Parameters
    ----------
    values : float64 array of shape (n_rows, n_features, n_classes)
        For a numeric target, the last axis has length 1.
    base : float64 array of shape (n_classes,)
        The prediction if no feature is known: the mean over the training rows. The base and the values of a row add
        up to its prediction.
    features : tuple of str
        Names of the features.
    classes : tuple of hashable
        The class labels; empty if the target is numeric.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> found = clf.shap_values([[36.0], [24.0]])
    >>> found.base.round(3)
    array([0.667, 0.333])
    >>> found
    feature     no    yes
    x0       0.500  0.500
    mean absolute SHAP value of 2 rows
    """

    values: Floats
    base: Floats
    features: tuple[str, ...]
    classes: tuple[Label, ...]

    def to_dict(self) -> dict[str, list[float]]:
        """Return columns with a value per row: ``<feature>_<class>``; for a numeric target, ``<feature>``.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
        >>> list(clf.shap_values([[36.0]]).to_dict())
        ['x0_no', 'x0_yes']
        """
        columns: dict[str, list[float]] = {}
        for at, name in enumerate(self.features):
            columns |= by_class(name, self.classes, self.values[:, at])
        return columns

    def __len__(self) -> int:
        return len(self.values)

    def _grid(self) -> Grid:
        """Return a table with a row per feature: its mean absolute value, for each class."""
        size = np.abs(self.values).mean(axis=0) if len(self.values) else self.values.sum(axis=0)
        digits = ".3f" if self.classes else ".4g"
        rows = [
            [feature_name(name), *(f"{value:{digits}}" for value in sizes)]
            for name, sizes in zip(self.features, size.tolist(), strict=True)
        ]
        header = ["feature", *(map(label_text, self.classes) if self.classes else ["value"])]
        note = f"mean absolute SHAP value of {pluralise(len(self.values), 'row')}"
        return Grid("SHAP values", header, rows, note=note)


def shap_values(tree: Tree, table: Table) -> ShapValues:
    """Compute the exact path-dependent SHAP values of rows; `ParameterError` if the tree has slopes."""
    if len(tree.slopes):
        raise ParameterError(
            f"{len(tree.slopes.nodes)} of {tree.n_nodes} nodes have slopes, and SHAP values are computed for leaves "
            "with one prediction for all of their rows. Use explain(X)[i].reasons(), which includes the terms."
        )
    n_outputs = tree.belief.shape[1]
    values = np.zeros((table.n_rows, tree.schema.n_features, n_outputs))
    batch = max(1, _CELLS // max(1, tree.schema.n_features**2))
    base = np.zeros(n_outputs)
    for begin in range(0, table.n_rows, batch):
        rows = slice(begin, begin + batch)
        base = _add_leaves(tree, [column[rows] for column in table.columns], values[rows])
    return ShapValues(values, base, tree.schema.names, tree.schema.classes)


class _Player(NamedTuple):
    """A feature on a path: the share of the training rows, and of each row, that its splits send down the path."""

    training_share: float
    row_share: Floats


type _Players = dict[int, _Player]


def _add_leaves(tree: Tree, columns: list[NDArray[np.generic]], values: Floats) -> Floats:
    """Add the SHAP values of every leaf, and of every node where rows stop; return the base prediction."""
    skeleton, missing, training = tree.skeleton, child_shares(tree), _training_shares(tree)
    base, is_leaf = np.zeros(tree.belief.shape[1]), skeleton.is_leaf.tolist()
    todo: list[tuple[int, bool, _Players]] = [(0, False, {})]
    while todo:
        node, stops, players = todo.pop()
        if stops or is_leaf[node]:
            base += tree.belief[node] * np.prod([player.training_share for player in players.values()])
            _add_leaf(players, tree.belief[node], values)
            continue
        feature, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        before = players.get(feature, _Player(1.0, np.ones(len(values))))
        rows = _row_shares(tree, node, columns[feature], missing.get(node))
        for slot, (training_share, row_share) in enumerate(zip(training[node], rows, strict=True)):
            player = _Player(before.training_share * training_share, before.row_share * row_share)
            if player.training_share > 0 or player.row_share.any():
                stops_here = slot == skeleton.n_children[node]
                todo.append((node if stops_here else first + slot, stops_here, players | {feature: player}))
    return base


def _training_shares(tree: Tree) -> dict[int, Floats]:
    """Compute, per inner node, the share of its training rows in each child, and last the share that stops there."""
    skeleton, weight = tree.skeleton, tree.weight.astype(np.float64)
    stop = evidence_stopping(skeleton, tree.weight).astype(np.float64)
    shares = {}
    for node in np.flatnonzero(skeleton.n_children).tolist():
        first, n_children = skeleton.first_child.item(node), skeleton.n_children.item(node)
        down = np.append(weight[first : first + n_children], max(stop[node], 0.0))
        # Without training rows, all children have the same share.
        shares[node] = (
            down / down.sum() if down.sum() > 0 else np.append(np.full(n_children, 1 / n_children), 0)
        )
    return shares


def _row_shares(
    tree: Tree, node: int, column: NDArray[np.generic], missing_share: dict[int, float] | None
) -> list[Floats]:
    """Compute the share of each row that goes to each child, and last the share that stops."""
    skeleton = tree.skeleton
    missing, threshold = skeleton.missing_slot.item(node), skeleton.threshold.item(node)
    if np.isnan(threshold):
        slot_of = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
        slot = np.append(slot_of, [STOP, missing])[column.astype(np.intp)]  # -2 is unseen, -1 missing
    else:
        numbers = column.astype(np.float64, copy=False)
        slot = np.where(np.isnan(numbers), missing, numbers > threshold)
    first, everywhere = skeleton.first_child.item(node), slot == EVERY_CHILD
    share = {} if missing_share is None else missing_share
    children = [
        (slot == one) + everywhere * share.get(first + one, 0.0) for one in range(skeleton.n_children[node])
    ]
    return [*children, ((slot == STOP) | (everywhere if missing_share is None else False)).astype(np.float64)]


def _add_leaf(players: _Players, belief: Floats, values: Floats) -> None:
    """Add the SHAP values of one leaf: its belief times an integral for each feature on the path."""
    if not players:
        return
    training_share = np.array([player.training_share for player in players.values()])[:, None, None]
    row_share = np.array([player.row_share for player in players.values()])[:, :, None]
    at, weight = _quadrature((len(players) + 1) // 2)
    factor = training_share * (1 - at) + row_share * at
    others = np.ones_like(factor)  # per feature, the product of the factors of all others
    others[1:] = np.cumprod(factor[:-1], axis=0)
    others[:-1] *= np.cumprod(factor[:0:-1], axis=0)[::-1]
    added = (row_share - training_share)[:, :, 0] * (others @ weight)
    values[:, list(players)] += added.T[:, :, None] * belief


@cache
def _quadrature(n: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights that integrate polynomials of degree 2n - 1 from 0 to 1."""
    at, weight = np.polynomial.legendre.leggauss(n)
    return (at + 1) / 2, weight / 2
