"""The candidate splits of a node: the gain of each, their order, and why growing does not allow some of them.

The kernel that grows trees computes every gain: the children of a candidate become the categories of a made-up feature,
whose multiway split is this candidate. The kernel also finds the best split of each feature and ranks the features.
Everything follows from the cells of the node, which are sums over its rows.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.growing.impurity import impurity
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.elementary import log2
from hornbeam.kernels.subtree import Cells, GrowthSpec, Missing, NodeRange, Nominal, Rows, Rules, Split
from hornbeam.tree.skeleton import EVERY_CHILD
from hornbeam.typing import Bools, Counts, Floats, Indices

__all__ = [
    "Candidate",
    "Direction",
    "NodeCells",
    "Way",
    "all_candidates",
    "best_candidates",
    "gain_of_children",
]

type Direction = Literal["left", "right", "own", "every"]
"""Where rows with a missing value go: to the first or second child, to a child of their own, or to every child."""

# Up to this many categories the kernel tries all subsets, if there are more than two classes.
_EVERY_SUBSET = 10
_AT_ONCE = 64  # made-up features of one call: the kernel compares each with each
_TIE = 1e-6  # C4.5: a gain up to this is none
# With missing values and more than two classes the kernel finds the best subset of the known categories, then the side
# of the missing values.
_OVERLOOKED = "growing chooses the subset first, then the side of missing values"
_NOT_HERE = "a constraint does not allow the feature below the splits above"
_CLOSE = 1e-5  # C4.5: values as close as this are not separated
_MOST_CODES = 4_000_000  # in the children of all splits that are listed


class Way(NamedTuple):
    """A way to divide the codes of one feature among children.

    A cut of a numeric feature has the codes ``left`` and ``right`` on its sides; at a split of known against missing
    values ``right`` is the missing code. For a nominal feature ``groups`` are the codes of each child, and the missing
    code where missing values go.
    """

    feature: int
    missing: Direction | None
    left: int = -1
    right: int = -1
    groups: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of_slots(cls, feature: int, nominal: bool, slot_of: Indices, missing_slot: int) -> Self:
        """Convert the slot of each code, the missing code last; -1: the code does not occur."""
        missing_code = len(slot_of) - 1
        if nominal:
            order, n_absent = np.argsort(slot_of, kind="stable"), int((slot_of < 0).sum())
            ends = n_absent + np.cumsum(np.bincount(slot_of[slot_of >= 0]))
            groups = tuple(tuple(group.tolist()) for group in np.split(order, [n_absent, *ends[:-1]])[1:])
            return cls(
                feature,
                _direction(groups, missing_code, every=missing_slot == EVERY_CHILD),
                groups=groups,
            )
        left, right = (np.flatnonzero(slot_of[:-1] == slot) for slot in (0, 1))
        if not len(right):
            return cls(feature, "own", int(left[-1]), missing_code)
        if missing_slot == EVERY_CHILD:
            missing: Direction | None = "every"
        else:
            missing = None if slot_of[-1] < 0 else ("left", "right", "own")[slot_of[-1]]
        return cls(feature, missing, int(left[-1]), int(right[0]))

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for two ways that divide the rows in the same way, whichever child is the first."""
        if not self.groups:
            return self
        return self.feature, self.missing == "every", frozenset(self.groups)


def _direction(groups: Sequence[tuple[int, ...]], missing_code: int, *, every: bool) -> Direction | None:
    """Where missing values go, given the codes of each child."""
    if every:
        return "every"
    for at, group in enumerate(groups):
        if missing_code in group:
            return "own" if len(group) == 1 else ("left", "right")[at]
    return None


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
    children: Floats
    rejected: str | None

    @property
    def penalised_gain(self) -> float:
        """Gain minus penalty, which a grown tree stores."""
        return self.gain - self.penalty


