"""The ways of a row through the tree as text: a line for each node, and where and on what they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isnan

from hornbeam.explain.path import Path, Visit
from hornbeam.export.answers import mean
from hornbeam.export.words import probability

__all__ = ["ways_of_class", "ways_of_mean"]

_MOST_WAYS = 5  # written of a row that went many
_MOST_LOANS = 4  # written of those to one node
_HEAD = " node   rows  borrowed    raw  smoothed  because"


def ways_of_class(paths: Sequence[Path], k: int) -> Iterator[str]:
    """Write the ways with the probabilities of one class, the largest share of the row first."""
    return _ways(paths, _HEAD, lambda visits: _lines_of_rates(visits, k))


def ways_of_mean(paths: Sequence[Path], level: float) -> Iterator[str]:
    """Write the ways with means and their intervals, the largest share of the row first."""
    sure = f"{100 * level:g} % interval"
    head = f" node   rows  borrowed       raw  smoothed     moved  {sure:<20}  because"
    return _ways(paths, head, _lines_of_means)


def _ways(
    paths: Sequence[Path], head: str, lines: Callable[[tuple[Visit, ...]], Iterator[str]]
) -> Iterator[str]:
    for way in sorted(paths, key=lambda way: -way.share)[:_MOST_WAYS]:
        if way.share < 1:
            yield f"{100 * way.share:.1f} % of the row:"
        yield head
        yield from lines(way.visits)
        yield f"stops at {way.end}{_lent(way)}"
    if len(paths) > _MOST_WAYS:
        yield f"… and {len(paths) - _MOST_WAYS} more ways"


def _lines_of_rates(visits: tuple[Visit, ...], k: int) -> Iterator[str]:
    for visit in visits:
        rate = visit.raw(k)
        raw = "  -  " if isnan(rate) else f"{rate:.3f}"
        known = f"{visit.node:>5} {visit.rows:>6}  {visit.borrowed:>8.1f}  {raw}"
        yield f"{known}  {probability(visit.belief[k]):>8}  {visit}"


def _lines_of_means(visits: tuple[Visit, ...]) -> Iterator[str]:
    """A line for each node, with how far the test that led there moved the mean."""
    for above, visit in zip((None, *visits), visits, strict=False):
        moved = "" if above is None else f"{visit.belief[0] - above.belief[0]:+.4g}"
        raw = "-" if isnan(visit.raw(None)) else mean(visit.raw(None), 2)
        known = f"{visit.node:>5} {visit.rows:>6}  {visit.borrowed:>8.1f}  {raw:>8}"
        sure = f"{mean(visit.low[0], 2)} to {mean(visit.high[0], 2)}"
        yield f"{known}  {mean(visit.belief[0], 2):>8}  {moved:>8}  {sure:<20}  {visit}"


def _lent(way: Path) -> str:
    """Say who lent to the node where a way ends, the nearest first."""
    words = [str(loan) for loan in way.loans[:_MOST_LOANS]]
    if len(way.loans) > _MOST_LOANS:
        words.append(f"… {len(way.loans) - _MOST_LOANS} more")
    return f"; lent: {', '.join(words)}" if words else ""
