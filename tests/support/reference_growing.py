"""A slow, obvious twin of the grower: one node, one test, one row at a time.

Weights are Python's own integers, gains are floats. Every test a node could ask is written out as its
branches, in the declared order: features as they stand, within a feature known against missing first, then
the cuts from the lowest up (missing values on the right, then on the left). Of gains closer than `TIE` the
first in that order wins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import ceil, log2, sqrt
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree

__all__ = [
    "IMPURITY",
    "Case",
    "Node",
    "Trial",
    "Twin",
    "best_subset_gain",
    "divisions",
    "entropy",
    "gini",
    "grow_slowly",
    "may_follow",
    "n_copies",
    "unpaid_price",
]

TIE = 2.0**-36
C45_TIE = 1e-6


class Case(NamedTuple):
    """A row, or the part of it that came down this branch."""

    codes: tuple[int, ...]
    label: int
    weight: int


type Cases = list[Case]


class Trial(NamedTuple):
    """A test a node could ask: where each code present goes, and what that is worth."""

    feature: int
    slot_of: dict[int, int]
    n_slots: int
    gain: float
    score: float
    cut: tuple[int, int] | None = None
    spreads: bool = False


@dataclass
class Node:
    """A node of the twin's tree."""

    cases: Cases
    depth: int
    bounds: tuple[float, float]
    path: frozenset[int] = frozenset()
    trial: Trial | None = None
    children: list["Node"] = field(default_factory=list)


def entropy(counts: Sequence[float]) -> float:
    """Entropy in bits of class weights."""
    total = sum(counts)
    return -sum(n / total * log2(n / total) for n in counts if n)


def gini(counts: Sequence[float]) -> float:
    """Gini impurity of class weights."""
    total = sum(counts)
    return 1 - sum((n / total) ** 2 for n in counts) if total else 0.0


IMPURITY = {Criterion.ENTROPY: entropy, Criterion.GAIN_RATIO: entropy, Criterion.GINI: gini}


def n_copies(table: Table) -> int | None:
    """Number of rows, one of weight 2 counted twice; None where weights are not whole numbers."""
    if table.unit != 1.0:
        return None
    return table.n_rows if table.weight is None else int(table.weight.sum())


def may_follow(grower: Grower, path: frozenset[int], f: int, n_features: int) -> bool:
    """Whether a feature may split a node below splits of these features."""
    if f in path and grower.once_per_path:
        return False
    if any((above, f) in (grower.forbidden_below or ()) for above in path):
        return False
    groups = [set(group) for group in grower.interaction_cst or ()]
    groups.append(set(range(n_features)).difference(*groups))
    return any({*path, f} <= group for group in groups)


def unpaid_price(grower: Grower, path: frozenset[int], f: int) -> float:
    """What a path that has tested these features has still to pay for a test of f."""
    items = grower.feature_costs or ()
    return sum(price for price, features in items if f in features and not path & set(features))


def weight_of(cases: Cases) -> int:
    return sum(case.weight for case in cases)


