"""Trees of other libraries with their own ways to probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.studies.methods import Group, Outcome, timed
from benchmarks.quality.studies.sets import SEED, Fold

# As one tree calibrated on the predictions of five fold trees, or as the average of five calibrated trees.
CALIBRATED = {
    "tree-isotonic": {"method": "isotonic", "ensemble": False},
    "tree-sigmoid": {"method": "sigmoid", "ensemble": False},
    "five-trees-sigmoid": {"method": "sigmoid", "ensemble": True},
}


def calibrated(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """scikit-learn's tree, and the same under its calibrators with their five folds."""
    train, test = fold.matrices()
    if "tree" in wanted:
        tree, seconds = timed(lambda: DecisionTreeClassifier(random_state=SEED).fit(train, fold.y_train))
        yield Outcome("tree", fold.spread(tree.predict_proba(test)), seconds, tree.tree_.node_count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # scikit-learn refuses classes of fewer than five rows unless it gets the folds themselves.
        splits = list(StratifiedKFold(5).split(fold.y_train, fold.y_train))
        for method, settings in CALIBRATED.items():
            if method in wanted:
                make = CalibratedClassifierCV(
                    DecisionTreeClassifier(random_state=SEED), cv=splits, **settings
                )
                model, seconds = timed(lambda make=make: make.fit(train, fold.y_train))
                yield Outcome(method, fold.spread(model.predict_proba(test)), seconds)


def ydf_cart(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """YDF's CART with its defaults: a tenth of the rows held out for pruning."""
    import ydf

    ydf.verbose(0)
    train, test = (_ydf_columns(frame) for frame in fold.frames())
    learner = ydf.CartLearner(label="__class", task=ydf.Task.CLASSIFICATION, num_threads=1)
    data = {**train, "__class": np.array([f"c{code}" for code in fold.y_train])}
    model, seconds = timed(lambda: learner.train(data))
    said = np.asarray(model.predict(test, num_threads=1), float)
    if said.ndim == 1:
        said = np.column_stack([1 - said, said])
    classes = [int(name[1:]) for name in model.label_classes()]
    yield Outcome("cart", fold.spread(said, classes), seconds)


def _ydf_columns(frame: pd.DataFrame) -> dict[str, NDArray[np.generic]]:
    """Numbers as float32, nominal values as text that looks like no number, "" where missing."""
    return {
        str(name): np.array([*(f"v{i}" for i in range(len(column.cat.categories))), ""])[column.cat.codes]
        if isinstance(column.dtype, pd.CategoricalDtype)
        else column.to_numpy(np.float32)
        for name, column in frame.items()
    }


CALIBRATION = Group("sklearn", ("tree", *CALIBRATED), calibrated)
YDF = Group("ydf", ("cart",), ydf_cart)
