"""New evidence for a fitted estimator: its tests stay, its counts change, and it smooths as it did before."""

from dataclasses import replace
from typing import Any

import numpy as np

from hornbeam.data.table import Table
from hornbeam.data.weights import to_steps
from hornbeam.errors import DataError, TreeError
from hornbeam.smoothing import Raw, Smoother, replay, smoothers_of
from hornbeam.tree.edit import integer_weights
from hornbeam.tree.evidence.fractional import known_weight
from hornbeam.tree.evidence.update import add_rows, decay, remove_rows
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts

__all__ = ["forget", "known_shares", "update"]

# What another machine's logarithms, or another optimiser, may change in a probability.
_TOLERANCE = 1e-6


def update(estimator: Any, table: Table, sample_weight: Any, factor: float) -> None:
    """Add the rows of a table to the evidence, after the old evidence has faded."""
    tree = decay(estimator.tree_, factor)
    rows = _row_weights(estimator, table, sample_weight, tree)
    _resmooth(estimator, add_rows(tree, rows, shares=_shares(estimator)))


def forget(estimator: Any, table: Table, sample_weight: Any) -> None:
    """Take the rows of a table out of the evidence."""
    rows = _row_weights(estimator, table, sample_weight, estimator.tree_)
    _resmooth(estimator, remove_rows(estimator.tree_, rows, shares=_shares(estimator)))


def known_shares(tree: Tree, table: Table) -> Counts | None:
    """Find what missing values are shared by where they go to every child; None if they never do.

    That belongs to the tests: rows that come or go later are shared as those of `fit` were, or they could
    not be taken out again to the last step.

    Parameters
    ----------
    tree : Tree
    table : Table
        The rows it was fitted to.

    Examples
    --------
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read([[0.0], [0.0], [1.0], [1.0], [float("nan")]], ["a", "a", "b", "b", "a"])
    >>> tree = PRESETS["c4.5"].fit(table)
    >>> (known_shares(tree, table) * tree.unit[0]).tolist()
    [5.0, 2.0, 2.0]
    """
    if not (tree.skeleton.missing_slot == -2).any():
        return None
    return known_weight(tree.skeleton, table, integer_weights(table, tree.unit.item(0)))


def _shares(estimator: Any) -> Counts:
    """A file may not tell what `fit` shared by: then the evidence at hand comes close, and stays."""
    told: Counts | None = estimator._shares
    tree: Tree = estimator.tree_
    return tree.weight if told is None else told


def _row_weights(estimator: Any, table: Table, sample_weight: Any, tree: Tree) -> Table:
    """Weigh rows in the tree's unit, and leave out those that do not count, as `fit` did."""
    unit = tree.unit.item(0)
    weight = to_steps(sample_weight, table.n_rows, unit)
    counts = np.ones(table.n_rows, bool) if tree.is_regression else estimator.class_weight_[table.target] > 0
    if weight is not None:
        table = replace(table, weight=weight, unit=unit)
        counts &= weight > 0
    if not counts.any():
        raise DataError("Every row has weight 0. Sample weights must contain at least one non-zero number.")
    return table if counts.all() else table.take(np.flatnonzero(counts))


def _resmooth(estimator: Any, tree: Tree) -> None:
    """Smooth a tree with new evidence; nothing is touched before it is certain."""
    refreshed = replay(_smoothers(estimator), tree)
    if (tree.skeleton.missing_slot == -2).any():
        estimator._shares = _shares(estimator)
    estimator.tree_ = refreshed


def _smoothers(estimator: Any) -> tuple[Smoother, ...]:
    """Find the steps that make of the evidence what is believed of it; a smoother may be anybody's."""
    tree = estimator.tree_
    told = smoothers_of(tree.history)
    scale = np.abs(tree.belief).max() if tree.is_regression else 1.0
    for smoothers in (told, (estimator.smoothing, *told)) if callable(estimator.smoothing) else (told,):
        again = replay((Raw(), *smoothers), tree)
        same_nodes = again.belief.shape == tree.belief.shape  # what was given as a smoother may be a pruner
        if same_nodes and np.allclose(again.belief, tree.belief, rtol=0, atol=_TOLERANCE * scale):
            return smoothers
    raise TreeError(
        f"the probabilities of the tree are not those its history makes ({', '.join(map(str, told)) or 'raw'}), "
        "so they cannot be made again: expected a smoother of hornbeam.smoothing, or the one it was fitted with "
        "as `smoothing`. Smooth the tree yourself, after hornbeam.tree.add_rows or remove_rows."
    )
