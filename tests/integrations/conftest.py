"""Every estimator, fitted to rows with numbers, categories and missing values."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from hornbeam.pruning import ErrorBased
from hornbeam.smoothing import HDP, HGS
from hornbeam.tree import Costs

RNG = np.random.default_rng(0)
N = 90
ROWS = pd.DataFrame(
    {
        "dose": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N).round(2)),
        "visits": RNG.integers(0, 9, N),
        "ward": pd.Series(RNG.choice(["north", "east", "west"], N), dtype="category"),
    }
)
SCORE = np.nan_to_num(ROWS["dose"].to_numpy()) + (ROWS["ward"] == "east") - RNG.random(N) / 2
LABELS = np.where(SCORE > 0.4, "ill", "well")
AMOUNT = SCORE.to_numpy()
GRADES = np.digitize(SCORE, [0.0, 0.8])
NUMBERS = ROWS[["dose", "visits"]]


def ranker():
    return hornbeam.BoostedTreesRanker(n_estimators=4).fit(ROWS, GRADES, query=np.arange(N) // 9)


def rules_of_a_fitted_tree():
    clf = hornbeam.TreeClassifier("c4.5").fit(ROWS, LABELS)
    return hornbeam.RuleClassifier(FrozenEstimator(clf)).fit(ROWS, LABELS)


MAKERS = {
    "TreeClassifier": lambda: hornbeam.TreeClassifier().fit(ROWS, LABELS),
    "TreeClassifier, truths": lambda: hornbeam.TreeClassifier().fit(ROWS, LABELS == "ill"),
    "TreeClassifier, steps and costs": lambda: hornbeam.TreeClassifier(
        "c4.5",
        missing="own",
        smoothing=HGS(2.0),
        pruning=ErrorBased(0.1),
        costs={("ill", "well"): 5.0},
        class_weight={"ill": 2.0, "well": 1.0},
        monotonic_cst={"dose": 1},
    ).fit(ROWS, LABELS),
    "TreeClassifier, matrix of costs": lambda: hornbeam.TreeClassifier(
        smoothing=HDP(), costs=Costs([[0, 5], [1, 0]]), class_weight={False: 1.0, True: 3.0}
    ).fit(ROWS, LABELS == "ill"),
    "TreeClassifier, no names": lambda: hornbeam.TreeClassifier("id3").fit(NUMBERS.to_numpy(), GRADES),
    "TreeRegressor": lambda: hornbeam.TreeRegressor().fit(ROWS, AMOUNT),
    "ForestClassifier": lambda: hornbeam.ForestClassifier(n_estimators=5, oob_score=True).fit(ROWS, LABELS),
    "ForestRegressor": lambda: hornbeam.ForestRegressor(n_estimators=5).fit(ROWS, AMOUNT),
    "ForestRegressor, distribution": lambda: hornbeam.ForestRegressor(5, distribution=True).fit(ROWS, AMOUNT),
    "BoostedTreesClassifier": lambda: hornbeam.BoostedTreesClassifier(n_estimators=4).fit(ROWS, GRADES),
    "BoostedTreesRegressor": lambda: hornbeam.BoostedTreesRegressor(n_estimators=4).fit(ROWS, AMOUNT),
    "BoostedTreesRanker": ranker,
    "AdaBoostClassifier": lambda: hornbeam.AdaBoostClassifier(4, max_depth=2).fit(ROWS, LABELS),
    "RuleClassifier": lambda: hornbeam.RuleClassifier(costs={("ill", "well"): 5.0}).fit(ROWS, LABELS),
    "RuleClassifier, of a fitted tree": rules_of_a_fitted_tree,
    "SmoothedClassifier": lambda: hornbeam.SmoothedClassifier(
        DecisionTreeClassifier(max_depth=3, random_state=0)
    ).fit(NUMBERS, LABELS),
    "TreeClassifier, teacher": lambda: hornbeam.TreeClassifier(
        teacher=hornbeam.ForestClassifier(n_estimators=5), max_leaf_nodes=4
    ).fit(ROWS, LABELS),
}


@pytest.fixture(scope="session", params=MAKERS)
def fitted(request):
    """A fitted estimator; the same one for all tests."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*do not have OOB scores")
        return MAKERS[request.param]()


@pytest.fixture(scope="session")
def rows(fitted):
    """Rows like those of `fit`, and some with unseen categories and missing values."""
    odd = pd.DataFrame({"dose": [np.nan, 9.0], "visits": [3, 4], "ward": ["south", None]})
    if hasattr(fitted, "feature_names_in_"):
        return pd.concat([ROWS.astype({"ward": object}), odd])[list(fitted.feature_names_in_)]
    return NUMBERS.to_numpy()


@pytest.fixture(scope="session")
def predictions(fitted, rows):
    """Predictions of the estimator, by the name of the method."""
    return predictions_of(fitted, rows)


def predictions_of(estimator, rows):
    return {
        name: getattr(estimator, name)(rows)
        for name in ("predict_proba", "predict", "apply")
        if hasattr(estimator, name)
    }


@pytest.fixture(scope="session")
def same_predictions(predictions, rows):
    """A function that compares the predictions of an estimator, bit for bit."""

    def compare(again):
        found = predictions_of(again, rows)
        assert found.keys() == predictions.keys()
        for name, values in predictions.items():
            assert found[name].dtype == values.dtype
            np.testing.assert_array_equal(found[name], values)

    return compare
