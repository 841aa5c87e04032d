"""Every invariant of a tree, in one place.

`check_skeleton` and `check_tree` run whenever a skeleton or a tree is made, loaded or unpickled. They cost
tens of microseconds on a small tree, and name the array, the node, what was found and what was expected. Edits
of a checked tree check what they could break (`hornbeam.tree.edit`): a new belief, nothing in a collapse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Kind
from hornbeam.errors import TreeError
from hornbeam.kernels.sums import row_sums
from hornbeam.tree.walk import node_blocks, parents_and_children
from hornbeam.typing import Bools, Floats

if TYPE_CHECKING:
    from hornbeam.data.schema import Schema
    from hornbeam.tree.decision.rule import DecisionRule
    from hornbeam.tree.skeleton import Skeleton
    from hornbeam.tree.tree import Tree

__all__ = ["check_belief", "check_decision", "check_skeleton", "check_tree", "read_only"]

_INT8, _INT32, _INT64 = np.dtype(np.int8), np.dtype(np.int32), np.dtype(np.int64)
_FLOAT64 = np.dtype(np.float64)
_BELIEF_SLACK = 1e-9  # what rounding may add to a row of beliefs on the way down a very deep tree
_MOST = 2.0**62  # all evidence of a tree; sums of 64-bit integers are exact well beyond
_MOST_MEAN = 1e150  # squares of means must stay finite; targets are at most 1e140
_LARGE_UNIT = 1e280  # below, no sum of counts is worth more than a float
_SURE = 2**34  # counts up to here cannot add up to that: memory would not hold so many


def read_only[T: np.generic](array: NDArray[T]) -> NDArray[T]:
    """Keep an array nobody can write to; copy any other, so that its owner cannot change a frozen value.

    Examples
    --------
    >>> import numpy as np
    >>> mine = np.zeros(3)
    >>> theirs = read_only(mine)
    >>> theirs.flags.writeable, read_only(theirs) is theirs
    (False, True)
    """
    if array.flags.writeable or not array.flags.c_contiguous:
        array = array.copy()
        array.flags.writeable = False
    return array


def check_skeleton(skeleton: Skeleton) -> None:
    """Raise `TreeError` unless the arrays make a skeleton.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton
    >>> Skeleton.of([2, 0, 0], feature=[0, -1, 4], threshold=[0.5, np.nan, np.nan])
    Traceback (most recent call last):
        ...
    hornbeam.errors.TreeError: feature[2] is 4, expected -1 on a leaf
    """
    _types(skeleton)
    _shape(skeleton)
    _tests(skeleton)


def _types(s: Skeleton) -> None:
    n = len(s.parent) if np.ndim(s.parent) else 0
    for name in ("parent", "first_child", "n_children", "feature", "missing_slot"):
        _expect_array(name, getattr(s, name), _INT32, (n,))
    _expect_array("threshold", s.threshold, _FLOAT64, (n,))
    _expect_array("slot_start", s.slot_start, _INT32, (n + 1,))
    narrow = getattr(s.slot_of, "dtype", None) == _INT8
    _expect_array("slot_of", s.slot_of, _INT8 if narrow else _INT32, (None,))
    if n == 0:
        raise TreeError("parent has no nodes, expected at least the root: a tree without a split is one leaf")


def _shape(s: Skeleton) -> None:
    """Check level order: the numbers of children decide every parent and every first child."""
    n = len(s.parent)
    _expect(s.n_children >= 0, "n_children", s.n_children, "0 on a leaf, else 2 or more")
    _expect(s.n_children != 1, "n_children", s.n_children, "0 on a leaf, else 2 or more")
    born = s.n_children.cumsum(dtype=np.int64)
    if born[-1] != n - 1:
        raise TreeError(f"n_children adds up to {born[-1]}, expected {n - 1}, all nodes but the root")
    reached = born[:-1] > np.arange(n - 1)
    _expect(reached, "n_children", s.n_children, "children enough to reach the next node: number by level")
    parent, first_child = parents_and_children(s.n_children)
    _expect(s.parent == parent, "parent", s.parent, parent)
    _expect(s.first_child == first_child, "first_child", s.first_child, first_child)


def _tests(s: Skeleton) -> None:
    """Check what each node asks, and where every answer leads."""
    leaf, numeric = s.n_children == 0, s.threshold == s.threshold
    # A truth value counts as 1: at least 0 where there are children, at least -1 on a leaf.
    _expect(s.feature >= ~leaf - 1, "feature", s.feature, "0 or more where there are children, -1 on a leaf")
    _expect((s.feature < 0) | ~leaf, "feature", s.feature, "-1 on a leaf")
    _expect(~(numeric & leaf), "threshold", s.threshold, "NaN on a leaf")
    _expect(s.missing_slot >= leaf - 2, "missing_slot", s.missing_slot, "-2 or more, -1 on a leaf")
    beyond = "below the number of children, -1 on a leaf"
    _expect(s.missing_slot < s.n_children, "missing_slot", s.missing_slot, beyond)
    pair = (s.n_children == 2) | ((s.n_children == 3) & (s.missing_slot == 2))
    _expect(~numeric | pair, "n_children", s.n_children, "2 on a numeric test, 3 if missing_slot is 2")

    if s.slot_start[0] != 0 or s.slot_start[-1] != len(s.slot_of):
        raise TreeError(
            f"slot_start runs from {s.slot_start[0]} to {s.slot_start[-1]}, expected 0 to {len(s.slot_of)}, "
            "the length of slot_of"
        )
    # Compared, not subtracted: differences of hostile numbers wrap around.
    in_order = s.slot_start[1:] >= s.slot_start[:-1]
    _expect(in_order, "slot_start", s.slot_start, "no more than the next entry")
    run = s.slot_start[1:] - s.slot_start[:-1]
    _expect((run > 0) ^ numeric ^ leaf, "slot_start", s.slot_start, "a run of slots on nominal tests alone")
    if len(s.slot_of):
        _slots(s, run)


def _slots(s: Skeleton, run: NDArray[Any]) -> None:
    """Check that a category leads to a child or nowhere, and that every child can be reached."""
    reached = np.zeros(len(s.parent), np.bool_)
    reached[0] = True
    for first, last in node_blocks(s.slot_start):
        begin = int(s.slot_start[first])
        node, slot = np.repeat(np.arange(first, last), run[first:last]), s.slot_of[begin : s.slot_start[last]]
        fine = (slot >= -1) & (slot < s.n_children[node])
        if not fine.all():
            at = int(fine.argmin())
            raise TreeError(
                f"slot_of[{begin + at}] is {slot[at]} at node {node[at]}, expected -1 (not seen here) or a slot "
                f"below {s.n_children[node[at]]}"
            )
        reached[(s.first_child[node] + slot)[slot >= 0]] = True
    lead = np.flatnonzero((run > 0) & (s.missing_slot >= 0))
    reached[s.first_child[lead] + s.missing_slot[lead]] = True
    lost = ~reached & (run[s.parent] > 0)
    if lost.any():
        child = int(lost.argmax())
        raise TreeError(
            f"slot_of never leads from node {s.parent[child]} to its child {child}, expected a category or "
            "missing values for every child: leave out children nothing can reach"
        )


def check_tree(tree: Tree) -> None:
    """Raise `TreeError` unless the arrays make a tree of this schema; its skeleton has been checked already.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Schema
    >>> from hornbeam.tree import Skeleton, Tree
    >>> Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[3, -1]]))
    Traceback (most recent call last):
        ...
    hornbeam.errors.TreeError: evidence[0] is [3, -1], expected no count below 0
    """
    n, k = tree.skeleton.n_nodes, tree.schema.n_channels
    if k == 0:
        raise TreeError("schema has no classes, expected at least one: read the table with its target")
    _expect_array("evidence", tree.evidence, _INT64, (n, k))
    _expect_array("unit", tree.unit, _FLOAT64, (k,))
    _expect_array("rows", tree.rows, _INT64, (n,))
    _expect_array("gain", tree.gain, _FLOAT64, (n,))
    _features(tree)
    _numbers(tree)
    check_belief(tree.belief, tree.borrowed, n, tree.schema.n_answers, measured=tree.is_regression)
    check_decision(tree.decision, tree.schema)
    if max(tree.evidence.max(), tree.rows.max(), -tree.evidence.min()) > _SURE:
        _sums(tree)
    if tree.is_regression or tree.unit[0] > _LARGE_UNIT:
        _worth(tree)
    if n > 1:
        _families(tree)


def check_decision(decision: DecisionRule, schema: Schema) -> None:
    """Raise `TreeError` unless a decision rule is one for these classes.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Schema
    >>> from hornbeam.tree import DecisionRule
    >>> check_decision(DecisionRule(class_weight=np.array([1.0, 2.0, 3.0])), Schema((), ("no", "yes")))
    Traceback (most recent call last):
        ...
    hornbeam.errors.TreeError: decision has costs of shape (3, 3), expected (2, 2), a row and a column for each class
    """
    k = schema.n_classes
    if decision.loss is not None and decision.loss.matrix.shape != (k, k):
        raise TreeError(
            f"decision has costs of shape {decision.loss.matrix.shape}, expected {(k, k)}, a row and a column "
            "for each class"
        )


def check_belief(belief: Floats, borrowed: Floats, n: int, k: int, *, measured: bool = False) -> None:
    """Raise `TreeError` unless these are the class probabilities of n nodes, and pseudo-rows lent to them.

    Of a numeric target, the means.

    Examples
    --------
    >>> import numpy as np
    >>> check_belief(np.array([[0.5, 0.6]]), np.zeros(1), n=1, k=2)
    Traceback (most recent call last):
        ...
    hornbeam.errors.TreeError: belief[0] is [0.5, 0.6], expected probabilities that add up to 1
    """
    _expect_array("belief", belief, _FLOAT64, (n, k))
    _expect_array("borrowed", borrowed, _FLOAT64, (n,))
    if measured:
        _expect(np.isfinite(belief), "belief", belief, "a finite mean")
    else:
        _expect(belief >= 0, "belief", belief, "no probability below 0")
        total = row_sums(belief)
        _expect(np.abs(total - 1) <= _BELIEF_SLACK, "belief", belief, "probabilities that add up to 1")
    _expect((borrowed >= 0) & (borrowed < np.inf), "borrowed", borrowed, "0 or more, and finite")


def _features(tree: Tree) -> None:
    """Check that tests ask features of the schema, in the way their kind is asked."""
    s, features = tree.skeleton, tree.schema.features
    _expect(s.feature < len(features), "feature", s.feature, f"one of the schema's {len(features)} features")
    # One entry more, so that -1, the feature of a leaf, finds a run of no categories there.
    width = np.array([len(f.categories) if f.kind is Kind.NOMINAL else 0 for f in features] + [0])
    run, expected = np.diff(s.slot_start), width[s.feature]
    if not (run == expected).all():
        node = int((run != expected).argmax())
        feature = features[s.feature[node]]
        raise TreeError(
            f"slot_start gives node {node} a run of {run[node]} slots, expected {expected[node]}: "
            f"it tests the {feature.kind} feature {feature.name!r}"
        )


def _numbers(tree: Tree) -> None:
    """Check that counts are counts and gains are gains."""
    leaf, unit = tree.skeleton.n_children == 0, tree.unit
    if tree.is_regression:
        if not ((unit > 0) & (unit < np.inf)).all():
            raise TreeError(f"unit is {unit.tolist()}, expected positive numbers: of weight, sum and squares")
        counts = tree.evidence[:, [0, 2]]
        _expect(counts >= 0, "evidence", tree.evidence, "neither weight nor squares below 0")
    else:
        if not (0 < unit[0] < np.inf and (unit == unit[0]).all()):
            raise TreeError(f"unit is {unit.tolist()}, expected one positive number for all classes")
        _expect(tree.evidence >= 0, "evidence", tree.evidence, "no count below 0")
    _expect(tree.rows >= 0, "rows", tree.rows, "0 or more")
    _expect((tree.gain != tree.gain) | ~leaf, "gain", tree.gain, "NaN on a leaf")
    _expect(np.abs(tree.gain) != np.inf, "gain", tree.gain, "a finite number, or NaN where unknown")


def _sums(tree: Tree) -> None:
    """Check that no sum over classes or siblings leaves 64 bits, where it would wrap around unseen."""
    first = tree.skeleton.first_child[tree.skeleton.n_children > 0] - 1
    evidence = np.abs(tree.evidence.astype(np.float64))
    most = evidence.max(axis=1) if tree.is_regression else evidence.sum(axis=1)
    for name, counts in (("evidence", most), ("rows", tree.rows)):
        sums = np.append(counts.astype(np.float64), 0.0)
        if len(first):
            sums = np.append(sums, np.add.reduceat(sums[1:-1], first))
        if sums.max() > _MOST:
            raise TreeError(
                f"{name} adds up to {sums.max():.3g}, expected at most {_MOST:.3g}: rescale the weights"
            )


def _worth(tree: Tree) -> None:
    """Check that weights, and of a numeric target the means and their squares, are numbers."""
    evidence = np.abs(tree.evidence.astype(np.float64))
    with np.errstate(over="ignore"):
        worth = evidence * tree.unit
        finite = np.isfinite(worth if tree.is_regression else worth.sum(axis=1)).all()
        if tree.is_regression and finite:
            known = worth[worth[:, 0] > 0]
            finite = (known[:, 1:] / known[:, :1] <= (_MOST_MEAN, _MOST_MEAN * _MOST_MEAN)).all()
    if not finite:
        raise TreeError(
            f"unit is {tree.unit.tolist()}: the evidence is worth more than any number; rescale it"
        )


def _families(tree: Tree) -> None:
    """Check that children have no more than their parent, and all of it where no row can stop."""
    s = tree.skeleton
    inner = np.flatnonzero(s.n_children)
    first, shared = s.first_child[inner] - 1, s.missing_slot[inner] == -2
    # A numeric test stops missing values at most; a nominal one also stops categories it never saw.
    closed = (s.missing_slot[inner] != -1) & (s.threshold[inner] == s.threshold[inner])

    evidence = tree.evidence
    below, above = np.add.reduceat(evidence[1:], first, axis=0), evidence[inner]
    # Shares go nowhere if no known row showed the way: then all of the evidence stays.
    lost = shared & ~below.any(axis=1) if shared.any() else shared
    fine = (below == above) | ((below < above) & (~closed | lost)[:, None])
    if tree.is_regression:  # the sum of rows that stop may have any sign
        fine[:, 1] |= ~closed
    _expect_family(fine, "evidence", inner, above, below, closed)

    below, above = np.add.reduceat(tree.rows[1:], first), tree.rows[inner]
    fine = (below == above) | ((below < above) & ~closed) | shared
    _expect_family(fine, "rows", inner, above, below, closed)
    if shared.any():  # a row may be in every child, but in each no more than once
        fine = tree.rows <= tree.rows[np.maximum(s.parent, 0)]
        _expect(fine, "rows", tree.rows, "no more than its parent has")


def _expect_array(name: str, array: object, dtype: np.dtype[Any], shape: tuple[int | None, ...]) -> None:
    if not isinstance(array, np.ndarray):
        raise TreeError(f"{name} is a {type(array).__name__}, expected a NumPy array of {dtype}")
    if array.dtype != dtype:
        raise TreeError(f"{name} holds {array.dtype}, expected {dtype}: convert it with astype")
    if array.shape != shape and (len(shape) != array.ndim or None not in shape):
        raise TreeError(f"{name} has shape {array.shape}, expected {shape}: one entry a node")


def _expect(fine: Bools, name: str, array: NDArray[Any], expected: str | NDArray[Any]) -> None:
    if not fine.all():
        node = int(fine.argmin()) // (fine.size // len(fine))
        wanted = expected if isinstance(expected, str) else expected[node]
        raise TreeError(f"{name}[{node}] is {array[node].tolist()}, expected {wanted}")


def _expect_family(
    fine: Bools, name: str, inner: NDArray[Any], above: NDArray[Any], below: NDArray[Any], closed: Bools
) -> None:
    if not fine.all():
        at = int(fine.argmin()) // (fine.size // len(fine))
        bound = "exactly" if closed[at] else "at least"
        raise TreeError(
            f"{name}[{inner[at]}] is {above[at].tolist()}, expected {bound} {below[at].tolist()}, the sum "
            "of its children: recount the rows with hornbeam.tree.count"
        )
