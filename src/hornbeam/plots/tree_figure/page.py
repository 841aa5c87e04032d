"""Sizes on the page of a drawn tree, in points."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SMALLEST_FONT", "Page"]

SMALLEST_FONT = 6.5  # of a test
_MAX_HEIGHT = 1700.0  # of a new figure
_MAX_PITCH, _DENSE_PITCH = 26.0, 12.5  # from line to line; below the second some texts have no room
_ROW_COUNT_PITCH = 15.0  # from this pitch on, inner nodes have their number of rows
_LETTER_HEIGHT = 1.17  # as a part of the font size
_REST = 80.0  # for legend, heads and caption
_TERM = 10.0  # height of each term of a leaf


@dataclass(frozen=True, slots=True)
class Page:
    """Sizes of lines, letters and bars.

    `pitch` is the distance from line to line in points; `shows_rows`: inner nodes have their number of rows.
    """

    pitch: float
    font: float
    shows_rows: bool

    @classmethod
    def of(cls, n_lines: int, height: float | None = None, n_terms: int = 0) -> Page:
        """Choose sizes for this number of lines with room for terms, in a new figure or in a given height."""
        terms = n_terms * _TERM
        if height is not None:
            pitch = min(max(_MAX_PITCH, terms), max(height - _REST, 1.0) / n_lines)
        else:
            least = max(_DENSE_PITCH, terms, 380 / n_lines)
            pitch = min(max(_MAX_PITCH, terms), least, _MAX_HEIGHT / n_lines)
        return cls(pitch, min(9.0, max(SMALLEST_FONT, 0.52 * pitch)), pitch >= _ROW_COUNT_PITCH)

    @property
    def dense(self) -> bool:
        """Whether lines are too close for all texts."""
        return self.pitch < _DENSE_PITCH

    def has_room(self, n_terms: int) -> bool:
        """Whether a line is high enough for this number of terms."""
        return self.pitch >= n_terms * _TERM

    @property
    def above(self) -> float:
        """Height of a test over a branch, in lines."""
        return (_LETTER_HEIGHT * self.font + 0.5 + self.widest_branch / 2) / self.pitch

    @property
    def below(self) -> float:
        """Height of a feature's name under a branch, in lines."""
        return (_LETTER_HEIGHT * self.font + 1.0) / self.pitch

    @property
    def thickness(self) -> float:
        """Height of a bar."""
        return min(0.5 * self.pitch, self.font) if self.pitch > 4 else self.pitch

    @property
    def widest_branch(self) -> float:
        """Width of a branch that all rows take."""
        return max(3.0, min(0.28 * self.pitch, 7.0))

    @property
    def small(self) -> float:
        """Size of small letters."""
        return self.font - 1.5

    @property
    def node_bar(self) -> float:
        """Width of the bar on a node."""
        return 1.8 * self.font

    @property
    def bend(self) -> float:
        """Distance from the text of one column to that of the next: the bar of a node, and the curve."""
        return self.node_bar + 2.0 * self.font
