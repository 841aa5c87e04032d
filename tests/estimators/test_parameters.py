"""Parameters: documented, and no reason to take an estimator for a dataclass."""

import re
from dataclasses import is_dataclass
from inspect import getdoc, signature

import pytest
from sklearn.exceptions import NotFittedError

import hornbeam
from hornbeam import TreeClassifier
from support.estimators import ESTIMATORS, NUMBERS, X, Y

NAMES = [
    "AdaBoostClassifier",
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


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_wrong_argument_is_told_with_the_name_of_the_estimator(name):
    estimator = ESTIMATORS[name]
    kind = type(estimator)
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\(\) got an unexpected keyword argument 'wrong'"):
        kind(wrong=1)
    for method in ("fit", "predict"):
        with pytest.raises(TypeError) as caught:
            getattr(estimator, method)(X, wrong=1)
        assert "Methods" not in str(caught.value)
        assert "'wrong'" in str(caught.value)


def test_a_subclass_of_a_user_keeps_the_names():
    class Mine(hornbeam.TreeClassifier):
        def __init__(self, extra=1):
            super().__init__()
            self.extra = extra

    assert Mine.__init__.__qualname__.endswith("Mine.__init__")
    assert hornbeam.TreeClassifier.__init__.__qualname__ == "TreeClassifier"


def test_the_number_of_trees_is_the_first_argument():
    kinds = [hornbeam.ForestClassifier, hornbeam.ForestRegressor, hornbeam.BoostedTreesClassifier]
    for kind in (*kinds, hornbeam.BoostedTreesRegressor, hornbeam.BoostedTreesRanker):
        assert kind(7).n_estimators == 7
        with pytest.raises(TypeError, match="positional"):
            kind(7, 0.1)


def test_the_size_of_a_tree_as_in_scikit_learn():
    for kind, target in ((hornbeam.TreeClassifier, Y), (hornbeam.TreeRegressor, NUMBERS)):
        tree = kind("cart", max_depth=2)
        with pytest.raises(NotFittedError):
            tree.get_depth()
        with pytest.raises(NotFittedError):
            tree.get_n_leaves()
        tree.fit(X, target)
        assert (tree.get_depth(), tree.get_n_leaves()) == (tree.tree_.depth, tree.tree_.n_leaves)
