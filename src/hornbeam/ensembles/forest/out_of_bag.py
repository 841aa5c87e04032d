"""Rows that a tree has not seen, asked of it: the honest answer of a forest to its own rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.encoded_table import EncodedTable
from hornbeam.ensembles.temperature import apply_temperature, choose_temperature
from hornbeam.kernels.sums import dot, row_dots
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats

__all__ = ["OutOfBag", "OutOfBagVotes"]

_ENOUGH = 30_000  # kinds of rows by which smoothing and temperature are chosen


class OutOfBagVotes(NamedTuple):
    """What one tree answers to rows it has not seen: which kinds, how many copies of each, and what."""

    kinds: NDArray[np.intp]
    copies: Counts
    answers: Floats


@dataclass(frozen=True, slots=True, eq=False)
class OutOfBag:
    """Answers to rows, each from the trees alone whose sample lacks it, with one or several smoothers.

    Parameters
    ----------
    rows : EncodedTable
        All rows of the forest.
    kind : int64 array of shape (n_asked,)
        The kind of each row that is asked about: the first of them. Rows that are alike are of one kind and share
        their answer, the mean over all their copies that some tree lacks.
    begin : int64 array of shape (n_kinds,)
        The first row of each kind.
    total : float64 array of shape (n_kinds, n_choices, n_answers)
        Sums of answers.
    heard : int64 array of shape (n_kinds,)
        How many answers each is the sum of.

    Examples
    --------
    >>> from hornbeam.growing import Grower
    >>> from hornbeam.recipe import Recipe
    >>> rows = EncodedTable.of(Table.read([[1.0], [2.0], [1.0]], ["a", "b", "a"]), Recipe())
    >>> tree = rows.take(np.arange(3)).grow(Grower(), key=0)
    >>> ask = OutOfBag.of(rows)
    >>> left = (rows.codes[:, 0] == 0).astype(int)  # the rows of value 1.0
    >>> ask.hear(ask.witness(tree, left, [tree.belief]))
    >>> ask.answers()
    array([[ 1.,  0.],
           [nan, nan],
           [ 1.,  0.]])
    """

    rows: EncodedTable
    kind: Counts
    begin: Counts
    total: Floats
    heard: Counts

    @classmethod
    def of(cls, rows: EncodedTable, n_choices: int = 1, *, all_rows: bool = True) -> Self:
        """Start without predictions, for all rows or for those that choices are made by."""
        most = None if all_rows else _ENOUGH  # places are random, so the first are as good as any
        begin = np.flatnonzero(np.append(True, rows.number[1:] != rows.number[:-1]))
        end = np.append(begin[1:], rows.n_rows)[:most]
        begin = begin[:most]
        kind = np.repeat(np.arange(len(begin)), end - begin)
        total = np.zeros((len(begin), n_choices, rows.table.schema.n_answers))
        return cls(rows, kind, begin, total, np.zeros(len(begin), np.int64))

    def witness(self, tree: Tree, left: Counts, beliefs: Sequence[Floats]) -> OutOfBagVotes:
        """Ask a tree about the rows of which its sample left so many copies; its nodes may believe this or that."""
        copies = np.add.reduceat(left[: len(self.kind)], self.begin)
        kinds = np.flatnonzero(copies)
        said = predict_rows(tree, self.rows.table.take(self.begin[kinds]), said=np.hstack(beliefs))
        return OutOfBagVotes(kinds, copies[kinds], said.reshape(len(kinds), *self.total.shape[1:]))

    def hear(self, witness: OutOfBagVotes) -> None:
        """Add what a tree said; in the order of the trees, so that threads cannot change the sum."""
        self.total[witness.kinds] += witness.copies[:, None, None] * witness.answers
        self.heard[witness.kinds] += witness.copies

    def best(self) -> int:
        """Find the choice of least squared error, or on a tie the first."""
        kinds, weight = self._chosen_by()
        if not len(kinds):
            return 0
        error = self._mean(kinds) - _truth(self.rows.table.take(self.begin[kinds]))[:, None, :]
        losses = [dot(weight, row_dots(each, each)) for each in np.moveaxis(error, 1, 0)]
        return int(np.argmin(losses))

    def temperature(self, choice: int = 0) -> float:
        """Find the temperature of least squared error for a choice; 1 where the target is a number."""
        target = self.rows.table.target
        if target is None:
            return 1.0
        kinds, weight = self._chosen_by()
        return choose_temperature(self._mean(kinds)[:, choice], target[self.begin[kinds]], weight)

    def answers(self, choice: int = 0, temperature: float = 1.0) -> Floats:
        """Give the prediction of each row, in the order they came in; NaN where every tree has seen it."""
        answers = np.full((self.rows.n_rows, self.total.shape[2]), np.nan)
        asked = np.flatnonzero(self.heard)
        mean = np.full_like(self.total[:, choice], np.nan)
        mean[asked] = apply_temperature(self._mean(asked)[:, choice], temperature)
        answers[self.rows.origin[: len(self.kind)]] = mean[self.kind]
        return answers

    def _chosen_by(self) -> tuple[NDArray[np.intp], Floats]:
        """The kinds of rows that choices are made by, and their weights: the same, however many are asked about."""
        kinds = np.flatnonzero(self.heard[:_ENOUGH])
        table = self.rows.table
        weight = np.ones(table.n_rows) if table.weight is None else table.weight * table.unit
        return kinds, np.bincount(self.kind, weight[: len(self.kind)])[kinds]

    def _mean(self, kinds: NDArray[np.intp]) -> Floats:
        mean: Floats = self.total[kinds] / self.heard[kinds, None, None]
        return mean


def _truth(table: Table) -> Floats:
    """What a perfect answer would be: 1 for the class, or the number itself."""
    if table.numeric_target is not None:
        return table.numeric_target.values[:, None]
    return np.eye(table.schema.n_classes)[table.target]
