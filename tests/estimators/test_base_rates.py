"""Class weights affect splits and decisions; probabilities keep the base rate of the rows."""

import numpy as np
import pytest

from hornbeam import TreeClassifier
from hornbeam.recipe import PRESETS
from hornbeam.tree import Table
from hornbeam.tree.evidence.count import count_rows


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (rng.random(3000) < 1 / (1 + np.exp(2 - np.nan_to_num(X[:, 0])))).astype(int)
    return X, y


@pytest.mark.parametrize("class_weight", ["balanced", {1: 7.5}, {0: 1, 1: 4}])
@pytest.mark.parametrize("preset", PRESETS)
def test_evidence_does_not_use_class_weights(noisy, preset, class_weight):
    X, y = noisy
    tree = TreeClassifier(preset, class_weight=class_weight, max_depth=5).fit(X, y).tree_
    np.testing.assert_allclose(tree.evidence[0] * tree.unit, np.bincount(y))
    assert tree.rows[0] == len(y)
    assert any(step.name == "recount" for step in tree.history)


def test_class_weights_change_the_splits(noisy):
    X, y = noisy
    plain = TreeClassifier(max_depth=4).fit(X, y).tree_
    weighted = TreeClassifier(max_depth=4, class_weight="balanced").fit(X, y).tree_
    assert not np.array_equal(plain.skeleton.threshold, weighted.skeleton.threshold, equal_nan=True)


@pytest.mark.parametrize("sample_weight", [None, "whole", "shares"])
def test_probabilities_do_not_use_class_weights(noisy, sample_weight):
    X, y = noisy
    weight = {None: None, "whole": np.arange(len(y)) % 3 + 1.0, "shares": np.linspace(1, 2, len(y)) / 9000}
    clf = TreeClassifier(class_weight="balanced", max_depth=5, smoothing=None)
    tree = clf.fit(X, y, sample_weight=weight[sample_weight]).tree_
    again = count_rows(tree.skeleton, Table.read(X, y, sample_weight=weight[sample_weight]))
    np.testing.assert_array_equal(tree.evidence, again.evidence)
    np.testing.assert_array_equal(tree.belief, again.belief)


def test_probabilities_are_calibrated_with_class_weights(noisy):
    X, y = noisy
    clf = TreeClassifier(class_weight={1: 20}, max_depth=3).fit(X, y)
    assert clf.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.01)


def test_predict_uses_the_class_weights(noisy):
    X, y = noisy
    clf = TreeClassifier(class_weight={1: 5}, max_depth=4).fit(X, y)
    assert clf.class_weight_.tolist() == [1.0, 5.0]
    p = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.predict(X), (5 * p[:, 1] > p[:, 0]).astype(int))
    assert (clf.predict(X) != p.argmax(axis=1)).any()
    assert TreeClassifier().fit(X, y).class_weight_.tolist() == [1.0, 1.0]


def test_predict_uses_the_prior(noisy):
    X, y = noisy
    clf = TreeClassifier(max_depth=4).fit(X, y)
    p = clf.predict_proba(X, base_rates={0: 0.2, 1: 0.8})
    np.testing.assert_array_equal(clf.predict(X, base_rates=[0.2, 0.8]), p.argmax(axis=1))
    np.testing.assert_allclose(clf.predict_proba(X, base_rates=np.bincount(y) / len(y)), clf.predict_proba(X))


def test_a_tree_of_resampled_rows_is_corrected_by_the_prior():
    """Sample a tenth of the common class, correct by the true rate: as close as with as many rows unsampled."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60_000, 2))
    truth = 1 / (1 + np.exp(3 - 1.5 * X[:, 0] - X[:, 1]))
    y = (rng.random(len(X)) < truth).astype(int)
    sampled = (y == 1) | (rng.random(len(X)) < 0.1)
    clf = TreeClassifier(max_depth=6, min_samples_leaf=50).fit(X[sampled], y[sampled])
    fresh = rng.normal(size=(20_000, 2))
    true = 1 / (1 + np.exp(3 - 1.5 * fresh[:, 0] - fresh[:, 1]))
    rate = y.mean()
    corrected = clf.predict_proba(fresh, base_rates=[1 - rate, rate])[:, 1]
    naive = clf.predict_proba(fresh)[:, 1]
    as_many = slice(sampled.sum())
    whole = (
        TreeClassifier(max_depth=6, min_samples_leaf=50)
        .fit(X[as_many], y[as_many])
        .predict_proba(fresh)[:, 1]
    )
    # The mean over the new rows has a standard error below 0.002.
    assert corrected.mean() == pytest.approx(true.mean(), abs=0.01)
    assert naive.mean() > true.mean() + 0.1
    error = {name: np.mean((p - true) ** 2) for name, p in zip("cnw", (corrected, naive, whole), strict=True)}
    assert error["c"] < 1.5 * error["w"] < 0.1 * error["n"]
