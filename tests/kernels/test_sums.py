"""The growing kernels for regression: cells against NumPy and against rows, Newton's gain against all cuts."""

from dataclasses import replace
from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Kind
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.elementary import exact_sums
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, NodeRange, NodeRules, Rows, Rules
from support.examples import examples
from support.strategies_growing import bins_of, growers, random_table, spec_of

NO_LABELS = np.empty(0, np.uint16)


def regression_table(seed: int, **kwargs):
    table = random_table(seed, **kwargs)
    values = np.random.default_rng(seed).normal(size=table.n_rows) + table.target
    schema = replace(table.schema, classes=(), target_kind=Kind.NUMERIC)
    numeric_target = NumericTarget.of(values, table.weight, table.unit)
    return replace(table, schema=schema, target=None, numeric_target=numeric_target)


def encoded(table, grower):
    bins = bins_of(table)
    weight = None if table.weight is None else table.weight.copy()
    rows = Rows(
        bins.encode(table).astype(np.uint16),
        NO_LABELS,
        weight,
        table.numeric_target.numerators(weight, table.unit),
    )
    return rows, spec_of(grower, table, bins)


def copy(rows: Rows) -> Rows:
    return Rows(*(None if array is None else array.copy() for array in rows))


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_cells_are_sums_of_every_value(weights):
    table = regression_table(1, n_rows=70, weights=weights)
    rows, spec = encoded(table, Grower(Criterion.SQUARED_ERROR))
    slots = np.random.default_rng(0).integers(-1, 3, 70, dtype=np.int32)
    cells = subtree.empty_cells(rows, spec, 3)
    subtree.histogram(rows, spec, 5, 66, cells, slots)
    weight = np.ones(70, np.int64) if rows.weight is None else rows.weight
    expected = np.zeros((3, spec.n_cells, 3), np.int64)
    for row in range(5, 66):
        for f, code in enumerate(rows.codes[row].tolist()):
            if slots[row] >= 0:
                expected[slots[row], spec.offsets[f] + code] += (rows.numerator[row], weight[row], 1)
    kept = expected if weights != "none" else expected[..., [0, 2]]
    np.testing.assert_array_equal(cells.reshape(kept.shape), kept)


@examples(100)
@given(st.data())
def test_cells_and_rows_give_the_same_split(data):
    n_rows = data.draw(st.sampled_from([2, 16, 24, 25, 100, 1023, 1024, 3000]))
    table = regression_table(
        data.draw(st.integers(0, 2**32 - 1)),
        n_rows=n_rows,
        n_values=data.draw(st.sampled_from([2, 20, 20_000])),
        n_categories=data.draw(st.sampled_from([3, 20])),
        weights=data.draw(st.sampled_from(["none", "whole", "real"])),
    )
    grower = replace(data.draw(growers(table)), max_depth=1, min_samples_split=2)
    rows, spec = encoded(table, grower)
    cells = subtree.empty_cells(rows, spec)
    subtree.histogram(rows, spec, 0, n_rows, cells)
    root = NodeRange.root(n_rows, spec)
    nodes = subtree.grow(copy(rows), spec, root, np.zeros(2, np.int64))
    variance, here = subtree.target_variance(rows, spec, root), NodeRules.of(spec, root)
    split = subtree.best_split(cells, spec, nodes.evidence[0], n_rows, variance=variance)
    known = spec, nodes.evidence[0], n_rows
    found_splits = levelwise.best_per_feature(cells, *known, *spec.bounds, variance, here)
    chosen = levelwise.choose_split(found_splits.numbers, *known, variance, here)
    if len(nodes.parent) == 1:
        enough = n_rows >= 2 * grower.min_samples_leaf
        assert split is None or not enough or nodes.evidence[0, 0] < 2 * spec.rules.min_weight_leaf
        return
    assert split is not None
    assert chosen == split.feature
    found = (nodes.feature[0], nodes.gain[0], nodes.left[0], nodes.right[0], nodes.missing_slot[0])
    assert found == (split.feature, split.gain, split.left, split.right, split.missing_slot)
    evidence, n_children = subtree.children_totals(cells, split, spec)
    np.testing.assert_array_equal(evidence, nodes.evidence[1:])
    np.testing.assert_array_equal(n_children, nodes.rows[1:])


@pytest.mark.parametrize("ridge", [0.0, 1.0, 50.0])
def test_newtons_gain(ridge):
    """Gradients and hessians with different step sizes: the best cut has the largest sum of G^2 / (H + ridge)."""
    rng = np.random.default_rng(3)
    gradient, hessian = rng.integers(-1000, 1000, 300), rng.integers(1, 250, 300)
    codes = rng.integers(0, 40, (300, 2)).astype(np.uint8)
    gradient += 20 * codes[:, 1]
    rules = Rules()
    rules.ridge, rules.unit, rules.numerator_unit = ridge, 1 / 256, 1 / 1024
    rules.total_weight, rules.total_rows, rules.max_depth = int(hessian.sum()), 300, 1
    n_codes = np.full(2, 40, np.int32)
    spec = GrowthSpec.of(n_codes, np.zeros(2, np.uint8), None, None, 1, CRITERIA["squared_error"], rules)
    nodes = subtree.grow(
        Rows(codes.copy(), NO_LABELS, hessian.copy(), gradient.copy()),
        spec,
        NodeRange.root(300, spec),
        np.zeros(2, np.int64),
    )

    def value(mine: np.ndarray) -> float:
        return (gradient[mine].sum() / 1024) ** 2 / (hessian[mine].sum() / 256 + ridge)

    whole = value(np.ones(300, bool))
    gains = {
        (f, cut): value(codes[:, f] <= cut) + value(codes[:, f] > cut) - whole
        for f in range(2)
        for cut in range(39)
    }
    best = max(gains, key=gains.get)
    assert (nodes.feature[0], nodes.left[0]) == best
    assert nodes.gain[0] * hessian.sum() / 256 == pytest.approx(gains[best], rel=1e-12)


def test_arrays_of_wrong_length_are_rejected():
    table = regression_table(0, n_rows=10)
    rows, spec = encoded(table, Grower(Criterion.SQUARED_ERROR))
    node, progress = NodeRange.root(10, spec), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="one numerator per row expected"):
        subtree.grow(rows._replace(numerator=np.zeros(9, np.int64)), spec, node, progress)
    with pytest.raises(ValueError, match="no label where there are numerators"):
        subtree.grow(rows._replace(label=np.zeros(10, np.uint16)), spec, node, progress)
    with pytest.raises(
        ValueError, match=r"criterion 3 \(squares\), 4 \(poisson\) or 5 \(gamma\) expected for sums"
    ):
        subtree.grow(rows, spec._replace(criterion=0), node, progress)


@examples(30)
@given(st.integers(0, 10**6), st.integers(1, 7))
def test_exact_sums_are_those_of_fsum_in_any_grouping(seed, n_parts):
    rng = np.random.default_rng(seed)
    place, values = rng.integers(0, 3, 60), rng.normal(size=60) * 2.0 ** rng.integers(-1070, 1000, 60)
    total = sum(exact_sums(place[at::n_parts], values[at::n_parts], 3) for at in range(n_parts))
    assert [float(Fraction(one, 2**1126)) for one in total] == [fsum(values[place == at]) for at in range(3)]