@dataclass(frozen=True, slots=True, eq=False)
class NodeCells:
    """The counts of a node by feature and code, and what the search for its split depends on.

    Parameters
    ----------
    cells : array
        Of the growing kernels (`hornbeam.kernels.subtree.empty_cells`).
    spec : GrowthSpec
    evidence : int64 array
        Weight of each class; for sums weight and sum.
    n_rows : int
    node : NodeRange
        Depth and bounds of monotone constraints.
    variance : float
        Variance of a numeric target, for S-values.
    shown : tuple of float64 arrays of shape (n_codes + 1, q)
        For each feature other numbers of each code, to be added up in the children; the missing code is last.
    allowed : uint8 array, optional
        1 for each feature that the rules of paths allow here; None: all features.
    """

    cells: Cells
    spec: GrowthSpec
    evidence: Counts
    n_rows: int
    node: NodeRange
    variance: float
    shown: tuple[Floats, ...]
    allowed: NDArray[np.uint8] | None = None

    @classmethod
    def count(
        cls, rows: Rows, spec: GrowthSpec, node: NodeRange, shown: tuple[Floats, ...] | None = None
    ) -> Self:
        """Count all these rows, which are those of the node; `shown` has by default the rows and classes."""
        cells = subtree.empty_cells(rows, spec)
        subtree.histogram(rows, spec, 0, rows.n_rows, cells)
        counts, n_rows = subtree.channels(cells, spec)
        if shown is None:
            numbers = np.column_stack([n_rows, counts]).astype(np.float64)
            shown = tuple(np.split(numbers, spec.offsets[1:-1]))
        evidence = counts[: spec.offsets[1]].sum(axis=0)
        variance = subtree.target_variance(rows, spec, node)
        allowed = subtree.allowed_features(spec, node)
        return cls(cells, spec, evidence, rows.n_rows, node, variance, shown, allowed)

    @property
    def weight(self) -> int:
        """Weight of the rows, in steps."""
        return int(self.evidence[0] if self.spec.sums else self.evidence.sum())

    @property
    def rules(self) -> Rules:
        """Rules of growing."""
        return self.spec.rules

    def allows(self, f: int) -> bool:
        """Return whether the rules of paths allow a feature here."""
        return self.allowed is None or bool(self.allowed[f])

    def of_feature(self, f: int) -> Cells:
        """Return the numbers of each code of a feature, the missing code last: shape (n_codes + 1, m)."""
        first, last = self.spec.offsets[f : f + 2]
        return self.cells.reshape(self.spec.n_cells, -1)[first:last]


# ---- the best split of every feature -----------------------------------------------------------------------


def best_candidates(node: NodeCells) -> list[Candidate]:
    """Find the best split of each feature; the split that growing takes is the first.

    Each is the one that the kernel would choose if those before it did not exist. Features without an allowed split
    follow, by penalised gain. A feature with a single value has no split.
    """
    n = len(node.spec.nominal)
    numbers = np.full((n, 4), np.nan)
    found: dict[int, Candidate] = {}
    others = []
    for f in range(n):
        best = _best_of_kernel(node, f)
        if best is None:
            others += sorted(_scan(node, f, most=1, none_taken=True), key=_falling)[:1]
        else:
            found[f], numbers[f] = best
    spec = node.spec._replace(rules=_changed(node.rules, min_decrease=0.0))
    ranked = []
    while found:
        winner = levelwise.choose_split(
            numbers.ravel(), spec, node.evidence, node.n_rows, node.variance, node.allowed
        )
        if winner < 0:  # only for gain ratio
            left_out = [one._replace(rejected=one.rejected or _left_out(one)) for one in found.values()]
            ranked += sorted(left_out, key=_falling)
            break
        ranked.append(found.pop(winner))
        numbers[winner] = np.nan
    return ranked + sorted(others, key=_falling)


def _falling(one: Candidate) -> float:
    """Sort key: the largest gain after the penalty first."""
    return -one.penalised_gain


