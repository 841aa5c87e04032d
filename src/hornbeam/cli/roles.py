"""What each column of a file is for: the target, weights, a feature of some kind, or nothing, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from hornbeam.errors import DataError

if TYPE_CHECKING:
    from hornbeam.data.profile import Profile

__all__ = ["Roles", "no_such_column"]

_NAMES_ROWS = 0.5  # different texts a row: columns with more hold names, not categories
_FEW_ROWS = 20  # of which nothing of the kind can be said


@dataclass(frozen=True, slots=True)
class Roles:
    """The features, by kind, and what was left out.

    Parameters
    ----------
    numeric, nominal : tuple of str
        Features in the order of the file.
    left_out : dict from str to str
        Other columns, and why they are no features.
    doubts : tuple of str
        Features that look as if they should not be: what about them, and what to do.

    Examples
    --------
    >>> from hornbeam.data.profile import Profile
    >>> columns = [Profile("age", "number", 90, 0, 50), Profile("site", "text", 90, 0, 1)]
    >>> roles = Roles.of(columns, target="y")
    >>> roles.numeric, roles.nominal, roles.left_out
    (('age',), (), {'site': 'has one value only'})
    """

    numeric: tuple[str, ...]
    nominal: tuple[str, ...]
    left_out: dict[str, str]
    doubts: tuple[str, ...]

    @classmethod
    def of(
        cls,
        columns: "Sequence[Profile]",
        *,
        target: str,
        weight: str | None = None,
        forced: Iterable[str] = (),
        dropped: Iterable[str] = (),
    ) -> "Roles":
        """Give every column a role; `forced` ones are features whatever they look like."""
        numeric: list[str] = []
        nominal: list[str] = []
        doubts: list[str] = []
        left_out: dict[str, str] = {}
        forced, dropped = set(forced), set(dropped)
        for column in columns:
            if column.name in (target, weight):
                continue
            why = "was to be dropped" if column.name in dropped else _useless(column)
            if why is not None and (column.name in dropped or column.name not in forced):
                left_out[column.name] = why
                continue
            (numeric if column.holds == "number" else nominal).append(column.name)
            if column.name not in forced and _is_doubtful(column):
                doubts.append(
                    f"{column.name!r} has another whole number in each row: if it is an identifier, "
                    f"--drop {column.name}"
                )
        if not numeric and not nominal:
            raise DataError(
                f"No column is left to learn {target!r} from: "
                + ("; ".join(f"{name!r} {why}" for name, why in left_out.items()) or "there is no other")
                + ". Keep one with --nominal or --numeric, or name a file with more columns."
            )
        return cls(tuple(numeric), tuple(nominal), left_out, tuple(doubts))


def _useless(column: "Profile") -> str | None:
    """Why a column can be no feature; None if it can."""
    if column.holds == "other":
        return "holds neither numbers nor texts"
    if column.holds == "date":
        return "holds dates or times"
    if column.n_distinct == 0:
        return "has no values"
    if column.n_distinct == 1 and column.n_missing == 0:
        return "has one value only"
    if column.n_rows < _FEW_ROWS:
        return None
    if column.counts_rows:
        return "numbers the rows"
    if column.holds == "text" and column.n_distinct > _NAMES_ROWS * column.n_rows:
        return f"has {column.n_distinct:,} different texts in {column.n_rows:,} rows"
    return None


def _is_doubtful(column: "Profile") -> bool:
    return column.whole and column.n_distinct == column.n_rows >= _FEW_ROWS


def no_such_column(name: str, columns: Sequence[str], path: str) -> DataError:
    """Return the error of a name that no column has, with the closest one.

    Examples
    --------
    >>> print(no_such_column("inkome", ["age", "income"], "adult.csv"))
    There is no column 'inkome' in 'adult.csv'; did you mean 'income'? Its columns are 'age', 'income'.
    """
    folded = {column.casefold(): column for column in columns}
    close = get_close_matches(name.strip().casefold(), folded, n=1)
    advice = f"; did you mean {folded[close[0]]!r}?" if close else "."
    shown = ", ".join(map(repr, columns[:20])) + (
        f", … {len(columns) - 20} more" if len(columns) > 20 else ""
    )
    return DataError(f"There is no column {name!r} in {path!r}{advice} Its columns are {shown}.")
