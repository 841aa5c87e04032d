"""The table beside a drawn tree: the probabilities of every leaf as a bar and as text, and its terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hornbeam.export.people.display_subset import DisplaySubset
from hornbeam.export.people.palette import bar, bars, on_scale
from hornbeam.export.slope_text import path_terms_texts
from hornbeam.export.wording import interval_text, prediction_text
from hornbeam.plots.canvas import DARK, GREY, VERBATIM, text_width
from hornbeam.tree.words import probability_head, shortened
from hornbeam.typing import Bools, Floats

_MAX_CLASS = 24  # letters of a class
_MAX_TERM = 80  # letters of a term
_LEFT_OUT = 0.5  # per cent of the rows of all leaves on each side of a scale of values
_TERM_FONT = 0.83  # of the letters of terms, as a part of the others


def draw_bars(
    ax: Any, bars: Iterable[tuple[float, float, Floats, float]], width: float, height: float
) -> Any:
    """Draw bars of class probabilities as one collection: left edge, middle, probabilities and opacity of each."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    corners, colours = [], []
    for left, middle, belief, alpha in bars:
        low, high = middle - height / 2, middle + height / 2
        for colour, begin, end in bar(belief):
            x, to = left + begin * width, left + end * width
            corners.append([(x, low), (to, low), (to, high), (x, high)])
            colours.append(to_rgba(colour, alpha))
    return ax.add_collection(PolyCollection(corners, facecolors=colours, linewidths=0, zorder=3))


@dataclass(frozen=True, slots=True, eq=False)
class Densities:
    """Densities of a number at some nodes, on one scale of values from `low` to `high`.

    `heights` is of shape (n_nodes, n_parts), each row with a largest value of 1.
    """

    low: float
    high: float
    heights: Floats

    @classmethod
    def of(cls, quantiles: Floats, n_parts: int) -> Self:
        """Count the quantiles of each node, of shape (n_nodes, n_steps), in equal parts of the scale.

        The scale leaves out the outermost values of all nodes, which would make it long.
        """
        low, high = np.percentile(quantiles, [_LEFT_OUT, 100 - _LEFT_OUT]).tolist()
        ends = np.linspace(low, high if high > low else low + 1.0, n_parts + 1)
        counts = np.stack([np.histogram(values, ends)[0] for values in quantiles])
        return cls(ends.item(0), ends.item(-1), counts / counts.max(axis=1, keepdims=True).clip(1))

    @property
    def middles(self) -> Floats:
        """The middle of each part, from 0 to 1."""
        middles: Floats = (np.arange(self.heights.shape[1]) + 0.5) / self.heights.shape[1]
        return middles

    def place(self, values: Floats) -> Floats:
        """Convert values to places from 0 to 1; those outside to the nearest end."""
        places: Floats = ((values - self.low) / (self.high - self.low)).clip(0.0, 1.0)
        return places


