"""Decision paths as text: a line per node and term, then where the path stops and what that node borrowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isnan

from hornbeam.explain.path import DecisionPath
from hornbeam.export.prediction_text import mean_text
from hornbeam.export.wording import probability_text

__all__ = ["class_path_text", "mean_path_text"]

_MOST_PATHS = 5  # printed for a row with many paths
_MOST_SOURCES = 4  # of borrowed rows, printed for one node
_HEAD = " node   rows  borrowed    raw  smoothed  because"


def class_path_text(paths: Sequence[DecisionPath], k: int) -> Iterator[str]:
    """Write the paths with the probabilities of class k, the largest share of the row first."""
    return _path_text(paths, _HEAD, lambda path: _probability_lines(path, k))


def mean_path_text(paths: Sequence[DecisionPath], level: float) -> Iterator[str]:
    """Write the paths with means and their intervals, the largest share of the row first."""
    interval = f"{100 * level:g} % interval"
    head = f" node   rows  borrowed       raw  smoothed     moved  {interval:<20}  because"
    return _path_text(paths, head, _mean_lines)


def _path_text(
    paths: Sequence[DecisionPath], head: str, lines: Callable[[DecisionPath], Iterator[str]]
) -> Iterator[str]:
    for path in sorted(paths, key=lambda path: -path.share)[:_MOST_PATHS]:
        if path.share < 1:
            yield f"{100 * path.share:.1f} % of the row:"
        yield head
        yield from lines(path)
        yield f"stops at {path.end}{_borrowed_text(path)}"
    if len(paths) > _MOST_PATHS:
        yield f"… and {len(paths) - _MOST_PATHS} more paths"


def _probability_lines(path: DecisionPath, k: int) -> Iterator[str]:
    for step in path.steps:
        raw = "  -  " if isnan(step.raw(k)) else f"{step.raw(k):.3f}"
        counts = f"{step.node:>5} {step.rows:>6}  {step.borrowed:>8.1f}  {raw}"
        yield f"{counts}  {probability_text(step.belief[k]):>8}  {step}"
    for term in path.terms:
        yield f"{' ' * len(counts)}  {probability_text(term.belief[k]):>8}  {term.text(k)}"


def _mean_lines(path: DecisionPath) -> Iterator[str]:
    """Write a line per node and term, with the change of the mean from the line above."""
    for above, step in zip((None, *path.steps), path.steps, strict=False):
        moved = "" if above is None else f"{step.belief[0] - above.belief[0]:+.4g}"
        raw = "-" if isnan(step.raw(None)) else mean_text(step.raw(None), 2)
        counts = f"{step.node:>5} {step.rows:>6}  {step.borrowed:>8.1f}  {raw:>8}"
        interval = f"{mean_text(step.low[0], 2)} to {mean_text(step.high[0], 2)}"
        yield f"{counts}  {mean_text(step.belief[0], 2):>8}  {moved:>8}  {interval:<20}  {step}"
    for term in path.terms:
        mean = f"{mean_text(term.belief[0], 2):>8}  {f'{term.change[0]:+.4g}':>8}"
        yield f"{' ' * len(counts)}  {mean}  {' ' * 20}  {term.text(0)}"


def _borrowed_text(path: DecisionPath) -> str:
    """List the sources of the rows that the last node borrowed, the nearest first."""
    sources = [str(source) for source in path.borrowed_from[:_MOST_SOURCES]]
    if len(path.borrowed_from) > _MOST_SOURCES:
        sources.append(f"… {len(path.borrowed_from) - _MOST_SOURCES} more")
    return f"; borrowed {', '.join(sources)}" if sources else ""
