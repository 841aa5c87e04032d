"""Role of each column of a file (target, weight, feature of some kind, none), with the reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from hornbeam.errors import DataError

if TYPE_CHECKING:
    from hornbeam.data.column_checks import Finding
    from hornbeam.data.files.profile import Profile

_UNUSABLE = {"other": "holds neither numbers nor texts", "date": "holds dates or times"}


@dataclass(frozen=True, slots=True)
class Roles:
    """The features by kind, and the columns left out.

    `numeric` and `nominal` are features in the order of the file, `left_out` other columns, and why they are no
    features. `doubts` are about features that look as if they should not be: what about them, and what to do.
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
        others: Iterable[str | None] = (),
        forced: Iterable[str] = (),
        dropped: Iterable[str] = (),
    ) -> "Roles":
        """Choose a role for every column; `forced` ones are always features, `others` never."""
        from hornbeam.data.column_checks import Check, check_profile

        numeric: list[str] = []
        nominal: list[str] = []
        doubts: list[str] = []
        left_out: dict[str, str] = {}
        forced, dropped, taken = set(forced), set(dropped), {target, *others}
        for column in columns:
            if column.name in taken:
                continue
            found = None if column.holds in _UNUSABLE else check_profile(column)
            why = "was to be dropped" if column.name in dropped else _UNUSABLE.get(column.holds)
            if why is None and found is not None and found.check is not Check.UNREPEATED:
                why = found.what
                if found.check is Check.FEW_TEXTS:
                    why += ", which --null-value TEXT reads as missing"
            if why is not None and (column.name in dropped or column.name not in forced):
                left_out[column.name] = why
                continue
            (numeric if column.holds == "number" else nominal).append(column.name)
            if found is not None and column.name not in forced:
                doubts.append(doubt(found))
        if not numeric and not nominal:
            raise DataError(
                f"No column is left to learn {target!r} from: "
                + ("; ".join(f"{name!r} {why}" for name, why in left_out.items()) or "there is no other")
                + ". Keep one with --nominal or --numeric, or name a file with more columns."
            )
        return cls(tuple(numeric), tuple(nominal), left_out, tuple(doubts))


def doubt(found: "Finding") -> str:
    """Describe why a feature is doubtful, and how to leave it out.

    Examples
    --------
    >>> from hornbeam.data.column_checks import Check, Finding
    >>> doubt(Finding("customer", Check.UNREPEATED, "has another whole number in each row"))
    "'customer' has another whole number in each row: if it is an identifier, --drop customer"
    """
    from hornbeam.data.column_checks import Check

    if found.check is Check.GROUP:
        return f"{found.column!r} {found.what}: if rows with equal values belong together, --groups {found.column}"
    copy = found.check is Check.COPY
    reason = "unknown when predicting" if copy else "an identifier"
    return f"{found.column!r} {found.what}: if it is {reason}, --drop {found.column}"


def no_such_column(name: str, columns: Sequence[str], path: str) -> DataError:
    """Return the error for an unknown column name, with the closest one.

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
