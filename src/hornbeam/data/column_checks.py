"""Checks for columns that should probably not be features: identifiers, constants, copies of the target, groups.

`check_profile` judges a column by itself, from its `Profile`; `check_columns` judges all columns of a training table.
The estimators warn about findings; the command line leaves the column out or prints a warning.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.files.profile import FEW_TEXTS, NUMBER, Profile, few_texts
from hornbeam.data.hashes import value_hash
from hornbeam.data.row_order import target_bits
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.data.target_copies import find_copies
from hornbeam.kernels.census import count_distinct
from hornbeam.typing import Counts

_FEWEST_ROWS = 20  # smaller data are not checked: most of their columns have many different values
_FEWEST_NUMBERS = 100  # rows needed to check for numbers without a repeated value
_IDENTIFIER_SHARE = 0.5  # of the rows; a nominal column with more different values identifies rows
_EXPECTED_REPEATS = 10  # pairs of equal numbers; if at least ten are expected, none at all is not chance
_SAMPLE_ROWS = 256  # enough to clear an ordinary numeric column
_BLOCK_ROWS = 2_000  # searched for groups of rows
_MANY_VALUES, _REPEATS = 30, 20  # of a column that may be shared by the rows of a group
_MEAN_ROWS = 1.5  # of a value of an identifier
_SHARED_COLUMNS = 2  # beside the first
_UNSHARED = 0.02  # share of the repeated values that may have another value in the other columns
_SIMILAR = 0.8  # their number of values beside that of the first, at least: each of them identifies a group
_TRIED = 3  # columns of most values
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?")
_SEPARATOR = re.compile("[.,]")
_SOME = 100  # categories that are searched for one that is neither date nor number
_IDENTIFIER_NAME = re.compile(r"(?:^|[^a-z])(?:id|uid|uuid|guid|key|index)$", re.IGNORECASE)
_GROUP_NAME = re.compile(r"(?:(?:^|[^A-Za-z])(?:id|uid|uuid|guid|key)|[a-z](?:Id|ID|Uid|Uuid|Guid|Key))$")
_IDENTIFIER_CAMEL = re.compile(r"[a-z](?:Id|ID|Uid|Uuid|Guid|Key|Index)$")


class Check(StrEnum):
    """Reasons why a column should probably not be a feature."""

    CONSTANT = "constant"
    ROW_NUMBER = "row number"
    IDENTIFIER = "identifier"
    DATE = "dates as text"
    NUMBER = "numbers as text"
    FEW_TEXTS = "a few texts among numbers"
    UNREPEATED = "unrepeated number"
    COPY = "copy of the target"
    GROUP = "group of rows"


@dataclass(frozen=True, slots=True)
class Finding:
    """A column that should probably not be a feature, and the check it failed.

    `what` ends a sentence about the column. It has counts, but no value of the data.
    """

    column: str
    check: Check
    what: str


def check_profile(column: Profile) -> Finding | None:
    """Check a column by the number of its different values; None for a column that may be a feature.

    - *constant*: one value in all rows, or no value at all. One value and missing values are not constant.
    - *row number*: 1, 2, 3, ... in the order of the rows, from any start.
    - *a few texts among numbers*: as in `check_columns`.
    - *identifier*: texts or categories, more than half as many different ones as there are rows.
    - *unrepeated number*: at least 100 rows, another whole number in each, and either the name is that of an
      identifier (``id``, ``customer_id``, ``orderKey``), or the numbers are so close together that independent draws
      would have at least ten pairs of equal ones: n (n - 1) / 2 pairs, each equal with a probability of at least
      1 / width. Amounts and measurements from a wide range are therefore not reported.

    Fewer than 20 rows are only checked for constants.
    """
    if column.n_distinct == 0:
        return Finding(column.name, Check.CONSTANT, "has no values")
    if column.n_distinct == 1 and column.n_missing == 0:
        return Finding(column.name, Check.CONSTANT, "has one value only")
    if column.n_rows < _FEWEST_ROWS:
        return None
    if column.is_row_number:
        return Finding(column.name, Check.ROW_NUMBER, "numbers the rows")
    if (found := few_texts_found(column.name, column.n_few_texts, column.n_rows)) is not None:
        return found
    if column.holds == "text" and column.n_distinct > _IDENTIFIER_SHARE * column.n_rows:
        return _identifier(column.name, column.n_distinct, column.n_rows)
    if _is_unrepeated(column):
        return Finding(column.name, Check.UNREPEATED, "has another whole number in each row")
    return None


def check_columns(table: Table) -> tuple[Finding, ...]:
    """Check the columns of a training table: at most one finding for each, in their order.

    The rules are those of `check_profile` and `target_copies`, without constants, which no split can use, and
    without those where a false alarm would be likely: fewer than 20 rows and a single column are not checked
    at all, and the columns of an array without names are not checked for unrepeated numbers, which are common
    in matrices.

    - *dates as text*, *numbers as text*: a nominal column of texts such as 2024-01-31 alone, or 3,5 and 12 alone, whose
      order a split does not see. Whole numbers alone may be codes.
    - *a few texts among numbers*: a nominal column of at least 20 different numbers, and at most a twentieth as many
      texts, in at most a twentieth of the rows: one bad cell makes a column of numbers nominal.
    - *group of rows*: an identifier by its name, whose values repeat; or a column of many values whose equal values
      are found together with equal values of two other columns of many values, such as the age, height and weight of
      a patient. In the first 2,000 rows alone, and not if groups are known.

    A numeric column is read in full only if a sample of 256 rows does not clear it.
    """
    if table.n_rows < _FEWEST_ROWS or len(table.columns) < 2:
        return ()
    features = enumerate(table.schema.features)
    found = {
        at: finding
        for at, feature in features
        if (finding := _few_texts_in(table, at) or _ordered_text(feature)) is not None
    }
    for at, profile in _suspects(table):
        finding = None if at in found else check_profile(profile)
        skipped = {Check.CONSTANT} if table.names is not None else {Check.CONSTANT, Check.UNREPEATED}
        if finding is not None and finding.check not in skipped:
            found[at] = finding
    as_text = (Check.DATE, Check.NUMBER, Check.FEW_TEXTS)
    others = [at for at in range(len(table.columns)) if at not in found or found[at].check in as_text]
    for at, what in find_copies(table, others):
        found[at] = Finding(table.schema.names[at], Check.COPY, what)
    if not any(finding.check is Check.COPY for finding in found.values()):
        found |= {at: finding for at, finding in _groups(table).items() if at not in found}
    return tuple([found[at] for at in sorted(found)])


def target_copies(table: Table) -> tuple[Finding, ...]:
    """Find columns that alone predict the target nearly perfectly; `hornbeam.data.target_copies` has the rules."""
    names = table.schema.names
    return tuple(
        [Finding(names[at], Check.COPY, what) for at, what in find_copies(table, range(len(table.columns)))]
    )


def check_schema(schema: Schema, n_rows: int) -> tuple[Finding, ...]:
    """Check the nominal columns of rows that are not in memory, by their categories."""
    if n_rows < _FEWEST_ROWS or schema.n_features < 2:
        return ()
    most = _IDENTIFIER_SHARE * n_rows
    found = [
        _ordered_text(feature)
        or (
            _identifier(feature.name, len(feature.categories), n_rows)
            if len(feature.categories) > most
            else None
        )
        for feature in schema.features
        if feature.is_nominal
    ]
    return tuple([finding for finding in found if finding is not None])


def group_columns(table: Table) -> tuple[Finding, ...]:
    """Find a column whose equal values mean that rows belong together; none if groups are known."""
    return tuple(_groups(table).values())


def _groups(table: Table) -> dict[int, Finding]:
    """Return the finding of `group_columns` by the number of the column."""
    if table.group is not None:
        return {}
    block = table.slice(0, min(table.n_rows, _BLOCK_ROWS))
    repeating = {at: _codes(block.columns[at]) for at in _repeating(block)}
    names = table.schema.names
    if table.names is not None:
        for at, codes in repeating.items():
            if _GROUP_NAME.search(names[at]) and len(codes) >= _MEAN_ROWS * (codes.max() + 1):
                return {at: Finding(names[at], Check.GROUP, "is an identifier that repeats")}
    if len(repeating) <= _SHARED_COLUMNS:
        return {}
    _, kept = np.unique(
        value_hash(block.columns, target_bits(block)), return_index=True
    )  # whole rows that are copies
    if len(kept) < len(block.columns[0]):
        some = block.take(kept)
        repeating = {at: _codes(some.columns[at]) for at in _repeating(some) if at in repeating}
    by_size = sorted(repeating, key=lambda at: (-repeating[at].max(), at))
    for place, at in enumerate(by_size[:_TRIED]):
        codes = repeating[at]
        rows = np.flatnonzero(codes != np.bincount(codes).argmax())  # many rows share a 0, and nothing else
        codes = codes[rows]
        n_distinct = len(np.unique(codes))
        most = n_distinct + _UNSHARED * (len(codes) - n_distinct)
        with_it = [
            other
            for other in by_size[place + 1 :]
            if repeating[other].max() >= _SIMILAR * repeating[at].max()
            and len(np.unique(codes * (_BLOCK_ROWS + 1) + repeating[other][rows])) <= most
        ]
        enough = len(codes) - n_distinct >= _REPEATS and len(with_it) >= _SHARED_COLUMNS
        if enough and len(with_it) + 1 < len(table.columns):
            what = f"and {len(with_it)} other columns have equal values in the same rows"
            return {at: Finding(names[at], Check.GROUP, what)}
    return {}


def _repeating(block: Table) -> list[int]:
    """Return the columns that have many different values, of which many repeat."""
    n_distinct = count_distinct(tuple(block.columns))
    repeats = (n_distinct >= _MANY_VALUES) & (block.n_rows - n_distinct >= _REPEATS)
    return np.flatnonzero(repeats).tolist()


def _codes(column: NDArray[Any]) -> Counts:
    """Number the values of a column."""
    codes: Counts = np.unique(column, return_inverse=True)[1]
    return codes


def _looks_like_identifier(name: str) -> bool:
    return bool(_IDENTIFIER_NAME.search(name) or _IDENTIFIER_CAMEL.search(name))


def _ordered_text(feature: Feature) -> Finding | None:
    """Find a nominal column whose categories are all dates, or all numbers, some of them with decimals."""
    if not feature.is_nominal or not feature.categories:
        return None
    some = [category for category in islice(feature.categories, _SOME) if isinstance(category, str)]
    if len(some) < min(len(feature.categories), _SOME):
        return None
    if all(map(_DATE.fullmatch, some)):
        return Finding(feature.name, Check.DATE, "holds dates as text")
    if all(map(NUMBER.fullmatch, some)) and any(map(_SEPARATOR.search, some)):
        return Finding(feature.name, Check.NUMBER, "holds numbers as text")
    return None


def few_texts_found(name: str, n_cells: int, n_rows: int) -> Finding | None:
    """Return the finding of a column of numbers with a few other cells; None if there are none, or many."""
    if not 0 < n_cells <= FEW_TEXTS * n_rows:
        return None
    what = f"holds numbers, but for {n_cells:,} of {n_rows:,} cells"
    return Finding(name, Check.FEW_TEXTS, what)


def _few_texts_in(table: Table, at: int) -> Finding | None:
    feature = table.schema.features[at]
    if not feature.is_nominal:
        return None
    n_cells = np.isin(table.columns[at], texts).sum() if (texts := few_texts(feature.categories)) else 0
    return few_texts_found(feature.name, int(n_cells), table.n_rows)


def _identifier(name: str, n_distinct: int, n_rows: int) -> Finding:
    return Finding(name, Check.IDENTIFIER, f"has {n_distinct:,} different values in {n_rows:,} rows")


def _is_unrepeated(column: Profile) -> bool:
    if not column.whole or not column.n_distinct == column.n_rows >= _FEWEST_NUMBERS:
        return False
    pairs = column.n_rows * (column.n_rows - 1) / 2
    return _looks_like_identifier(column.name) or pairs >= _EXPECTED_REPEATS * column.width


def _suspects(table: Table) -> list[tuple[int, Profile]]:
    """Return the profiles of the columns that a sample of rows does not clear."""
    found = []
    for at, (feature, column) in enumerate(zip(table.schema.features, table.columns, strict=True)):
        if feature.is_nominal:
            if len(feature.categories) > _IDENTIFIER_SHARE * table.n_rows:
                found.append((at, Profile.of_codes(feature.name, column)))
        elif _is_suspect(column, named=table.names is not None, ordinal=feature.kind is Kind.ORDINAL):
            found.append((at, Profile.of_numbers(feature.name, column)))
    return found


def _is_suspect(values: NDArray[Any], *, named: bool, ordinal: bool) -> bool:
    """Whether a numeric column has another whole number in each row of a sample."""
    if ordinal or not (named or values.item(1) - values.item(0) == 1):
        return False
    sample = values[:: max(1, len(values) // _SAMPLE_ROWS)]
    few = sample[:8].tolist()
    if few[0] == few[1] or isnan(few[0]) or not all(map(float.is_integer, few)):
        return False
    return bool((sample == np.rint(sample)).all() and (np.diff(np.sort(sample)) > 0).all())
