"""The page as a file: complete, closed, reproducible, and without any row of the data."""

import datetime
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest
from hostile import hostile_trees
from models import halves_of_iris, letters
from sklearn.ensemble import RandomForestClassifier

import hornbeam
from hornbeam import BoostedTreesClassifier, ForestClassifier, SmoothedClassifier, TreeClassifier
from hornbeam.errors import DataError, ParameterError, SchemaError


class Reader(HTMLParser):
    """Reads a page as a browser would, and keeps what could do harm."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts = set(), [], {}
        self.open = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        self.open = tag

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        self.texts.setdefault(self.open, []).append(data)


def iris_report(**options):
    X, y, X_test, y_test = halves_of_iris()
    return hornbeam.report(TreeClassifier().fit(X, y), X_test, y_test, **options).text


def test_the_policy_allows_this_script_and_this_style_and_nothing_else():
    page = Reader(iris_report())
    policy = next(
        value for tag, name, value in page.attributes if name == "content" and "default-src" in value
    )
    for tag, kind in (("script", "script-src"), ("style", "style-src")):
        source = page.texts[tag][-1]
        assert f"{kind} 'sha256-{b64encode(sha256(source.encode()).digest()).decode()}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_nothing_is_fetched_and_nothing_is_styled_or_handled_in_attributes():
    page = Reader(iris_report())
    for _, name, value in page.attributes:
        assert name not in {"style", "src", "srcset", "action", "formaction"}
        assert not name.startswith("on")
        assert name != "href" or value.startswith(("#", "data:,"))
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", iris_report())


def test_the_same_model_and_rows_give_the_same_bytes():
    assert iris_report() == iris_report()
    day = datetime.date(2026, 1, 31)
    assert iris_report(date=day) == iris_report(date="2026-01-31") != iris_report()


def test_no_row_is_in_the_file():
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 3)), rng.integers(0, 2, 400)
    html = hornbeam.report(
        TreeClassifier(smoothing="hgs", max_depth=3).fit(X[:200], y[:200]), X[200:], y[200:]
    ).text
    assert not [value for value in X.ravel().tolist() if repr(value)[:10] in html]


def test_two_hundred_leaves_of_26_classes_stay_below_300_kilobytes():
    clf, X, y = letters()
    assert len(hornbeam.report(clf, X, y).text.encode()) < 300_000


def test_without_test_rows_the_page_says_so():
    X, y, *_ = halves_of_iris()
    html = hornbeam.report(TreeClassifier().fit(X, y)).text
    assert html.count("No test rows were given to this report") == 4
    assert "so this report has no scores" in html


@pytest.mark.parametrize("kind", ["smoothed", "tree", "stump", "single class"])
def test_other_models_are_taken_too(kind):
    X, y, X_test, y_test = halves_of_iris()
    model = {
        "smoothed": lambda: SmoothedClassifier().fit(X, y),
        "tree": lambda: TreeClassifier().fit(X, y).tree_,
        "stump": lambda: TreeClassifier(min_samples_split=1000, smoothing=None).fit(X, y),
        "single class": lambda: TreeClassifier().fit(X, ["setosa"] * len(X)),
    }[kind]()
    some = y_test == "setosa" if kind == "single class" else y_test != ""
    html = hornbeam.report(model, X_test[some], y_test[some]).text
    assert f"On {some.sum()} test rows" in html


def test_rules_can_be_handed_over():
    html = iris_report(rules=["if a < b then c"])
    assert "if a &lt; b then c" in html
    assert 'id="rule-list"' not in html
    assert iris_report(rules="one\ntwo").count("<li>one</li><li>two</li>") == 1


def test_what_cannot_be_reported_is_refused():
    X, y, X_test, _ = halves_of_iris()
    clf = TreeClassifier().fit(X, y)
    with pytest.raises(ParameterError, match="call fit first"):
        hornbeam.report(TreeClassifier())
    with pytest.raises(ParameterError, match="pass one of its trees_"):
        hornbeam.report(SmoothedClassifier(RandomForestClassifier(3, random_state=0)).fit(X, y))
    with pytest.raises(DataError, match="y is None"):
        hornbeam.report(clf, X_test)
    with pytest.raises(SchemaError, match="rose"):
        hornbeam.report(clf, X_test, ["rose"] * len(X_test))


def test_of_many_trees_there_is_no_report_and_it_says_what_to_do():
    X, y, *_ = halves_of_iris()
    for model in (ForestClassifier(3).fit(X, y), BoostedTreesClassifier(n_estimators=2).fit(X, y)):
        with pytest.raises(ParameterError, match=r"several trees; expected .*teacher=model"):
            hornbeam.report(model)


def test_a_distilled_tree_says_what_it_is_smoothed_towards():
    X, y, *_ = halves_of_iris()
    html = hornbeam.report(TreeClassifier(teacher=ForestClassifier(5)).fit(X, y)).text
    assert "those of the model it was distilled from count as 30.0 further rows in the median leaf" in html
    assert "Borrowed is the weight of the model it was distilled from" in html
    assert re.search(r"This decision tree has \d+ leaves, of at most 16, and predicts", html)
    assert "of at most" not in hornbeam.report(TreeClassifier("readable").fit(X, y)).text
    assert "nodes above" not in html
    assert "those of the nodes above count as" in iris_report()


def test_a_notebook_gets_a_frame_of_its_own():
    X, y, *_ = halves_of_iris()
    found = hornbeam.report(TreeClassifier().fit(X, y))
    frame = Reader(found._repr_html_())
    assert frame.tags == {"iframe"}
    assert ("iframe", "srcdoc", found.text) in frame.attributes


def test_the_file_is_the_page(tmp_path):
    X, y, *_ = halves_of_iris()
    clf = TreeClassifier().fit(X, y)
    for page in (hornbeam.report(clf), hornbeam.model_card(clf)):
        page.save(tmp_path / "page")
        assert (tmp_path / "page").read_text(encoding="utf-8") == page.text
        assert len(repr(page)) < 40
        assert len(str(page)) < 80 or page.format == "markdown"
        assert (page._repr_html_() is None) != (page._repr_markdown_() is None)


def test_hostile_names_open_no_tag_and_no_attribute():
    plain = Reader(iris_report())
    for tree, _ in hostile_trees():
        html = hornbeam.report(tree, title="</title><script>alert(1)</script>\ud800").text
        page = Reader(html)
        assert page.tags <= plain.tags
        assert {name for _, name, _ in page.attributes} <= {name for _, name, _ in plain.attributes}
        assert html.count("<script") == 2
        assert html.encode()
