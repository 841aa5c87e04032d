"""Build HTML from parts; all text is escaped unless it is `Markup`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from hornbeam.grid import Grid

_VOID = frozenset({"br", "col", "hr", "input", "link", "meta"})


class Markup(str):
    """Text that is HTML already, and is not escaped again."""

    __slots__ = ()


def element(name: str, /, *children: object, **attributes: object) -> Markup:
    """Write an element; of its children all but `Markup` is escaped.

    Attributes: ``class_`` for class, ``data_row`` for data-row. None leaves one out, True writes the name alone.

    Examples
    --------
    >>> print(element("a", "<i>", element("b", "&"), href='"x"', class_="y", id=None, hidden=True))
    <a href="&quot;x&quot;" class="y" hidden>&lt;i&gt;<b>&amp;</b></a>
    """
    opening = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{_escaped(value)}"')
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{opening}>")
    return Markup(f"<{name}{opening}>{joined(children)}</{name}>")


def joined(parts: Iterable[object]) -> Markup:
    """Concatenate parts; all but `Markup` is escaped."""
    return Markup("".join(part if isinstance(part, Markup) else _escaped(part) for part in parts))


def framed(grid: Grid) -> Markup:
    """Write a table with row names in its first column, below its caption, in a frame that scrolls."""
    kinds = ["text" if side == "<" else None for side in grid.sides]
    head = [
        element("th", name, class_=kind, scope="col") for name, kind in zip(grid.header, kinds, strict=True)
    ]
    body = [
        element(
            "tr",
            element("th", name, class_=kinds[0], scope="row"),
            *(element("td", cell, class_=kind) for cell, kind in zip(cells, kinds[1:], strict=True)),
        )
        for name, *cells in grid.rows
    ]
    table = element(
        "table",
        element("thead", element("tr", *head)),
        element("tbody", *body),
        class_="grid-table",
        aria_label=grid.caption,
    )
    frame = element("div", table, class_="scroll", tabindex=0, role="region", aria_label=grid.caption)
    return element("div", element("p", grid.caption, class_="grid-title"), frame, class_="grid-frame")


def _escaped(part: object) -> str:
    """Escape text for HTML; a lone surrogate, which cannot be encoded, becomes a question mark."""
    return escape(str(part)).encode(errors="replace").decode()
