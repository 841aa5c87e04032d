"""SmoothedClassifier: the splits of another library with smoothed probabilities."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbeam import SmoothedClassifier
from hornbeam.errors import InteropError, ParameterError, SchemaError
from hornbeam.interop import from_sklearn
from hornbeam.smoothing import HGS, HierarchicalShrinkage, Laplace
from support.imported_models import labels, numbers


@parametrize_with_checks([SmoothedClassifier(DecisionTreeClassifier(random_state=0)), SmoothedClassifier()])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def data(seed=0, n_rows=300, n_classes=3):
    rng = np.random.default_rng(seed)
    X = numbers(rng, n_rows, 4)
    return X, np.array(["x", "y", "z"])[labels(rng, X, n_classes)]


@pytest.mark.parametrize("smoothing", ["hgs", "laplace", HierarchicalShrinkage(5.0)])
def test_predictions_are_those_of_the_smoothed_tree(smoothing):
    X, y = data()
    clf = SmoothedClassifier(DecisionTreeClassifier(random_state=0), smoothing=smoothing).fit(X, y)
    smoother = HGS() if smoothing == "hgs" else Laplace() if smoothing == "laplace" else smoothing
    expected = smoother(from_sklearn(clf.estimator_))
    assert clf.trees_[0].digest == expected.digest


def test_without_smoothing_predictions_are_those_of_the_estimator():
    X, y = data()
    clf = SmoothedClassifier(DecisionTreeClassifier(max_depth=4, random_state=0), smoothing=None).fit(X, y)
    assert (clf.predict_proba(X) == clf.estimator_.predict_proba(X)).all()
    assert (clf.predict(X) == clf.estimator_.predict(X)).all()


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_forest_predicts_the_mean_of_its_trees(forest):
    X, y = data()
    clf = SmoothedClassifier(forest(5, bootstrap=False, max_features=2, random_state=0), smoothing=None).fit(
        X, y
    )
    np.testing.assert_allclose(clf.predict_proba(X), clf.estimator_.predict_proba(X), rtol=0, atol=1e-12)


def test_smoothing_improves_the_probabilities():
    X, y = data(n_rows=2000)
    clf = SmoothedClassifier(DecisionTreeClassifier(random_state=0)).fit(X[:1000], y[:1000])
    raw = clf.estimator_.predict_proba(X[1000:])
    assert log_loss(y[1000:], clf.predict_proba(X[1000:])) < log_loss(y[1000:], raw) / 2


def test_a_frozen_tree_counts_the_rows_of_fit():
    X, y = data()
    frozen = FrozenEstimator(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[:200], y[:200]))
    clf = SmoothedClassifier(frozen, smoothing=None).fit(X[200:], y[200:])
    assert clf.estimator_ is frozen
    leaf = frozen.estimator.apply(X)
    for node in np.unique(leaf[200:]):
        here = y[200:][leaf[200:] == node]
        expected = [(here == name).mean() for name in clf.classes_]
        np.testing.assert_allclose(clf.predict_proba(X[leaf == node])[0], expected, rtol=1e-12)


def test_a_class_of_the_frozen_tree_without_rows_stays():
    X, y = data()
    frozen = FrozenEstimator(DecisionTreeClassifier(random_state=0).fit(X, y))
    clf = SmoothedClassifier(frozen).fit(X[y != "y"], y[y != "y"])
    assert clf.classes_.tolist() == ["x", "y", "z"]
    assert clf.predict_proba(X).shape == (300, 3)


def test_class_weights_change_the_splits_and_not_the_probabilities():
    X, y = data()
    clf = SmoothedClassifier(DecisionTreeClassifier(class_weight={"x": 9}, max_depth=1), smoothing=None).fit(
        X, y
    )
    share = clf.predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(share, [(y == name).mean() for name in clf.classes_], rtol=1e-9)


def frequencies(leaves, y):
    """The mean over the trees of each row's class frequencies among the rows in the same leaf."""
    one_hot = (y[:, None] == np.unique(y)).astype(float)
    means = [
        (same := leaf[:, None] == leaf).astype(float) @ one_hot / same.sum(axis=1)[:, None]
        for leaf in leaves.T
    ]
    return np.mean(means, axis=0)


