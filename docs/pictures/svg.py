"""Parts of SVG pictures: text, boxes, lines, curves and axes.

Blue, orange and grey can be told apart by everybody, and no picture needs its colours to be read.
"""

from collections.abc import Iterable, Sequence

BLUE, ORANGE, GREY = "#2166ac", "#d95f02", "#7f7f7f"


def text(
    x: float,
    y: float,
    words: str,
    *,
    colour: str = "#222",
    size: int = 14,
    anchor: str = "middle",
) -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">{words}</text>'


def box(
    x: float, y: float, words: str, colour: str, width: float = 84, size: int = 14
) -> str:
    shape = f'<rect x="{x - width / 2}" y="{y - 17}" width="{width}" height="34" rx="5" fill="white"'
    return f'{shape} stroke="{colour}" stroke-width="2"/>' + text(
        x, y + 0.36 * size, words, colour=colour, size=size
    )


def line(
    a: tuple[float, float],
    b: tuple[float, float],
    colour: str = GREY,
    *,
    arrow: bool = False,
) -> str:
    head = ' marker-end="url(#head)"' if arrow else ""
    ends = f'x1="{a[0]}" y1="{a[1]}" x2="{b[0]}" y2="{b[1]}"'
    return f'<line {ends} stroke="{colour}" stroke-width="2"{head}/>'


def picture(title: str, width: int, height: int, *parts: str) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="sans-serif"><title>{title}</title>'
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0 10 5 0 10z" fill="{GREY}"/></marker></defs>'
        f'<rect width="{width}" height="{height}" fill="white"/>'
    )
    return "\n".join([head, *parts, "</svg>\n"])


def curve(
    points: Iterable[tuple[float, float]], colour: str, *, dashed: bool = False
) -> str:
    """A line through points, rounded so that the picture has the same bytes on every machine."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'


class Axes:
    """A rectangle of the picture with a scale on each axis.

    Parameters
    ----------
    left, top, width, height
        The rectangle.
    x, y
        The lowest and the highest value on each axis.
    """

    def __init__(
        self,
        left: float,
        top: float,
        width: float,
        height: float,
        x: tuple[float, float],
        y: tuple[float, float],
    ) -> None:
        self.left, self.top, self.width, self.height = left, top, width, height
        self.x, self.y = x, y

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is in the picture."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return (
            round(self.left + self.width * across, 1),
            round(self.top + self.height * (1 - up), 1),
        )

    def frame(
        self,
        x_label: str,
        y_label: str,
        x_ticks: Sequence[float] = (),
        y_ticks: Sequence[float] = (),
    ) -> str:
        """Two axes with ticks and labels."""
        bottom = self.top + self.height
        corner = (self.left, bottom)
        parts = [
            line((self.left, self.top), corner),
            line(corner, (self.left + self.width, bottom)),
            text(self.left + self.width / 2, bottom + 40, x_label, size=13),
            text(self.left, self.top - 10, y_label, size=13, anchor="start"),
        ]
        parts += [
            text(self.at(tick, self.y[0])[0], bottom + 18, f"{tick:g}", size=12)
            for tick in x_ticks
        ]
        parts += [
            text(
                self.left - 8,
                self.at(self.x[0], tick)[1] + 4,
                f"{tick:g}",
                size=12,
                anchor="end",
            )
            for tick in y_ticks
        ]
        return "".join(parts)

    def curve(
        self,
        points: Iterable[tuple[float, float]],
        colour: str,
        *,
        dashed: bool = False,
    ) -> str:
        """A line through points given on the two scales."""
        return curve((self.at(*point) for point in points), colour, dashed=dashed)