def _left_out(one: Candidate) -> str:
    """Say why C4.5 takes no split though some are allowed: it needs at least the average gain of some features."""
    return "no gain" if one.penalised_gain <= _TIE else "no average gain to compare with"


def _unless_overlooked(one: Candidate, best: Candidate, node: NodeCells) -> Candidate:
    """Reject a subset that is better than the one growing takes: it chooses the subset before the missing side."""
    compared = not node.rules.gain_ratio or one.way.missing == best.way.missing
    better = compared and one.penalised_gain > best.penalised_gain + _TIE
    if one.rejected or not better or not one.way.groups or one.way.missing not in ("left", "right"):
        return one
    return one._replace(rejected=_OVERLOOKED)


def all_candidates(node: NodeCells, f: int) -> tuple[list[Candidate], list[int]]:
    """List all splits of a feature in the order of the scan, and the rank of each, 0 for the best.

    Splits that are not allowed rank last. An S-value belongs to the best split alone. Of a nominal feature with more
    than 2,000 categories only the best splits are listed: each has all these categories.
    """
    best = _best_of_kernel(node, f)
    most = _MOST_CODES // (node.spec.n_codes.item(f) if node.spec.nominal[f] else 1)
    candidates, at = _scan(node, f, most=most, none_taken=best is None), -1
    if best is not None:
        key = best[0].way.key
        at = next((i for i, one in enumerate(candidates) if one.way.key == key), -1)
        if at < 0:  # many categories: left out, or the order of the scan is only nearly that of the kernel
            at = len(candidates)
            candidates.append(best[0])
        candidates[at] = best[0]
        candidates = [_unless_overlooked(one, best[0], node) for one in candidates]
    ranked = sorted(
        range(len(candidates)),
        key=lambda i: (i != at, candidates[i].rejected is not None, _falling(candidates[i])),
    )
    rank = np.empty(len(candidates), np.intp)
    rank[ranked] = np.arange(len(candidates))
    return candidates, rank.tolist()


def _best_of_kernel(node: NodeCells, f: int) -> tuple[Candidate, Floats] | None:
    """Return the best allowed split of a feature and its four numbers (`FeatureSplits`); None if there is none."""
    if not node.allows(f):
        return None
    cells = node.of_feature(f).ravel()
    spec = node.spec.some(f, f + 1)
    spec = spec._replace(rules=_changed(spec.rules, max_features=0))
    numbers, splits = levelwise.best_per_feature(
        cells, spec, node.evidence, node.n_rows, node.node.lower, node.node.upper, node.variance
    )
    if not splits:
        return None
    split, rules = splits[0], node.rules
    way = Way.of_slots(f, bool(node.spec.nominal[f]), split.slot_of, split.missing_slot)
    parts = _Parts(node, _summed(split, node.of_feature(f))[None], way.missing == "every", f)
    gain, penalised, score = parts.gains().item(), numbers[0].item(), numbers[1].item()
    decrease = penalised * node.weight / rules.total_weight
    candidate = Candidate(
        way,
        gain,
        gain - penalised if rules.gain_ratio else 0.0,
        parts.split_information().item(),
        score,
        _summed(split, node.shown[f]),
        f"impurity falls by {decrease:.3g}; min_impurity_decrease={rules.min_decrease:g}"
        if decrease < rules.min_decrease
        else None,
    )
    return candidate, numbers


def _summed(split: Split, numbers: NDArray[Any]) -> NDArray[Any]:
    """Add up the numbers of the codes in each slot: shape (n_slots, m)."""
    present = split.slot_of >= 0
    summed = np.zeros((split.n_slots, numbers.shape[1]), numbers.dtype)
    np.add.at(summed, split.slot_of[present], numbers[present])
    return summed


def _changed(rules: Rules, **changes: Any) -> Rules:
    changed = copy(rules)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


# ---- the gains of many splits ------------------------------------------------------------------------------


