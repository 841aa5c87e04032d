"""RuleClassifier: any rows, probabilities with intervals."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.tree import DecisionTreeClassifier

from hornbeam import RuleClassifier, TreeClassifier, load, model_card, report
from hornbeam.editing.editor import TreeEditor
from hornbeam.errors import HornbeamError, ParameterError
from hornbeam.explain.candidates.list_splits import candidate_splits
from hornbeam.interop import from_sklearn
from hornbeam.plots import LeafDisplay, TreeDisplay
from hornbeam.rules.extract import extract
from hornbeam.tree import Table
from hornbeam.tree.route import predict_rows
from hornbeam.tree.statistics import rate_bounds

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
PATIENTS = pd.DataFrame(
    {
        "fever": [36.5, 36.8, np.nan, 39.0, 39.4, 38.5, 36.6, 38.9] * 6,
        "cough": pd.Categorical(["no", "yes", "no", None, "yes", "yes", "no", "no"] * 6),
    }
)
ILL = ["well", "well", "well", "ill", "ill", "ill", "well", "ill"] * 6


def test_fit_is_extract_simplify_and_choose():
    X, y = CANCER
    clf = RuleClassifier(confidence=0.1, alpha=2.0, random_state=3).fit(X, y)
    table = Table.read(X, y)
    tree = TreeClassifier("c4.5", pruning="collapse").fit(X, y).tree_
    rules = extract(tree, merge=False).simplify(table, None, confidence=0.1)
    rules = rules.choose(table, None, alpha=2.0, random_state=3)
    assert clf.source_tree_.digest == tree.digest
    assert [rule.conditions for rule in clf.rules_] == [rule.conditions for rule in rules]
    assert (clf.predict_proba(X) == rules.predict_proba(table)).all()


def test_rules_are_as_accurate_as_their_tree():
    rules = cross_val_score(RuleClassifier(), *CANCER, cv=5).mean()
    tree = cross_val_score(TreeClassifier("c4.5"), *CANCER, cv=5).mean()
    assert rules > tree - 0.01


def test_missing_and_nominal_values():
    clf = RuleClassifier().fit(PATIENTS, ILL)
    rows = pd.DataFrame({"fever": [36.0, 40.0, np.nan], "cough": ["no", "never seen", None]})
    p = clf.predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p > 0).all()
    assert clf.predict(rows)[:2].tolist() == ["well", "ill"]
    assert clf.apply(rows)[2] == len(
        clf.rules_
    )  # all values of the third row are missing or unseen: no rule applies


def test_a_weight_of_two_is_two_rows():
    X, y = np.array(IRIS[0]), np.array(IRIS[1])
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = RuleClassifier().fit(X, y, sample_weight=weight)
    repeated = RuleClassifier().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert [rule.conditions for rule in weighted.rules_] == [rule.conditions for rule in repeated.rules_]
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-12)


def test_the_order_of_rows_does_not_matter():
    X, y = CANCER
    order = np.random.default_rng(0).permutation(len(y))
    one, other = RuleClassifier().fit(X, y), RuleClassifier().fit(X[order], y[order])
    assert (one.predict_proba(X) == other.predict_proba(X)).all()


def test_the_class_of_a_rule_is_its_most_probable_one():
    for X, y in (IRIS, CANCER):
        clf = RuleClassifier().fit(X, y)
        assert (clf.predict(X) == clf.classes_[clf.predict_proba(X).argmax(axis=1)]).all()


def test_costs_change_decisions_and_nothing_else():
    X, y = CANCER
    plain, dear = RuleClassifier().fit(X, y), RuleClassifier(costs={(1, 0): 50}).fit(X, y)
    assert (plain.predict_proba(X) == dear.predict_proba(X)).all()
    assert (dear.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()
    assert (plain.predict(X, costs={(1, 0): 50}) == dear.predict(X)).all()
    with pytest.raises(ParameterError, match="unknown"):
        RuleClassifier(costs={("unknown", 0): 1}).fit(X, y)


def test_intervals_contain_the_probabilities():
    X, y = CANCER
    clf = RuleClassifier().fit(X, y)
    p, (low, high) = clf.predict_proba(X), clf.predict_interval(X, level=0.8)
    assert ((low <= p) & (p <= high)).all()
    rule = clf.rules_[0]
    expected = rate_bounds(rule.probability, np.full(2, rule.decided.sum()), 0.8)
    np.testing.assert_allclose(rule.interval(level=0.8), expected)


def test_any_tree_is_accepted():
    X, y = CANCER
    grown = TreeClassifier("cart", max_depth=3).fit(X, y)
    frozen = RuleClassifier(FrozenEstimator(grown)).fit(X, y)
    assert frozen.source_tree_ is grown.tree_
    from_tree = RuleClassifier(grown.tree_).fit(X, y)
    asked_to_grow = RuleClassifier(TreeClassifier("cart", max_depth=3)).fit(X, y)
    for other in (from_tree, asked_to_grow):
        assert (other.predict_proba(X) == frozen.predict_proba(X)).all()
    foreign = from_sklearn(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y))
    assert (RuleClassifier(foreign).fit(X, y).predict(X) == y).mean() > 0.95


def test_a_tree_with_more_classes_than_the_rows():
    X, y = IRIS
    tree = TreeClassifier("cart").fit(X, y).tree_
    clf = RuleClassifier(tree).fit(X[:100], y[:100])
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize(
    "estimator", [DecisionTreeClassifier(), "c4.5", FrozenEstimator(DecisionTreeClassifier())]
)
def test_other_estimators_are_refused(estimator):
    with pytest.raises(ParameterError, match=r"expected a TreeClassifier.*hornbeam\.interop"):
        RuleClassifier(estimator).fit(*IRIS)


@pytest.mark.parametrize(
    "wrong", [{"confidence": 0.0}, {"confidence": 1.5}, {"alpha": -1.0}, {"random_state": "x"}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(HornbeamError, match=f"{next(iter(wrong))}=.*expected"):
        RuleClassifier(**wrong).fit(*IRIS)


def test_one_class_gives_one_prediction():
    clf = RuleClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert len(clf.rules_) == 0
    assert clf.predict([[5.0]]).tolist() == ["a"]
    assert clf.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_copies_and_pickles_predict_the_same():
    clf = RuleClassifier(TreeClassifier("cart")).fit(PATIENTS, ILL)
    again = pickle.loads(pickle.dumps(clf))
    assert (again.predict_proba(PATIENTS) == clf.predict_proba(PATIENTS)).all()
    fresh = clone(clf).fit(PATIENTS, ILL)
    assert (fresh.predict_proba(PATIENTS) == clf.predict_proba(PATIENTS)).all()


def test_reports_plots_and_edits_refuse_rules_instead_of_using_their_tree():
    """The tree predicts something else: its log loss is five times that of the rules here."""
    X, y = CANCER
    train, test, known, unknown = train_test_split(X[:, :6], y, random_state=0, stratify=y)
    clf = RuleClassifier().fit(train, known)
    tree = predict_rows(clf.source_tree_, Table.read(test, schema=clf.source_tree_.schema))
    assert log_loss(unknown, tree) > 2 * log_loss(unknown, clf.predict_proba(test))
    for use in (
        lambda: report(clf, test, unknown),
        lambda: model_card(clf, test, unknown),
        lambda: report(clf.source_tree_, test, unknown, earlier=clf),
        lambda: TreeDisplay.from_estimator(clf),
        lambda: LeafDisplay.from_estimator(clf),
        lambda: candidate_splits(clf, train, known),
        lambda: TreeEditor._of(clf, train, known),
    ):
        with pytest.raises(
            ParameterError, match=r"This is a RuleClassifier, .*print its rules_, .*or pass source_tree_"
        ):
            use()


def test_files_of_earlier_versions_have_the_tree_of_the_rules():
    clf = load(Path(__file__).parents[1] / "storage" / "golden" / "1.2.hornbeam")
    assert clf.source_tree_.n_leaves > 1
    assert not hasattr(clf, "tree_")
    assert pickle.loads(pickle.dumps(clf)).source_tree_.digest == clf.source_tree_.digest
