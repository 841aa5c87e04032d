"""All splits of a feature that growing looks at, or would look at if they were allowed."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.growing.candidates.gains import Parts
from hornbeam.growing.candidates.node_cells import NodeCells
from hornbeam.growing.candidates.rejections import TIE, rejections
from hornbeam.growing.candidates.sweep import Sweep, scan_order
from hornbeam.growing.candidates.way import Direction, Way
from hornbeam.kernels import subtree
from hornbeam.kernels.elementary import log2
from hornbeam.kernels.subtree import Missing, Nominal
from hornbeam.typing import Counts

__all__ = ["OVERLOOKED", "Candidate", "scan"]

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
    first, last = spec.offsets[f : f + 2]
    evidence, rows = (part[first:last] for part in subtree.channels(node.cells, spec))
    nominal, missing_code = bool(spec.nominal[f]), int(last - first) - 1
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
    if rules.missing == Missing.own and rejections(node, known_against_missing, parts) == [None]:
        return [known_against_missing, sweep("own", kind, codes)]
    return [known_against_missing, sweep("right", kind, codes), sweep("left", kind, codes)]


def _candidates(node: NodeCells, sweep: Sweep, most: int) -> list[Candidate]:
    rules, n = node.rules, len(sweep)
    if n == 0:
        return []
    parts = Parts(
        node, sweep.children(node.of_feature(sweep.feature)), sweep.missing == "every", sweep.feature
    )
    rejected = rejections(node, sweep, parts)
    gains, information = parts.gains(), parts.split_information()
    penalty, useful = 0.0, gains > 0 if node.spec.sums else np.ones(n, np.bool_)
    if rules.gain_ratio:
        n_allowed = max(1, rejected.count(None))
        if not sweep.nominal:
            penalty = log2(float(n_allowed)).item() / (node.weight * rules.unit)
        if sweep.kind != "multiway":
            useful = gains - penalty > TIE
        if sweep.missing == "own" and sweep.kind in ("cuts", "subsets"):  # the cut itself must gain
            inner = Parts(node, parts.cells[:, :2], True, sweep.feature)
            useful &= inner.gains() > TIE
    shown = sweep.children(node.shown[sweep.feature])
    ratio = np.divide(gains - penalty, information, out=np.zeros(n), where=information > TIE)
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
