"""Checks of a tree: its arrays against each other, its schema and its skeleton.

`check_tree` runs whenever a tree is made, loaded or unpickled (`hornbeam.tree.skeleton` has the checks of the
skeleton, `hornbeam.tree.slopes` those of slopes). It takes tens of microseconds for a small tree, and its errors name
the array, the node, the value found and the value expected. Edits of a checked tree check only what they could break
(`hornbeam.tree.edit`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Schema
from hornbeam.errors import TreeError
from hornbeam.kernels.elementary import row_sums
from hornbeam.tree.arrays import expect, expect_array
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.skeleton import EVERY_CHILD, STOP, Skeleton
from hornbeam.tree.slopes import Slopes, check_slopes
from hornbeam.typing import Bools, Counts, Floats

_BELIEF_TOLERANCE = 1e-9  # rounding of the sum of probabilities in a very deep tree
_MAX_EVIDENCE = 2.0**62  # of a whole tree; sums of 64-bit integers are exact well beyond
_MAX_MEAN = 1e150  # its square must stay finite; targets are at most 1e140
_LARGE_UNIT = 1e280  # below it, evidence times unit is finite
_SMALL_COUNT = 2**34  # counts up to here cannot add up to the maximum: memory would not hold that many


def check_tree(
    schema: Schema,
    skeleton: Skeleton,
    decision: DecisionRule,
    slopes: Slopes,
    *,
    evidence: Counts,
    unit: Floats,
    rows: Counts,
    gain: Floats,
    belief: Floats,
    borrowed: Floats,
) -> None:
    """Raise `TreeError` unless the arrays describe a tree of this schema and skeleton."""
    n, k = skeleton.n_nodes, schema.n_channels
    if k == 0:
        raise TreeError("schema has no classes, expected at least one: read the table with its target")
    expect_array("evidence", evidence, np.int64, (n, k))
    expect_array("unit", unit, np.float64, (k,))
    expect_array("rows", rows, np.int64, (n,))
    expect_array("gain", gain, np.float64, (n,))
    _check_features(schema, skeleton)
    _check_unit_and_evidence(unit, evidence, schema.is_regression)
    expect(rows >= 0, "rows", rows, "0 or more")
    expect((gain != gain) | ~skeleton.is_leaf, "gain", gain, "NaN on a leaf")
    expect(np.abs(gain) != np.inf, "gain", gain, "a finite number, or NaN where unknown")
    check_belief(belief, borrowed, n, schema.n_outputs, regression=schema.is_regression)
    check_decision(decision, schema)
    check_slopes(slopes, schema, skeleton)
    if max(evidence.max(), rows.max(), -evidence.min()) > _SMALL_COUNT:
        total = np.abs(evidence.astype(np.float64))
        total = total.max(axis=1) if schema.is_regression else total.sum(axis=1)
        _check_sums("evidence", total, skeleton)
        _check_sums("rows", rows.astype(np.float64), skeleton)
    if schema.is_regression or unit[0] > _LARGE_UNIT:
        _check_finite(evidence, unit, schema.is_regression)
    if n > 1:
        _check_children(skeleton, evidence, rows, schema.is_regression)


def check_decision(decision: DecisionRule, schema: Schema) -> None:
    """Raise `TreeError` unless a decision rule has the classes of the schema."""
    k = schema.n_classes
    if decision.loss is not None and decision.loss.matrix.shape != (k, k):
        raise TreeError(
            f"decision has costs of shape {decision.loss.matrix.shape}, expected {(k, k)}, a row and a column "
            "for each class"
        )


def check_belief(belief: Floats, borrowed: Floats, n: int, k: int, *, regression: bool = False) -> None:
    """Raise `TreeError` unless these are valid predictions and pseudo-counts of `n` nodes.

    Predictions are `k` class probabilities per node, or means if `regression`.
    """
    expect_array("belief", belief, np.float64, (n, k))
    expect_array("borrowed", borrowed, np.float64, (n,))
    if regression:
        expect(np.isfinite(belief), "belief", belief, "a finite mean")
    else:
        expect(belief >= 0, "belief", belief, "no probability below 0")
        total = row_sums(belief)
        expect(np.abs(total - 1) <= _BELIEF_TOLERANCE, "belief", belief, "probabilities that add up to 1")
    expect((borrowed >= 0) & (borrowed < np.inf), "borrowed", borrowed, "0 or more, and finite")


def _check_features(schema: Schema, skeleton: Skeleton) -> None:
    """Check that splits use features of the schema, each by its kind."""
    s, features = skeleton, schema.features
    expect(s.feature < len(features), "feature", s.feature, f"one of the schema's {len(features)} features")
    # The last entry is for feature -1, that of leaves.
    width = np.array([len(f.categories) if f.is_nominal else 0 for f in features] + [0])
    n_slots, expected = np.diff(s.slot_start), width[s.feature]
    if not (n_slots == expected).all():
        node = int((n_slots != expected).argmax())
        feature = features[s.feature[node]]
        raise TreeError(
            f"slot_start gives node {node} a run of {n_slots[node]} slots, expected {expected[node]}: "
            f"it tests the {feature.kind} feature {feature.name!r}"
        )


def _check_unit_and_evidence(unit: Floats, evidence: Counts, regression: bool) -> None:
    if regression:
        if not ((unit > 0) & (unit < np.inf)).all():
            raise TreeError(f"unit is {unit.tolist()}, expected positive numbers: of weight, sum and squares")
        expect(evidence[:, [0, 2]] >= 0, "evidence", evidence, "neither weight nor squares below 0")
    else:
        if not (0 < unit[0] < np.inf and (unit == unit[0]).all()):
            raise TreeError(f"unit is {unit.tolist()}, expected one positive number for all classes")
        expect(evidence >= 0, "evidence", evidence, "no count below 0")


def _check_sums(name: str, counts: Floats, skeleton: Skeleton) -> None:
    """Check that sums over siblings fit into 64 bits, because they would wrap around without an error."""
    first = skeleton.first_child[skeleton.n_children > 0] - 1
    most = counts.max()
    if len(first):
        most = max(most, np.add.reduceat(counts[1:], first).max())
    if most > _MAX_EVIDENCE:
        raise TreeError(
            f"{name} adds up to {most:.3g}, expected at most {_MAX_EVIDENCE:.3g}: rescale the weights"
        )


def _check_finite(evidence: Counts, unit: Floats, regression: bool) -> None:
    """Check that weights, and in regression means and their squares, are finite."""
    with np.errstate(over="ignore"):
        weight = np.abs(evidence.astype(np.float64)) * unit
        finite = np.isfinite(weight if regression else weight.sum(axis=1)).all()
        if regression and finite:
            known = weight[weight[:, 0] > 0]
            finite = (known[:, 1:] / known[:, :1] <= (_MAX_MEAN, _MAX_MEAN * _MAX_MEAN)).all()
    if not finite:
        raise TreeError(f"unit is {unit.tolist()}: the evidence is worth more than any number; rescale it")


def _check_children(skeleton: Skeleton, evidence: Counts, rows: Counts, regression: bool) -> None:
    """Check that the children of a node have at most its rows, and all of them where no row can stop."""
    s = skeleton
    inner = np.flatnonzero(s.n_children)
    first, fractional = s.first_child[inner] - 1, s.missing_slot[inner] == EVERY_CHILD
    # At a numeric split only missing values can stop; at a nominal one also categories without a slot.
    closed = (s.missing_slot[inner] != STOP) & (s.threshold[inner] == s.threshold[inner])

    below, above = np.add.reduceat(evidence[1:], first, axis=0), evidence[inner]
    # Without known rows there are no shares, and missing values stop.
    without_shares = fractional & ~below.any(axis=1) if fractional.any() else fractional
    valid = (below == above) | ((below < above) & (~closed | without_shares)[:, None])
    if regression:  # the sum of the target over rows that stop may have any sign
        valid[:, 1] |= ~closed
    _expect_sum(valid, "evidence", inner, above, below, closed)

    below, above = np.add.reduceat(rows[1:], first), rows[inner]
    valid = (below == above) | ((below < above) & ~closed) | fractional
    _expect_sum(valid, "rows", inner, above, below, closed)
    if fractional.any():  # a row may be in several children, but only once in each
        expect(rows <= rows[np.maximum(s.parent, 0)], "rows", rows, "no more than its parent has")


def _expect_sum(
    valid: Bools, name: str, inner: NDArray[Any], above: NDArray[Any], below: NDArray[Any], closed: Bools
) -> None:
    if not valid.all():
        at = int(valid.argmin()) // (valid.size // len(valid))
        bound = "exactly" if closed[at] else "at least"
        raise TreeError(
            f"{name}[{inner[at]}] is {above[at].tolist()}, expected {bound} {below[at].tolist()}, the sum "
            "of its children: recount the rows with hornbeam.tree.count_rows"
        )
