"""Tables as aligned text, as HTML for notebooks and as Markdown, and the results that are such tables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, Self, cast, overload

from hornbeam.errors import MissingExtraError, ParameterError, shown
from hornbeam.typing import Floats, Label

_TABLE = "border-collapse:collapse;color:inherit;font:13px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums"
_CAPTION = "text-align:left;padding:2px 10px;font-weight:600"
_LINE = "border-bottom:1px solid rgba(127,127,127,.4);padding:2px 10px;vertical-align:top;text-align:"
_SIDES = {"<": "left", ">": "right;white-space:nowrap"}
_FRAMES = ("pandas", "polars")
_NOTE = "font:13px/1.5 system-ui,sans-serif;margin:4px 10px"


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    r"""A table of cells.

    Parameters
    ----------
    caption : str
        What the table shows; not part of its text and its Markdown.
    header : sequence of str
        Names of the columns. Spaces around a name make its column wider in the text.
    rows : sequence of sequences
        The cells. A last cell of several lines continues below itself.
    align : str, default "<>"
        A sign per column: "<" for words, ">" for numbers. The last sign holds for all further columns.
    note : str, default ""
        Lines below the table; not part of its Markdown.

    Examples
    --------
    >>> grid = Grid("Sizes", ["name", "rows"], [["a|b", 3], ["c", 12]])
    >>> print(grid.text())
    name  rows
    a|b      3
    c       12
    >>> print(grid.markdown())
    | name | rows |
    |---|--:|
    | a\|b | 3 |
    | c | 12 |
    >>> page = Grid("Leaves", ["node", "rule"], [[3, "age < 30 & paid"]], "><").html()
    >>> "<td" in page and "age &lt; 30 &amp; paid" in page and "<caption" in page and 'scope="col"' in page
    True
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    align: str = "<>"
    note: str = ""

    @property
    def sides(self) -> str:
        """The sign of each column."""
        return self.align.ljust(len(self.header), self.align[-1])[: len(self.header)]

    def text(self) -> str:
        """Write the header, a line per row and the note, in aligned columns."""
        lines = [[*map(str, row)] for row in (self.header, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        below = "\n" + " " * (sum(widths[:-1]) + 2 * (len(widths) - 1))
        sides = [f"{side}{width}" for side, width in zip(self.sides, widths, strict=True)]
        written = ["  ".join(map(format, line, sides)).rstrip().replace("\n", below) for line in lines]
        return "\n".join(written + [self.note] * bool(self.note))

    def html(self, most_rows: int | None = 100) -> str:
        """Write a table in the colours of the page around it; rows beyond `most_rows` are only counted."""
        styles = [f'style="{_LINE}{_SIDES[side]}"' for side in self.sides]
        head = _html_row('th scope="col"', self.header, styles)
        body = "".join(_html_row("td", row, styles) for row in self.rows[:most_rows])
        left_out = len(self.rows) - len(self.rows[:most_rows])
        notes = [*self.note.splitlines(), *[f"… and {left_out:,} more rows"] * bool(left_out)]
        below = "".join(f'<p style="{_NOTE}">{escape(note)}</p>' for note in notes)
        title = f'<caption style="{_CAPTION}">{escape(self.caption)}</caption>'
        table = f'<table style="{_TABLE}">{title}<thead>{head}</thead><tbody>{body}</tbody></table>'
        # Keys scroll what has the focus.
        frame = f'style="overflow-x:auto" tabindex="0" role="region" aria-label="{escape(self.caption)}"'
        return f"<div {frame}>{table}{below}</div>"

    def markdown(self, *, escaped: bool = False, right: str = "--:") -> str:
        """Write the table in Markdown; markup in its cells is escaped, unless they are `escaped` already."""
        lines = [[*map(str, row)] for row in (self.header, *self.rows)]
        if not escaped:
            lines = [[*map(markdown_text, line)] for line in lines]
        head, *body = [f"| {' | '.join(line)} |" for line in lines]
        rule = "|".join("---" if side == "<" else right for side in self.sides)
        return "\n".join([head, f"|{rule}|", *body])


def _html_row(tag: str, row: Sequence[object], styles: Sequence[str]) -> str:
    cells = [
        f"<{tag} {style}>{escape(str(cell).strip()).replace('\n', '<br>')}</{tag[:2]}>"
        for cell, style in zip(row, styles, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


class Result[Item](Sequence[Item]):
    """A table that a method returns: it is printed, displayed in notebooks, iterated over, and converted to a frame.

    A class of results has in `_COLUMNS` the names of its columns, or of attributes of its entries; `_ENTRIES` is the
    field of these. It may have its own `to_dict`, and its own `_grid`, the table to read.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> found = TreeClassifier("cart").fit([["red"], ["blue"]], ["no", "yes"]).unseen([["red"], ["mauve"]])
    >>> len(found), found[0]
    (1, {'feature': 'x0', 'tested': True, 'unseen': 1, 'missing': 0})
    >>> found.to_frame()
      feature  tested  unseen  missing
    0      x0    True       1        0
    """

    __slots__ = ("_columns", "_library")
    _columns: dict[str, list[Any]]
    _COLUMNS: ClassVar[tuple[str, ...]] = ()
    _ENTRIES: ClassVar[str | None] = None

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns, each with a value per entry of the result.

        Examples
        --------
        >>> from hornbeam.evaluation import reliability_curve
        >>> found = reliability_curve([False, True, True], [0.1, 0.9, 0.9], n_bins=2).to_dict()
        >>> list(found), found["weight"]
        (['predicted', 'observed', 'low', 'high', 'weight'], [1.0, 2.0])
        """
        if self._ENTRIES is None:
            return {name: getattr(self, name).tolist() for name in self._COLUMNS}
        return {name: [getattr(entry, name) for entry in self] for name in self._COLUMNS}

    def to_frame(self, library: Literal["pandas", "polars"] | None = None) -> Any:
        """Return the columns of `to_dict` as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            The library of the frame. Default: that of the rows, if they were in a frame; else pandas, or polars if
            pandas is not installed.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame

        Raises
        ------
        MissingExtraError
            If the library is not installed.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> TreeClassifier(smoothing=None).fit([[0], [1]], ["no", "yes"]).leaves().to_frame()[["node", "prediction"]]
           node prediction
        0     1         no
        1     2        yes
        """
        if library not in (None, *_FRAMES):
            raise ParameterError(f"library={shown(library)}: expected 'pandas', 'polars' or None.")
        return data_frame(self.to_dict(), getattr(self, "_library", None) if library is None else library)

    def _grid(self) -> Grid:
        """Return the table to read; by default all columns, with four digits of each number."""
        columns = self.to_dict()
        rows = [
            [f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row]
            for row in zip(*columns.values(), strict=True)
        ]
        caption = re.sub("(?<=[a-z])[A-Z]", lambda letter: f" {letter[0].lower()}", type(self).__name__)
        return Grid(caption, list(columns), rows, ">")

    def __len__(self) -> int:
        if self._ENTRIES is not None:
            return len(getattr(self, self._ENTRIES))
        return len(next(iter(self._all_columns().values())))

    def _all_columns(self) -> dict[str, list[Any]]:
        """Return the columns, which are computed once."""
        if not hasattr(self, "_columns"):
            object.__setattr__(self, "_columns", self.to_dict())
        return self._columns

    def _entry(self, at: int) -> Item:
        if self._ENTRIES is not None:
            return cast("Item", getattr(self, self._ENTRIES)[at])
        return cast("Item", {name: column[at] for name, column in self._all_columns().items()})

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | Sequence[Item]:
        numbers = range(len(self))[at]
        return self._entry(numbers) if isinstance(numbers, int) else [*map(self._entry, numbers)]

    def __repr__(self) -> str:
        return self._grid().text()

    def _repr_html_(self) -> str:
        return self._grid().html()

    def _from_rows(self, *given: Any) -> Self:
        """Set the library of `to_frame` to that of the first frame or series among the arguments."""
        libraries = (type(rows).__module__.partition(".")[0] for rows in given)
        library = next((name for name in libraries if name in _FRAMES), None)
        if library is not None:
            object.__setattr__(self, "_library", library)
        return self


def by_class(name: str, classes: Sequence[Label], values: Floats) -> dict[str, list[float]]:
    """Return a column per class, ``name_<class>``, as `hornbeam predict` writes them; of a numeric target, ``name``.

    Examples
    --------
    >>> import numpy as np
    >>> by_class("low", ("no", "yes"), np.array([[0.1, 0.6]])), by_class("low", (), np.array([[2.5]]))
    ({'low_no': [0.1], 'low_yes': [0.6]}, {'low': [2.5]})
    """
    names = [f"{name}_{label}" for label in classes] or [name]
    return {one: values[:, k].tolist() for k, one in enumerate(names)}


def code_span(text: str) -> str:
    """Put a text into a code span that nothing inside it can close, with `|` escaped for table cells."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return fence + pad + text.replace("|", "\\|") + pad + fence


def markdown_text(words: str) -> str:
    """Escape characters that are markup in Markdown or HTML, on one line without control characters."""
    whole = words.encode(errors="replace").decode()
    one_line = " ".join("".join(letter if letter.isprintable() else " " for letter in whole).split())
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]|#~!" else letter for letter in one_line)
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def data_frame(columns: dict[str, list[Any]], library: str | None = None) -> Any:
    """Make a data frame: of a library, or of pandas, or of polars if pandas is not installed."""
    wanted = _FRAMES if library is None else (library,)
    found = next((name for name in wanted if find_spec(name)), None)
    if found is None:
        raise MissingExtraError(
            f"A data frame needs {' or '.join(wanted)}. Install it: pip install 'hornbeam[frames]'."
        )
    return import_module(found).DataFrame(columns)
