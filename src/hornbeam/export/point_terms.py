"""Terms of a tree of two classes as whole-number points: the lines of a scorecard, and what they add up to.

A term becomes points of its categories (`LevelPoints`), of bins of its value (`BinPoints`), or points per step of
the value (`RampPoints`). Each has the printed lines, the points of a column of values, and `error`: the largest
difference from the points that are not rounded. A missing value has 0 points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor, inf, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.export.slope_text import NodeTerm, node_terms, step_text
from hornbeam.tree.condition import Condition
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import label_text, number_text
from hornbeam.typing import Floats

#: Added before rounding down: halves go up, also those that arithmetic on floats makes a little smaller.
HALF = 0.5 + 1e-9
_MOST_STEPS, _MOST_BINS = 20, 10  # of the widest range of a feature
_STEP_ERROR = 1.5  # points: half a point of rounding, and one of the points per step
_NARROW = 1e-6  # of its limits: narrower ranges have steps too small to read
_WIDTHS = (1e-250, 1e250)  # ranges that are divided into steps


def whole(points: Floats) -> Floats:
    """Round to whole numbers, halves up."""
    rounded: Floats = np.floor(points + HALF)
    return rounded


@dataclass(frozen=True, slots=True)
class ScoreTerm:
    """A line of a scorecard: points of a category, of a bin, or of the steps of a value.

    Parameters
    ----------
    feature : str
        The feature, as text; with its category or bin, if the points are those of one.
    points : float
        A whole number: points of the category or bin, or per step, or at the value `low`.
    step : float, optional
        The step. None for a category or bin, and for points at two values.
    low, high : float, optional
        Range that the value is limited to.
    reference : float, optional
        The value with 0 points.
    high_points : float, optional
        Points at the value `high`, if `points` are those at `low`; between the two the points rise in proportion.
    """

    feature: str
    points: float
    step: float | None = None
    low: float | None = None
    high: float | None = None
    reference: float | None = None
    high_points: float | None = None

    @property
    def text(self) -> str:
        """The points, with their step."""
        if self.step is not None:
            return f"{signed(self.points)} per +{step_text(self.step)}"
        return (
            signed(self.points)
            if self.high_points is None
            else f"{signed(self.points)} to {signed(self.high_points)}"
        )

    @property
    def within(self) -> str:
        """The range, as text; empty for a category or bin."""
        if self.low is None or self.high is None:
            return ""
        return f"{number_text(self.low)} to {number_text(self.high)}"


def signed(points: float) -> str:
    """Write whole points with their sign."""
    return f"{'−' if points < 0 else '+'}{abs(points):.0f}"


@dataclass(frozen=True, slots=True)
class LevelPoints:
    """Points of each category of a nominal or ordinal feature; `other` of a category that the schema does not have."""

    node: int
    term: NodeTerm
    points: tuple[float, ...]
    other: float
    error: float

    @property
    def every(self) -> tuple[float, ...]:
        """The points of all values."""
        return (*self.points, self.other)

    def of(self, values: NDArray[Any]) -> Floats:
        """Return the points of the values of a table column."""
        codes = values if self.term.feature.is_nominal else np.nan_to_num(values, nan=-1.0).astype(np.intp)
        found: Floats = np.array([*self.points, self.other, 0.0])[codes]
        return found

    def lines(self) -> Iterator[ScoreTerm]:
        """Write a line per category with a term of its own, or per range of ordered categories."""
        feature, name = self.term.feature, self.term.name
        if not feature.is_nominal:
            ends = [code + 0.5 for code, (one, next_) in enumerate(pairwise(self.points)) if one != next_]
            at = [0, *[ceil(end) for end in ends]]
            yield from _intervals(self.term, ends, [self.points[code] for code in at])
            return
        for code in self.term.codes:
            yield ScoreTerm(f"{name} = {label_text(feature.categories[code])}", self.points[code])
        yield ScoreTerm(f"{name}: another", self.other)


@dataclass(frozen=True, slots=True)
class BinPoints:
    """Points of each bin of a number: those up to the first of `cuts`, those above it, and so on."""

    node: int
    term: NodeTerm
    cuts: tuple[float, ...]
    points: tuple[float, ...]
    error: float

    @property
    def every(self) -> tuple[float, ...]:
        """The points of all values."""
        return self.points

    def of(self, values: NDArray[Any]) -> Floats:
        """Return the points of the values of a table column."""
        found = np.array(self.points)[np.searchsorted(self.cuts, values)]
        return np.where(np.isnan(values), 0.0, found)

    def lines(self) -> Iterator[ScoreTerm]:
        """Write a line per bin."""
        return _intervals(self.term, self.cuts, self.points)


@dataclass(frozen=True, slots=True)
class RampPoints:
    """Points that change with a number: ``start + change * (value - origin) / width``, rounded, with limits.

    They are printed as points per step from the value with 0 points; if not `per_step`, as those at both limits.
    """

    node: int
    term: NodeTerm
    low: float
    high: float
    start: float
    change: float
    origin: float
    width: float
    per_step: bool
    error: float

    @property
    def every(self) -> tuple[float, float]:
        """The lowest and highest points: those up to `low`, and from `high`."""
        low, high = self.of(np.array([self.low, self.high])).tolist()
        return low, high

    def of(self, values: NDArray[Any]) -> Floats:
        """Return the points of the values of a table column."""
        return np.nan_to_num(whole(self.exact(values)))

    def exact(self, values: NDArray[Any]) -> Floats:
        """Return the points before they are rounded."""
        limited = np.clip(values, self.low, self.high)
        found: Floats = self.start + self.change * ((limited - self.origin) / self.width)
        return found

    def lines(self) -> Iterator[ScoreTerm]:
        """Write one line."""
        if self.per_step:
            yield ScoreTerm(self.term.name, self.change, self.width, self.low, self.high, self.origin)
        else:
            low, high = self.every
            yield ScoreTerm(self.term.name, low, None, self.low, self.high, None, high)


type PointTerm = LevelPoints | BinPoints | RampPoints


class CardPoints(NamedTuple):
    """What the points of a row are computed from: its base points, and the points of each term of its path.

    `base` has those of each node, of a class with this `code` at `offset` plus `factor` times the log odds; `rules` the
    condition of each node where rows stop; `best` is the highest of a leaf.
    """

    terms: tuple[PointTerm, ...]
    base: Floats
    code: int
    offset: float
    factor: float
    rules: Mapping[int, str]
    best: float


def point_terms(tree: Tree, code: int, factor: float, bins: bool) -> list[PointTerm]:
    """Round all terms to points: `factor` points per unit of the log odds of a class of two, that with this `code`.

    The steps of a feature, or its bins, are the same at all nodes. With `bins`, a bin differs from the exact points by
    at most a quarter of the points that double the odds, unless that needs more than ten bins.
    """
    placed = [(node, term) for node in tree.slopes.nodes.tolist() for term in node_terms(tree, node)]
    sizes = {
        column: _step(
            [
                _Exact(term, code, factor)
                for _, term in placed
                if term.column == column and term.feature.is_numeric and term.low < term.high
            ],
            bins,
        )
        for column in {term.column for _, term in placed}
    }
    found = (
        _rounded(node, _Exact(term, code, factor), sizes[term.column], bins)
        for node, term in placed
        if term.codes or term.low < term.high
    )
    return list(found)


@dataclass(frozen=True, slots=True)
class _Exact:
    """The exact points of a term."""

    term: NodeTerm
    code: int
    factor: float

    def __call__(self, value: float) -> float:
        return self.factor * self.term.contrast(self.term.change(value), self.code)

    @property
    def ends(self) -> tuple[float, float]:
        return self.term.low, self.term.high

    @property
    def width(self) -> float:
        return self.term.high - self.term.low

    @property
    def between_integers(self) -> bool:
        return self.term.low == floor(self.term.low) and self.term.high == floor(self.term.high)


def _rounded(node: int, exact: _Exact, step: float | None, bins: bool) -> PointTerm:
    if not exact.term.feature.is_numeric:
        return _levels(node, exact)
    if bins or not _WIDTHS[0] < exact.width < _WIDTHS[1]:
        return _bins(node, exact, step)
    ramp = None if step is None else _steps(node, exact, step)
    return _two_values(node, exact) if ramp is None or ramp.error > _STEP_ERROR else ramp


def _step(terms: list[_Exact], bins: bool) -> float | None:
    """Choose a round step for all terms of a feature; None if no range can be divided.

    The smallest step for which the points per step of all wide ranges can be whole numbers; or the widest bins that
    are accurate enough.
    """
    widest = max((exact.width for exact in terms), default=0.0)
    farthest = max((abs(end) for exact in terms for end in exact.ends), default=0.0)
    if not (_WIDTHS[0] < widest < _WIDTHS[1] and widest > _NARROW * farthest):
        return None
    steps = _round_numbers(widest, all(exact.between_integers for exact in terms), bins)
    if bins:
        most = abs(terms[0].factor) * np.log(2.0) / 4
        fits = (
            step for step in reversed(steps) if max(_bins(0, exact, step).error for exact in terms) <= most
        )
        return next(fits, steps[0])
    wide = [exact for exact in terms if exact.width >= widest / _MOST_STEPS]

    def error(step: float) -> float:
        return max((ramp.error if (ramp := _steps(0, exact, step)) else inf) for exact in wide)

    return next((step for step in steps if error(step) <= _STEP_ERROR), steps[-1])


def _round_numbers(widest: float, between_integers: bool, bins: bool) -> list[float]:
    """List 1, 2, 5, 10, 20, ... that divide a range into a suitable number of parts; whole between integers."""
    least, largest = (widest / (_MOST_BINS - 1), widest / 2) if bins else (widest / _MOST_STEPS, 2.5 * widest)
    power = floor(log10(least))
    sizes = [float(f"{digit}e{at}") for at in range(power, power + 4) for digit in (1, 2, 5)]
    found = [size for size in sizes if least <= size <= largest and (size >= 1 or not between_integers)]
    return found or [1.0]


def _levels(node: int, exact: _Exact) -> LevelPoints:
    values = [exact(float(code)) for code in range(len(exact.term.feature.categories))]
    other = exact(-2.0) if exact.term.feature.is_nominal else 0.0
    *points, rounded = whole(np.array([*values, other])).tolist()
    error = max(abs(a - b) for a, b in zip([*values, other], [*points, rounded], strict=True))
    return LevelPoints(node, exact.term, tuple(points), rounded, error)


def _steps(node: int, exact: _Exact, step: float) -> RampPoints | None:
    """Round the points per step, the reference and the limits; None if the range is too narrow for the step."""
    decimals = 2 - floor(log10(step))
    low, high = (round(end, decimals) for end in exact.ends)
    reference = exact.term.reference(exact.code)
    if exact.width < step / _MOST_STEPS or reference is None:
        return None
    per = exact.factor * exact.term.contrast(exact.term.slope, exact.code) * step
    change = whole(np.array(per)).item()
    line = (0.0, change, round(reference, decimals) + 0.0, step)
    return _ramp(node, exact, low + 0.0, high + 0.0, line, per_step=True)


def _two_values(node: int, exact: _Exact) -> RampPoints:
    """Round the points at both ends of the range."""
    low, high = exact.ends
    start, end = whole(np.array([exact(low), exact(high)])).tolist()
    return _ramp(node, exact, low, high, (start, end - start, low, high - low), per_step=False)


def _ramp(
    node: int, exact: _Exact, low: float, high: float, line: tuple[float, float, float, float], per_step: bool
) -> RampPoints:
    ramp = RampPoints(node, exact.term, low, high, *line, per_step, error=0.0)
    corners = [*exact.ends, low, high]
    off = max(abs(a - exact(b)) for a, b in zip(ramp.exact(np.array(corners)).tolist(), corners, strict=True))
    return replace(ramp, error=off + HALF)


def _bins(node: int, exact: _Exact, step: float | None) -> BinPoints:
    """Cut the range at multiples of the step, between whole numbers at halves; a narrow range at one value."""
    low, high = exact.ends
    halves = step == 1 and exact.between_integers
    cuts: list[float] = []
    if step is not None:
        shift, decimals = (0.5 if halves else 0.0), max(0, -floor(log10(step)))
        first, last = (floor(end / step - shift) for end in exact.ends)
        multiples = [round((at + shift) * step, decimals + halves) for at in range(first, last + 2)]
        cuts = [cut for cut in multiples if low < cut < high]
    narrow = not cuts
    edges = [low, *(cuts or [_short_number(low, high)]), high]
    middles = [a / 2 + b / 2 for a, b in pairwise(edges)]
    if halves or narrow:
        middles[0], middles[-1] = low, high
    points = whole(np.array([exact(middle) for middle in middles])).tolist()
    error = max(
        abs(own - exact(edge)) for own, ends in zip(points, pairwise(edges), strict=True) for edge in ends
    )
    kept = [at for at, (one, other) in enumerate(pairwise(points)) if one != other]
    return BinPoints(
        node,
        exact.term,
        tuple(edges[at + 1] for at in kept),
        (*(points[at] for at in kept), points[-1]),
        error,
    )


def _short_number(low: float, high: float) -> float:
    """Choose a number with few decimals that is at least `low` and below `high`, near the middle."""
    middle = low / 2 + high / 2
    found = (round(middle, decimals) for decimals in range(17))
    return next((number for number in found if low <= number < high), low)


def _intervals(term: NodeTerm, ends: Iterable[float], points: Iterable[float]) -> Iterator[ScoreTerm]:
    """Write a line per interval, with its bounds as a condition; all values together are known ones."""
    bounds = [None, *ends, None]
    for (above, at_most), own in zip(pairwise(bounds), points, strict=True):
        condition = str(Condition(term.column, term.feature, above=above, at_most=at_most))
        yield ScoreTerm(condition, own)
