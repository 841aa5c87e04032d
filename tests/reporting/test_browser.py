"""The page in a real browser: it predicts as the model does, requests nothing, and breaks on no name."""

import json

import numpy as np
import pytest
from credit import lending
from hostile import hostile_trees, names_of
from models import halves_of_iris, letters, rows_by_name, uci

import hornbeam
from hornbeam import SmoothedClassifier, TreeClassifier
from hornbeam.export import to_html
from support.browser import axe_source

# Pastes each row and reads every probability that is then shown, with all its digits.
ANSWERS = """(rows) => rows.map((row) => {
  const paste = document.getElementById("row-paste");
  paste.value = typeof row === "string" ? row : JSON.stringify(row);
  paste.dispatchEvent(new Event("input"));
  const lines = [...document.querySelectorAll("#row-prediction .classes tbody tr")];
  const predicted = (line) => [line.querySelector("th").title, Number(line.querySelector("data").value)];
  return Object.fromEntries(lines.map(predicted));
})"""


def answers(page, clf, rows):
    found = page.evaluate(ANSWERS, rows)
    return np.array([[answer[str(label)] for label in clf.classes_] for answer in found])


def problem(name):
    X, y, X_test, y_test = halves_of_iris() if name == "iris" else uci(name)
    return X, y, X_test.copy(), y_test


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("iris", {}),
        ("adult", {}),
        ("adult", {"preset": "c4.5"}),
        ("letter", {"max_leaf_nodes": 200}),
        ("soybean", {"preset": "c4.4"}),
    ],
)
def test_the_page_answers_as_the_model(name, settings, browser, tmp_path):
    X, y, X_test, y_test = problem(name)
    clf = TreeClassifier(**settings).fit(X, y)
    rng = np.random.default_rng(0)
    rows = X_test.iloc[rng.integers(0, len(X_test), 1000)].reset_index(drop=True)
    rows = rows.mask(rng.random(rows.shape) < 0.1)  # missing where training had none, too
    with browser.page(hornbeam.report(clf, X_test, y_test).text, tmp_path) as page:
        found = answers(page, clf, rows_by_name(rows))
    assert np.abs(found - clf.predict_proba(rows)).max() <= 1e-12


def test_a_row_may_be_pasted_in_any_form(browser, tmp_path):
    X = [["a,b", 1.5, True], ['say "x"', 2.5, False], [" c", 3.5, True], ["d", 4.5, False]] * 5
    clf = TreeClassifier(smoothing="laplace", pruning=None).fit(X, [f"class {i}" for i in range(4)] * 5)
    forms = ['"a,b",1.5,True', '"say ""x""",2.5,False', "x0\tx1\tx2\n c\t3.5\tTrue", '["d", 4.5, false]',
             '{"x1": 4.5, "x0": "d"}', "d;4.5;False", "x1,x0,unknown\r\n4.5,d,7\r\n", "new,,?"]  # fmt: skip
    asked = [*X[:4], ["d", 4.5, None], X[3], ["d", 4.5, None], ["new", None, None]]
    with browser.page(hornbeam.report(clf).text, tmp_path) as page:
        found = answers(page, clf, forms)
        assert np.array_equal(found, clf.predict_proba(asked))
        page.evaluate(ANSWERS, ["1,2"])
        assert "3 values" in page.inner_text("#row-problem")
        page.evaluate(ANSWERS, ["d,many,True"])
        assert "is not a number" in page.inner_text("#row-problem")


def test_other_libraries_trees_answer_too(browser, tmp_path):
    X, y, X_test, y_test = halves_of_iris()
    clf = SmoothedClassifier().fit(X, y)
    with browser.page(hornbeam.report(clf, X_test, y_test).text, tmp_path) as page:
        found = answers(page, clf, rows_by_name(X_test))
    assert np.array_equal(found, clf.predict_proba(X_test))


