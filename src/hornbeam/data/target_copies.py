"""Columns that alone predict the target nearly perfectly, and are therefore probably copies of it.

A column copies a class target if one of these simple rules gives the right class, except for at most one row in a
thousand and at most one in a hundred of the rows outside the largest class:

- *values*: the column has at most one value more than there are classes (a missing value counts as one), and each
  value stands for a class;
- *missing*: of two classes, one has missing values, the other has values;
- *cut*: of two classes, one is below a threshold and the other above it, and missing values stand for one of them.
  This rule needs at least 1,000 rows and column names: on small data, and on synthetic arrays, a clean cut is common.

A numeric column copies a numeric target if it has a value in 90 % of the rows, and its correlation with the target
over these rows is above 0.9999 or below -0.9999.

At least 100 rows are needed, and 20 of them outside the largest class. A strong feature with many values, such as the
odour in the mushroom data, is not reported.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.kernels.census import compare_rows
from hornbeam.typing import Bools, Floats, Indices

_FEWEST_ROWS = 100
_FEWEST_CUT_ROWS = 1_000
_FEWEST_OTHERS = 20  # rows outside the largest class
_WRONG_ROWS = 0.001
_WRONG_OTHERS = 0.01
_CORRELATION = 0.9999
_KNOWN = 0.9  # share of rows with a value that a correlation needs

# Looser limits for a sample of the rows, which excludes most columns.
_SAMPLE_ROWS = 256
_SAMPLE_CORRELATION = 0.9
_SAMPLE_WRONG = 0.05  # share of pairs of rows
_SAMPLE_EQUAL = 0.3  # share of pairs of one class

type Column = NDArray[Any]


def find_copies(table: Table, features: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield the features that copy the target of a table, each with a description."""
    if table.n_rows < _FEWEST_ROWS:
        return
    if table.numeric_target is not None:
        yield from _correlated(table, table.numeric_target.values, features)
    elif table.target is not None:
        yield from _predictive(table, table.target, features)


