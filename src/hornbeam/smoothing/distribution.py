"""The distribution of a numeric target at every node: counts over bins, with shares borrowed from the ancestors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.target_bins import BinnedSource, TargetBins
from hornbeam.data.engine import Engine
from hornbeam.data.schema import QuantileSchema
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.tree.evidence.count import count_at_nodes
from hornbeam.tree.evidence.update import add_rows, decay, remove_rows
from hornbeam.tree.route import route, sums_of_terms
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats, Indices

N_TAILS = 1000  #: shares of rows on one side of a range for which there is a level: 1/2000, 2/2000, ... 1/2
_TAIL_STEPS = 2 * N_TAILS
_DIGITS = 5  # of a level; rounded so that a range becomes wider
_ROUNDING = 1e-9  # of shares of rows


@dataclass(frozen=True, slots=True, eq=False)
class RangeLevels:
    """The levels whose quantiles are the bounds of ranges for single rows, found on held-out rows.

    With `N_TAILS` shares a = 1/2000, 2/2000, ..., 1/2: below the quantile of level ``low``, and above that of level
    ``high``, there is at most the share a of the rows. NaN: that takes more held-out rows than there were. The median
    is between both, also where most rows have one value, which any range holds.
    """

    low: Floats
    high: Floats

    @classmethod
    def of(cls, below: Floats, up_to: Floats, weight: Counts, n_units: int) -> Self:
        """Find the levels from the probabilities of held-out rows.

        This is split conformal prediction with the probability as the score. With k units (rows, or groups of them) and
        a new one, the new row is above the bound in at most a share a of the cases if the old rows up to the bound
        weigh (1 - a) (1 + 1/k) of all.

        Parameters
        ----------
        below, up_to : float64 arrays of shape (n_rows,)
            Predicted probability of values below that of each row, and up to it; they differ where a value
            has a probability of its own.
        weight : int64 array of shape (n_rows,)
        n_units : int
            Rows, or groups of rows, that are independent.

        Examples
        --------
        >>> rows = np.arange(1, 20) / 20
        >>> levels = RangeLevels.of(rows, rows, np.ones(19, np.int64), 19)
        >>> levels.low[99], levels.high[99]  # 5 % on each side: the first and the last of 19 rows
        (np.float64(0.05), np.float64(0.95))
        >>> levels.low[98]
        np.float64(nan)
        """
        low = (1 - _least_levels(1 - up_to, weight, n_units)).round(_DIGITS)
        return cls(np.minimum(low, 0.5), np.maximum(_least_levels(below, weight, n_units), 0.5))

    def at(self, level: float) -> tuple[float, float]:
        """Return the levels of both bounds of a range that holds a share of the rows; NaN without a bound."""
        place = int(N_TAILS * (1 - level) + _ROUNDING) - 1
        return (np.nan, np.nan) if place < 0 else (self.low.item(place), self.high.item(place))


def _least_levels(probability: Floats, weight: Counts, n_units: int) -> Floats:
    """Find the least levels up to which the rows weigh enough, for each share of a tail."""
    levels = np.full(N_TAILS, np.nan)
    if n_units:
        order = np.argsort(probability, kind="stable")
        total = np.cumsum(weight[order])
        shares = 1 - np.arange(1, N_TAILS + 1) / _TAIL_STEPS
        wanted = float(total[-1]) * (shares * (1 + 1 / n_units) - _ROUNDING)
        enough = wanted <= total[-1]
        found = probability[order][np.searchsorted(total, wanted[enough])]
        levels[enough] = np.ceil(found * 10**_DIGITS - _ROUNDING) / 10**_DIGITS
    return levels


class TargetDistribution:
    """Distributions of a numeric target over bins: quantiles, ranges, samples and probabilities of values.

    A subclass has the bins, the levels of ranges for single rows, and `_cumulated`. Where a row stops is `node`: a node
    of a tree, or a node of each tree of a forest.
    """

    __slots__ = ()
    bins: TargetBins
    levels: RangeLevels

    def _cumulated(self, node: Indices) -> Iterator[tuple[Floats, NDArray[np.intp]]]:
        """Return the cumulated probabilities of each distribution, and the rows that have it."""
        raise NotImplementedError

    def stops(self, table: Table, n_jobs: int = 1) -> Indices:
        """Find the node where each row stops."""
        raise NotImplementedError

    def shift(self, table: Table, n_jobs: int = 1) -> Floats:
        """Add up the terms of each row, which shift the distribution of its node; 0 without terms."""
        return terms_of_rows(None, table, n_jobs)

    def up_to(self, node: Indices) -> Floats:
        """Return the probability of values up to the end of each bin, of shape (n_rows, n_bins)."""
        probability = np.empty((len(node), self.bins.n_bins))
        for each, rows in self._cumulated(node):
            probability[rows] = each
        return probability

    def _hash(self, counts: bytes) -> str:
        """Hash counts, the bins and the levels."""
        sha = hashlib.sha256(counts)
        for array in (self.bins.low, self.levels.low, self.levels.high):
            sha.update(np.where(array == array, array, -1.0).astype("<f8").data)
        return sha.hexdigest()

    def quantiles(self, node: Indices, levels: Floats, side: Literal["left", "right"] = "left") -> Floats:
        """Compute quantiles at the nodes where rows stop, of shape (n_rows, n_levels).

        The quantile of a level is the least value with at least this probability up to it; from the right, with more.
        Within a bin values are uniform between its least and its largest value.
        """
        values = np.empty((len(node), len(levels)))
        for up_to, rows in self._cumulated(node):
            values[rows] = self.bins.at_levels(up_to, levels, side)
        return values

    def sample(self, node: Indices, uniform: Floats) -> Floats:
        """Convert random numbers from 0 to 1, of shape (n_rows, n), to values of the target."""
        values = np.empty_like(uniform)
        for up_to, rows in self._cumulated(node):
            values[rows] = self.bins.at_levels(up_to, uniform[rows], "left")
        return values

    def interval(self, node: Indices, level: float) -> tuple[Floats, Floats]:
        """Compute ranges of single rows at the nodes where they stop; infinite with too few held-out rows."""
        low, high = self.levels.at(level)
        if low != low:
            return np.full(len(node), -np.inf), np.full(len(node), np.inf)
        return (
            self.quantiles(node, np.array([low]))[:, 0],
            self.quantiles(node, np.array([high]), "right")[:, 0],
        )

    def ranges(self, node: Indices, level: float) -> Floats:
        """Return the range of single rows and their median, of shape (n_rows, 3): lower bound, median, upper bound."""
        low, high = self.interval(node, level)
        return np.stack([low, self.quantiles(node, np.array([0.5]))[:, 0], high], axis=1)

    def probabilities(self, node: Indices, values: Floats) -> tuple[Floats, Floats]:
        """Compute for each row the probability of values below its value, and of values up to it."""
        code = self.bins.codes(values)
        below, up_to = np.empty((2, len(values)))
        for each, rows in self._cumulated(node):
            below[rows], up_to[rows] = np.append(0.0, each)[code[rows]], each[code[rows]]
        return self.bins.within(values, below, up_to)


@dataclass(frozen=True, slots=True, eq=False)
class Distribution(TargetDistribution):
    """Distribution of a numeric target at every node of a tree.

    Parameters
    ----------
    bins : TargetBins
        The bins of the target.
    tree : Tree
        A tree with the bins as classes: its evidence are integer counts, its belief the smoothed probabilities.
    smoother : Borrowing
        The shares that each node borrows from its ancestors, fitted on held-out rows.
    levels : RangeLevels
        The levels of ranges for single rows.
    terms : Tree, optional
        The fitted tree, if it has terms: the values of a node are those of the target minus the terms of each row.
    """

    bins: TargetBins
    tree: Tree
    smoother: Borrowing
    levels: RangeLevels
    terms: Tree | None = None

    @classmethod
    def count(
        cls,
        fitted: Tree,
        rows: Table | Source,
        bins: TargetBins,
        smoother: Borrowing,
        levels: RangeLevels,
        engine: Engine | None = None,
    ) -> Self:
        """Count rows with a numeric target at the nodes of a tree; those of a source by one reduce."""
        terms, skeleton = with_terms(fitted), fitted.skeleton
        if isinstance(rows, Table):
            binned: Table | BinnedSource = bins.table(rows, terms_of_rows(terms, rows))
        else:
            binned = BinnedSource(rows, bins, None if terms is None else partial(terms_of_rows, terms))
        [counted] = count_at_nodes([skeleton], binned, engine)
        tree = Tree.raw(binned.schema, skeleton, counted.evidence, unit=counted.unit, rows=counted.rows)
        return cls(bins, smoother(tree), smoother, levels, terms)

    def recount(self, fitted: Tree, rows: Table | Source, engine: Engine | None = None) -> Self:
        """Count other rows, or another tree, with the same bins, strengths and levels."""
        return self.count(fitted, rows, self.bins, self.smoother, self.levels, engine)

    def stops(self, table: Table, n_jobs: int = 1) -> Indices:
        """Find the node where each row stops."""
        return route(self.tree.skeleton, table, n_jobs)

    def shift(self, table: Table, n_jobs: int = 1) -> Floats:
        """Add up the terms of each row, which shift the distribution of its node; 0 without terms."""
        return terms_of_rows(self.terms, table, n_jobs)

    def decay(self, factor: float) -> Self:
        """Multiply all counts by a factor below 1."""
        return self._with_counts(decay(self.tree, factor))

    def add(self, table: Table) -> Self:
        """Add rows to the counts."""
        return self._with_counts(add_rows(self.tree, self.bins.table(table, self.shift(table))))

    def remove(self, table: Table) -> Self:
        """Remove rows from the counts; `DataError` if they were not counted."""
        return self._with_counts(remove_rows(self.tree, self.bins.table(table, self.shift(table))))

    def _with_counts(self, tree: Tree) -> Self:
        return replace(self, tree=self.smoother(tree))

    @property
    def digest(self) -> str:
        """Content hash of the tree of counts, the bins and the levels."""
        return self._hash(self.tree.digest.encode())

    def beside(self, tree: Tree, levels: tuple[float, ...]) -> Tree:
        """Return the fitted tree with quantiles as further columns of its belief and of its slopes."""
        schema = QuantileSchema(tree.schema.features, (), tree.schema.target_kind, levels)
        quantiles = self.quantiles(np.arange(tree.n_nodes, dtype=np.int32), np.array(levels))
        slopes = replace(tree.slopes, slope=np.repeat(tree.slopes.slope, schema.n_outputs, axis=1))
        return tree._edited(schema=schema, belief=np.hstack([tree.belief, quantiles]), slopes=slopes)

    def _cumulated(self, node: Indices) -> Iterator[tuple[Floats, NDArray[np.intp]]]:
        order = np.argsort(node, kind="stable")
        distinct, begin = np.unique(node[order], return_index=True)
        for one, rows in zip(distinct.tolist(), np.split(order, begin[1:]), strict=False):
            up_to = np.cumsum(self.tree.belief[one])
            yield up_to / up_to[-1], rows


def with_terms(fitted: Tree) -> Tree | None:
    """Return a tree that has terms; None without."""
    return fitted if len(fitted.slopes) else None


def terms_of_rows(tree: Tree | None, table: Table, n_jobs: int = 1) -> Floats:
    """Add up the terms of each row of a numeric target; 0 without a tree."""
    sums: Floats = np.zeros(table.n_rows) if tree is None else sums_of_terms(tree, table, n_jobs)[:, 0]
    return sums
