"""M-branch against worked numbers and a walk down every branch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hornbeam.errors import ParameterError
from hornbeam.smoothing import MBranch, MEstimate
from support.reference_smoothing import m_branch
from support.strategies import trees
from support.worked_trees import A1, A2, ROOT, T0, B, tree_of


@pytest.mark.parametrize(
    ("m", "a1", "a2", "b"), [(1.0, 0.9604, 0.7005, 0.4147), (4.0, 0.8487, 0.6842, 0.4848)]
)
def test_worked_numbers(m, a1, a2, b):
    assert_allclose(MBranch(m)(T0).belief[[A1, A2, B], 0], [a1, a2, b], atol=5e-5)


def test_an_inner_node_is_the_end_of_its_own_branch():
    assert_allclose(MBranch(1.0)(T0).belief[ROOT], [7.5 / 11, 3.5 / 11])
    assert MBranch(1.0)(T0).borrowed.tolist() == [1.0] * 5


@given(trees(), st.floats(0.01, 100))
def test_every_branch_agrees_with_a_walk(tree, m):
    assert_allclose(MBranch(m)(tree).belief, m_branch(tree, m), rtol=0, atol=1e-12)


def test_a_single_leaf_is_an_m_estimate():
    leaf = tree_of([0], [[3, 1, 0]])
    assert_allclose(MBranch(2.0)(leaf).belief, MEstimate(2.0)(leaf).belief)


def test_an_empty_leaf_has_the_prediction_of_its_parent_on_this_branch():
    tree = tree_of([2, 0, 0], [[3, 1], [3, 1], [0, 0]])
    m = 1 + 0.5 * 2
    assert_allclose(MBranch()(tree).belief[2], [(3 + m / 2) / (4 + m), (1 + m / 2) / (4 + m)])


@pytest.mark.parametrize("m", [0.0, -1.0, np.inf])
def test_m_outside_its_range_raises(m):
    with pytest.raises(ParameterError, match=r"^m=.*expected a number of rows above 0, at most 1e\+100"):
        MBranch(m)
