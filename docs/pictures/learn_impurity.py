"""The pictures of the page "Impurity and gain": three curves, and two features of the restaurant."""

import re
from collections import Counter
from pathlib import Path

from svg import BLUE, GREY, ORANGE, Axes, curve, line, picture, text

from hornbeam.growing.impurity import impurity

PAGE = Path(__file__).parents[1] / "learn" / "impurity.md"
# Values of two features in the order of the lecture, and their columns in the table on the page.
PATRONS = (4, ("None", "Some", "Full"))
TYPE = (8, ("French", "Italian", "Thai", "Burger"))
UNIT, BAR, FLOOR = 26, 30, 160  # height of a visit, width of a bar, foot of the bars


def visits() -> list[list[str]]:
    """The rows of the restaurant table on the page, the class last."""
    page = PAGE.read_text(encoding="utf-8")
    table = re.search(r'>>> table = """\n(.*?)\.\.\. """', page, re.DOTALL)[1]
    return [row.removeprefix("...").split() for row in table.splitlines()]


def curves() -> str:
    axes = Axes(50, 36, 400, 240, (0, 1), (0, 1))
    share = [i / 100 for i in range(101)]
    ticks = (0, 0.25, 0.5, 0.75, 1)
    measures = (
        (30, "entropy, in bits", BLUE, False, [impurity([p, 1 - p]) for p in share]),
        (210, "Gini", ORANGE, False, [impurity([p, 1 - p], "gini") for p in share]),
        (330, "error", GREY, True, [min(p, 1 - p) for p in share]),
    )
    parts = [axes.frame("proportion of one of two classes", "impurity", ticks, ticks)]
    for x, name, colour, dashed, values in measures:
        parts += [
            axes.curve(zip(share, values, strict=True), colour, dashed=dashed),
            curve([(x, 345), (x + 36, 345)], colour, dashed=dashed),
            text(x + 44, 350, name, colour=colour, anchor="start", size=15),
        ]
    return picture("Entropy, Gini impurity and error of two classes", 470, 364, *parts)


def patrons_or_type() -> str:
    key = ((110, BLUE, "T: waited"), (240, ORANGE, "F: left"))
    parts = [bars("Patrons", *PATRONS, 68), bars("Type", *TYPE, 20, down=150)]
    for x, colour, words in key:
        parts += [
            f'<rect x="{x}" y="372" width="16" height="16" fill="{colour}"/>',
            text(x + 24, 385, words, anchor="start"),
        ]
    return picture("The twelve visits by Patrons and by Type", 424, 400, *parts)


def bars(
    name: str, column: int, values: tuple[str, ...], left: float, down: float = 0
) -> str:
    """Two bars for each value of a feature, its entropy below them, and the gain above all."""
    rows = visits()
    counts = Counter((row[column], row[-1]) for row in rows)
    step, remaining, parts = 96, 0.0, []
    for at, value in enumerate(values):
        middle = left + step * (at + 0.5)
        here = [counts[value, "T"], counts[value, "F"]]
        bits = impurity(here)
        remaining += sum(here) / len(rows) * bits
        for side, (n, colour) in enumerate(zip(here, (BLUE, ORANGE), strict=True)):
            x, height = middle - BAR + BAR * side, UNIT * n
            parts += [
                f'<rect x="{x}" y="{FLOOR - height}" width="{BAR - 2}" height="{height}" fill="{colour}"/>',
                text(x + BAR / 2 - 1, FLOOR - height - 5, str(n), size=13),
            ]
        parts += [
            text(middle, FLOOR + 20, value, size=15),
            text(
                middle,
                FLOOR + 40,
                f"{bits:.2g} bit{'s' * (bits != 1)}",
                colour="#555",
                size=13,
            ),
        ]
    gain = impurity(list(Counter(row[-1] for row in rows).values())) - remaining
    width = step * len(values)
    top = FLOOR - 32 - UNIT * max(counts.values())
    title = f"{name}: gain {gain:.4g} bits"
    parts += [
        line((left, FLOOR), (left + width, FLOOR)),
        text(left + width / 2, top, title, size=16),
    ]
    return f'<g transform="translate(0 {down})">{"".join(parts)}</g>'


PICTURES = {
    "learn-impurity-curves": curves,
    "learn-impurity-patrons-or-type": patrons_or_type,
}
