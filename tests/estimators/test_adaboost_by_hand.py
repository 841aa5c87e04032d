"""AdaBoost over our trees: the weights and votes of the first rounds, computed by hand."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier

from hornbeam import TreeClassifier

# Ten rows, one split of the first feature: 4 of 5 are right on the left, 3 of 5 on the right: the error is 0.3.
FIRST = np.repeat([0, 1], 5)
WRONG = np.array([4, 8, 9])


class RecordingTree(TreeClassifier):
    """A tree that records the weights of its fit."""

    def fit(self, X, y, sample_weight=None):
        self.heard_ = np.array(sample_weight)
        return super().fit(X, y, sample_weight)


def boosted(y, second, n_estimators=2):
    """Boosted stumps; the second feature separates the wrong rows from the others, so the second stump splits by it."""
    stump = RecordingTree("cart", max_depth=1)
    X = np.column_stack([FIRST, second])
    return AdaBoostClassifier(stump, n_estimators=n_estimators).fit(X, y)


def test_two_classes():
    """Section AdaBoost.M1: beta = e / (1 - e); wrong rows end with a sixth, right rows with a fourteenth each."""
    y = np.array(["no"] * 4 + ["yes"] + ["yes"] * 3 + ["no"] * 2)
    second = np.zeros(10)
    second[[4, 8]] = 1, -1
    forest = boosted(y, second)
    assert forest.estimator_errors_[0] == pytest.approx(0.3)
    # ln(1 / beta), which is twice the a of the form with -1 and 1
    assert forest.estimator_weights_[0] == pytest.approx(2 * 0.4236, abs=1e-4)
    weight = forest.estimators_[1].heard_
    expected = np.full(10, 1 / 14)
    expected[WRONG] = 1 / 6
    np.testing.assert_allclose(weight / weight.sum(), expected, rtol=1e-12)
    # The same by the form with -1 and 1: D exp(-a y h) / Z with Z = 2 sqrt(e (1 - e)) = 0.9165.
    a, z = 0.5 * np.log(0.7 / 0.3), 2 * np.sqrt(0.3 * 0.7)
    assert z == pytest.approx(0.9165, abs=1e-4)
    assert 0.1 * np.exp(a) / z == pytest.approx(1 / 6)
    assert 0.1 * np.exp(-a) / z == pytest.approx(1 / 14)


def test_three_classes():
    """SAMME: a = ln((1 - e) / e) + ln(K - 1) = 1.5404 for e = 0.3 and three classes."""
    y = np.array(["a"] * 4 + ["c"] + ["b"] * 3 + ["c"] * 2)
    second = np.where(y == "c", 1.0, 0.0)
    forest = boosted(y, second)
    first = forest.estimators_[0]
    e = np.mean(first.predict(np.column_stack([FIRST, second])) != y)
    assert e == pytest.approx(0.3)
    assert forest.estimator_weights_[0] == pytest.approx(1.5404, abs=1e-4)
    weight = forest.estimators_[1].heard_
    wrong = first.predict(np.column_stack([FIRST, second])) != y
    # Wrong rows count exp(a) = 14 / 3 times as much: 3 * 14 / 3 + 7 = 21 in all.
    np.testing.assert_allclose(weight[wrong] / weight.sum(), 14 / 3 / 21, rtol=1e-12)
    np.testing.assert_allclose(weight[~wrong] / weight.sum(), 1 / 21, rtol=1e-12)


def test_weights_that_add_up_to_one_grow_the_tree_of_rows_in_proportion():
    """Weights as boosting passes them: 1/6 and 1/14 are 7 and 3 rows of 42."""
    y = np.array(["no"] * 4 + ["yes"] + ["yes"] * 3 + ["no"] * 2)
    X = np.column_stack([FIRST, np.arange(10) % 3])
    shares = np.full(10, 1 / 14)
    shares[WRONG] = 1 / 6
    times = np.full(10, 3)
    times[WRONG] = 7
    one = TreeClassifier("cart").fit(X, y, sample_weight=shares).tree_
    other = TreeClassifier("cart").fit(np.repeat(X, times, axis=0), np.repeat(y, times)).tree_
    np.testing.assert_array_equal(one.skeleton.feature, other.skeleton.feature)
    np.testing.assert_allclose(one.belief, other.belief, atol=1e-12)


def test_bagging_averages_the_probabilities_of_its_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, "yes", "no")
    bag = BaggingClassifier(TreeClassifier("cart"), 7, random_state=0).fit(X, y)
    mean = np.mean([tree.predict_proba(X) for tree in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict_proba(X), mean, rtol=1e-12)
