"""Hierarchical shrinkage against worked numbers; tests/parity compares it with imodels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hornbeam.errors import ParameterError
from hornbeam.smoothing import HierarchicalShrinkage
from hornbeam.tree.walk import path
from support.strategies import trees
from support.worked_trees import A1, A2, T0, A, B, tree_of


@pytest.mark.parametrize(
    ("strength", "a", "a1", "a2", "b"),
    [(1.0, 0.84286, 0.96786, 0.67619, 0.36667), (10.0, 0.77857, 0.83739, 0.70014, 0.51667)],
)
def test_worked_numbers(strength, a, a1, a2, b):
    assert_allclose(HierarchicalShrinkage(strength)(T0).belief[[A, A1, A2, B], 0], [a, a1, a2, b], atol=5e-6)


@given(trees(), st.floats(0, 1e6))
def test_a_prediction_is_a_mixture_of_the_frequencies_on_its_path(tree, strength):
    smoothed = HierarchicalShrinkage(strength)(tree)
    total = tree.evidence.sum(axis=1) * tree.unit[0]
    for node in range(tree.n_nodes):
        line = [u for u in path(tree.skeleton, node) if total[u] > 0]
        if line:
            kept = [1.0, *(total[u] / (total[u] + strength) for u in line[:-1]), 0.0]
            mixture = sum(
                (kept[i] - kept[i + 1]) * tree.evidence[u] / tree.evidence[u].sum()
                for i, u in enumerate(line)
            )
            assert_allclose(smoothed.belief[node], mixture, rtol=0, atol=1e-9)


def test_borrowed_rows_give_the_own_frequencies_their_weight():
    tree = HierarchicalShrinkage(10.0)(T0)
    own_share = 4 / (4 + tree.borrowed[A1])
    assert own_share == pytest.approx(1 / (1 + 10 / 7))
    assert tree.borrowed[0] == 0


def test_an_empty_leaf_has_the_prediction_of_its_parent():
    tree = tree_of([2, 0, 2, 0, 0], [[6, 2], [3, 1], [3, 1], [3, 1], [0, 0]])
    for strength in (0.0, 5.0):
        smoothed = HierarchicalShrinkage(strength)(tree)
        assert_allclose(smoothed.belief[4], smoothed.belief[2])


def test_a_negative_strength_raises():
    with pytest.raises(ParameterError, match=r"^strength=-1.*expected a number of rows from 0 to 1e\+100"):
        HierarchicalShrinkage(-1)
