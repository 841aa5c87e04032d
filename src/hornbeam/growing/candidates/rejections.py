"""Why growing does not allow a split."""

import numpy as np

from hornbeam.growing.candidates.gains import Parts
from hornbeam.growing.candidates.node_cells import NodeCells
from hornbeam.growing.candidates.sweep import Sweep
from hornbeam.typing import Bools, Counts

__all__ = ["TIE", "rejections"]

TIE = 1e-6  # C4.5: a gain up to this is none
_CLOSE = 1e-5  # C4.5: values as close as this are not separated


def rejections(node: NodeCells, sweep: Sweep, parts: Parts) -> list[str | None]:
    """Return for each split why growing does not allow it, None if it does."""
    rules, rows, weight = node.rules, parts.rows, parts.weight
    found: list[str | None] = [None] * len(sweep)

    def reject(where: Bools, reason: str) -> None:
        for at in np.flatnonzero(where):
            found[at] = found[at] or reason

    if sweep.kind == "multiway":
        enough = (rows >= rules.min_rows_leaf) & (weight >= rules.min_weight_leaf)
        reject(enough.sum(axis=1) < 2, "fewer than two children are large enough")
        reject(~_within_bounds(node, parts, slice(None)).all(axis=1), "breaks a monotone constraint")
        return found
    both = slice(0, 2)  # a third child, of missing values, was found large enough
    fewest = rows[:, both].min(axis=1)
    for at in np.flatnonzero(fewest < rules.min_rows_leaf):
        plural = "" if fewest[at] == 1 else "s"
        found[at] = f"a child has {fewest[at]} row{plural}; min_samples_leaf={rules.min_rows_leaf}"
    least = _least_weight(node, sweep, weight[:, both])
    lightest = weight[:, both].min(axis=1)
    for at in np.flatnonzero(lightest < least):
        small, needed = lightest[at] * rules.unit, least[at] * rules.unit
        found[at] = found[at] or f"a child has weight {small:.4g}; at least {needed:.4g} needed"
    if sweep.kind == "known":
        missing = weight[:, 1] * rules.rows_per_step
        reject(missing < rules.min_rows_missing, "too few missing values for a branch of their own")
        reject(~_within_bounds(node, parts, both).all(axis=1), "breaks a monotone constraint")
        return found
    if node.spec.value is not None and not sweep.nominal:
        values = node.spec.value[node.spec.offsets[sweep.feature] :]
        reject(~(values[sweep.codes[:-1]] + _CLOSE < values[sweep.codes[1:]]), "the values are too close")
    if node.spec.monotone is not None:
        allowed = _within_bounds(node, parts, both).all(axis=1)
        if not sweep.nominal:
            amount, whole = (
                array[:, both].astype(object) for array in (parts.evidence[..., 1], parts.weights)
            )
            # The step of the rate, exact in Python's integers.
            step = amount[:, 1] * whole[:, 0] - amount[:, 0] * whole[:, 1]
            allowed &= (int(node.spec.monotone[sweep.feature]) * step >= 0).astype(np.bool_)
        reject(~allowed, "breaks a monotone constraint")
    return found


def _least_weight(node: NodeCells, sweep: Sweep, weight: Counts) -> Counts:
    """Weight that each side of a split needs, in steps; C4.5 has a rule for numeric cuts."""
    rules = node.rules
    least = np.full(len(weight), rules.min_weight_leaf)
    if rules.gain_ratio and not sweep.nominal and sweep.kind == "cuts":
        tenth = 0.1 * weight.sum(axis=1) * rules.unit / node.spec.n_classes
        lowest = rules.min_weight_leaf * rules.unit
        bar = np.where(tenth <= lowest, lowest, np.minimum(tenth, 25.0))
        least = np.maximum(np.ceil((bar - TIE) / rules.unit), 0).astype(np.int64)
    return least


def _within_bounds(node: NodeCells, parts: Parts, children: slice) -> Bools:
    """Whether the rate of each child is within the bounds of the node."""
    weight = parts.weight[:, children]
    if node.spec.monotone is None:
        return np.ones(weight.shape, np.bool_)
    rate = parts.evidence[:, :-1][:, children, 1] / np.maximum(weight, 1)
    return (rate >= node.node.lower) & (rate <= node.node.upper)
