"""Rows with soft labels: encoded for the search and for the selection of terms, and greedy growing on them."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.kernels.elementary import dot
from hornbeam.kernels.lookahead import MOST_CODES, UNIT_VALUE, SoftRows
from hornbeam.kernels.terms import CodedColumns
from hornbeam.recipe import Recipe
from hornbeam.tree.importance import importance
from hornbeam.tree.tree import Tree
from hornbeam.typing import Bools, Codes, Counts, Floats, Indices

STEPS = 4096  #: of the mean weight of a row
_MOST_STEPS = 2**20  # of a row; a heavier one counts as this much
_MAX_BINS = 64  # of a numeric feature: more cuts cost time and explain hardly more
_WIDEST = 8.0  # standard deviations of a mean: values beyond count as this
_DEVIATIONS = 2.5  # values farther from the mean count as this many standard deviations
UNIT = 2.0**-20  #: step size of the class weights of a row
# Rows of a search: labels of a teacher have little noise. A prime, so that a sample of rows has no pattern.
_MOST_ROWS = 11_987
_MOST_FEATURES = 32
_MOST_SELECTING = 4_000_000  # values of the rows that the tree is grown on that selects features
_MIN_ROWS = 5.0  # per leaf of that tree
_SMALLEST = (
    0.01  # smaller probabilities are ignored in the choice of splits: with many classes most are smaller
)
GREEDY_BINS = 255  #: of a numeric feature, where a tree is grown
_LARGEST_VALUE = 1e100  # of a term


def grow_soft(soft: Table, recipe: Recipe, n_jobs: int = 1) -> Tree:
    """Grow a tree on the rows of `soft_rows`, by the squared distance to their labels."""
    criterion = Criterion.SQUARED_ERROR if soft.schema.is_regression else Criterion.GINI
    return replace(recipe.grower, criterion=criterion).grow(soft, recipe.bin(soft, n_jobs), n_jobs=n_jobs)


def soft_rows(rows: Table, labels: Floats) -> Table:
    """Give rows class probabilities, or means of a numeric target.

    A row of probabilities 0.7 and 0.3 becomes 0.7 rows of one class and 0.3 of the other.
    """
    return with_means(rows, labels) if rows.schema.is_regression else _repeated(rows, labels)


def shifted(differences: Floats) -> tuple[Floats, float]:
    """Turn differences of probabilities into probabilities, by the same shift and scale for all rows.

    Also returns the scale. Means stay as they are.
    """
    if differences.shape[1] == 1:
        return differences, 1.0
    shift = np.maximum(-differences.min(axis=0), UNIT)
    scale = dot(shift, np.ones(len(shift)))
    return (differences + shift) / scale, scale


def with_means(rows: Table, labels: Floats) -> Table:
    """Make means of shape (n_rows, 1) the numeric target of rows."""
    means = np.ascontiguousarray(labels[:, 0])
    return replace(rows, numeric_target=NumericTarget.of(means, rows.weight, rows.unit))


def relative_weights(rows: Table) -> Floats:
    """Return the weights of rows, of mean 1."""
    return np.ones(rows.n_rows) if rows.weight is None else rows.weight / rows.weight.mean()


def class_steps(rows: Table, labels: Floats) -> Counts:
    """Split the weight of each row over the classes, in steps of `UNIT`; the mean weight of a row is 1."""
    return np.rint(labels * relative_weights(rows)[:, None] / UNIT).astype(np.int64)


def _repeated(rows: Table, labels: Floats) -> Table:
    """Repeat each row once per probable class, weighted by the probability of the class."""
    likely = np.where(labels >= _SMALLEST, labels, 0.0)
    steps = class_steps(rows, likely / likely.sum(axis=1, keepdims=True))
    row, code = np.nonzero(steps)
    return replace(rows.take(row), target=code.astype(np.int32), weight=steps[row, code], unit=UNIT)


@dataclass(frozen=True, slots=True, eq=False)
class SearchRows:
    """Encoded rows with soft labels, input of the kernels.

    At most 11,987 rows, the positions `origin` of all, with at most 32 features: the columns of `rows` and of `bins`
    are the `features` of `table`. `groups` has, for a column with more than 255 categories, the code of each category:
    the rarest share the last code. `n_counted` is the number of counted rows of all, `counted_share` the part of them
    that is among these.
    """

    table: Table
    labels: Floats
    origin: NDArray[np.intp]
    rows: SoftRows
    features: NDArray[np.intp]
    bins: Bins
    groups: dict[int, NDArray[np.intp]]
    n_counted: int
    counted_share: float

    @classmethod
    def of(cls, table: Table, labels: Floats, n_jobs: int = 1, counted: Bools | None = None) -> Self:
        """Draw a sample of rows and encode it.

        Labels are class probabilities, or means of a numeric target in one column. The rows that are `counted`, default
        all, have a minimum in each branch. Of more rows than a search takes, all counted ones are used if they are at
        most half of these, so that the minimum is exact; else a share of them.
        """
        counted = np.ones(table.n_rows, np.bool_) if counted is None else counted
        n_counted, share = int(np.count_nonzero(counted)), 1.0
        origin = np.arange(table.n_rows)
        if table.n_rows > _MOST_ROWS:
            origin = _sample(counted, _MOST_ROWS)
            share = np.count_nonzero(counted[origin]) / n_counted
            table, labels, counted = table.take(origin), labels[origin], counted[origin]
        features = _select_features(table, labels, counted, n_jobs)
        searched, steps = table.select(features.tolist()), _steps(table)
        bins = Recipe(max_bins=_MAX_BINS).bin(searched, n_jobs)
        codes, n_codes, groups = _grouped(bins.encode(searched, n_jobs), bins)
        rows = SoftRows(
            codes,
            steps.astype(np.int32),
            np.where(counted, steps, 0).astype(np.int32),
            _shares(labels, steps),
            n_codes,
            bins.nominal,
            _code_values(searched, codes, n_codes, bins),
        )
        return cls(table, labels, origin, rows, features, bins, groups, n_counted, share)

    def with_differences(self, predictions: Floats) -> Self:
        """Replace the labels of the kernels by what these predictions leave of them."""
        share = _shares(self.labels - predictions, _steps(self.table))
        return replace(self, rows=self.rows._replace(share=share))

    def codes_of(self, column: int) -> NDArray[np.intp]:
        """Return the code of each category of a nominal feature, by its column in `rows`."""
        return self.groups.get(column, np.arange(self.bins.n_codes[column]))

    def coded_columns(
        self, order: NDArray[np.intp], sign: NDArray[np.int8], allowed: NDArray[np.uint8]
    ) -> CodedColumns:
        """Return the codes of all rows in another order, and the median of the values of each code.

        A category has the value 1, the code of several categories 0. `sign` and `allowed` are those of all features.
        """
        values = []
        for column, n in enumerate(self.rows.n_codes.tolist()):
            if self.rows.nominal[column]:
                values.append((np.bincount(self.codes_of(column), minlength=n) == 1).astype(np.float64))
            else:
                known, value = self.rows.codes[:, column] < n, self.table.columns[self.features[column]]
                values.append(_medians(self.rows.codes[known, column], value[known], n))
        codes = np.ascontiguousarray(self.rows.codes[order])
        own = sign[self.features], np.ascontiguousarray(allowed[:, self.features])
        return CodedColumns(codes, self.rows.n_codes, self.rows.nominal, np.concatenate(values), *own)


def _sample(counted: Bools, most: int) -> NDArray[np.intp]:
    """Draw this many rows, in their order: all that are counted if these are at most half, and some others."""
    kept = np.flatnonzero(counted)
    if 2 * len(kept) > most:
        return np.arange(most) * len(counted) // most
    others, n = np.flatnonzero(~counted), most - len(kept)
    return np.sort(np.append(kept, others[np.arange(n) * len(others) // n]))


def _select_features(table: Table, labels: Floats, counted: Bools, n_jobs: int) -> NDArray[np.intp]:
    """Return the features of a search: all, or the 32 most important ones of a tree grown on some of the rows."""
    n_features = table.schema.n_features
    if n_features <= _MOST_FEATURES:
        return np.arange(n_features)
    most = max(1, _MOST_SELECTING // n_features)
    if most < table.n_rows:
        some = _sample(counted, most)
        table, labels = table.take(some), labels[some]
    recipe = Recipe(GREEDY_BINS, Grower(min_weight_leaf=_MIN_ROWS))
    gains = importance(grow_soft(soft_rows(table, labels), recipe, n_jobs))
    return np.sort(np.argsort(-gains, kind="stable")[:_MOST_FEATURES])


def _steps(table: Table) -> Counts:
    """Return the weight of each row in steps."""
    return np.clip(np.rint(relative_weights(table) * STEPS), 1, _MOST_STEPS).astype(np.int64)


def _shares(labels: Floats, steps: Counts) -> NDArray[np.int32]:
    """Return the share of each row in each channel: of two classes one is enough, means are standardised."""
    channels = labels[:, 1:] if labels.shape[1] == 2 else labels
    if labels.shape[1] == 1:
        channels = _standardised(labels)
    return np.ascontiguousarray(np.rint(steps[:, None] * channels).astype(np.int32))


def _medians(codes: NDArray[np.uint8], values: Floats, n_codes: int) -> Floats:
    """Return a value of the rows of each code, the lower of the middle ones; 0 without rows."""
    order = np.lexsort((values, codes))
    size = np.bincount(codes, minlength=n_codes)
    last = np.cumsum(size)
    found = np.zeros(n_codes)
    seen = size > 0
    found[seen] = values[order[(last - size + (size - 1) // 2)[seen]]]
    clipped: Floats = np.clip(found, -_LARGEST_VALUE, _LARGEST_VALUE)
    return clipped


def _grouped(codes: Codes, bins: Bins) -> tuple[NDArray[np.uint8], Indices, dict[int, NDArray[np.intp]]]:
    """Reduce features of more than 255 categories to the 254 most frequent ones and one code for the others."""
    n_codes, groups = bins.n_codes.copy(), {}
    for feature in np.flatnonzero(bins.n_codes > MOST_CODES).tolist():
        n = int(bins.n_codes[feature])
        size = np.bincount(codes[:, feature], minlength=n + 1)[:n]
        rank = np.empty(n, np.intp)
        rank[np.argsort(-size, kind="stable")] = np.arange(n)
        groups[feature] = np.minimum(rank, MOST_CODES - 1)
        codes[:, feature] = np.append(groups[feature], MOST_CODES)[codes[:, feature]]
        n_codes[feature] = MOST_CODES
    return codes.astype(np.uint8, copy=False), n_codes, groups


def _standardised(means: Floats) -> Floats:
    """Scale a column to mean 0 and variance 1, then to the range of a probability: few values are beyond its ends."""
    largest = float(np.abs(means).max(initial=0.0))
    if largest == 0.0:
        return means
    scaled = means / largest
    centre, deviation = mean_and_deviation(scaled[:, 0])
    if deviation == 0.0:
        return np.zeros_like(scaled)
    standardised: Floats = np.clip((scaled - centre) / (_WIDEST * deviation), -1.0, 1.0)
    return standardised


def _code_values(table: Table, codes: NDArray[np.uint8], n_codes: Indices, bins: Bins) -> NDArray[np.int16]:
    """Compute the value of each code of each feature; 0 for categories."""
    values = []
    for number, n in enumerate(n_codes.tolist()):
        of_codes = np.zeros(n + 1, np.int16)
        if not bins.nominal[number]:
            of_codes[:n] = _standard_values(table.columns[number], codes[:, number], n)
        values.append(of_codes)
    return np.concatenate(values)


def _standard_values(column: Floats, codes: NDArray[np.uint8], n_codes: int) -> Floats:
    """Compute the mean of the rows of each code, in steps of the standard deviation of the feature."""
    known = codes < n_codes
    code, value = codes[known], column[known]
    largest = float(np.abs(value[np.isfinite(value)]).max(initial=0.0))
    if largest == 0.0:
        return np.zeros(n_codes)
    value = np.clip(value, -largest, largest) / largest  # an infinite value counts as the largest finite one
    size = np.bincount(code, minlength=n_codes)
    total = np.bincount(code, value, minlength=n_codes)
    centre, deviation = mean_and_deviation(value)
    if deviation == 0.0:
        return np.zeros(n_codes)
    standard = (total / np.maximum(size, 1) - centre) / deviation
    clipped = np.clip(standard, -_DEVIATIONS, _DEVIATIONS)
    return np.where(size > 0, np.rint(clipped / _DEVIATIONS * UNIT_VALUE), 0.0)


def mean_and_deviation(values: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation, summed in order."""
    mean = dot(values, np.ones(len(values))) / len(values)
    centred = values - mean
    return mean, sqrt(dot(centred, centred) / len(values))