class _Parts:
    """The cells of the children of n splits of a node, shape (n, n_children, m)."""

    def __init__(self, node: NodeCells, cells: Cells, every: bool, f: int) -> None:
        n, n_children, m = cells.shape
        self.node, self.every = node, every
        self.cells = np.zeros((n, n_children + 1, m), node.cells.dtype)
        self.cells[:, :-1] = cells
        if every:
            self.cells[:, -1] = node.of_feature(f)[-1]
        self.rules = _changed(
            node.rules,
            nominal=Nominal.multiway,
            missing=Missing.fractional if every else Missing.own,
            gain_ratio=False,
            corrected=False,
            min_rows_leaf=0,
            min_weight_leaf=0,
            max_features=0,
        )
        spec = self._spec(n)
        evidence, rows = subtree.channels(self.cells.ravel(), spec)
        self.evidence = evidence.reshape(n, n_children + 1, -1)
        self.rows = rows.reshape(n, n_children + 1)[:, :-1]
        self.weights = self.evidence[..., 0] if spec.sums else self.evidence.sum(axis=-1)

    def _spec(self, n: int) -> GrowthSpec:
        spec = self.node.spec
        n_codes = np.full(n, self.cells.shape[1] - 1, np.int32)
        return GrowthSpec.of(
            n_codes, np.ones(n, np.uint8), None, None, spec.n_classes, spec.criterion, self.rules
        )

    @property
    def weight(self) -> Counts:
        """Weight of each child, shape (n, n_children)."""
        return self.weights[:, :-1]

    def gains(self) -> Floats:
        """Gain of each split, by the kernel; 0 where the gain of sums is not above their rounding."""
        node, gains = self.node, []
        for begin in range(0, len(self.cells), _AT_ONCE):
            cells = self.cells[begin : begin + _AT_ONCE]
            numbers, _ = levelwise.best_per_feature(
                cells.ravel(), self._spec(len(cells)), node.evidence, node.n_rows, *node.spec.bounds
            )
            gains.append(numbers.reshape(-1, 4)[:, 0])
        return np.nan_to_num(np.concatenate(gains)) if gains else np.empty(0)

    def split_information(self) -> Floats:
        """Entropy of the weights of the children, and of the missing values if they go to every child, in bits."""
        found: Floats = impurity(self.weights if self.every else self.weight)  # type: ignore[assignment]
        return found


def gain_of_children(spec: GrowthSpec, node: NodeRange, evidence: Counts, n_rows: Counts) -> float:
    """Return the gain of a split from the evidence and the number of rows of each child."""
    if spec.sums:
        cells: Counts = np.column_stack((evidence[:, 1], evidence[:, 0], n_rows))
    else:  # the gain does not depend on the number of rows of a class
        cells = np.stack((evidence, evidence > 0), axis=2).reshape(len(evidence), -1).astype(np.int64)
    total = int(n_rows.sum() if spec.sums else (evidence > 0).sum())
    parent = NodeCells(cells, spec, evidence.sum(axis=0), total, node, 0.0, ())
    return _Parts(parent, cells[None], False, 0).gains().item()


