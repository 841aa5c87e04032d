"""HGS with one alpha, with the paper's descent, and at the leave-one-out optimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hornbeam.errors import ParameterError
from hornbeam.smoothing import HGS, GradientHGS, LeaveOneOutHGS, Raw
from hornbeam.smoothing.leave_one_out import LeaveOneOut
from hornbeam.tree.walk import path
from support.examples import examples
from support.strategies import trees
from support.worked_trees import A1, A2, ROOT, T0, A, B, tree_of

pseudo_counts = st.just(0.0) | st.floats(1e-6, 50)


def test_equation_4_worked():
    tree = HGS(prior=0.0)(T0)
    assert_allclose(tree.belief[[A1, A2, B], 0], [0.92619, 0.711429, 0.425], atol=5e-6)
    assert tree.borrowed.tolist() == pytest.approx([0, 1, 1, 2, 2])


def test_the_prior_is_added_to_every_node():
    tree = HGS(alpha=2.0, prior=3.0)(T0)
    assert tree.borrowed.tolist() == pytest.approx([3, 5, 5, 7, 7])
    assert_allclose(tree.belief[B], [(1 + 1.4 + 1.5) / 8, (2 + 0.6 + 1.5) / 8])


@given(trees(), pseudo_counts, pseudo_counts)
def test_equation_4_agrees_with_a_walk_up_every_path(tree, alpha, prior):
    smoothed = HGS(alpha, prior)(tree)
    raw = Raw()(tree).belief
    for node in range(tree.n_nodes):
        ancestors = path(tree.skeleton, node)[:-1]
        estimate = (
            tree.evidence[node] * tree.unit + alpha * raw[ancestors].sum(axis=0) + prior / tree.n_classes
        )
        size = estimate.sum()
        assert_allclose(smoothed.belief[node], estimate / size if size else raw[node], rtol=1e-9, atol=1e-12)
        assert smoothed.borrowed[node] == pytest.approx(alpha * len(ancestors) + prior)


def test_the_published_descent_on_a_tiny_tree():
    alpha, steps = GradientHGS(prior=0.0).descend(T0)
    assert steps == 172
    assert_allclose(alpha[[ROOT, A]], [1.1971, 0.9662], atol=5e-5)
    assert LeaveOneOut.of(T0, 0.0)(alpha)[0] == pytest.approx(1.066064, abs=5e-7)
    assert dict(GradientHGS(prior=0.0)(T0).history[-1].parameters)["steps"] == 172


def test_the_descent_of_the_squared_loss():
    """The first step of T0 lowers the loss by 5e-7, less than the tolerance; a small tolerance finds the minimum."""
    alpha, steps = GradientHGS(prior=0.0, loss="squared").descend(T0)
    assert steps == 1
    assert_allclose(alpha[[ROOT, A]], [1 + 0.01 * 0.007056, 1 + 0.01 * 0.002061], atol=5e-9)
    far, _ = GradientHGS(step=10.0, tol=1e-12, prior=0.0, loss="squared").descend(T0)
    cost_of = LeaveOneOut.of(T0, 0.0, "squared")
    assert cost_of(far)[0] < cost_of(alpha)[0]
    inside = far[[ROOT, A]] > 1e-4
    assert_allclose(cost_of(far)[1][[ROOT, A]][inside], 0, atol=1e-5)


def test_the_history_has_the_loss_if_it_is_not_the_default():
    assert "loss" not in dict(GradientHGS()(T0).history[-1].parameters)
    assert dict(GradientHGS(loss="squared")(T0).history[-1].parameters)["loss"] == "squared"


def test_the_leave_one_out_optimum_of_a_tiny_tree():
    alpha = LeaveOneOutHGS(prior=0.0, tol=1e-9).optimum(T0)
    assert alpha[ROOT] == pytest.approx(3.929, abs=5e-4)
    assert alpha[A] < 1e-3
    assert LeaveOneOut.of(T0, 0.0)(alpha)[0] == pytest.approx(0.989997, abs=1e-6)
    assert_allclose(
        LeaveOneOutHGS(prior=0.0, tol=1e-9)(T0).belief[[B, A1, A2], 0],
        [0.5412, 0.8513, 0.6856],
        atol=2e-4,
    )


def full_tree(leaves):
    """A tree of eight leaves at depth 3 from their counts."""
    level = [leaves]
    while len(level[0]) > 1:
        level.insert(0, level[0].reshape(-1, 2, leaves.shape[1]).sum(axis=1))
    return tree_of([2] * 7 + [0] * 8, np.concatenate(level))


def test_with_many_rows_for_each_class_the_published_descent_stops_after_one_step():
    rng = np.random.default_rng(0)
    leaves = np.array([rng.multinomial(500, [x, 1 - x]) for x in rng.random(8)])
    alpha, steps = GradientHGS(prior=0.0).descend(full_tree(leaves))
    assert steps == 1
    assert_allclose(alpha, 1.0, atol=3e-4)


def test_with_few_rows_for_each_class_it_goes_on():
    alpha, steps = GradientHGS(prior=0.0).descend(full_tree(4 * np.eye(8, dtype=int)))
    assert steps > 100
    assert alpha[ROOT] < 0.5


@examples(30)
@given(trees(max_inner=6), st.sampled_from([0.0, 1.0]))
def test_fitted_alphas_never_cost_more_than_alpha_1(tree, prior):
    cost_of = LeaveOneOut.of(tree, prior)
    start = cost_of(np.ones(tree.n_nodes))[0]
    descended, _ = GradientHGS(prior=prior).descend(tree)
    best = LeaveOneOutHGS(prior=prior).optimum(tree)
    slack = 1e-9 * (1 + start)
    assert cost_of(descended)[0] <= start + slack
    assert cost_of(best)[0] <= start + slack
    for alpha in (descended, best):
        assert (alpha > 0).all()
    for smoother in (GradientHGS(prior=prior), LeaveOneOutHGS(prior=prior)):
        assert np.isfinite(smoother(tree).belief).all()


def test_a_class_of_one_row_without_a_prior_gives_finite_predictions():
    tree = tree_of([2, 0, 0], [[5, 3, 1], [5, 0, 0], [0, 3, 1]])
    for smoother in (GradientHGS(prior=0.0), LeaveOneOutHGS(prior=0.0)):
        assert np.isfinite(smoother(tree).belief).all()


def test_a_single_leaf_without_a_prior_is_raw():
    leaf = tree_of([0], [[3, 1]])
    for smoother in (HGS(prior=0.0), GradientHGS(prior=0.0), LeaveOneOutHGS(prior=0.0)):
        assert smoother(leaf).belief.tolist() == [[0.75, 0.25]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: HGS(alpha=-1),
        lambda: HGS(prior=np.nan),
        lambda: GradientHGS(prior=-1),
        lambda: GradientHGS(step=0),
        lambda: GradientHGS(tol=0),
        lambda: GradientHGS(loss="brier"),
        lambda: GradientHGS(loss=["log"]),
        lambda: LeaveOneOutHGS(prior=np.inf),
        lambda: LeaveOneOutHGS(tol=0),
    ],
)
def test_parameters_out_of_range_raise(make):
    with pytest.raises(ParameterError, match="expected"):
        make()
