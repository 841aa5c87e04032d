"""Every estimator on small data, for tests that ask the same of all of them."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import hornbeam

_RNG = np.random.default_rng(16)
X = _RNG.normal(size=(60, 3))
Y = (X[:, 0] + _RNG.normal(size=60) > 0).astype(int)
NUMBERS = X[:, 0] + _RNG.normal(size=60)

ESTIMATORS = {
    "tree": hornbeam.TreeClassifier(),
    "cart": hornbeam.TreeClassifier("cart"),
    "regressor": hornbeam.TreeRegressor(),
    "forest": hornbeam.ForestClassifier(n_estimators=2),
    "forest regressor": hornbeam.ForestRegressor(n_estimators=2, distribution=True),
    "boosted": hornbeam.BoostedTreesClassifier(n_estimators=2),
    "boosted regressor": hornbeam.BoostedTreesRegressor(n_estimators=2),
    "quantile": hornbeam.BoostedTreesRegressor(loss="quantile", quantile=0.5, n_estimators=2),
    "ranker": hornbeam.BoostedTreesRanker(n_estimators=2),
    "adaboost": hornbeam.AdaBoostClassifier(n_estimators=2),
    "rules": hornbeam.RuleClassifier(),
    "smoothed": hornbeam.SmoothedClassifier(DecisionTreeClassifier(max_depth=2)),
}
WEIGHTED = [name for name in ESTIMATORS if name != "ranker"]  # which takes no weights


def fitted(estimator, X=X, y=None, **options):
    """Fit an estimator to these rows, with a target of its kind."""
    if y is None:
        y = NUMBERS if "Regressor" in type(estimator).__name__ else Y
    if isinstance(estimator, hornbeam.BoostedTreesRanker):
        options["query"] = np.zeros(len(y), int)
    return estimator.fit(X, y, **options)


def answers(estimator, X=X):
    """Return the probabilities of a classifier, or the numbers of another estimator."""
    return estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else estimator.predict(X)
