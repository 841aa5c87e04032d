"""Axes, colours and text of all figures; the tree of an estimator."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hornbeam.errors import ParameterError, import_extra, shown
from hornbeam.export.people.palette import CLASS_COLOURS
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import single_tree, unwrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The class colours in another order, for lines: pale ones last. Markers and dashes distinguish them in print.
COLORS = tuple(CLASS_COLOURS[i] for i in (0, 5, 2, 3, 1, 4))
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (1, 3)))
GREY, PALE, DARK = "#666666", "#cfd3d6", "#1a1a1a"
VERBATIM = {"parse_math": False, "usetex": False}
"""Settings of a text with names from the data, so that a dollar or backslash is not read as TeX."""


def axes(ax: Any = None, *, size: tuple[float, float] = (6.0, 4.5)) -> "Axes":
    """Return the given axes, or those of a new figure, without top and right spine."""
    if ax is None:
        import_extra("matplotlib", "plots", "Drawing")
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    if not hasattr(ax, "spines"):
        raise ParameterError(f"ax={shown(ax)}: expected axes of matplotlib, or None for a new figure.")
    ax.spines[["top", "right"]].set_visible(False)
    drawn: Axes = ax
    return drawn


def new_figure(figure: Any = None, *, size: tuple[float, float]) -> "Figure":
    """Return the given figure, or a new one of this size."""
    if figure is None:
        import_extra("matplotlib", "plots", "Drawing")
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=size, layout="constrained")
    if not hasattr(figure, "add_gridspec"):
        raise ParameterError(
            f"figure={shown(figure)}: expected a figure of matplotlib, or None for a new one."
        )
    drawn: Figure = figure
    return drawn


def legend(ax: Any, **where: Any) -> Any:
    """Add a legend whose names are not read as TeX; an existing legend is replaced."""
    new = ax.legend(frameon=False, **where)
    for text in new.get_texts():
        text.update(VERBATIM)
    return new


@lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """Compute the width of a text in points, with 5 % more for the rounding of letters to pixels."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    return 1.05 * float(width)


def fitted_tree(estimator: Any) -> Tree:
    """Return the tree of a fitted estimator, also at the end of a pipeline, or the tree itself."""
    return single_tree(unwrap(estimator).model)