class Twin:
    """Grows trees as `Grower` should."""

    def __init__(self, grower: Grower, table: Table, bins: Bins) -> None:
        self.grower, self.bins = grower, bins
        self.n_classes = table.schema.n_classes
        self.n_codes = bins.n_codes.tolist()
        codes = [tuple(map(int, row)) for row in bins.encode(table)]
        assert table.target is not None
        weight = [1] * table.n_rows if table.weight is None else table.weight.tolist()
        self.unit, self.missing = table.unit, grower.missing
        if self.missing is Missing.FRACTIONAL:
            if any(code == n for row in codes for code, n in zip(row, self.n_codes, strict=True)):
                shift = max(0, 48 - (max(weight) * len(weight)).bit_length())
                weight, self.unit = [w << shift for w in weight], self.unit / 2**shift
            else:
                self.missing = Missing.OWN
        self.cases = [Case(*case) for case in zip(codes, table.target.tolist(), weight, strict=True)]
        self.total = weight_of(self.cases)
        copies = n_copies(table)
        self.rows_per_step = (
            (table.n_rows if copies is None else copies) / grower.design_effect / max(self.total, 1)
        )
        self.least = max(0, ceil((grower.min_weight_leaf - 1e-6) / self.unit))
        self.price_unit = 0.0
        if grower.feature_costs:
            counts = self.counts(self.cases)
            hellinger = grower.criterion is Criterion.HELLINGER
            loss = 1.0 if hellinger else IMPURITY[grower.criterion](counts)
            self.price_unit = loss / 100 * grower.feature_cost_weight
        self.ratio = grower.criterion is Criterion.GAIN_RATIO
        self.tie = C45_TIE if self.ratio else TIE

    # ---- the tree

    def grow(self) -> list[Node]:
        """Return all nodes in level order."""
        nodes = [Node(self.cases, 0, (0.0, 1.0))]
        for node in nodes:  # grows while we walk it
            node.trial = self.best(node) if self.may_split(node) else None
            if node.trial is not None:
                branches = self.spread(node) if node.trial.spreads else self.part(node)
                for slot, cases in enumerate(branches):
                    bounds = self.bounds_below(node, slot, branches)
                    path = node.path | {node.trial.feature}
                    node.children.append(Node(cases, node.depth + 1, bounds, path))
                nodes += node.children
        return nodes

    def counts(self, cases: Cases) -> list[int]:
        return [sum(case.weight for case in cases if case.label == k) for k in range(self.n_classes)]

    def may_split(self, node: Node) -> bool:
        grower = self.grower
        return (
            len({case.label for case in node.cases}) > 1
            and len(node.cases) >= max(grower.min_samples_split, 2 * grower.min_samples_leaf)
            and weight_of(node.cases) >= 2 * self.least
            and (grower.max_depth is None or node.depth < grower.max_depth)
        )

    def part(self, node: Node) -> list[Cases]:
        assert node.trial is not None
        branches: list[Cases] = [[] for _ in range(node.trial.n_slots)]
        for case in node.cases:
            branches[node.trial.slot_of[case.codes[node.trial.feature]]].append(case)
        return branches

    def spread(self, node: Node) -> list[Cases]:
        """Known rows go where they belong, the others everywhere: floored shares, the rest to the last."""
        assert node.trial is not None
        f, n_slots = node.trial.feature, node.trial.n_slots
        known, lost = self.known_and_missing(node.cases, f)
        branches: list[Cases] = [[] for _ in range(n_slots)]
        for case in known:
            branches[node.trial.slot_of[case.codes[f]]].append(case)
        sizes = [weight_of(branch) for branch in branches]
        for case in lost:
            parts = [case.weight * size // sum(sizes) for size in sizes[:-1]]
            for branch, part in zip(branches, [*parts, case.weight - sum(parts)], strict=True):
                if part:
                    branch.append(case._replace(weight=part))
        return branches

    def known_and_missing(self, cases: Cases, f: int) -> tuple[Cases, Cases]:
        known = [case for case in cases if case.codes[f] != self.n_codes[f]]
        return known, [case for case in cases if case.codes[f] == self.n_codes[f]]

    # ---- what a test is worth

    def gain(self, node: Node, branches: list[Cases]) -> float:
        """Worth of sending the rows of some branches apart, for each unit of the node's weight."""
        whole = [case for branch in branches for case in branch]
        if self.grower.criterion is Criterion.HELLINGER:
            overlap = sum(self.hellinger(node, branch) for branch in branches)
            return max(0.0, self.hellinger(node, whole) - overlap)
        impurity = IMPURITY[self.grower.criterion]

        def loss(cases: Cases) -> float:
            return weight_of(cases) * impurity(self.counts(cases))

        return max(0.0, (loss(whole) - sum(map(loss, branches))) / weight_of(node.cases))

    def hellinger(self, node: Node, cases: Cases) -> float:
        """Overlap of each class with the rest in a branch, averaged over the classes that have a rest."""
        total, mine = weight_of(node.cases), weight_of(cases)
        counts = zip(self.counts(node.cases), self.counts(cases), strict=True)
        pairs = [(n, x) for n, x in counts if 0 < n < total]
        return sum(sqrt(x * (mine - x)) / sqrt(n * (total - n)) for n, x in pairs) / len(pairs)

    def split_information(self, node: Node, branches: list[Cases]) -> float:
        """Entropy of the branches' weights; rows in none of them are one more."""
        sizes = [weight_of(branch) for branch in branches]
        return entropy([*sizes, weight_of(node.cases) - sum(sizes)])

    # ---- which tests there are

    def best(self, node: Node) -> Trial | None:
        """The test of a node."""
        features = [
            f for f in range(len(self.n_codes)) if may_follow(self.grower, node.path, f, len(self.n_codes))
        ]
        trials = [t for f in features if (t := self.best_of_feature(node, f))]
        winner = self.by_ratio(trials, features) if self.ratio else first_best(trials, TIE)
        if winner is None:
            return None
        decrease = winner.gain * weight_of(node.cases) / self.total
        return winner if decrease >= self.grower.min_impurity_decrease else None

    def by_ratio(self, trials: list[Trial], features: list[int]) -> Trial | None:
        """C4.5: of the tests with at least average gain, the first with the best ratio."""
        few = [not self.bins.nominal[f] or n < 0.3 * len(self.cases) for f, n in enumerate(self.n_codes)]
        none_few = not any(few[f] for f in features)
        gains = [t.gain for t in trials if few[t.feature] or none_few]
        if not gains:
            return None
        bar = sum(gains) / len(gains) - 1e-3
        return first_best([t for t in trials if t.gain >= bar and t.score > C45_TIE], C45_TIE)

    def best_of_feature(self, node: Node, f: int) -> Trial | None:
        known, lost = self.known_and_missing(node.cases, f)
        if not known:
            return None
        if self.bins.nominal[f] and self.grower.nominal_split is Nominal.MULTIWAY:
            return self.multiway(node, f, known, lost)
        as_category = bool(self.bins.nominal[f]) and self.missing is Missing.LEARNED
        if as_category or not lost:
            return self.best_cut(node, f, node.cases, lambda left, right: [left, right])
        if self.missing is Missing.FRACTIONAL:
            return self.best_cut(node, f, known, lambda left, right: [left, right])
        apart = all(self.enough(cases) and self.inside(node, cases) for cases in (known, lost))
        apart = apart and weight_of(lost) * self.rows_per_step >= self.grower.min_samples_missing - 1e-6
        trials = [self.make(node, f, [known, lost], None, 1)] if apart else []
        if apart and self.missing is Missing.OWN:
            trials.append(self.best_cut(node, f, known, lambda left, right: [left, right, lost]))
        else:
            trials.append(self.best_cut(node, f, known, lambda left, right: [left, [*right, *lost]]))
            trials.append(self.best_cut(node, f, known, lambda left, right: [[*left, *lost], right]))
        return first_best([t for t in trials if t], self.tie)

    def multiway(self, node: Node, f: int, known: Cases, lost: Cases) -> Trial | None:
        branches = [[c for c in known if c.codes[f] == code] for code in sorted({c.codes[f] for c in known})]
        if lost and self.missing is not Missing.FRACTIONAL:
            branches.append(lost)
        if sum(map(self.enough, branches)) < 2 or not all(self.inside(node, branch) for branch in branches):
            return None
        return self.make(node, f, branches, None, 1, may_be_useless=True)

    def best_cut(
        self, node: Node, f: int, cases: Cases, deal: Callable[[Cases, Cases], list[Cases]]
    ) -> Trial | None:
        """The best cut between two neighbouring codes, or between two categories in order of affinity."""
        order = self.arranged(node, cases, f) if self.bins.nominal[f] else sorted({c.codes[f] for c in cases})
        allowed = []
        for place, (left_code, right_code) in enumerate(pairwise(order), start=1):
            low = set(order[:place])
            left = [case for case in cases if case.codes[f] in low]
            right = [case for case in cases if case.codes[f] not in low]
            branches = deal(left, right)
            if self.allowed(node, f, branches[:2]) and self.wide(f, left_code, right_code):
                allowed.append((self.gain(node, branches), branches, (left_code, right_code)))
        # C4.5 wants gain from the cut itself, not from a third branch of missing values.
        useful = [cut for cut in allowed if not self.ratio or self.gain(node, cut[1][:2]) > C45_TIE]
        best = first_best(useful, self.tie, lambda cut: cut[0])
        return None if best is None else self.make(node, f, best[1], best[2], len(allowed))

    def allowed(self, node: Node, f: int, sides: list[Cases]) -> bool:
        left, right = sides
        if not all(self.enough(side) and self.inside(node, side) for side in sides):
            return False
        if self.ratio and not self.bins.nominal[f]:
            tenth = 0.1 * weight_of(left + right) * self.unit / self.n_classes
            least = self.least * self.unit
            bar = least if tenth <= least else min(tenth, 25.0)
            if any(weight_of(side) * self.unit < bar - 1e-6 for side in sides):
                return False
        sign = (
            0 if self.grower.monotonic_cst is None or self.bins.nominal[f] else self.grower.monotonic_cst[f]
        )
        if sign == 0:
            return True
        (left_second, right_second) = (self.counts(side)[1] for side in sides)
        return sign * (left_second * weight_of(right) - right_second * weight_of(left)) <= 0

    def wide(self, f: int, left_code: int, right_code: int) -> bool:
        """C4.5 does not cut between values closer than 1e-5."""
        if not self.ratio or self.bins.nominal[f] or self.bins.values is None:
            return True
        values = self.bins.values[f]
        return bool(values[left_code] + 1e-5 < values[right_code])

    def enough(self, cases: Cases) -> bool:
        return len(cases) >= self.grower.min_samples_leaf and weight_of(cases) >= self.least

    def make(
        self,
        node: Node,
        f: int,
        branches: list[Cases],
        cut: tuple[int, int] | None,
        n_cuts: int,
        *,
        may_be_useless: bool = False,
    ) -> Trial | None:
        """Write a test down less its price; under gain ratio a cut pays for the choice among `n_cuts`."""
        gain, price = self.gain(node, branches), unpaid_price(self.grower, node.path, f) * self.price_unit
        if price > 0:
            gain -= price
            if gain <= 0:
                return None
        score = gain
        if self.ratio:
            if not self.bins.nominal[f]:
                gain -= log2(n_cuts) / (weight_of(node.cases) * self.unit)
            if gain <= C45_TIE and not may_be_useless:
                return None
            information = self.split_information(node, branches)
            score = gain / information if information > C45_TIE else 0.0
        slot_of = {case.codes[f]: slot for slot, branch in enumerate(branches) for case in branch}
        spreads = self.missing is Missing.FRACTIONAL and bool(self.known_and_missing(node.cases, f)[1])
        if not self.bins.nominal[f] and cut is None:
            cut = (max(code for code, slot in slot_of.items() if slot == 0), self.n_codes[f])
        return Trial(f, slot_of, len(branches), gain, score, None if self.bins.nominal[f] else cut, spreads)

    # ---- categories in order

    def arranged(self, node: Node, cases: Cases, f: int) -> list[int]:
        """Categories in the order in which they are cut: of more than two classes the best subset comes first."""
        order = self.affinity(cases, f)
        if self.n_classes == 2 or not 3 <= len(order) <= 10:
            return order
        trials = []
        for step in range(1, 2 ** (len(order) - 1)):
            chosen = {
                code for rank, code in enumerate(order) if (step ^ step >> 1) >> rank & 1
            }  # Gray's code
            sides = [
                [case for case in cases if (case.codes[f] in chosen) == inside] for inside in (True, False)
            ]
            if all(map(self.enough, sides)):
                trials.append((self.gain(node, sides), chosen))
        best = first_best(trials, self.tie, lambda trial: trial[0])
        prefixes = [gain for gain, chosen in trials if chosen == set(order[: len(chosen)])]
        if best is None or (prefixes and best[0] <= max(prefixes) + self.tie):
            return order
        return sorted(order, key=lambda code: code not in best[1])

    def affinity(self, cases: Cases, f: int) -> list[int]:
        """Categories by their share of the second class; of more classes, along the principal direction."""
        categories = sorted({case.codes[f] for case in cases})
        by_category = [[case for case in cases if case.codes[f] == code] for code in categories]
        counts = np.array([self.counts(group) for group in by_category], float)
        shares = counts / counts.sum(axis=1, keepdims=True)
        if self.n_classes == 2:
            place = shares[:, 1]
        else:
            place = (shares @ principal_direction(counts.sum(axis=1), shares) * 2**40).round()
        return [code for _, code in sorted(zip(place.tolist(), categories, strict=True))]

    # ---- monotone constraints

    def inside(self, node: Node, cases: Cases) -> bool:
        if self.grower.monotonic_cst is None:
            return True
        return node.bounds[0] <= self.second_share(cases) <= node.bounds[1]

    def second_share(self, cases: Cases) -> float:
        return self.counts(cases)[1] / weight_of(cases)

    def bounds_below(self, node: Node, slot: int, branches: list[Cases]) -> tuple[float, float]:
        """Below a cut of a monotone feature each side keeps to its half of the node's range."""
        trial = node.trial
        assert trial is not None
        parts_numbers = trial.cut is not None and trial.cut[1] < self.n_codes[trial.feature]
        if self.grower.monotonic_cst is None or not parts_numbers or slot > 1:
            return node.bounds
        sign = self.grower.monotonic_cst[trial.feature]
        if sign == 0:
            return node.bounds
        middle = (self.second_share(branches[0]) + self.second_share(branches[1])) / 2
        return (node.bounds[0], middle) if (slot == 0) == (sign > 0) else (middle, node.bounds[1])


def first_best[T](
    trials: Sequence[T], tie: float, score: Callable[[T], float] = attrgetter("score")
) -> T | None:
    """The first of the best scores."""
    best: T | None = None
    for trial in trials:
        if best is None or score(trial) > score(best) + tie:
            best = trial
    return best


def principal_direction(weight: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """24 power steps with the weighted covariance of the class shares, from the class that varies most."""
    centred = shares - np.average(shares, axis=0, weights=weight)
    covariance = (weight[:, None] * centred).T @ centred
    direction = np.zeros(len(covariance))
    variance = np.diag(covariance) / weight.sum()
    direction[np.flatnonzero(variance >= variance.max() - 1e-9)[0]] = 1.0
    for _ in range(24):
        ahead = covariance @ direction
        if np.abs(ahead).max() == 0:
            break
        direction = ahead / np.abs(ahead).max()
    return direction


def best_subset_gain(twin: Twin, node: Node, f: int) -> float:
    """The best gain over all ways to part the categories present in two."""
    categories = sorted({case.codes[f] for case in node.cases})
    best = 0.0
    for size in range(1, len(categories)):
        for chosen in combinations(categories, size):
            left = [case for case in node.cases if case.codes[f] in chosen]
            right = [case for case in node.cases if case.codes[f] not in chosen]
            best = max(best, twin.gain(node, [left, right]))
    return best


def grow_slowly(grower: Grower, table: Table, bins: Bins) -> Tree:
    """Grow the tree `Grower.grow` should grow; a leaf budget is left to others."""
    twin = Twin(grower, table, bins)
    nodes = twin.grow()
    return Tree.raw(
        table.schema,
        _skeleton(nodes, twin, table.schema),
        np.array([twin.counts(node.cases) for node in nodes]),
        unit=twin.unit,
        rows=np.array([len(node.cases) for node in nodes]),
        gain=np.array([np.nan if node.trial is None else node.trial.gain for node in nodes]),
    )


def _skeleton(nodes: list[Node], twin: Twin, schema: Schema) -> Skeleton:
    feature, threshold, missing_slot, runs = zip(*(_test(node.trial, twin) for node in nodes), strict=True)
    return Skeleton.of(
        [len(node.children) for node in nodes],
        feature,
        threshold,
        missing_slot=missing_slot,
        slot_start=np.cumsum([0, *map(len, runs)]),
        slot_of=[slot for run in runs for slot in run],
    )


def _test(trial: Trial | None, twin: Twin) -> tuple[int, float, int, list[int]]:
    """Feature, threshold, missing slot and slots of the categories."""
    if trial is None:
        return -1, np.nan, -1, []
    f = trial.feature
    missing_code = twin.n_codes[f]
    missing_slot = -2 if trial.spreads else trial.slot_of.get(missing_code, -1)
    if twin.bins.nominal[f]:
        return f, np.nan, missing_slot, [trial.slot_of.get(code, -1) for code in range(missing_code)]
    assert trial.cut is not None
    left, right = trial.cut
    if right == missing_code:
        return f, np.inf, missing_slot, []
    return f, float(twin.bins.threshold(f, left, right, at_values=twin.ratio)), missing_slot, []


def divisions(column, rows, nominal: bool, grower: Grower):
    """All splits of a node's rows by one feature, with missing values in a third child or in either child."""
    values = {row: column[row] for row in rows}
    lost = [row for row in rows if (values[row] < 0 if nominal else np.isnan(values[row]))]
    known = [row for row in rows if row not in lost]
    seen = sorted({values[row] for row in known})
    if nominal and grower.nominal_split is Nominal.MULTIWAY:
        yield [[row for row in known if values[row] == v] for v in seen] + ([lost] if lost else [])
        return
    if nominal:
        lefts = [set(c) for n in range(1, len(seen)) for c in combinations(seen, n)]
    else:
        lefts = [set(seen[:n]) for n in range(1, len(seen))]
    sides = [
        ([r for r in known if values[r] in left], [r for r in known if values[r] not in left])
        for left in lefts
    ]
    if not lost:
        yield from sides
        return
    yield [known, lost]
    least = grower.min_samples_leaf
    for left, right in sides:
        if grower.missing is Missing.OWN and len(lost) >= least and len(known) >= least:
            yield [left, right, lost]
        else:
            yield [left + lost, right]
            yield [left, right + lost]