def _correlated(table: Table, target: Floats, features: Sequence[int]) -> Iterator[tuple[int, str]]:
    numeric = [at for at in features if not table.schema.features[at].is_nominal]
    rows = np.arange(0, table.n_rows, max(1, table.n_rows // _SAMPLE_ROWS))
    for at in _select(numeric, _may_correlate(_sample(table, numeric, rows), target[rows])):
        r = correlation(table.columns[at], target)
        if r > _CORRELATION:
            yield at, f"has a correlation of {r:.4f} with the target"


def _may_correlate(sample: Floats, target: Floats) -> Bools:
    """Return which columns of a sample correlate strongly with the target; missing values count as the mean."""
    missing = ~np.isfinite(sample)
    with np.errstate(all="ignore"):  # huge numbers, constants and columns without values
        x = sample - np.mean(sample, axis=0, where=~missing)
        x[missing] = 0.0
        x, y = _unit(x), _unit(target - target.mean())
        return np.asarray(np.abs(y @ x) > _SAMPLE_CORRELATION * np.sqrt((x * x).sum(axis=0) * (y @ y)))


def correlation(values: Floats, target: Floats) -> float:
    """Return the absolute correlation over rows with a value; 0 if undefined or if too many values are missing."""
    known = np.isfinite(values)
    if not known.all():
        if np.count_nonzero(known) < _KNOWN * len(values):
            return 0.0
        values, target = values[known], target[known]
    with np.errstate(all="ignore"):  # infinite means and constants
        x, y = _unit(values - values.mean()), _unit(target - target.mean())
        r = abs(float(x @ y / np.sqrt((x @ x) * (y @ y))))
    return 0.0 if np.isnan(r) else r


def _unit(values: Floats) -> Floats:
    """Divide each column by its largest value, so that squares neither overflow nor vanish."""
    return values / np.abs(values).max(axis=0)  # type: ignore[no-any-return]


def _predictive(table: Table, target: Indices, features: Sequence[int]) -> Iterator[tuple[int, str]]:
    n_rows, n_classes = table.n_rows, table.schema.n_classes
    sizes = np.bincount(target, minlength=n_classes)
    largest = int(sizes.argmax())
    others = n_rows - int(sizes[largest])
    if others < _FEWEST_OTHERS:
        return
    allowed = min(_WRONG_ROWS * n_rows, _WRONG_OTHERS * others)
    cuts = n_rows >= _FEWEST_CUT_ROWS and table.names is not None
    # As many rows of each, so that they can be compared pair by pair; none twice: a repeated row has repeated values.
    size = min(n_rows - others, others, _SAMPLE_ROWS // 2)
    inside, outside = (_spread(np.flatnonzero(rows), size) for rows in (target == largest, target != largest))
    by_value, by_order = _may_predict(tuple([table.columns[at] for at in features]), inside, outside)
    for at in _select(features, by_value | (by_order & (n_classes == 2))):
        column = table.columns[at]
        wrong = wrong_by_value(column, target, n_classes)
        if n_classes == 2:
            wrong = min(wrong, wrong_by_missing(column, target))
            if cuts and not table.schema.features[at].is_nominal:
                wrong = min(wrong, wrong_by_cut(column, target))
        if wrong <= allowed:
            yield at, f"alone gives the class of {_percent(n_rows - wrong, n_rows)} of the rows"


def _may_predict(
    columns: tuple[Column, ...], inside: NDArray[np.intp], outside: NDArray[np.intp]
) -> tuple[Bools, Bools]:
    """Return which columns may copy the target by value, and which by order, from rows in and outside a class.

    By value: rows in the class often have equal values, and hardly ever a value of the rows outside. By order: rows in
    the class are nearly always below those outside, or nearly always above. A missing value is above all values.
    """
    equal, below, repeated = compare_rows(columns, inside, outside)
    by_value = (equal <= _SAMPLE_WRONG) & (repeated >= _SAMPLE_EQUAL)
    return by_value, (below >= 1 - _SAMPLE_WRONG) | (below + equal <= _SAMPLE_WRONG)


def _sample(table: Table, features: Sequence[int], rows: NDArray[np.intp]) -> Floats:
    """Return some rows of some features as floats; infinity where a value is missing."""
    if table.matrix is not None:
        sample = table.matrix[rows[:, None], features]
        return np.where(np.isnan(sample), np.inf, sample)
    sample = np.empty((len(rows), len(features)))
    for to, at in enumerate(features):
        column = table.columns[at][rows]
        sample[:, to] = np.where(_is_missing(column), np.inf, column)
    return sample


def _is_missing(column: Column) -> Bools:
    return np.isnan(column) if column.dtype.kind == "f" else column < 0


def _spread(rows: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Return a sample of different rows, evenly spread over some rows."""
    return rows[np.linspace(0, len(rows) - 1, size).astype(np.intp)]


def _select(features: Sequence[int], which: Bools) -> list[int]:
    return [features[at] for at in np.flatnonzero(which).tolist()]


def wrong_by_value(column: Column, target: Indices, n_classes: int) -> int:
    """Count the rows that are not in the largest class of their value; all rows if there are too many values."""
    if len(np.unique(column[:_SAMPLE_ROWS])) > n_classes + 1:
        return len(column)
    values, group = np.unique(column, return_inverse=True)
    if len(values) > n_classes + 1:
        return len(column)
    pairs, counts = np.unique(group * n_classes + target, return_counts=True)
    most = np.zeros(len(values), np.int64)
    np.maximum.at(most, pairs // n_classes, counts)
    return len(column) - int(most.sum())


def wrong_by_missing(column: Column, target: Indices) -> int:
    """Count the wrong rows if missing values predict one of two classes, and values the other."""
    counts = np.bincount(2 * _is_missing(column) + target, minlength=4)
    return len(column) - int(counts.reshape(2, 2).max(axis=1).sum())


def wrong_by_cut(column: Floats, target: Indices) -> int:
    """Count the wrong rows if each side of the best cut, and the missing values, predict one of two classes."""
    order = np.argsort(column)  # missing values come last
    values, ones = column[order], np.cumsum(target[order])
    n_known = int(np.searchsorted(values, np.nan))
    if n_known == 0:
        return len(column)
    ones_missing, n_missing = int(ones[-1] - ones[n_known - 1]), len(column) - n_known
    # Possible cuts: after each value that is smaller than the next, and after the last one.
    ends = np.append(np.flatnonzero(values[: n_known - 1] < values[1:n_known]), n_known - 1)
    below, n_below = ones[ends], ends + 1
    above, n_above = ones[n_known - 1] - below, n_known - n_below
    wrong = np.minimum(below, n_below - below) + np.minimum(above, n_above - above)
    return int(wrong.min()) + min(ones_missing, n_missing - ones_missing)


def _percent(part: int, whole: int) -> str:
    return "100 %" if part == whole else f"{100 * part / whole:.2f} %"
