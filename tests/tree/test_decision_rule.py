"""The decision rule is the same in `predict`, files and every view."""

import copy
import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import make_classification

import hornbeam
from hornbeam import TreeClassifier
from hornbeam.errors import HornbeamWarning, ParameterError, StorageError, TreeError
from hornbeam.explain.leaves import leaves
from hornbeam.export import to_html, to_json, to_markdown, to_python, to_text
from hornbeam.interop import to_sklearn
from hornbeam.tree import Costs, DecisionRule
from hornbeam.tree.edit import with_decision

pytestmark = pytest.mark.filterwarnings("ignore:the file has no sha256")

NUMBERS = st.floats(0, 100, allow_subnormal=False)
X, codes = make_classification(600, n_features=5, n_informative=3, flip_y=0.25, weights=[0.7], random_state=1)
y = np.array(["good", "bad"])[codes]
RULES = {
    "costs": {"costs": {("bad", "good"): 6}},
    "class_weight": {"class_weight": "balanced"},
    "both": {"costs": [[-1, 4], [2, 0]], "class_weight": {"bad": 3.0}},
}


@pytest.fixture(params=RULES, scope="module")
def clf(request):
    fitted_model = TreeClassifier(max_leaf_nodes=9, **RULES[request.param]).fit(X, y)
    assert (fitted_model.tree_.decided != fitted_model.tree_.belief.argmax(axis=1)).any()
    return fitted_model


@given(
    hnp.arrays(np.float64, (4, 3), elements=NUMBERS),
    st.none() | hnp.arrays(np.float64, (3, 3), elements=NUMBERS),
    st.none() | hnp.arrays(np.float64, 3, elements=NUMBERS),
)
def test_the_decided_class_has_the_least_expected_cost(p, costs, weight):
    rule = DecisionRule(None if costs is None else Costs(costs), weight)
    matrix = (1 - np.eye(3)) if costs is None else costs
    factor = np.ones(3) if weight is None else weight
    for row, code in zip(p, rule(p), strict=True):
        expected = [sum(row[t] * factor[t] * matrix[t, j] for t in range(3)) for j in range(3)]
        scale = (factor[:, None] * np.abs(matrix)).max() * max(row.sum(), 1)
        assert expected[code] <= min(expected) + 1e-11 * scale


def test_without_costs_the_first_of_the_most_probable_classes_is_decided():
    assert DecisionRule()([[0.2, 0.4, 0.4]]).tolist() == [1]
    assert DecisionRule(class_weight=np.full(3, 7.0)).is_default
    assert DecisionRule(Costs(1 - np.eye(2)))([[0.5, 0.5], [0.1, 0.9]]).tolist() == [0, 1]


def test_invalid_rules_are_refused():
    with pytest.raises(ParameterError, match="expected a finite number for each class, 0 or more"):
        DecisionRule(class_weight=np.array([1.0, -1.0]))
    with pytest.raises(ParameterError, match="class_weight has 3 numbers and costs 2 classes"):
        DecisionRule(Costs([[0, 1], [1, 0]]), np.array([1.0, 2.0, 3.0]))
    tree = TreeClassifier().fit(X, y).tree_
    with pytest.raises(TreeError, match=r"costs of shape \(3, 3\), expected \(2, 2\)"):
        with_decision(tree, DecisionRule(class_weight=np.array([1.0, 2.0, 3.0])))


def test_the_decision_of_each_node_is_that_of_predict(clf):
    assert (clf.classes_[clf.tree_.decided][clf.apply(X)] == clf.predict(X)).all()
    assert (clf.classes_[clf.tree_.decision(clf.predict_proba(X))] == clf.predict(X)).all()


def test_every_view_shows_the_class_of_predict(clf):
    tree, leaf = clf.tree_, np.flatnonzero(clf.tree_.skeleton.is_leaf)
    named = [tree.schema.classes[code] for code in tree.decided[leaf]]
    assert sorted(re.findall(r" ·+ (bad|good) ", to_text(clf))) == sorted(named)
    assert re.findall(r"  (bad|good)  ", str(leaves(tree))) == named
    rules = clf.rules()
    assert sorted(rule.prediction for rule in rules) == sorted(named)
    assert sorted(re.findall(r"then (bad|good)", rules.to_text())) == sorted(named)
    assert sorted(re.findall(r"then (bad|good)", clf.leaves().as_rules())) == sorted(named)
    json_rules = json.loads(to_json(clf))["rules"]
    assert {rule["node"]: rule["class"] for rule in json_rules} == {
        rule["node"]: tree.schema.classes[tree.decided[rule["node"]]] for rule in json_rules
    }
    for page in (to_markdown(clf), to_html(clf)):
        assert page == (to_markdown if page.startswith("|") else to_html)(tree)
    for row, label in zip(clf.explain(X[:50]), clf.predict(X[:50]), strict=True):
        assert row.prediction == label


def test_files_pickles_and_updates_keep_the_rule(clf, tmp_path):
    for name in ("model.hornbeam", "model.safetensors"):
        hornbeam.save(clf, tmp_path / name)
        again = hornbeam.load(tmp_path / name)
        assert again.tree_.decision == clf.tree_.decision
        assert again.tree_.digest == clf.tree_.digest
        hornbeam.save(clf.tree_, tmp_path / name)
        assert hornbeam.load(tmp_path / name).digest == clf.tree_.digest
    assert pickle.loads(pickle.dumps(clf)).tree_.digest == clf.tree_.digest
    loaded = hornbeam.load(tmp_path / "model.hornbeam")
    assert loaded.decision == clf.tree_.decision
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    updated = hornbeam.load(tmp_path / "model.hornbeam").update(X[:9], y[:9])
    assert updated.tree_.decision == clf.tree_.decision


