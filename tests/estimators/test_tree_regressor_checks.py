"""scikit-learn's estimator checks of regressors, every preset, without exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbeam import TreeRegressor
from hornbeam.recipe import REGRESSION_PRESETS

COMPANY = [TreeRegressor("cart", nominal_split="multiway", max_leaf_nodes=4, max_bins=8, n_jobs=2)]


@parametrize_with_checks([*map(TreeRegressor, REGRESSION_PRESETS), *COMPANY])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
