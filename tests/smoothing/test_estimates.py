"""Raw, Laplace and m-estimates against worked numbers, and each other."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from hornbeam.errors import ParameterError
from hornbeam.smoothing import Laplace, MEstimate, Raw
from support.strategies import trees
from support.worked_trees import A1, A2, T0, B, tree_of

EMPTY_LEAF = tree_of([2, 0, 0], [[3, 1], [3, 1], [0, 0]])


@pytest.mark.parametrize(
    ("smoother", "a1", "a2", "b"),
    [
        (Raw(), 1.0, 2 / 3, 1 / 3),
        (Laplace(), 0.8333, 0.6, 0.4),
        (MEstimate(), 0.9, 0.625, 0.375),
        (MEstimate(2.0, "root"), 0.9, 0.68, 0.48),
        (MEstimate(2.0, (0.7, 0.3)), 0.9, 0.68, 0.48),
        (MEstimate(2.0), 0.8333, 0.6, 0.4),
    ],
)
def test_worked_numbers(smoother, a1, a2, b):
    tree = smoother(T0)
    assert_allclose(tree.belief[[A1, A2, B], 0], [a1, a2, b], atol=5e-5)
    assert_allclose(tree.belief[[A1, A2, B], 1], 1 - tree.belief[[A1, A2, B], 0])


@given(trees())
def test_laplace_is_the_m_estimate_of_k_rows_with_the_uniform_base_rate(tree):
    k = tree.n_classes
    for base in ("uniform", [1 / k] * k):
        same = MEstimate(float(k), base)(tree)
        assert_allclose(same.belief, Laplace()(tree).belief, rtol=1e-12)
        assert_allclose(same.borrowed, Laplace()(tree).borrowed)


@pytest.mark.parametrize(("smoother", "added"), [(Raw(), 0), (Laplace(), 2), (MEstimate(5.0), 5)])
def test_borrowed_is_the_number_of_added_rows(smoother, added):
    assert smoother(T0).borrowed.tolist() == [added] * 5


def test_a_leaf_without_rows_has_the_prediction_of_its_parent_or_the_base_rate():
    assert Raw()(EMPTY_LEAF).belief[2].tolist() == [0.75, 0.25]
    assert MEstimate(m=0.0)(EMPTY_LEAF).belief[2].tolist() == [0.75, 0.25]
    assert MEstimate(m=1.0)(EMPTY_LEAF).belief[2].tolist() == [0.5, 0.5]
    assert MEstimate(m=1.0, base="root")(EMPTY_LEAF).belief[2].tolist() == [0.75, 0.25]


def test_a_tree_without_rows_predicts_the_uniform_distribution():
    tree = tree_of([0], [[0, 0, 0, 0]])
    for smoother in (Raw(), Laplace(), MEstimate(), MEstimate(2.0, "root")):
        assert smoother(tree).belief.tolist() == [[0.25] * 4]


def test_weights_count_in_rows_not_in_steps():
    halves = tree_of([0], [[6, 2]], unit=0.5)
    assert Laplace()(halves).belief[0].tolist() == pytest.approx([4 / 6, 2 / 6])
    assert MEstimate(2.0)(halves).belief[0].tolist() == pytest.approx([4 / 6, 2 / 6])


@pytest.mark.parametrize("m", [-1.0, 1e200, np.inf, np.nan])
def test_m_outside_its_range_raises(m):
    with pytest.raises(ParameterError, match=r"^m=.*expected a number of rows from 0 to 1e\+100"):
        MEstimate(m)


@pytest.mark.parametrize("base", ["rot", (0.5, 0.6), (-0.5, 1.5), ()])
def test_a_base_rate_is_a_distribution(base):
    with pytest.raises(ParameterError, match=r"^base="):
        MEstimate(1.0, base)


def test_a_base_rate_has_every_class():
    with pytest.raises(ParameterError, match="base has 3 probabilities"):
        MEstimate(1.0, (0.2, 0.3, 0.5))(T0)


def test_a_base_rate_may_be_any_sequence():
    assert MEstimate(1.0, np.array([0.5, 0.5])) == MEstimate(1.0, [0.5, 0.5])
    assert hash(MEstimate(1.0, [0.5, 0.5]))
