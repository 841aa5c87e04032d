"""Moves of one feature within a leaf with slopes that lead to another prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, inf, isnan, nextafter

from hornbeam.export.slope_text import LeafTerm, leaf_terms
from hornbeam.tree import Condition
from hornbeam.tree.condition import is_missing
from hornbeam.tree.tree import Tree

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

    `given` has the conditions of the path by feature: moved rows stay in the leaf. `reaches` tells whether a row is as
    wanted. Of a numeric feature a condition is a bound, rounded so that it can be read, up to which or from which the
    row is as wanted; of others it lists the categories.
    """
    for term in leaf_terms(tree, node):
        path = given.get(term.column, Condition(term.column, term.feature))

        def holds(value: float, at: int = term.column, path: Condition = path) -> bool:
            return path.holds(value) and reaches([*row[:at], value, *row[at + 1 :]])

        if term.feature.is_numeric:
            yield from _bounds(term, row[term.column], path, holds)
        else:
            codes = [code for code in range(len(term.feature.categories)) if holds(code)]
            if codes:
                yield replace(path, among=tuple(codes), missing=False)


def _bounds(
    term: LeafTerm, value: float, path: Condition, holds: Callable[[float], bool]
) -> Iterator[Condition]:
    """Find the nearest bound below the value, and above it; from a missing value, in the whole range of the term."""
    missing = is_missing(term.feature, value)
    unit = term.step / 100
    low = term.low
    if path.above is not None:
        low = max(
            low, _multiple(path.above, unit, lambda parts: floor(parts + 1), nextafter(path.above, inf))
        )
    high = term.high if path.at_most is None else min(term.high, path.at_most)
    for end, round_to in ((low, floor), (high, ceil)):
        start = (high if end == low else low) if missing else min(max(value, low), high)
        if low > high or isnan(end) or not holds(end):
            continue
        outside, inside = start, end
        if holds(start):  # only for a missing value: every value of the range is as wanted
            inside = start
        for _ in range(_HALVINGS):
            middle = outside + (inside - outside) / 2
            if holds(middle):
                inside = middle
            else:
                outside = middle
        rounded = round(_multiple(inside, unit, round_to, inside), 12)
        bound = rounded if low <= rounded <= high and holds(rounded) else inside
        if end == low:
            yield replace(path, at_most=bound, missing=False)
        else:
            yield replace(path, above=bound, missing=False)


def _multiple(value: float, unit: float, whole: Callable[[float], int], instead: float) -> float:
    """Round a value to a multiple of a unit, or return another if it is too large or infinite for that."""
    parts = value / unit
    return whole(parts) * unit if abs(parts) < _EXACT else instead
