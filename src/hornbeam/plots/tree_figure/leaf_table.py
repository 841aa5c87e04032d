"""The table beside a drawn tree: for every leaf its probabilities, as a bar and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hornbeam.export.people.display_subset import DisplaySubset
from hornbeam.export.people.palette import bar, bars, on_scale
from hornbeam.export.prediction_text import interval_text, prediction_text
from hornbeam.plots.canvas import AS_IT_IS, DARK, GREY, text_width
from hornbeam.typing import Bools, Floats

__all__ = ["Bars", "LeafTable"]

_LONGEST = 24  # letters of a class


class Bars:
    """Bars of class probabilities, drawn all at once."""

    def __init__(self) -> None:
        self._corners: list[list[tuple[float, float]]] = []
        self._colours: list[tuple[str, float]] = []

    def add(
        self, left: float, middle: float, width: float, height: float, belief: Floats, alpha: float = 1.0
    ) -> None:
        """Lay out a belief, from `left` on and around the line at `middle`."""
        low, high = middle - height / 2, middle + height / 2
        for colour, begin, end in bar(belief):
            x, to = left + begin * width, left + end * width
            self._corners.append([(x, low), (to, low), (to, high), (x, high)])
            self._colours.append((colour, alpha))

    def draw(self, ax: Any) -> Any:
        """Put them on the axes; give the collection."""
        from matplotlib.collections import PolyCollection
        from matplotlib.colors import to_rgba

        colours = [to_rgba(colour, alpha) for colour, alpha in self._colours]
        return ax.add_collection(PolyCollection(self._corners, facecolors=colours, linewidths=0, zorder=3))


@dataclass(frozen=True, slots=True, eq=False)
class LeafTable:
    """What is said of the leaves, and how wide it is, in points.

    Parameters
    ----------
    folded : DisplaySubset
    font : float
        Size of the letters.
    low, high : float64 arrays or None
        Intervals of the shown nodes; None leaves them out.
    level : float
        Of the intervals.
    code : int, optional
        The class of interest, whose probability is said of every leaf; the class it decides for if not given.
    """

    folded: DisplaySubset
    font: float
    low: Floats | None
    high: Floats | None
    level: float
    code: int | None = None

    @property
    def heads(self) -> tuple[str, str, str, str]:
        """What stands over the columns."""
        sure = "" if self.low is None else f"{100 * self.level:g} % interval"
        return (
            ("", "mean", sure, "rows") if self.folded.tree.is_regression else ("class", "prob.", sure, "rows")
        )

    def cells(self, leaf: int) -> tuple[str, str, str, str]:
        """What a leaf answers, the interval of that, and its rows; of a folded part, how many leaves there are."""
        tree, hidden = self.folded.tree, self.folded.hidden.item(leaf)
        sure = f"+{hidden:,} leaves" if hidden else ""
        if not hidden and self.low is not None and self.high is not None:
            sure = interval_text(tree, self.low, self.high, leaf, 2, self.code)
        return *prediction_text(tree, leaf, 2, _LONGEST, self.code), sure, f"{tree.rows[leaf]:,}"

    @property
    def bar_width(self) -> float:
        """Of the bar of probabilities."""
        return 7 * self.font

    def columns(self, leaves: list[int]) -> list[float]:
        """The right edge of each column, from the left edge of the table."""
        rows = [self.heads, *(self.cells(leaf) for leaf in leaves)]
        edges, at = [], self.bar_width
        for column in zip(*rows, strict=True):
            width = max(text_width(cell, self.font) for cell in column)
            at += width + self.font if width else 0.0
            edges.append(at)
        return edges

    def draw(
        self, ax: Any, left: float, y: dict[int, float], said: Bools, head: float, thickness: float
    ) -> list[Any]:
        """Draw a bar for every leaf at its y, and write the table of those that have room; give the texts."""
        told = {leaf: middle for leaf, middle in y.items() if said[leaf]}
        edges = self.columns(list(told))
        places = [
            (left + self.bar_width + self.font, "left"),
            *((left + edge, "right") for edge in edges[1:]),
        ]
        texts = []
        for leaf, middle in [(-1, head), *told.items()]:
            cells = self.heads if leaf < 0 else self.cells(leaf)
            colour = GREY if leaf < 0 or self.folded.hidden[leaf] else DARK
            style = {"va": "center_baseline", "fontsize": self.font, "color": colour, **AS_IT_IS}
            texts += [
                ax.text(x, middle, cell, ha=side, **style)
                for cell, (x, side) in zip(cells, places, strict=True)
                if cell
            ]
        self._draw_bars(ax, left, y, thickness)
        return texts

    def _draw_bars(self, ax: Any, left: float, y: dict[int, float], thickness: float) -> None:
        tree, hidden, drawn, width = self.folded.tree, self.folded.hidden, Bars(), self.bar_width
        belief = bars(tree)
        for leaf, middle in y.items():
            # What is folded is pale: an average of answers, and nobody's answer.
            drawn.add(left, middle, width, thickness, belief[leaf], 0.45 if hidden[leaf] else 1.0)
        drawn.draw(ax)
        if (tree.is_regression or tree.n_classes == 2) and self.low is not None and self.high is not None:
            sure = [leaf for leaf in y if not hidden[leaf]]
            bounds = (self.low[sure, 0], self.high[sure, 0])
            begin, end = (left + width * (on_scale(tree, at) if tree.is_regression else at) for at in bounds)
            thin = max(0.6, 0.12 * self.font)
            ax.hlines([y[leaf] for leaf in sure], begin, end, color=DARK, linewidth=thin, zorder=4)
