"""Evidence that grows, fades and is forgotten, on a skeleton that stays.

`add_rows` counts new rows beside the old ones, `remove_rows` takes rows out again as if they had never come,
`decay` lets all of them count for less. Tests and gains stay as they are; belief is raw again, until a
smoother speaks. Counts are integers, so what was added is removed to the last step, in any order.
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
from hornbeam.tree.edit import count_evidence, integer_weights
from hornbeam.tree.evidence.numeric import count_numeric
from hornbeam.tree.skeleton import EVERY_CHILD
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import evidence_stopping, pull_up
from hornbeam.typing import Bools, Counts, Floats

__all__ = ["add_rows", "decay", "remove_rows"]

_MOST = 2.0**62  # steps of evidence in a tree (`hornbeam.tree.check`)
_BLOCK = 2.0**49  # steps that are counted at once: sums of them are exact in float64
_ROUNDING = 1e-9  # of sums of squares
_FADED_BITS = 48  # steps of all rows together that are fine enough to fade again and again


def add_rows(tree: Tree, table: Table, *, shares: Counts | None = None) -> Tree:
    """Count more rows at every node they pass.

    Parameters
    ----------
    tree : Tree
    table : Table
        Rows read with the tree's schema, and their target; its unit is a whole number of the tree's.
    shares : int64 array of shape (n_nodes,), optional
        What missing values are shared by where they go to every child (`hornbeam.tree.evidence.fractional.known_weight`).
        Default: the evidence of the tree. To remove these rows again, give the same.

    Returns
    -------
    Tree
        In the unit of `tree`, with raw frequencies as belief.

    Raises
    ------
    DataError
        If the table was read with another schema, has no target, or weighs too much. The steps of a numeric target
        are chosen by `fit`: they have room for as many rows again of the same size, and usually for more.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton, count_rows
    >>> x, y = np.array([[20.0], [25.0], [40.0], [50.0]]), ["no", "yes", "yes", "yes"]
    >>> tree = count_rows(Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan]), Table.read(x, y))
    >>> more = add_rows(tree, Table.read([[35.0], [np.nan]], ["no", "no"], schema=tree.schema))
    >>> more.evidence.tolist()
    [[3, 3], [1, 1], [1, 2]]
    >>> print(more.history[-1])
    add-rows(rows=2, weight=2.0)
    """
    evidence, rows = _tally(tree, table, shares)
    return _counted(
        tree, tree.evidence + evidence, tree.rows + rows, _step("add-rows", tree, evidence, table)
    )


def remove_rows(tree: Tree, table: Table, *, shares: Counts | None = None) -> Tree:
    """Take rows out of every node they passed.

    Parameters
    ----------
    tree : Tree
    table : Table
        Rows that were counted, with the target and the weights they had.
    shares : int64 array of shape (n_nodes,), optional
        As of `add_rows`: what missing values among these rows were shared by.

    Returns
    -------
    Tree
        In the unit of `tree`, with raw frequencies as belief.

    Raises
    ------
    DataError
        If fewer such rows were counted than are to be removed; it names the node and the class. Of numbers alone
        their weight, sum and squares are known: that these could not be left is all that can be found out.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton, count_rows
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
    evidence, rows = _tally(tree, table, shares)
    _check_known(tree, evidence, rows)
    return _counted(
        tree, tree.evidence - evidence, tree.rows - rows, _step("remove-rows", tree, evidence, table)
    )


def decay(tree: Tree, factor: float) -> Tree:
    """Let all evidence count for less.

    Parameters
    ----------
    tree : Tree
    factor : float
        What a row is worth from now on: above 0, up to 1, which changes nothing.

    Returns
    -------
    Tree
        With raw frequencies as belief. `rows` goes on counting every row that came.

    Notes
    -----
    The weight of each class that stops at each node is multiplied and rounded to the nearest step, halves to
    the even one; what a node has beyond is what its children have. The steps are chosen anew for it, by a
    power of two, so that all evidence was 2**47 to 2**48 of them: a row fades in thousands of small parts, not
    all at once. Of a numeric target that is so of the weight; sums have fine steps already.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton, count_rows
    >>> x, y = np.array([[20.0], [25.0], [40.0], [50.0]]), ["no", "yes", "yes", "yes"]
    >>> tree = count_rows(Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan]), Table.read(x, y))
    >>> faded = decay(tree, 0.9)
    >>> (faded.evidence * faded.unit).round(6).tolist()
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
    finer[: len(weight)] = ldexp(1.0, _FADED_BITS - int(weight.sum()).bit_length())
    own = np.rint(evidence_stopping(tree.skeleton, tree.evidence) * (factor * finer)).astype(np.int64)
    step = Step.of("decay", factor=float(factor))
    return _counted(tree, pull_up(tree.skeleton, own), tree.rows, step, unit=tree.unit / finer)


def _tally(tree: Tree, table: Table, shares: Counts | None) -> tuple[Counts, Counts]:
    """Count rows in the tree's unit, in blocks that each can be counted exactly."""
    if table.schema != tree.schema:
        raise DataError(
            "the table's schema is not the tree's, expected columns and classes coded alike: "
            "read it with Table.read(X, y, schema=tree.schema)"
        )
    if table.numeric_target is not None:
        return _measured(tree, table, table.numeric_target.values)
    if shares is None:
        shares = tree.weight
    evidence, rows = np.zeros_like(tree.evidence), np.zeros_like(tree.rows)
    for block in _blocks(tree, table):
        more = count_evidence(tree.skeleton, block, tree.unit.item(0), shares)
        evidence += more[0]
        rows += more[1]
    return evidence, rows


