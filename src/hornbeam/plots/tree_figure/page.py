"""How large everything is on the page of a drawn tree, in points."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SMALLEST", "Page"]

SMALLEST = 6.5  # size of the smallest letters of a test
_TALLEST = 1700.0  # of a new figure
_WIDEST, _NARROWEST = 26.0, 12.5  # from line to line; in narrower lines some words have no room
_COUNTED = 15.0  # from line to line from which on the rows of inner nodes are said
_LETTER = 1.17  # how high a letter stands, as a part of its size
_REST = 80.0  # for legend, heads and caption


@dataclass(frozen=True, slots=True)
class Page:
    """How large everything is.

    Parameters
    ----------
    pitch : float
        Points from line to line.
    font : float
        Size of letters.
    counted : bool
        Whether the rows of inner nodes are said.
    """

    pitch: float
    font: float
    counted: bool

    @classmethod
    def of(cls, n_lines: int, height: float | None = None) -> Page:
        """Choose sizes for so many lines, in a new figure or in a given height."""
        if height is not None:
            pitch = min(_WIDEST, max(height - _REST, 1.0) / n_lines)
        else:
            pitch = min(_WIDEST, max(_NARROWEST, 380 / n_lines), _TALLEST / n_lines)
        return cls(pitch, min(9.0, max(SMALLEST, 0.52 * pitch)), pitch >= _COUNTED)

    @property
    def dense(self) -> bool:
        """Whether lines are too near for all words."""
        return self.pitch < _NARROWEST

    @property
    def above(self) -> float:
        """Lines that the test takes over a branch."""
        return (_LETTER * self.font + 0.5 + self.widest_branch / 2) / self.pitch

    @property
    def below(self) -> float:
        """Lines that the name of a feature takes under a branch."""
        return (_LETTER * self.font + 1.0) / self.pitch

    @property
    def thickness(self) -> float:
        """Of a bar."""
        return min(0.5 * self.pitch, self.font) if self.pitch > 4 else self.pitch

    @property
    def widest_branch(self) -> float:
        """Of a branch that all rows take."""
        return max(3.0, min(0.28 * self.pitch, 7.0))

    @property
    def small(self) -> float:
        """Size of the letters of lesser things."""
        return self.font - 1.5

    @property
    def node_bar(self) -> float:
        """Width of the bar on a node."""
        return 1.8 * self.font

    @property
    def bend(self) -> float:
        """Points from the words of one column to those of the next: the bar of a node, and the curve."""
        return self.node_bar + 2.0 * self.font
