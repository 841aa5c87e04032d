"""The cut points of numeric features.

One pass over the rows, the *census*, finds the distinct values of a feature if they are few; then each value has its
own bin. Otherwise it counts cells, and neighbouring cells are merged into bins of nearly equal size. The cuts do not
depend on the order and grouping of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hornbeam.data.binning.cells import LIGHT_CELL, Cells, census_cells, divide
from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition, Source
from hornbeam.kernels.census import Census, Entries, Keys, floats_of, shortest_between, to_equal_bins
from hornbeam.typing import Floats

FEATURES_AT_ONCE = 64  # features of one census


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The edges of one numeric feature, and its distinct values if each has its own bin."""

    edges: Floats
    values: Floats | None


def fit_cuts(source: Source, engine: Engine, features: Sequence[int], max_bins: int) -> list[Cut]:
    """Cut numeric or ordinal features into at most `max_bins` bins each; weights have no effect.

    A feature with no more than `max_bins` distinct values gets a bin for each. An edge between two values is
    the shortest decimal in the middle half between them.
    """
    cuts: list[Cut] = []
    for begin in range(0, len(features), FEATURES_AT_ONCE):
        batch = tuple(features[begin : begin + FEATURES_AT_ONCE])
        [census] = engine.reduce(
            take_census, source.partitions(), (source, batch, max_bins), combine=Census.merge
        )
        entries = census.entries()
        batch_cuts = cuts_between_values(entries)
        crowded = np.flatnonzero(entries.full).tolist()
        cells = divide(source, engine, {batch[at]: census_cells(entries, at) for at in crowded}, max_bins)
        for at, cut in zip(crowded, cuts_between_cells(cells, max_bins), strict=True):
            batch_cuts[at] = cut
        cuts += batch_cuts
    return cuts


def take_census(partitions: Sequence[Partition], shared: tuple[Source, tuple[int, ...], int]) -> list[Census]:
    """Task: count the distinct values, or cells, of some partitions."""
    source, features, limit = shared
    census = Census(len(features), limit)
    for partition in partitions:
        census.add(source.read(partition, features).columns)
    return [census]


def cuts_between_values(entries: Entries) -> list[Cut]:
    """Return an edge between any two neighbouring values of each feature; no edges for a full feature."""
    keys, starts = entries.keys, entries.starts
    if entries.full.any():
        lengths = np.diff(starts)
        keys = keys[np.repeat(~entries.full, lengths)]
        starts = np.cumsum([0, *np.where(entries.full, 0, lengths)])
    values = floats_of(keys)
    features = [values[begin:end] for begin, end in pairwise(starts.tolist())]
    return [Cut(edges, own) for edges, own in zip(edges_between_values(features), features, strict=True)]


def edges_between_values(features: Sequence[Floats]) -> tuple[Floats, ...]:
    """Return an edge between any two neighbouring values of each feature."""
    # All features at once; the edge between the last value of a feature and the first of the next is left out.
    ends = np.cumsum([len(values) for values in features]).tolist()
    values = np.concatenate([*features, [np.inf]])
    edges = shortest_between(values[:-1], values[1:])
    return tuple(
        [
            edges[end - len(one) : max(end - 1, end - len(one))]
            for one, end in zip(features, ends, strict=True)
        ]
    )


def cuts_between_cells(features: list[Cells], max_bins: int) -> list[Cut]:
    """Return the edges that merge cells into bins of nearly equal size."""
    if not features:
        return []
    gaps = [gaps_between_bins(cells, max_bins) for cells in features]
    left, right = (np.concatenate(sides) for sides in zip(*gaps, strict=True))
    edges = shortest_between(floats_of(left), floats_of(right))
    ends = np.cumsum([len(left) for left, _ in gaps])
    return [Cut(run, None) for run in np.split(edges, ends[:-1])]


def gaps_between_bins(cells: Cells, max_bins: int) -> tuple[Keys, Keys]:
    """Return the keys between which each edge of a feature must be.

    That is from the last key of a bin's last cell up to the first key of the next cell. If that cell has only a small
    part of the rows of its bin, the edge may be inside it, to be a shorter number, unless the next cell is a value
    with its own bin.
    """
    last = to_equal_bins(cells.count, max_bins)
    rows = np.cumsum(cells.count)
    bins = np.diff(rows[last], prepend=0)
    slides = (LIGHT_CELL * cells.count[last] <= bins) & (cells.count[last + 1] <= rows[-1] // max_bins)
    return np.where(slides, cells.low[last], cells.high[last]), cells.low[last + 1]
