"""scikit-learn's estimator checks of every preset, without exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbeam import TreeClassifier
from hornbeam.recipe import PRESETS

COMPANY = [
    TreeClassifier(criterion="hellinger", nominal_split="multiway", smoothing="laplace", pruning="collapse"),
    TreeClassifier(max_leaf_nodes=4, max_bins=20, class_weight="balanced", n_jobs=2),
]


@parametrize_with_checks([*map(TreeClassifier, PRESETS), *COMPANY])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
