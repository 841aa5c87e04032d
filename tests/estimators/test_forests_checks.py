"""scikit-learn's estimator checks of forests, without exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbeam import ForestClassifier, ForestRegressor

COMPANY = [
    ForestClassifier(5),
    ForestClassifier(
        4, criterion="gini", smoothing="out-of-bag", class_weight="balanced", max_leaf_nodes=6, n_jobs=2
    ),
    ForestClassifier(3, bootstrap=False, missing="fractional", smoothing="hgs"),
    ForestRegressor(5),
    ForestRegressor(4, max_features="sqrt", max_samples=0.8, max_bins=None, n_jobs=2),
]


@parametrize_with_checks(COMPANY)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
