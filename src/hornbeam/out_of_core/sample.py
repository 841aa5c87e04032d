"""A random sample of rows that does not depend on the engine or the order of partitions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.engine import Engine
from hornbeam.data.hashes import GOLDEN_GAMMA, splitmix64
from hornbeam.data.row_order import first_units
from hornbeam.data.sources import Partition, Source, has_groups
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.typing import Bits, Counts

_LARGEST = 2**64 - 1
_SPARE = 8  # standard deviations of the number of rows below a bound


def draw_sample(source: Source, engine: Engine, n_rows: int, seed: int = 0) -> Table:
    """Read a sample of the rows of a source into memory: those with the smallest hashes.

    The hash of a row depends on its position in the source alone, so no rows are read to compute it. Tasks read only
    rows that are likely to be chosen: those below a bound that a few more than `n_rows` are expected to have. If too
    few have it, a chance of 1 in 10**15, the bound is doubled.

    If rows belong to groups, the hash is that of the group: whole groups are drawn, with at most `n_rows` rows
    together. All rows are read for that.
    """
    if n_rows < 1:
        raise ParameterError(f"n_rows={n_rows}: expected a sample of at least 1 row.")
    enough = (n_rows + _SPARE * (sqrt(n_rows) + 8)) / max(source.n_rows, 1)
    bound = _LARGEST if enough >= 1 else int(enough * _LARGEST)
    while True:
        [drawn] = engine.reduce(_draw, source.partitions(), (source, seed, bound))
        if bound == _LARGEST or sum(len(some.hash) for some in drawn) > n_rows:
            return _join(drawn, n_rows, source)
        bound = min(2 * bound, _LARGEST)


def draw_numbers(begin: int, end: int, seed: int = 0) -> Bits:
    """Hash the position of each row from `begin` up to `end`; no two are equal."""
    place = np.arange(begin + 1, end + 1, dtype=np.uint64)
    return splitmix64(place * GOLDEN_GAMMA + splitmix64(np.full(1, seed, np.uint64)))


@dataclass(slots=True)
class _Drawn:
    """Candidate rows of one partition; `_join` removes the columns from their list to save memory."""

    place: Counts
    hash: Bits
    columns: list[NDArray[Any]]
    rest: Table


def _draw(partitions: Sequence[Partition], shared: tuple[Source, int, int]) -> list[list[_Drawn]]:
    """Read the rows whose hashes are at most the bound: a task of the engine."""
    source, seed, bound = shared
    drawn = []
    whole = has_groups(source)
    for partition in partitions:
        rows = source.read(partition) if whole else None
        if rows is None or rows.group is None:
            hashes = draw_numbers(partition.begin, partition.end, seed)
        else:
            hashes = splitmix64(rows.group.view(np.uint64) + splitmix64(np.full(1, seed, np.uint64)))
        chosen = np.flatnonzero(hashes <= np.uint64(bound))
        if len(chosen):
            some = source.read(partition, rows=chosen) if rows is None else rows.take(chosen)
            drawn.append(
                _Drawn(
                    partition.begin + chosen, hashes[chosen], list(some.columns), replace(some, columns=())
                )
            )
    return [drawn]


def _join(drawn: list[_Drawn], n_rows: int, source: Source) -> Table:
    """Make a table of the rows with the smallest hashes, column by column."""
    if not drawn:
        raise DataError("the source has no rows of positive weight, expected some to draw a sample from")
    hashes, place = (np.concatenate([getattr(some, name) for some in drawn]) for name in ("hash", "place"))
    chosen = first_units(hashes, n_rows)
    chosen = chosen[np.argsort(place[chosen])]
    columns = []
    for feature in range(source.schema.n_features):
        columns.append(np.concatenate([some.columns[feature] for some in drawn])[chosen])
        for some in drawn:
            some.columns[feature] = columns[-1][:0]
    first = drawn[0].rest
    target = [some.rest.target for some in drawn if some.rest.target is not None]
    weight = [some.rest.weight for some in drawn if some.rest.weight is not None]
    values = [some.rest.numeric_target.values for some in drawn if some.rest.numeric_target is not None]
    group = [some.rest.group for some in drawn if some.rest.group is not None]
    return Table(
        source.schema,
        tuple(columns),
        np.concatenate(target)[chosen] if target else None,
        np.concatenate(weight)[chosen] if weight else None,
        first.unit,
        None,
        first.names,
        first.class_weight,
        None
        if first.numeric_target is None
        else replace(first.numeric_target, values=np.concatenate(values)[chosen]),
        group=np.concatenate(group)[chosen] if group else None,
    )