@dataclass(frozen=True, slots=True, eq=False)
class LeafTable:
    """The cells of the table, and their widths in points.

    `low` and `high` are intervals of the shown nodes, None leaves them out. `code` is the class of interest, whose
    probability every leaf has beside the class it decides for; None: the probability of the latter. `has_terms`: there
    is a column of terms. `bar_letters`: width of a bar, in letters. `densities` of the nodes of the whole tree take the
    place of the bars.
    """

    shown: DisplaySubset
    font: float
    low: Floats | None
    high: Floats | None
    level: float | None
    code: int | None = None
    has_terms: bool = False
    bar_letters: float = 7.0
    densities: Densities | None = None

    @property
    def heads(self) -> tuple[str, str, str, str, str]:
        """The heads of the columns."""
        interval = "" if self.level is None else f"{100 * self.level:g} % interval"
        tree = self.shown.tree
        prediction = ("", "mean") if tree.is_regression else ("class", "prob.")
        if self.code is not None:
            prediction = ("decision", probability_head(tree.schema.classes[self.code], _MAX_CLASS))
        return *prediction, interval, "rows", "changes within the leaf" if self.has_terms else ""

    def cells(self, leaf: int) -> tuple[str, str, str, str, str]:
        """The prediction of a leaf, its interval, its rows and its terms, one per line.

        A folded subtree has its number of leaves instead of the interval.
        """
        tree, hidden = self.shown.tree, self.shown.hidden.item(leaf)
        interval = f"+{hidden:,} leaves" if hidden else ""
        if not hidden and self.low is not None and self.high is not None:
            interval = interval_text(tree, self.low[leaf], self.high[leaf], leaf, 2, self.code)
        terms = path_terms_texts(tree, [leaf], self.code, once=True)[0] if self.has_terms else []
        written = "\n".join(shortened(term, _MAX_TERM) for term in terms)
        return (
            *prediction_text(tree, leaf, 2, _MAX_CLASS, self.code),
            interval,
            f"{tree.rows[leaf]:,}",
            written,
        )

    @property
    def bar_width(self) -> float:
        """Width of the bar of probabilities."""
        return self.bar_letters * self.font

    def columns(self, leaves: list[int]) -> list[float]:
        """The right edge of each column, from the left edge of the table."""
        rows = [self.heads, *(self.cells(leaf) for leaf in leaves)]
        edges, at = [], self.bar_width
        for at_column, column in enumerate(zip(*rows, strict=True)):
            font = self._fonts[at_column]
            width = max(text_width(line, font) for cell in column for line in cell.split("\n"))
            at += width + self.font if width else 0.0
            edges.append(at)
        return edges

    @property
    def _fonts(self) -> list[float]:
        """The size of the letters in each column."""
        return [self.font] * 4 + [_TERM_FONT * self.font]

    def draw(
        self, ax: Any, left: float, y: dict[int, float], has_text: Bools, head: float, thickness: float
    ) -> list[Any]:
        """Draw a bar for every leaf at its y, and the cells of leaves with room for text; return the texts."""
        written = {leaf: middle for leaf, middle in y.items() if has_text[leaf]}
        edges = self.columns(list(written))
        places = [
            (left + self.bar_width + self.font, "left"),
            *((left + edge, "right") for edge in edges[1:4]),
            (left + edges[3] + self.font, "left"),
        ]
        texts = []
        for leaf, middle in [(-1, head), *written.items()]:
            cells = self.heads if leaf < 0 else self.cells(leaf)
            colour = GREY if leaf < 0 or self.shown.hidden[leaf] else DARK
            style = {"va": "center_baseline", "color": colour, **VERBATIM}
            several = {"va": "center", "linespacing": 1.05}
            texts += [
                ax.text(x, middle, cell, ha=side, fontsize=font, **style | (several if "\n" in cell else {}))
                for cell, font, (x, side) in zip(cells, self._fonts, places, strict=True)
                if cell
            ]
        self.draw_leaf_bars(ax, left, y, thickness)
        return texts

    def draw_leaf_bars(self, ax: Any, left: float, y: dict[int, float], thickness: float) -> None:
        """Draw a bar for every leaf at its y, with its interval where a line can show it."""
        if self.densities is not None:
            self._draw_densities(ax, left, y, thickness, self.densities)
            return
        tree, hidden, width = self.shown.tree, self.shown.hidden, self.bar_width
        belief = bars(tree)
        # A folded subtree is pale: its prediction is an average over its leaves.
        drawn = ((left, middle, belief[leaf], 0.45 if hidden[leaf] else 1.0) for leaf, middle in y.items())
        draw_bars(ax, drawn, width, thickness)
        if (tree.is_regression or tree.n_classes == 2) and self.low is not None and self.high is not None:
            leaves = [leaf for leaf in y if not hidden[leaf]]
            bounds = (self.low[leaves, 0], self.high[leaves, 0])
            begin, end = (left + width * (on_scale(tree, at) if tree.is_regression else at) for at in bounds)
            thin = max(0.6, 0.12 * self.font)
            # A white border, or the line would be lost on dark bars, in grey above all.
            for colour, width in (("white", 3 * thin), (DARK, thin)):
                ax.hlines([y[leaf] for leaf in leaves], begin, end, color=colour, linewidth=width, zorder=4)

    def _draw_densities(
        self, ax: Any, left: float, y: dict[int, float], thickness: float, densities: Densities
    ) -> None:
        """Draw the density of each leaf, with a line at its mean."""
        from matplotlib.collections import PolyCollection
        from matplotlib.colors import to_rgba

        tree, hidden, width = self.shown.tree, self.shown.hidden, self.bar_width
        x = left + width * np.repeat(np.linspace(0.0, 1.0, densities.heights.shape[1] + 1), 2)
        leaves, foot = list(y), np.array([*y.values()]) + thickness / 2
        shapes = [
            np.column_stack([x, low - thickness * np.pad(np.repeat(height, 2), 1)])
            for low, height in zip(foot, densities.heights[self.shown.node[leaves]], strict=True)
        ]
        colours = [to_rgba(GREY, 0.45 if hidden[leaf] else 0.8) for leaf in leaves]
        ax.add_collection(PolyCollection(shapes, facecolors=colours, linewidths=0, zorder=3))
        mean = left + width * densities.place(tree.belief[leaves, 0])
        ax.vlines(mean, foot - thickness, foot, color=DARK, linewidth=max(0.8, 0.15 * self.font), zorder=4)
