"""Checks for columns that should probably not be features: identifiers, constants, copies of the target.

`check_profile` judges a column by itself, from its `Profile`; `check_columns` judges all columns of a training table.
The estimators warn about findings; the command line leaves the column out or prints a warning.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.files.profile import Profile
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.table import Table
from hornbeam.data.target_copies import find_copies

__all__ = ["Check", "Finding", "check_columns", "check_profile", "check_schema", "target_copies"]

_FEWEST_ROWS = 20  # smaller data are not checked: most of their columns have many different values
_FEWEST_NUMBERS = 100  # rows needed to check for numbers without a repeated value
_IDENTIFIER_SHARE = 0.5  # of the rows; a nominal column with more different values identifies rows
_EXPECTED_REPEATS = 10  # pairs of equal numbers; if at least ten are expected, none at all is not chance
_SAMPLE_ROWS = 256  # enough to clear an ordinary numeric column
_IDENTIFIER_NAME = re.compile(r"(?:^|[^a-z])(?:id|uid|uuid|guid|key|index)$", re.IGNORECASE)
_IDENTIFIER_CAMEL = re.compile(r"[a-z](?:Id|ID|Uid|Uuid|Guid|Key|Index)$")


class Check(StrEnum):
    """Reasons why a column should probably not be a feature.

    Examples
    --------
    >>> Check("constant") is Check.CONSTANT
    True
    """

    CONSTANT = "constant"
    ROW_NUMBER = "row number"
    IDENTIFIER = "identifier"
    UNREPEATED = "unrepeated number"
    COPY = "copy of the target"


_NEED_NAMES = frozenset({Check.CONSTANT, Check.UNREPEATED})  # skipped where columns have no names


@dataclass(frozen=True, slots=True)
class Finding:
    """A column that should probably not be a feature.

    Parameters
    ----------
    column : str
        Its name.
    check : Check
        The check it failed.
    what : str
        Description, as the end of a sentence about the column. It has counts, but no value of the data.

    Examples
    --------
    >>> Finding("site", Check.CONSTANT, "has one value only").what
    'has one value only'
    """

    column: str
    check: Check
    what: str


def check_profile(column: Profile) -> Finding | None:
    """Check a column by the number of its different values.

    Parameters
    ----------
    column : Profile

    Returns
    -------
    Finding or None
        None for a column that may be a feature.

    Notes
    -----
    - *constant*: one value in all rows, or no value at all. One value and missing values are not constant.
    - *row number*: 1, 2, 3, ... in the order of the rows, from any start.
    - *identifier*: texts or categories, more than half as many different ones as there are rows.
    - *unrepeated number*: at least 100 rows, another whole number in each, and either the name is that of an
      identifier (``id``, ``customer_id``, ``orderKey``), or the numbers are so close together that independent draws
      would have at least ten pairs of equal ones: n (n - 1) / 2 pairs, each equal with a probability of at least
      1 / width. Amounts and measurements from a wide range are therefore not reported.

    Fewer than 20 rows are only checked for constants.

    Examples
    --------
    >>> check_profile(Profile("customer", "text", n_rows=900, n_missing=0, n_distinct=880)).what
    'has 880 different values in 900 rows'
    >>> check_profile(Profile("age", "number", n_rows=900, n_missing=0, n_distinct=70))
    """
    if column.n_distinct == 0:
        return Finding(column.name, Check.CONSTANT, "has no values")
    if column.n_distinct == 1 and column.n_missing == 0:
        return Finding(column.name, Check.CONSTANT, "has one value only")
    if column.n_rows < _FEWEST_ROWS:
        return None
    if column.is_row_number:
        return Finding(column.name, Check.ROW_NUMBER, "numbers the rows")
    if column.holds == "text" and column.n_distinct > _IDENTIFIER_SHARE * column.n_rows:
        return _identifier(column.name, column.n_distinct, column.n_rows)
    if _is_unrepeated(column):
        return Finding(column.name, Check.UNREPEATED, "has another whole number in each row")
    return None


def check_columns(table: Table) -> tuple[Finding, ...]:
    """Check the columns of a training table.

    Parameters
    ----------
    table : Table
        Rows with their target.

    Returns
    -------
    tuple of Finding
        At most one for each column, in their order.

    Notes
    -----
    The rules are those of `check_profile` and `target_copies`, without those where a false alarm would be
    likely: fewer than 20 rows and a single column are not checked at all, and the columns of an array without names
    are not checked for constants and unrepeated numbers, which are common in images and other matrices.

    A numeric column is read in full only if a sample of 256 rows does not clear it.

    Examples
    --------
    >>> rows = [[f"customer {i}", i % 7] for i in range(30)]
    >>> table = Table.read(rows, [i % 2 for i in range(30)], feature_names=["customer", "weekday"])
    >>> [(found.column, found.check.value) for found in check_columns(table)]
    [('customer', 'identifier')]
    """
    if table.n_rows < _FEWEST_ROWS or len(table.columns) < 2:
        return ()
    found: dict[int, Finding] = {}
    for at, profile in _suspects(table):
        finding = check_profile(profile)
        if finding is not None and (table.names is not None or finding.check not in _NEED_NAMES):
            found[at] = finding
    others = [at for at in range(len(table.columns)) if at not in found]
    for at, what in find_copies(table, others):
        found[at] = Finding(table.schema.names[at], Check.COPY, what)
    return tuple([found[at] for at in sorted(found)])


def target_copies(table: Table) -> tuple[Finding, ...]:
    """Find columns that alone predict the target nearly perfectly; `hornbeam.data.target_copies` has the rules.

    Examples
    --------
    >>> rows = [[i % 7, "yn"[i % 2]] for i in range(200)]
    >>> table = Table.read(rows, [i % 2 for i in range(200)], feature_names=["weekday", "odd"])
    >>> print(*[found.column for found in target_copies(table)])
    odd
    """
    names = table.schema.names
    return tuple(
        [Finding(names[at], Check.COPY, what) for at, what in find_copies(table, range(len(table.columns)))]
    )


def check_schema(schema: Schema, n_rows: int) -> tuple[Finding, ...]:
    """Check the nominal columns of rows that are not in memory, by their number of categories.

    Examples
    --------
    >>> from hornbeam.data.schema import Feature
    >>> schema = Schema((Feature("city", Kind.NOMINAL, tuple("abcdefghijklmnop")), Feature("age")))
    >>> [found.what for found in check_schema(schema, 25)], check_schema(schema, 1_000)
    (['has 16 different values in 25 rows'], ())
    """
    if n_rows < _FEWEST_ROWS or schema.n_features < 2:
        return ()
    return tuple(
        [
            _identifier(feature.name, len(feature.categories), n_rows)
            for feature in schema.features
            if feature.kind is Kind.NOMINAL and len(feature.categories) > _IDENTIFIER_SHARE * n_rows
        ]
    )


def _identifier(name: str, n_distinct: int, n_rows: int) -> Finding:
    return Finding(name, Check.IDENTIFIER, f"has {n_distinct:,} different values in {n_rows:,} rows")


def _is_unrepeated(column: Profile) -> bool:
    if not column.whole or not column.n_distinct == column.n_rows >= _FEWEST_NUMBERS:
        return False
    pairs = column.n_rows * (column.n_rows - 1) / 2
    named = _IDENTIFIER_NAME.search(column.name) or _IDENTIFIER_CAMEL.search(column.name)
    return bool(named) or pairs >= _EXPECTED_REPEATS * column.width


def _suspects(table: Table) -> list[tuple[int, Profile]]:
    """Return the profiles of the columns that a sample of rows does not clear."""
    found = []
    for at, (feature, column) in enumerate(zip(table.schema.features, table.columns, strict=True)):
        if feature.kind is Kind.NOMINAL:
            n_categories = len(feature.categories)
            if n_categories < 2 or n_categories > _IDENTIFIER_SHARE * table.n_rows:
                found.append((at, Profile.of_codes(feature.name, column)))
        elif _is_suspect(column, named=table.names is not None, ordinal=feature.kind is Kind.ORDINAL):
            found.append((at, Profile.of_numbers(feature.name, column)))
    return found


def _is_suspect(values: NDArray[Any], *, named: bool, ordinal: bool) -> bool:
    """Whether a numeric column is constant, or has another whole number in each row of a sample."""
    sample = values[:: max(1, len(values) // _SAMPLE_ROWS)]
    few = sample[:8].tolist()
    if few[0] == few[1] or isnan(few[0]):
        return named and _is_constant(sample) and _is_constant(values)
    if ordinal or not (named or values[1] - values[0] == 1) or not all(map(float.is_integer, few)):
        return False
    return bool((sample == np.rint(sample)).all() and (np.diff(np.sort(sample)) > 0).all())


def _is_constant(values: NDArray[Any]) -> bool:
    """Whether all values are the same, or all are missing."""
    return bool((values == values[0]).all() or np.isnan(values).all())
