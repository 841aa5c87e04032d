"""A table of text cells, written as HTML or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hornbeam.export.people.markdown import markdown_text
from hornbeam.reporting.markup import Markup, element

__all__ = ["Grid", "around"]


@dataclass(frozen=True, slots=True)
class Grid:
    r"""A table with row names in its first column.

    Parameters
    ----------
    title : str
        What the table shows.
    heads : sequence of str
        Names of the columns.
    rows : sequence of sequences of str
        Cells, a row after another.
    text : sequence of int, default ()
        Columns of words, beside the first; the others hold numbers.

    Examples
    --------
    >>> print(Grid("Sizes", ["name", "rows"], [["a|b", "3"]]).markdown())
    | name | rows |
    |---|--:|
    | a\|b | 3 |
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: Sequence[int] = ()

    def html(self) -> Markup:
        """Write the title and the table, in a frame that scrolls."""
        body = [
            element("tr", self._cell("th", 0, row[0], scope="row"), *self._cells(row)) for row in self.rows
        ]
        heads = [self._cell("th", at, head, scope="col") for at, head in enumerate(self.heads)]
        table = element(
            "table",
            element("thead", element("tr", *heads)),
            element("tbody", *body),
            class_="grid-table",
            aria_label=self.title,
        )
        frame = element("div", table, class_="scroll", tabindex=0, role="region", aria_label=self.title)
        return element("div", element("p", self.title, class_="grid-title"), frame, class_="grid-frame")

    def markdown(self) -> str:
        """Write the table in Markdown, without its title."""
        rule = ["---" if self._is_text(at) else "--:" for at in range(len(self.heads))]
        lines = [self.heads, *self.rows]
        written = [f"| {' | '.join(map(markdown_text, line))} |" for line in lines]
        return "\n".join([written[0], f"|{'|'.join(rule)}|", *written[1:]])

    def _cells(self, row: Sequence[str]) -> list[Markup]:
        return [self._cell("td", at, cell) for at, cell in enumerate(row) if at]

    def _cell(self, kind: str, at: int, words: str, **attributes: str) -> Markup:
        return element(kind, words, class_="text" if self._is_text(at) else None, **attributes)

    def _is_text(self, at: int) -> bool:
        return at == 0 or at in self.text


def around(value: float, low: float, high: float, digits: int = 3) -> str:
    """Format a number with its interval; a dash for a missing one.

    Examples
    --------
    >>> around(0.25, 0.2, 0.31), around(float("nan"), 0.0, 1.0), around(-1.0, float("-inf"), float("inf"))
    ('0.250 (0.200 to 0.310)', '–', '−1.000')
    """
    if value != value:
        return "–"
    predicted = f"{value:.{digits}f}"
    if high - low < float("inf"):
        predicted += f" ({low:.{digits}f} to {high:.{digits}f})"
    return predicted.replace("-", "−")
