"""A slow twin of the candidate splits: every way to divide rows by one feature, and its gain by the formula."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import nan

import numpy as np
import pytest

import hornbeam
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.explain.candidates.list_splits import candidate_splits
from hornbeam.explain.candidates.table import CandidateSplit, CandidateSplits
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from support.reference_growing import IMPURITY, entropy, n_copies
from support.strategies_growing import bins_of

__all__ = ["check_chosen", "check_scan", "children", "exactly"]


def exactly(found: CandidateSplits) -> str:
    """A table with all digits of all numbers, to compare two of them bit for bit."""
    return repr([getattr(found, name) for name in CandidateSplits.__dataclass_fields__])


class Slow:
    """Splits of the root, as sets of rows; weights and sums are exact fractions."""

    def __init__(self, table: Table, grower: Grower) -> None:
        self.table, self.grower = table, grower
        steps = [1] * table.n_rows if table.weight is None else table.weight.tolist()
        self.weight = [Fraction(step) * Fraction(table.unit) for step in steps]
        self.rows = range(table.n_rows)

    def total(self, rows) -> Fraction:
        return sum((self.weight[row] for row in rows), Fraction(0))

    def counts(self, rows) -> list[Fraction]:
        target = self.table.target
        return [
            self.total([row for row in rows if target[row] == k]) for k in range(self.table.schema.n_classes)
        ]

    def numbers(self, rows) -> tuple[Fraction, Fraction]:
        """Mean and sum of squared deviations."""
        values = [Fraction(value) for value in self.table.numeric_target.values.tolist()]
        weight = self.total(rows)
        mean = sum((self.weight[row] * values[row] for row in rows), Fraction(0)) / weight
        return mean, sum((self.weight[row] * (values[row] - mean) ** 2 for row in rows), Fraction(0))

    def mean_in_steps(self, rows) -> float:
        """Mean of the rounded products of weight and value: of categories with equal means it decides the order."""
        table, at = self.table, list(rows)
        numerators = table.numeric_target.numerators(table.weight, table.unit)[at].sum().item()
        weights = len(at) if table.weight is None else table.weight[at].sum().item()
        return float(numerators) / float(weights)

    def loss(self, rows) -> float:
        """Weight times impurity."""
        if not rows:
            return 0.0
        if self.table.numeric_target is not None:
            return float(self.numbers(rows)[1])
        measure = IMPURITY[self.grower.criterion]
        return float(self.total(rows)) * measure([float(n) for n in self.counts(rows)])

    def gain(self, children) -> float:
        whole = [row for child in children for row in child]
        if self.grower.criterion is Criterion.HELLINGER:
            return self.hellinger(whole, children)
        return (self.loss(whole) - sum(map(self.loss, children))) / float(self.total(self.rows))

    def hellinger(self, whole, children) -> float:
        """1 minus the overlap of each class and the others, averaged over the classes of the node."""
        everything, n = self.counts(self.rows), self.total(self.rows)
        classes = [k for k, count in enumerate(everything) if 0 < count < n]

        def overlap(rows):
            size, counts = self.total(rows), self.counts(rows)
            parts = (counts[k] * (size - counts[k]) / (everything[k] * (n - everything[k])) for k in classes)
            return sum(float(part) ** 0.5 for part in parts) / max(1, len(classes))

        return overlap(whole) - sum(map(overlap, children))

    def ways(self, f: int) -> Iterator[tuple[list[frozenset[int]], bool]]:
        """Children of every split of a feature, as sets of rows; and whether missing values go to every child."""
        column, kind = self.table.columns[f], self.table.schema.features[f].kind
        nominal, grower = kind is Kind.NOMINAL, self.grower
        missing = frozenset(np.flatnonzero(column == -1 if nominal else np.isnan(column)).tolist())
        values = sorted({column[row].item() for row in self.rows if row not in missing})
        group = {value: frozenset(row for row in self.rows if column[row] == value) for value in values}
        if not values or len(values) + bool(missing) < 2:
            return
        every = grower.missing is Missing.FRACTIONAL and bool(missing)
        if nominal and grower.nominal_split is Nominal.MULTIWAY:
            children = [group[value] for value in values] + [missing] * (bool(missing) and not every)
            if len(children) > 1:
                yield children, every
            return
        if nominal and grower.missing is Missing.LEARNED and missing:
            group[nan], missing = missing, frozenset()
            values.append(nan)
        known = frozenset().union(*group.values())
        firsts = list(self.firsts(values, group, nominal))
        if not missing or every:
            yield from (([first, known - first], every) for first in firsts)
            return
        yield [known, missing], False
        if (
            grower.missing is Missing.OWN
            and self.large(known)
            and self.large(missing)
            and self.enough(missing)
        ):
            yield from (([first, known - first, missing], False) for first in firsts)
        else:
            yield from (([first, known - first | missing], False) for first in firsts)
            yield from (([first | missing, known - first], False) for first in firsts)

    def firsts(self, values, group, nominal) -> Iterator[frozenset[int]]:
        """Rows of the first child of each cut; of each subset for more than two classes."""
        if nominal and self.table.numeric_target is None and self.table.schema.n_classes > 2:
            for size in range(1, len(values)):
                for chosen in combinations(values[:-1], size):
                    yield frozenset().union(*(group[value] for value in chosen))
            return
        if nominal and self.table.numeric_target is not None:
            values = sorted(values, key=lambda value: self.mean_in_steps(group[value]))
        elif nominal:
            values = sorted(
                values, key=lambda value: self.counts(group[value])[-1] / self.total(group[value])
            )
        for at in range(1, len(values)):
            yield frozenset().union(*(group[value] for value in values[:at]))

    def enough(self, missing) -> bool:
        """Whether missing values may have a branch of their own."""
        copies = n_copies(self.table)
        independent = (self.table.n_rows if copies is None else copies) / self.grower.design_effect
        rows = float(self.total(missing) / self.total(self.rows)) * independent
        return rows >= self.grower.min_samples_missing - 1e-6

    def large(self, rows) -> bool:
        return len(rows) >= self.grower.min_samples_leaf and self.total(rows) >= Fraction(
            self.grower.min_weight_leaf
        ) - Fraction(1, 10**6)


def children_of(split: CandidateSplit, table: Table) -> frozenset[frozenset[int]]:
    """The rows that meet the condition of each child."""
    column = table.columns[split.column]
    return frozenset(
        frozenset(np.flatnonzero(child.condition.holds_in(column)).tolist()) for child in split.children
    )


def check_scan(table: Table, grower: Grower) -> None:
    slow = Slow(table, grower)
    tree = replace(grower, max_depth=1).grow(table, bins_of(table))
    scale, rounding = 1.0, 1e-9
    if table.numeric_target is not None:  # sums are rounded relative to the largest value
        scale = slow.loss(list(slow.rows)) / float(slow.total(slow.rows))
        rounding = 1e-9 * scale + 1e-12 * scale**0.5 * np.abs(table.numeric_target.values).max() + 1e-300
    best = candidate_splits(tree, table, None)
    by_feature = {split.column: split for split in best}
    for f in range(table.schema.n_features):
        expected = {frozenset(children): (children, every) for children, every in slow.ways(f)}
        found = candidate_splits(tree, table, None, feature=f)
        assert {children_of(split, table) for split in found} == set(expected)
        assert sorted(split.rank for split in found) == list(range(1, len(found) + 1))
        assert (f in by_feature) == bool(expected)
        for split in found:
            children, every = expected[children_of(split, table)]
            assert split.gain == pytest.approx(slow.gain(children), rel=1e-7, abs=rounding)
            assert (split.missing == "every") == every
            if not every:
                check_children(split, slow)
            if split.split_information is not None:
                weights = [float(slow.total(child)) for child in children]
                lost = float(slow.total(slow.rows)) - sum(weights)
                lost = lost if every else 0.0
                assert split.split_information == pytest.approx(entropy([*weights, lost]), abs=1e-9)
                assert split.gain_ratio * split.split_information == pytest.approx(
                    split.penalised_gain if split.split_information > 1e-6 else 0.0, abs=1e-12
                )
        if found.best is not None and not grower.corrected:
            # Ratios and S-values compare the treatments of missing values, gains the cuts of each treatment.
            like = found.best.missing, len(found.best.children)
            allowed = [split for split in found if split.rejected is None]
            if grower.criterion is Criterion.GAIN_RATIO:
                allowed = [split for split in allowed if (split.missing, len(split.children)) == like]
            assert found.best.penalised_gain >= max(split.penalised_gain for split in allowed) - 1e-6 * scale
        if f in by_feature:
            mine, first = by_feature[f], min(found, key=lambda split: split.rank)
            if grower.criterion is not Criterion.GAIN_RATIO:  # C4.5 also compares the features
                assert (mine.rejected is None) == (found.best is not None)
            assert mine.gain == pytest.approx(first.gain)
        if not grower.corrected:
            assert all(check_allowed(split, slow, expected) for split in found)


def check_children(split: CandidateSplit, slow: Slow) -> None:
    column = slow.table.columns[split.column]
    for child in split.children:
        rows = np.flatnonzero(child.condition.holds_in(column)).tolist()
        assert child.rows == len(rows)
        assert child.weight == pytest.approx(float(slow.total(rows)))
        if slow.table.numeric_target is None:
            assert child.counts == pytest.approx([float(n) for n in slow.counts(rows)])
        else:
            mean, squares = slow.numbers(rows)
            spread = float(np.abs(slow.table.numeric_target.values).max())
            assert child.mean == pytest.approx(float(mean), abs=1e-9 * spread)
            assert child.sum_of_squares == pytest.approx(
                float(squares), abs=1e-9 * spread**2 * float(slow.total(rows)) + 1e-300
            )


def check_allowed(split: CandidateSplit, slow: Slow, expected) -> bool:
    """Splits with a child that is too small are rejected; for entropy and Gini without constraints no others are."""
    children, _ = expected[children_of(split, slow.table)]
    multiway = split.categories is not None and slow.grower.nominal_split is Nominal.MULTIWAY
    n_large = sum(map(slow.large, children))
    large = n_large >= 2 if multiway else n_large == len(children)
    is_category = split.categories is not None and slow.grower.missing is Missing.LEARNED
    if not multiway and split.missing == "own" and not is_category:
        large &= slow.enough(children[-1])
    if split.rejected is not None and split.rejected.startswith("growing chooses the subset first"):
        return large and slow.grower.missing is Missing.OWN and slow.table.schema.n_classes > 2
    free = slow.grower.monotonic_cst is None and not slow.grower.min_impurity_decrease
    free &= slow.grower.feature_costs is None
    if slow.grower.criterion in (Criterion.ENTROPY, Criterion.GINI, Criterion.HELLINGER) and free:
        return (split.rejected is None) == large
    return large or split.rejected is not None


def check_chosen(tree: hornbeam.Tree, model, table: Table) -> None:
    for node in range(tree.n_nodes):
        splits = candidate_splits(model, table, None, node)
        if tree.skeleton.feature[node] < 0:
            assert splits.chosen is None
            assert splits.limit is not None or splits.best is None
            continue
        first = splits[0]
        assert first.chosen
        assert first is splits.chosen is splits.best
        assert first.penalised_gain == pytest.approx(tree.gain[node], rel=1e-12, abs=1e-15)
        if splits.order == "gain" and not first.penalty:
            assert first.gain == tree.gain[node]
        assert [child.rows for child in first.children] == tree.rows[children(tree, node)].tolist()
        column = candidate_splits(model, table, None, node, feature=first.column)
        assert column.best.chosen
        assert column.best == replace(first, rank=1)


def children(tree, node):
    first = tree.skeleton.first_child[node]
    return slice(first, first + tree.skeleton.n_children[node])