def test_the_form_and_the_tree_show_the_way(browser, tmp_path):
    X, y, X_test, y_test = halves_of_iris()
    clf = TreeClassifier().fit(X, y)
    with browser.page(hornbeam.report(clf, X_test, y_test).text, tmp_path) as page:
        row = X_test.iloc[[40]]
        for at, name in enumerate(row):
            if page.locator(f"#field-{at}").count():
                page.fill(f"#field-{at}", str(row[name].item()))
        assert f"leaf {clf.apply(row)[0]}" in page.inner_text("#row-prediction")
        assert page.locator(".node.on").count() == clf.decision_path(row).sum()
        page.fill("#field-3", "wide")
        assert page.get_attribute("#field-3", "aria-invalid") == "true"


def test_arrow_keys_walk_and_fold_the_tree(browser, tmp_path):
    X, y, *_ = halves_of_iris()
    with browser.page(hornbeam.report(TreeClassifier().fit(X, y)).text, tmp_path) as page:
        page.focus("#tree-view [tabindex='0']")
        focused = "document.activeElement.getAttribute('aria-level')"
        page.keyboard.press("ArrowRight")
        assert page.evaluate(focused) == "2"
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert page.locator("[role=treeitem]").count() == 1
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"
        page.keyboard.press("Enter")
        page.keyboard.press("End")
        assert page.evaluate("document.activeElement.getAttribute('aria-posinset')") == "2"


def test_a_large_tree_starts_closed_and_opens_where_it_is_searched(browser, tmp_path):
    clf, X, y = letters()
    with browser.page(hornbeam.report(clf, X, y).text, tmp_path) as page:
        shown = page.locator("[role=treeitem]").count()
        assert shown < 60
        page.fill("#tree-search", clf.tree_.schema.names[2])
        marked = page.locator(".node.found").count()
        asked = int((clf.tree_.skeleton.feature == 2).sum())
        assert page.inner_text("#tree-found") == f"{asked} nodes"
        assert marked == min(asked, 120)
        page.click("#tree-open")
        assert page.locator("[role=treeitem]").count() == clf.tree_.n_nodes
        assert page.locator("#leaf-table tbody tr").count() == 200


def test_leaves_sort_by_any_column(browser, tmp_path):
    clf, X, y = letters()
    with browser.page(hornbeam.report(clf, X, y).text, tmp_path) as page:
        column = "[...document.querySelectorAll('#leaf-table tbody data')].map((d) => Number(d.value))"
        page.click("#leaf-table button.sort:text('Probability')")
        found = page.evaluate(column)
        assert found == sorted(found, reverse=True)
        page.click("#leaf-table button.sort:text('Probability')")
        assert page.evaluate(column) == sorted(found)


def test_the_threshold_in_use_decides_as_the_model(browser, tmp_path):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(900, 2))
    y = np.where(X[:, 0] + rng.normal(size=900) > 0.5, "yes", "no")
    clf = TreeClassifier(costs={("yes", "no"): 3}, class_weight={"no": 1, "yes": 2}).fit(X[:600], y[:600])
    named = clf.predict(X[600:])
    wanted = [[int(((y[600:] == a) & (named == b)).sum()) for b in ("no", "yes")] for a in ("no", "yes")]
    with browser.page(hornbeam.report(clf, X[600:], y[600:]).text, tmp_path) as page:
        cells = [int(text) for text in page.locator("#threshold tbody td").all_inner_texts()]
        assert cells == [*wanted[0], *wanted[1]]
        page.fill("#threshold-at", "0")
        assert "100.0 %" in page.inner_text(".figures-line")


