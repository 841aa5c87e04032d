"""The report of a tree with slopes: the form for a row predicts as the tree does, and every view has the terms."""

import numpy as np
import pytest

import hornbeam
from hornbeam import TreeClassifier
from hornbeam.explain.intervals import predict_interval
from hornbeam.export.slope_text import terms_text
from hornbeam.reporting.payload import payload
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.tree import Table, with_slopes
from hornbeam.tree.route import decide_rows, predict_rows
from support.lending import everybody, income, lending, sizes, three_levels
from support.strategies import slopes_of

# Pastes each row, and reads the decision, every probability with all its digits, and the lines of the terms.
ANSWERS = """(rows) => rows.map((row) => {
  const paste = document.getElementById("row-paste");
  paste.value = JSON.stringify(row);
  paste.dispatchEvent(new Event("input"));
  const answer = document.getElementById("row-prediction");
  const lines = [...answer.querySelectorAll(".classes tbody tr")];
  const name = (line) => (line.querySelector("th") ? line.querySelector("th").title : "mean");
  const bounds = (line) => line.querySelector("td.soft").textContent.split(/–| to /);
  return {
    decided: answer.querySelector(".decided").textContent,
    predicted: Object.fromEntries(lines.map((line) => [name(line), Number(line.querySelector("data").value)])),
    intervals: Object.fromEntries(lines.map((line) => [name(line), bounds(line)])),
    terms: [...answer.querySelectorAll(".terms li")].map((line) => line.textContent),
  };
})"""

ROWS = [
    [3, 24, "clerk", "B"],
    [9, 18, "clerk", "A"],
    [0.5, 30, None, None],
    [None, 29, "other", "C"],
    [1, 40, "manager", "C"],
    [1, 70, "pilot", "A"],
    [2, None, "clerk", "B"],
]


def answers(browser, folder, tree, rows):
    given = [dict(zip(tree.schema.names, row, strict=True)) for row in rows]
    with browser.page(hornbeam.report(tree).text, folder) as page:
        return page.evaluate(ANSWERS, given)


@pytest.mark.parametrize("tree", [lending(), sizes(), income(), everybody()])
def test_the_form_predicts_as_the_tree(tree, browser, tmp_path):
    found = answers(browser, tmp_path, tree, ROWS)
    names = list(tree.schema.classes) or ["mean"]
    page = np.array([[one["predicted"][name] for name in names] for one in found])
    table = Table.read(ROWS, schema=tree.schema)
    assert np.abs(page - predict_rows(tree, table)).max() <= 1e-12 * (300 if tree.is_regression else 1)
    if not tree.is_regression:
        assert [one["decided"] for one in found] == [names[code] for code in decide_rows(tree, table)]


@pytest.mark.parametrize("tree", [lending(), sizes(), income(), everybody()])
def test_the_form_has_the_intervals_of_the_tree(tree, browser, tmp_path):
    """They are stored in steps of 1/65535, and written with three decimals, or four digits."""
    low, high = predict_interval(tree, Table.read(ROWS, schema=tree.schema))
    found = answers(browser, tmp_path, tree, ROWS)
    for row, one in enumerate(found):
        for k, label in enumerate(tree.schema.classes or ["mean"]):
            bounds = [float(bound.replace("−", "-")) for bound in one["intervals"][label]]
            step = 0.06 if tree.is_regression else 0.0006
            assert bounds == pytest.approx([low[row, k], high[row, k]], abs=step)


