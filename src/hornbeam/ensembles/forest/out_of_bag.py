"""Out-of-bag predictions, and the choice of smoother and temperature by their squared error."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.fixed_point import power_of_two_unit
from hornbeam.data.numeric_target import largest_size
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.temperature import apply_temperature, choose_temperature
from hornbeam.kernels.elementary import dot, row_dots
from hornbeam.tree.route import predict_rows
from hornbeam.tree.several import ends
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats

_ENOUGH = 30_000  # distinct rows that smoother and temperature are chosen by
_SUM_BITS = 62  # of sums of predictions, so that they fit 64 bits with their sign
_SMALLEST_EXPONENT = -1000


class OutOfBagVotes(NamedTuple):
    """Predictions of one tree for its out-of-bag rows: the distinct rows, their copies, and the predictions.

    `predictions` is of shape (n_distinct, n_candidates, n_outputs).
    """

    distinct: NDArray[np.intp]
    copies: Counts
    predictions: Floats


@dataclass(frozen=True, slots=True, eq=False)
class OutOfBag:
    """Sums of out-of-bag predictions, for one or several candidate smoothers.

    Equal rows share a prediction: the mean over all copies of the row that are out of the bag of some tree. `distinct`
    is the number of the distinct row that each predicted row equals, `begin` the first row of each distinct row.
    `total`, of shape (n_distinct, n_candidates, n_outputs), has sums of `n_votes` predictions in steps of `unit`, a
    power of two. Sums of integers do not depend on the order of trees, or on the tasks that add them up. `largest` is
    the largest absolute prediction: 1 for classes, else that of the target.
    """

    rows: CanonicalRows
    distinct: Counts
    begin: Counts
    total: Counts
    n_votes: Counts
    largest: float
    unit: float

    @classmethod
    def of(
        cls,
        rows: CanonicalRows,
        copies: Counts,
        n_trees: int = 1,
        n_candidates: int = 1,
        *,
        all_rows: bool = True,
    ) -> Self:
        """Start without predictions; `all_rows` False is for choosing only, which needs some of the rows.

        `copies` is the number of copies of each row: none has more than that out of the bag of a tree.
        """
        most = None if all_rows else _ENOUGH  # the first rows: canonical order is random
        begin = np.flatnonzero(np.append(True, rows.row_hash[1:] != rows.row_hash[:-1]))
        end = np.append(begin[1:], rows.n_rows)[:most]
        begin = begin[:most]
        distinct = np.repeat(np.arange(len(begin)), end - begin)
        total = np.zeros((len(begin), n_candidates, rows.table.schema.n_outputs), np.int64)
        target = rows.table.numeric_target
        largest = 1.0 if target is None else largest_size(target.values)
        most_votes = n_trees * int(np.add.reduceat(copies[: len(distinct)], begin).max())
        unit = power_of_two_unit(largest * most_votes, _SUM_BITS, _SMALLEST_EXPONENT)
        return cls(rows, distinct, begin, total, np.zeros(len(begin), np.int64), largest, unit)

    def votes(self, tree: Tree, n_left: Counts, beliefs: Sequence[Floats]) -> OutOfBagVotes:
        """Predict the out-of-bag rows of a tree with the beliefs of each candidate smoother.

        `n_left` is the number of copies of each row that are not in the sample of the tree.
        """
        copies = np.add.reduceat(n_left[: len(self.distinct)], self.begin)
        distinct = np.flatnonzero(copies)
        rows, belief = self.begin[distinct], np.hstack(beliefs)
        if tree.predicts_by_node:
            stops = ends(tree.skeleton, self.rows.table, rows, np.zeros(len(rows), np.int32))
            predicted = belief[stops]
        else:
            predicted = predict_rows(tree, self.rows.table.take(rows), node_values=belief)
        shape = len(distinct), *self.total.shape[1:]
        return OutOfBagVotes(distinct, copies[distinct], predicted.reshape(shape))

    def add(self, votes: OutOfBagVotes) -> None:
        """Add the votes of a tree, in any order; a prediction beyond the largest target counts as that."""
        steps = np.clip(votes.predictions, -self.largest, self.largest)
        steps *= 1.0 / self.unit  # exact, and faster than `nearest_steps`
        whole = np.rint(steps, out=steps).astype(np.int64)
        self.total[votes.distinct] += votes.copies[:, None, None] * whole
        self.n_votes[votes.distinct] += votes.copies

    def best(self) -> int:
        """Find the candidate of least squared error, the first on a tie."""
        distinct, weight = self._rows_to_choose_by()
        if not len(distinct):
            return 0
        error = self._mean(distinct) - self.rows.table.take(self.begin[distinct]).truth[:, None, :]
        losses = [dot(weight, row_dots(each, each)) for each in np.moveaxis(error, 1, 0)]
        return int(np.argmin(losses))

    def temperature(self, candidate: int = 0) -> float:
        """Find the temperature of least squared error for a candidate; 1 for a numeric target."""
        target = self.rows.table.target
        if target is None:
            return 1.0
        distinct, weight = self._rows_to_choose_by()
        return choose_temperature(self._mean(distinct)[:, candidate], target[self.begin[distinct]], weight)

    def predictions(self, candidate: int = 0, temperature: float = 1.0) -> Floats:
        """Compute the prediction of each row in the order of the table; NaN for rows in every sample."""
        predictions = np.full((self.rows.n_rows, self.total.shape[2]), np.nan)
        voted = np.flatnonzero(self.n_votes)
        mean = np.full(self.total[:, candidate].shape, np.nan)
        mean[voted] = apply_temperature(self._mean(voted)[:, candidate], temperature)
        predictions[self.rows.origin[: len(self.distinct)]] = mean[self.distinct]
        return predictions

    def _rows_to_choose_by(self) -> tuple[NDArray[np.intp], Floats]:
        """Return the distinct rows that choices are made by and their weights; `all_rows` does not change them."""
        distinct = np.flatnonzero(self.n_votes[:_ENOUGH])
        weight = self.rows.table.row_weights
        return distinct, np.bincount(self.distinct, weight[: len(self.distinct)])[distinct]

    def _mean(self, distinct: NDArray[np.intp]) -> Floats:
        mean: Floats = self.total[distinct] / self.n_votes[distinct, None, None] * self.unit
        return mean
