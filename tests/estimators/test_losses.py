"""Losses as objects: those of Hornbeam, and one's own."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes

import hornbeam
from hornbeam import BoostedTreesRegressor
from hornbeam.ensembles import Loss, Poisson, QuantileLoss, SquaredError
from hornbeam.ensembles.boosting.losses import SoftmaxLoss
from hornbeam.errors import ParameterError, StorageError

X, Y = load_diabetes(return_X_y=True)
FEW = {"n_estimators": 5, "max_leaf_nodes": 6}
NAMED = [
    (SquaredError(), {"loss": "squared_error"}),
    (QuantileLoss(), {"loss": "absolute_error"}),
    (QuantileLoss(0.9), {"loss": "quantile", "quantile": 0.9}),
    (Poisson(), {"loss": "poisson"}),
]


@dataclass(frozen=True)
class Squares(Loss):
    """Half the squared error, with defaults for everything else."""

    def negative_gradients(self, scores, target):
        return target - scores, None

    def row_losses(self, scores, target):
        return (target - scores[0]) ** 2 / 2


@dataclass(frozen=True)
class Wrong(Squares):
    def negative_gradients(self, scores, target):
        return (target - scores)[0], None


@pytest.mark.parametrize(("loss", "named"), NAMED, ids=str)
def test_an_object_is_the_same_as_its_name(loss, named, tmp_path):
    reg, same = (BoostedTreesRegressor(**FEW, **one).fit(X, Y) for one in ({"loss": loss}, named))
    assert np.array_equal(reg.predict(X), same.predict(X))
    assert reg.boosted_.digest == same.boosted_.digest
    hornbeam.save(reg, tmp_path / "model.hornbeam")
    again = hornbeam.load(tmp_path / "model.hornbeam")
    assert again.loss == loss
    assert np.array_equal(again.predict(X), reg.predict(X))


@pytest.mark.parametrize(("loss", "named"), NAMED[3:], ids=str)
def test_an_object_is_the_same_as_its_name_with_init(loss, named):
    models = [
        BoostedTreesRegressor(**FEW, **one, init=hornbeam.ForestRegressor(30)).fit(X, Y)
        for one in ({"loss": loss}, named)
    ]
    assert np.array_equal(models[0].predict(X), models[1].predict(X))


def test_a_loss_of_ones_own(tmp_path):
    reg = BoostedTreesRegressor(loss=Squares(), **FEW).fit(X, Y)
    same = BoostedTreesRegressor(**FEW).fit(X, Y)
    assert np.array_equal(reg.predict(X), same.predict(X))
    assert np.array_equal(clone(reg).fit(X, Y).predict(X), reg.predict(X))
    assert np.array_equal(pickle.loads(pickle.dumps(reg)).predict(X), reg.predict(X))
    with pytest.raises(StorageError, match="loss"):
        hornbeam.save(reg, tmp_path / "model.hornbeam")


@pytest.mark.parametrize("loss", ["squares", None, 3, SquaredError, SoftmaxLoss(3), lambda scores: scores])
def test_anything_else_is_refused(loss):
    with pytest.raises(ParameterError, match=r"a hornbeam\.ensembles\.Loss with one output"):
        BoostedTreesRegressor(loss=loss, **FEW).fit(X, Y)


def test_gradients_of_another_shape_are_refused():
    with pytest.raises(ParameterError, match=r"Wrong returned arrays of the shapes .* expected the shape"):
        BoostedTreesRegressor(loss=Wrong(), **FEW).fit(X, Y)


def test_a_loss_without_gradients_cannot_be_made():
    with pytest.raises(TypeError, match="negative_gradients"):
        type("Nothing", (Loss,), {})()
