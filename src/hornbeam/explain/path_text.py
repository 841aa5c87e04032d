"""Decision paths as tables and text: a row per node and term, then where the path stops and what that node borrowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from hornbeam.explain.path import DecisionPath
from hornbeam.export.wording import mean_text, probability_text
from hornbeam.grid import Grid

__all__ = ["path_grid", "path_text"]

_MOST_PATHS = 5  # printed for a row with many paths
_MOST_SOURCES = 4  # of borrowed rows, printed for one node


def path_text(paths: Sequence[DecisionPath], k: int | None, level: float) -> Iterator[str]:
    """Write the paths, the largest share of the row first."""
    for path in sorted(paths, key=lambda path: -path.share)[:_MOST_PATHS]:
        if path.share < 1:
            yield f"{100 * path.share:.1f} % of the row:"
        yield path_grid(path, k, level).text()
    if len(paths) > _MOST_PATHS:
        yield f"… and {len(paths) - _MOST_PATHS} more paths"


def path_grid(path: DecisionPath, k: int | None, level: float) -> Grid:
    """Tabulate a path with the probabilities of class k; for a numeric target (None), with means and intervals."""
    counts = [" node", " rows", "borrowed"]
    note = f"stops at {path.end}{_borrowed_text(path)}"
    rows: list[Sequence[object]] = []
    if k is not None:
        for step in path.steps:
            raw = "-  " if isnan(step.raw(k)) else f"{step.raw(k):.3f}"
            predicted = probability_text(step.belief[k])
            rows.append([step.node, step.rows, f"{step.borrowed:.1f}", raw, predicted, step])
        rows += [[""] * 4 + [probability_text(term.belief[k]), term.text(k)] for term in path.terms]
        return Grid("", [*counts, "  raw", "smoothed", "because"], rows, ">>>>><", note)
    for above, step in zip((None, *path.steps), path.steps, strict=False):
        moved = "" if above is None else f"{step.belief[0] - above.belief[0]:+.4g}"
        raw = "-" if isnan(step.raw(None)) else mean_text(step.raw(None), 2)
        interval = f"{mean_text(step.low[0], 2)} to {mean_text(step.high[0], 2)}"
        mean = mean_text(step.belief[0], 2)
        rows.append([step.node, step.rows, f"{step.borrowed:.1f}", raw, mean, moved, interval, step])
    for term in path.terms:
        rows.append([""] * 4 + [mean_text(term.belief[0], 2), f"{term.change[0]:+.4g}", "", term.text(0)])
    header = [*counts, f"{'raw':>8}", "smoothed", f"{'moved':>8}", f"{f'{100 * level:g} % interval':<20}"]
    return Grid("", [*header, "because"], rows, ">>>>>><", note)


def _borrowed_text(path: DecisionPath) -> str:
    """List the sources of the rows that the last node borrowed, the nearest first."""
    sources = [str(source) for source in path.borrowed_from[:_MOST_SOURCES]]
    if len(path.borrowed_from) > _MOST_SOURCES:
        sources.append(f"… {len(path.borrowed_from) - _MOST_SOURCES} more")
    return f"; borrowed {', '.join(sources)}" if sources else ""
