"""Boosted trees and the ranker through their public interface."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GroupKFold, cross_val_score, train_test_split

from hornbeam import BoostedTreesClassifier, BoostedTreesRanker, BoostedTreesRegressor
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import ndcg


def test_class_labels_of_any_type():
    X, y = load_iris(return_X_y=True)
    clf = BoostedTreesClassifier(n_estimators=10).fit(X, np.array(["a", "b", "c"])[y])
    assert clf.classes_.tolist() == ["a", "b", "c"]
    assert clf.decision_function(X).shape == clf.predict_proba(X).shape == (150, 3)
    np.testing.assert_array_equal(clf.classes_[clf.predict_proba(X).argmax(axis=1)], clf.predict(X))
    assert clf.score(X, clf.predict(X)) == 1.0
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


def test_two_classes_have_one_score():
    X, y = load_breast_cancer(return_X_y=True)
    clf = BoostedTreesClassifier(n_estimators=10).fit(X, y)
    score = clf.decision_function(X)
    np.testing.assert_allclose(clf.predict_proba(X)[:, 1], 1 / (1 + np.exp(-score)))
    assert len(clf.boosted_.rounds) == clf.n_iter_ == 10


def test_quantiles_cover_their_share():
    X, y = load_diabetes(return_X_y=True)
    for quantile in (0.1, 0.9):
        reg = BoostedTreesRegressor(loss="quantile", quantile=quantile, n_estimators=50).fit(X, y)
        assert np.mean(y <= reg.predict(X)) == pytest.approx(quantile, abs=0.06)


def test_categories_and_missing_values_need_no_preparation():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    size = rng.normal(size=300)
    y = (colour == "green") * 3.0 + (size > 0)
    X = pd.DataFrame(
        {"colour": pd.Categorical(colour), "size": np.where(rng.random(300) < 0.2, np.nan, size)}
    )
    reg = BoostedTreesRegressor(n_estimators=50).fit(X, y)
    assert reg.score(X, y) > 0.9
    new = pd.DataFrame({"colour": ["purple", None], "size": [1.0, None]})
    assert np.isfinite(reg.predict(new)).all()


def test_early_stopping_uses_held_out_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] + rng.normal(size=600)
    reg = BoostedTreesRegressor(n_estimators=500, early_stopping=True, validation_fraction=0.2).fit(X, y)
    assert reg.n_iter_ < 100
    assert reg.validation_losses_.argmin() == reg.n_iter_
    assert not hasattr(reg.set_params(early_stopping=False, n_estimators=3).fit(X, y), "validation_losses_")


def test_a_fitted_model_is_pickled_and_copied():
    X, y = load_iris(return_X_y=True)
    clf = BoostedTreesClassifier(n_estimators=3).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_estimators": 0},
        {"n_estimators": 1.5},
        {"learning_rate": "fast"},
        {"learning_rate": -1.0},
        {"max_leaf_nodes": 1},
        {"max_bins": None},
        {"l2_regularization": -1.0},
        {"subsample": 0.0},
        {"early_stopping": "yes"},
        {"early_stopping": True, "validation_fraction": 1.0},
        {"n_iter_no_change": 0},
        {"loss": "huber"},
        {"loss": "quantile"},
        {"loss": "quantile", "quantile": 1.0},
    ],
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ParameterError, match=rf"({'|'.join(wrong)}|quantile).*expected"):
        BoostedTreesRegressor(**wrong).fit([[1.0], [2.0]], [1.0, 2.0])


def queries(n_queries=80, size=12):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_queries * size, 4))
    relevance = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=len(X)), [0.5, 1.5, 2.5])
    return X, relevance, np.repeat(np.arange(n_queries), size)


def test_a_ranker_orders_the_rows_of_new_queries():
    X, relevance, query = queries()
    for train, test in GroupKFold(2).split(X, relevance, query):
        ranker = BoostedTreesRanker(n_estimators=40).fit(X[train], relevance[train], query=query[train])
        found = ranker.score(X[test], relevance[test], query=query[test])
        assert found > 0.85 > ndcg(relevance[test], np.zeros(len(test)), query=query[test])


def test_group_folds_of_scikit_learn_keep_queries_together():
    X, relevance, query = queries()
    ranker, folds = BoostedTreesRanker(n_estimators=5), GroupKFold(3)
    by_hand = [
        ranker.fit(X[a], relevance[a], query=query[a]).score(X[b], relevance[b], query=query[b])
        for a, b in folds.split(X, relevance, query)
    ]
    with config_context(enable_metadata_routing=True):
        ranker.set_fit_request(query=True).set_score_request(query=True)
        found = cross_val_score(
            ranker, X, relevance, cv=folds, params={"query": query, "groups": query}, error_score="raise"
        )
    np.testing.assert_array_equal(found, by_hand)


def test_threads_do_not_change_a_ranking():
    X, relevance, query = queries(400)
    models = [
        BoostedTreesRanker(n_estimators=5, n_jobs=n).fit(X, relevance, query=query) for n in (1, 2, 3, 8)
    ]
    assert len({model.boosted_.digest for model in models}) == 1


def test_rows_of_a_query_need_not_be_adjacent():
    X, relevance, query = queries(20)
    order = np.argsort(
        np.tile(np.arange(12), 20), kind="stable"
    )  # the first row of each query, then the second
    one = BoostedTreesRanker(n_estimators=5).fit(X, relevance, query=query)
    other = BoostedTreesRanker(n_estimators=5).fit(X[order], relevance[order], query=query[order].astype(str))
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-9)


def test_normalisation_ranks_noisy_grades_better():
    X, relevance, query = queries(200)
    train, test = query < 120, query >= 120
    found = [
        BoostedTreesRanker(normalize=normalize)
        .fit(X[train], relevance[train], query=query[train])
        .score(X[test], relevance[test], query=query[test])
        for normalize in (False, True)
    ]
    assert found[1] > found[0]


def test_normalize_must_be_a_boolean():
    X, relevance, query = queries(20)
    with pytest.raises(ParameterError, match="normalize=1: expected True or False"):
        BoostedTreesRanker(normalize=1).fit(X, relevance, query=query)


def test_query_sizes_instead_of_queries_are_refused():
    X, relevance, _ = queries(20)
    with pytest.raises(DataError, match="expected the query of each row"):
        BoostedTreesRanker().fit(X, relevance, query=np.full(20, 12))


def test_held_out_rows_are_no_worse_than_scikit_learns():
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    with threadpool_limits(1):
        peer = HistGradientBoostingRegressor().fit(X_train, y_train)
    assert (
        BoostedTreesRegressor().fit(X_train, y_train).score(X_test, y_test)
        >= peer.score(X_test, y_test) - 0.02
    )


def test_without_a_tree_no_feature_has_importance():
    """Early stopping holds out rows, and the rest are too few for a split that helps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    reg = BoostedTreesRegressor(n_estimators=5, early_stopping=True).fit(X[:13], y[:13])
    assert reg.boosted_.trees == ()
    assert reg.feature_importances_.tolist() == [0.0, 0.0, 0.0]


def test_weights_of_a_ranker_are_factors_of_gradients():
    rng = np.random.default_rng(3)
    X, query = rng.normal(size=(300, 3)), np.repeat(np.arange(30), 10)
    relevance = np.clip(np.round(X[:, 0]), 0, 4)

    def ranker(rows=slice(None), **weights):
        return (
            BoostedTreesRanker(n_estimators=5)
            .fit(X[rows], relevance[rows], query=query[rows], **weights)
            .predict(X)
        )

    equal = ranker(sample_weight=np.ones(300))
    np.testing.assert_array_equal(equal, ranker())
    np.testing.assert_allclose(ranker(sample_weight=np.full(300, 1.5)), equal)
    some = rng.random(300) < 0.7
    np.testing.assert_array_equal(ranker(sample_weight=some.astype(float)), ranker(rows=some))
    assert not np.allclose(ranker(sample_weight=np.where(query < 15, 5.0, 1.0)), equal)
