"""The ways of a row through the tree as text: a line for each node, and where and on what they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isnan

from hornbeam.explain.path import DecisionPath, PathStep
from hornbeam.export.prediction_text import mean_text
from hornbeam.export.wording import probability_text

__all__ = ["class_path_text", "mean_path_text"]

_MOST_PATHS = 5  # written of a row that went many
_MOST_SOURCES = 4  # written of those to one node
_HEAD = " node   rows  borrowed    raw  smoothed  because"


def class_path_text(paths: Sequence[DecisionPath], k: int) -> Iterator[str]:
    """Write the ways with the probabilities of one class, the largest share of the row first."""
    return _path_text(paths, _HEAD, lambda visits: _lines_of_rates(visits, k))


def mean_path_text(paths: Sequence[DecisionPath], level: float) -> Iterator[str]:
    """Write the ways with means and their intervals, the largest share of the row first."""
    sure = f"{100 * level:g} % interval"
    head = f" node   rows  borrowed       raw  smoothed     moved  {sure:<20}  because"
    return _path_text(paths, head, _lines_of_means)


def _path_text(
    paths: Sequence[DecisionPath], head: str, lines: Callable[[tuple[PathStep, ...]], Iterator[str]]
) -> Iterator[str]:
    for way in sorted(paths, key=lambda way: -way.share)[:_MOST_PATHS]:
        if way.share < 1:
            yield f"{100 * way.share:.1f} % of the row:"
        yield head
        yield from lines(way.visits)
        yield f"stops at {way.end}{_borrowed_text(way)}"
    if len(paths) > _MOST_PATHS:
        yield f"… and {len(paths) - _MOST_PATHS} more ways"


def _lines_of_rates(visits: tuple[PathStep, ...], k: int) -> Iterator[str]:
    for visit in visits:
        rate = visit.raw(k)
        raw = "  -  " if isnan(rate) else f"{rate:.3f}"
        known = f"{visit.node:>5} {visit.rows:>6}  {visit.borrowed:>8.1f}  {raw}"
        yield f"{known}  {probability_text(visit.belief[k]):>8}  {visit}"


def _lines_of_means(visits: tuple[PathStep, ...]) -> Iterator[str]:
    """A line for each node, with how far the test that led there moved the mean."""
    for above, visit in zip((None, *visits), visits, strict=False):
        moved = "" if above is None else f"{visit.belief[0] - above.belief[0]:+.4g}"
        raw = "-" if isnan(visit.raw(None)) else mean_text(visit.raw(None), 2)
        known = f"{visit.node:>5} {visit.rows:>6}  {visit.borrowed:>8.1f}  {raw:>8}"
        sure = f"{mean_text(visit.low[0], 2)} to {mean_text(visit.high[0], 2)}"
        yield f"{known}  {mean_text(visit.belief[0], 2):>8}  {moved:>8}  {sure:<20}  {visit}"


def _borrowed_text(way: DecisionPath) -> str:
    """Say who lent to the node where a way ends, the nearest first."""
    words = [str(loan) for loan in way.loans[:_MOST_SOURCES]]
    if len(way.loans) > _MOST_SOURCES:
        words.append(f"… {len(way.loans) - _MOST_SOURCES} more")
    return f"; lent: {', '.join(words)}" if words else ""
