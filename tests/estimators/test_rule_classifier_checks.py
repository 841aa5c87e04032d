"""scikit-learn's estimator checks of RuleClassifier, without exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbeam import RuleClassifier, TreeClassifier

COMPANY = [RuleClassifier(), RuleClassifier(TreeClassifier(smoothing="hgs"), confidence=0.5)]


@parametrize_with_checks(COMPANY)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
