"""SHAP values of a tree: the contribution of each feature to a prediction, averaged over all orders of features.

A row reaches a leaf if all splits on the path lead there. At a split on a known feature the row follows its value; at
any other split it is distributed over the children by the weights of the training rows. So the prediction is a
polynomial in the indicators "feature is known", and Shapley values are integrals of its derivatives along the diagonal
(Owen, 1972), which Gauss-Legendre quadrature computes exactly.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.rows import read_rows
from hornbeam.errors import ParameterError
from hornbeam.tree import Tree
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.skeleton import EVERY_CHILD, STOP
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Floats

_CELLS = 1 << 20  # rows times quadrature nodes times features in one batch


class ShapValues(NamedTuple):
    """SHAP values of rows, and the base prediction.

    Parameters
    ----------
    values : float64 array of shape (n_rows, n_features, n_classes)
        For a numeric target, the last axis has length 1.
    base : float64 array of shape (n_classes,)
        The prediction if no feature is known: the mean over the training rows. The base and the values of a row add
        up to its prediction.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"]).tree_
    >>> shap_values(tree, Table.read([[36.0]], schema=tree.schema)).base.round(3)
    array([0.667, 0.333])
    """

    values: Floats
    base: Floats


def shap_values(tree: Tree | HasTree, table: Any) -> ShapValues:
    """Compute the exact path-dependent SHAP values of rows.

    Parameters
    ----------
    tree : Tree, or fitted estimator of one tree
    table : Table, array-like or data frame
        Rows like those of `fit`.

    Returns
    -------
    ShapValues
        The values, and the base prediction.

    Raises
    ------
    ParameterError
        If a leaf has slopes.

    See Also
    --------
    hornbeam.export.to_shap : the arrays for ``shap.TreeExplainer``.

    Notes
    -----
    For numeric splits the values are those of ``shap.TreeExplainer``. A split on a set of categories is one split here,
    whereas shap needs a copy of the branch for each run of category positions.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> X = [[20.0, "a"], [30.0, "b"], [40.0, "a"], [50.0, "b"]]
    >>> tree = TreeClassifier("cart", smoothing=None).fit(X, ["no", "no", "yes", "yes"]).tree_
    >>> found = shap_values(tree, Table.read([[36.0, "b"]], schema=tree.schema))
    >>> found.values[0, :, 1], found.base[1]
    (array([0.5, 0. ]), np.float64(0.5))
    """
    tree = single_tree(tree)
    table = read_rows(table, schema=tree.schema)
    if len(tree.slopes):
        raise ParameterError(
            f"{len(tree.slopes.leaves)} of {tree.n_leaves} leaves have slopes, and SHAP values are computed for leaves "
            "with one prediction for all of their rows. Use explain(X)[i].reasons(), which includes the terms."
        )
    n_outputs = tree.belief.shape[1]
    values = np.zeros((table.n_rows, tree.schema.n_features, n_outputs))
    batch = max(1, _CELLS // max(1, tree.schema.n_features**2))
    base = np.zeros(n_outputs)
    for begin in range(0, table.n_rows, batch):
        rows = slice(begin, begin + batch)
        base = _add_leaves(tree, [column[rows] for column in table.columns], values[rows])
    return ShapValues(values, base)


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