def _measured(tree: Tree, table: Table, values: Floats) -> tuple[Counts, Counts]:
    """Add up numbers in the steps that the tree has, whatever these rows alone would be given."""
    weight = integer_weights(table, tree.unit.item(0))
    heavy = np.ones(table.n_rows) if weight is None else weight * tree.unit[0]
    most = np.stack([heavy, heavy * np.abs(values), heavy * values * values]).sum(axis=1) / tree.unit
    total = (most + np.abs(tree.evidence[0].astype(np.float64))).max()
    if total > _MOST:
        raise DataError(
            f"the rows of the tree and these add up to {total:.3g} of its steps, expected at most {_MOST:.3g}: they "
            "were chosen for the rows of its fit. Leave out rows to forget that never came, or grow a new tree."
        )
    table = replace(table, weight=weight, unit=tree.unit.item(0))
    return count_numeric(tree.skeleton, table, NumericTarget(values, *tree.unit[1:].tolist()), table.unit)


def _blocks(tree: Tree, table: Table) -> Iterator[Table]:
    weight = np.ones(table.n_rows) if table.weight is None else table.weight
    counted = np.cumsum(weight * (table.unit / tree.unit[0]))
    total = counted[-1] + float(tree.evidence[0].sum())
    if total > _MOST:
        raise DataError(
            f"old and new rows weigh {total:.3g} steps of {tree.unit[0]:.3g}, expected at most {_MOST:.3g}: "
            "decay the old ones, or grow a new tree"
        )
    ends = np.flatnonzero(np.diff(counted // _BLOCK)) + 1
    for begin, end in pairwise([0, *ends.tolist(), table.n_rows]):
        yield table.slice(begin, end)


def _check_known(tree: Tree, evidence: Counts, rows: Counts) -> None:
    """Raise `DataError` if there is less than is to be removed, at the deepest node where it shows."""
    skeleton = tree.skeleton
    own, asked = evidence_stopping(skeleton, tree.evidence), evidence_stopping(skeleton, evidence)
    if tree.is_regression:
        odd = _impossible(own - asked, tree.unit)
        node = np.flatnonzero(odd)[-1] if odd.any() else -1
        what = "no such numbers as are"
        if node < 0:
            return
    elif (own < asked).any():
        node, k = np.argwhere(own < asked)[-1]
        has, wanted = own[node, k] * tree.unit[k], asked[node, k] * tree.unit[k]
        what = f"{has:g} rows of the class {tree.schema.classes[k]!r}, but {wanted:g} are"
    else:
        left, parent = tree.rows - rows, np.maximum(skeleton.parent, 0)
        # Where missing values go to every child a row may be in all of them, but no child has more than its parent.
        spread = skeleton.missing_slot == EVERY_CHILD
        odd = ((evidence_stopping(skeleton, left) < 0) & ~spread) | ((left > left[parent]) & spread[parent])
        if not odd.any():
            return
        node = np.flatnonzero(odd)[-1]
        what = "fewer rows than are"
    place = "leaf" if skeleton.is_leaf[node] else "node"
    raise DataError(
        f"{place} {node} has {what} to be forgotten: expected rows that were counted, with the weights they "
        "had. Leave out those that were not."
    )


def _impossible(left: Counts, unit: Floats) -> Bools:
    """Which nodes would be left with what no numbers add up to."""
    weight, total, squares = (left * unit).T
    none_left = (left[:, 0] == 0) & (left != 0).any(axis=1)
    apart = total * total > weight * squares * (1 + _ROUNDING) + _ROUNDING * squares.max(initial=0.0)
    impossible: Bools = (left[:, [0, 2]] < 0).any(axis=1) | none_left | apart
    return impossible


def _counted(tree: Tree, evidence: Counts, rows: Counts, step: Step, unit: Floats | None = None) -> Tree:
    return Tree.raw(
        tree.schema,
        tree.skeleton,
        evidence,
        unit=tree.unit if unit is None else unit,
        rows=rows,
        gain=tree.gain,
        history=(*tree.history, step),
        decision=tree.decision,
    )


def _step(name: str, tree: Tree, evidence: Counts, table: Table) -> Step:
    steps_of_rows = evidence[0, 0] if tree.is_regression else evidence[0].sum()
    weight = float(steps_of_rows * tree.unit[0])
    return Step.of(name, rows=table.n_rows, weight=weight)
