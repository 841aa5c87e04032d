"""AdaBoost: the digits of the lecture, scikit-learn's votes, and the laws of every estimator."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost

import hornbeam
from hornbeam import AdaBoostClassifier, TreeClassifier
from hornbeam.ensembles import VotingTrees
from hornbeam.errors import ParameterError, StorageError, TreeError
from hornbeam.estimators.persistence.files import pack, unpack
from support.examples import examples

# The ten points of the lecture's picture, as on the page "Many trees".
X1 = [0.06, 0.14, 0.71, 0.68, 0.73, 0.56, 0.66, 0.25, 0.83, 0.85]
X2 = [0.52, 0.41, 0.77, 0.76, 0.88, 0.66, 0.55, 0.28, 0.77, 0.59]
POINTS, SIGNS = np.column_stack([X1, X2]), np.repeat([1, -1], 5)


def test_the_three_rounds_of_the_lecture():
    clf = AdaBoostClassifier(3, criterion="entropy").fit(POINTS, SIGNS)
    assert_allclose(clf.estimator_errors_, [3 / 10, 3 / 14, 3 / 22], rtol=1e-9)
    assert_allclose(clf.estimator_weights_ / 2, [0.4236, 0.6496, 0.9229], atol=5e-5)
    roots = [(tree.skeleton.feature[0], tree.skeleton.threshold[0]) for tree in clf.voting_.trees]
    assert [("xy"[feature], round(float(cut), 9)) for feature, cut in roots] == [
        ("x", 0.2),
        ("x", 0.8),
        ("y", 0.7),
    ]
    assert_array_equal(clf.predict(POINTS), SIGNS)
    Z = [0.9165, 0.8207, 0.6863]  # 2 sqrt(e (1 - e)), as printed on the page
    assert_allclose(clf.training_error_bound_, np.cumprod(Z), atol=2e-4)


def by_hand(X, y, n_rounds, rate=1.0):
    """The loop of the textbook with floats, over stumps of TreeClassifier: votes of the classes."""
    classes, code = np.unique(y, return_inverse=True)
    D, votes = np.full(len(y), 1 / len(y)), np.zeros((len(y), len(classes)))
    for _ in range(n_rounds):
        h = TreeClassifier("cart", max_depth=1).fit(X, code, sample_weight=D).predict(X)
        error = D[h != code].sum()
        alpha = rate * (np.log((1 - error) / error) + np.log(len(classes) - 1))
        D = D * np.exp(alpha * (h != code))
        D /= D.sum()
        votes[np.arange(len(y)), h] += alpha
    return votes / votes.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_the_loop_of_the_textbook(rate):
    X, y = load_wine(return_X_y=True)
    clf = AdaBoostClassifier(8, learning_rate=rate).fit(X, y)
    assert_allclose(clf.voting_.shares(X), by_hand(X, y, 8, rate), atol=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("max_depth", [1, 2])
def test_the_votes_of_scikit_learn(load, max_depth):
    """The same trees in scikit-learn's loop."""
    X, y = load(return_X_y=True)
    theirs = SklearnAdaBoost(TreeClassifier("cart", max_depth=max_depth), n_estimators=12).fit(X, y)
    ours = AdaBoostClassifier(12, max_depth=max_depth).fit(X, y)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, atol=1e-9)
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, atol=1e-9)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    for staged, expected in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert_array_equal(staged, expected)


def test_weights_of_the_user():
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    theirs = SklearnAdaBoost(TreeClassifier("cart", max_depth=1), n_estimators=6).fit(X, y, weight)
    ours = AdaBoostClassifier(6).fit(X, y, weight)
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, atol=1e-9)


