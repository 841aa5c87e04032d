"""From the histogram of a node to the table of its candidate splits."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Any

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.explain.candidates.candidate_order import all_candidates, best_candidates
from hornbeam.explain.candidates.counted_node import CountedNode
from hornbeam.explain.candidates.held_out_gain import HeldOut
from hornbeam.explain.candidates.scan import Candidate
from hornbeam.explain.candidates.table import CandidateChild, CandidateSplit, CandidateSplits
from hornbeam.explain.candidates.way import Way
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.impurity import impurity
from hornbeam.tree.condition import Condition
from hornbeam.tree.words import pluralise
from hornbeam.typing import Floats


def candidates_of(
    counted: CountedNode, column: int | None = None, held_out: HeldOut | None = None
) -> CandidateSplits:
    """List the best split of each feature, or all splits of one, from the histogram of a node."""
    counts = counted.cells
    if column is None:
        candidates = best_candidates(counts)
        ranks = list(range(len(candidates)))
    else:
        candidates, ranks = all_candidates(counts, column)
    way = counted.way()
    maker = _Maker(counted, None if way is None else way.key)
    associations = counted.associations([one.way for one in candidates])
    splits = [maker.split(*of_one) for of_one in zip(candidates, ranks, associations, strict=True)]
    if held_out is not None:
        gains = held_out.gains(counted.tree, counted.node, counted.grower.criterion, splits)
        splits = [
            replace(one, held_out_gain=g, held_out_error=e) for one, (g, e) in zip(splits, gains, strict=True)
        ]
    return CandidateSplits(
        splits=tuple(splits),
        node=counted.node,
        rows=counts.n_rows,
        weight=counted.weight,
        criterion=counted.grower.criterion.value,
        impurity=_node_impurity(counted),
        order="gain ratio" if counts.rules.gain_ratio else "S-value" if counts.rules.corrected else "gain",
        classes=counted.tree.schema.classes,
        limit=_limit(counted),
    )


@dataclass(frozen=True, slots=True)
class _Maker:
    """Turns candidates on codes into splits on values."""

    counted: CountedNode
    chosen: tuple[Any, ...] | None

    def split(self, one: Candidate, rank: int, associated: float | None) -> CandidateSplit:
        way, bins = one.way, self.counted.bins
        feature = self.counted.tree.schema.features[way.feature]
        threshold = None if way.groups else self._threshold(way, bins)
        tests = self._tests(way, threshold)
        in_bits = self.counted.grower.criterion.in_bits
        information = one.split_information
        ratio = one.penalised_gain / information if information > 1e-6 else 0.0
        corrected = self.counted.cells.rules.corrected and not isnan(one.score)
        return CandidateSplit(
            feature=feature.name,
            column=way.feature,
            threshold=threshold,
            categories=tuple(
                tuple(feature.categories[code] for code in group if code < bins.n_codes[way.feature])
                for group in way.groups
            )
            if way.groups
            else None,
            missing=way.missing,
            children=tuple(self._children(tests, one)),
            gain=one.gain,
            penalty=one.penalty,
            split_information=information if in_bits else None,
            gain_ratio=ratio if in_bits else None,
            s_value=one.score if corrected else None,
            rank=rank + 1,
            chosen=way.key == self.chosen,
            rejected=one.rejected,
            association=associated,
        )

    def _threshold(self, way: Way, bins: Bins) -> float:
        if way.right == bins.n_codes[way.feature]:
            return inf
        at_values = self.counted.grower.criterion is Criterion.GAIN_RATIO
        return float(bins.threshold(way.feature, way.left, way.right, at_values=at_values))

    def _tests(self, way: Way, threshold: float | None) -> list[Condition]:
        f, missing_code = way.feature, int(self.counted.bins.n_codes[way.feature])
        feature = self.counted.tree.schema.features[f]
        if threshold is None:
            groups = [tuple(code for code in group if code < missing_code) for group in way.groups]
            return [
                Condition(f, feature, among=known, missing=missing_code in group)
                for known, group in zip(groups, way.groups, strict=True)
            ]
        alone = Condition(f, feature, among=(), missing=True)
        if threshold == inf:
            return [Condition(f, feature), alone]
        tests = [
            Condition(f, feature, at_most=threshold, missing=way.missing == "left"),
            Condition(f, feature, above=threshold, missing=way.missing == "right"),
        ]
        return [*tests, alone] if way.missing == "own" else tests

    def _sums(self, one: Candidate) -> Floats:
        """Return rows and class weights of the children, with their parts of missing values that go to every child."""
        sums, classes = one.children.astype(np.float64), self.counted.class_weights
        sums[:, 1:] = classes(one.children[:, 1:])
        if one.way.missing == "every":
            weight = sums[:, 1:].sum(axis=1, keepdims=True)
            lost = self.counted.cells.shown[one.way.feature][-1]
            sums[:, 1:] += weight / weight.sum() * classes(lost[1:])
            sums[:, 0] += lost[0]  # a part of each of these rows is in every child
        return sums

    def _children(self, tests: list[Condition], one: Candidate) -> Iterator[CandidateChild]:
        if self.counted.tree.is_regression:
            for test, (rows, *sums) in zip(tests, one.children.tolist(), strict=True):
                weight, mean, squares = self.counted.moments(sums)
                yield CandidateChild(test, rows, weight, mean=mean, sum_of_squares=squares)
            return
        for test, (rows, *counts) in zip(tests, self._sums(one).tolist(), strict=True):
            yield CandidateChild(test, round(rows), sum(counts), tuple(counts))


def _node_impurity(counted: CountedNode) -> float | None:
    criterion = counted.grower.criterion
    if criterion is Criterion.SQUARED_ERROR:
        weight, _, squares = counted.moments(counted.cells.shown[0].sum(axis=0)[1:].tolist())
        return squares / weight
    measure = criterion.impurity
    return None if measure is None else float(impurity(counted.cells.evidence, measure))


def _limit(counted: CountedNode) -> str | None:
    """Say why growing does not split the node, whatever its candidates."""
    counts, grower = counted.cells, counted.grower
    rules, rows = counts.rules, counts.n_rows
    if not counts.spec.sums and np.count_nonzero(counts.evidence) == 1:
        return "all rows have the same class"
    if rows < grower.min_samples_split:
        return f"{pluralise(rows, 'row')}; min_samples_split={grower.min_samples_split}"
    if rows < 2 * grower.min_samples_leaf:
        return f"{pluralise(rows, 'row')}; min_samples_leaf={grower.min_samples_leaf}"
    if counts.weight < 2 * rules.min_weight_leaf:
        weight, least = counts.weight * rules.unit, rules.min_weight_leaf * rules.unit
        return f"weight {weight:.5g}; each child needs {least:.5g}"
    if grower.max_depth is not None and counts.node.depth >= grower.max_depth:
        return f"max_depth={grower.max_depth}"
    return None
