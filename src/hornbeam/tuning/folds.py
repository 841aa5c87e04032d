"""Rows dealt out to folds, and the trees regrown without each."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.bins import Bins
from hornbeam.data.table import Table
from hornbeam.recipe import Recipe
from hornbeam.tree.edit import sharing_unit, tally
from hornbeam.tree.route import route
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import stopped
from hornbeam.typing import Codes, Floats, Indices

__all__ = ["Regrown", "deal", "draw", "regrow"]

type _Bits = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def draw(codes: Codes, table: Table, seed: int = 0) -> _Bits:
    """Draw a number for every row by what it is, not by where it stands.

    Parameters
    ----------
    codes : array of shape (n_rows, n_features)
    table : Table
        With its target.
    seed : int, default 0
        Another seed, other numbers.

    Returns
    -------
    uint64 array of shape (n_rows,)
        Reordering the rows reorders the numbers; rows that are alike get different ones, in some order.

    Examples
    --------
    >>> table = Table.read([[1.0], [2.0], [2.0]], [0, 1, 1])
    >>> codes = np.array([[0], [1], [1]], np.uint8)
    >>> there, back = draw(codes, table), draw(codes[::-1], table.take(np.array([2, 1, 0])))
    >>> bool((np.sort(there) == np.sort(back)).all()), bool(there[1] == there[2])
    (True, False)
    """
    assert table.target is not None
    factor = _mixed(np.arange(1, codes.shape[1] + 3, dtype=np.uint64) + np.uint64(seed) * _GOLDEN)
    bits = table.target.astype(np.uint64) * factor[0]
    if table.weight is not None:
        bits += table.weight.view(np.uint64) * factor[1]
    for feature in range(codes.shape[1]):
        bits += codes[:, feature] * factor[feature + 2]
    bits = _mixed(bits)
    order = np.argsort(bits, kind="stable")
    alike = np.append(False, np.diff(bits[order]) == 0)
    if alike.any():
        # The second of a kind is told from the first by its number.
        place = np.arange(len(bits))
        nth = place - np.maximum.accumulate(np.where(alike, 0, place))
        bits[order] = _mixed(bits[order] + nth.astype(np.uint64) * _GOLDEN)
    return bits


def deal(numbers: _Bits, target: Indices, n_folds: int) -> Indices:
    """Deal the rows out like cards, class by class: folds of equal size with the same mix of classes.

    Returns
    -------
    int32 array of shape (n_rows,)
        The fold of each row.

    Examples
    --------
    >>> numbers = np.array([5, 3, 8, 1], np.uint64)
    >>> deal(numbers, np.array([0, 0, 1, 1]), 2).tolist()
    [1, 0, 1, 0]
    """
    fold = np.empty(len(numbers), np.int32)
    fold[np.lexsort((numbers, target))] = np.arange(len(numbers)) % n_folds
    return fold


@dataclass(frozen=True, slots=True, eq=False)
class Regrown:
    """A tree regrown without some rows, and what became of them.

    Parameters
    ----------
    tree : Tree
        Pruned, if the recipe prunes, and not smoothed.
    rows : array of int
        The rows held out.
    node : int32 array or None
        Where each of them stops; None if missing values go to every child.
    held : float64 array of shape (n_nodes, n_classes)
        The weight of each class that stops at each node.
    """

    tree: Tree
    rows: NDArray[np.intp]
    node: Indices | None
    held: Floats


def regrow(
    recipe: Recipe, table: Table, bins: Bins, codes: Codes, fold: Indices, n_jobs: int = 1
) -> Sequence[Regrown]:
    """Grow and prune a tree without the rows of each fold, and send them down.

    Parameters
    ----------
    recipe : Recipe
    table : Table
    bins : Bins
    codes : array
        ``bins.encode(table)``.
    fold : int array of shape (n_rows,)
        The fold of each row, from 0 on.
    n_jobs : int, default 1
        Threads; each tree is grown by one of them.

    Returns
    -------
    sequence of Regrown
        One for each fold.
    """

    def without(number: int) -> Regrown:
        held, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        tree = recipe.grower.grow(table.take(others), bins, codes[others])
        tree = tree if recipe.pruner is None else recipe.pruner(tree)
        return _send(tree, table.take(held), held)

    numbers = range(int(fold.max()) + 1)
    if n_jobs == 1:
        return list(map(without, numbers))
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(without, numbers))


def _send(tree: Tree, held: Table, rows: NDArray[np.intp]) -> Regrown:
    """Find where held-out rows stop."""
    skeleton, n_classes = tree.skeleton, tree.n_classes
    if (skeleton.missing_slot == -2).any():
        unit = sharing_unit(skeleton, held)
        evidence, _ = tally(skeleton, held, unit, np.einsum("ij->i", tree.evidence))
        return Regrown(tree, rows, None, stopped(skeleton, evidence) * unit)
    assert held.target is not None
    node = route(skeleton, held)
    weight = None if held.weight is None else held.weight * held.unit
    cell = node.astype(np.intp) * n_classes + held.target
    counts = np.bincount(cell, weight, minlength=tree.n_nodes * n_classes).astype(np.float64)
    return Regrown(tree, rows, node, counts.reshape(-1, n_classes))


def _mixed(bits: _Bits) -> _Bits:
    """Scramble 64 bits (the finaliser of splitmix64, Steele, Lea and Flood, 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
