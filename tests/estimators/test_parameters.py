"""Parameters: documented, and no reason to take an estimator for a dataclass."""

import re
from dataclasses import is_dataclass
from inspect import getdoc, signature

import pytest

import hornbeam
from hornbeam import TreeClassifier

NAMES = [
    "BoostedTreesClassifier",
    "BoostedTreesRanker",
    "BoostedTreesRegressor",
    "ForestClassifier",
    "ForestRegressor",
    "TreeClassifier",
    "TreeRegressor",
]


@pytest.mark.parametrize("name", NAMES)
def test_each_parameter_is_documented(name):
    estimator = getattr(hornbeam, name)
    section = getdoc(estimator).split("Parameters\n----------\n")[1].split("\nAttributes\n----------\n")[0]
    documented = re.findall(r"^(\w+) : ", section, re.MULTILINE)
    assert sorted(documented) == sorted(signature(estimator).parameters) == list(estimator().get_params())


@pytest.mark.parametrize("name", NAMES)
def test_an_estimator_is_not_a_dataclass(name):
    estimator = getattr(hornbeam, name)
    assert not is_dataclass(estimator)
    assert not is_dataclass(estimator())


def test_dask_names_an_estimator_by_what_it_learned():
    tokenize = pytest.importorskip("dask.base").tokenize
    one, other = (TreeClassifier("cart").fit([[0], [1]], y) for y in ([0, 1], [1, 0]))
    assert tokenize(one) != tokenize(other)
