"""The names the shell knows."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from hornbeam import TreeClassifier
from hornbeam.errors import ParameterError
from hornbeam.smoothing import MEstimate

NAMES = ["hdp", "hgs", "hgs-gradient", "hgs-loo", "laplace", "m-branch", "m-estimate", "raw", "shrinkage"]
X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_step_of_that_name(name):
    classifier = TreeClassifier(smoothing=name).fit(X, y)
    assert classifier.tree_.history[-1].name == name
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)
    assert classifier.score(X, y) > 0.9


def test_a_smoother_is_taken_as_it_is():
    tree = TreeClassifier(smoothing=MEstimate(5.0, "root")).fit(X, y).tree_
    assert str(tree.history[-1]) == "m-estimate(base='root', m=5.0)"


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match="m-branch"):
        TreeClassifier(smoothing="mbranch").fit(X, y)