def test_the_form_lists_the_effect_of_each_value(browser, tmp_path):
    found = answers(browser, tmp_path, lending(), ROWS)
    assert found[0]["terms"] == ["late is 3: odds of bad × 4", "age is 24: odds of bad × 1.22"]
    assert found[1]["terms"][0] == "late is 9, taken as 4: odds of bad × 8"
    assert found[3]["terms"][0] == "late is missing: no change"
    assert found[5]["terms"] == ["job is a new value: odds of bad × 0.5", "grade is A: odds of bad × 0.5"]
    assert found[6]["terms"] == []
    shared = answers(browser, tmp_path, everybody(), ROWS)
    assert shared[0]["terms"] == [
        "late is 3: odds of bad × 4",
        "job is clerk: odds of bad × 0.5",
        "late is 3: odds of bad × 2",
    ]
    assert shared[6]["terms"] == [
        "late is 2: odds of bad × 2",
        "job is clerk: odds of bad × 0.5",
    ]  # at the root
    mean = answers(browser, tmp_path, income(), ROWS[:1])
    assert mean[0]["terms"] == ["late is 3: mean −12.5", "job is clerk: mean −10"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_form_predicts_as_a_larger_tree(n_classes, browser, tmp_path):
    rng = np.random.default_rng(n_classes)
    number, place = rng.normal(size=(600, 3)).round(3), rng.choice(list("abcd"), 600)
    X = [[*row, town] for row, town in zip(number.tolist(), place.tolist(), strict=True)]
    y = (number.sum(axis=1) + (place == "c") + rng.normal(size=600)).round().astype(int) % n_classes
    grown = TreeClassifier(max_leaf_nodes=12, smoothing="laplace").fit(X, y).tree_
    tree = with_slopes(grown, slopes_of(grown, rng))
    rows = [[None if rng.random() < 0.1 else value for value in row] for row in X[:300]]
    found = answers(browser, tmp_path, tree, rows)
    page = np.array([[one["predicted"][str(label)] for label in tree.schema.classes] for one in found])
    table = Table.read(rows, schema=tree.schema)
    assert np.abs(page - predict_rows(tree, table)).max() <= 1e-12
    assert [one["decided"] for one in found] == [str(code) for code in decide_rows(tree, table)]


def test_every_view_of_a_leaf_has_its_terms(browser, tmp_path):
    tree = lending()
    with browser.page(hornbeam.report(tree).text, tmp_path) as page:
        texts = {"#leaf-table": page.inner_text("#leaf-table"), "#rule-list": page.inner_text("#rule-list")}
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        texts["#tree-print"] = page.evaluate("document.getElementById('tree-print').textContent")
        drawn = page.inner_text("#tree-view")
        page.hover("#tree-view .leaf")
        beside = page.inner_text("#tree-node")
        fields = page.locator("#row-fields label").all_inner_texts()
    for node in (1, 2):
        for term in terms_text(tree, node):
            assert all(term in text for text in texts.values())
    assert drawn.count("2 terms") == 2
    assert "late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)" in beside
    assert fields == ["late", "age", "job", "grade"]


def test_a_term_of_an_inner_node_is_written_once_with_its_rows(browser, tmp_path):
    tree = three_levels()
    with browser.page(hornbeam.report(tree).text, tmp_path) as page:
        sections = [page.inner_text("#leaves"), page.inner_text("#rules")]
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        sections.append(page.evaluate("document.getElementById('tree-print').textContent"))
        drawn = page.inner_text("#tree-view")
        page.hover("#tree-view .leaf")
        beside = page.inner_text("#tree-node")
    for text in sections:
        assert [text.count(term) for node in (0, 1, 3) for term in terms_text(tree, node)] == [1, 1, 1]
        assert "for all rows: late: odds of bad × 2 per +1" in text
        assert "for age ≤ 30: job: odds of bad × 2 if manager" in text
    assert drawn.count("1 term") == 3
    assert [beside.count(word) for word in ("for all rows: late", "for age ≤ 30: job", "age: odds")] == [
        1,
        1,
        1,
    ]


def test_the_data_of_the_page_have_the_words_of_each_term_once():
    words = payload(ReportedModel.of(three_levels()), 0.9)["slopes"]["words"]
    assert words == {node: terms_text(three_levels(), node) for node in (0, 1, 3)}


def test_the_words_around_count_terms():
    page = hornbeam.report(lending()).text
    assert (
        "In 2 of 2 leaves the prediction also changes with the values of some features; 4 features in all."
        in page
    )
    assert "Nodes with terms" in page
    card = str(hornbeam.model_card(lending()))
    assert "| late | numeric | 0.000 | 0 | add nothing as a term | 1 |" in card


def test_a_tree_without_slopes_has_no_words_about_them():
    clf = TreeClassifier().fit([[0], [1]] * 20, ["no", "yes"] * 20)
    assert payload(ReportedModel.of(clf), 0.9)["slopes"] is None
    assert "Nodes with terms" not in hornbeam.report(clf).text


def test_scores_use_the_terms():
    """The probabilities of test rows are those with terms, not those of the leaf."""
    X = [[3, 24, "clerk", "B"]] * 4
    page = hornbeam.report(lending(), X, ["bad", "bad", "good", "bad"]).text
    assert "decisions are right for 75.0 %" in page
