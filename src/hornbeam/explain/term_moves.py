"""Moves of one feature within a node with slopes that lead to another prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, floor, inf, isnan, nextafter

from hornbeam.export.slope_text import NodeTerm, path_terms
from hornbeam.tree import Condition
from hornbeam.tree.condition import is_missing
from hornbeam.tree.tree import Tree

_PARTS = 16  # of each range between two limits: a narrower band of wanted values may be missed
_HALVINGS = 60  # of a range: enough for every bit of a double
_EXACT = 2.0**53  # integers below fit a double


def term_moves(
    tree: Tree,
    node: int,
    row: Sequence[float],
    given: Mapping[int, Condition],
    reaches: Callable[[list[float]], bool],
) -> Iterator[Condition]:
    """Find the smallest moves of a single feature, within the limits of its term, after which a row is as wanted.

    `given` has the conditions of the path by feature: moved rows stay at the node. `reaches` tells whether a row is as
    wanted. Of a numeric feature a condition is a bound, rounded so that it can be read, up to which or from which the
    row is as wanted; of others it lists the categories.
    """
    by_feature: dict[int, list[NodeTerm]] = {}
    for term in path_terms(tree, node):
        by_feature.setdefault(term.column, []).append(term)
    for column, terms in by_feature.items():
        feature = terms[0].feature
        path = given.get(column, Condition(column, feature))

        def holds(value: float, at: int = column, path: Condition = path) -> bool:
            return path.holds(value) and reaches([*row[:at], value, *row[at + 1 :]])

        if feature.is_numeric:
            yield from _bounds(terms, row[column], path, holds)
        else:
            codes = [code for code in range(len(feature.categories)) if holds(code)]
            if codes:
                yield replace(path, among=tuple(codes), missing=False)


def _bounds(
    terms: list[NodeTerm], value: float, path: Condition, holds: Callable[[float], bool]
) -> Iterator[Condition]:
    """Find the nearest values below the value, and above it; from a missing value, in the whole range of the terms.

    Values are tried on a grid, and the bounds looked for beside it. Between the limits of its terms a feature changes
    each score by a straight line; with several terms there may be a band of values as wanted, with others beyond it.
    """
    missing = is_missing(terms[0].feature, value)
    unit = min(term.step for term in terms) / 100
    limits = sorted({limit for term in terms for limit in (term.low, term.high)})
    low = limits[0]
    if path.above is not None:
        low = max(
            low, _multiple(path.above, unit, lambda parts: floor(parts + 1), nextafter(path.above, inf))
        )
    high = limits[-1] if path.at_most is None else min(limits[-1], path.at_most)
    for end, round_to, back in ((low, floor, ceil), (high, ceil, floor)):
        start = (high if end == low else low) if missing else min(max(value, low), high)
        if low > high or isnan(end):
            continue
        points = _grid(start, end, limits)
        wanted = [holds(point) for point in points]
        if not any(wanted):
            continue
        first = wanted.index(True)
        last = next((at for at in range(first, len(points)) if not wanted[at]), len(points)) - 1

        def bound(outside: float, inside: float, whole: Callable[[float], int]) -> tuple[float, float]:
            """Find the last value as wanted, rounded so that it is one, and the next that is not."""
            outside, inside = _between(outside, inside, holds)
            rounded = round(_multiple(inside, unit, whole, inside), 12)
            return (rounded if low <= rounded <= high and holds(rounded) else inside), outside

        near, _ = bound(points[max(first - 1, 0)], points[first], round_to)
        above, at_most = (path.above, near) if end == low else (near, path.at_most)
        if last + 1 < len(points):  # a band: beyond it the row is not as wanted
            far, beyond = bound(points[last + 1], points[last], back)
            if end == high:
                at_most = far
            else:
                above = far if far < near else beyond
        if above is None or at_most is None or above < at_most:
            yield replace(path, above=above, at_most=at_most, missing=False)


def _grid(start: float, end: float, limits: list[float]) -> list[float]:
    """Return values from `start` to `end`, among them the limits between them."""
    least, most = min(start, end), max(start, end)
    corners = [least, *[limit for limit in limits if least < limit < most], most]
    points = [
        one + (other - one) / _PARTS * part for one, other in pairwise(corners) for part in range(_PARTS)
    ]
    points.append(most)
    return points if end == most else points[::-1]


def _between(outside: float, inside: float, holds: Callable[[float], bool]) -> tuple[float, float]:
    """Halve the range between a value that is not as wanted and one that is."""
    for _ in range(_HALVINGS):
        middle = outside + (inside - outside) / 2
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return outside, inside


def _multiple(value: float, unit: float, whole: Callable[[float], int], instead: float) -> float:
    """Round a value to a multiple of a unit, or return another if it is too large or infinite for that."""
    parts = value / unit
    return whole(parts) * unit if abs(parts) < _EXACT else instead
