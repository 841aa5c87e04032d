"""Tables as aligned text, as HTML for notebooks and as Markdown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_TABLE = "border-collapse:collapse;color:inherit;font:13px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums"
_CAPTION = "text-align:left;padding:2px 10px;font-weight:600"
_LINE = "border-bottom:1px solid rgba(127,127,127,.4);padding:2px 10px;vertical-align:top;text-align:"
_SIDES = {"<": "left", ">": "right;white-space:nowrap"}
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
        return f'<div style="overflow-x:auto">{table}{below}</div>'

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
