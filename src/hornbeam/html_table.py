"""Small tables for notebooks: escaped, readable by screen readers, in the colours of the page around them."""

from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import islice

__all__ = ["html_table"]

_TABLE = "border-collapse:collapse;color:inherit;font:13px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums"
_LINE = "border-bottom:1px solid rgba(127,127,127,.4);padding:2px 10px;vertical-align:top;text-align:"
_NUMBER = "right;white-space:nowrap"
_NOTE = "font:13px/1.5 system-ui,sans-serif;margin:4px 10px"


def html_table(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    text: Collection[str] = (),
    note: str = "",
    most_rows: int | None = 100,
) -> str:
    """Write a table as HTML.

    Parameters
    ----------
    caption : str
        What the table shows.
    header : sequence of str
        The names of its columns.
    rows : iterable of sequence
        The cells, which are escaped.
    text : collection of str, default ()
        Names of columns that hold text; others are aligned to the right.
    note : str, default ""
        A sentence below the table.
    most_rows : int or None, default 100
        Rows beyond this number are only counted; None: all rows are written.

    Returns
    -------
    str

    Examples
    --------
    >>> page = html_table("Leaves", ["node", "rule"], [[3, "age < 30 & paid"]], text=["rule"])
    >>> "<td" in page and "age &lt; 30 &amp; paid" in page and "<caption" in page and 'scope="col"' in page
    True
    """
    sides = [f'style="{_LINE}{"left" if name in text else _NUMBER}"' for name in header]
    waiting = iter(rows)
    head = _row(
        [f'<th scope="col" {side}>{_cell(name)}</th>' for name, side in zip(header, sides, strict=True)]
    )
    body = "".join(
        _row([f"<td {side}>{_cell(cell)}</td>" for cell, side in zip(row, sides, strict=True)])
        for row in islice(waiting, most_rows)
    )
    left_out = sum(1 for _ in waiting)
    notes = [note] * bool(note) + [f"… and {left_out:,} more rows"] * bool(left_out)
    below = "".join(f'<p style="{_NOTE}">{_cell(words)}</p>' for words in notes)
    title = f'<caption style="text-align:left;padding:2px 10px;font-weight:600">{_cell(caption)}</caption>'
    table = f'<table style="{_TABLE}">{title}<thead>{head}</thead><tbody>{body}</tbody></table>'
    return f'<div style="overflow-x:auto">{table}{below}</div>'


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _cell(value: object) -> str:
    return escape(str(value))