@pytest.mark.parametrize(
    "costs", [[[0, 10], [1, 0]], np.array([[0, 10], [1, 0]]), {("bad", "good"): 10}, Costs([[0, 10], [1, 0]])]
)
def test_copies_decide_the_same_for_every_form_of_costs(costs, tmp_path):
    clf = TreeClassifier(max_leaf_nodes=9, costs=costs).fit(X, y)
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    for again in (
        pickle.loads(pickle.dumps(clf)),
        copy.deepcopy(clf),
        hornbeam.load(tmp_path / "model.hornbeam"),
    ):
        assert again.tree_.digest == clf.tree_.digest
        assert (again.predict(X) == clf.predict(X)).all()


@pytest.mark.parametrize(("fitted", "then"), [(None, [[0, 10], [1, 0]]), ([[0, 10], [1, 0]], None)])
def test_a_file_has_the_decision_rule_of_fit_even_if_parameters_changed_later(fitted, then, tmp_path):
    clf = TreeClassifier(max_leaf_nodes=9, costs=fitted).fit(X, y).set_params(costs=then)
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    again = hornbeam.load(tmp_path / "model.hornbeam")
    assert again.tree_.digest == clf.tree_.digest
    assert (again.predict(X) == clf.predict(X)).all()


def test_with_a_positive_class_the_decision_is_shown_too():
    clf = TreeClassifier(max_leaf_nodes=9, costs={("bad", "good"): 20}).fit(X, y)
    leaf = np.flatnonzero(clf.tree_.skeleton.is_leaf)
    named = [clf.tree_.schema.classes[code] for code in clf.tree_.decided[leaf]]
    shown = clf.leaves(positive="good")
    assert re.findall(r"then (bad|good), P\(good\) 0", shown.as_rules()) == named
    assert shown.to_dict()["prediction"] == named
    assert re.findall(r"\d  (bad|good) +[01]\.", str(shown)) == named
    assert sorted(re.findall(r" ·+ (bad|good) +P\(good\) 0", to_text(clf, positive="good"))) == sorted(named)


def test_an_old_file_without_a_rule_decides_by_its_parameters(clf, tmp_path):
    path = tmp_path / "model.hornbeam"
    hornbeam.save(clf, path)
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["decision"], content["sha256"]
    content["version"] = [1, 0]
    path.write_text(json.dumps(content))
    assert hornbeam.load(path).tree_.digest == clf.tree_.digest
    from hornbeam.storage.file import read

    assert read(path).tree.decision == clf.tree_.decision


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (3, "decision is 3; expected costs and class_weight"),
        ({"costs": None}, "expected costs and class_weight"),
        ({"costs": [[0]], "class_weight": None}, "expected 2 lists"),
        ({"costs": [[0, "x"], [1, 0]], "class_weight": None}, "expected 2 numbers"),
        (
            {"costs": [[0, True], [1, 0]], "class_weight": None},
            "a row of costs is [0, True]; expected 2 numbers, finite",
        ),
        ({"costs": None, "class_weight": [1.0, -1.0]}, "expected 2 numbers, 0 or more"),
        ({"costs": None, "class_weight": [1.0]}, "expected 2 numbers"),
    ],
)
def test_an_invalid_rule_in_a_file_is_refused(decision, message, tmp_path):
    path = tmp_path / "model.hornbeam"
    hornbeam.save(TreeClassifier(costs=[[0, 5], [1, 0]]).fit(X, y), path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["decision"] = decision
    del content["sha256"]
    path.write_text(json.dumps(content))
    with pytest.raises(StorageError, match=re.escape(message)):
        hornbeam.load(path)


def test_costs_can_be_set_after_fitting():
    clf = TreeClassifier(max_leaf_nodes=9).fit(X, y)
    before, p = clf.predict(X), clf.predict_proba(X)
    assert (clf.set_params(costs=[[0, 9], [1, 0]]).predict(X) == before).all()
    clf.set_costs([[0, 9], [1, 0]])
    assert (clf.predict_proba(X) == p).all()
    assert (
        clf.predict(X) == TreeClassifier(max_leaf_nodes=9, costs=[[0, 9], [1, 0]]).fit(X, y).predict(X)
    ).all()
    module: dict[str, Any] = {}
    exec(to_python(clf), module)
    assert [module["predict"](row) for row in X.tolist()] == clf.predict(X).tolist()


def test_conversion_to_scikit_learn_warns_that_the_rule_is_lost():
    clf = TreeClassifier("cart", max_leaf_nodes=5, costs=[[0, 9], [1, 0]]).fit(X, y)
    with pytest.warns(HornbeamWarning, match="takes the most probable class"):
        fitted_model = to_sklearn(clf.tree_, on_missing="majority")
    rows = X.astype(np.float32)
    assert (clf.classes_[clf.tree_.decision(fitted_model.predict_proba(rows))] == clf.predict(rows)).all()
