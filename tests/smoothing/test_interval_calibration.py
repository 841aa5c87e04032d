"""Calibration of effective sample sizes, of own and borrowed rows."""

import numpy as np
import pytest

from hornbeam import TreeRegressor
from hornbeam.errors import ParameterError
from hornbeam.smoothing import HGS
from hornbeam.smoothing.interval_calibration import (
    IntervalCalibration,
    calibrate_taught_tree,
    calibrate_tree,
    effective_size,
    interval,
)
from hornbeam.tree import with_belief
from support.worked_trees import binary, over_leaves, star, worked_tree


def leaves_of_many_sizes(borrowed):
    """A tree of 400 leaves of 1 to 80 rows that predicts 1/2 throughout, with borrowed rows in each leaf."""
    rows = 1 + np.arange(400) % 80
    tree = star(np.column_stack([rows // 2, rows - rows // 2]))
    belief = np.full(tree.belief.shape, 0.5)
    return with_belief(tree, belief, np.full(tree.n_nodes, float(borrowed)))


def truths(tree, size):
    """Rates as far from 1/2 as this sample size allows: shuffled quantiles of a normal distribution."""
    from scipy.stats import norm

    n = tree.n_nodes
    z = np.random.default_rng(0).permutation(norm.ppf((np.arange(n) + 0.5) / n))
    rate = np.clip(0.5 + z * np.sqrt(0.25 / (size + 1)), 0.0, 1.0)
    return np.column_stack([1 - rate, rate])


@pytest.mark.parametrize("own", [0.2, 0.5, 1.0])
def test_the_scale_of_the_simulated_errors_is_found(own):
    """92 % are to be covered instead of 90 %: (1.645 / 1.751)**2 = 0.88 of the rows."""
    tree = leaves_of_many_sizes(0)
    found = calibrate_tree(tree, truths(tree, own * tree.rows))
    assert found.borrowed == 0.0
    assert found.own == pytest.approx(0.88 * own, rel=0.12)


def test_borrowed_rows_as_informative_as_own_rows_count_the_same():
    tree = leaves_of_many_sizes(40)
    found = calibrate_tree(tree, truths(tree, 0.5 * (tree.rows + 40)))
    assert found.borrowed == pytest.approx(0.44, abs=0.07)
    assert found.own == found.borrowed


@pytest.mark.parametrize("kind", ["rate", "mean"])
def test_intervals_cover_the_truths_they_were_fitted_to_in_92_of_100_leaves(kind):
    rng = np.random.default_rng(0)
    if kind == "rate":
        tree = leaves_of_many_sizes(10)
        truth = truths(tree, 0.3 * tree.rows)
    else:
        X = np.repeat(np.arange(300.0), 20)[:, None]
        tree = TreeRegressor("cart", min_samples_leaf=20).fit(X, rng.normal(size=6000) + X[:, 0]).tree_
        truth = tree.belief + rng.normal(size=tree.belief.shape) * 0.5
    leaf = tree.skeleton.is_leaf
    low, high = interval(calibrate_tree(tree, truth)(tree))
    held = ((low <= truth) & (truth <= high))[leaf].mean()
    assert held == pytest.approx(0.92, abs=0.02)


def test_truths_of_inner_nodes_are_not_read():
    tree = HGS()(worked_tree())
    truth = np.clip(tree.belief + np.array([-0.2, 0.2]), 0.0, 1.0)
    elsewhere = truth.copy()
    elsewhere[:2] = np.nan
    assert calibrate_tree(tree, elsewhere) == calibrate_tree(tree, truth)


def test_borrowed_rows_count_at_most_the_rows_outside_the_node():
    tree = HGS(alpha=1000.0)(worked_tree())
    assert IntervalCalibration(1.0)(tree).borrowed is tree.borrowed
    assert effective_size(IntervalCalibration(1.0)(tree)).tolist() == [10.0] * 5


def test_without_a_calibration_only_own_rows_count():
    tree = HGS()(worked_tree())
    assert effective_size(tree).tolist() == tree.rows.tolist()
    calibrated = IntervalCalibration(0.5)(tree)
    np.testing.assert_allclose(effective_size(calibrated), [10, 7, 5, 4.5, 4.5])
    assert str(calibrated.history[-1]) == "interval-calibration(borrowed=0.5, own=1.0)"
    np.testing.assert_allclose(effective_size(IntervalCalibration(0.0, own=0.5)(tree)), tree.rows / 2)
    # After another smoother the calibration is not valid.
    assert effective_size(HGS()(calibrated)).tolist() == tree.rows.tolist()


@pytest.mark.parametrize("scale", [-0.1, 1.1, float("nan")])
def test_a_scale_outside_0_to_1_raises(scale):
    with pytest.raises(ParameterError, match="from 0 to 1"):
        IntervalCalibration(scale)
    with pytest.raises(ParameterError, match="above 0, at most 1"):
        IntervalCalibration(0.5, own=scale)


def test_a_constant_target_gives_no_warning():
    tree = TreeRegressor("cart").fit([[0.0], [1.0]], [3.0, 3.0]).tree_
    assert calibrate_tree(tree, tree.belief).own == 1.0
    assert calibrate_tree(tree, tree.belief + 1.0).own == 0.05


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        # Chi-square .32 / (.5 (1/20 - 1/40)) = 25.6, more than 10; .36 of the variance is within leaves.
        ([18, 2], IntervalCalibration(0.11, 0.9)),
        # Chi-square .02 / (.5 (1/20 - 1/40)) = 1.6; .96 of the variance is within leaves.
        ([12, 8], IntervalCalibration(0.51, 0.14)),
        # 2,400 rows, all as they should be: 0.05 (2,400 / 300)^0.75 = 0.238.
        ([1200, 0], IntervalCalibration(0.24, 0.9)),
        # No difference at all: the least value of a row.
        ([10, 10], IntervalCalibration(0.55, 0.05)),
    ],
)
def test_rows_of_a_taught_tree_count_as_much_as_its_splits_are_certain(leaf, expected):
    assert calibrate_taught_tree(star(np.array([leaf, leaf[::-1]]))) == expected


def test_a_taught_tree_of_one_leaf_has_no_split_to_doubt():
    assert calibrate_taught_tree(over_leaves(binary([0]), [[6, 2]])) == IntervalCalibration(0.55, 0.9)


@pytest.mark.parametrize("factor", [1e-3, 1e6])
def test_the_calibration_of_a_taught_regression_tree_does_not_depend_on_the_unit(factor):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + rng.normal(size=200)
    trees = [TreeRegressor("cart", max_leaf_nodes=6).fit(X, scale * y).tree_ for scale in (1.0, factor)]
    one, other = map(calibrate_taught_tree, trees)
    assert one == other
    assert 0.05 < one.own < 0.9