def test_hostile_names_run_nothing_and_come_back_as_they_were(browser, tmp_path):
    for tree, _ in hostile_trees():
        with browser.page(
            hornbeam.report(tree, rules=["<img src=x onerror=alert(1)>"]).text, tmp_path
        ) as page:
            page.click("#tree-open")
            page.fill("#tree-search", "<script>")
            made = page.evaluate(
                "[...new Set([...document.querySelectorAll('main *')].map((e) => e.localName))]"
            )
            assert not set(made) & {"script", "img", "iframe", "object", "style", "link", "base", "bold"}
            told = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
            names = [f["name"] for f in told["features"]]
            names += [*tree.schema.classes, *(c for f in told["features"] for c in f.get("categories", []))]
            assert names == names_of(tree)
            labels = page.evaluate("[...document.querySelectorAll('.field label')].map((e) => e.title)")
            assert labels == [f.get("word", f["name"]) for f in told["features"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["iris", "letters", "two classes"])
def test_everybody_can_use_it(scheme, kind, browser, tmp_path):
    axe = axe_source()
    if axe is None:
        pytest.skip("no axe.min.js: `npm install axe-core`, or say in HORNBEAM_AXE where it is")
    X, y, X_test, y_test = halves_of_iris()
    if kind == "letters":
        clf, X_test, y_test = letters()
    elif kind == "two classes":
        y_test = np.where(y_test == "setosa", "yes", "no")
        clf = TreeClassifier().fit(X, np.where(y == "setosa", "yes", "no"))
    else:
        clf = TreeClassifier().fit(X, y)
    with browser.page(hornbeam.report(clf, X_test, y_test).text, tmp_path, scheme=scheme) as page:
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
    assert [(v["id"], [n["html"][:200] for n in v["nodes"]][:3]) for v in found] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_everybody_can_use_the_card_and_the_tables_of_notebooks(width, scheme, browser, tmp_path):
    axe = axe_source()
    if axe is None:
        pytest.skip("no axe.min.js: `npm install axe-core`, or say in HORNBEAM_AXE where it is")
    clf, *_ = lending()
    card, bins = (clf.scorecard(positive="repaid", bins=bins).to_html() for bins in (False, True))
    parts = [card, bins.replace("Scorecard", "Scorecard in bins"), clf.leaves()._repr_html_(), to_html(clf)]
    head = '<title>notebook</title><meta name="color-scheme" content="light dark">'
    text = f'<!doctype html><html lang="en">{head}<main><h1>The card</h1>{"".join(parts)}</main></html>'
    with browser.page(text, tmp_path, width=width, scheme=scheme) as page:
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert [(v["id"], [n["html"][:200] for n in v["nodes"]][:3]) for v in found] == []


def test_it_fits_a_phone(browser, tmp_path):
    clf, X, y = letters()
    with browser.page(hornbeam.report(clf, X, y).text, tmp_path, width=390, height=844) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_it_works_in_the_frame_of_a_notebook(browser, tmp_path):
    X, y, *_ = halves_of_iris()
    found = hornbeam.report(TreeClassifier().fit(X, y))
    with browser.page(f"<!doctype html><title>notebook</title>{found._repr_html_()}", tmp_path) as page:
        frame = page.frames[1]
        frame.wait_for_selector("[role=treeitem]")
        assert frame.locator("#leaf-table tbody tr").count() > 1


def test_light_and_dark_change_places(browser, tmp_path):
    X, y, *_ = halves_of_iris()
    with browser.page(hornbeam.report(TreeClassifier().fit(X, y)).text, tmp_path, scheme="dark") as page:
        paper = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(paper)
        page.click("#theme")
        assert page.evaluate(paper) != dark
        page.click("#theme")
        assert page.evaluate(paper) == dark


def test_on_paper_every_rule_is_listed(browser, tmp_path):
    clf, X, y = letters()
    with browser.page(hornbeam.report(clf, X, y).text, tmp_path) as page:
        assert page.locator("#rule-list li").count() < clf.tree_.n_leaves
        page.pdf()
        assert page.locator("#rule-list li").count() == clf.tree_.n_leaves


def test_several_thousand_leaves_still_open(browser, tmp_path):
    rng = np.random.default_rng(9)
    X, y = rng.random((20_000, 4)), rng.integers(0, 2, 20_000)
    clf = TreeClassifier(smoothing="laplace", pruning=None).fit(X, y)
    assert clf.tree_.n_leaves > 4000
    with browser.page(hornbeam.report(clf, X[:50], y[:50]).text, tmp_path) as page:
        assert "200 of" in page.inner_text("#leaf-more")
        found = answers(page, clf, [json.dumps(row) for row in X[:20].tolist()])
    assert np.array_equal(found, clf.predict_proba(X[:20]))
