"""SHAP values of a tree: what each feature adds to the prediction of a row, averaged over all orders of features.

A leaf is reached if every feature on its path agrees. Of a known feature the row decides, of any other the rows of
training do, by the weights of the children. So the prediction is a polynomial in "feature is known", and Shapley
values are integrals of its derivatives along the diagonal (Owen, 1972), which Gauss-Legendre quadrature gives exactly.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.export.missing_shares import missing_shares
from hornbeam.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Floats

__all__ = ["ShapValues", "shap_values"]

_CELLS = 1 << 20  # rows times nodes of the quadrature times features at once


class ShapValues(NamedTuple):
    """What each feature adds to the predictions of rows.

    Parameters
    ----------
    values : float64 array of shape (n_rows, n_features, n_classes)
        Of a numeric target, the last axis has the length 1.
    base : float64 array of shape (n_classes,)
        The prediction if no feature is known: the mean over the rows of training. Base and values of a row add up
        to its prediction.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"]).tree_
    >>> shap_values(tree, Table.read([[36.0]], schema=tree.schema)).base.round(3)
    array([0.667, 0.333])
    """

    values: Floats
    base: Floats


def shap_values(tree: Tree, table: Table) -> ShapValues:
    """Return the path-dependent SHAP values of rows, exactly.

    Parameters
    ----------
    tree : Tree
    table : Table
        Rows read with the tree's schema.

    Returns
    -------
    ShapValues
        The values, and the prediction they start from.

    See Also
    --------
    hornbeam.export.to_shap : the arrays for ``shap.TreeExplainer``.

    Notes
    -----
    The values are those of ``shap.TreeExplainer`` for comparisons of numbers. A set of categories is one test here,
    where shap needs a copy of the branch for each run of their positions.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> X = [[20.0, "a"], [30.0, "b"], [40.0, "a"], [50.0, "b"]]
    >>> tree = TreeClassifier("cart", smoothing=None).fit(X, ["no", "no", "yes", "yes"]).tree_
    >>> found = shap_values(tree, Table.read([[36.0, "b"]], schema=tree.schema))
    >>> found.values[0, :, 1], found.base[1]
    (array([0.5, 0. ]), np.float64(0.5))
    """
    n_answers = tree.belief.shape[1]
    values = np.zeros((table.n_rows, tree.schema.n_features, n_answers))
    n_at_once = max(1, _CELLS // max(1, tree.schema.n_features**2))
    base = np.zeros(n_answers)
    for begin in range(0, table.n_rows, n_at_once):
        rows = slice(begin, begin + n_at_once)
        base = _add_leaves(tree, [column[rows] for column in table.columns], values[rows])
    return ShapValues(values, base)


class _Player(NamedTuple):
    """A feature on a path: the part of the rows of training, and of each row, that its tests let pass."""

    of_training: float
    of_row: Floats


type _Players = dict[int, _Player]


def _add_leaves(tree: Tree, columns: list[NDArray[np.generic]], values: Floats) -> Floats:
    """Add what every leaf, and every node where rows stop, gives to the features on its path; return the base."""
    skeleton, spread, parts = tree.skeleton, missing_shares(tree), _parts_of_training(tree)
    base, is_leaf = np.zeros(tree.belief.shape[1]), skeleton.is_leaf.tolist()
    todo: list[tuple[int, bool, _Players]] = [(0, False, {})]
    while todo:
        node, stops, players = todo.pop()
        if stops or is_leaf[node]:
            base += tree.belief[node] * np.prod([player.of_training for player in players.values()])
            _credit(players, tree.belief[node], values)
            continue
        feature, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        before = players.get(feature, _Player(1.0, np.ones(len(values))))
        taken = _taken(tree, node, columns[feature], spread.get(node))
        for slot, (part, of_row) in enumerate(zip(parts[node], taken, strict=True)):
            player = _Player(before.of_training * part, before.of_row * of_row)
            if player.of_training > 0 or player.of_row.any():
                is_stop = slot == skeleton.n_children[node]
                todo.append((node if is_stop else first + slot, is_stop, players | {feature: player}))
    return base


def _parts_of_training(tree: Tree) -> dict[int, Floats]:
    """Return, for each inner node, the part of its rows that goes to each child, and last the part that stops there."""
    skeleton, weight = tree.skeleton, tree.weight.astype(np.float64)
    stop = evidence_stopping(skeleton, tree.weight).astype(np.float64)
    parts = {}
    for node in np.flatnonzero(skeleton.n_children).tolist():
        first, n_children = skeleton.first_child.item(node), skeleton.n_children.item(node)
        down = np.append(weight[first : first + n_children], max(stop[node], 0.0))
        # Where no row of training came, every child is as likely.
        parts[node] = (
            down / down.sum() if down.sum() > 0 else np.append(np.full(n_children, 1 / n_children), 0)
        )
    return parts


def _taken(
    tree: Tree, node: int, column: NDArray[np.generic], spread: dict[int, float] | None
) -> list[Floats]:
    """Return the part of each row that goes to each child, and last the part that stops."""
    skeleton = tree.skeleton
    missing, threshold = skeleton.missing_slot.item(node), skeleton.threshold.item(node)
    if np.isnan(threshold):
        slot_of = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
        slot = np.append(slot_of, [-1, missing])[column.astype(np.intp)]  # -2 is unseen, -1 missing
    else:
        numbers = column.astype(np.float64, copy=False)
        slot = np.where(np.isnan(numbers), missing, numbers > threshold)
    first, everywhere = skeleton.first_child.item(node), slot == -2
    part = {} if spread is None else spread
    children = [
        (slot == one) + everywhere * part.get(first + one, 0.0) for one in range(skeleton.n_children[node])
    ]
    return [*children, ((slot == -1) | (everywhere if spread is None else False)).astype(np.float64)]


def _credit(players: _Players, belief: Floats, values: Floats) -> None:
    """Add the SHAP values of one leaf: its belief times an integral for each feature on the path."""
    if not players:
        return
    of_training = np.array([player.of_training for player in players.values()])[:, None, None]
    of_row = np.array([player.of_row for player in players.values()])[:, :, None]
    at, weight = _quadrature((len(players) + 1) // 2)
    factor = of_training * (1 - at) + of_row * at
    others = np.ones_like(factor)  # for each feature, the product of the factors of all others
    others[1:] = np.cumprod(factor[:-1], axis=0)
    others[:-1] *= np.cumprod(factor[:0:-1], axis=0)[::-1]
    added = (of_row - of_training)[:, :, 0] * (others @ weight)
    values[:, list(players)] += added.T[:, :, None] * belief


@cache
def _quadrature(n: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights that integrate polynomials of degree 2n - 1 from 0 to 1."""
    at, weight = np.polynomial.legendre.leggauss(n)
    return (at + 1) / 2, weight / 2
