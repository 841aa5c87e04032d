"""Updates of the evidence on the same skeleton: add rows, remove rows, decay.

`add_rows` counts more rows, `remove_rows` subtracts rows that were counted, `decay` multiplies all evidence by a
factor. Splits and gains stay the same; belief becomes raw frequencies or means, to be smoothed again. Counts are
integers, so removing rows undoes adding them exactly, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import ldexp

import numpy as np

from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.tree.evidence.count import Counted, check_schema, count_at_nodes, integer_weights, with_counts
from hornbeam.tree.evidence.standardised import loss_of
from hornbeam.tree.skeleton import EVERY_CHILD
from hornbeam.tree.tree import Step, Tree, node_weight
from hornbeam.tree.walk import evidence_stopping, pull_up
from hornbeam.typing import Bools, Counts, Floats

_MAX_EVIDENCE = 2.0**62  # steps in a tree (`hornbeam.tree.check`)
_BLOCK = 2.0**49  # steps counted at once: their sums are exact in float64
_ROUNDING = 1e-9  # relative, of sums of squares
_DECAY_BITS = 48  # bits of the total evidence, enough for many decays


def add_rows(tree: Tree, table: Table, *, shares: Counts | None = None) -> Tree:
    """Add rows to the evidence of a tree.

    Parameters
    ----------
    tree : Tree
    table : Table
        Rows read with the tree's schema, and their target; its unit is a whole number of the tree's.
    shares : int64 array of shape (n_nodes,), optional
        Weights that rows with a missing value are split by where they go to every child
        (`hornbeam.tree.evidence.fractional.known_weight`). Default: the evidence of the tree. To remove these rows
        again, pass the same weights.

    Returns
    -------
    Tree
        In the unit of `tree`, with raw belief.

    Raises
    ------
    DataError
        If the table was read with another schema, has no target, or weighs too much. The units of a numeric target
        are chosen in `fit`: they have room for at least as many rows again of the same size.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton
    >>> from hornbeam.tree.evidence.count import count_rows
    >>> x, y = np.array([[20.0], [25.0], [40.0], [50.0]]), ["no", "yes", "yes", "yes"]
    >>> tree = count_rows(Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan]), Table.read(x, y))
    >>> more = add_rows(tree, Table.read([[35.0], [np.nan]], ["no", "no"], schema=tree.schema))
    >>> more.evidence.tolist()
    [[3, 3], [1, 1], [1, 2]]
    >>> print(more.history[-1])
    add-rows(rows=2, weight=2.0)
    """
    evidence, rows = _count(tree, table, shares)
    return _with_evidence(
        tree, tree.evidence + evidence, tree.rows + rows, _step("add-rows", tree, evidence, table)
    )


def remove_rows(tree: Tree, table: Table, *, shares: Counts | None = None) -> Tree:
    """Remove rows from the evidence of a tree.

    Parameters
    ----------
    tree : Tree
    table : Table
        Rows that were counted, with the same target and weights.
    shares : int64 array of shape (n_nodes,), optional
        As in `add_rows`, when these rows were added.

    Returns
    -------
    Tree
        In the unit of `tree`, with raw belief.

    Raises
    ------
    DataError
        If fewer of these rows were counted than are to be removed; it names the node and the class. In regression
        only impossible sums are found, because the tree stores weight, sum and squares alone.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton
    >>> from hornbeam.tree.evidence.count import count_rows
    >>> x, y = np.array([[20.0], [25.0], [40.0], [50.0]]), ["no", "yes", "yes", "yes"]
    >>> tree = count_rows(Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan]), Table.read(x, y))
    >>> remove_rows(tree, Table.read([[50.0]], ["yes"], schema=tree.schema)).evidence.tolist()
    [[1, 2], [1, 1], [0, 1]]
    >>> remove_rows(tree, Table.read([[50.0]], ["no"], schema=tree.schema))
    Traceback (most recent call last):
        ...
    hornbeam.errors.DataError: leaf 2 has 0 rows of the class 'no', but 1 are to be forgotten: expected rows that
    were counted, with the weights they had. Leave out those that were not.
    """
    evidence, rows = _count(tree, table, shares)
    _check_removable(tree, evidence, rows)
    return _with_evidence(
        tree, tree.evidence - evidence, tree.rows - rows, _step("remove-rows", tree, evidence, table)
    )


def decay(tree: Tree, factor: float) -> Tree:
    """Multiply all evidence by a factor below 1.

    Parameters
    ----------
    tree : Tree
    factor : float
        Above 0, up to 1, which changes nothing.

    Returns
    -------
    Tree
        With raw belief. `rows` does not change.

    Notes
    -----
    The evidence that stops at each node is multiplied and rounded to the nearest step, halves to the even one; inner
    nodes are the sums of their children and what stops there. The unit is first divided by a power of two, so that the
    old evidence is 2**47 to 2**48 steps and repeated decay loses little to rounding. In regression only the unit of
    the weight changes; the others are fine enough.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton
    >>> from hornbeam.tree.evidence.count import count_rows
    >>> x, y = np.array([[20.0], [25.0], [40.0], [50.0]]), ["no", "yes", "yes", "yes"]
    >>> tree = count_rows(Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan]), Table.read(x, y))
    >>> decayed = decay(tree, 0.9)
    >>> (decayed.evidence * decayed.unit).round(6).tolist()
    [[0.9, 2.7], [0.9, 0.9], [0.0, 1.8]]
    """
    if not 0 < factor <= 1:
        raise ParameterError(
            f"decay={factor!r}: expected a number above 0, up to 1, which keeps all evidence."
        )
    if factor == 1:
        return tree
    weight = tree.evidence[0, :1] if tree.is_regression else tree.evidence[0]
    finer = np.ones_like(tree.unit)
    finer[: len(weight)] = ldexp(1.0, _DECAY_BITS - int(weight.sum()).bit_length())
    own = np.rint(evidence_stopping(tree.skeleton, tree.evidence) * (factor * finer)).astype(np.int64)
    step = Step.of("decay", factor=float(factor))
    return _with_evidence(tree, pull_up(tree.skeleton, own), tree.rows, step, unit=tree.unit / finer)


def _count(tree: Tree, table: Table, shares: Counts | None) -> tuple[Counts, Counts]:
    """Count rows in the unit of the tree, in blocks small enough for exact sums."""
    check_schema(tree, table)
    if table.numeric_target is not None:
        return _count_regression(tree, table, table.numeric_target.values)
    evidence, rows, unit = np.zeros_like(tree.evidence), np.zeros_like(tree.rows), tree.unit.item(0)
    for block in _blocks(tree, table):
        [counted] = count_at_nodes(
            [tree.skeleton], block, unit=unit, shares=[tree.weight if shares is None else shares]
        )
        evidence += counted.evidence
        rows += counted.rows
    return evidence, rows


def _count_regression(tree: Tree, table: Table, values: Floats) -> tuple[Counts, Counts]:
    """Add up rows in the units of the tree instead of those of the table."""
    if (values < 0).any() and (loss := loss_of(tree)) != "squared_error":
        raise DataError(
            f"y has values below 0, and the tree was grown with criterion={loss!r}: expected values of 0 or more. "
            "Leave out these rows."
        )
    weight = integer_weights(table, tree.unit.item(0))
    row_weight = np.ones(table.n_rows) if weight is None else weight * tree.unit[0]
    sums = np.stack([row_weight, row_weight * np.abs(values), row_weight * values * values]).sum(axis=1)
    total = (sums / tree.unit + np.abs(tree.evidence[0].astype(np.float64))).max()
    if total > _MAX_EVIDENCE:
        raise DataError(
            f"the rows of the tree and these add up to {total:.3g} of its steps, expected at most "
            f"{_MAX_EVIDENCE:.3g}: the steps were chosen for the rows of its fit. Leave out rows to forget that were "
            "never counted, or grow a new tree."
        )
    target = NumericTarget(values, *tree.unit[1:].tolist())
    table = replace(table, weight=weight, unit=tree.unit.item(0), numeric_target=target)
    [counted] = count_at_nodes([tree.skeleton], table)
    return counted.evidence, counted.rows


def _blocks(tree: Tree, table: Table) -> Iterator[Table]:
    weight = np.ones(table.n_rows) if table.weight is None else table.weight
    counted = np.cumsum(weight * (table.unit / tree.unit[0]))
    total = counted[-1] + float(tree.evidence[0].sum())
    if total > _MAX_EVIDENCE:
        raise DataError(
            f"old and new rows weigh {total:.3g} steps of {tree.unit[0]:.3g}, expected at most {_MAX_EVIDENCE:.3g}: "
            "decay the old ones, or grow a new tree"
        )
    ends = np.flatnonzero(np.diff(counted // _BLOCK)) + 1
    for begin, end in pairwise([0, *ends.tolist(), table.n_rows]):
        yield table.slice(begin, end)


def _check_removable(tree: Tree, evidence: Counts, rows: Counts) -> None:
    """Raise `DataError` if a node has less evidence than is to be removed, for the deepest such node."""
    skeleton = tree.skeleton
    own, removed = evidence_stopping(skeleton, tree.evidence), evidence_stopping(skeleton, evidence)
    if tree.is_regression:
        impossible = _impossible_sums(own - removed, tree.unit)
        if not impossible.any():
            return
        node, found = np.flatnonzero(impossible)[-1], "no such numbers as are"
    elif (own < removed).any():
        node, k = np.argwhere(own < removed)[-1]
        has, wanted = own[node, k] * tree.unit[k], removed[node, k] * tree.unit[k]
        found = f"{has:g} rows of the class {tree.schema.classes[k]!r}, but {wanted:g} are"
    else:
        left, parent = tree.rows - rows, np.maximum(skeleton.parent, 0)
        # A row with a missing value may be in every child, but no child has more rows than its parent.
        split = skeleton.missing_slot == EVERY_CHILD
        negative = (evidence_stopping(skeleton, left) < 0) & ~split
        impossible = negative | ((left > left[parent]) & split[parent])
        if not impossible.any():
            return
        node, found = np.flatnonzero(impossible)[-1], "fewer rows than are"
    place = "leaf" if skeleton.is_leaf[node] else "node"
    raise DataError(
        f"{place} {node} has {found} to be forgotten: expected rows that were counted, with the weights they "
        "had. Leave out those that were not."
    )


def _impossible_sums(left: Counts, unit: Floats) -> Bools:
    """Find nodes whose weight, sum and sum of squares belong to no set of rows."""
    weight, total, squares = (left * unit).T
    without_weight = (left[:, 0] == 0) & (left != 0).any(axis=1)
    negative_variance = total * total > weight * squares * (1 + _ROUNDING) + _ROUNDING * squares.max(
        initial=0.0
    )
    impossible: Bools = (left[:, [0, 2]] < 0).any(axis=1) | without_weight | negative_variance
    return impossible


def _with_evidence(
    tree: Tree, evidence: Counts, rows: Counts, step: Step, unit: Floats | None = None
) -> Tree:
    return with_counts(tree, Counted(evidence, rows, tree.unit if unit is None else unit), step)


def _step(name: str, tree: Tree, evidence: Counts, table: Table) -> Step:
    weight = float(node_weight(tree.schema, evidence[:1])[0] * tree.unit[0])
    return Step.of(name, rows=table.n_rows, weight=weight)
