"""scikit-learn's own checks of lists of rules: all of them, with no exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbeam import RuleClassifier, TreeClassifier

COMPANY = [RuleClassifier(), RuleClassifier(TreeClassifier(smoothing="hgs"), confidence=0.5)]


@parametrize_with_checks(COMPANY)
def test_scikit_learn_has_nothing_to_object(estimator, check):
    check(estimator)
