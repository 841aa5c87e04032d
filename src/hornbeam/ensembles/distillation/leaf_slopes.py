"""Slopes of the leaves of a tree, fitted to soft labels."""

from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.distillation.search_rows import SearchRows, relative_weights
from hornbeam.kernels.elementary import dot
from hornbeam.kernels.lookahead import LeafRules, fit_log_odds
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.slopes import NO_CATEGORY, Slopes
from hornbeam.typing import Floats

_RIDGE = 0.002
_SWEEPS = 50
_LEAST_SCALE = 1e-6  # of a term, relative to its largest value: below, rounding would decide
_LEAST_WEIGHT = 1e-6  # of a row, relative to the mean: the kernel refuses smaller ones
_SMALLEST, _LARGEST = 1e-100, 1e100  # range of a term: squares beyond are 0 or infinite
_LINEAR_RIDGE = 0.01  # beside a variance of 1


@dataclass(frozen=True, slots=True)
class LeafSlopes:
    """Settings of the slopes of a leaf; a leaf with fewer than `min_rows` rows has none.

    Terms are selected by squared distance, one after the other. Their slopes are those of a multinomial logistic
    regression, so that the mean prediction of the rows of a leaf is the mean of their labels. For a numeric target they
    are those of a linear regression.
    """

    leaf: LeafRules = field(default_factory=lambda: LeafRules(2))
    min_rows: int = 20

    def fit(self, skeleton: Skeleton, table: Table, labels: Floats) -> Slopes:
        """Fit the slopes of all leaves to rows with soft labels.

        Labels are of shape (n_rows, n_classes), or (n_rows, 1) for the means of a numeric target.
        """
        search = SearchRows.of(table, labels)
        weight = np.maximum(relative_weights(table), _LEAST_WEIGHT)
        stop = route(skeleton, table)
        found: list[_Term] = []
        for node in np.flatnonzero(skeleton.is_leaf).tolist():
            here = np.flatnonzero(stop == node)
            if len(here) < self.min_rows:
                continue
            found += self._terms(node, here, search, table, labels, weight)
        return Slopes.of(*zip(*found, strict=True)) if found else Slopes.none(labels.shape[1])

    def _terms(
        self,
        node: int,
        here: NDArray[np.intp],
        search: SearchRows,
        table: Table,
        labels: Floats,
        weight: Floats,
    ) -> list["_Term"]:
        """Select and fit the terms of one leaf with the rows `here`."""
        labels, weight = labels[here], weight[here]
        features, codes = search.rows.take(here).terms(self.leaf)
        values = {}
        for feature, code in zip(features.tolist(), codes.tolist(), strict=True):
            category = _category(search, feature, code)
            if category is not None:
                values[feature, category] = self._values(table.columns[feature][here], category, weight)
        varying = {term: value for term, value in sorted(values.items()) if value is not None}
        if not varying:
            return []
        fitted = _slopes_and_centres(list(varying.values()), labels, weight)
        return [
            _Term(node, feature, value.low, value.high, centre, slope, category)
            for ((feature, category), value), (slope, centre) in zip(varying.items(), fitted, strict=True)
        ]

    def _values(self, column: NDArray[np.generic], category: int, weight: Floats) -> "_Values | None":
        """Clip and standardise the values of a term; a missing value becomes the mean. None: it hardly varies."""
        if category >= 0:
            known, value, low, high = column != -1, (column == category).astype(np.float64), 0.0, 1.0
        else:
            known = column == column
            ordered = np.sort(column[known])
            clipped = int(self.leaf.cut_off * len(ordered))
            low, high = float(ordered[clipped]), float(ordered[len(ordered) - 1 - clipped])
            if not _SMALLEST < high - low < _LARGEST:
                return None
            value = np.clip(column, low, high)
        share = np.where(known, weight, 0.0)
        share /= dot(share, np.ones(len(share)))
        filled = np.where(known, value, 0.0)
        mean = dot(share, filled)
        scale = sqrt(dot(share, np.square(filled - mean)))
        if scale <= _LEAST_SCALE * max(abs(low), abs(high)):
            return None
        return _Values(low, high, mean, scale, np.where(known, (filled - mean) / scale, 0.0))


def _category(search: SearchRows, feature: int, code: int) -> int | None:
    """Return the category of a code; None for the code of several categories."""
    if code < 0:
        return NO_CATEGORY
    categories = np.flatnonzero(search.codes_of(feature) == code)
    return int(categories[0]) if len(categories) == 1 else None


class _Values(NamedTuple):
    low: float
    high: float
    mean: float
    scale: float
    standard: Floats

    def ends(self) -> tuple[float, float]:
        """Return `low` and `high`, standardised."""
        return (self.low - self.mean) / self.scale, (self.high - self.mean) / self.scale


class _Term(NamedTuple):
    node: int
    feature: int
    low: float
    high: float
    centre: float
    slope: Floats
    category: int


def _slopes_and_centres(values: list[_Values], labels: Floats, weight: Floats) -> list[tuple[Floats, float]]:
    """Compute the slopes of each term for each class, and its centre."""
    if labels.shape[1] == 1:
        return _linear(values, labels[:, 0], weight)
    low, high = np.array([value.ends() for value in values]).T
    slopes, centres = fit_log_odds(
        np.column_stack([value.standard for value in values]),
        np.ascontiguousarray(labels),
        weight,
        np.ascontiguousarray(low),
        np.ascontiguousarray(high),
        _RIDGE,
        _SWEEPS,
    )
    return [
        (slope / value.scale, min(max(value.mean + centre * value.scale, value.low), value.high))
        for slope, centre, value in zip(slopes, centres.tolist(), values, strict=True)
    ]


def _linear(values: list[_Values], means: Floats, weight: Floats) -> list[tuple[Floats, float]]:
    """Compute the slope of each term by linear regression, with a small ridge; its centre is its mean."""
    share = weight / dot(weight, np.ones(len(weight)))
    centred = means - dot(share, means)
    terms = [value.standard for value in values]
    matrix = [[dot(share, one * other) for other in terms] for one in terms]
    for number, row in enumerate(matrix):
        row[number] += _LINEAR_RIDGE
    slopes = solve_small(matrix, [dot(share, one * centred) for one in terms])
    return [
        (np.array([slope / value.scale]), min(max(value.mean, value.low), value.high))
        for slope, value in zip(slopes, values, strict=True)
    ]


def solve_small(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve a small positive definite system by elimination, with the same bits on every machine."""
    rows = [[*row, entry] for row, entry in zip(matrix, right, strict=True)]
    for number, pivot in enumerate(rows):
        for row in rows[number + 1 :]:
            factor = row[number] / pivot[number]
            row[:] = [entry - factor * above for entry, above in zip(row, pivot, strict=True)]
    solved: list[float] = []
    for number in reversed(range(len(rows))):
        known = zip(rows[number][number + 1 : -1], reversed(solved), strict=True)
        solved.append((rows[number][-1] - sum(entry * x for entry, x in known)) / rows[number][number])
    return solved[::-1]
