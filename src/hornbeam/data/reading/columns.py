"""One column of X: floats, or codes into a dictionary of values.

Reading a column runs code of its type: ``__array__``, ``__hash__``, ``__float__``, a data frame library. Exceptions of
that code become a `DataError`.
"""

import datetime
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Complex, Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind, sorted_categories
from hornbeam.errors import DataError, HornbeamError, SchemaError
from hornbeam.typing import Bools, Category, Floats

EXACT = 2**53  # float64 represents every whole number up to here
MISSING = -1
UNSEEN = -2

# Types of missing values in pandas, by name because pandas need not be installed.
PANDAS_NULLS = frozenset({"NAType", "NaTType"})
TEMPORAL = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
# A MemoryError is not caused by the data, and a warning turned into an error should be seen as it is.
_PASSED_ON = (HornbeamError, MemoryError, Warning)
_EXACT_POWER = 22  # float64 represents every power of ten up to this exponent


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column before it is matched with a feature.

    Without a dictionary, `values` are float64 numbers, NaN where missing; with one, integer codes into it, -1
    where missing. An entry of the dictionary may be unused, repeated, or None, which is a missing value too.
    `ordered`: the order of the dictionary is that of ordinal values. `rounded`: some whole numbers beyond
    2**53 were rounded to float64.
    """

    values: NDArray[Any]
    dictionary: tuple[Category | None, ...] | None = None
    ordered: bool = False
    rounded: bool = False

    @classmethod
    def read(cls, values: NDArray[Any], name: str) -> "Column":
        """Read a 1-D array of numbers, booleans, strings or objects."""
        kind = values.dtype.kind
        if kind in "fiu":
            return cls(np.require(values, np.float64, "A"), rounded=loses_digits(values))
        if kind == "b":
            return cls(values.view(np.int8), (False, True))
        if kind in "OUT":
            return _read_objects(values.tolist(), name)
        raise unusable_column_error(name, values.dtype, temporal=kind in "mM", complex_=kind == "c")

    @classmethod
    def categorical(
        cls, codes: NDArray[Any], values: Sequence[Any], name: str, *, ordered: bool = False
    ) -> "Column":
        """Read codes (-1 where missing) and the dictionary of their values, as data frames store categories."""
        types = _Types.of(values, name)
        return cls(codes, tuple(map(types.to_scalar, values)), ordered)

    def take(self, rows: Bools) -> "Column":
        """Return some rows."""
        return replace(self, values=self.values[rows])

    def feature(self, name: str) -> Feature:
        """Infer the feature: its kind and its categories.

        A nominal feature has the values that occur, an ordinal one all declared values.
        """
        if self.dictionary is None:
            return Feature(name)
        if self.ordered:
            return Feature(name, Kind.ORDINAL, tuple([v for v in self.dictionary if v is not None]))
        return Feature(name, Kind.NOMINAL, sorted_categories(self.occurring().values()))

    def occurring(self) -> dict[int, Category]:
        """Return the entries of the dictionary that occur in the rows, by code."""
        assert self.dictionary is not None
        seen = np.zeros(len(self.dictionary) + 1, dtype=np.bool_)
        seen[self.values] = True  # a missing value, -1, sets the extra last entry
        codes = np.flatnonzero(seen[:-1]).tolist()
        return {code: value for code in codes if (value := self.dictionary[code]) is not None}

    def encode(self, feature: Feature) -> NDArray[Any]:
        """Return the column of a `Table`: values matched with the categories of the feature.

        Numbers for a numeric feature, positions as floats for an ordinal one (NaN where the value is missing
        or not declared), int32 codes for a nominal one (-1 where missing, -2 for a value that is not a category).
        """
        if feature.is_numeric:
            return self.values if self.dictionary is None else self._numbers(feature)
        column = self if self.dictionary is not None else self._factorised()
        return column._positions(feature)

    def _factorised(self) -> "Column":
        """Convert numbers to codes into a dictionary of the distinct numbers."""
        missing = np.isnan(self.values)
        codes = np.full(len(self.values), MISSING, dtype=np.int32)
        numbers, codes[~missing] = np.unique(self.values[~missing], return_inverse=True)
        return Column(codes, tuple(numbers.tolist()))

    def _numbers(self, feature: Feature) -> NDArray[np.float64]:
        lookup = np.full(len(self.dictionary or ()) + 1, np.nan)
        occurring = self.occurring()
        texts = [code for code, value in occurring.items() if isinstance(value, str)]
        for code, value in occurring.items():
            if isinstance(value, str):
                row = int(np.isin(self.values, texts).argmax())
                raise SchemaError(
                    f"Column {feature.name!r} has text in row {row}, but the tree was fitted with numbers there. "
                    "Pass the column as it was in training, or convert its values to numbers."
                )
            lookup[code] = value
        return lookup.take(self.values)

    def _positions(self, feature: Feature) -> NDArray[Any]:
        occurring = self.occurring()
        if occurring and feature.categories:
            _check_comparable(tuple(occurring.values()), feature)
        position = {category: i for i, category in enumerate(feature.categories)}
        n_entries = len(self.dictionary or ()) + 1
        lookup: NDArray[Any]
        if feature.kind is Kind.ORDINAL:
            lookup, unseen = np.full(n_entries, np.nan), np.nan
        else:
            lookup, unseen = np.full(n_entries, MISSING, dtype=np.int32), UNSEEN
        for code, value in occurring.items():
            lookup[code] = position.get(value, unseen)
        return lookup.take(self.values)


def loses_digits(values: NDArray[Any]) -> bool:
    """Whether conversion to float64 rounds some numbers of an integer array."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return False
    if int(values.min()) >= -EXACT and int(values.max()) <= EXACT:
        return False
    numbers = values.astype(np.float64)
    low, high = np.iinfo(values.dtype).min, np.iinfo(values.dtype).max + 1  # both are powers of two, or 0
    fits = (numbers >= low) & (numbers < high)
    return not fits.all() or bool((numbers.astype(values.dtype) != values).any())