# ---- all splits of a feature -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Sweep:
    """Splits of a feature that send missing values the same way.

    Parameters
    ----------
    feature : int
    nominal : bool
    codes : array of int
        The codes that occur, in the order of the scan. The missing code is one of them if it is a category.
    missing_code : int
    missing : Direction or None
        None also if the missing code is one of the codes.
    kind : {"cuts", "subsets", "multiway", "known"}
        Cuts of the order, all subsets, a child per code, or known against missing values.
    """

    feature: int
    nominal: bool
    codes: NDArray[np.intp]
    missing_code: int
    missing: Direction | None
    kind: Literal["cuts", "subsets", "multiway", "known"] = "cuts"

    def __len__(self) -> int:
        if self.kind == "subsets":
            return (1 << (len(self.codes) - 1)) - 1
        return len(self.codes) - 1 if self.kind == "cuts" else 1

    def first_child(self, at: int) -> Bools:
        """Tell which codes go to the first child of a split with two."""
        n = np.arange(len(self.codes))
        return n <= at if self.kind == "cuts" else ((at + 1) >> n & 1).astype(np.bool_)

    def children(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Add up the numbers of the codes in each child: shape (n, n_children, m)."""
        known, missing = numbers[self.codes], numbers[-1]
        total = known.sum(axis=0, dtype=known.dtype)
        if self.kind == "known":
            return np.stack((total, missing))[None]
        if self.kind == "multiway":
            parts = known[None].copy()
        else:
            if self.kind == "cuts":
                first = np.cumsum(known, axis=0, dtype=known.dtype)[:-1]
            else:
                members = np.stack([self.first_child(at) for at in range(len(self))])
                first = np.where(members[:, :, None], known, 0).sum(axis=1, dtype=known.dtype)
            parts = np.stack((first, total - first), axis=1)
        if self.missing in ("left", "right"):
            parts[:, int(self.missing == "right")] += missing
        if self.missing == "own":
            parts = np.concatenate((parts, np.broadcast_to(missing, (len(parts), 1, len(missing)))), axis=1)
        return parts

    def way(self, at: int) -> Way:
        """Return one of the splits."""
        f, codes, missing_code = self.feature, self.codes, self.missing_code
        if not self.nominal:
            if self.kind == "known":
                return Way(f, "own", int(codes[-1]), missing_code)
            return Way(f, self.missing, int(codes[at]), int(codes[at + 1]))
        if self.kind == "multiway":
            groups = [[code] for code in codes.tolist()]
        elif self.kind == "known":
            groups = [codes.tolist()]
        else:
            first = self.first_child(at)
            groups = [codes[first].tolist(), codes[~first].tolist()]
        if self.missing in ("left", "right"):
            groups[int(self.missing == "right")].append(missing_code)
        elif self.missing == "own":
            groups.append([missing_code])
        children = tuple(tuple(sorted(group)) for group in groups)
        missing = _direction(children, missing_code, every=self.missing == "every")
        return Way(f, missing, groups=children)


def _scan(node: NodeCells, f: int, *, most: int, none_taken: bool) -> list[Candidate]:
    """List all splits of a feature that the kernel looks at, and those that it would if they were allowed.

    Of each sweep those with the largest gains, at most ``most``. ``none_taken``: the kernel takes none of them, because
    the S-value of the best is near 0, or because its subset is too small on either side.
    """
    found = [one for sweep in _sweeps(node, f) for one in _candidates(node, sweep, most)]
    if not node.allows(f):
        found = [one._replace(rejected=_NOT_HERE) for one in found]
    elif none_taken:
        reason = "no more gain than by chance" if node.rules.corrected else _OVERLOOKED
        found = [one._replace(rejected=one.rejected or reason) for one in found]
    return found


def _sweeps(node: NodeCells, f: int) -> list[_Sweep]:
    spec, rules = node.spec, node.rules
    first, last = spec.offsets[f : f + 2]
    evidence, rows = (part[first:last] for part in subtree.channels(node.cells, spec))
    nominal, missing_code = bool(spec.nominal[f]), int(last - first) - 1
    known, any_missing = np.flatnonzero(rows[:-1]), bool(rows[-1])

    def sweep(missing: Direction | None, kind: Any = "cuts", codes: NDArray[np.intp] = known) -> _Sweep:
        return _Sweep(f, nominal, codes, missing_code, missing, kind)

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
        codes = codes if kind == "subsets" else codes[_scan_order(evidence[codes], spec)]
    if not any_missing:
        return [sweep(None, kind, codes)]
    if fractional:
        return [sweep("every", kind, codes)]
    known_against_missing = sweep("own", "known")
    parts = _Parts(node, known_against_missing.children(node.of_feature(f)), False, f)
    if rules.missing == Missing.own and _rejections(node, known_against_missing, parts) == [None]:
        return [known_against_missing, sweep("own", kind, codes)]
    return [known_against_missing, sweep("right", kind, codes), sweep("left", kind, codes)]


def _scan_order(evidence: Counts, spec: GrowthSpec) -> NDArray[np.intp]:
    """Sort categories as a scan cuts them: by mean or by the share of the second class.

    For more classes it is the direction in which the class shares differ most.
    """
    if spec.sums or spec.n_classes == 2:
        weight = evidence[:, 0] if spec.sums else evidence.sum(axis=1)
        return np.argsort(evidence[:, 1] / weight, kind="stable")
    weight = evidence.sum(axis=1, keepdims=True)
    shares = evidence / weight
    centred = np.sqrt(weight) * (shares - evidence.sum(axis=0) / weight.sum())
    direction = np.linalg.svd(centred, full_matrices=False)[2][0]
    return np.argsort((shares * direction).sum(axis=1).round(12), kind="stable")


def _candidates(node: NodeCells, sweep: _Sweep, most: int) -> list[Candidate]:
    rules, n = node.rules, len(sweep)
    if n == 0:
        return []
    parts = _Parts(
        node, sweep.children(node.of_feature(sweep.feature)), sweep.missing == "every", sweep.feature
    )
    rejected = _rejections(node, sweep, parts)
    gains, information = parts.gains(), parts.split_information()
    penalty, useful = 0.0, gains > 0 if node.spec.sums else np.ones(n, np.bool_)
    if rules.gain_ratio:
        n_allowed = max(1, rejected.count(None))
        if not sweep.nominal:
            penalty = log2(float(n_allowed)).item() / (node.weight * rules.unit)
        if sweep.kind != "multiway":
            useful = gains - penalty > _TIE
        if sweep.missing == "own" and sweep.kind in ("cuts", "subsets"):  # the cut itself must gain
            inner = _Parts(node, parts.cells[:, :2], True, sweep.feature)
            useful &= inner.gains() > _TIE
    shown = sweep.children(node.shown[sweep.feature])
    ratio = np.divide(gains - penalty, information, out=np.zeros(n), where=information > _TIE)
    score = ratio if rules.gain_ratio else np.full(n, np.nan) if rules.corrected else gains
    for at in np.flatnonzero(~useful):
        rejected[at] = rejected[at] or ("no gain after the penalty" if penalty else "no gain")
    listed = range(n) if n <= most else sorted(np.argsort(-gains, kind="stable")[:most].tolist())
    return [
        Candidate(
            sweep.way(i), gains.item(i), penalty, information.item(i), score.item(i), shown[i], rejected[i]
        )
        for i in listed
    ]


# ---- why a split is not allowed ----------------------------------------------------------------------------


def _rejections(node: NodeCells, sweep: _Sweep, parts: _Parts) -> list[str | None]:
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


def _least_weight(node: NodeCells, sweep: _Sweep, weight: Counts) -> Counts:
    """Weight that each side of a split needs, in steps; C4.5 has a rule for numeric cuts."""
    rules = node.rules
    least = np.full(len(weight), rules.min_weight_leaf)
    if rules.gain_ratio and not sweep.nominal and sweep.kind == "cuts":
        tenth = 0.1 * weight.sum(axis=1) * rules.unit / node.spec.n_classes
        lowest = rules.min_weight_leaf * rules.unit
        bar = np.where(tenth <= lowest, lowest, np.minimum(tenth, 25.0))
        least = np.maximum(np.ceil((bar - _TIE) / rules.unit), 0).astype(np.int64)
    return least


def _within_bounds(node: NodeCells, parts: _Parts, children: slice) -> Bools:
    """Whether the rate of each child is within the bounds of the node."""
    weight = parts.weight[:, children]
    if node.spec.monotone is None:
        return np.ones(weight.shape, np.bool_)
    rate = parts.evidence[:, :-1][:, children, 1] / np.maximum(weight, 1)
    return (rate >= node.node.lower) & (rate <= node.node.upper)
