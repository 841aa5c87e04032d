"""scikit-learn's estimator checks of boosted trees, without exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbeam import BoostedTreesClassifier, BoostedTreesRegressor, TreeClassifier, TreeRegressor

COMPANY = [
    BoostedTreesClassifier(),
    BoostedTreesClassifier(n_estimators=4, max_leaf_nodes=None, max_depth=3, min_samples_leaf=2, n_jobs=2),
    BoostedTreesRegressor(),
    BoostedTreesRegressor(loss="absolute_error", n_estimators=4, learning_rate=0.7, min_samples_leaf=1),
    BoostedTreesClassifier(n_estimators=3, init=TreeClassifier()),
    BoostedTreesRegressor(n_estimators=3, init=TreeRegressor()),
]


@parametrize_with_checks(COMPANY)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