def _lost_digits(values: list[Any], numbers: NDArray[np.float64]) -> bool:
    """Whether conversion to float64 rounded whole numbers among Python objects."""
    large = np.flatnonzero(np.abs(numbers) >= EXACT).tolist()
    return any(isinstance(values[at], Integral) and int(values[at]) != numbers.item(at) for at in large)


def unusable_column_error(
    name: str, found: object, *, temporal: bool = False, complex_: bool = False
) -> DataError:
    """Return the error for a column of values that are neither numbers nor categories."""
    if complex_:
        return DataError(
            f"Complex data not supported: column {name!r} holds {found}. Pass real and imaginary parts as two columns."
        )
    if temporal:
        return DataError(
            f"Column {name!r} holds dates or times ({found}); expected numbers or categories. "
            "Convert it to a number, such as days since a fixed date, or to its year, month and weekday."
        )
    return DataError(
        f"Column {name!r} holds values of type {found}; every value given as an argument must be a string "
        "or a number (or a boolean, a category, or missing). Convert the column or drop it."
    )


def _check_comparable(values: tuple[Category, ...], feature: Feature) -> None:
    """Raise a `SchemaError` for text where every category is a number, and for numbers where every one is text."""
    found, expected = ({isinstance(v, str) for v in group} for group in (values, feature.categories))
    if found.isdisjoint(expected):
        kinds = ("text", "numbers") if True in found else ("numbers", "text")
        raise SchemaError(
            f"Column {feature.name!r} holds {kinds[0]}, but the categories that the tree was fitted with are "
            f"{kinds[1]} there. Pass the column with the type it had in training."
        )


