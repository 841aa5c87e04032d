"""`TreeRegressor(criterion=...)`: counts with exposure, wrong targets, and what else knows of the criterion."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import hornbeam
from hornbeam import TreeRegressor
from hornbeam.errors import DataError, ParameterError


def counts(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X, exposure = rng.uniform(size=(n, 4)), rng.integers(1, 9, n) / 4
    rate = np.exp(2 * X[:, 0] - 1.5 * (X[:, 1] > 0.5))
    return X, rng.poisson(rate * exposure) / exposure, exposure


@pytest.mark.parametrize("weighted", [False, True])
def test_raw_means_are_those_of_scikit_learn(weighted):
    X, y, exposure = counts(600)
    weight = exposure if weighted else None
    ours = TreeRegressor("cart", criterion="poisson", max_depth=5, min_samples_leaf=20)
    theirs = DecisionTreeRegressor(criterion="poisson", max_depth=5, min_samples_leaf=20)
    expected = theirs.fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_allclose(ours.fit(X, y, sample_weight=weight).predict(X), expected, rtol=1e-9)


@pytest.mark.parametrize("criterion", ["poisson", "gamma"])
def test_predictions_are_above_0_and_models_come_back(criterion, tmp_path):
    X, y, exposure = counts()
    y = y + (criterion == "gamma")
    reg = TreeRegressor(criterion=criterion, distribution=True).fit(X, y, sample_weight=exposure)
    assert reg.predict(X).min() > 0
    assert reg.size_path_.measure == f"{criterion.title() if criterion == 'poisson' else criterion} deviance"
    hornbeam.save(reg, tmp_path / "model.hornbeam")
    loaded = hornbeam.load(tmp_path / "model.hornbeam")
    assert loaded.predict(X).tobytes() == reg.predict(X).tobytes()
    before = reg.tree_.digest
    assert reg.update(X[:9], y[:9] + 1).forget(X[:9], y[:9] + 1).tree_.digest == before
    with pytest.raises(DataError, match=f"grown with criterion='{criterion}': expected values of 0 or more"):
        reg.update(X[:2], [-1.0, 1.0])


def test_hard_targets():
    """Few rows, equal targets, zeros alone, most of them zeros, a rare big value, groups."""
    X, y, _ = counts(60)
    few = TreeRegressor(criterion="poisson")
    assert few.fit(X[:2], [0.0, 3.0]).predict(X).min() > 0
    assert few.fit(X, np.full(60, 2.0)).predict(X).round(9).tolist() == [2.0] * 60
    assert few.fit(X, np.zeros(60)).predict(X).tolist() == [0.0] * 60
    one = np.where(np.arange(60) == 7, 1.0, 0.0)
    assert few.fit(X, one).predict(X).min() > 0
    assert few.fit(X, 1e12 * one + y).predict(X).min() > 0
    assert few.fit(X, y, groups=np.arange(60) // 4).predict(X).min() > 0


@pytest.mark.parametrize("criterion", ["poisson", "gamma"])
def test_candidate_splits_are_compared_by_the_criterion(criterion):
    X, y, exposure = counts()
    y = y + (criterion == "gamma")
    train, test = slice(0, 250), slice(250, None)
    reg = TreeRegressor("cart", criterion=criterion, max_depth=1).fit(X[train], y[train], exposure[train])
    splits = reg.candidate_splits(
        X[train], y[train], sample_weight=exposure[train], held_out=(X[test], y[test])
    )
    best = splits.best
    assert splits.criterion == criterion
    assert best.chosen
    assert best.gain == pytest.approx(reg.tree_.gain[0])
    assert splits.impurity is None
    mean = np.average(y[train], weights=exposure[train])
    predicted = np.where(X[test, best.column] <= best.threshold, best.children[0].mean, best.children[1].mean)

    def half(m):
        return m - y[test] * np.log(m) if criterion == "poisson" else np.log(m) + y[test] / m

    falls = half(np.full(len(predicted), mean)) - half(predicted)
    assert best.held_out_gain == pytest.approx(falls.mean())
    assert best.held_out_error == pytest.approx(falls.std(ddof=1) / np.sqrt(len(falls)))


@pytest.mark.parametrize(
    ("parameters", "y", "error", "words"),
    [
        ({"criterion": "poisson"}, [-1.0, 2.0, 3.0], DataError, "expected numbers of 0 or more"),
        ({"criterion": "gamma"}, [0.0, 2.0, 3.0], DataError, "expected numbers above 0"),
        ({"criterion": "gini"}, [1.0, 2.0, 3.0], ParameterError, "criterion='gini'"),
        ({"criterion": "absolute_error"}, [1.0, 2.0, 3.0], ParameterError, "'poisson'"),
        ({"criterion": "poisson", "preset": "readable"}, [1.0, 2.0, 3.0], ParameterError, "with a teacher"),
        (
            {"criterion": "poisson", "pruning": "cost-complexity"},
            [1.0, 2.0, 3.0],
            ParameterError,
            "compares squared errors",
        ),
    ],
)
def test_what_does_not_fit_is_refused(parameters, y, error, words):
    with pytest.raises(error, match=words):
        TreeRegressor(**parameters).fit([[1], [2], [3]], y)
