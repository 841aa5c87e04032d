"""Axes to draw on, the colours to draw with, and words that are drawn as they are."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hornbeam.errors import import_extra
from hornbeam.export.people.palette import CLASS_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AS_IT_IS", "COLORS", "DARK", "GREY", "MARKERS", "PALE", "axes", "legend", "text_width"]

# The colours of classes in another order, for lines: pale ones last. Marks and dashes tell them apart in print.
COLORS = tuple(CLASS_COLOURS[i] for i in (0, 5, 2, 3, 1, 4))
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY, PALE, DARK = "#666666", "#cfd3d6", "#1a1a1a"
AS_IT_IS = {"parse_math": False, "usetex": False}
"""Of a text that holds names from the data: a dollar is a dollar, and a backslash no command of TeX."""


def axes(ax: Any = None, *, size: tuple[float, float] = (6.0, 4.5)) -> "Axes":
    """The axes given, or those of a new figure without frills."""
    if ax is None:
        import_extra("matplotlib", "plots", "Drawing")
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    drawn: Axes = ax
    return drawn


def legend(ax: Any, **where: Any) -> Any:
    """Add a legend whose names are drawn as they are; one that is there already is made anew."""
    made = ax.legend(frameon=False, **where)
    for text in made.get_texts():
        text.update(AS_IT_IS)
    return made


@lru_cache(maxsize=4096)
def text_width(words: str, size: float) -> float:
    """How wide words are drawn, in points; a little more, for the rounding of letters to pixels."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(words, FontProperties(size=size), ismath=False)
    return 1.05 * float(width)
