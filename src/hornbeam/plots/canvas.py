"""Axes to draw on, and the colours to draw with."""

from typing import TYPE_CHECKING, Any

from hornbeam.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLORS", "GREY", "MARKERS", "axes"]

# Okabe and Ito's colours, told apart by colour-blind eyes; marks and dashes tell them apart in print.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY = "#666666"


def axes(ax: Any = None, *, size: tuple[float, float] = (6.0, 4.5)) -> "Axes":
    """The axes given, or those of a new figure without frills."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise MissingExtraError(
                "Drawing needs matplotlib, which is not installed. Install it: pip install 'hornbeam[plots]'."
            ) from error
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    drawn: Axes = ax
    return drawn
