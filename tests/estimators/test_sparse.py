"""Sparse matrices give the same model and the same predictions as dense arrays, in every format."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import hornbeam

RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((80, 4)) < 0.5, 0.0, RNG.normal(size=(80, 4)).round(1))
LABELS = np.where(DENSE[:, 0] + DENSE[:, 1] > 0.2, "yes", "no")
AMOUNT = DENSE[:, 0] - DENSE[:, 2]

ESTIMATORS = [
    (hornbeam.TreeClassifier(), LABELS),
    (hornbeam.TreeRegressor(), AMOUNT),
    (hornbeam.ForestClassifier(n_estimators=4), LABELS),
    (hornbeam.ForestRegressor(n_estimators=4), AMOUNT),
    (hornbeam.BoostedTreesClassifier(n_estimators=4), LABELS),
    (hornbeam.BoostedTreesRegressor(n_estimators=4), AMOUNT),
    (hornbeam.BoostedTreesRanker(n_estimators=4), (AMOUNT > 0).astype(int)),
    (hornbeam.RuleClassifier(), LABELS),
    (hornbeam.SmoothedClassifier(), LABELS),
]


def predictions(estimator, X):
    return estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else estimator.predict(X)


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_predictions_equal_those_of_the_dense_array(estimator, y, form):
    expected = predictions(estimator.fit(DENSE, y), DENSE)
    np.testing.assert_array_equal(predictions(estimator, form(DENSE)), expected)
    np.testing.assert_array_equal(predictions(estimator.fit(form(DENSE), y), DENSE), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_])
def test_the_dtype_of_the_entries_has_the_same_effect_as_in_a_dense_array(dtype):
    X = (DENSE > 0).astype(dtype)
    one, other = (hornbeam.TreeClassifier().fit(rows, LABELS) for rows in (X, sparse.csr_array(X)))
    assert one.tree_.digest == other.tree_.digest


def test_a_missing_value_among_the_entries_stays_missing():
    X = DENSE.copy()
    X[::7, 1] = np.nan
    one, other = (hornbeam.TreeClassifier().fit(rows, LABELS) for rows in (X, sparse.csr_array(X)))
    assert one.tree_.digest == other.tree_.digest


def test_one_hot_columns_of_a_default_pipeline():
    frame = pd.DataFrame({"city": RNG.choice([f"city {i}" for i in range(30)], 200), "age": RNG.random(200)})
    y = frame["city"].isin(["city 1", "city 2", "city 3"]) ^ (RNG.random(200) < 0.05)
    one_hot = OneHotEncoder(handle_unknown="ignore")
    whole = make_pipeline(one_hot, hornbeam.TreeClassifier()).fit(frame[["city"]], y)
    assert sparse.issparse(whole[0].transform(frame[["city"]]))
    assert whole.score(frame[["city"]], y) > 0.9
    mixed = make_column_transformer((one_hot, ["city"]), (StandardScaler(), ["age"]))
    assert make_pipeline(mixed, hornbeam.TreeClassifier()).fit(frame, y).score(frame, y) > 0.9


def test_word_counts_of_texts_can_be_split():
    texts = ["good tree", "bad tree", "good wood", "bad wood"] * 5
    pipe = make_pipeline(CountVectorizer(), hornbeam.TreeClassifier()).fit(texts, [1, 0, 1, 0] * 5)
    assert pipe.predict(["bad bark", "good bark"]).tolist() == [0, 1]


def test_a_teacher_takes_a_sparse_matrix():
    tree = hornbeam.TreeClassifier(teacher=hornbeam.ForestClassifier(30), max_leaf_nodes=4)
    expected = tree.fit(DENSE, LABELS).predict_proba(DENSE)
    np.testing.assert_array_equal(tree.fit(sparse.csr_array(DENSE), LABELS).predict_proba(DENSE), expected)
