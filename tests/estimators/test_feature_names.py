"""Names of columns and numbers of features are checked with the same messages as in scikit-learn."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

from hornbeam import TreeClassifier

X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
y = [0, 0, 1, 1]


def message_of(classifier, train, test):
    """Warning or error of a classifier, without its own name."""
    classifier.fit(train, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            classifier.predict(test)
        except ValueError as error:
            return type(error).__mro__[-4:], str(error).replace(type(classifier).__name__, "Tree")
    [warning] = caught
    return warning.category.__mro__[-5:], str(warning.message).replace(type(classifier).__name__, "Tree")


@pytest.mark.parametrize(
    ("train", "test"),
    [
        (X, X.to_numpy()),  # named, then not
        (X.to_numpy(), X),  # not named, then named
        (X, X[["b", "a"]]),
        (X, X.rename(columns={"a": "c"})),
        (X, X[["a"]]),
        (X, pd.DataFrame(1.0, index=[0], columns=list("cdefghij"))),
        (X.to_numpy(), X.to_numpy()[:, :1]),
        (X.to_numpy(), np.zeros((2, 3))),
    ],
)
def test_messages_equal_those_of_scikit_learn(train, test):
    kind, words = message_of(TreeClassifier(), train, test)
    their_kind, their_words = message_of(DecisionTreeClassifier(), train, test)
    assert kind == their_kind
    assert words.startswith(their_words.rstrip(".\n"))


@pytest.mark.parametrize("frame", [lambda X: X, pl.from_pandas])
def test_names_are_kept_from_any_frame(frame):
    classifier = TreeClassifier().fit(frame(X), y)
    assert classifier.feature_names_in_.tolist() == ["a", "b"]
    assert classifier.feature_names_in_.dtype == object
    assert classifier.n_features_in_ == 2


def test_integer_column_names_are_ignored():
    classifier = TreeClassifier().fit(pd.DataFrame(X.to_numpy()), y)
    assert not hasattr(classifier, "feature_names_in_")
    assert classifier.tree_.schema.names == ("x0", "x1")
    assert classifier.predict(X.to_numpy()).tolist() == y


def test_a_warning_points_to_the_caller():
    classifier = TreeClassifier().fit(X, y)
    for method in ("predict", "predict_proba", "apply", "decision_path"):
        with pytest.warns(UserWarning, match="valid feature names") as caught:
            getattr(classifier, method)(X.to_numpy())
        assert caught[0].filename == __file__


def test_wrong_shapes_are_refused_as_in_scikit_learn():
    classifier = TreeClassifier().fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match=r"Expected 2D array, got 1D array instead(.|\n)*Reshape your data"):
        classifier.predict(X["a"].to_numpy())
    with pytest.raises(ValueError, match=re.escape("Found array with 0 sample(s) (shape=(0, 2))")):
        classifier.predict(np.zeros((0, 2)))
