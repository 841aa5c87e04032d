"""Bins: the cut points and categories by which values become small integer codes, and codes become thresholds."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hornbeam.data.binning.cuts import edges_between_values, fit_cuts
from hornbeam.data.engine import Engine
from hornbeam.data.hashes import fingerprint
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, SchemaError
from hornbeam.kernels.census import midpoint, rank_columns, shortest_between
from hornbeam.kernels.encode import encode
from hornbeam.typing import Bools, Codes, Counts, Floats, Indices

MOST_BINS = 65_535  # the codes of a feature and its missing code must fit 16 bits
_EMPTY: Floats = np.empty(0)
_PADDING: Floats = np.array([np.nan])  # after the last edge and value: an index one past the end is valid


class Bins:
    """Cut points and category codes of every feature.

    Parameters
    ----------
    edges : tuple of arrays or None
        Per numeric feature finite numbers, strictly increasing: the code of ``x`` is the number of edges
        below it, so ``x <= edges[c]`` means ``code <= c``. Empty for a nominal feature, whose codes are those
        of its categories. None: between any two neighbouring values, found when they are first needed.
    values : tuple of arrays or None
        Exact bins: the distinct values of each numeric feature, one more than its edges. Empty for a nominal
        feature and for one with more than 65,535 values. None if the bins are quantiles.
    n_codes : array of int32
        Codes per feature, at least 1; a missing value has code ``n_codes[f]``. A feature without any value
        has one code, 0, which no row has.
    nominal : array of bool
        Whether each feature is nominal.

    Examples
    --------
    >>> from hornbeam.data.engine import LocalEngine
    >>> from hornbeam.data.sources import MemorySource
    >>> table = Table.read([[1.0], [2.0], [4.0], [float("nan")]])
    >>> bins = Bins.fit(MemorySource(table), LocalEngine(), max_bins=None)
    >>> bins.edges, bins.n_codes
    ((array([1.5, 3. ]),), array([3], dtype=int32))
    >>> bins.encode(table).ravel()
    array([0, 1, 2, 3], dtype=uint8)
    >>> float(bins.threshold(0, 0, 2))  # between 1 and 4, in a node without the value 2
    2.0
    """

    __slots__ = ("_edges", "_runs", "n_codes", "nominal", "values")

    def __init__(
        self,
        edges: tuple[Floats, ...] | None,
        values: tuple[Floats, ...] | None,
        n_codes: Indices,
        nominal: Bools,
    ) -> None:
        self._edges = edges
        self.values = values
        self.n_codes = n_codes
        self.nominal = nominal
        self._runs: dict[str, tuple[Floats, Counts]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._edges, self.values, self.n_codes, self.nominal)

    @property
    def edges(self) -> tuple[Floats, ...]:
        """Edges of each feature."""
        if self._edges is None:
            assert self.values is not None
            self._edges = edges_between_values(self.values)
        return self._edges

    def _run(self, name: str) -> tuple[Floats, Counts]:
        """Return the edges or values of all features, one after the other, and where each feature begins."""
        if name not in self._runs:
            arrays = self.edges if name == "edges" else self.values or ()
            starts = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
            self._runs[name] = np.concatenate((*arrays, _PADDING)), starts
        return self._runs[name]

    @classmethod
    def fit(cls, source: Source, engine: Engine, *, max_bins: int | None = 255) -> Self:
        """Choose the bins from the rows of a source.

        Parameters
        ----------
        source : Source
            The rows. Each counts once; weights have no effect.
        engine : Engine
            Counts the rows; the bins do not depend on it.
        max_bins : int or None
            A numeric feature with no more distinct values than this gets a bin for each value. Any other gets this
            number of bins of nearly equal size; a value with more rows than an equal bin has its own. None: one bin
            per value, up to 65,535 values.

        Returns
        -------
        Bins
        """
        if max_bins is not None and not 1 <= max_bins <= MOST_BINS:
            raise ParameterError(
                f"max_bins is {max_bins}; expected 1 to {MOST_BINS:,}, or None for exact bins"
            )
        exact = max_bins is None
        features = source.schema.features
        numeric = [at for at, feature in enumerate(features) if not feature.is_nominal]
        edges, values = [_EMPTY] * len(features), [_EMPTY] * len(features)
        n_codes = [max(1, len(feature.categories)) for feature in features]
        cuts = fit_cuts(source, engine, numeric, max_bins or MOST_BINS)
        for at, cut in zip(numeric, cuts, strict=True):
            edges[at] = cut.edges
            n_codes[at] = len(cut.edges) + 1
            if cut.values is not None:
                values[at] = cut.values
        return cls(
            tuple(edges),
            tuple(values) if exact else None,
            np.array(n_codes, np.int32),
            np.array([feature.is_nominal for feature in features], np.bool_),
        )

    @classmethod
    def rank(cls, table: Table) -> tuple[Self, Codes]:
        """Choose exact bins of a table of fewer than 65,535 rows, and encode it: `fit` and `encode` by one sort.

        Examples
        --------
        >>> bins, codes = Bins.rank(Table.read([[1.0], [4.0], [2.0]]))
        >>> bins.values, codes.ravel()
        ((array([1., 2., 4.]),), array([0, 2, 1], dtype=uint8))
        """
        nominal = np.array([feature.is_nominal for feature in table.schema.features], np.bool_)
        codes = np.empty((table.n_rows, len(nominal)), np.uint16)
        numeric = np.flatnonzero(~nominal).astype(np.int32)
        distinct, starts = rank_columns(tuple([table.columns[at] for at in numeric]), numeric, codes)
        values, n_codes = [_EMPTY] * len(nominal), np.ones(len(nominal), np.int32)
        for at, begin, end in zip(numeric.tolist(), starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            values[at] = distinct[begin:end]
            n_codes[at] = max(end - begin, 1)
        for at in np.flatnonzero(nominal).tolist():
            column, n = table.columns[at], len(table.schema.features[at].categories)
            n_codes[at] = max(n, 1)
            codes[:, at] = np.where(column < 0, n_codes[at], column)
        narrow = n_codes.max(initial=0) <= np.iinfo(np.uint8).max
        return cls(None, tuple(values), n_codes, nominal), codes.astype(np.uint8) if narrow else codes

    def with_edges(self, cuts: Iterable[tuple[int, float]]) -> Self:
        """Return bins that also separate the values at some cuts: pairs of a numeric feature and a number.

        A feature with a code for each value stays as it is. One with 65,535 codes loses the nearest edge.

        Examples
        --------
        >>> from hornbeam.data.engine import LocalEngine
        >>> from hornbeam.data.sources import MemorySource
        >>> bins = Bins.fit(MemorySource(Table.read([[1.0], [2.0], [4.0], [8.0]])), LocalEngine(), max_bins=2)
        >>> bins.with_edges([(0, 5.0)]).edges
        (array([3., 5.]),)
        """
        edges, n_codes = list(self.edges), self.n_codes.copy()
        for f, cut in cuts:
            if self.values is not None and len(self.values[f]):
                continue
            if len(edges[f]) + 1 >= MOST_BINS and cut not in edges[f]:
                edges[f] = np.delete(edges[f], np.abs(edges[f] - cut).argmin())
            edges[f] = np.union1d(edges[f], [cut])
            n_codes[f] = len(edges[f]) + 1
        return type(self)(tuple(edges), self.values, n_codes, self.nominal)

    @property
    def digest(self) -> str:
        """Content hash: equal bins have equal digests."""
        return fingerprint("bins", *self.edges, *(self.values or ()), self.n_codes, self.nominal)

    def encode(self, table: Table, n_jobs: int = 1) -> Codes:
        """Encode the rows of a table.

        Parameters
        ----------
        table : Table
            Rows with the columns these bins were made for.
        n_jobs : int
            Number of threads.

        Returns
        -------
        array, C-contiguous (n_rows, n_features)
            uint8 if every code fits, else uint16.
        """
        if len(table.columns) != len(self.n_codes):
            raise SchemaError(
                f"the table has {len(table.columns)} columns; these bins were made for {len(self.n_codes)}. "
                "Read it with the schema of the training data"
            )
        edges, starts = self._run("edges")
        codes, unknown = encode(
            table.columns, edges, starts, self.n_codes, self.nominal, table.n_rows, n_jobs
        )
        if unknown >= 0:
            raise DataError(
                f"feature {table.schema.features[unknown].name!r} holds a category that has no code; "
                "only rows whose categories are all in the schema can be encoded. "
                "Read the table without a schema to train on it"
            )
        return codes

    def decode(self, codes: Codes) -> tuple[NDArray[Any], ...]:
        """Return columns that have these codes.

        A value need not be the one that was encoded, but every threshold of these bins separates the two columns in
        the same way: trees that are grown from the codes predict the same for both.

        Examples
        --------
        >>> from hornbeam.data.engine import LocalEngine
        >>> from hornbeam.data.sources import MemorySource
        >>> table = Table.read([[1.0, "red"], [2.5, None], [4.0, "blue"], [8.0, "red"]])
        >>> bins = Bins.fit(MemorySource(table), LocalEngine(), max_bins=2)
        >>> bins.decode(bins.encode(table))
        (array([ 3.,  3., inf, inf]), array([ 1, -1,  0,  1], dtype=int32))
        """
        columns: list[NDArray[Any]] = []
        for f, nominal in enumerate(self.nominal.tolist()):
            if nominal:
                values: NDArray[Any] = np.append(np.arange(self.n_codes[f], dtype=np.int32), np.int32(-1))
            else:
                exact = _EMPTY if self.values is None else self.values[f]
                values = np.append(exact if len(exact) else np.append(self.edges[f], np.inf), np.nan)
            columns.append(values[codes[:, f]])
        return tuple(columns)

    def threshold(
        self, feature: ArrayLike, left: ArrayLike, right: ArrayLike, *, at_values: bool = False
    ) -> Floats:
        """Return the threshold between two codes of a numeric feature, for each triple of the arrays.

        Parameters
        ----------
        feature : array of int
            Numeric features.
        left, right : array of int
            The highest code left of the cut and the lowest one right of it among the rows of a node.
        at_values : bool
            Exact bins: the largest value of the feature that is less than the midpoint plus 1e-6, as in C4.5.

        Returns
        -------
        array of float64
            Exact bins: the shortest decimal in the middle half between the two values, at least the left value and
            below the right one. Otherwise the middle one of the edges between the two codes.
        """
        at, lower, upper = np.broadcast_arrays(feature, left, right)
        return self._thresholds(at.ravel(), lower.ravel(), upper.ravel(), at_values).reshape(at.shape)

    def _thresholds(self, at: Indices, lower: Indices, upper: Indices, at_values: bool) -> Floats:
        if self.values is None:
            return self._middle_edges(at, lower, upper)
        _, starts = self._run("values")
        exact = starts[at + 1] > starts[at]
        if exact.all():
            return self._between(at, lower, upper, at_values)
        # A feature with more than `MOST_BINS` values has none here.
        thresholds = self._middle_edges(at, lower, upper)
        thresholds[exact] = self._between(at[exact], lower[exact], upper[exact], at_values)
        return thresholds

    def _middle_edges(self, feature: Indices, left: Indices, right: Indices) -> Floats:
        edges, starts = self._run("edges")
        middle: Floats = edges[starts[feature] + (left + right - 1) // 2]
        return middle

    def cell_values(self) -> Floats | None:
        """Return the value of each code, NaN for the missing code; None if a bin may have several values."""
        if self.values is None:
            return None
        cells = [
            np.append(values if len(values) == n else np.arange(n, dtype=np.float64), np.nan)
            for values, n in zip(self.values, self.n_codes.tolist(), strict=True)
        ]
        return np.concatenate(cells)

    def _between(self, feature: Indices, left: Indices, right: Indices, at_values: bool) -> Floats:
        values, starts = self._run("values")
        begin = starts[feature]
        ends = values[begin + left], values[begin + right]
        if not at_values:
            return shortest_between(*ends)
        assert self.values is not None
        between = midpoint(*ends)
        for f in np.unique(feature).tolist():
            pairs = np.flatnonzero(feature == f)
            place = np.searchsorted(self.values[f], between[pairs] + 1e-6, side="left") - 1
            # Between huge neighbours the midpoint is the left value, and adding 1e-6 does not change it.
            between[pairs] = self.values[f][np.maximum(place, left[pairs])]
        return between