@st.composite
def noisy(draw):
    """Rows of few values, with a class that depends on the first."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(4, 60)), draw(st.integers(2, 4))
    X = rng.integers(0, 4, (n, 3)).astype(float)
    return X, (X[:, 0] + rng.integers(0, 2, n)).astype(int) % k, rng


@given(noisy(), st.integers(1, 2), st.booleans())
@examples(30)
def test_order_copies_and_threads_do_not_matter(rows, max_depth, resample):
    X, y, rng = rows
    clf = AdaBoostClassifier(5, max_depth=max_depth, resample=resample, max_bins=None)
    digest = clf.fit(X, y).voting_.digest
    order = rng.permutation(len(y))
    assert clf.fit(X[order], y[order]).voting_.digest == digest
    assert clf.set_params(n_jobs=3).fit(X, y).voting_.digest == digest
    times = rng.integers(1, 4, len(y))
    twice = clf.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict_proba(X)
    assert_array_equal(clf.fit(X, y, sample_weight=times).predict_proba(X), twice)


@given(noisy(), st.sampled_from([0.3, 1.0, 3.0]), st.booleans())
@examples(30)
def test_the_bound_holds_and_stages_end_at_the_whole(rows, rate, resample):
    X, y, _ = rows
    clf = AdaBoostClassifier(7, learning_rate=rate, resample=resample).fit(X, y)
    assert len(clf.training_error_bound_) == clf.n_iter_ == len(clf.voting_.trees) <= 7
    stages = list(clf.staged_predict_proba(X))
    wrong = [np.mean(clf.classes_[stage.argmax(axis=1)] != y) for stage in stages]
    assert (np.array(wrong) <= clf.training_error_bound_ + 1e-9).all()
    assert_allclose(stages[-1], clf.predict_proba(X), atol=1e-12)
    assert_array_equal(list(clf.staged_predict(X))[-1], clf.predict(X))
    first = np.searchsorted(clf.classes_, next(clf.staged_predict(X)))
    assert_array_equal(clf.voting_.shares(X, n_estimators=1), np.eye(clf.n_classes_)[first])


def test_it_stops_at_a_tree_without_errors_and_at_one_that_guesses():
    clf = AdaBoostClassifier(10).fit([[0.0], [1.0], [2.0]], ["no", "no", "yes"])
    assert (clf.n_iter_, clf.estimator_errors_.tolist(), clf.estimator_weights_.tolist()) == (1, [0.0], [1.0])
    guess = AdaBoostClassifier(10).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    assert (guess.n_iter_, guess.estimator_errors_.tolist(), guess.predict([[0.0]]).tolist()) == (
        1,
        [0.5],
        [0],
    )
    # The first stump gets one row of three wrong; with its weight raised to one half, none is better than a guess.
    few = AdaBoostClassifier(10).fit(np.zeros((3, 1)), [0, 1, 0])
    assert (few.n_iter_, few.predict([[0.0]]).tolist()) == (1, [0])
    one = AdaBoostClassifier().fit([[0.0], [1.0]], ["only", "only"])
    assert one.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_draws_depend_on_the_seed_alone():
    X, y = load_breast_cancer(return_X_y=True)
    digests = [
        AdaBoostClassifier(5, resample=True, random_state=seed).fit(X, y).voting_.digest for seed in (0, 0, 1)
    ]
    assert digests[0] == digests[1] != digests[2]
    assert AdaBoostClassifier(5, resample=True).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    first = AdaBoostClassifier(1, resample=True).fit(X, y).voting_.trees[0]
    assert first.evidence[0].sum() == len(y)
    assert 0.6 < first.rows[0] / len(y) < 0.66, "63.2 % of the rows are drawn"


@pytest.mark.parametrize("preset", ["cart", "c4.5", "c4.4", "id3", "default"])
def test_trees_of_every_preset(preset):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": pd.Categorical(rng.choice(list("uvw"), 200))})
    y = np.where((X["a"] > 0) ^ (X["b"] == "u"), "yes", "no")
    X.loc[::9, "a"] = np.nan
    stump = TreeClassifier(preset, max_depth=1, smoothing=None).fit(X, y)
    clf = AdaBoostClassifier(20, preset=preset).fit(X, y)
    assert_array_equal(next(clf.staged_predict(X)), stump.predict(X))
    assert AdaBoostClassifier(20, preset=preset, max_depth=3).fit(X, y).score(X, y) > stump.score(X, y)
    assert_allclose(clf.feature_importances_.sum(), 1)


def test_a_file_has_all_of_it(tmp_path):
    X, y = load_wine(return_X_y=True)
    clf = AdaBoostClassifier(6, max_depth=2, costs=1.0 - np.eye(3)).fit(X, y)
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    again = hornbeam.load(tmp_path / "model.hornbeam")
    assert again.voting_.digest == clf.voting_.digest
    assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert_array_equal(again.training_error_bound_, clf.training_error_bound_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", np.array([1.0])),
        ("weights", np.array([1.0, -1.0])),
        ("weights", np.array([1.0, np.nan])),
        ("weights", np.array([0.0, 0.0])),
        ("errors", np.array([0.1, 1.5])),
        ("errors", None),
    ],
)
def test_a_wrong_file_is_refused(name, value):
    model = pack(AdaBoostClassifier(2).fit(POINTS, SIGNS))
    model.learned[name] = value
    with pytest.raises(StorageError, match=name):
        unpack(model)


def test_trees_that_vote_are_checked():
    voting = AdaBoostClassifier(2).fit(POINTS, SIGNS).voting_
    with pytest.raises(TreeError, match="found none"):
        VotingTrees((), np.ones(0), np.ones(0))
    other = AdaBoostClassifier(1).fit(POINTS[:, :1], SIGNS).voting_.trees[0]
    with pytest.raises(TreeError, match="different schemas"):
        VotingTrees((*voting.trees[:1], other), voting.weights, voting.errors)
    with pytest.raises(ParameterError, match="n_estimators"):
        voting.shares(POINTS, n_estimators=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0: expected a whole number of trees"),
        ({"learning_rate": 0.0}, "learning_rate=0.0"),
        ({"learning_rate": "fast"}, "learning_rate='fast': expected a number"),
        ({"resample": 1}, "resample"),
        ({"preset": "readable"}, "preset='readable': expected one of"),
        ({"smoothing": "cross-fitted"}, "smoothing='cross-fitted': expected one of"),
    ],
)
def test_wrong_parameters_are_told(parameters, message):
    with pytest.raises(ParameterError, match=message):
        AdaBoostClassifier(**parameters).fit(POINTS, SIGNS)
