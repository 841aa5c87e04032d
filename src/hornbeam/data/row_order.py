"""Rows in an order that depends on their content alone, and the units that are drawn or held out together."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.groups import copies_as_groups
from hornbeam.data.hashes import GOLDEN_GAMMA, as_integers, splitmix64, value_hash
from hornbeam.data.table import Table
from hornbeam.typing import Bits, Bools, Codes, Counts, Indices

_FEWEST_DISTINCT = 10  # different rows of a copied class or table
_REPEATED = 0.5  # share of the rows of an oversampled class that have a copy, at least
_MEAN_COPIES = 2.0  # of such a row, at least
_BY_CHANCE = 0.02  # share of the rows of the other classes that have a copy, at most
_MANY_VALUES = 0.5  # different values of some column for each different row: rows are not equal by chance
_ONE_TARGET = (
    0.8  # different values that have one target each, of all: rows are not the cells of a table of counts
)


def target_bits(table: Table) -> Counts | Indices:
    """Return the target as integers to hash."""
    target = table.target if table.numeric_target is None else table.numeric_target.values
    assert target is not None
    return as_integers(target)


def row_hash(codes: Codes, target: Counts | Indices, seed: int = 0) -> Bits:
    """Hash the codes and the target (`target_bits`) of every row; equal rows have equal hashes, in any order."""
    feature_number = np.arange(1, codes.shape[1] + 2, dtype=np.uint64)
    factor = splitmix64(feature_number * GOLDEN_GAMMA + np.full(1, seed, np.uint64))
    if target.dtype == np.int64:  # bits of floats, whose sign an even factor would lose
        factor[0] |= np.uint64(1)
    bits = (target.astype(np.uint64) + np.uint64(1)) * factor[0]
    bits += np.einsum("ij,j->i", codes, factor[1:])
    return splitmix64(bits)


def canonical_order(table: Table, codes: Codes) -> tuple[NDArray[np.intp], Bits]:
    """Return an order of rows that depends on their content alone, and the hash of each row of the table."""
    hashes = row_hash(codes, target_bits(table))
    keys = (hashes,) if table.weight is None else (table.weight, hashes)
    keys = (value_hash(table.columns), *keys)  # rows of equal codes may have different values
    if table.group is not None:  # equal rows of different groups
        keys = (unit_ranks(hashes, table), *keys)
    return np.lexsort(keys), hashes


def break_ties(hashes: Bits) -> Bits:
    """Make the hashes of equal rows different, so that a sample by hash does not take all or none of them."""
    if _has_no_repeats(hashes):
        return splitmix64(hashes)
    order = np.argsort(hashes, kind="stable")
    place, ordered = np.arange(len(hashes)), hashes[order]
    begin = np.maximum.accumulate(np.where(np.append(False, ordered[1:] == ordered[:-1]), 0, place))
    distinct = np.empty_like(hashes)
    distinct[order] = splitmix64(ordered + (place - begin).astype(np.uint64) * GOLDEN_GAMMA)
    return distinct


def unit_ranks(hashes: Bits, table: Table) -> Counts:
    """Number the units that are drawn or held out together, each row or each group of rows, by their hash.

    The hash of a group is the sum of those of its rows, so that neither the order of rows nor the names of groups
    matter. A row of weight 2 is added twice, as two rows are.
    """
    if table.group is not None:
        _, unit = np.unique(table.group, return_inverse=True)
        if table.weight is not None and table.unit == 1.0:
            hashes = hashes * table.weight.astype(np.uint64)
        total = np.zeros(int(unit.max(initial=-1)) + 1, np.uint64)
        np.add.at(total, unit, hashes)
        hashes = total
    order = np.argsort(break_ties(hashes), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank if table.group is None else rank[unit]


def first_units(ranks: Counts | Bits, n_rows: int) -> NDArray[np.intp]:
    """Return the rows of the first units: all rows of each, at most `n_rows`; of a larger first unit, some rows."""
    if n_rows >= len(ranks):
        return np.arange(len(ranks))
    left_out = np.partition(ranks, n_rows)[n_rows]
    rows = np.flatnonzero(ranks < left_out)
    return rows if len(rows) else np.flatnonzero(ranks == left_out)[:n_rows]


def keep_copies_together(table: Table) -> Table:
    """Return the table with copies as groups if rows have whole weights, or were copied; else as it is."""
    if not (rows_have_copies(table) or copied_classes(table)):
        return table
    return replace(table, group=copies_as_groups(table.columns, target_bits(table)))


def rows_have_copies(table: Table) -> bool:
    """Tell if whole weights are copies of rows, which are held out together; False if groups are known.

    In a table of counts they are numbers of different cases instead: the same values occur with several targets.
    """
    if table.weight is None or table.unit != 1.0 or table.weight.max() <= 1 or table.group is not None:
        return False
    _, first = np.unique(value_hash(table.columns, target_bits(table)), return_index=True)
    return _have_one_target(table, first)


def copied_classes(table: Table) -> tuple[int, ...]:
    """Find classes whose rows are copies of each other, where that is unmistakable; none if groups are known.

    At least half of the rows of such a class have an equal row, on average two or more of each different row,
    in a column with half as many values as there are different rows, or more; and at most 2 % of the rows of
    the other classes have one. All classes are found, or (0,) for a numeric target, if the whole table repeats:
    without weights, there are ten different values or more, four of five of them have one target, a column has as many
    values as above, and every row occurs twice, or three times and so on, or a multiple of that.
    In tables of few values other equal rows are common: they are different cases.
    """
    if (table.target is None and table.numeric_target is None) or table.group is not None:
        return ()
    if table.n_rows < 2 * _FEWEST_DISTINCT:
        return ()
    numbers = [column for column in table.columns if column.dtype.kind == "f"]
    if table.numeric_target is not None:
        numbers.append(table.numeric_target.values)
    if any(_has_no_repeats(column) for column in numbers):
        return ()
    hashes = value_hash(table.columns, target_bits(table))
    _, first, unit, copies = np.unique(hashes, return_index=True, return_inverse=True, return_counts=True)
    copied = copies[unit] > 1
    classes = () if table.target is None else _copied_classes(table, table.target, copied, first)
    if classes or table.weight is not None:
        return classes
    repeats = np.gcd.reduce(copies) > 1 and _has_many_values(table, first) and _have_one_target(table, first)
    return tuple(range(table.schema.n_outputs)) if repeats else ()


def _copied_classes(table: Table, target: Indices, copied: Bools, first: NDArray[np.intp]) -> tuple[int, ...]:
    """Find classes where at least half of the rows are copies, if at most 2 % of the rows of other classes are."""
    n_classes = table.schema.n_classes
    rows = np.bincount(target, minlength=n_classes)
    repeated = np.bincount(target, copied, n_classes)
    distinct = np.bincount(target[first], minlength=n_classes)
    found = (
        (repeated >= _REPEATED * rows) & (rows >= _MEAN_COPIES * distinct) & (distinct >= _FEWEST_DISTINCT)
    )
    others = ~found & (rows > 0)
    if not found.any() or not others.any() or repeated[others].sum() > _BY_CHANCE * rows[others].sum():
        return ()
    kept = first[found[target[first]]]
    return tuple(np.flatnonzero(found).tolist()) if _has_many_values(table, kept) else ()


def _has_many_values(table: Table, rows: NDArray[np.intp]) -> bool:
    """Tell if a column has half as many values as these different rows or more: equal rows are then copies."""
    return max(len(np.unique(column[rows])) for column in table.columns) >= _MANY_VALUES * len(rows)


def _have_one_target(table: Table, distinct: NDArray[np.intp]) -> bool:
    """Tell if the table is no table of counts: it has ten different rows of X or more, most of them with one target."""
    _, n_targets = np.unique(value_hash(table.columns)[distinct], return_counts=True)
    return len(n_targets) >= _FEWEST_DISTINCT and bool((n_targets == 1).mean() >= _ONE_TARGET)


def _has_no_repeats(column: NDArray[Any]) -> bool:
    ordered = np.sort(column)
    return bool((ordered[1:] > ordered[:-1]).all())


def n_units(table: Table) -> int:
    """Count the groups of a table; without groups its rows, a row of weight 2 twice."""
    if table.n_groups is not None:
        return table.n_groups
    return table.n_rows if table.weight is None or table.unit != 1.0 else int(table.weight.sum())
