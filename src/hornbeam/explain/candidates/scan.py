"""All splits of a feature that growing looks at, or would if they were allowed, and why some are not."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.explain.candidates.way import Direction, Sweep, Way, scan_order
from hornbeam.growing.split_gains import NodeCells, Parts
from hornbeam.kernels.elementary import log2
from hornbeam.kernels.subtree import Missing, Nominal
from hornbeam.typing import Bools, Counts

TIE = 1e-6  # C4.5: a gain up to this is none
_CLOSE = 1e-5  # C4.5: values as close as this are not separated
# Up to this many categories the kernel tries all subsets, if there are more than two classes.
_EVERY_SUBSET = 10
# With missing values and more than two classes the kernel finds the best subset of the known categories, then the side
# of the missing values.
OVERLOOKED = "growing chooses the subset first, then the side of missing values"
_NOT_HERE = "a constraint does not allow the feature below the splits above"


class Candidate(NamedTuple):
    """A candidate split with its numbers.

    ``gain`` is before the penalty; ``score`` is what features are compared by, NaN where it is not defined;
    ``children`` are the sums of `NodeCells.shown` in each child, without missing values that go to every child;
    ``rejected`` is the reason why growing does not allow the split, None if it does.
    """

    way: Way
    gain: float
    penalty: float
    split_information: float
    score: float
    children: Counts
    rejected: str | None

    @property
    def penalised_gain(self) -> float:
        """Gain minus penalty, which a grown tree stores."""
        return self.gain - self.penalty


def scan(node: NodeCells, f: int, *, most: int, none_taken: bool) -> list[Candidate]:
    """List all splits of a feature that the kernel looks at, and those that it would if they were allowed.

    Of each sweep those with the largest gains, at most ``most``. ``none_taken``: the kernel takes none of them, because
    the S-value of the best is near 0, or because its subset is too small on either side.
    """
    found = [one for sweep in _sweeps(node, f) for one in _candidates(node, sweep, most)]
    if not node.allows(f):
        found = [one._replace(rejected=_NOT_HERE) for one in found]
    elif none_taken:
        reason = "no more gain than by chance" if node.rules.corrected else OVERLOOKED
        found = [one._replace(rejected=one.rejected or reason) for one in found]
    return found


def _sweeps(node: NodeCells, f: int) -> list[Sweep]:
    spec, rules = node.spec, node.rules
    rows, evidence = node.shown[f][:, 0], node.shown[f][:, 1:]
    nominal, missing_code = bool(spec.nominal[f]), len(rows) - 1
    known, any_missing = np.flatnonzero(rows[:-1]), bool(rows[-1])

    def sweep(missing: Direction | None, kind: Any = "cuts", codes: NDArray[np.intp] = known) -> Sweep:
        return Sweep(f, nominal, codes, missing_code, missing, kind)

    if not len(known) or len(known) + any_missing < 2:
        return []
    fractional = rules.missing == Missing.fractional
    if nominal and rules.nominal == Nominal.multiway:
        if len(known) < 2 and fractional:
            return []
        direction: Direction = "every" if fractional else "own"
        return [sweep(direction if any_missing else None, "multiway")]
    kind: Literal["cuts", "subsets"] = "cuts"
    codes = known
    if nominal:
        if any_missing and rules.missing == Missing.learned:
            codes, any_missing = np.append(known, missing_code), False
        many_classes = not spec.sums and spec.n_classes > 2
        kind = "subsets" if many_classes and 3 <= len(codes) <= _EVERY_SUBSET else "cuts"
        codes = codes if kind == "subsets" else codes[scan_order(evidence[codes], spec)]
    if not any_missing:
        return [sweep(None, kind, codes)]
    if fractional:
        return [sweep("every", kind, codes)]
    known_against_missing = sweep("own", "known")
    parts = Parts(node, known_against_missing.children(node.of_feature(f)), False, f)
    if rules.missing == Missing.own and _rejections(node, known_against_missing, parts) == [None]:
        return [known_against_missing, sweep("own", kind, codes)]
    return [known_against_missing, sweep("right", kind, codes), sweep("left", kind, codes)]


def _candidates(node: NodeCells, sweep: Sweep, most: int) -> list[Candidate]:
    rules, n = node.rules, len(sweep)
    if n == 0:
        return []
    parts = Parts(
        node, sweep.children(node.of_feature(sweep.feature)), sweep.missing == "every", sweep.feature
    )
    rejected = _rejections(node, sweep, parts)
    gains, information = parts.gains(), parts.split_information()
    price = node.price(sweep.feature)
    penalty, useful = price, gains > price if node.spec.sums or price else np.ones(n, np.bool_)
    if rules.gain_ratio:
        n_allowed = max(1, rejected.count(None))
        if not sweep.nominal:
            penalty += log2(float(n_allowed)).item() / (node.weight * rules.unit)
        if sweep.kind != "multiway":
            useful = gains - penalty > TIE
        if sweep.missing == "own" and sweep.kind in ("cuts", "subsets"):  # the cut itself must gain
            inner = Parts(node, parts.cells[:, :2], True, sweep.feature)
            useful &= inner.gains() > TIE
    shown = sweep.children(node.shown[sweep.feature])
    ratio = np.divide(gains - penalty, information, out=np.zeros(n), where=information > TIE)
    score = ratio if rules.gain_ratio else np.full(n, np.nan) if rules.corrected else gains - penalty
    for at in np.flatnonzero(~useful):
        rejected[at] = rejected[at] or (
            "no gain after the price" if price else "no gain after the penalty" if penalty else "no gain"
        )
    listed = range(n) if n <= most else sorted(np.argsort(-gains, kind="stable")[:most].tolist())
    return [
        Candidate(
            sweep.way(i), gains.item(i), penalty, information.item(i), score.item(i), shown[i], rejected[i]
        )
        for i in listed
    ]


def _rejections(node: NodeCells, sweep: Sweep, parts: Parts) -> list[str | None]:
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