class _Types(NamedTuple):
    """Types of the values of a column of Python objects; `nulls` are None and the NA and NaT of pandas."""

    bools: bool
    numbers: bool
    texts: bool
    nulls: frozenset[type]
    name: str

    @classmethod
    def of(cls, values: Iterable[Any], name: str) -> "_Types":
        types = set(map(type, values))
        nulls = frozenset(t for t in types if t is type(None) or t.__name__ in PANDAS_NULLS)
        bools = {t for t in types if t is bool or t is np.bool_}
        numbers = {t for t in types - bools if issubclass(t, (Real, Decimal))}
        texts = {t for t in types if issubclass(t, str)}
        for t in types - bools - numbers - texts - nulls:
            raise unusable_column_error(
                name, t.__name__, temporal=issubclass(t, TEMPORAL), complex_=issubclass(t, Complex)
            )
        return cls(bool(bools), bool(numbers), bool(texts), nulls, name)

    def to_scalar(self, value: Any) -> Category | None:
        """Convert a value to a Python scalar, None if missing; 1, 1.0 and, among numbers, True are all 1."""
        if type(value) in self.nulls:
            return None
        if isinstance(value, str):
            return str(value)
        if isinstance(value, (bool, np.bool_)):
            return int(value) if self.numbers else bool(value)
        try:
            number = float(value)
        except (OverflowError, ValueError):
            raise _too_large_error(self.name) from None
        if math.isnan(number):
            return None
        return int(value) if number.is_integer() else number


def _too_large_error(name: str) -> DataError:
    return DataError(
        f"Column {name!r} has a number that is too large for a float; expected numbers up to 1.8e308. Measure it in a "
        "larger unit, or pass the column as text if its values are names."
    )


def _read_objects(values: list[Any], name: str) -> Column:
    """Read a column of Python objects: numeric if all values are numbers, categories otherwise."""
    types = _Types.of(values, name)
    if not types.texts and (types.numbers or not types.bools):
        if types.nulls:
            values = [math.nan if type(value) in types.nulls else value for value in values]
        try:
            numbers = np.array(values, dtype=np.float64)
        except (OverflowError, ValueError):
            raise _too_large_error(name) from None
        return Column(numbers, rounded=_lost_digits(values, numbers))
    code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.int32, count=len(values))
    return Column(codes, tuple(map(types.to_scalar, code_of)))


@contextmanager
def as_data_error(what: str) -> Iterator[None]:
    """Raise any exception inside the block again as a `DataError`, with the exception as its cause."""
    try:
        yield
    except _PASSED_ON:
        raise
    except Exception as error:
        raise DataError(
            f"Reading {what} failed with a {type(error).__name__}, shown above. Convert it to a plain NumPy array, a "
            "list or a pandas frame first."
        ) from error


def check_arrow(array: Any, what: str) -> None:
    """Raise a `DataError` for an Arrow array with text that is not UTF-8 or an index outside its dictionary.

    Arrow itself does not check: a negative index would give another category, and an index beyond the end would read
    memory outside the array.

    Examples
    --------
    >>> import pyarrow as pa
    >>> check_arrow(pa.chunked_array([["a", "b"]]), "y")
    """
    try:
        array.validate(full=True)
    except (ValueError, IndexError) as error:  # the bases of ArrowInvalid and ArrowIndexError
        raise DataError(
            f"{what} is a broken Arrow array: it has text that is not UTF-8, an index outside its dictionary, or "
            "buffers of the wrong size. Build it again, from bytes with their encoding, such as "
            "pa.array([value.decode('latin-1') for value in values])."
        ) from error


def decimals_as_floats(column: Any) -> Floats:
    """Convert an Arrow column of decimals to the nearest floats, NaN where missing; Arrow's own cast is less exact."""
    array = column.combine_chunks()
    scale, n_bytes = array.type.scale, array.type.bit_width // 8
    if not len(array):
        return np.empty(0)
    words = np.frombuffer(array.buffers()[1], f"<i{min(n_bytes, 8)}").reshape(-1, max(1, n_bytes // 8))
    words = words[array.offset : array.offset + len(array)]
    integers = words[:, 0]
    missing = array.is_null().to_numpy(zero_copy_only=False)
    small = (integers > -EXACT) & (integers < EXACT)
    small &= (words[:, 1:] == (integers >> 31 >> 32)[:, None]).all(axis=1)  # the other words repeat the sign
    small &= abs(scale) <= _EXACT_POWER
    # Both operands are exact, so the result is rounded once.
    power = float(10 ** min(abs(scale), _EXACT_POWER))
    floats = integers / power if scale >= 0 else integers * power
    floats[missing] = np.nan
    if len(others := np.flatnonzero(~small & ~missing)):
        floats[others] = array.take(others).cast("string").cast("float64").to_numpy()
    return floats
