"""The candidate splits of a node in their order: the best of each feature, or all of one feature."""

import numpy as np

from hornbeam.explain.candidates.scan import OVERLOOKED, TIE, Candidate, scan
from hornbeam.explain.candidates.way import Way
from hornbeam.growing.split_gains import NodeCells, Parts, changed_rules
from hornbeam.kernels import levelwise
from hornbeam.typing import Floats

_MOST_CODES = 4_000_000  # in the children of all splits that are listed


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
            others += sorted(scan(node, f, most=1, none_taken=True), key=_falling)[:1]
        else:
            found[f], numbers[f] = best
    spec = node.spec._replace(rules=changed_rules(node.rules, min_decrease=0.0))
    ranked = []
    while found:
        winner = levelwise.choose_split(
            numbers.ravel(), spec, node.evidence, node.n_rows, node.variance, node.here
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
    return "no gain" if one.penalised_gain <= TIE else "no average gain to compare with"


def _unless_overlooked(one: Candidate, best: Candidate, node: NodeCells) -> Candidate:
    """Reject a subset that is better than the one growing takes: it chooses the subset before the missing side."""
    compared = not node.rules.gain_ratio or one.way.missing == best.way.missing
    better = compared and one.penalised_gain > best.penalised_gain + TIE
    if one.rejected or not better or not one.way.groups or one.way.missing not in ("left", "right"):
        return one
    return one._replace(rejected=OVERLOOKED)


def all_candidates(node: NodeCells, f: int) -> tuple[list[Candidate], list[int]]:
    """List all splits of a feature in the order of the scan, and the rank of each, 0 for the best.

    Splits that are not allowed rank last. An S-value belongs to the best split alone. Of a nominal feature with more
    than 2,000 categories only the best splits are listed: each has all these categories.
    """
    best = _best_of_kernel(node, f)
    most = _MOST_CODES // (node.spec.n_codes.item(f) if node.spec.nominal[f] else 1)
    candidates, at = scan(node, f, most=most, none_taken=best is None), -1
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
    """Return the best allowed split of a feature and its four numbers (`FeatureSplits`); None without any."""
    if not node.allows(f):
        return None
    cells = node.of_feature(f).ravel()
    spec = node.spec.some(f, f + 1)
    spec = spec._replace(rules=changed_rules(spec.rules, max_features=0))
    numbers, splits = levelwise.best_per_feature(
        cells,
        spec,
        node.evidence,
        node.n_rows,
        node.node.lower,
        node.node.upper,
        node.variance,
        node.here.some(f, f + 1),
    )
    if not splits:
        return None
    split, rules = splits[0], node.rules
    way = Way.of_slots(f, bool(node.spec.nominal[f]), split.slot_of, split.missing_slot)
    parts = Parts(node, split.summed(node.of_feature(f))[None], way.missing == "every", f)
    gain, penalised, score = parts.gains().item(), numbers[0].item(), numbers[1].item()
    decrease = penalised * node.weight / rules.total_weight
    candidate = Candidate(
        way,
        gain,
        gain - penalised if rules.gain_ratio or node.price(f) else 0.0,
        parts.split_information().item(),
        score,
        split.summed(node.shown[f]),
        f"impurity falls by {decrease:.3g}; min_impurity_decrease={rules.min_decrease:g}"
        if decrease < rules.min_decrease
        else None,
    )
    return candidate, numbers