def test_lightgbm_and_xgboost_of_one_round():
    lightgbm = pytest.importorskip("lightgbm", reason="the extra 'interop' brings LightGBM")
    xgboost = pytest.importorskip("xgboost", reason="the extra 'interop' brings XGBoost")
    X, y = data()
    codes = np.unique(y, return_inverse=True)[1]
    for estimator, target in [
        (lightgbm.LGBMClassifier(n_estimators=1, verbose=-1, n_jobs=1), y),
        (xgboost.XGBClassifier(n_estimators=1, n_jobs=1), codes),
    ]:
        clf = SmoothedClassifier(estimator, smoothing=None).fit(X, target)
        assert len(clf.trees_) == 3  # one per class
        grown = clf.estimator_
        leaves = grown.apply(X) if hasattr(grown, "apply") else grown.predict(X, pred_leaf=True)
        np.testing.assert_allclose(clf.predict_proba(X), frequencies(leaves, target), rtol=1e-12, atol=1e-15)
        assert (pickle.loads(pickle.dumps(clf)).predict_proba(X) == clf.predict_proba(X)).all()
        with pytest.raises(InteropError, match="2 rounds of boosting"):
            SmoothedClassifier(clone(estimator).set_params(n_estimators=2)).fit(X, target)


def test_names_with_spaces_work_with_lightgbm():
    lightgbm = pytest.importorskip("lightgbm", reason="the extra 'interop' brings LightGBM")
    import pandas as pd

    X, y = data()
    frame = pd.DataFrame(X, columns=["a b", "c", "d", "e"])
    clf = SmoothedClassifier(lightgbm.LGBMClassifier(n_estimators=1, verbose=-1, n_jobs=1)).fit(frame, y)
    assert clf.trees_[0].schema.names == ("a b", "c", "d", "e")
    assert clf.predict(frame).shape == (300,)
    frozen = FrozenEstimator(clf.estimator_)
    with pytest.raises(SchemaError, match="feature names should match"):
        SmoothedClassifier(frozen).fit(frame.rename(columns={"c": "f"}), y)


def test_a_frozen_ydf_model_is_accepted():
    ydf = pytest.importorskip("ydf", reason="the extra 'interop' brings YDF")
    import pandas as pd

    ydf.verbose(0)
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    forest = ydf.RandomForestLearner(label="y", num_trees=3).train(frame.assign(y=y))
    clf = clone(SmoothedClassifier(FrozenEstimator(forest), smoothing=None)).fit(frame, y)
    leaves = forest.predict_leaves(frame.assign(y=y))
    assert leaves.shape == (300, 3)
    np.testing.assert_allclose(clf.predict_proba(frame), frequencies(leaves, y), rtol=1e-12, atol=1e-15)


def test_it_works_in_a_grid_search():
    X, y = data()
    grid = {"smoothing": ["hgs", None], "estimator__max_depth": [2, 4]}
    search = GridSearchCV(
        SmoothedClassifier(DecisionTreeClassifier()), grid, scoring="neg_log_loss", cv=3
    ).fit(X, y)
    assert search.best_params_["smoothing"] == "hgs"


def test_other_models_are_refused():
    X, y = data()
    with pytest.raises(ParameterError, match=r"smoothing='hsg'.*Did you mean 'hgs'"):
        SmoothedClassifier(smoothing="hsg").fit(X, y)
    with pytest.raises(ParameterError, match="smoothing='cross-fitted'"):
        SmoothedClassifier(smoothing="cross-fitted").fit(X, y)
    with pytest.raises(InteropError, match="boosted regression trees"):
        SmoothedClassifier(GradientBoostingClassifier(n_estimators=1)).fit(np.nan_to_num(X), y)
