"""Whatever class the page names is the one that `predict` names: costs, class weights, missing values in part."""

import json

import numpy as np
import pytest
from credit import lending
from models import rows_by_name, uci

import hornbeam
from hornbeam import TreeClassifier

# Pastes each row and reads the class of the headline.
HEADLINES = """(rows) => rows.map((row) => {
  const paste = document.getElementById("row-paste");
  paste.value = JSON.stringify(row);
  paste.dispatchEvent(new Event("input"));
  return document.querySelector("#row-prediction .decided").textContent;
})"""


def noisy(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(900, 3)).round(1)
    X[rng.random(X.shape) < 0.15] = np.nan
    y = np.nan_to_num(X[:, 0] + rng.normal(size=900)).round().astype(int) % n_classes
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "settings",
    [
        {"costs": {("bee", "ant"): 6}},
        {"class_weight": {"ant": 1, "bee": 7}},
        {"class_weight": "balanced", "costs": {("bee", "ant"): 4}},
    ],
)
@pytest.mark.parametrize("preset", ["default", "c4.5"])
def test_the_headline_of_a_row_is_what_predict_names(preset, settings, n_classes, browser, tmp_path):
    X, y = noisy(n_classes)
    if n_classes > 2 and isinstance(settings.get("class_weight"), dict):
        settings = {"class_weight": {**settings["class_weight"], "cat": 1, "dog": 1}}
    clf = TreeClassifier(preset, **settings).fit(X[:600], y[:600])
    named = clf.predict(X[600:])
    assert (named != clf.classes_[clf.predict_proba(X[600:]).argmax(axis=1)]).any()
    rows = [[None if np.isnan(v) else v for v in row] for row in X[600:].tolist()]
    with browser.page(hornbeam.report(clf, X[600:], y[600:]).text, tmp_path) as page:
        assert page.evaluate(HEADLINES, rows) == named.tolist()


def test_leaves_rules_and_tree_name_the_decision(browser, tmp_path):
    clf, X, y, _ = lending()
    tree = clf.tree_
    assert (tree.decided != tree.belief.argmax(axis=1))[tree.skeleton.is_leaf].any()
    wanted = {node: tree.schema.classes[tree.decided[node]] for node in np.flatnonzero(tree.skeleton.is_leaf)}
    with browser.page(hornbeam.report(clf, X, y, positive="default").text, tmp_path) as page:
        lines = page.locator("#leaf-table tbody tr").all()
        found = {
            int(cells[0]): cells[2] for cells in (line.locator("td").all_inner_texts() for line in lines)
            if cells[0].isdigit()
        }  # fmt: skip
        assert found == wanted
        heads = page.locator(".node.leaf .head").all_text_contents()
        assert sorted(head.split(" → ")[1] for head in heads) == sorted(wanted.values())
        rules = page.locator("#rule-list li b:first-of-type").all_text_contents()
        assert sorted(rules) == sorted(wanted.values())
        told = json.loads(page.evaluate("document.getElementById('data').textContent"))
        assert told["nodes"]["decided"] == tree.decided.tolist()


@pytest.mark.parametrize("positive", ["default", "repaid"])
def test_the_threshold_in_use_counts_as_predict_does(positive, browser, tmp_path):
    clf, X, y, _ = lending()
    other = {"default": "repaid", "repaid": "default"}[positive]
    named = clf.predict(X)
    wanted = [((y == a) & (named == b)).sum() for a in (other, positive) for b in (other, positive)]
    with browser.page(hornbeam.report(clf, X, y, positive=positive).text, tmp_path) as page:
        assert [int(text) for text in page.locator("#threshold tbody td").all_inner_texts()] == wanted
        assert f"Decide for {positive} when its probability" in page.inner_text("#threshold")
        assert f"P({positive})" in page.inner_text("#leaf-table thead")


def test_adult_with_costs(browser, tmp_path):
    X, y, X_test, y_test = uci("adult")
    clf = TreeClassifier(max_leaf_nodes=12, costs={(">50K", "<=50K"): 5}).fit(X[:8000], y[:8000])
    rows = X_test[:200]
    with browser.page(hornbeam.report(clf, X_test[:2000], y_test[:2000]).text, tmp_path) as page:
        assert page.evaluate(HEADLINES, rows_by_name(rows)) == clf.predict(rows).tolist()
