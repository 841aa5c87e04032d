"""Moves of one feature within a node with slopes that lead to another prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, inf, isnan, nextafter

from hornbeam.export.slope_text import NodeTerm, path_terms
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
    """Find the nearest bound below the value, and above it; from a missing value, in the whole range of the terms.

    Between the limits of its terms a feature changes each score by a straight line, so there one bound is looked for.
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
    for end, round_to in ((low, floor), (high, ceil)):
        start = (high if end == low else low) if missing else min(max(value, low), high)
        if low > high or isnan(end) or not holds(end):
            continue
        inside = outside = end
        between = [limit for limit in limits if min(start, end) < limit < max(start, end)]
        for outside in [*(between if end == low else reversed(between)), start]:
            if not holds(outside):
                break
            inside = outside
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
