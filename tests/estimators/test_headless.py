"""Fits without scikit-learn give the same models as the estimators."""

import inspect
from dataclasses import fields

import numpy as np
import pytest

from hornbeam import TreeClassifier
from hornbeam.data import Table
from hornbeam.estimators.headless import Settings, fit
from hornbeam.estimators.inputs.prediction_columns import TreeColumns
from hornbeam.estimators.persistence.files import pack
from hornbeam.storage.file import encode

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(300, 2)), RNG.integers(0, 4, 300)])
X[::17, 1] = np.nan
Y = np.array(["a", "b", "c"])[(X[:, 0] + RNG.normal(size=300) > 0).astype(int) + (X[:, 2] == 3)]


def test_settings_equal_the_parameters_of_the_classifier():
    theirs = inspect.signature(TreeClassifier).parameters
    assert {field.name: field.default for field in fields(Settings)} == {
        name: parameter.default for name, parameter in theirs.items()
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"preset": "c4.5"},
        {"class_weight": {"a": 1, "b": 3, "c": 0.5}},
        {"costs": {("a", "b"): 7}},
        {"costs": [[0, 1, 2], [3, 0, 4], [5, 6, 0]], "class_weight": "balanced"},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_models_and_decisions_equal_those_of_the_classifier(parameters, weighted):
    weight = RNG.integers(0, 3, 300) if weighted else None
    clf = TreeClassifier(**parameters).fit(X, Y, weight)
    model = fit(Settings(**parameters), X, Y, weight, n_jobs=2)
    assert encode(model) == encode(pack(clf))
    columns = TreeColumns(model.tree)(Table.read(X, schema=model.tree.schema))
    assert columns["prediction"].tolist() == clf.predict(X).tolist()
