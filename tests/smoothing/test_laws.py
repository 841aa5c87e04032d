"""Laws of every smoother on every tree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hornbeam import Tree
from hornbeam.smoothing import (
    HDP,
    HGS,
    Borrowing,
    GradientHGS,
    HierarchicalShrinkage,
    Laplace,
    LeaveOneOutHGS,
    MBranch,
    MEstimate,
    Raw,
)
from hornbeam.smoothing.registry import SMOOTHERS
from support.examples import examples
from support.strategies import trees

PLAIN = [
    Borrowing(),
    Borrowing(0.5, -0.3, 0.7, 1.0, -1.0, -0.4),
    Raw(),
    Laplace(),
    MEstimate(),
    MEstimate(3.0, "root"),
    HGS(),
    HGS(2.0, 0.0),
    HierarchicalShrinkage(),
    MBranch(),
]
ALL = [*PLAIN, GradientHGS(), GradientHGS(loss="squared"), LeaveOneOutHGS(), HDP(sweeps=50, burn_in=5)]
# A new smoother of the registry is tested with its default settings.
ALL += [smoother() for smoother in SMOOTHERS.values() if smoother not in map(type, ALL)]
named = pytest.mark.parametrize
few = examples(25)


@named("smoother", ALL, ids=str)
@few
@given(tree=trees(max_inner=8))
def test_predictions_are_probabilities_and_nothing_else_changes(smoother, tree):
    if isinstance(smoother, HDP):  # for whole rows, and not too many
        assume(tree.evidence.max() <= 10**7)
        tree = replace(tree, unit=np.ones_like(tree.unit))
    smoothed = smoother(tree)
    assert ((smoothed.belief >= 0) & (smoothed.belief <= 1 + 1e-12)).all()
    assert_allclose(smoothed.belief.sum(axis=1), 1, rtol=0, atol=1e-9)
    assert (smoothed.borrowed >= 0).all()
    assert smoothed.skeleton is tree.skeleton
    assert smoothed.evidence is tree.evidence
    assert smoothed.history[:-1] == tree.history


@named("smoother", PLAIN, ids=str)
@few
@given(tree=trees(), seed=st.integers(0, 99))
def test_the_order_of_classes_does_not_matter(smoother, tree, seed):
    order = np.random.default_rng(seed).permutation(tree.n_classes)
    other = replace(tree, evidence=tree.evidence[:, order])
    assert_allclose(smoother(other).belief, smoother(tree).belief[:, order], rtol=0, atol=1e-12)


@named(
    "pair",
    [
        (HGS(1.5, 0.5), HGS(6.0, 2.0)),
        (MEstimate(1.0), MEstimate(4.0)),
        (HierarchicalShrinkage(3.0), HierarchicalShrinkage(12.0)),
        (Raw(), Raw()),
    ],
    ids=str,
)
@few
@given(tree=trees())
def test_four_times_the_rows_and_pseudo_counts_give_the_same_predictions(pair, tree):
    assume(tree.evidence.max() < 2**40)
    small, large = pair
    heavy = replace(tree, unit=4 * tree.unit)
    assert_allclose(large(heavy).belief, small(tree).belief, rtol=0, atol=1e-12)
    assert_allclose(large(heavy).borrowed, 4 * small(tree).borrowed)


@named("smoother", PLAIN, ids=str)
@few
@given(tree=trees())
def test_a_finer_unit_gives_the_same_predictions(smoother, tree):
    assume(tree.evidence.max() < 2**40)
    finer = replace(tree, evidence=8 * tree.evidence, unit=tree.unit / 8)
    assert_allclose(smoother(finer).belief, smoother(tree).belief, rtol=0, atol=1e-12)


def full(tree: Tree) -> np.ndarray:
    return (tree.evidence * tree.unit).sum(axis=1) >= 1


@named("smoother", [HGS(1e-12, 0.0), MEstimate(1e-12), MBranch(1e-12), HierarchicalShrinkage(1e-12)], ids=str)
@few
@given(tree=trees())
def test_with_nearly_no_pseudo_counts_predictions_are_raw_frequencies(smoother, tree):
    assume(tree.evidence.max() < 2**40)
    rows = full(tree)
    assert_allclose(smoother(tree).belief[rows], Raw()(tree).belief[rows], rtol=0, atol=1e-7)


@named("smoother", [HGS(0.0, 0.0), MEstimate(0.0), HierarchicalShrinkage(0.0)], ids=str)
@few
@given(tree=trees())
def test_without_pseudo_counts_predictions_are_raw_frequencies(smoother, tree):
    assert_allclose(smoother(tree).belief, Raw()(tree).belief, rtol=0, atol=1e-12)
    assert not smoother(tree).borrowed.any()


@few
@given(tree=trees())
def test_with_very_many_pseudo_counts_predictions_are_those_of_the_ancestors(tree):
    assume(tree.evidence.max() < 2**10)
    raw, parent = Raw()(tree).belief, tree.skeleton.parent
    smoothed = HGS(1e12, 0.0)(tree).belief
    lines = [[] for _ in parent]
    for node in range(1, tree.n_nodes):
        lines[node] = [*lines[parent[node]], parent[node]]
        assert_allclose(smoothed[node], raw[lines[node]].mean(axis=0), rtol=0, atol=1e-8)
    assert_allclose(
        HierarchicalShrinkage(1e14)(tree).belief, raw[:1].repeat(tree.n_nodes, 0), rtol=0, atol=1e-8
    )
