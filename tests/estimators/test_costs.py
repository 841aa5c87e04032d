"""Costs change decisions and pruning, and nothing else."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hornbeam import TreeClassifier
from hornbeam.errors import ParameterError
from hornbeam.pruning import BayesRisk
from hornbeam.smoothing import HGS, Laplace
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.edit import with_decision

X, y = load_breast_cancer(return_X_y=True)
TRIAGE = [[0, 20], [1, 0]]  # 0 is malignant: a missed tumour costs as much as 20 needless visits


@pytest.fixture(scope="module")
def plain():
    return TreeClassifier().fit(X, y)


@pytest.fixture(scope="module")
def costly():
    return TreeClassifier(costs=TRIAGE).fit(X, y)


def test_costs_change_decisions_and_not_probabilities(plain, costly):
    assert (
        with_decision(costly.tree_, plain.tree_.decision).digest == plain.tree_.digest != costly.tree_.digest
    )
    assert np.array_equal(costly.predict_proba(X), plain.predict_proba(X))
    # Benign is predicted where 20 * P(malignant) < P(benign).
    assert np.array_equal(costly.predict(X), (plain.predict_proba(X)[:, 1] > 20 / 21).astype(int))
    assert (costly.predict(X) != plain.predict(X)).sum() > 5


def test_the_expected_cost_of_each_class(plain, costly):
    expected, belief = costly.expected_cost(X), plain.predict_proba(X)
    assert expected == pytest.approx(np.column_stack([belief[:, 1], 20 * belief[:, 0]]))
    assert np.array_equal(costly.predict(X), expected.argmin(axis=1))
    assert plain.expected_cost(X) == pytest.approx(1 - belief)


@pytest.mark.parametrize("preset", ["default", "c4.5", "cart"])
def test_equal_costs_change_nothing(preset):
    X, y = load_iris(return_X_y=True)
    classifier = TreeClassifier(preset, max_depth=3).fit(X, y)
    assert np.array_equal(classifier.predict(X, costs={}), classifier.predict(X))
    assert np.array_equal(classifier.predict(X, costs=7 * (1 - np.eye(3)) + 2), classifier.predict(X))


def test_costs_by_label_equal_costs_by_position():
    labels = np.array(["malignant", "benign"])[y]  # in the order of classes_ benign comes first
    named = TreeClassifier(smoothing="hgs", costs={("malignant", "benign"): 20}).fit(X, labels)
    placed = TreeClassifier(smoothing="hgs", costs=[[0, 1], [20, 0]]).fit(X, labels)
    assert np.array_equal(named.predict(X), placed.predict(X))
    assert np.array_equal(
        named.predict(X) == "benign", TreeClassifier(smoothing="hgs", costs=TRIAGE).fit(X, y).predict(X) == 1
    )


def test_costs_of_predict_replace_those_of_the_estimator(plain, costly):
    assert np.array_equal(plain.predict(X, costs=TRIAGE), costly.predict(X))
    assert np.array_equal(costly.predict(X, costs={}), plain.predict(X))
    assert np.array_equal(plain.expected_cost(X, costs=TRIAGE), costly.expected_cost(X))


def test_each_row_may_have_its_own_costs(plain):
    rng = np.random.default_rng(0)
    loss = rng.lognormal(3, 1, len(X))
    each = np.zeros((len(X), 2, 2))
    each[:, 0, 1], each[:, 1, 0] = loss, 1
    decided = plain.predict(X, costs=each)
    assert decided.tolist() == [plain.predict(X[i : i + 1], costs=each[i])[0] for i in range(len(X))]
    assert plain.expected_cost(X, costs=each)[:, 1] == pytest.approx(loss * plain.predict_proba(X)[:, 0])


def test_costs_of_each_row_of_several_row_groups(plain, tmp_path):
    names, n = plain.tree_.schema.names, 100
    rows = pd.DataFrame(X[:n], columns=names)
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=30)
    each = np.tile([[0.0, 1.0], [1.0, 0.0]], (n, 1, 1))
    each[:, 0, 1] = np.random.default_rng(0).lognormal(2, 2, n)
    for method in ("predict", "expected_cost"):
        found = getattr(plain, method)(tmp_path / "rows.parquet", costs=each)
        assert np.array_equal(found, getattr(plain, method)(X[:n], costs=each))
    for wrong in (each[:30], each[:30].tolist(), np.concatenate([each, each])):
        with pytest.raises(
            ParameterError, match=r"expected \(2, 2\), .* or \(100, 2, 2\) for one matrix per row"
        ):
            plain.predict(tmp_path / "rows.parquet", costs=wrong)


def test_bayes_risk_pruning_uses_these_costs_and_smoothed_probabilities():
    full = TreeClassifier(pruning=None, smoothing=None).fit(X, y).tree_
    for smoothing in (HGS(), Laplace()):
        pruned = TreeClassifier(pruning="bayes-risk", costs=TRIAGE, smoothing=smoothing).fit(X, y).tree_
        by_hand = smoothing(BayesRisk(TRIAGE)(smoothing(full)))
        assert pruned.n_leaves < full.n_leaves
        assert np.array_equal(pruned.skeleton.threshold, by_hand.skeleton.threshold, equal_nan=True)
        step = dict(pruned.history[1].parameters)
        assert step["costs"] == ((0.0, 20.0), (1.0, 0.0))
        assert step["estimate"] == str(pruned.history[2])
        again = smoothing(BayesRisk(TRIAGE, estimate=smoothing)(full))
        assert with_decision(again, pruned.decision).digest == pruned.digest


def test_a_pruner_object_keeps_its_own_costs():
    passed = TreeClassifier("c4.4", pruning=BayesRisk(TRIAGE, estimate=Laplace())).fit(X, y)
    named = TreeClassifier("c4.4", pruning="bayes-risk", costs=TRIAGE).fit(X, y)
    assert passed.tree_.digest == with_decision(named.tree_, DecisionRule()).digest
    assert not np.array_equal(passed.predict(X), named.predict(X))


def test_cloning_saving_and_searching_with_costs():
    clf = TreeClassifier(costs={(0, 1): 20}, max_depth=3)
    assert np.array_equal(clone(clf).fit(X, y).predict(X), clf.fit(X, y).predict(X))
    with sklearn.config_context(enable_metadata_routing=True):
        rows = np.tile(np.array(TRIAGE, float), (len(X), 1, 1))
        routed = TreeClassifier(max_depth=3).set_predict_request(costs=True)
        pipe = make_pipeline(StandardScaler(), routed).fit(X, y)
        assert np.array_equal(pipe.predict(X, costs=TRIAGE), pipe.predict(X, costs=rows))
        assert not np.array_equal(pipe.predict(X, costs=TRIAGE), pipe.predict(X))


@pytest.mark.parametrize("pruning", [None, "bayes-risk"])
@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.zeros((3, 3)), r"shape \(3, 3\): expected \(2, 2\)"),
        ({(0, 2): 1}, r"label 2 in \(0, 2\): expected labels of y, which are \[0, 1\]"),
        ([[0, np.nan], [1, 0]], "is nan"),
        (np.zeros((len(X), 2, 2)), "one matrix for all rows"),
    ],
)
def test_wrong_costs_are_refused_when_fitting(costs, message, pruning):
    with pytest.raises(ParameterError, match=message):
        TreeClassifier(costs=costs, pruning=pruning).fit(X, y)


def test_wrong_costs_are_refused_when_predicting(plain):
    with pytest.raises(ParameterError, match=r"expected \(2, 2\).*\(3, 2, 2\) for one matrix per row"):
        plain.predict(X[:3], costs=np.zeros((4, 2, 2)))
    with pytest.raises(ParameterError, match="label 'ill'"):
        plain.expected_cost(X[:3], costs={("ill", 1): 2})
